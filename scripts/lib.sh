# shellcheck shell=bash
# Sourced by every script: paths, messages, the line's settings, the lock.
# Environment (all optional): LINE, BUILD, CACHE, KSRC.
set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
LINE=${LINE:-6.1}
BUILD=$(mkdir -p "${BUILD:-$TOP/build}" && cd "${BUILD:-$TOP/build}" && pwd)
CACHE=${CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/ringcap}
QEMU_DIR=$TOP/tools/testing/selftests/io_uring/qemu

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

say() {
	printf '[%4ds] %s\n' "$SECONDS" "$*"
}

# The settings of lines/$LINE.conf, and the directories that depend on the line.
load_line() {
	[ -f "$TOP/lines/$LINE.conf" ] ||
		die "unknown LINE=$LINE: take one of $(cd "$TOP/lines" && echo *.conf | sed 's/\.conf//g')"
	LINE_CONFIG=		# of this line alone, besides kernel.config
	# shellcheck source=/dev/null
	. "$TOP/lines/$LINE.conf"
	B=$BUILD/$LINE		# everything built for this line
	SRC=$B/src		# the tree to edit: base and series as commits
	TREE=$B/tree		# the tree kernels are built from: one path for all
	PATCHES=$TOP/patches/$LINE
	mkdir -p "$B/log"
}

# One run per line at a time; a script that another one called inherits the lock.
lock_line() {
	load_line
	[ "${RINGCAP_LOCK:-}" = "$B" ] && return
	command -v flock >/dev/null || die "flock is missing: install util-linux"
	exec 9>"$B/lock"
	flock -n 9 || die "another run is busy in $B: wait for it, or give BUILD= another directory"
	export RINGCAP_LOCK=$B
}

# Prepares the line's tree; where its source is not to be had, that ends the script as skipped.
prepare_or_skip() {
	local rc=0
	"$TOP/scripts/prepare" || rc=$?
	[ $rc != 77 ] || { echo "skip LINE=$LINE: no source, see above"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
	[ $rc = 0 ] || exit $rc
}

need_space() {	# need_space GiB
	local free
	free=$(df --output=avail -BG "$BUILD" | tail -1 | tr -dc 0-9)
	[ "$free" -ge "$1" ] || die "$BUILD has $free GiB free and $1 are needed: free some, or give BUILD= another directory"
}

# run_logged WHAT LOG COMMAND...: output into LOG, a sign of life every half minute, the end of LOG on failure.
run_logged() {
	local what=$1 log=$2 pid rc=0 next=$((SECONDS + 30))
	shift 2
	say "$what (log: $log)"
	"$@" >"$log" 2>&1 9>&- &
	pid=$!
	trap 'kill $pid 2>/dev/null; exit 130' INT TERM
	while kill -0 $pid 2>/dev/null; do
		sleep 0.5
		if [ $SECONDS -ge $next ]; then
			say "$what ... $(tail -n 1 "$log" | cut -c 1-70)"
			next=$((SECONDS + 30))
		fi
	done
	wait $pid || rc=$?
	trap - INT TERM
	if [ $rc -ne 0 ]; then
		tail -n 15 "$log" >&2
		echo "${0##*/}: $what failed with status $rc; the whole log is $log" >&2
	fi
	return $rc
}

# kbuild without our own variables: its tools take DEBUG and others as their flags.
kmake() {
	env -i PATH="$PATH" HOME="$HOME" TERM="${TERM:-dumb}" make "$@"
}

# Tests that ran and failed, by name, from files of results: a boot or program that broke down is none.
failed_tests() {
	awk '$1 == "fail" && $2 !~ /^(boot|log):|:program$/ { print $2 }' "$@"
}

# What broke down instead of giving results, and reports in the kernel's log.
broken_runs() {
	awk '$1 == "fail" && $2 ~ /^(boot|log):|:program$/' "$@"
}

# What a kernel says in its log when something is wrong with it.
# shellcheck disable=SC2034
REPORTS='BUG:|WARNING:|KASAN|KCSAN|UBSAN|Oops|general protection|possible (recursive|circular|irq)|suspicious RCU|INFO: task|rcu.*(stall|detected)|refcount_t|unreferenced object|kernel BUG|Kernel panic|Unable to handle|ODEBUG'

# Adds to apt_options what lets apt see a suite of the machine's own mirror, the system's lists untouched.
apt_suite() {	# apt_suite deb|deb-src SUITE
	local dir=$CACHE/apt-$2 uri kind='^[a-z]*$'
	[ "$1" = deb ] || dir=$dir-source
	case $2 in *-security) kind='-security$' ;; esac
	uri=$(apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' 'Component: main' |
		awk -v kind="$kind" '$1 ~ kind && !uri { uri = $2 } END { print uri }')
	[ -n "$uri" ] || { echo "apt's configuration names no repository that could hold $2" >&2; return 1; }
	mkdir -p "$dir/lists"
	echo "$1 [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $2 main" >"$dir/sources.list"
	apt_options+=(-o "Dir::Etc::sourcelist=$dir/sources.list" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$dir/lists"
		-o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
	apt-get "${apt_options[@]}" update >"$dir/update.log" 2>&1 ||
		{ echo "apt-get update of $2 failed, see $dir/update.log" >&2; return 1; }
}

# Whether an emulator's NVMe subsystem knows flexible data placement: QEMU's does from 8.0 on.
qemu_has_fdp() {	# qemu_has_fdp QEMU
	"$1" -device nvme-subsys,help 2>/dev/null | grep '^ *fdp=' >/dev/null
}

# What the base of a prepared tree is: version, package or commit, checksum.
base_id() {	# base_id TREE
	git -C "$1" for-each-ref --format='%(contents:subject)' refs/tags/base
}

# The tarball inside a package of the linux-source kind.
package_tarball() {	# package_tarball FILE.deb
	dpkg-deb --fsys-tarfile "$1" | tar -xOf - --wildcards '*/usr/src/linux-source-*.tar.xz'
}

# The patches of the series in order, without the cover letter.
series_patches() {
	find "$PATCHES" -name '[0-9]*.patch' ! -name '0000-*' | sort
}

# The new files and directories that belong to patch $1, as listed in lines/new-files.
new_paths() {
	local name=${1##*/}
	name=${name#[0-9][0-9][0-9][0-9]-}
	sed -n "s|^${name%.patch}:||p" "$TOP/lines/new-files" | tr -s ' ' '\n' | sed '/^$/d'
}

# The same as files of this repository.
new_files() {
	new_paths "$1" | (cd "$TOP" && xargs -r git ls-files --cached --others --exclude-standard --)
}
