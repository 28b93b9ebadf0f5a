# SPDX-License-Identifier: GPL-2.0
# bench/host's raw results (PAIR/SYSCTL/WHAT.json, facts.json) to rows: both sides, their ratio with its interval, and
# the verdict on it. A ratio is one of speeds, at 1 / at 0: above 1, the series is faster.

include "stats";

reduce inputs as $doc ({facts: null, raw: {}, calls: {}, busy: null};
	(input_filename | rtrimstr(".json") | split("/")) as $path |
	if $path == ["facts"] then .facts = $doc
	else $path as [$pair, $sysctl, $what] |
		if $pair == "calls" then .calls[$what][$sysctl] = $doc
		else
			# The CPU's share that fio's thread had, at least.
			(if $what == "passthru" then .busy = ([.busy, ($doc.jobs[0] | .usr_cpu + .sys_cpu)] | map(numbers) | min) else . end) |
			reduce ($doc | values($what) | to_entries[]) as $v (.; .raw[$v.key][$sysctl][$pair] = $v.value)
		end
	end) |
.raw as $raw |
(if .facts.reads_ask then "" else ", which do not ask" end) as $ask |
def row($what; $title; $unit): $raw[$what] | select(.) | .["0"] as $off | .["1"] as $on |
	[$off | keys[] | select($on[.]) | [$off[.], $on[.]]] as $pairs | {$what, $title, $unit, off: ([$off[]] | spread), on: ([$on[]] | spread),
		ratio: ([$pairs[] | if $unit == "IOPS" then .[1] / .[0] else .[0] / .[1] end] | interval)} | .verdict = (.ratio | verdict);
{facts, calls, busy, rows: [
	row("check"; "a command that asks, ended right after the check"; "ns"),
	row("turns"; "the same, two credentials taking turns"; "ns"),
	row("unpriv"; "the same, refused for lack of privilege"; "ns"),
	row("read"; "a read, which does not ask, ended at the same place"; "ns"),
	row("socket"; "a socket's command, which does not ask"; "ns"),
	row("nop"; "NOP on an ordinary ring (yardstick)"; "ns"),
	row("passthru"; "fio, NVMe passthrough, reads" + $ask; "IOPS"),
	row("passthru_cpu"; "... CPU time of its thread per read"; "ns"),
	row("write"; "fio, NVMe passthrough, writes" + $ask; "IOPS"),
	row("write_cpu"; "... CPU time of its thread per write"; "ns"),
	row("block"; "fio, block device, reads (yardstick)"; "IOPS"),
	row("block_write"; "fio, block device, writes (yardstick)"; "IOPS")]}
