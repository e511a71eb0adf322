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

# many LOOPS STEPS: sums.  The work on ranges has one limit for all loops; what is beyond it is not known, and such loops are written out.
many() {
	cat <<'END'
model "many" stage calibrated rounding even
graph @main(%x: tensor<4xf32>) {
  %q = quantize %x : tensor<4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %zero = const : tensor<4xf32> splat 0.0
END
	seq "$1" | sed "s/.*/  %i& = loop {count=$2}\n  %h& = loop_carry %zero, %i&\n  %n& = add %h&, %d\n  %e& = loop_end %i&, %n&\n  %y& = loop_last %n&, %e&/"
	echo "  return $(seq "$1" | sed 's/^/%y/' | paste -sd,)"
	echo '}'
}
many 300 900000 >many.qir
QUERN_CLI_SECONDS=5 case_of many 5 limit.nodes '--import-limit' opt -q many.qir --stop-after requantize
many 300 100 >many.qir
silent 'many short' opt -q many.qir --stop-after requantize -o ranges.qir
cases=$((cases + 1))
[ "$(grep -c '= loop_carry .*<i16:' ranges.qir)" = 300 ] || fail 'many short' 'loops are written out' ranges.qir

# 0 times what grows without end is not a number: nothing is known of it.
cat >endless.qir <<'END'
model "endless" stage calibrated rounding even
graph @main(%x: tensor<4xf32>) {
  %q = quantize %x : tensor<4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %two = const : tensor<4xf32> splat 2.0
  %zero = const : tensor<4xf32> splat 0.0
  %large = const : tensor<4xf32> [-1e30, 1e30, -1e30, 1e30]
  %i = loop {count=20}
  %h = loop_carry %two, %i
  %c = loop_carry %two, %i {index=1}
  %n = mul %h, %large
  %m = mul %h, %zero
  %t = tanh %c
  %e = loop_end %i, %n, %m
  %y = loop_last %t, %e
  %z = add %y, %d
  return %z
}
END
good endless opt -q endless.qir --passes=requantize
cases=$((cases + 1))
! grep -q '= loop_carry .*<i' stdout || fail endless 'what is carried has a range' stdout

finish
