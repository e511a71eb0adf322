#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# loops-quantized.sh - loops of files that another tool has quantized: what they carry and give is found without samples.
. "$(dirname "$0")/common.inc"
. "$(dirname "$0")/loops.inc"

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
samples x.npy '10, 4, 4' 160
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

samples p.npy '40, 5, 4' 800
# A quantized graph says by itself what its loop carries: as its next value is quantized, or as all that read it quantize it.
# $1 steps, the next value $2.
qdq() {
	cat <<END
model "qdq" stage calibrated rounding even
graph @main(%x: tensor<$1x4xf32>) {
  %q = quantize %x : tensor<$1x4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %w = const : tensor<4x4x!quant.uniform<i8<-127:127>:f32, 0.01>> rand 3
  %wd = dequantize %w
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=$1}
  %h = loop_carry %zero, %i
  %s = loop_slice %d, %i
  %hr = relu %h
  %hq = quantize %hr : tensor<4x!quant.uniform<i8:f32, 0.0078125>>
  %hd = dequantize %hq
  %r = reshape %hd {shape=[1,4]}
  %m = dense %r, %wd
  %mr = reshape %m {shape=[4]}
  %mq = quantize %mr : tensor<4x!quant.uniform<i8:f32, 0.03>>
  %md = dequantize %mq
  %a = add %md, %s
  %aq = quantize %a : tensor<4x!quant.uniform<i8:f32, 0.04>>
  %ad = dequantize %aq
  %t = tanh %ad
  %tq = quantize %t : tensor<4x!quant.uniform<i8:f32, 0.0078125>>
  %td = dequantize %tq
  %e = loop_end %i, $2
  %l = loop_last %td, %e
  %y = loop_stack %td, %e {length=$1}
  return %l, %y
}
END
}
# The same with the ranges of a training.
fakes() {
	cat <<END
model "fakes" stage float
graph @main(%x: tensor<$1x4xf32>) {
  %d = const_fake_quant %x {min=0.0, max=1.0}
  %w = const : tensor<4x4xf32> rand 3
  %wd = const_fake_quant %w {min=-1.0, max=1.0, narrow_range=1}
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=$1}
  %h = loop_carry %zero, %i
  %s = loop_slice %d, %i
  %hd = const_fake_quant %h {min=-1.0, max=1.0}
  %r = reshape %hd {shape=[1,4]}
  %m = dense %r, %wd
  %mr = reshape %m {shape=[4]}
  %md = const_fake_quant %mr {min=-3.0, max=3.0}
  %a = add %md, %s
  %ad = const_fake_quant %a {min=-3.0, max=4.0}
  %t = tanh %ad
  %td = const_fake_quant %t {min=-1.0, max=1.0}
  %e = loop_end %i, $2
  %l = loop_last %td, %e
  %y = loop_stack %td, %e {length=$1}
  return %l, %y
}
END
}
for model in qdq fakes; do
	for next in %t %td; do
		for n in 5 200; do
			"$model" $n $next >said.qir
			silent "$model $next $n" compile said.qir -o said$n
			grep '^weights' stdout >weights$n
			wc -l <said$n/$model.c >lines$n
		done
		same "$model $next weights" weights5 weights200
		same "$model $next lines" lines5 lines200
		"$model" 5 $next >said.qir
		silent "$model $next loops" opt -q said.qir --stop-after legalize -o loops.qir
		silent "$model $next flat" opt -q said.qir --inline-bodies --stop-after legalize -o flat.qir
		cases=$((cases + 1))
		grep -q '= loop ' loops.qir && ! grep -q '= loop ' flat.qir || fail "$model $next" 'the loop is written out, or is left' loops.qir
		for file in loops flat; do
			silent "$model $next run $file" run -q $file.qir p.npy -o $file.1.npy -o $file.2.npy
		done
		same "$model $next last" loops.1.npy flat.1.npy
		same "$model $next all" loops.2.npy flat.2.npy
		good "$model $next samples" opt -q said.qir --calib p.npy --stop-after legalize -o samples.qir
		same "$model $next with samples" loops.qir samples.qir
	done
done

# Where it does not say so, the range follows from what is added in all steps; 16 bits hold those of 200 steps, not of 4000.
acc() {
	cat <<END
model "acc" stage calibrated rounding even
graph @main(%x: tensor<$1x4xf32>) {
  %q = quantize %x : tensor<$1x4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=$1}
  %h = loop_carry %zero, %i
  %s = loop_slice %d, %i
  %a = add %h, %s
  %e = loop_end %i, %a
  %y = loop_last %a, %e
  %yq = quantize %y : tensor<4x!quant.uniform<i8:f32, 1.5>>
  %yd = dequantize %yq
  return %yd
}
END
}
for n in 5 200; do
	acc $n >acc$n.qir
	silent "acc $n" opt -q acc$n.qir --stop-after legalize -o integer.qir
	cases=$((cases + 1))
	grep -q '%h = loop_carry .*<i16:' integer.qir || fail "acc $n" 'the loop is written out' integer.qir
	samples acc.npy "10, $n, 4" $((40 * n))
	good "acc $n eval" eval -q integer.qir --data acc.npy --against acc$n.qir --max max-diff=1.6
done
acc 4000 >acc.qir
run opt -q acc.qir --stop-after legalize
cases=$((cases + 1))
[ "$code" -eq 3 ] && grep -q legalize.float stderr || fail 'acc 4000' "exit code $code" stderr
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
