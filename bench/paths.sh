# shellcheck shell=sh disable=SC2154,SC2086 # guest.sh reads this; options are several words
# SPDX-License-Identifier: GPL-2.0
# Paths, all in one boot: the command that ends right after the check on rings of several kinds, and fio's reads with
# interrupts (0) or polled queues (1), plain (0) or registered buffers (1): passthru01 is what the other settings run.
# Without SQPOLL, whose thread needs a CPU of its own: on one it waits for the scheduler's tick (smp.sh has it).
# Unit: instructions per command; IOPS by the guest's clock. Error: 0.1 %; fio 1 to 2 %, polling turns included.
paths() {
	ring plain 0
	ring defer 0x3000	# IORING_SETUP_SINGLE_ISSUER and DEFER_TASKRUN
	ring iopoll 1
	[ "$(cat /sys/block/${BLK#/dev/}/queue/io_poll)" = 1 ] || {
		echo "guest.sh: no polled queues: boot with nvme.poll_queues=1" >&2
		exit 1
	}
	SIZE=20M
	for job in passthru block; do
		for HIPRI in 0 1; do
			for FIXED in 0 1; do
				export HIPRI FIXED
				run_fio $job 1 $job$HIPRI$FIXED
			done
		done
	done
}

ring() {	# ring NAME FLAGS
	$cmdcost $ASKING -S $2 -n 300 -s 5 check >$out/ring-$1.json
}
