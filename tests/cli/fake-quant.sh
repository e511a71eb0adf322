#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fake-quant.sh - graphs of quantization-aware training, as a user compiles them: without samples, saved and started again.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits

cat >net.qir <<'NET'
model "net" stage float
graph @main(%x: tensor<1x8x8x1xf32>) {
  %xq = const_fake_quant %x {min=0.0, max=1.0, is_signed=1}
  %w = const : tensor<4x3x3x1xf32> rand 3
  %wq = const_fake_quant %w {min=[-1.0,-1.0,-0.75,-1.0], max=[1.0,1.0,0.75,1.0], axis=0, is_signed=1, narrow_range=1}
  %b = const : tensor<4xf32> [0.1, -0.2, 0.0, 0.3]
  %c = conv2d %xq, %wq, %b {padding=same}
  %r = relu6 %c
  %rq = const_fake_quant %r {min=0.0, max=4.0, is_signed=1}
  %p = max_pool %rq {kernel=[2,2], stride=[2,2]}
  %f = flatten %p
  %v = const : tensor<3x64xf32> rand 4
  %vq = const_fake_quant %v {min=-1.0, max=1.0, num_bits=4, is_signed=1, narrow_range=1}
  %d = dense %f, %vq
  %dq = const_fake_quant %d {min=-8.0, max=8.0, is_signed=1}
  return %dq
}
NET

good compile compile net.qir -q -o plain
good json opt -q net.qir --emit=json -o net.json
good from-json compile net.json -q -o from-json
same 'json weights' from-json/net_weights.c plain/net_weights.c
good pairs opt -q net.qir --stop-after=fake-quant -o pairs.qir
has_words pairs pairs.qir 'stage calibrated|i8<-7:7>|dequantize'
good resumed compile pairs.qir --name net -q -o resumed
same 'resumed weights' resumed/net_weights.c plain/net_weights.c
usage absent "pass.absent|no const_fake_quant" opt -q "$E/digits.json" --stop-after=fake-quant

# Values without a range are named; samples give them one, the others stay as they are.
sed 's/ %rq = const_fake_quant %r .*/ %rq = reshape %r {shape=[1,8,8,4]}/; s/%dq = const_fake_quant.*/%dq = softmax %d/' net.qir >open.qir
cases=$((cases + 1))
run compile open.qir -q -o open
[ "$code" -eq 3 ] && grep -q "no range for 'f', 'd'.*legalize.float" stderr || fail open "exit code $code" stderr
good samples compile open.qir -q --calib "$E/calib.npy" -o opened
grep -o '0x3F70101020000000:-128\|0.003921569:-128' opened/net.report.json >range || fail samples "the input's range is gone" opened/net.report.json
finish
