# SPDX-License-Identifier: GPL-2.0
# What the summaries share: medians, spreads, intervals, and what an interval may be called.

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

# The interval of a ratio that is so narrow around 1 that no difference is left to be seen.
def narrow: . != null and .low? != null and .low >= 0.99 and .high <= 1.01;
# What may be said of the interval of a ratio of speeds, new / old.
def verdict:
	def percent: . * 1000 | round / 10 | fabs | tostring;
	if . == null or .low? == null then "not decided"
	elif narrow then "no difference seen"
	elif .low > 1 then "faster by \(.low - 1 | percent) to \(.high - 1 | percent) %"
	elif .high < 1 then "slower by \(.high - 1 | percent) to \(.low - 1 | percent) %"
	else "not decided" end;

# Of one measurement, by name. fio's CPU time comes as per cent of its run time.
def values($what):
	if .jobs then .jobs[0] as $job | ($job | if .write.total_ios > 0 then .write else .read end) |
		(($job.usr_cpu + $job.sys_cpu) / 100 * .runtime * 1e6 / .total_ios) as $cpu |
		if $what | startswith("depth-") then {($what): $cpu} else
		{($what): .iops} + if $what | startswith("block") then {} else {($what + "_cpu"): $cpu} end end
	# Wall time: of a boot's samples the one that the host disturbed least.
	elif $what | startswith("busy-") or . == "sqpoll" then {($what): (.ns | min)}
	elif (.ns // []) | length > 0 then {($what): (.ns | median)}
	else {} end;
