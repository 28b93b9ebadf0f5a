# From gcov's JSON of several boots (slurped) to lines "FILE FUNCTION FROM TO" of each function that the series touches
# and "FILE LINE COUNT" of each line. $tree: where the kernel was compiled, $touched: [{file, from, to}].
[.[].files[] | .file |= ltrimstr($tree + "/") | select(.file as $f | any($touched[]; .file == $f))] as $files
| ($files | map(.file as $file | .functions[] | {$file, name, from: .start_line, to: .end_line}) | unique_by(.file, .name)[]
	| . as $f | select(any($touched[]; .file == $f.file and .from <= $f.to and .to >= $f.from))
	| "function \(.file) \(.name) \(.from) \(.to)"),
  ($files | map(.file as $file | .lines[] | {$file, line: .line_number, count})
	| group_by([.file, .line])[] | "line \(.[0].file) \(.[0].line) \(map(.count) | add)"),
  ($touched[] | "touched \(.file) \(.from) \(.to)")
