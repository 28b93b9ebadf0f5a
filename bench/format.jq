# SPDX-License-Identifier: GPL-2.0
# How numbers look in a report, and rows of a Markdown table.

def fixed($digits): pow(10; $digits) as $p | . * $p | round / $p | if . == 0 then 0 else . end | tostring |
	if $digits > 0 then (split(".") | .[0] + "." + (((.[1] // "") + "0000")[:$digits])) else . end;
def spread($digits):
	if . then "\(.median | fixed($digits)) (\(.min | fixed($digits)) to \(.max | fixed($digits)))" else "-" end;
def interval:
	if . == null then "-" else "\(.mean | fixed(4))" + if .low then " (\(.low | fixed(4)) to \(.high | fixed(4)))" else "" end end;
def row: "| " + (map(gsub("[|]"; "\\|")) | join(" | ")) + " |";
