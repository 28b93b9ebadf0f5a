# SPDX-License-Identifier: GPL-2.0
# report.json to short tables for a terminal, tab-separated: $part is lsm, fdp, eventfd or goals (those that are missed).

import "format" as format;

def fixed($digits): if . == null then "-" else format::fixed($digits) end;
# One row of an eventfd setting, in 1/$per nanoseconds; a cell that the time limit ended has no value.
def timed($what; $title; $per; $digits): .limit[$what] as $limit | .values[$what] | select(.) |
	[$title, ([.before, $limit.before], [.after, $limit.after] |
		if .[0] then .[0].median / $per | fixed($digits) elif .[1] then "> \(.[1]) s" else "-" end)];

if $part == "lsm" then select(.lsm != {}) |
["setting", "check: before", "after", "unchecked", "turns: before", "after", "nop: before", "after",
	"fio: before", "after", "unchecked", "calls: before", "after"],
(.lsm | to_entries[] | [.key] + (.value | .calls as $calls | .values |
	[(.check | .before, .after, .unchecked | .median | fixed(0)),
	 (.turns, .nop | .before, .after | .median | fixed(0)),
	 (.passthru | .before, .after, .unchecked | .median | fixed(0)),
	 ($calls.inline | .before, .after | if . then .calls / .commands | fixed(2) else "-" end)])),
(.lsm[] | select(.values.read) | .values | ["a read:", (.read | .before, .after, .unchecked | .median | fixed(0)),
	"a socket:", (.socket | .before, .after | .median | fixed(0))])
elif $part == "fdp" then select(.fdp != {}) | .fdp |
["FDP: instructions per write", "before", "after", "unchecked", "calls per write: before", "after", "bytes per handle: after"],
(("writable", "readonly") as $file | [{writable: "on a file open for writing", readonly: "on a read-only file"}[$file],
	(.values[$file] | .before, .after, .unchecked | .median | fixed(1)),
	(.calls[$file] | .before, .after | .calls / .commands | fixed(2)), (.placed[$file].after | map(tostring) | join(" "))])
elif $part == "eventfd" then select(.eventfd != {}) |
["setting", "median", "before", "after"],
(.eventfd | to_entries[] | .key as $setting | .value | [$setting] + (
	timed("plain"; "instructions per NOP, one per submission"; 1; 1),
	timed("signalled"; "... each CQE signalled"; 1; 1),
	timed("signal"; "... the signal alone"; 1; 1),
	timed("cycle0"; "us per register + unregister, idle ring"; 1000; 1),
	timed("cycle1"; "... 1 request pending"; 1000; 1),
	timed("cycle100"; "... 100 requests pending"; 1000; 1),
	timed("cycle10000"; "... 10,000 requests pending"; 1000; 1),
	timed("eventfd-reg"; "us for liburing's eventfd-reg"; 1000; 0),
	timed("loop100"; "us for a loop of 100 cycles"; 1000; 0)))
else
["\([.goals[] | select(.met)] | length) of \(.goals | length) goals met" +
	if .goals | all(.met) then "" else "; missed:" end],
(.goals[] | select(.met | not) | [.setting, .goal, "\(.measured)", .limit])
end
| @tsv
