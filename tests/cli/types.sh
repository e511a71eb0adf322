#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# types.sh - quantized types as a user writes them: spellings, positions of errors, zero points outside of the storage.
. "$(dirname "$0")/common.inc"

# model FILE TYPE: quantizes and dequantizes four values with this type.
model() {
	cat >"$1" <<END
model "m" stage calibrated
graph @main(%x: tensor<1x4xf32>) {
  %q = quantize %x : tensor<1x4x$2>
  %y = dequantize %q : tensor<1x4xf32>
  return %y
}
END
}

# ---- spellings ----

model si.qir '!quant.uniform<si8:f32, 0.5>'
model i.qir '!quant.uniform<i8:f32, 0.5>'
silent "si8" opt -q si.qir -o a.qir
silent "i8" opt -q i.qir -o b.qir
same "si8 is i8" a.qir b.qir

# ---- the error stands where the wrong part is ----

model wrong.qir '!quant.uniform<i8:f32, 0.5:200>'
case_of "position" 1 "type.zp.range" "wrong.qir:3:60:|--lax-zp" opt wrong.qir

# ---- zero points outside of the storage range ----

model lax.qir '!quant.uniform<i8<-8:7>:f32, 1.0:10>'
bytes 4 '\000\000\200\300' | npy x.npy '<f4' '1, 4'
case_of "strict" 1 "type.zp.range" "zero point 10|-8:7" run lax.qir x.npy
good "lax" run --lax-zp -q lax.qir x.npy -o y.npy # -4 is 6, and so is what comes back
same "lax values" x.npy y.npy
good "lax saves" opt --lax-zp -q lax.qir -o lax.json
good "lax loads" run --lax-zp -q lax.json x.npy -o y.npy
same "lax values of JSON" x.npy y.npy
case_of "lax is not stored" 1 "type.zp.range" "zero point 10" run lax.json x.npy
bytes 4 '\000\000\000\000' | npy zero.npy '<f4' '1, 4'
bytes 4 '\000\000\100\300' | npy three.npy '<f4' '1, 4'
good "lax clamps" run --lax-zp -q lax.qir zero.npy -o y.npy
same "0 is 7, the nearest one that is stored: -3" three.npy y.npy
sed 's/i8<-8:7>:f32, 1.0:10/i8:f32, 1.0:200/; s/  %y = .*/  %d = dequantize %q : tensor<1x4xf32>\n  %a = add %d, %d\n  %r = quantize %a : tensor<1x4x!quant.uniform<i8:f32, 1.0>>\n  %y = dequantize %r/' lax.qir >add.qir
case_of "lax compile" 3 "int.unsupported" "node 'a'|zero point outside the storage" compile --lax-zp -q add.qir -o out

# ---- passes on request ----

# lists PASS: what the model of blocks becomes, and that it computes the same.
lists() {
	silent "$1" opt -q blocks.qir --passes="$1" "${@:2}" -o "$1.qir"
	good "run $1" run -q "$1.qir" values.npy -o "$1.npy"
	same "values of $1" "$1.npy" direct.npy
}

model blocks.qir '!quant.uniform<u8:f32:{0:1,1:2}, {{0.5:200,0.5:200}}>'
printf '\000\000\200\077\000\000\240\302\000\000\240\077\000\000\340\277' | npy values.npy '<f4' '1, 4' # 1, -80, 1.25, -1.75
good "direct" run -q blocks.qir values.npy -o direct.npy
lists normalize-quant-types
has_words "blocks stay" normalize-quant-types.qir '{0:1, 1:2}'
lists normalize-quant-types --expand-blocks
has_words "expand" normalize-quant-types.qir 'f32:1, {5.000000e-01:200,5.000000e-01:200,5.000000e-01:200,5.000000e-01:200}'
lists normalize-quant-types --collapse-scales
has_words "collapse" normalize-quant-types.qir 'u8:f32, 5.000000e-01:200'
lists lower-quant
has_words "lower" lower-quant.qir 'div|round|is_nan|minimum'
! grep -q ' = quantize' lower-quant.qir || fail "lower" "a quantize is left" lower-quant.qir
lists strip-quant
! grep -q 'quant.uniform' strip-quant.qir || fail "strip" "a quantized type is left" strip-quant.qir
has_words "stage" strip-quant.qir 'stage float'
usage "expand alone" "option.pass|normalize-quant-types" opt blocks.qir --expand-blocks
usage "not by default" "pass.absent|passes lists it" opt blocks.qir --stop-after lower-quant

# A pass on request does not change which passes the model still needs.
E=$QUERN_SOURCE/examples/digits
good "bind" opt "$E/digits.json" --calib "$E/calib.npy" -q --stop-after bind -o bound.qir
good "bound" compile -q bound.qir -o straight
good "normalized" opt -q bound.qir --passes=normalize-quant-types -o normalized.qir
good "continued" compile -q normalized.qir -o continued
same "continued is straight" straight continued
case_of "strip what computes" 3 "strip.computes" "conv2d 'conv1.acc'" opt -q --passes=strip-quant bound.qir
case_of "symbolic" 1 "pass.stage" "calibrate" opt -q "$E/digits.json" --passes=partition,quantize,lower-quant

# ---- super-blocks ----

cat >super.qir <<'END'
model "m" stage calibrated
param @"w/sb" = {{0.5, 0.25}, {2.0, 1.0}} * u6 {{1.0, 63.0, 2.0, 7.0}, {3.0, 4.0, 5.0, 6.0}}
graph @main(%x: tensor<1x8xf32>) {
  %w = const : tensor<2x8x!quant.super<u4:f32:{0:1, 1:2}, u6 {1:4}, @"w/sb">> [0,1,2,3,4,5,6,15,0,1,2,3,4,5,6,15]
  %d = dequantize %w
  %y = dense %x, %d
  return %y
}
END
bytes 8 '\000\000\200\077' | npy ones.npy '<f4' '1, 8'
silent "super text" opt -q super.qir -o again.qir
silent "super JSON" opt -q super.qir -o super.json
silent "super from JSON" opt -q super.json -o from.qir
same "super-blocks survive JSON" again.qir from.qir
has_words "super type" from.qir '!quant.super<u4:f32:{0:1, 1:2}, u6 {1:4}, @"w/sb">'
silent "plain blocks" opt -q super.json --passes=normalize-quant-types -o plain.qir
! grep -q 'quant.super' plain.qir || fail "plain blocks" "a super-block is left" plain.qir
silent "run super" run -q super.json ones.npy -o super.npy
silent "run plain" run -q plain.qir ones.npy -o plain.npy
same "values of super-blocks" super.npy plain.npy
sed 's/{1:4}/{1:8}/' super.qir >wrong.qir
case_of "super-blocks of another size" 1 "type.super.block" "axis 1|w/sb" opt wrong.qir
sed 's/63.0/64.0/' super.qir >wrong.qir
case_of "integers of 7 bits" 1 "type.super.value type.param.unknown" "64|1 to 63" opt wrong.qir

finish
