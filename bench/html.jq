# SPDX-License-Identifier: GPL-2.0
# jq -R -n -r -f html.jq: the Markdown that reports are written in (headings, tables, lists, paragraphs, `code`, **bold**)
# to HTML, headings a level lower. Everything is escaped: nothing in a report is taken for HTML.

def inline: @html | gsub("`(?<c>[^`]*)`"; "<code>\(.c)</code>") | gsub("\\*\\*(?<c>[^*]*)\\*\\*"; "<strong>\(.c)</strong>");
def cells: ltrimstr("|") | rtrimstr("|") | [split("(?<!\\\\)[|]"; null)[] | gsub("^ +| +$"; "") | gsub("\\\\[|]"; "|")];
# Numbers stand at the right, with or without their spread, unit or whole.
def number: test("^[-<>]* ?[0-9][0-9.,]*( \\(.*\\)| [%s]| (/|of) [0-9]+)?$");
def cell($tag): "<\($tag)\(if number then " class=\"n\"" else "" end)>\(inline)</\($tag)>";
def line($tag): "<tr>\(map(cell($tag)) | add)</tr>";
# What has been collected becomes HTML when a line of another kind comes.
def flush:
	(if .kind == "table" then
		.lines | map(cells) | ["<table>", (.[0] | select(any(. != "")) | line("th")), (.[2:][] | line("td")), "</table>"]
	elif .kind == "list" then
		.lines | ["<ul>", (join("\n") | ltrimstr("* ") | split("\n* ")[] | "<li>\(inline)</li>"), "</ul>"]
	elif .kind == "text" then ["<p>\(.lines | join("\n") | inline)</p>"]
	else [] end) as $html | .html += $html | .lines = [] | .kind = "";
def kind($last): if . == "" then "" elif test("^#+ ") then "heading" elif startswith("|") then "table"
	elif startswith("* ") or ($last == "list" and startswith("  ")) then "list" else "text" end;

reduce (inputs, "") as $line ({kind: "", lines: [], html: []};
	.kind as $last | ($line | kind($last)) as $kind |
	if $kind == $last then . else flush end |
	.kind = $kind |
	if $kind == "heading" then ($line | index(" ") + 1) as $level | .html += ["<h\($level)>\($line[$level:] | inline)</h\($level)>"]
	else .lines += [$line] end) |
.html[]
