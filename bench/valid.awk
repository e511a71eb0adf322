# SPDX-License-Identifier: Apache-2.0
# valid.awk - the integer graph of a network of convolutions over [1, rows, columns, channels], without padding along the
# rows: what scripts/bench-stream measures beside the network itself.
#
#   quern opt kws_int8.tflite --stop-after=tables -o kws.qir
#   awk -f bench/valid.awk kws.qir > valid.qir
#   awk -v stride=1 -f bench/valid.awk kws.qir > valid1.qir        and with strides of 1 along the rows
#
#   %a = conv2d %x, %w {stride=[2,2], padding=same}     ->  {stride=[2,2], pad=[0,0,1,1]}      w is 64x10x4x1

function fail(what) {
	print "valid.awk: " what ": " $0 >"/dev/stderr"
	failed = 1
	exit 1
}

# The dims of the first type of the line.
function dims(text, d) {
	if (!match(text, /tensor<[0-9x]*x!/))
		return 0
	return split(substr(text, RSTART + 7, RLENGTH - 9), d, "x")
}

function pair(text, name, otherwise, v,   from) {
	v[1] = v[2] = otherwise
	from = index(text, name "=[")
	if (from > 0)
		split(substr(text, from + length(name) + 2), v, /[],]/)
}

# The line with `rows` rows in its type.
function with_rows(text, rows) {
	sub(/tensor<1x[0-9]*x/, "tensor<1x" rows "x", text)
	return text
}

function name_of(word) {
	gsub(/[ ,{].*$/, "", word)
	return word
}

/ = const : / {
	dims($0, d)
	high[$1] = d[2]
	wide[$1] = d[3]
}

/^graph / {
	dims($0, d)
	rows[substr($2, index($2, "%"), length($2) - index($2, "%"))] = d[2]
	columns[substr($2, index($2, "%"), length($2) - index($2, "%"))] = d[3]
}

/ = conv2d / {
	x = name_of($4)
	w = name_of($5)
	if (!(x in rows) || !(w in high) || $0 !~ /padding=same/)
		fail("not a convolution of rows with constant weights and padding same")
	pair($0, "stride", 1, s)
	dims($0, d)
	down = stride > 0 ? stride : s[1]
	total = (d[3] - 1) * s[2] + wide[w] - columns[x]
	total = total > 0 ? total : 0
	rows[$1] = int((rows[x] - high[w]) / down) + 1
	columns[$1] = d[3]
	sub(/stride=\[[0-9,]*\], /, "")
	sub(/padding=same/, "stride=[" down "," s[2] "], pad=[0,0," int(total / 2) "," total - int(total / 2) "]")
	$0 = with_rows($0, rows[$1])
}

/ = requantize / && name_of($4) in rows {
	x = name_of($4)
	rows[$1] = rows[x]
	columns[$1] = columns[x]
	$0 = with_rows($0, rows[x])
}

/ = avg_pool / {
	x = name_of($4)
	sub(/kernel=\[[0-9]*,/, "kernel=[" rows[x] ",")
	sub(/stride=\[[0-9]*,/, "stride=[" rows[x] ",")
}

{ print }

END { exit failed }
