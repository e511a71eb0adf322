#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# compositions.sh - --lib: a custom operator of an ONNX file, defined by a text; from the file to the emitted C.
. "$(dirname "$0")/common.inc"

# y = com.acme.Swoosh(x [1,4]) {alpha = 2.0}, the node 'layer', in operator set 1 of its domain.
printf '\010\010\072_\0120\012\001x\022\001y\032\005layer\042\006Swoosh\052\017\012\005alpha\025\000\000\000\100\240\001\001\072\010com.acme' >model.onnx
printf '\022\001gZ\023\012\001x\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004b\023\012\001y\022\016\012\014\010\001\022\010\012\002\010\001\012\002\010\004B\004\012\000\020\015B\014\012\010com.acme\020\001' >>model.onnx
cat >acme.qir <<'X'
# x * sigmoid(x - alpha), where no shift is given
graph @swoosh(%x, %shift?) {alpha: real = 4.0} onnx "com.acme" "Swoosh" {
  %s = has %shift ? %x - %shift : %x
  require %x.rank == 2, import.rank, "x has {%x.rank} dimensions, not 2"
  return sigmoid(%s - alpha) * %x
}
X
# The same by hand.
cat >same.qir <<'X'
model "model"
graph @main(%x: tensor<1x4xf32>) {
  %a = const : tensor<f32> [2.0]
  %d = sub %x, %a
  %s = sigmoid %d
  %y = mul %s, %x
  return %y
}
X
for i in 0 1 2 3 4 5 6 7; do
	printf '%d.5,%d,-%d.25,-%d\n' $((i - 3)) $i $i $((8 - i))
done >x.csv

silent 'float' run -q model.onnx --lib acme.qir x.csv -o y.npy
silent 'by hand' run -q same.qir x.csv -o want.npy
same 'float' y.npy want.npy
good 'int8' compile -q model.onnx --lib acme.qir --calib x.csv -o c --name net
good 'int8 by hand' compile -q same.qir --calib x.csv -o d --name net
good 'quantized' opt -q --stop-after=legalize model.onnx --lib acme.qir --calib x.csv -o q.json
silent 'the result needs no text' run -q q.json x.csv -o q.npy
good 'layer' opt -q model.onnx --lib acme.qir
has_words 'layer' stdout 'sigmoid %|from ["layer"]'
cc -o selftest -DNET_SELFTEST_MAIN -std=c99 c/net.c c/net_weights.c c/net_selftest.c || fail 'selftest' 'it does not compile'
./selftest >/dev/null || fail 'selftest' 'it fails'

case_of 'without' 3 import.op "node 'layer' (Swoosh, version 1)|com.acme.Swoosh" inspect model.onnx
case_of 'no file' 1 file.open 'nowhere.qir' inspect model.onnx --lib nowhere.qir
sed 's/rank == 2/rank == 3/' acme.qir >rank.qir
case_of 'refused' 3 import.rank "node 'layer' (Swoosh, version 1)|x has 2 dimensions, not 2|rank.qir:4:3" inspect model.onnx --lib rank.qir
sed 's/sigmoid/sigmod/' acme.qir >op.qir
case_of 'unknown op' 1 op.unknown 'op.qir:5:3|sigmod' inspect model.onnx --lib op.qir
sed 's/%x) {/%x, {/; s/)/]/' acme.qir >syntax.qir
case_of 'syntax' 1 lib.syntax 'syntax.qir:2:' inspect model.onnx --lib syntax.qir
sed 's/alpha: real/beta: real/; s/- alpha/- beta/' acme.qir >attribute.qir
case_of 'attribute' 3 import.attr "@swoosh has no attribute 'alpha'|layer" inspect model.onnx --lib attribute.qir
sed 's/@swoosh/@other/' acme.qir >other.qir
case_of 'twice' 1 lib.operator 'other.qir|Swoosh' inspect model.onnx --lib acme.qir --lib other.qir
good 'the same file twice' inspect model.onnx --lib acme.qir --lib acme.qir
finish
