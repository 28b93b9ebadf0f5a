# Ringcap: see README.md. Every target is one script; knobs are passed on through the environment.
LINE ?= 6.1
BUILD ?= $(CURDIR)/build
DEBUG ?= 1
DEPS ?= 1
export LINE KSRC BUILD CACHE KERNEL CMD ACCEL CPUS MEM APPEND TIMEOUT DEBUG

.PHONY: help bench test prepare export series check kernel boot soak deps clean

help:
	@sed -n 's/^#: \?//p' $(MAKEFILE_LIST)

#: make bench [LINE=6.1]        build, boot and measure: the before/after table, out/LINE/report.{md,json}, plots
bench: deps
	@bench/run $(LINE)

#: make test [LINE=6.1]         selftests on the patched, debug, unpatched and sticky kernels
test: deps
	@scripts/test

#: make prepare                 build/LINE/src: the source with the series as commits
prepare: deps
	@scripts/prepare

#: make export                  write the commits of build/LINE/src back to patches/LINE
export:
	@scripts/export

#: make series                  out/LINE/series: the mails, with cover letter and your sign-off
series: deps
	@scripts/series

#: make check                   checkpatch, shellcheck, sparse, W=1, no fuzz, round trip
check: deps
	@scripts/check

#: make kernel KERNEL=          before | after | debug | unchecked | sticky | a variant: build/LINE/KERNEL
kernel: deps
	@scripts/kernel

#: make boot KERNEL= [CMD=]     boot it on the host's root, read-only; run CMD (absolute path) or a shell
boot:
	@scripts/boot

#: make soak                    the long form: every variant must make tests fail
soak: deps
	@scripts/soak

deps:
	@[ "$(DEPS)" = 0 ] || scripts/deps

#: make clean                   remove build/ (not the cache)
clean:
	rm -rf $(BUILD)

#:
#: Knobs, with their defaults:
#:   LINE=6.1        the kernel line, one of lines/*.conf
#:   KSRC=           your own kernel tree instead of the packaged source; it is copied, never changed
#:   BUILD=build     where everything is built      CACHE=~/.cache/ringcap  sources and finished kernels
#:   DEBUG=1         0: make test without the debug kernel
#:   ACCEL=tcg       or kvm, where a probe boot succeeds
#:   CPUS=2 MEM=1G   of the guest                   APPEND=                 its kernel command line
#:   TIMEOUT=600     seconds until a guest is stopped
#:   DEPS=1          0: install nothing
