#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# supported-ops.sh - docs/supported-ops.md is what the program prints, and what it says to read is read by a test.
. "$(dirname "$0")/common.inc"

run supported-ops --markdown
[ "$code" -eq 0 ] || fail markdown "exit code $code" stderr
cases=$((cases + 1))
if grep -qE '^\| Conv \|' stdout; then
	[ "${QUERN_RENEW:-}" != 1 ] || cp stdout "$QUERN_SOURCE/docs/supported-ops.md"
	diff "$QUERN_SOURCE/docs/supported-ops.md" stdout >difference ||
		fail document "docs/supported-ops.md is old: QUERN_RENEW=1 ctest -R supported-ops writes it" difference
else
	echo "skipped: built without ONNX, the document is not compared"
fi
mv stdout table.md

# Operators of TFLite: each stands in a test of files with it.
# Element-wise functions are read by the tests of each row, test_tflite_each and test_onnx_each.
cat "$QUERN_SOURCE"/tests/unit/test_tflite*.c "$QUERN_SOURCE"/tests/e2e/*tflite*.[ch] >tests.c
sed -n 's/.*TFLITE([a-z0-9_]*, \([A-Z0-9_]*\),.*/QN_TFL_\1/p' "$QUERN_SOURCE/ir/ops.def" >>tests.c
for name in $(sed -n '/^## TFLite/,$s/^| \([A-Z0-9_]*\) |$/\1/p' table.md); do
	cases=$((cases + 1))
	grep -qE "\b(QN_TFL_$name|(UNARY|BINARY|COMPARE|REDUCE)\($name,)" tests.c || fail "$name" "no test reads a file with it"
done
[ "$cases" -gt 50 ] || fail TFLite "only $cases operators"

# Operators of ONNX: each stands in a unit test, or in a model of the backend tests where they are at hand.
cat "$QUERN_SOURCE"/tests/unit/test_onnx*.c >onnx.c
sed -n 's/.*ONNX([a-z0-9_]*, \("[A-Za-z]*"\),.*/\1/p' "$QUERN_SOURCE/ir/ops.def" >>onnx.c
: >all.onnx
if [ -d "${QUERN_DATA:-/nowhere}/onnx" ]; then
	find "$QUERN_DATA/onnx" -name model.onnx -exec cat {} + >all.onnx
fi
without=
for name in $(sed -n '/^## ONNX/,/^## TFLite/s/^| \([A-Za-z0-9_.]*\) | [0-9].*$/\1/p' table.md); do
	cases=$((cases + 1))
	op=${name##*.}
	# NodeProto.op_type is field 4: its tag, the length, the name.
	if grep -qF "\"$op\"" onnx.c || grep -aqP "\x22$(printf '\\x%02x' ${#op})$op" all.onnx; then
		:
	elif [ -s all.onnx ]; then
		fail "$name" "no test reads a model with it"
	else
		without="$without $name"
	fi
done
if [ -n "$without" ]; then
	echo "skipped: QUERN_DATA is not set; operators of ONNX that only its models have:$without"
fi

# The text has the same rows.
run supported-ops
cases=$((cases + 1))
has_words text stdout 'conv2d|ONNX: operator|TFLite: operator|FULLY_CONNECTED'

# So has the JSON (docs/quern-supported-ops.schema.json, tested by unit-schema).
sed -n 's/^\([a-z0-9_]*\)  *\(yes\|-\)  *\(yes\|-\)  *\(yes\|-\)  *\(yes\|-\)  *\(yes\|-\)$/\1 \2 \3 \4 \5 \6/p
/^ONNX/,$s/^\([A-Za-z0-9_.]*\)  *\([0-9]\)/\1 \2/p
/^TFLite/,$s/^[A-Z0-9_]*$/&/p' stdout | grep . >rows
run supported-ops --json
cases=$((cases + 1))
sed -n 's/"domain": "\([^"]*\)", //; s/^    {"name": "\([^"]*\)", "float": \(.*\)},*$/\1 \2/p; s/^    {"name": "\([A-Za-z0-9_]*\)"},*$/\1/p
s/^    {"name": "\([^"]*\)", "first": \([0-9]*\)},*$/\1 \2 on/p; s/^    {"name": "\([^"]*\)", "first": \([0-9]*\), "last": \([0-9]*\)},*$/\1 \2 to \3/p' stdout |
	sed 's/, "[a-z0-9]*": / /g; s/ true/ yes/g; s/ false/ -/g' >json
sed 's/^[a-z_.]*\.\([A-Z]\)/\1/' rows >names
diff names json >difference || fail json 'the text has other rows' difference
[ "$(wc -l <json)" -gt 170 ] || fail json 'few rows' json
usage both '--markdown|--json|give one of them' supported-ops --markdown --json
finish
