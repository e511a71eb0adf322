#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# machine.sh - in a build for another machine: quern there and quern here write the same bytes, and the emitted C, built for
# that machine, passes its self-test there, step by step.
#
#   QUERN_NATIVE  the program quern of this machine       QUERN_BIN  that of the other, with its emulator
#   QUERN_CC      the cross compiler                      QUERN_EMULATOR  runs its programs
#
# The models: the digits, the MNIST example, one with subnormal numbers, one with every op.
set -u
. "$(dirname "$0")/check.sh"
: "${QUERN_BIN:?names the program quern}" "${QUERN_EMULATOR:?runs programs of the machine}"
[ -x "${QUERN_NATIVE:-}" ] || { skip "machine: QUERN_NATIVE does not name a quern of this machine"; exit 0; }
digits=$QUERN_SOURCE/examples/digits
proof=$QUERN_SOURCE/tests/proof
models="digits mnist subnormal every_op"

# sample SHAPE SEED: a .npy file of numbers in [-1, 1): the constant of a model whose only input is a 0.
sample() {
	{
		printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
		printf '\000\000\000\000'
	} >"$tmp/zero.npy"
	cat >"$tmp/sample.qir" <<-X
		model "sample" stage float
		graph @main(%zero: tensor<1xf32>) {
		  %random = const : tensor<$1xf32> rand $2
		  %y = add %random, %zero
		  return %y
		}
	X
	"$quern" run "$tmp/sample.qir" "$tmp/zero.npy" -q -o "sample-$2.npy"
}

# Everything that quern writes for these models, in the current folder, by the program in $quern.
write_all() {
	sample 20x28x28x1 1 &&
		sample 4x7x6x4 2 &&
		sample 8x9 3 &&
		"$quern" compile "$digits/digits.json" --calib "$digits/calib.npy" -q -o digits &&
		"$quern" compile "$proof/mnist.qir" --calib sample-1.npy -q -o mnist &&
		"$quern" compile "$proof/subnormal.qir" --calib "$digits/calib.npy" -q -o subnormal &&
		"$quern" compile "$proof/every_op.qir" --calib sample-2.npy --calib sample-3.npy -q -o every_op &&
		"$quern" opt "$digits/digits.json" --calib "$digits/calib.npy" -q --stop-after=requantize -o half.qir &&
		"$quern" opt "$digits/digits.json" --calib "$digits/calib.npy" -q --method percentile -o integer.json &&
		"$quern" eval half.qir --data "$digits/test_x.npy" --labels "$digits/test_y.npy" -q &&
		"$quern" run "$digits/digits.json" "$digits/test_x.npy" -q -o float.npy &&
		"$quern" run integer.json "$digits/test_x.npy" -q -o codes.npy &&
		"$quern" run "$proof/mnist.qir" sample-1.npy -q -o mnist.npy
}

for quern in "$QUERN_NATIVE" "$QUERN_BIN"; do
	folder=$tmp/here
	[ "$quern" = "$QUERN_BIN" ] && folder=$tmp/there
	mkdir "$folder"
	(cd "$folder" && write_all >stdout 2>stderr) && continue
	failed "$quern: does not write the models"
	cat "$folder/stderr"
	finish
done
if diff -r "$tmp/here" "$tmp/there" >"$tmp/diff" 2>&1; then
	ok "the same bytes in $(find "$tmp/here" -type f | wc -l) files: C, reports, text, JSON, safetensors, npy"
else
	failed "the machines differ"
	head -n 20 "$tmp/diff"
fi

for m in $models; do
	capital=$(echo "$m" | tr '[:lower:]' '[:upper:]')
	for level in -O0 -O2; do
		# shellcheck disable=SC2086
		"$QUERN_CC" -std=c99 $level -static -Wall -Wextra -Wpedantic -Werror "-D${capital}_TRACE" "-D${capital}_SELFTEST_MAIN" \
			-o "$tmp/t" "$tmp/here/$m"/*.c >"$tmp/log" 2>&1 && "$QUERN_EMULATOR" "$tmp/t" >"$tmp/log" 2>&1 || echo "exit status $?" >>"$tmp/log"
		if ! grep -q "exit status" "$tmp/log" && grep -q "self-test passed" "$tmp/log"; then
			ok "$level: $(cat "$tmp/log")"
		else
			failed "$level: $m"
			head -n 20 "$tmp/log"
		fi
	done
done
finish
