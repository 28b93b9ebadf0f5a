# SPDX-License-Identifier: GPL-2.0
# report.json to report.md.

def fixed($digits): pow(10; $digits) as $p | . * $p | round / $p | if . == 0 then 0 else . end | tostring |
	if $digits > 0 then (split(".") | .[0] + "." + (((.[1] // "") + "0000")[:$digits])) else . end;
def spread($digits):
	if . then "\(.median | fixed($digits)) (\(.min | fixed($digits)) to \(.max | fixed($digits)))" else "-" end;
def interval:
	if . == null then "-" else "\(.mean | fixed(4))" + if .low then " (\(.low | fixed(4)) to \(.high | fixed(4)))" else "" end end;
def row: "| " + join(" | ") + " |";

def cost($what; $title):
	[$title, (.values[$what] | .before, .after, .unchecked | spread(1)),
	 (.minus[$what] | .["after-before"], .["after-unchecked"] | if . then .median | fixed(1) else "-" end)] | row;
def iops($what; $title):
	[$title, (.values[$what] | .before, .after, .unchecked | spread(0)),
	 (.ratio[$what] | .["after/before"], .["after/unchecked"] | interval)] | row;
def calls($what; $title):
	.calls[$what] as $calls | [$title, ("before", "after", "unchecked" | $calls[.] |
		if . then "\(.calls) / \(.commands)" else "-" end), "", ""] | row;

def table($lsm): "",
	"### LSM: \({none: "none (capabilities only)", selinux: "SELinux, no policy loaded",
		apparmor: "AppArmor, unconfined"}[$lsm])",
	"",
	"\(.rounds) rounds; costs and IOPS: median (smallest to largest); ratios: mean of the paired ratios (95 % interval).",
	"",
	"| instructions per command | before | after | unchecked | after - before | after - unchecked |",
	"|---|---|---|---|---|---|",
	cost("check"; "ended right after the permission check"),
	cost("turns"; "the same, two credentials taking turns"),
	cost("unpriv"; "refused for lack of privilege"),
	cost("nop"; "NOP on an ordinary ring"),
	cost("passthru_cpu"; "read by fio, CPU time of its thread"),
	"",
	"| fio, IOPS by the guest's clock | before | after | unchecked | after / before | after / unchecked |",
	"|---|---|---|---|---|---|",
	iops("passthru"; "NVMe passthrough"),
	iops("block"; "block device (yardstick)"),
	"",
	"| `capable()` calls / commands | before | after | unchecked | | |",
	"|---|---|---|---|---|---|",
	calls("inline"; "issued inline"),
	calls("punted"; "punted to io-wq");

def configs: if (.before == .after and .before == .unchecked) then "`\(.before)` (all kernels)"
	else to_entries | map("\(.key) `\(.value)`") | join(", ") end;

"# Privileged io_uring commands, line \(.host.line)",
"",
"| | |",
"|---|---|",
"| kernels | \([.guest[].kernel] | unique | join(", ")) |",
"| source | \(.host.base) |",
"| series head | \(.host.series) |",
"| sha256 of .config | \(.host.config | configs) |",
"| compiler | \(.host.compiler) |",
"| emulator | \(.host.qemu) |",
"| accelerator | tcg, one thread, icount shift=0 (costs, fio); tcg, two CPUs (calls) |",
"| host CPU | \(.host.cpu), \(.host.cpus) online |",
"| guest clock, fio | \([.guest[].clock] | unique | join(", ")), \([.guest[].fio] | unique | join(", ")) |",
"| date | \(.host.date) |",
"",
"before: the source as it is. after: with the series. unchecked: before with the permission check removed, the limit.",
"",
"## Results",
(.lsm as $all | "none", "selinux", "apparmor" | . as $lsm | $all[$lsm] | select(.) | table($lsm)),
"",
"### Goals",
"",
"| | goal | LSM | measured | wanted |",
"|---|---|---|---|---|",
(.goals[] | [(if .met then "met" else "**MISSED**" end), .goal, .lsm, .measured, .limit | tostring] | row),
""
