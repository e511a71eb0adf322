# SPDX-License-Identifier: Apache-2.0
# texts.awk - what a reader meets in files, one text a line: PATH, LINE, TEXT, with tabs between.
#
#   *.md          paragraphs and rows of tables without `code` and targets of links; of code blocks the
#                 comments, and literals of C: what programs print there is looked at where it comes from
#   *.c *.cc *.h *.h.in *.def  comments, and string literals; adjacent literals are one text
#   *.json        descriptions of schemas
#   scripts/*     comments, and what `cat` prints (the help)
#   others        paragraphs (what the program printed)
function flush() {
	if (text ~ /[^ \t]/)
		print path "\t" at "\t" text
	text = ""
}

function add(piece) {
	gsub(/[\t\r]/, " ", piece)
	if (text == "")
		at = FNR
	text = text " " piece
}

# Literals and comments of a line of C; in_comment and joining go on in the next line.
function c_line(line, n, piece) {
	if (line ~ /^[ \t]*#[ \t]*include/)
		return
	while (line != "") {
		if (in_comment) {
			n = index(line, "*/")
			piece = n ? substr(line, 1, n - 1) : line
			sub(/^[ \t]*[*]?/, "", piece)
			add(piece)
			if (!n)
				return
			line = substr(line, n + 2)
			in_comment = 0
			flush()
		} else if (joining && line !~ /^[ \t]*([A-Z][A-Z0-9_]*[ \t]*)?"/) {
			if (line !~ /[^ \t]/)
				return
			joining = 0
			flush()
		} else if (match(line, /"|'|\/[*\/]/)) {
			piece = substr(line, RSTART, RLENGTH)
			line = substr(line, RSTART)
			if (piece == "/*") {
				in_comment = 1
				line = substr(line, 3)
			} else if (piece == "//") {
				add(substr(line, 3))
				flush()
				return
			} else if (piece == "'") {
				if (!match(line, /^'([^'\\]|\\.)*'/))
					return
				line = substr(line, RLENGTH + 1)
			} else {
				if (!match(line, /^"([^"\\]|\\.)*"/))
					return
				piece = substr(line, 2, RLENGTH - 2)
				gsub(/\\[nt]/, " ", piece)
				gsub(/\\/, "", piece)
				# without a blank: a literal may end in a word's middle
				if (!joining)
					add(piece)
				else
					text = text piece
				joining = 1
				line = substr(line, RLENGTH + 1)
				if (line !~ /[^ \t]/)
					return
			}
		} else
			return
	}
}

function md_line(line) {
	if (line ~ /^[ \t]*```/) {
		flush()
		fence = !fence
		code_of_c = fence && line ~ /```c(pp)?$/
		joining = in_comment = 0
		return
	}
	if (code_of_c) {
		c_line(line)
		return
	}
	if (fence) {
		if (sub(/^(.*  )?# /, "", line)) {
			add(line)
			flush()
		}
		return
	}
	# `code` that goes on in the next line is code there
	if (open_code) {
		if (!index(line, "`"))
			return
		sub(/^[^`]*`/, "#", line)
		open_code = 0
	}
	gsub(/`[^`]*`/, "#", line)
	if (index(line, "`")) {
		sub(/`.*/, "#", line)
		open_code = 1
	}
	gsub(/\]\([^)]*\)/, "]", line)
	if (line ~ /^[ \t]*(\||#|[-*] |[0-9]+[.] )/ || line !~ /[^ \t]/)
		flush()
	add(line)
	if (line ~ /^[|#]/)
		flush()
}

FNR == 1 {
	flush()
	path = FILENAME
	sub(/^[.]\//, "", path)
	kind = path ~ /[.]md$/ ? "md" : path ~ /[.](c|cc|h|h[.]in|def)$/ ? "c" : path ~ /[.]json$/ ? "json" : path ~ /^scripts\// ? "script" : "text"
	fence = code_of_c = in_comment = joining = open_code = here = 0
}
kind == "md" { md_line($0); next }
kind == "c" { c_line($0); next }
kind == "json" {
	if (match($0, /"(description|title)": *"([^"\\]|\\.)*"/)) {
		add(substr($0, RSTART, RLENGTH))
		flush()
	}
	next
}
kind == "script" {
	if (here && $0 ~ "^[ \t]*" here "$") {
		here = 0
		flush()
	} else if (here || /^[ \t]*#/) {
		if (/[A-Za-z]/)
			add($0)
		else
			flush()
	} else {
		flush()
		if (match($0, /cat <<-?.?[A-Z]+/)) {
			here = substr($0, RSTART, RLENGTH)
			sub(/.*[^A-Z]/, "", here)
		}
	}
	next
}
/[^ \t]/ { add($0); next }
{ flush() }
END { flush() }
