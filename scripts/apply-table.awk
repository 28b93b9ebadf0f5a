# Rows of a markdown table from the results of apply-all, neighbours with the same verdicts in one row.
# Variables: line; built (file: version, tab, what its tests said).
function flush() {
	if (n)
		printf "| %s | %s | %d | %s | %s | %s |\n", line, (first == last ? first : first " to " last), n, upstream, distribution, ran
	n = 0
	ran = ""
}
# "stops at 0007-a-long-name.patch file.c:12" as "stops at patch 7, file.c:12"
function brief(verdict) {
	if (match(verdict, /^stops at [0-9]+/))
		return "stops at patch " substr(verdict, 10, 4) + 0 "," substr(verdict, index(verdict, ".patch ") + 6)
	return verdict
}
BEGIN {
	FS = "\t"
	while ((getline < built) > 0)
		tested[$1] = $2
}
{
	if (brief($2) != upstream || brief($3) != distribution) {
		flush()
		first = $1
		upstream = brief($2)
		distribution = brief($3)
	}
	last = $1
	n++
	if ($1 in tested)
		ran = ran (ran == "" ? "" : "; ") $1 ": " tested[$1]
}
END { flush() }
