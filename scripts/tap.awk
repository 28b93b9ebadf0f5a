# Read the TAP of one kselftest_harness program (PROGRAM.tap with its exit status at the end) and print
# "pass|fail|skip PROGRAM:TEST [reason]" per test. A program that ended early or badly is a failure of its own.
BEGIN { planned = -1; status = 0 }
FNR == 1 { prog = FILENAME; sub(/.*\//, "", prog); sub(/\.tap$/, "", prog) }
/^1\.\.[0-9]+/ {
	planned = substr($1, 4) + 0
	if (match($0, /# SKIP.*/)) { print "skip " prog ":all " substr($0, RSTART + 7); planned = 0; all = 1 }
}
/^#  RUN / { name = $3 }
/^(ok|not ok) [0-9]+/ {
	seen++
	if (match($0, /# SKIP.*/)) { print "skip " prog ":" name " " substr($0, RSTART + 7); next }
	if ($1 == "not") { failed++; print "fail " prog ":" name } else print "pass " prog ":" name
}
/^exit status / { status = $3 }
END {
	if (planned < 0 || (seen < planned && !all) || (status != 0 && status != 4 && !failed))
		print "fail " prog ":program ended with status " status " after " seen + 0 " of " planned " tests"
}
