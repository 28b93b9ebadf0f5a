# Ringcap: see README.md. Every target is one script; knobs are passed on through the environment.
LINE ?= 6.1
BUILD ?= $(CURDIR)/build
DEBUG ?= 1
DEPS ?= 1
export LINE KSRC BUILD CACHE KERNEL CMD ACCEL CPUS MEM APPEND TIMEOUT DEBUG
export BUILD_ENDS README FROM CONFIG HOURS QEMU

.PHONY: help bench bench-host index test coverage prepare export series apply-all check readme bisect-test deb deb-proof kernel boot soak liburing kcsan deps clean

help:
	@sed -n 's/^#: \?//p' $(MAKEFILE_LIST)

#: make bench [LINE=6.1]        build, boot and measure: the before/after table, out/LINE/report.{md,json}, plots
bench: deps
	@bench/run $(LINE)

#: make bench-host DEV=         the same on this machine's kernel and a device (/dev/ng0n1), read-only: out/host/report.md
# Unless given, the line is the running kernel's.
bench-host: LINE := $(if $(filter file,$(origin LINE)),,$(LINE))
bench-host: deps
	@bench/host $(DEV)

#: make index                   out/index.html: all reports in one file; make bench makes it, too
index:
	@bench/index

#: make test [LINE=6.1]         selftests on the patched, debug, unpatched and sticky kernels
test: deps
	@scripts/test

#: make coverage                which lines of the touched functions the selftests reach, and which not
coverage: deps
	@scripts/coverage

#: make prepare                 build/LINE/src: the source with the series as commits
prepare: deps
	@scripts/prepare

#: make export                  write the commits of build/LINE/src back to patches/LINE
export:
	@scripts/export

#: make series                  out/LINE/series: the mails, with cover letter, recipients and your sign-off
series: deps
	@scripts/series

#: make apply-all               try the series on every point release on offer; LINE=all for every series
apply-all: deps
	@scripts/apply-all

#: make check                   checkpatch, shellcheck, sparse, W=1, no fuzz, round trip
check: deps
	@scripts/check

#: make readme                  the commands in README.md: each parses, and what it names exists
readme:
	@scripts/readme

#: make bisect-test             build and boot the kernel after every patch; FROM=N starts at patch N
bisect-test: deps
	@scripts/bisect-test

#: make deb [CONFIG=.config]    out/LINE/deb: packages to install, with the distribution's configuration or yours
deb: deps
	@scripts/deb

#: make deb-proof               install a small package in a disk image and boot from it; root, needs debootstrap
deb-proof: deps
	@scripts/deb-proof

#: make kernel KERNEL=          before | after | debug | unchecked | sticky | a variant: build/LINE/KERNEL
kernel: deps
	@scripts/kernel

#: make boot KERNEL= [CMD=]     boot it on the host's root, read-only; run CMD (absolute path) or a shell
boot:
	@scripts/boot

#: make soak [HOURS=N]          the long form: every variant must make tests fail; then KCSAN, liburing, random walks for N hours
soak: deps
	@scripts/soak

#: make liburing [TESTS=]       liburing's own test suite, unpatched against patched kernel
liburing: deps
	@scripts/liburing

#: make kcsan                   data races: KCSAN kernels without and with the series
kcsan: deps
	@scripts/kcsan

deps:
	@[ "$(DEPS)" = 0 ] || scripts/deps

#: make clean                   remove build/ (not the cache)
clean:
	rm -rf $(BUILD)

#:
#: Knobs, with their defaults:
#:   LINE=6.1        the kernel line, one of lines/*.conf
#:   KSRC=           your own kernel tree instead of the packaged source; it is copied, never changed
#:                   a directory, a git tree (its history helps where patches do not fit) or a tarball
#:   BUILD=build     where everything is built      CACHE=~/.cache/ringcap  sources and finished kernels
#:   DEBUG=1         0: make test without the debug kernel
#:   BUILD_ENDS=0    1: make apply-all builds and tests the oldest and newest as well
#:   README=0        1: make apply-all puts its rows into README.md
#:   ACCEL=tcg       or kvm, where a probe boot succeeds
#:   CPUS=2 MEM=1G   of the guest                   APPEND=                 its kernel command line
#:   QEMU=           the emulator, qemu-system-x86_64 of PATH; where that has no FDP, make bench takes scripts/qemu's for that
#:   TIMEOUT=600     seconds until a guest is stopped
#:   DEV=            of make bench-host, with WRITE=1 (loses the data), PAIRS=10, CPU=, SIZE=2G (per fio run)
#:   DEPS=1          0: install nothing
