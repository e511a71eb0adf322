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

finish
