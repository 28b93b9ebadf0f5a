# From the lines of coverage.jq to a report: each touched function with how many of its lines were reached, then those
# that were not, "+" where the series wrote them. tree: the source.
$1 == "function" { n++; file[n] = $2; name[n] = $3; from[n] = $4; to[n] = $5 }
$1 == "line" { count[$2, $3] = $4 }
$1 == "touched" { for (l = $3; l <= $4; l++) ours[$2, l] = 1 }
END {
	for (i = 1; i <= n; i++) {
		f = file[i]
		total = reached = missed = 0
		for (l = from[i]; l <= to[i]; l++) {
			if (!((f, l) in count))
				continue
			total++
			if (count[f, l])
				reached++
			else
				miss[++missed] = l
		}
		if (!total)
			continue
		printf "%-34s %-36s %3d of %3d\n", f, name[i], reached, total
		if (missed) {
			path = tree "/" f
			for (l = 1; (getline text < path) > 0; l++)
				source[l] = text
			close(path)
		}
		for (j = 1; j <= missed; j++)
			printf "    %s %5d %s\n", ((f, miss[j]) in ours ? "+" : " "), miss[j], source[miss[j]]
		functions++
		all += total
		hit += reached
		full += reached == total
		for (l = from[i]; l <= to[i]; l++) {
			if ((f, l) in count && (f, l) in ours) {
				own++
				ownhit += count[f, l] > 0
			}
		}
	}
	printf "%d touched functions, %d of them reached in every line; %d of %d lines reached, %d of %d of the series' own\n",
		functions, full, hit, all, ownhit, own
}
