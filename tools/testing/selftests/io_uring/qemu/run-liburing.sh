#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: run liburing's tests $TESTS of directory $DIR, each for at most $LIMIT seconds, in
# a directory of its own. "pass|skip|fail|timeout NAME" goes to /run/out/results as they end, the
# output to /run/out/NAME.log.
run() {	# run NAME PROGRAM [ARGUMENT]
	name=$1
	shift
	dir=$(mktemp -d /tmp/liburing.XXXXXX)
	start=$(date +%s)
	echo "ringcap: $name" >/dev/kmsg
	(cd "$dir" && exec timeout -s INT -k 10 "$LIMIT" "$@") >"$dir.log" 2>&1 </dev/null
	status=$?
	case $status in
	0) result=pass ;;
	77) result=skip ;;
	124|137) result=timeout ;;
	*) result=fail ;;
	esac
	[ $result != pass ] || ! grep -iq '\<skip' "$dir.log" || result=skip
	echo "exit status $status" >>"$dir.log"
	echo "$result $name" >>/run/out/results
	[ $result = pass ] || cp "$dir.log" "/run/out/$name.log"
	echo "$name: $result, $(($(date +%s) - start)) s"
	pkill -KILL -f "^$1" || true
	rm -rf "$dir" "$dir.log"
}

for t in $TESTS; do
	case $t in
	*-nvme) run "$t" "$DIR/${t%-nvme}.t" /dev/ng0n1 ;;
	*) run "$t" "$DIR/$t.t" ;;
	esac
done
exit 0
