#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fixed-point.sh - the digits with all rescaling as fixed-point operations: the same outputs, run and compiled.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits

good integer opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=mixed-storage -o integer.qir
good lower opt -q integer.qir --passes=lower-fixed-point -o lower.json
good print opt -q lower.json -o lower.qir
has_words ops lower.qir 'fixed_multiply %|saturating_add %|integer_dense %|stage integer'
cases=$((cases + 1))
! grep -q '= requantize \|= dense ' lower.qir || fail ops 'a requantize or dense is left' lower.qir
good run-integer run -q integer.qir "$E/test_x.npy" -o integer.npy
good run-lower run -q lower.json "$E/test_x.npy" -o lower.npy
same outputs integer.npy lower.npy
good compile compile -q lower.qir --name lower --calib "$E/calib.npy" -o lowered
cases=$((cases + 1))
cc -std=c99 -O1 -fsanitize=undefined -fno-sanitize-recover=all -DLOWER_SELFTEST_MAIN lowered/*.c -o selftest 2>stderr && ./selftest >stdout ||
	fail selftest "the emitted program differs from the interpreter" stderr

# ---- without quantized types ----

cat >dense.qir <<'END'
model "dense" stage integer
graph @main(%x: tensor<2x8x!quant.uniform<i8:f32, 0.5:3>>) {
  %w = const : tensor<4x8x!quant.uniform<i8<-127:127>:f32:0, {0.01,0.02,0.03,0.04}>> rand 3
  %b = const : tensor<4x!quant.uniform<i32<-5000:5000>:f32:0, 0.5*{0.01,0.02,0.03,0.04}>> rand 4
  %a = dense %x, %w, %b
  %y = requantize %a : tensor<2x4x!quant.uniform<i8:f32, 1.25:-2>>
  return %y
}
END
printf '\200\201\300\000\003\100\176\177\001\002\003\004\005\006\007\010' | npy codes.npy '|i1' '2, 8'
case_of "as it is" 3 "strip.computes" "dense 'a'|lower-fixed-point,strip-quant" opt -q dense.qir --passes=strip-quant
good plain opt -q dense.qir --passes=lower-fixed-point,strip-quant -o plain.qir
has_words plain plain.qir 'stage float|integer_dense|fixed_multiply'
cases=$((cases + 1))
! grep -q 'quant.uniform' plain.qir || fail plain 'a quantized type is left' plain.qir
good run-quantized run -q dense.qir codes.npy -o quantized.npy
good run-plain run -q plain.qir codes.npy -o plain.npy
same "stored values of both" quantized.npy plain.npy
case_of "a convolution stays" 3 "strip.computes" "conv2d " opt -q integer.qir --passes=lower-fixed-point,strip-quant

cases=$((cases + 1))
run opt -q "$E/digits.json" --passes=lower-fixed-point
[ "$code" -eq 1 ] && grep -q 'takes an integer graph.*pass.stage' stderr || fail stage "exit code $code" stderr
usage absent "pass.absent|only runs where --passes lists it" opt -q "$E/digits.json" --stop-after=lower-fixed-point
finish
