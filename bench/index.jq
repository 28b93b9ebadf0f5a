# SPDX-License-Identifier: GPL-2.0
# The report.json of all lines to one Markdown table, side by side.

include "format";
import "stats" as stats;

def verdict: if . then stats::verdict else "-" end;
def count: if . then .median | fixed(0) else "-" end;
# What a line says once, in its first row.
def once: (.eventfd.eventfd // {} | (.values.signal // {} | .before, .after | count), (.ratio.signal["before/after"] | verdict)),
	"\([.goals[] | select(.met)] | length) of \(.goals | length)";
def cost: (.values.check // {} | .before, .after, .unchecked | count),
	(.ratio.passthru // {} | (.["after/before"] | interval), (.["after/before"] | verdict));
def reads: if .values.read then ", reads do not ask" else "" end;

map(select(.goals)) | select(length > 0) |
"# Lines side by side",
"",
"Instructions per command that ends right after the permission check; fio's passthrough reads, ratio of IOPS; instructions " +
	"for an eventfd's signal alone. Medians; ratios with their 95 % interval, if there was more than one round.",
"",
"| line | LSM | check: before | after | unchecked | fio: after / before | after is | signal: before | after | after is | goals met |",
"|---|---|---|---|---|---|---|---|---|---|---|",
(.[] | .host.line as $line | [once] as $once |
	[.host.settings[] as $s | .lsm[$s.name] | select(.) | [$s.title + reads, cost]] |
	(if . == [] then [["-", "-", "-", "-", "-", "-"]] else . end) |
	to_entries[] | [if .key == 0 then $line else "" end] + .value + (if .key == 0 then $once else ["", "", "", ""] end) | row)
