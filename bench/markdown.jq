# SPDX-License-Identifier: GPL-2.0
# report.json to report.md.

include "format";
include "growth";
import "stats" as stats;

def cost($what; $title):
	[$title, (.values[$what] | .before, .after, .unchecked | spread(1)),
	 (.minus[$what] | .["after-before"], .["after-unchecked"] | if . then .median | fixed(1) else "-" end)] | row;
def iops($what; $title):
	[$title, (.values[$what] | .before, .after, .unchecked | spread(0)),
	 (.ratio[$what] | (.["after/before"], .["after/unchecked"] | interval), (.["after/before"] | stats::verdict))] | row;
def calls($what; $title):
	.calls[$what] as $calls | [$title, ("before", "after", "unchecked" | $calls[.] |
		if . then "\(.calls) / \(.commands)" else "-" end), "", ""] | row;

# A part of a table that not every line has.
def maybe($what; row): if .values[$what] or .calls[$what] then row else empty end;

def table($title): "",
	"### LSM: \($title)",
	"",
	"\(.rounds) rounds; costs and IOPS: median (smallest to largest); ratios: mean of the paired ratios (95 % interval).",
	"",
	"| instructions per command | before | after | unchecked | after - before | after - unchecked |",
	"|---|---|---|---|---|---|",
	cost("check"; "ended right after the permission check"),
	cost("turns"; "the same, two credentials taking turns"),
	maybe("unpriv"; cost("unpriv"; "refused for lack of privilege")),
	cost("nop"; "NOP on an ordinary ring"),
	maybe("read"; cost("read"; "a read, which does not ask, ended at the same place")),
	maybe("socket"; cost("socket"; "a socket's command, which does not ask")),
	maybe("passthru_cpu"; cost("passthru_cpu"; "read by fio, CPU time of its thread")),
	(if .values.passthru then "",
	"| fio, IOPS by the guest's clock | before | after | unchecked | after / before | after / unchecked | after is |",
	"|---|---|---|---|---|---|---|",
	iops("passthru"; "NVMe passthrough, reads" + if .values.read then ", which do not ask" else "" end),
	iops("block"; "block device (yardstick)") else empty end),
	(if .calls then "",
	"| `capable()` calls / commands | before | after | unchecked | | |",
	"|---|---|---|---|---|---|",
	calls("inline"; "issued inline"),
	calls("punted"; "punted to io-wq"),
	(if .calls.read then calls("read"; "reads issued inline") else empty end) else empty end),
	(if .values.read then "", "Reads do not ask on this line: nothing is gained for them, whatever their share." else empty end);

def overview: "",
	"### By LSM setting",
	"",
	"| setting | instructions, ended right after the check: before | after | unchecked | fio, reads: after / before | after / unchecked | `capable()` calls per command: before | after |",
	"|---|---|---|---|---|---|---|---|",
	(.host.settings[] as $s | .lsm[$s.name] | select(.) | [$s.title, (.values.check | .before, .after, .unchecked |
		if . then .median | fixed(0) else "-" end), (.ratio.passthru | .["after/before"], .["after/unchecked"] | interval),
		(.calls.inline | .before, .after | if . then .calls / .commands | fixed(2) else "-" end)] | row);

def sweep: "",
	"### By the price of the check: a BPF program on `capable`, sysctl at 2",
	"",
	"| instructions up to the check: before | after | unchecked | share of fio's command | fio, reads: after / before | after / unchecked |",
	"|---|---|---|---|---|---|",
	(.[] | [(.check | .before, .after, .unchecked | if . then .median | fixed(0) else "-" end),
		(.share | if . then "\(. * 100 | fixed(0)) %" else "-" end), (.fio | .["after/before"], .["after/unchecked"] | interval)] | row),
	"",
	"Published for a real machine (970k to 1750k IOPS): share 45 %, after / before 1.80.";

# A time in microseconds; a cell that the time limit ended has none.
def us($limit): if . then (.median / 1000 | fixed(1)) elif $limit then "> \($limit) s" else "-" end;
def speedup($ratio; $limit; $after): if $ratio then $ratio.mean | fixed(0)
	elif $limit and $after then "> \($limit * 1e9 / $after.median | fixed(0))" else "-" end;
def cycle($what; $title): [$title, (.eventfd, .["eventfd-smp"] | .limit[$what] as $limit | .values[$what] as $v |
	($v.before | us($limit.before)), ($v.after | us($limit.after)),
	speedup(.ratio[$what]["before/after"]; $limit.before; $v.after))] | row;
def signal($what; $title): [$title, (.values[$what] | .before, .after | spread(1)),
	(.ratio[$what] | (.["after/before"] | interval), (.["before/after"] | stats::verdict))] | row;

def eventfd($liburing): "",
	"### eventfd",
	"",
	"\(.eventfd.rounds) rounds; median (smallest to largest); ratios: mean of the paired ratios (95 % interval).",
	"",
	"| instructions | before | after | after / before | after is |",
	"|---|---|---|---|---|",
	(.eventfd | signal("plain"; "NOP, one per submission"),
		signal("signalled"; "the same, each CQE signalled to a registered eventfd"),
		signal("signal"; "the signal alone: the difference")),
	(if .["eventfd-smp"] then "",
	"| register + unregister, microseconds | 1 CPU, guest's clock: before | after | before / after | 2 CPUs, wall time: before | after | before / after |",
	"|---|---|---|---|---|---|---|",
	cycle("cycle0"; "idle ring"),
	cycle("cycle1"; "1 request pending (a read on an empty pipe)"),
	cycle("cycle100"; "100 requests pending"),
	cycle("cycle10000"; "10,000 requests pending"),
	if .eventfd.values["eventfd-reg"] then cycle("eventfd-reg"; "liburing \($liburing)'s test eventfd-reg, the whole program (101 cycles)")
	else cycle("loop100"; "a loop of 100 cycles, idle ring") end,
	"",
	"On one CPU, `after` never sleeps: 1 microsecond is 1,000 instructions. `before` sleeps, so it has a time only; \"> N s\": " +
	"not one cycle had ended when a signal ended the wait."
	else empty end);

def bytes_placed($file; $title): [$title, (.placed[$file] | .before, .after, .unchecked |
	if . then map(tostring) | join(", ") else "-" end)] | row;
def fdp($qemu): .calls.writable.before as $before | "",
	"### FDP: writes with a placement handle",
	"",
	"\(.rounds) rounds; median (smallest to largest); no LSM; 512-byte writes through the generic character device, " +
	"32 at once; \($qemu), the same for all kernels.",
	"",
	"| instructions per write | before | after | unchecked | after - before | after - unchecked |",
	"|---|---|---|---|---|---|",
	cost("writable"; "on a file open for writing"),
	cost("readonly"; "on a file opened read-only"),
	"",
	"| `capable()` calls / writes | before | after | unchecked | | |",
	"|---|---|---|---|---|---|",
	calls("writable"; "on a file open for writing"),
	calls("readonly"; "on a file opened read-only"),
	"",
	"| bytes placed with handle 0, 1, ... | before | after | unchecked |",
	"|---|---|---|---|",
	bytes_placed("writable"; "on a file open for writing"),
	bytes_placed("readonly"; "on a file opened read-only"),
	"",
	"On this line a write on a file open for writing " + (if $before.calls == $before.commands then "asks, every time."
		elif $before.calls == 0 then "does not ask: nothing is gained for it, and it pays the difference above. " +
			"One on a file opened read-only asks."
		else "asked \($before.calls) times in \($before.commands)." end) +
	" The bytes are what the controller's reclaim unit handle status says of each handle; after every sample it was compared " +
	"with what was written, for this handle and all others.";

def configs: if [.[]] | unique | length == 1 then "`\(.before)` (all kernels)"
	else to_entries | map("\(.key) `\(.value)`") | join(", ") end;

"# Ringcap, measured: line \(.host.line)",
"",
"| | |",
"|---|---|",
"| kernels | \([.guest[].kernel] | unique | join(", ")) |",
"| source | \(.host.base) |",
"| series head | \(.host.series) |",
"| sha256 of .config | \(.host.config | configs) |",
"| compiler | \(.host.compiler) |",
"| emulator | \(.host.qemu)\(if .host.fdp_qemu != "" then "; FDP: \(.host.fdp_qemu)" else "" end) |",
"| accelerator | tcg, one thread, icount shift=0 (costs, fio, eventfd); tcg, two CPUs (calls, rows that say so) |",
"| host CPU | \(.host.cpu), \(.host.cpus) online |",
"| guest clock, fio | \([.guest[].clock] | unique | join(", ")), \([.guest[].fio] | unique | join(", ")) |",
"| date | \(.host.date) |",
"",
"before: the source as it is. after: with the series." + if .guest.unchecked then
" unchecked: before, with `true` where it asks `capable()`: the limit." else "" end,
(if .host.asks != "" then "", "Which commands ask for CAP_SYS_ADMIN on this line: \(.host.asks)."
	else "", "This line has no driver commands (uring_cmd): there are eventfd rows only." end),
"",
"## Results",
(select(.lsm != {}) | overview),
(.sweep | select(length > 0) | sweep),
(select(.lsm | any(.hook)) | hook),
(.growth | select(.) | growth),
(.smp | select(.) | smp),
(.paths | select(.) | paths),
(.host.not_stacked // "" | select(. != "") | "", "Not measured, selinux+apparmor: \(.)."),
(.host.fdp_missing // "" | select(. != "") | "", "### FDP", "", "Not measured: \(.)."),
(.host.fdp_qemu as $qemu | .fdp | select(.calls) | fdp($qemu)),
(.host.liburing as $liburing | .eventfd | select(.eventfd) | eventfd($liburing)),
(.host.settings[] as $s | .lsm[$s.name] | select(.) | table($s.title)),
"",
"### Goals",
"",
"| | goal | setting | measured | wanted |",
"|---|---|---|---|---|",
(.goals[] | [(if .met then "met" else "**MISSED**" end), .goal, .setting, .measured, .limit | tostring] | row),
""
