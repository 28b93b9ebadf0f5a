# SPDX-License-Identifier: GPL-2.0
# report.json to the short table ($part medians) or the goals ($part goals) for a terminal, tab-separated.

def fixed($digits): if . == null then "-" else pow(10; $digits) as $p | . * $p | round / $p | tostring end;
def line($title; $digits): [$title, (.before, .after, .unchecked | .median | fixed($digits))];

if $part == "medians" then
["LSM", "median", "before", "after", "unchecked"],
(.lsm | to_entries[] | .key as $lsm | .value | .calls as $calls | [$lsm] + (
	(.values | (.check | line("instructions per command up to the check"; 1)),
		(.turns | line("... two credentials in turns"; 1)),
		(.unpriv | line("... refused for lack of privilege"; 1)),
		(.nop | line("instructions per NOP"; 1)),
		(.passthru | line("fio passthrough, reads per 10^9 instructions"; 0)),
		(.block | line("fio block device, the same"; 0))),
	("inline", "punted" | ["capable() calls per command, \(.)"] +
		($calls[.] | [.before, .after, .unchecked | if . then .calls / .commands | fixed(3) else "-" end]))))
else
["LSM", "goal", "measured", "wanted", ""],
(.goals[] | [.lsm, .goal, "\(.measured)", .limit, if .met then "met" else "MISSED" end])
end
| @tsv
