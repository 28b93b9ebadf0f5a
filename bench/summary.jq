# SPDX-License-Identifier: GPL-2.0
# Raw results (ROUND/SETTING/KERNEL/WHAT.json) to medians, spreads, paired ratios with intervals, goals.

include "stats";

reduce inputs as $doc ({host: null, guest: {}, raw: {}, calls: {}, placed: {}, limit: {}};
	(input_filename | rtrimstr(".json") | split("/")) as $path |
	if $path == ["host"] then .host = $doc
	else $path as [$round, $setting, $kernel, $what] |
		if $what == "guest" then (if $round == "calls" then . else .guest[$kernel] = $doc end)
		elif $round == "calls" then .calls[$setting][$what][$kernel] = $doc
		elif $doc.ns == [] then .limit[$setting][$what][$kernel] = $doc.limit
		# fio's repetitions within one boot are one measurement; the points of some settings are several.
		else (if $doc.placed then .placed[$what][$kernel] |= ([. // [], $doc.placed] | transpose | map(add)) else . end) |
			($what | if ["bpf-sweep", "growth", "smp"] | index($setting) then . else sub("-[0-9]+$"; "") end) as $what |
			reduce ($doc | values($what) | to_entries[]) as $v
			(.; .raw[$setting][$v.key][$kernel][$round] += [$v.value])
		end
	end) |
.calls as $calls | .placed as $placed | .limit as $limit | .host.goals as $max | [.host.settings[].name] as $order |
# The settings that were measured, in order, those about the eventfd apart.
def settings($eventfd): . as $raw | [$order[] | . as $in |
	select($raw[.] and (["bpf-sweep", "growth", "smp", "paths", "fdp"] | index($in) | not) and startswith("eventfd") == $eventfd) |
	{key: ., value: $raw[.]}] | from_entries;
def pairs($a; $b): .[$a] as $x | .[$b] as $y | [$x // {} | keys[] | select($y[.]) | [$x[.], $y[.]]];
def ratio($a; $b): [pairs($a; $b)[] | select(.[1] != 0) | .[0] / .[1]] | interval;
def difference($a; $b): [pairs($a; $b)[] | .[0] - .[1]] | spread;
def summarize: {
	values: map_values(map_values([.[]] | spread)),
	minus: map_values({
		"after-before": difference("after"; "before"),
		"after-unchecked": difference("after"; "unchecked"),
		"before-unchecked": difference("before"; "unchecked")
	}),
	ratio: map_values({
		"after/before": ratio("after"; "before"),
		"before/after": ratio("before"; "after"),
		"after/unchecked": ratio("after"; "unchecked"),
		"before/unchecked": ratio("before"; "unchecked")
	})
};
# What a security module still costs a command that asks for no privilege: security_uring_cmd(). The NOP is the control.
def hook($setting): . as $raw | (if $setting | endswith("-nomitigations") then "none-nomitigations" else "none" end) as $none |
	if $setting == $none or $raw[$none] == null then null else
	def above($what; $kernel): {a: $raw[$setting][$what][$kernel], b: $raw[$none][$what][$kernel]} | difference("a"; "b");
	{unchecked: above("check"; "unchecked"), nop: above("nop"; "unchecked"), socket: above("socket"; "unchecked")} |
	select(.unchecked) // null end;
# The points of a series: what the check costs, above a kernel without it; fio's reads only have a cost as a whole.
def series($name): . as $all | [.values | keys[] | select(startswith($name + "-"))[($name | length) + 1:]] | sort_by(tonumber) |
	map("\($name)-\(.)" as $key | {n: tonumber, values: $all.values[$key], minus: $all.minus[$key]});
(.raw | map_values(map_values(map_values(map_values(median))))) as $raw |
{
	host, guest,
	lsm: ($raw | settings(false) | with_entries(
		.key as $setting | .value |= (summarize + {rounds: (.check.before | length)} |
			.calls = $calls[$setting] |
			.hook = ($raw | hook($setting)) |
			# At 1 the sysctl lets nothing be kept while a BPF program is attached.
			.keeps = ($setting != "bpf-1") |
			.settled = (.keeps == false or .ratio.passthru == null or
				(.ratio.passthru["after/unchecked"] | narrow))))),
	sweep: ($raw["bpf-sweep"] // {} | summarize | . as $all | [.values | keys[] | select(startswith("check-"))[6:]] |
		sort_by(tonumber) | map(. as $n | {price: ($n | tonumber), check: $all.values["check-" + $n],
			fio: $all.ratio["passthru-" + $n],
			# How much of fio's command the check is, on the unpatched kernel.
			share: ($all.ratio["passthru-" + $n]["before/unchecked"].mean | if . then 1 - . else null end)})),
	growth: ($raw.growth // null | if . then summarize | {rounds: ([.values[].after.n] | max),
		batch: series("batch"), pending: series("pending"), rings: series("rings"), depth: series("depth")} else . end),
	paths: ($raw.paths // null | if . then summarize else . end),
	smp: ($raw.smp // null | if . then summarize else . end),
	# placed: bytes by handle, in all rounds.
	fdp: ($raw.fdp // {} | if . == {} then . else
		summarize + {rounds: (.writable.before | length), calls: $calls.fdp, $placed} end),
	eventfd: ($raw | settings(true) | with_entries(
		# What the signal alone costs: the difference within one boot.
		.value |= (if .plain then .plain as $plain | .signal = (.signalled | with_entries(.key as $kernel | .value |=
			with_entries(.value -= $plain[$kernel][.key]))) else . end) |
		.key as $setting | .value |= (summarize + {rounds: ([.[].after | length] | max), limit: ($limit[$setting] // {})})))
} |
def goal($goal; $limit; met):
	{$goal, $limit, met: (. != null and met), measured: (if type == "number" then . * 1000 | round / 1000 + 0
		else . // "not measured" end)};
# Only where the unpatched kernel asked for each: else there is nothing to save, or nothing was counted.
def counted($what): select(. and .before) | .before.calls as $asked | .after | .commands as $commands | .calls |
	if $asked == $commands or . != 0 then goal("capable() calls for \($commands) \($what)"; "0"; . == 0)
	elif $asked == 0 then empty
	else null | goal("capable() calls for \($commands) \($what): before must ask for each"; "0"; false) end;
def at_most($goal; $limit): goal($goal; "<= \($limit)"; . <= $limit);
.goals = [(.lsm | to_entries[] | .key as $lsm | .value | .settled as $settled |
	(if .keeps then
		(.minus.check["after-unchecked"].median | at_most("check: after - unchecked, instructions per command"; 8)),
		(.calls.inline | counted("commands issued inline")),
		(.ratio.passthru // empty | .["after/unchecked"] | (if .low? then map_values(. * 10000 | round / 10000) |
			"\(.low) to \(.high)" else null end) |
			goal("fio: after / unchecked, 95 % interval"; "0.99 to 1.01"; $settled))
	else empty end),
	# An instruction is whole: half of one is noise.
	(.minus.nop["after-before"].median |
		goal("nop: after - before, instructions per request"; "<= 0 (0.5 is noise)"; . <= 0.5)),
	(.minus | if .read then .read["after-before"].median |
		at_most("a read, which does not ask: after - before, instructions per command"; 8) else empty end),
	(.minus | if .socket then .socket["after-before"].median |
		at_most("a socket's command: after - before, instructions per command"; 8) else empty end),
	(.minus.turns["after-before"].median |
		at_most("two credentials in turns: after - before, instructions per command"; 30))
	| .setting = $lsm),
	# The published machine spent 45 % of a command in the check.
	(if .lsm | any(.values.read) then empty else .sweep[] | select(.share and .share >= 0.45) |
		.share as $share | .fio["after/before"].mean |
		goal("fio: after / before, the check being \($share * 100 | round) % of a command"; ">= 1.8"; . >= 1.8)
		| .setting = "bpf-sweep" end),
	(.sweep[] | .price as $price | (.check | if .after and .unchecked then .after.median - .unchecked.median else null end) |
		at_most("check: after - unchecked, instructions per command, at price \($price)"; 8) | .setting = "bpf-sweep"),
	(.growth | select(.) | . as $growth | "batch", "pending", "rings" | . as $name | $growth[$name] |
		"\(.[0].n) to \(.[-1].n)" as $range |
		{batch: "commands per submission", pending: "other requests pending", rings: "rings in turn"}[$name] as $title |
		[.[].minus["after-unchecked"].median] as $after | [.[].minus["before-unchecked"].median] as $before |
		($after | if all then max else null end |
			# At the worst of many points: half an instruction is noise.
			goal("check, \($title), \($range): after - unchecked at the worst point, instructions"; "<= 8 (0.5 is noise)"; . <= 8.5)),
		($before | if all and min > 0 then max / min else null end |
			at_most("check, \($title), flat: before - unchecked, the largest / the smallest"; 1.1))
		| .setting = "growth"),
	(.paths | select(.) | . as $paths | {plain: "plain ring", defer: "DEFER_TASKRUN", iopoll: "IOPOLL"} | to_entries[] |
		.value as $title | $paths.minus["ring-" + .key]["after-unchecked"].median |
		at_most("check, \($title): after - unchecked, instructions per command"; 8) | .setting = "paths"),
	(.fdp | select(.calls) | (("writable", "readonly") as $file |
		({writable: "a file open for writing", readonly: "a read-only file"}[$file]) as $title |
		(.minus[$file]["after-unchecked"].median | at_most("FDP write on \($title): after - unchecked, instructions"; 8)),
		(.calls[$file] | counted("FDP writes on \($title)")))
		| .setting = "fdp"),
	(.eventfd.eventfd | select(.) |
		# Of some 900 instructions, so half of one is noise here as well.
		(.ratio.signalled["after/before"].mean | goal("signalled CQE: after / before, instructions";
			"<= \($max.signalled_max) (0.0005 is noise)"; . <= $max.signalled_max + 0.0005)),
		(if $max.signal_max then .ratio.signal["after/before"].mean |
			at_most("signal alone: after / before, instructions"; $max.signal_max) else empty end),
		(if $max.cycle_max then ([.values | .cycle0, .cycle1, .cycle100, .cycle10000 | .after.median] |
			if all then [max, max / min] else [null, null] end |
			(.[0] | at_most("register + unregister, 0 to 10,000 requests pending: after, instructions"; $max.cycle_max)),
			(.[1] | at_most("... flat: the largest / the smallest"; 1.1))) else empty end)
		| .setting = "eventfd"),
	(.eventfd | to_entries[] | .key as $setting | if $max.cycle_speedup then .value.ratio.cycle0["before/after"].mean |
		goal("register + unregister on an idle ring: before / after, time"; ">= \($max.cycle_speedup)";
			. >= $max.cycle_speedup) | .setting = $setting else empty end)]
