#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# loops-quantized.sh - loops of files that another tool has quantized: what they carry and give is found without samples.
. "$(dirname "$0")/common.inc"

# running OP OPERANDS: the largest or smallest value so far; of what it joins, one type has 16 bits and one has 8.
running() {
	cat <<END
model "running" stage calibrated rounding even
graph @main(%x: tensor<4x4xf32>) {
  %q = quantize %x : tensor<4x4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=4}
  %h = loop_carry %zero, %i
  %s = loop_slice %d, %i
  %t = tanh %s
  %tq = quantize %t : tensor<4x!quant.uniform<i8:f32, 0.0078125>>
  %td = dequantize %tq
  %n = $1 $2
  %e = loop_end %i, %n
  %y = loop_stack %n, %e {length=4}
  return %y
}
END
}
tail -c +129 "$QUERN_SOURCE/examples/digits/calib.npy" | head -c 640 | npy x.npy '<f4' '10, 4, 4'
for op in maximum minimum; do
	for operands in '%td, %h' '%h, %td'; do
		name="$op $operands"
		running $op "$operands" >running.qir
		silent "$name" opt -q running.qir --stop-after legalize -o integer.qir
		cases=$((cases + 1))
		grep -q '= loop ' integer.qir || fail "$name" 'the loop is written out' integer.qir
		good "$name eval" eval -q integer.qir --data x.npy --against running.qir --max max-diff=0.0001
		good "$name C" compile -q running.qir --self-test 4 -o running
		sed -n 's/^output .*: //p' stdout >"type.$op"
		[ ! -e type ] || same "$name type" type "type.$op"
		mv "type.$op" type
	done
done

# unread STAGE DATA: a loop that carries what no step reads.
unread() {
	cat <<END
model "unread" stage $1 rounding even
graph @main(%x: tensor<4x4xf32>) {
  %q = quantize %x : tensor<4x4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=4}
  %c = loop_carry %zero, %i
  %s = loop_slice $2, %i
  %n = add %s, %s
  %e = loop_end %i, %n
  %l = loop_last %n, %e
  return %l
}
END
}
unread float %x | grep -v '%[qd] =' | sed 's/ rounding even//' >float.qir
unread calibrated %d >calibrated.qir
for options in '' '--calib x.npy' '--calib x.npy --solver on'; do
	model=float.qir
	[ -n "$options" ] || model=calibrated.qir
	good "unread $options" compile -q $model $options --self-test 4 -o unread
	good "unread $options integer" opt -q $model $options --stop-after legalize -o integer.qir
	cases=$((cases + 1))
	grep -q '= loop ' integer.qir && grep -q 'loop_end %i :' integer.qir || fail "unread $options" 'the loop is written out, or carries something' integer.qir
done

finish
