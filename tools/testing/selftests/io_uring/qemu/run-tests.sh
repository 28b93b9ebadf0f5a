#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: run the test programs $TESTS of directory $DIR, each for at most $LIMIT seconds.
# TAP output and exit status go to /run/out/PROGRAM.tap. Then let kmemleak look, if it is there.
cd "$DIR" || exit 1
for t in $TESTS; do
	start=$(date +%s)
	timeout -k 5 "$LIMIT" "./$t" >"/run/out/$t.tap" 2>&1
	echo "exit status $?" >>"/run/out/$t.tap"
	echo "$t: $(($(date +%s) - start)) s"
	# A test that was left behind must not change policy under the next program.
	pkill -KILL -f "^./$t" || true
done
if [ -d /sys/kernel/debug/gcov ]; then
	# What each line counted, under the path of its object.
	cd /sys/kernel/debug/gcov || exit 1
	find . -name '*.gcda' | while read -r f; do
		mkdir -p "/run/out/gcov/${f%/*}"
		cat "$f" >"/run/out/gcov/$f"
	done
fi
if [ -w /sys/kernel/debug/kmemleak ]; then
	# Young objects are not reported: scan twice, after the grace period that frees the last.
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	sleep 6
	echo scan >/sys/kernel/debug/kmemleak
	cat /sys/kernel/debug/kmemleak >/run/out/kmemleak
fi
exit 0
