#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# capcount.sh inline|punted COMMAND...: how often COMMAND's commands called capable(CAP_SYS_ADMIN).
# Unit: calls, in whole. Source: a kprobe on capable() and a histogram by thread, in a trace instance of
# its own; COMMAND is cmdcost, whose JSON goes in beside the count. "inline" counts the program's own
# thread, "punted" the io-wq workers it started. Error: none; a missed probe ends the run.
set -eu
where=$1
shift
tracing=/sys/kernel/tracing
instance=$tracing/instances/ringcap

pid='' result=''

cleanup() {
	rm -f "$result"
	[ ! -d $instance ] || { echo 0 >$instance/events/ringcap/enable; rmdir $instance; }
	echo '-:ringcap/capable' >>$tracing/kprobe_events
}

echo 'p:ringcap/capable capable cap=$arg1:s32' >>$tracing/kprobe_events
trap cleanup EXIT
trap '${pid:+kill $pid}; exit 1' HUP INT TERM
mkdir $instance
event=$instance/events/ringcap/capable
echo 'hist:keys=common_pid.execname if cap == 21' >$event/trigger
echo 1 >$event/enable

result=$(mktemp)
"$@" >"$result" &
pid=$!
wait $pid
echo 0 >$event/enable

# A worker is called after the thread it works for: iou-wrk-PID.
case $where in
inline) key="\\[ *$pid\\]" ;;
punted) key="iou-wrk-$pid " ;;
esac
calls=$(grep "^{.*$key" $event/hist | sed 's/.*hitcount: *//' | awk '{ n += $1 } END { print n + 0 }')
missed=$(awk '$1 == "ringcap/capable" || $1 == "capable" { n += $3 } END { print n + 0 }' $tracing/kprobe_profile)
[ "$missed" = 0 ] || { echo "capcount.sh: the kernel missed $missed probe hits" >&2; exit 1; }
jq -c --argjson calls "$calls" '{commands, calls: $calls}' "$result"
