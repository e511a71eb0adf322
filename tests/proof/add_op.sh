#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# add_op.sh - follows "Add an op" of CONTRIBUTING.md word for word in a copy of the sources: its two ops are built, run,
# are quantized, compiled and read from text, JSON and ONNX; and each piece that is left out is noticed by the compiler, the
# linker or unit-each_op.  With QUERN_FULL=1; without, only that the section has at most 2 and 7 pieces, and each its place.
#
set -u
. "$(dirname "$0")/check.sh"
copy=$tmp/copy
build=$tmp/build
pieces=$tmp/pieces

# Each numbered step of the section begins with its file; the block behind it is the text: $pieces/OP-STEP/{file,text}.
mkdir -p "$pieces"
awk -v out="$pieces" '
	/^## / {inside = ($0 == "## Add an op")}
	!inside {next}
	/^### / {op++; next}
	/^[0-9]+\. `[^`]*`/ {
		split($0, part, "`")
		step = out "/" op "-" ($1 + 0)
		system("mkdir -p " step)
		print part[2] >(step "/file")
		next
	}
	/^   ```/ {in_text = !in_text; next}
	in_text {sub(/^   /, ""); print >(step "/text")}
' "$QUERN_SOURCE/CONTRIBUTING.md"
for op in 1 2; do
	n=$(find "$pieces" -name "$op-*" | wc -l)
	most=$([ $op = 1 ] && echo 2 || echo 7)
	if [ "$n" -gt 0 ] && [ "$n" -le "$most" ]; then
		ok "CONTRIBUTING.md, op $op: $n pieces: $(cat "$pieces/$op"-*/file | tr '\n' ' ')"
	else
		failed "CONTRIBUTING.md, op $op: $n pieces, not 1 to $most"
	fi
done
# ---- the pieces ----

# insert FILE TEXT BEFORE: the text before the first line that begins so.
insert() {
	awk -v text="$2" -v before="$3" '
		!done && index($0, before) == 1 {while ((getline line <text) > 0) print line; done = 1}
		{print}
		END {if (!done) exit 1}
	' "$1" >"$tmp/inserted" && cp "$tmp/inserted" "$1"
}

# put STEP: writes the piece where a contributor would: rows at the end of their table, a new file as a whole.
put() {
	file=$copy/$(cat "$pieces/$1/file")
	case $file in
	*/ops.def) insert "$file" "$pieces/$1/text" "#undef NAME" ;;
	*/unary_functions.c) insert "$file" "$pieces/$1/text" "/* ---- with attributes" ;;
	*/ir.md) insert "$file" "$pieces/$1/text" '| `tile` ' ;;
	*) cat "$pieces/$1/text" >>"$file" ;;
	esac || {
		failed "$1: no place for it in $(cat "$pieces/$1/file")"
		finish
	}
}

mkdir "$copy"
if [ "$QUERN_FULL" = 1 ]; then
	tar -C "$QUERN_SOURCE" --exclude=./build --exclude=./.git -cf - . | tar -C "$copy" -xf -
else # only the files that the pieces go into
	sort -u "$pieces"/*/file | while read -r file; do
		mkdir -p "$copy/$(dirname "$file")"
		[ ! -e "$QUERN_SOURCE/$file" ] || cp "$QUERN_SOURCE/$file" "$copy/$file"
	done
fi
for piece in "$pieces"/*; do
	put "$(basename "$piece")"
done
ok "each piece has a place: $(cat "$pieces"/*/text | wc -l) lines"
[ "$QUERN_FULL" = 1 ] || {
	skip "the ops are not built: QUERN_FULL is not 1"
	finish
}
export QUERN_SOURCE="$copy" # of the programs that the copy builds
quern=$build/quern
jobs=$(nproc)

# make TARGET…
make() {
	cmake --build "$build" -j "$jobs" --target "$@" >"$tmp/log" 2>&1
}

# each_op: unit-each_op of the copy.
each_op() {
	(cd "$copy" && QUERN_BIN=$quern "$build/tests/unit-each_op" >"$tmp/log" 2>&1)
}

if cmake -S "$copy" -B "$build" -G Ninja -DCMAKE_C_COMPILER="$QUERN_CC" -DCMAKE_BUILD_TYPE=Debug >"$tmp/log" 2>&1 &&
	make quern unit-each_op unit-unary unit-onnx_each unit-onnx_export golden; then
	ok "the copy with both ops is built"
else
	failed "the copy with both ops is not built"
	grep -E 'error|undefined|Error' "$tmp/log" | head -n 20
	finish
fi

# ---- the ops ----

if each_op; then
	failed "unit-each_op does not notice pages that are old"
else
	ok "unit-each_op notices that the pages of docs/ are old"
fi
"$quern" supported-ops --markdown >"$copy/docs/supported-ops.md"
export QUERN_RENEW=1
each_op
unset QUERN_RENEW
if each_op; then
	ok "unit-each_op misses nothing"
else
	failed "unit-each_op"
	grep -v '^\[' "$tmp/log"
fi
for test in unit-unary unit-onnx_each unit-onnx_export; do
	[ -x "$build/tests/$test" ] || continue
	if (cd "$copy" && "$build/tests/$test") >"$tmp/log" 2>&1; then
		ok "$test"
	else
		failed "$test"
		tail -n 20 "$tmp/log"
	fi
done
if "$build/tests/golden" "$copy/tests/golden/op-thin.qir" >"$tmp/log" 2>&1; then
	ok "golden: op-thin.qir"
else
	failed "golden: op-thin.qir"
	cat "$tmp/log"
fi
cd "$tmp" || exit 1

# works WHAT COMMAND…
works() {
	what=$1
	shift
	if "$@" >"$tmp/log" 2>&1; then
		ok "$what"
	else
		failed "$what"
		tail -n 20 "$tmp/log"
	fi
}

# builds FOLDER MODEL: the emitted C passes its self-test.
builds() {
	upper=$(echo "$2" | tr a-z A-Z)
	(cd "$1" && "$QUERN_CC" -std=c99 -O1 -Wall -Wextra -Werror "-D${upper}_SELFTEST_MAIN" -o selftest ./*.c && ./selftest)
}

awk 'BEGIN {for (i = 0; i < 60; i++) printf "%s%s", i * 7919 % 60 / 20 - 1.5, i % 15 == 14 ? "\n" : ","}' >samples.csv
for op in cube thin; do
	cat >$op.qir <<-X
		model "$op" stage float
		graph @main(%x: tensor<1x3x5xf32>) {
		  %y = $op %x
		  return %y
		}
	X
	works "$op: text to JSON" "$quern" opt $op.qir -o $op.json
	works "$op: JSON to text" "$quern" opt $op.json -o again.qir
	works "$op: text to text" "$quern" opt $op.qir -o same.qir
	works "$op: the text of both is equal" cmp same.qir again.qir
	works "$op: runs in float" "$quern" run $op.json samples.csv
	for storage in i8 u8 i16; do
		works "$op: quantized and compiled for $storage" "$quern" compile $op.json --calib samples.csv --activations $storage \
			--self-test 3 -q -o $op-$storage
		works "$op: the emitted C for $storage gives the interpreter's bytes" builds $op-$storage $op
	done
done
# ---- what is left out ----

# without STEP: takes the piece out; $tmp/whole is the file as it was.
without() {
	file=$copy/$(cat "$pieces/$1/file")
	cp -p "$file" "$tmp/whole"
	awk -v text="$pieces/$1/text" '
		BEGIN {while ((getline line <text) > 0) want[++n] = line}
		{have[++m] = $0}
		END {
			for (at = 1; at + n - 1 <= m; at++) {
				for (k = 1; k <= n && have[at + k - 1] == want[k]; k++) {}
				if (k > n) break
			}
			if (at + n - 1 > m) exit 1
			for (k = 1; k <= m; k++) if (k < at || k >= at + n) print have[k]
		}
	' "$tmp/whole" >"$tmp/rest" || failed "$1: its text is not in $file"
	if [ -s "$tmp/rest" ]; then
		cp "$tmp/rest" "$file"
	else
		rm "$file"
	fi
}

# noticed STEP WHO: says so.
noticed() {
	ok "op ${1%-*} without $(cat "$pieces/$1/file"): $2: $(grep -E -m 1 'error: |undefined|^  (thin|cube): ' "$tmp/log" |
		sed "s|$copy/||g; s|.*/libquern|libquern|" | cut -c 1-120)"
}

for piece in "$pieces"/*; do
	step=$(basename "$piece")
	without "$step"
	case $(cat "$piece/file") in
	*.h.in) rm -f "$build/$(sed 's/\.in$//' "$piece/file")" ;; # made of the kernel's text when cmake runs
	esac
	# Only the files of the op itself can tell that a row is missing: the others do not name it.
	case $(cat "$piece/file") in
	ir/ops.def) targets=$([ "${step%-*}" = 1 ] && echo unary_functions || echo infer_thin) ;;
	*) targets= ;;
	esac
	if [ -n "$targets" ]; then
		object=$(cd "$build" && ninja -t targets all | sed -n "s|^\([^:]*/$targets\.c\.o\): .*|\1|p" | head -n 1)
		if make "$object"; then
			failed "op ${step%-*} without $(cat "$piece/file"): the compiler does not notice"
		else
			noticed "$step" compiler
		fi
	elif ! make quern unit-each_op; then
		noticed "$step" "build"
	elif ! each_op; then
		noticed "$step" unit-each_op
	else
		failed "op ${step%-*} without $(cat "$piece/file"): nothing notices"
	fi
	case $(cat "$piece/file") in
	ir/ops.def) cp -p "$tmp/whole" "$copy/ir/ops.def" ;; # of its old time: nothing else was compiled
	*) cp "$tmp/whole" "$copy/$(cat "$piece/file")" ;;
	esac
done
finish
