# SPDX-License-Identifier: GPL-2.0
# Parts of the report: what the series does not touch, growth, paths, busy CPUs.
include "format";
import "stats" as stats;

def medians($digits): .before, .after, .unchecked | if . then .median | fixed($digits) else "-" end;
def minus: .["before-unchecked"], .["after-unchecked"] | spread(1);
def ratios: .["after/before"], .["after/unchecked"] | interval;

def hook: "",
	"### What the series does not touch: `security_uring_cmd()`",
	"",
	"io_uring asks the security modules about every command by itself, before the driver asks `capable()`. On `unchecked` " +
	"nothing else asks: what a command costs there above the same kernel without modules is their answer to that hook. The " +
	"call itself, which is paid without modules too, is not in it. The NOP, which passes no hook, is the control: it should say 0.",
	"",
	"| setting | security_uring_cmd(): instructions | by a socket's command | NOP | share of the command before " +
	"| `capable()`, for comparison | its share |",
	"|---|---|---|---|---|---|---|",
	(.host.settings[] as $s | .lsm[$s.name] | select(.hook) | .values.check.before.median as $all |
		def share: if . and $all then "\(.median / $all * 100 | fixed(1)) %" else "-" end;
		[$s.title, (.hook.unchecked, .hook.socket, .hook.nop | spread(1)), (.hook.unchecked | share),
		 (.minus.check["before-unchecked"] | spread(1), share)] | row);

def growth:
	def table($name; $title): "",
		"| \($title) | before | after | unchecked | before - unchecked | after - unchecked |",
		"|---|---|---|---|---|---|",
		(.[$name][] | [.n, (.values | medians(1)), (.minus | minus)] | map(tostring) | row);
	"",
	"### Growth, SELinux, no policy loaded",
	"",
	"\(.rounds) rounds; medians; differences: median (smallest to largest). Instructions per command that ends right after the " +
	"check, in batches of 32 on one ring with nothing else in flight, except for what the first column says. Such a command " +
	"ends while it is being submitted: its depth is its batch. Depth alone is other requests that stay pending on the ring, " +
	"and fio's reads.",
	table("batch"; "commands per submission"),
	table("pending"; "other requests pending"),
	table("rings"; "rings that take turns"),
	"",
	"| fio's iodepth | instructions of its thread per read: before | after | unchecked |",
	"|---|---|---|---|",
	(.depth[] | [(.n | tostring), (.values | medians(0))] | row),
	"",
	"fio's thread is charged in whole ticks of 4 ms: these are up to 2 % off, at depths 1 and 4 several per cent.";

def smp: . as $all | "",
	"### One and two busy CPUs, wall time, SELinux, no policy loaded",
	"",
	"\(.values["busy-1"].after.n) rounds; a guest with two CPUs and no icount, on a host that others use: of each boot the fastest of " +
	"9 samples. A ratio is one of costs, below 1 is good; without a narrow interval it decides nothing.",
	"",
	"| busy CPUs | ns per command of one program: before | after | unchecked | after / before | after / unchecked | after is |",
	"|---|---|---|---|---|---|---|",
	({"busy-1": "1", "busy-2": "2, each its own ring", sqpoll: "2, a program and SQPOLL's thread"} | to_entries[] | .key as $key |
		[.value, ($all.values[$key] | medians(0)), ($all.ratio[$key] | ratios, (.["before/after"] | stats::verdict))] | row);

def paths: . as $all |
	def table($head; $digits; $rows): "",
		"| \($head) | before | after | unchecked | after / before | after / unchecked |",
		"|---|---|---|---|---|---|",
		($rows | to_entries[] | .key as $key | select($all.values[$key]) |
			[.value, ($all.values[$key] | medians($digits)), ($all.ratio[$key] | ratios)] | row);
	"",
	"### Paths, no LSM",
	"",
	"\(.values["ring-plain"].after.n) rounds; medians; ratios: mean of the paired ratios (95 % interval), of instructions, where below 1 is " +
	"good, or of IOPS, where above 1 is. fio's own rings are " +
	"SINGLE_ISSUER and DEFER_TASKRUN wherever the kernel has these. SQPOLL is not here: its thread would share the one CPU and " +
	"wait for the scheduler's tick; the setting smp has it.",
	table("instructions per command that ends right after the check"; 1; {
		"ring-plain": "plain ring", "ring-defer": "SINGLE_ISSUER, DEFER_TASKRUN", "ring-iopoll": "IOPOLL"}),
	table("fio, IOPS by the guest's clock"; 0; {
		passthru01: "passthrough, interrupts, registered buffers", passthru00: "passthrough, interrupts, plain buffers",
		passthru11: "passthrough, polled, registered buffers", passthru10: "passthrough, polled, plain buffers",
		block01: "block device, interrupts, registered buffers", block00: "block device, interrupts, plain buffers",
		block11: "block device, polled, registered buffers", block10: "block device, polled, plain buffers"});
