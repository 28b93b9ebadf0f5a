# shellcheck shell=sh disable=SC2154,SC2086 # guest.sh reads this; options are several words
# SPDX-License-Identifier: GPL-2.0
# One and two busy CPUs: that many programs at once, each on a CPU and a ring of its own, send the command that ends
# right after the check; and SQPOLL. Unit: nanoseconds of wall time per command and program. Error: whatever else the host does.
smp() {
	busy 0 >$out/busy-1.json
	busy 1 >$out/busy-2.tmp &
	other=$!
	busy 0 >$out/busy-1.tmp
	wait $other
	jq -cs '.[0] + {ns: [.[].ns[]]}' $out/busy-?.tmp >$out/busy-2.json
	rm $out/busy-?.tmp
	# One program again, and the kernel's thread that submits for it.
	$cmdcost $ASKING -S 2 -n 1000 -s 9 check >$out/sqpoll.json
}

busy() {	# busy CPU
	taskset -c $1 $cmdcost $ASKING -n 1000 -s 9 check
}
