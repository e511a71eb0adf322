# SPDX-License-Identifier: Apache-2.0
# pages.awk - the lines of Markdown pages that are longer than 100 columns and could be broken; with what=links their
# relative links as FILE, LINE, TARGET with tabs between, with what=anchors their headings as FILE#ANCHOR, with
# what=paths the paths of the source tree that they name in `code`.
BEGIN { OFS = "\t" }

# import/onnx_FAMILY.c is any file of this kind.
function placeholder(path) {
	gsub(/[A-Z][A-Z]+/, "*", path)
	return path
}

FNR == 1 {
	fence = 0
	split("", seen)
	folder = FILENAME
	if (!sub(/[^\/]*$/, "", folder))
		folder = ""
}

/^[ \t]*```/ {
	fence = !fence
	next
}

# As GitHub makes them: lower case, without punctuation, hyphens for blanks, numbered when they repeat.
what == "anchors" && !fence && /^#/ {
	anchor = tolower($0)
	sub(/^#+ */, "", anchor)
	gsub(/\]\([^)]*\)/, "", anchor)
	gsub(/[^a-z0-9 _-]/, "", anchor)
	gsub(/ /, "-", anchor)
	print FILENAME "#" anchor (seen[anchor] ? "-" seen[anchor] : "")
	seen[anchor]++
}

what == "links" && !fence {
	line = $0
	gsub(/`[^`]*`/, "", line)
	while (match(line, /\]\([^)]*\)|(src|srcset)="[^"]*"/)) {
		target = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		gsub(/^(\]\(|src="|srcset=")|[)"]$/, "", target)
		if (target !~ /^(https?|mailto):/)
			print FILENAME, FNR, target ~ /^#/ ? FILENAME target : folder target
	}
}

what == "paths" && !fence {
	n = split($0, part, "`")
	for (i = 2; i <= n; i += 2)
		if (part[i] ~ /^(bench|calibrate|cmake|codegen|docs|driver|examples|formats|import|include|ir|passes|patterns|runtime|scripts|tests)\/[A-Za-z0-9_.*\/-]*$/)
			print FILENAME, FNR, placeholder(part[i])
}

what == "" && !fence && !/^[ \t]*(\||#|<|!\[|\[!\[)/ {
	line = $0
	gsub(/[\200-\277]/, "", line) # further bytes of a character
	if (length(line) <= 100)
		next
	# A line may be long if its first word is: a link, `code`.
	sub(/^[ \t]*([-*] |[0-9]+[.] )?[ \t]*/, "", line)
	gsub(/\]\([^)]*\)/, "]", line)
	gsub(/`[^`]*`/, "#", line)
	if (line ~ / [^ ]/)
		print FILENAME ":" FNR ": " length($0) " columns: " substr($0, 1, 60) "…"
}
