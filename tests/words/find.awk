# SPDX-License-Identifier: Apache-2.0
# find.awk - looks for the rows of words.tsv in texts (texts.awk); awk -f find.awk words.tsv TEXTS
# Prints a line for each finding that no row lets pass.
# With examples=1: a line for each row that does not find its own example.
BEGIN { FS = "\t" }

# A place is a path in which * stands for any characters.
function glob(place) {
	gsub(/[.]/, "[.]", place)
	gsub(/[*]/, ".*", place)
	return "^" place "$"
}

function bounded(pattern) {
	return "[^a-z0-9_-](" pattern ")[^a-z0-9_-]"
}

function shown(from, length_) {
	from = from > 45 ? from - 45 : 1
	return substr(text, from, length_ + 90)
}

FNR == NR {
	if ($0 ~ /^(#|$)/)
		next
	if ($1 == "not" && NF == 5) {
		nots++
		where[nots] = glob($2)
		pattern[nots] = bounded($3)
		all = all (nots > 1 ? "|" : "") $3
		instead[nots] = $4
		example = " " tolower($5) " "
		if (examples && !match(example, pattern[nots]))
			print "words.tsv:" FNR ": '" $3 "' does not find its example: " $5
	} else if ($1 == "but" && NF == 4) {
		buts++
		but_where[buts] = glob($2)
		but[buts] = bounded($3)
	} else
		print "words.tsv:" FNR ": not a row: " $0
	next
}

examples { exit }

FNR == 1 { all = bounded(all) }

{
	text = " " tolower($3) " "
	gsub(/ +/, " ", text)
	if (text !~ all)
		next
	for (i = 1; i <= buts; i++)
		if ($1 ~ but_where[i])
			gsub(but[i], " # ", text)
	for (i = 1; i <= nots; i++) {
		if ($1 !~ where[i] || !match(text, pattern[i]))
			continue
		print $1 ":" $2 ": '" substr(text, RSTART + 1, RLENGTH - 2) "' (" instead[i] "):" shown(RSTART, RLENGTH)
	}
}
