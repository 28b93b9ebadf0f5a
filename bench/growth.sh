# shellcheck shell=sh disable=SC2154,SC2086 # guest.sh reads this; options are several words
# SPDX-License-Identifier: GPL-2.0
# Growth, all points in one boot: the command that ends right after the check by commands per submission, by other
# requests pending on the ring and by rings that take turns; fio's reads by depth.
# Unit: instructions per command, of fio the CPU time of its thread. Error: 0.1 %, fio 2 %, at depths below 16 more.
growth() {
	growth_point batch 1 2 4 8 16 32 64
	growth_point pending 1 4 16 64 256
	growth_point rings 1 4 16 64
	for depth in 1 4 16 64 256; do
		size=40M
		[ $depth -ge 16 ] || size=5M
		DEPTH=$depth SIZE=$size fio --output-format=json --output=$out/depth-$depth.json passthru.fio >/dev/null
		jq -e '.jobs[0].error == 0' $out/depth-$depth.json >/dev/null
	done
}

growth_point() {	# growth_point batch|pending|rings N...: about 96,000 commands in one long sample:
	# a tick of the clock costs some 30,000 instructions, and of those a short sample has one more or less.
	series=$1
	shift
	for n; do
		case $series in
		batch) options="-b $n -n $((96000 / n))" ;;
		pending) options="-q $n -n 3000" ;;
		rings) options="-r $n -n 3000" ;;
		esac
		$cmdcost $ASKING $options -s 1 check >$out/$series-$n.json
	done
}
