#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# supported-ops.sh - docs/supported-ops.md is what the program prints, and what it says to read is read by a test.
. "$(dirname "$0")/common.inc"

run supported-ops --markdown
[ "$code" -eq 0 ] || fail markdown "exit code $code" stderr
cases=$((cases + 1))
if grep -qE '^\| Conv \|' stdout; then
	diff "$QUERN_SOURCE/docs/supported-ops.md" stdout >difference ||
		fail document "docs/supported-ops.md is old: write it with quern supported-ops --markdown" difference
else
	echo "skipped: built without ONNX, the document is not compared"
fi
mv stdout table.md

# Operators of TFLite: each stands in a test of files with it.
cat "$QUERN_SOURCE"/tests/unit/test_tflite*.c "$QUERN_SOURCE"/tests/e2e/test_e2e_tflite*.c >tests.c
for name in $(sed -n '/^## TFLite/,$s/^| \([A-Z0-9_]*\) |$/\1/p' table.md); do
	cases=$((cases + 1))
	grep -qE "\b(QN_TFL_$name|(UNARY|BINARY|COMPARE|REDUCE)\($name,)" tests.c || fail "$name" "no test reads a file with it"
done
[ "$cases" -gt 50 ] || fail TFLite "only $cases operators"

# Operators of ONNX: how many of them the backend tests at hand, or those of this folder, hold.
cat "$QUERN_SOURCE"/tests/unit/test_onnx*.c >onnx.c
if [ -d "${QUERN_DATA:-/nowhere}/onnx" ]; then
	find "$QUERN_DATA/onnx" -name model.onnx -exec cat {} + >all.onnx
	with=0
	without=
	for name in $(sed -n '/^## ONNX/,/^## TFLite/s/^| \([A-Za-z0-9_.]*\) | [0-9].*$/\1/p' table.md); do
		cases=$((cases + 1))
		name=${name##*.}
		if grep -aqP "\x22$(printf '\\x%02x' ${#name})$name" all.onnx || grep -qF "\"$name\"" onnx.c; then
			with=$((with + 1))
		else
			without="$without $name"
		fi
	done
	echo "ONNX: $with operators are in models of QUERN_DATA or in tests; not in these:$without"
else
	echo "skipped: QUERN_DATA is not set, operators of ONNX are not looked for"
fi

# The text has the same rows.
run supported-ops
cases=$((cases + 1))
has_words text stdout 'conv2d|ONNX: operator|TFLite: operator|FULLY_CONNECTED'
finish
