# SPDX-License-Identifier: GPL-2.0
# Raw results (ROUND/LSM/KERNEL/WHAT.json) to medians, spreads, paired ratios with intervals, goals.

def mean: add / length;
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def spread: if length == 0 then null else {n: length, median: median, min: min, max: max} end;

# Student's t, two-sided 95 %, for n values (n - 1 degrees of freedom).
def t95: [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
	2.131, 2.120, 2.110, 2.101, 2.093][. - 2] // 2.086;
def interval:
	length as $n | if $n == 0 then null else
		mean as $m |
		(if $n == 1 then null else map(. - $m | . * .) | add / ($n - 1) | sqrt * ($n | t95) / ($n | sqrt) end) as $half |
		{n: $n, mean: $m} + if $half then {low: ($m - $half), high: ($m + $half)} else {} end
	end;

# One value per measurement. fio's CPU time comes as per cent of its run time.
def values($what):
	if $what | startswith("passthru") then .jobs[0] |
		{passthru: .read.iops,
		 passthru_cpu: ((.usr_cpu + .sys_cpu) / 100 * .read.runtime * 1e6 / .read.total_ios)}
	elif $what == "block" then {block: .jobs[0].read.iops}
	elif .ns then {($what): (.ns | median)}
	else {} end;

reduce inputs as $doc ({host: null, guest: {}, raw: {}, calls: {}};
	(input_filename | rtrimstr(".json") | split("/")) as $path |
	if $path == ["host"] then .host = $doc
	else $path as [$round, $lsm, $kernel, $what] |
		if $what == "guest" then (if $round == "calls" then . else .guest[$kernel] = $doc end)
		elif $round == "calls" then .calls[$lsm][$what][$kernel] = $doc
		else reduce ($doc | values($what) | to_entries[]) as $v (.; .raw[$lsm][$v.key][$kernel][$round] += [$v.value])
		end
	end) |
.calls as $calls |
def pairs($a; $b): .[$a] as $x | .[$b] as $y | [$x // {} | keys[] | select($y[.]) | [$x[.], $y[.]]];
{
	host, guest,
	lsm: (.raw | map_values(
		map_values(map_values(map_values(median))) |
		{
			rounds: (.check.before | length),
			values: map_values(map_values([.[]] | spread)),
			minus: map_values({
				"after-before": ([pairs("after"; "before")[] | .[0] - .[1]] | spread),
				"after-unchecked": ([pairs("after"; "unchecked")[] | .[0] - .[1]] | spread),
				"before-unchecked": ([pairs("before"; "unchecked")[] | .[0] - .[1]] | spread)
			}),
			ratio: map_values({
				"after/before": ([pairs("after"; "before")[] | .[0] / .[1]] | interval),
				"after/unchecked": ([pairs("after"; "unchecked")[] | .[0] / .[1]] | interval)
			})
		} |
		.settled = (.ratio.passthru["after/unchecked"] | . != null and .low >= 0.99 and .high <= 1.01)))
} |
.lsm |= ({none, selinux, apparmor} | with_entries(select(.value) | .value.calls = $calls[.key])) |
def goal($goal; $limit; met):
	{$goal, $limit, met: (. != null and met), measured: (if type == "number" then . * 10 | round / 10 + 0
		else . // "not measured" end)};
.goals = [.lsm | to_entries[] | .key as $lsm | .value | .settled as $settled |
	(.minus.check["after-unchecked"].median |
		goal("check: after - unchecked, instructions per command"; "<= 8"; . <= 8)),
	(.calls.inline.after | .commands as $commands | .calls |
		goal("capable() calls for \($commands) commands issued inline"; "0"; . == 0)),
	# An instruction is whole: half of one is noise.
	(.minus.nop["after-before"].median |
		goal("nop: after - before, instructions per request"; "<= 0 (0.5 is noise)"; . <= 0.5)),
	(.minus.turns["after-before"].median |
		goal("two credentials in turns: after - before, instructions per command"; "<= 30"; . <= 30)),
	(.ratio.passthru["after/unchecked"] | (if .low? then map_values(. * 10000 | round / 10000) |
		"\(.low) to \(.high)" else null end) |
		goal("fio: after / unchecked, 95 % interval"; "0.99 to 1.01"; $settled))
	| .lsm = $lsm]
