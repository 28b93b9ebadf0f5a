#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# All measurements of one boot; runs as root in the guest, results as JSON in /run/out.
# Environment: WHAT=cost|calls, BENCH (directory of cmdcost), KERNEL, LSM=none|selinux|apparmor (what must be active),
# SIZE (fio's io_size), FIO_RUNS.
set -eu
cd "$(dirname "$0")"
out=/run/out
cmdcost=$BENCH/cmdcost
lsm=$(cat /sys/kernel/security/lsm)
case $LSM,$lsm in
none,capability | selinux,*selinux* | apparmor,*apparmor*) ;;
*)
	echo "guest.sh: LSM $LSM is wanted, active are: $lsm" >&2
	exit 1
	;;
esac

# The controller is known by its serial number: probing decides which name it gets.
ctrl=$(basename "$(dirname "$(grep -l '^ringcap0 *$' /sys/class/nvme/nvme*/serial)")")
BLK=/dev/${ctrl}n1
DEV=/dev/ng${ctrl#nvme}n1
export BLK DEV SIZE

# A command that ends right after the permission check. 6.1 looks at the NVMe flags there, later lines
# before it, so they get a vendor opcode whose fixed buffer is not registered.
case $(uname -r) in
6.1.*) ends="-f 1 -e -22" ;;
*) ends="-o 0xc0 -f 0 -u -e -14" ;;
esac

# A run whose thread did not have the CPU to itself waited for the device, that is, for a busy host: once more.
run_fio() {
	for try in 1 2 3; do
		fio --output-format=json --output="$out/$1.json" "${1%%[0-9]*}.fio" >/dev/null
		if jq -e ".jobs[0] | .error == 0 and .usr_cpu + .sys_cpu >= 96" "$out/$1.json" >/dev/null; then
			return
		fi
		echo "guest.sh: $1, try $try: disturbed"
	done
	jq -e ".jobs[0].error == 0" "$out/$1.json" >/dev/null
}

cost() {
	# The kernel without the check has nothing to refuse.
	for mode in check turns nop $([ "$KERNEL" = unchecked ] || echo unpriv); do
		# shellcheck disable=SC2086
		"$cmdcost" -d "$DEV" $ends -n 300 -s 5 "$mode" >$out/"$mode.json"
	done
	for job in block $(seq "$FIO_RUNS" | sed 's/^/passthru/'); do
		run_fio "$job"
	done
}

calls() {
	# shellcheck disable=SC2086
	./capcount.sh inline "$cmdcost" -d "$DEV" $ends -n 500 -s 4 check >$out/inline.json
	# shellcheck disable=SC2086
	./capcount.sh punted "$cmdcost" -d "$DEV" $ends -n 100 -s 4 -a check >$out/punted.json
}

"$WHAT"
jq -n --arg kernel "$(uname -r)" --arg lsm "$lsm" \
	--arg clock "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource)" \
	--arg fio "$(fio --version)" '{$kernel, $lsm, $clock, $fio}' >$out/guest.json
