# shellcheck shell=sh disable=SC2154,SC2086 # guest.sh reads this; options are several words
# SPDX-License-Identifier: GPL-2.0
# One and two busy CPUs: that many programs at once, each on a CPU and a ring of its own, send the command that ends
# right after the check; and SQPOLL. Unit: nanoseconds of wall time per command, of one program, whose fastest sample
# counts: the one that the host disturbed least. Error: whatever else the host does.
smp() {
	busy >$out/busy-1.json
	taskset -c 1 $cmdcost $ASKING -n 1000 -s 1000000 check >/tmp/other &
	other=$!
	sleep 1
	busy >$out/busy-2.json
	# Had it failed it would be gone.
	kill $other
	# One program again, and the kernel's thread that submits for it.
	$cmdcost $ASKING -S 2 -n 1000 -s 9 check >$out/sqpoll.json
}

busy() {
	taskset -c 0 $cmdcost $ASKING -n 1000 -s 9 check
}
