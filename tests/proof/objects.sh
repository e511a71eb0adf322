#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# objects.sh - emitted C compiles without a warning as C and as C++, takes nothing from outside but memcpy, memmove and memset, and
# holds no floating-point instruction and no float or double.  The models: the digits, one with every op, and one
# in every storage type of activations and weights.
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_BIN:?names the program quern}"
has nm && has objdump || { skip "objects: no nm or objdump"; exit 0; }
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wdouble-promotion -Werror"
digits=$QUERN_SOURCE/examples/digits
models="digits every_op u8i8 i16i8 i8i4 i16i4"

"$QUERN_BIN" compile "$digits/digits.json" --calib "$digits/calib.npy" -q -o "$tmp/digits" >"$tmp/log" 2>&1 &&
	"$QUERN_BIN" compile "$QUERN_SOURCE/tests/proof/every_op.qir" --self-test 0 -q -o "$tmp/every_op" >>"$tmp/log" 2>&1 || {
	failed "the models are not compiled"
	cat "$tmp/log"
	finish
}

# storage MODEL ACTIVATIONS WEIGHTS
storage() {
	"$QUERN_BIN" compile "$QUERN_SOURCE/tests/proof/families.qir" --calib "$digits/calib.npy" --name "$1" \
		--activations "$2" --weights-type "$3" -q -o "$tmp/$1" >"$tmp/log" 2>&1 && return
	failed "families.qir with activations $2 and weights $3 is not compiled"
	cat "$tmp/log"
	finish
}
storage u8i8 u8 i8
storage i16i8 i16 i8
storage i8i4 i8 i4
storage i16i4 i16 i4

# Every row of the op table stands in the model, or in a golden file of its own, except those that have no integer form, or
# none that is emitted.  Element-wise functions have the kernel of tables.
sed -n '/, NONE, /!s/^OP(\([a-z0-9_]*\),.*/\1/p' "$QUERN_SOURCE/ir/ops.def" | while read -r op; do
	case $op in
	quantize | dequantize | const_fake_quant | dynamic_fake_quant | stats_ref | stats | coupled_ref) continue ;;
	esac
	grep -q "= $op %" "$QUERN_SOURCE/tests/proof/every_op.qir" || echo "$op"
done >"$tmp/others"
: >"$tmp/bad"
while read -r op; do
	sed '/^---/,$d' "$QUERN_SOURCE/tests/golden/op-$op.qir" >"$tmp/$op.qir" 2>"$tmp/log" &&
		"$QUERN_BIN" compile "$tmp/$op.qir" --name "$op" --self-test 0 -q -o "$tmp/$op" >"$tmp/log" 2>&1 &&
		models="$models $op" && continue
	echo "$op: $(head -n 1 "$tmp/log")" >>"$tmp/bad"
done <"$tmp/others"
is_empty "$tmp/bad" "every_op.qir, or a golden file op-NAME.qir, holds every op that has an emitted form"

# Mnemonics of arithmetic, comparison and conversion on floats; moves, bitwise operations and integer SIMD are none.
case $(uname -m) in
x86_64 | i?86)
	float_code='^(v?(add|sub|mul|div|min|max|sqrt|rcp|rsqrt|round|cmp[a-z]*|hadd|hsub|addsub|dp|u?comi)(ss|sd|ps|pd)|v?u?comis[sd]|v?cvt[a-z0-9]*|vfn?m[a-z0-9]*|f[a-z]{2,}[0-9]*)$'
	;;
aarch64) float_code='^(f[a-z]{2,}[0-9]*|[su]cvtf)$' ;;
*) float_code= ;;
esac

# instructions OBJECT…: the mnemonics of floats in them, each with its object.
instructions() {
	for o; do
		objdump -d --no-show-raw-insn "$o" | awk -F '\t' '/^ *[0-9a-f]+:/ {split($2, w, " "); print w[1]}' |
			grep -E "$float_code" | sort | uniq -c | sed "s|^|$(basename "$o"):|"
	done
}

# The search itself finds what it looks for.
if [ -n "$float_code" ]; then
	cat >"$tmp/control.c" <<-X
		int f(double *x, float *y, int n) { y[0] = y[1] * (float)n; return x[0] < x[1] ? (int)x[2] : (int)(x[3] + x[4]); }
	X
	"$QUERN_CC" -O2 -c -o "$tmp/control.o" "$tmp/control.c"
	if [ "$(instructions "$tmp/control.o" | wc -l)" -ge 4 ]; then
		ok "the search finds float instructions in a function that has some: $(instructions "$tmp/control.o" | awk '{print $NF}' | tr '\n' ' ')"
	else
		failed "the search does not find float instructions where some are"
	fi
else
	skip "float instructions: not known for $(uname -m)"
fi

# check COMPILER FLAGS LANGUAGE
check() {
	compiler=$1 flags=$2 language=$3
	has "$compiler" || { skip "$compiler $flags: no $compiler"; return; }
	for m in $models; do
		dir=$tmp/objects
		rm -rf "$dir"
		mkdir "$dir"
		: >"$tmp/log"
		for f in "$m" "${m}_weights" "${m}_selftest"; do
			[ -e "$tmp/$m/$f.c" ] || continue
			# shellcheck disable=SC2086
			"$compiler" $language $flags $warnings -fno-stack-protector -fno-pic -c -o "$dir/$f.o" "$tmp/$m/$f.c" >>"$tmp/log" 2>&1
		done
		is_empty "$tmp/log" "$compiler $flags: $m compiles without a warning"
		rm -f "$dir/${m}_selftest.o"
		nm -u "$dir"/*.o | awk '$1 == "U" {print $2}' | sort -u |
			grep -v -x -e memcpy -e memmove -e memset -e "_\{0,1\}${m}_[a-z0-9_]*" >"$tmp/bad"
		is_empty "$tmp/bad" "$compiler $flags: $m needs memcpy, memmove and memset and nothing else"
		nm "$dir"/*.o | awk 'NF == 3 && $2 ~ /[BDCGSbdgs]/' >"$tmp/bad"
		is_empty "$tmp/bad" "$compiler $flags: $m has no variables"
		[ -n "$float_code" ] || continue
		instructions "$dir"/*.o >"$tmp/bad"
		is_empty "$tmp/bad" "$compiler $flags: $m has no float instruction in $(objdump -d "$dir"/*.o | grep -c '^ *[0-9a-f]*:') instructions"
	done
}

for level in -O2 -Os; do
	check gcc "-std=c99 $level" ""
	check clang "-std=c99 $level" ""
	check g++ "-std=c++11 $level" "-x c++"
done
echo '#include <string.h>' >"$tmp/small.c"
if gcc -m32 -c -o "$tmp/small.o" "$tmp/small.c" 2>/dev/null; then
	check gcc "-std=c99 -m32 -O2" ""
	check g++ "-std=c++11 -m32 -O2" "-x c++"
else
	skip "gcc -m32: the 32-bit headers are not installed"
fi

# Comments become one space each; emitted text has no string with a comment's beginning.
without_comments() {
	awk '{
		line = $0
		text = ""
		while (line != "") {
			at = index(line, inside ? "*/" : "/*")
			if (!inside)
				text = text (at ? substr(line, 1, at - 1) " " : line)
			line = at ? substr(line, at + 2) : ""
			if (at)
				inside = !inside
		}
		print text
	}' "$1"
}

# Only functions that the program reaches are emitted: each name of one stands at its definition and at least once more.
unused() {
	grep -oE '^qn_[a-z0-9_]+\(' "$1" | tr -d '(' | sort -u | while read -r name; do
		[ "$(grep -ow "$name" "$1" | wc -l)" -gt 1 ] || echo "$(basename "$1"): $name"
	done
}
for m in $models; do
	unused "$tmp/$m/$m.c" >"$tmp/bad"
	is_empty "$tmp/bad" "$m: each of $(grep -cE '^qn_[a-z0-9_]+\(' "$tmp/$m/$m.c") functions is used"
done
printf 'qn_lonely(int a)\nqn_used(int a)\n qn_used(1);\n' >"$tmp/control.c"
[ "$(unused "$tmp/control.c")" = "control.c: qn_lonely" ] && ok "a function that nothing uses is found" ||
	failed "a function that nothing uses is not found"

# The text: no float, double or real literal outside comments and #define lines of real numbers.  NAME_io.h, with which a
# host quantizes and dequantizes, is apart: no file of the program includes it.
reals='float|double|[0-9]+\.[0-9]*([eE][-+]?[0-9]+)?f?'
for m in $models; do
	grep -l "${m}_io.h\"" "$tmp/$m"/*.c "$tmp/$m/$m.h" >"$tmp/bad" 2>/dev/null
	is_empty "$tmp/bad" "$m: no file of the program includes ${m}_io.h"
	for f in "$tmp/$m"/*.c "$tmp/$m/$m.h"; do
		without_comments "$f" | grep -v -E '^#define [A-Z0-9_]+_SCALE [-+0-9.e]+$' | grep -n -w -E "$reals" |
			sed "s|^|$(basename "$f"): |"
	done >"$tmp/bad"
	is_empty "$tmp/bad" "$m: $(ls "$tmp/$m"/*.c "$tmp/$m/$m.h" | wc -l) files hold no float, double or real literal outside comments and _SCALE macros"
	if without_comments "$tmp/$m/$m.h" | grep -q -w -E "$reals" && without_comments "$tmp/$m/$m.c" | grep -q "${m}_run("; then
		ok "$m: the search finds the _SCALE macros, and the program is no comment"
	else
		failed "$m: the search for reals does not find the _SCALE macros"
	fi
done
finish
