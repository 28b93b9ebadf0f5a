#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All measurements of one boot; runs as root in the guest, results as JSON in /run/out.
# Environment: WHAT=cost|mitigations|calls|sweep|growth|paths|smp|fdp|fdp_calls|eventfd|cycles, BENCH (directory of the
# programs), LINE, KERNEL, SETTING (of bench/settings), BPF_PRICE, SIZE (fio's io_size), FIO_RUNS.
# shellcheck disable=SC2086 # options are several words
set -eu
cd "$(dirname "$0")"
# shellcheck source=/dev/null
. "../lines/$LINE.conf"
out=/run/out
lsm=$(cat /sys/kernel/security/lsm)
case $SETTING,$lsm in
selinux+apparmor,*selinux*,apparmor*) ;;
selinux+bpf,*selinux*,bpf*) ;;
none*,capability | paths,capability | fdp,capability | eventfd*,capability | apparmor*,*apparmor* | bpf*,*bpf*) ;;
selinux,*selinux* | selinux-*,*selinux* | growth,*selinux* | smp,*selinux*) ;;
*)
	echo "guest.sh: setting $SETTING, but the active LSMs are: $lsm" >&2
	exit 1
	;;
esac

# Mitigations change what an indirect call executes.
case $SETTING,$(cat /sys/devices/system/cpu/vulnerabilities/spectre_v2) in
*-nomitigations,Vulnerable*) ;;
*-nomitigations,* | *,Vulnerable*)
	echo "guest.sh: setting $SETTING, but spectre_v2: $(cat /sys/devices/system/cpu/vulnerabilities/spectre_v2)" >&2
	exit 1
	;;
esac

# The counting BPF program, at a price.
attach() {
	rm -f /sys/fs/bpf/ringcap
	"$BENCH/bpfcount" "$BENCH/bpfcount.bpf.o" "$1" /sys/fs/bpf/ringcap
}

# Only the patched kernel has it.
set_sysctl() {
	[ ! -e /proc/sys/kernel/io_uring_cmd_priv_cache ] || echo "$1" >/proc/sys/kernel/io_uring_cmd_priv_cache
}

case $SETTING in
selinux-policy)
	dd if="$BENCH/selinux.policy" of=/sys/fs/selinux/load bs=1M 2>/dev/null
	echo 1 >/sys/fs/selinux/enforce
	;;
apparmor-confined)
	if [ "$(cat /proc/self/attr/current)" = unconfined ]; then
		apparmor_parser -r -K -q apparmor.profile
		exec aa-exec -p ringcap -- "$PWD/guest.sh"
	fi
	;;
bpf-1)
	attach "$BPF_PRICE"
	set_sysctl 1
	;;
bpf-2 | selinux+bpf)
	attach "$BPF_PRICE"
	set_sysctl 2
	;;
bpf-sweep) set_sysctl 2 ;;
esac

# The controller is known by its serial number: probing decides which name it gets.
ctrl=$(basename "$(dirname "$(grep -l '^ringcap0 *$' /sys/class/nvme/nvme*/serial)")")
BLK=/dev/${ctrl}n1
DEV=/dev/ng${ctrl#nvme}n1
export BLK DEV SIZE RW=randread BS=512 DEPTH=128 FIXED=1 HIPRI=0

# A run whose thread did not have the CPU to itself waited for the device, that is, for a busy host: once more.
run_fio() {	# run_fio JOB NUMBER [NAME OF THE RESULT]
	result=$out/${3:-$1}-$2.json
	for try in 1 2 3; do
		fio --output-format=json --output="$result" "$1.fio" >/dev/null
		if jq -e ".jobs[0] | .error == 0 and .usr_cpu + .sys_cpu >= 96" "$result" >/dev/null; then
			return
		fi
		echo "guest.sh: $1, try $try: disturbed"
	done
	jq -e ".jobs[0].error == 0" "$result" >/dev/null
}

cmdcost="$BENCH/cmdcost -d $DEV"
commands() {
	for mode in check turns nop; do
		$cmdcost $ASKING -n 300 -s 5 "$mode" >$out/"$mode.json"
	done
	[ -z "${NOT_ASKING:-}" ] || $cmdcost $NOT_ASKING -n 300 -s 5 check >$out/read.json
	[ "${SOCKET_CMD:-no}" = no ] || $cmdcost -n 300 -s 5 socket >$out/socket.json
}

# Last, for the kernel without the check has nothing to refuse: what is compared has the same past.
refused() {
	[ "$KERNEL" = unchecked ] || $cmdcost $ASKING -n 300 -s 5 unpriv >$out/unpriv.json
}

mitigations() {
	commands
	refused
}

cost() {
	commands
	run_fio block 1
	for i in $(seq "$FIO_RUNS"); do
		run_fio passthru "$i"
	done
	refused
}

calls() {
	./capcount.sh inline $cmdcost $ASKING -n 500 -s 4 check >$out/inline.json
	./capcount.sh punted $cmdcost $ASKING -n 100 -s 4 -a check >$out/punted.json
	[ -z "${NOT_ASKING:-}" ] || ./capcount.sh inline $cmdcost $NOT_ASKING -n 500 -s 4 check >$out/read.json
}

# The price in turns of the program's loop.
sweep() {
	for price in 0 100 300 600 900; do
		attach $price
		$cmdcost $ASKING -n 300 -s 5 check >$out/check-$price.json
		run_fio passthru $price
	done
}

# A file opened for writing, and one opened read-only, which lets the privileged write.
fdp() {
	# On 6.1 the slabs are new to the first run of a boot only, which takes 73 instructions off each of its writes.
	"$BENCH/fdpwrite" -d $DEV -n 100 -s 1 >/dev/null
	"$BENCH/fdpwrite" -d $DEV >$out/writable.json
	"$BENCH/fdpwrite" -d $DEV -r >$out/readonly.json
}

fdp_calls() {
	./capcount.sh inline "$BENCH/fdpwrite" -d $DEV >$out/writable.json
	./capcount.sh inline "$BENCH/fdpwrite" -d $DEV -r >$out/readonly.json
}

eventfd() {
	for mode in plain signalled; do
		"$BENCH/evfdcost" -n 10000 -s 5 $mode >$out/$mode.json
	done
	[ -z "${CYCLE_MAX:-}" ] || cycles
}

cycles() {
	for pending in 0 1 100 10000; do
		"$BENCH/evfdcost" -p $pending -n 1000 -s 5 cycle >$out/cycle$pending.json
	done
	if [ -x "$BENCH/eventfd-reg" ]; then
		"$BENCH/evfdcost" -s 3 run "$BENCH/eventfd-reg" >$out/eventfd-reg.json
	else
		"$BENCH/evfdcost" -n 100 -s 5 cycle | jq -c '.ns |= map(. * 100)' >$out/loop100.json
	fi
}

# shellcheck source=/dev/null
[ ! -f "$WHAT.sh" ] || . "./$WHAT.sh"
"$WHAT"
jq -n --arg kernel "$(uname -r)" --arg lsm "$lsm" \
	--arg clock "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" \
	--arg fio "$(fio --version)" '{$kernel, $lsm, $clock, $fio}' >$out/guest.json
