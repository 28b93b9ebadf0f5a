# SPDX-License-Identifier: GPL-2.0
# bench/host's report.json to report.md.

include "format";

def digits: if .unit == "ns" then 1 else 0 end;

"# Ringcap, measured on the running kernel: \(.facts.kernel), \(.facts.dev)",
"",
"| | |",
"|---|---|",
(.facts |
	["kernel", "\(.kernel), commands as on line \(.line)"],
	["device", ([.dev, .model, "firmware \(.firmware)", .transport, "blocks of \(.bs) bytes"] | map(select(. != "")) | join(", "))],
	["CPU", "\(.cpu), \(.cpus) of them; everything ran on number \(.pinned)"],
	["frequency scaling", "governor \(.governor)" + if .turbo == "" then "" else ", \(.turbo)" end],
	["Spectre v2", .spectre],
	["active LSMs", .lsm],
	["clock, fio", "\(.clock), \(.fio), \(.size) bytes per run"],
	["sysctl before the run", "\(.old)"],
	["date", .date] | row),
"",
"Which commands ask for CAP_SYS_ADMIN: \(.facts.asks).",
(if .facts.cached == 1 then empty else "",
	"**Warning:** with the sysctl at 1 a ring's fdinfo said CmdPrivCached: \(.facts.cached // "nothing"), so nothing was remembered: " +
	"a BPF program on `capable`, AppArmor's audit mode `quiet` or a module without LSM_FLAG_CAP_GEN forbids it. Both sides asked." end),
(if .busy and .busy < 95 then "",
	"**Note:** fio's passthrough thread had as little as \(.busy | fixed(0)) % of its CPU: the device set the pace, or others ran there. " +
	"IOPS then hardly differ; look at the CPU time per read." else empty end),
"",
"## Results",
"",
"sysctl kernel.io_uring_cmd_priv_cache at 0 and at 1, \([.rows[].ratio.n] | max) pairs; median (smallest to largest); ratios: mean " +
	"of the pairs' ratios of speeds (95 % interval), above 1 if 1 is faster.",
"",
"| | unit | sysctl at 0 | at 1 | speed, 1 / 0 | at 1 it is |",
"|---|---|---|---|---|---|",
(.rows[] | digits as $digits | [.title, .unit, (.off, .on | spread($digits)), (.ratio | interval), .verdict] | row),
"",
(if .calls == {} then "Calls of `capable()` were not counted: the kernel has no probe events, or they are locked down."
else
	"| `capable()` calls / commands | sysctl at 0 | at 1 |",
	"|---|---|---|",
	(.calls | ["issued inline", (.inline | .["0"], .["1"] | "\(.calls) / \(.commands)")],
		["punted to io-wq", (.punted | .["0"], .["1"] | "\(.calls) / \(.commands)")] | row)
end),
""
