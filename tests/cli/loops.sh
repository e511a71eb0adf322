#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# loops.sh - loops are kept from a float graph to C, and write out to the same bytes.
. "$(dirname "$0")/common.inc"
. "$(dirname "$0")/loops.inc"

# An LSTM of 135 parameters over $1 steps: 1 input, 5 cells, its last state.
lstm() {
	cat <<END
model "lstm" stage float
graph @main(%x: tensor<1x$1x1xf32>) {
  %w = const : tensor<20x1xf32> rand 1
  %b = const : tensor<20xf32> rand 2
  %r = const : tensor<20x5xf32> rand 3
  %zero = const : tensor<1x5xf32> splat 0.0
  %i = loop {count=$1}
  %xt = loop_slice %x, %i {axis=1}
  %h = loop_carry %zero, %i
  %c = loop_carry %zero, %i {index=1}
  %px = dense %xt, %w, %b
  %ph = dense %h, %r
  %z = add %px, %ph
  %p = split %z {axis=1, sizes=[5,5,5,5]}
  %zi = get %p {index=0}
  %zf = get %p {index=1}
  %zg = get %p {index=2}
  %zo = get %p {index=3}
  %gi = sigmoid %zi
  %gf = sigmoid %zf
  %gg = tanh %zg
  %go = sigmoid %zo
  %keep = mul %gf, %c
  %new = mul %gi, %gg
  %cn = add %keep, %new
  %t = tanh %cn
  %hn = mul %go, %t
  %e = loop_end %i, %hn, %cn
  %y = loop_last %hn, %e
  %all = loop_stack %hn, %e {axis=1, length=$1, reverse=1}
  return %y, %all
}
END
}

# A network of 6 cells that clamps its sums, over $1 steps, and a layer after it.
rnn() {
	cat <<END
model "rnn" stage float
graph @main(%x: tensor<1x$1x4xf32>) {
  %w = const : tensor<6x4xf32> rand 1
  %b = const : tensor<6xf32> rand 2
  %r = const : tensor<6x6xf32> rand 3
  %o = const : tensor<3x6xf32> rand 4
  %zero = const : tensor<1x6xf32> splat 0.0
  %i = loop {count=$1}
  %xt = loop_slice %x, %i {axis=1}
  %h = loop_carry %zero, %i
  %px = dense %xt, %w, %b
  %ph = dense %h, %r
  %z = add %px, %ph
  %hn = relu6 %z
  %e = loop_end %i, %hn
  %l = loop_last %hn, %e
  %all = loop_stack %hn, %e {axis=1, length=$1}
  %y = dense %l, %o
  return %y, %all
}
END
}

# The carried values change places in each step, of a loop in a loop whose numbers are read.
cat >swap.qir <<'END'
model "swap" stage float
graph @main(%x: tensor<4x3x2xf32>, %a0: tensor<2xf32>) {
  %b0 = relu %a0
  %i = loop {count=4}
  %s = loop_slice %x, %i {reverse=1}
  %a = loop_carry %a0, %i
  %b = loop_carry %b0, %i {index=1}
  %j = loop %i {count=3}
  %t = loop_slice %s, %j
  %c = loop_carry %a, %j
  %k = add %i, %j
  %q = gather %x, %k {axis=0}
  %m = reduce_max %q {axes=[0]}
  %n = maximum %c, %t
  %o = minimum %n, %m
  %f = loop_end %j, %o
  %l = loop_last %o, %f
  %y1 = loop_stack %t, %f {axis=1, length=3}
  %e = loop_end %i, %b, %l
  %y2 = loop_stack %y1, %e {length=4}
  %y3 = loop_last %b, %e
  return %y2, %y3
}
END

# self_test FOLDER NAME: the emitted C agrees with the interpreter, each step's first and last run too.
self_test() {
	cases=$((cases + 1))
	{ "${CC:-cc}" -std=c99 -O1 -Wall -Wextra -Werror -DSELF_TRACE -D"$2"_SELFTEST_MAIN -D"$2"_TRACE -o selftest "$1"/*.c && ./selftest; } >stdout 2>&1 ||
		fail "self-test of $1" "emitted C differs from the interpreter" stdout
}

# unrolled NAME MODEL CALIB… [OPTIONS]: quantized with its loops and then written out, it computes the same bytes.
unrolled() {
	local name=$1 model=$2 file
	local calib=()
	shift 2
	while [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; do
		calib+=("$1")
		shift
	done
	good "$name loops" opt -q "$model" "${calib[@]/#/--calib=}" "$@" --stop-after legalize -o loops.qir
	set -- "${calib[@]}"
	silent "$name flat" opt -q loops.qir --passes=inline-bodies -o flat.qir
	cases=$((cases + 2))
	grep -q '= loop ' loops.qir || fail "$name" "no loop is left" loops.qir
	! grep -q '= loop' flat.qir || fail "$name" "a loop is left" flat.qir
	for file in loops flat; do
		silent "$name run $file" run -q $file.qir "$@" -o $file.1.npy -o $file.2.npy
	done
	same "$name first" loops.1.npy flat.1.npy
	same "$name second" loops.2.npy flat.2.npy
}

# Constants, code and symbols do not grow with the steps.
for n in 5 50 200; do
	lstm $n >lstm.qir
	samples x.npy "16, $n, 1" $((16 * n))
	good "lstm $n" compile lstm.qir --calib x.npy --self-test 8 -o lstm$n
	grep '^weights' stdout | tr -d ' ' >weights$n
	wc -l <lstm$n/lstm.c >lines$n
	self_test lstm$n LSTM
	good "symbols of $n" opt -q lstm.qir --calib x.npy --stop-after calibrate -o bound.qir
	grep -c '^symbol' bound.qir >symbols$n
done

# steady NAME MODEL SHAPE OPTIONS…: neither do they with the options, but for what the values of the samples decide, in the
# network MODEL of steps of SHAPE; and it writes out to the same bytes.
steady() {
	local name=$1 model=$2 shape=$3 n what
	shift 3
	for n in 5 200; do
		"$model" $n >steady$n.qir
		samples steady.npy "16, $n, $shape" $((16 * n * shape))
		good "$name $n" compile -q steady$n.qir --calib steady.npy "$@" --self-test 8 -o steady$n
		self_test steady$n "${model^^}"
		good "$name symbols $n" opt -q steady$n.qir --calib steady.npy "$@" --stop-after legalize -o bound.qir
		{
			echo "lines $(wc -l <steady$n/$model.c)"
			echo "bytes $(sed -n 's/.*"weight_bytes": *\([0-9]*\),$/\1/p' steady$n/$model.report.json)"
			echo "symbols $(grep -c '^symbol' bound.qir)"
		} >sizes$n
	done
	for what in lines bytes symbols; do
		n=$(sed -n "s/^$what //p" sizes5)
		cases=$((cases + 1))
		[ "$(sed -n "s/^$what //p" sizes200)" -le $((n + 8)) ] || fail "$name" "$what grow with the steps" sizes200
	done
	unrolled "$name" steady200.qir steady.npy "$@"
}
steady rfc rnn 4 --scheme rfc
steady solver rnn 4 --solver on
steady couple-sums lstm 1 --solver couple-sums
steady solver lstm 1 --solver on
cases=$((cases + 1))
grep -q '%keep = mul .*<i16:' loops.qir || fail 'cell of the solver' 'it does not have 16 bits' loops.qir

# The self-test says whether a step differs from its first run on, or later.
for fault in 'first:/qn_loop_slice(&/s/, \(s + [0-9]*\));$/&\n*(\1) ^= 1;/' \
	'last:/^\t\tmemcpy(s/s/memcpy(\([^,]*\), [^,]*,/memset(\1, 1,/'; do
	rm -rf fault
	cp -r lstm5 fault
	cases=$((cases + 1))
	sed -i "${fault#*:}" fault/lstm.c
	! cmp -s fault/lstm.c lstm5/lstm.c || fail "fault in the ${fault%%:*} run" 'the text has no place for it'
	"${CC:-cc}" -w -std=c99 -O1 -DLSTM_SELFTEST_MAIN -DLSTM_TRACE -o fault/t fault/*.c
	! fault/t >stdout 2>&1 && grep -q "${fault%%:*} run of step" stdout || fail "fault in the ${fault%%:*} run" 'it is not found' stdout
done

# What the cell adds up has 16 bits, whatever type all layers have, unless a rule for its layers says otherwise.
for how in 'i16 --activations u8' 'i16 --activations auto --calib x.npy' 'i16 {"activations": "i8"}' 'i8 {"name": "cn", "activations": "i8"}, {"name": "keep", "activations": "i8"}'; do
	printf '{"rules": [%s]}' "${how#* }" >rule.json
	case $how in *{*) option='--recipe rule.json' ;; *) option=${how#* } ;; esac
	good "cell of ${how#* }" opt -q lstm.qir $option --stop-after quantize -o cell.qir
	grep -q "cn.a = quantize .*<${how%% *}:" cell.qir || fail "cell of ${how#* }" 'it is stored otherwise' cell.qir
done
good 'u8 beside a cell of i16' compile -q lstm.qir --calib x.npy --activations u8 --self-test 8 -o cell
self_test cell LSTM

# A device sends both CRCs of a step in a loop: lstm.qir is over 200 steps now.
good device compile -q lstm.qir --calib x.npy --validation -o device
cases=$((cases + 1))
"${CC:-cc}" -std=c99 -O1 -DLSTM_TRACE -DLSTM_DEVICE_MAIN device/lstm.c device/lstm_weights.c device/lstm_device.c -o device/run 2>stderr || fail device 'it does not compile' stderr
good validate validate device --data x.npy --device device/run
grep -q '^steps  *60 of 60 equal' stdout || fail validate 'it does not compare all traces' stdout

for what in weights lines symbols; do
	same "$what of 50 steps" ${what}5 ${what}50
	same "$what of 200 steps" ${what}5 ${what}200
done
has_words report lstm200/lstm.report.json '"runs": 200'

# With the option each step is a layer with parameters of its own.
lstm 5 >lstm.qir
samples x.npy '16, 5, 1' 80
good inline compile lstm.qir --calib x.npy --inline-bodies --self-test 8 -o inline
cases=$((cases + 1))
! grep -q 'for (int32_t' inline/lstm.c || fail inline "a loop is left" inline/lstm.c
self_test inline LSTM
run opt -q swap.qir --list-passes
has_words passes stdout 'inline-bodies '

# The same bytes, unrolled or not.
unrolled lstm lstm.qir x.npy
samples s.npy '64, 3, 2' 384
samples a.npy '32,' 32
unrolled swap swap.qir s.npy a.npy
unrolled swap-solver swap.qir s.npy a.npy --solver on
good swap compile swap.qir --calib s.npy --calib a.npy --self-test 8 -o swap
self_test swap SWAP
cases=$((cases + 1)) # a loop in a loop stands further to the right
grep -q '^		qn_loop_carry' swap/swap.c && grep -q '^			qn_loop_carry' swap/swap.c && grep -q '^		for (int32_t' swap/swap.c ||
	fail indented 'the steps of a loop are not in it' swap/swap.c

# The solver keeps first values: %big is beyond what a sigmoid reaches. The graph's arrays have 8 bits beside a peak of 16.
cat <<'END' >peak.qir
model "peak" stage float
graph @main(%x: tensor<5x4xf32>, %h0: tensor<4xf32>) {
  %k = const : tensor<1xf32> splat 0.9
  %big = const : tensor<4xf32> splat 3.0
  %i = loop {count=5}
  %s = loop_slice %x, %i
  %h = loop_carry %h0, %i
  %g = loop_carry %big, %i {index=1}
  %d = mul %h, %k
  %n = maximum %d, %s
  %u = mul %g, %s
  %v = sigmoid %u
  %e = loop_end %i, %n, %v
  %y = loop_stack %n, %e {length=5}
  %z = loop_last %v, %e
  return %y, %z
}
END
samples p.npy '40, 5, 4' 800
samples p0.npy '40, 4' 160
unrolled peak peak.qir p.npy p0.npy --solver on
for what in 'x: tensor<5x4x!quant.uniform<i8:' 'h = loop_carry .*<i16:' 'u = mul .*<i8:' 'return %[^ ]* as "y", %z$'; do
	cases=$((cases + 1))
	grep -q "%$what\|$what" loops.qir || fail peak "no $what" loops.qir
done
good peak-eval eval -q peak.qir --calib p.npy --calib p0.npy --data p.npy --data p0.npy --solver on --against peak.qir --min sqnr=38

# Scales of run time are found in each step.
good dynamic compile -q lstm.qir --calib x.npy --dynamic '*' --self-test 8 -o dynamic
cases=$((cases + 1))
grep -q '^		qn_dynamic_values' dynamic/lstm.c || fail dynamic 'no step of the loop finds a scale' dynamic/lstm.c
self_test dynamic LSTM

# A file of a quantized graph whose loop is left in float: what it carries gets ranges from samples.
sed -e 's/stage float/stage calibrated rounding even/; s/%x: \(tensor.*\)) {/%in: \1) {/' \
	-e '/%in/a\  %q = quantize %in : tensor<1x5x1x!quant.uniform<i8:f32, 0.125>>\n  %x = dequantize %q' lstm.qir >open.qir
unrolled open open.qir x.npy
good open compile -q open.qir --calib x.npy --self-test 8 -o open
self_test open LSTM
cat <<'END' >sums.qir
model "sums" stage calibrated rounding even
graph @main(%x: tensor<5x4xf32>) {
  %q = quantize %x : tensor<5x4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=5}
  %h = loop_carry %zero, %i
  %s = loop_slice %d, %i
  %a = add %h, %s
  %t = tanh %a
  %e = loop_end %i, %t
  %y = loop_last %t, %e
  return %y
}
END
samples x20.npy '40, 4' 160
good open-sums compile -q sums.qir --calib x20.npy --self-test 8 -o sums
self_test sums SUMS
case_of open-unranged 3 legalize.float 'no range for|--from-float' compile -q open.qir -o none

# An LSTM without samples is refused once, not in each step.
sed 's/1x5x1/1x200x1/g; s/count=5/count=200/; s/length=5/length=200/' open.qir >open200.qir
run compile -q open200.qir -o none
cases=$((cases + 1))
[ "$code" -eq 3 ] && [ "$(wc -l <stderr)" -lt 40 ] || fail 'open 200' "exit code $code" stderr

# Float and noise: a value of a loop counts in each step.
good noise eval -q lstm.qir --calib x.npy --data x.npy --against lstm.qir --sqnr
has_words noise stdout 'sqnr|integer'

# What looks at parts of a graph sees all steps.
good analyze analyze lstm.qir --calib x.npy
good output compile -q lstm.qir --calib x.npy --method output --self-test 4 -o output
self_test output LSTM
cases=$((cases + 1))
grep -q 'for (int32_t' output/lstm.c || fail output 'the loop is written out' output/lstm.c
good equalized compile -q lstm.qir --calib x.npy --bias-correction --self-test 4 -o corrected
self_test corrected LSTM

# The codes of an int8 file are the same in either form; of a float file the body, quantized once, has one set of tables.
if [ -n "${QUERN_DATA:-}" ]; then
	mnist() { # FILE FIRST COUNT
		tail -c +$((129 + 784 * $2)) "$QUERN_DATA/samples/mnist_x.npy" | head -c $((784 * $3)) |
			npy "$1" '|u1' "$3, 28, 28"
	}
	mnist rows.npy 0 100
	mnist others.npy 100 400
	tail -c +$((129 + 8 * 100)) "$QUERN_DATA/samples/mnist_y.npy" | head -c $((8 * 400)) | npy labels.npy '<i8' '400,'
	float="$QUERN_DATA/models/mnist_lstm_float.tflite --calib rows.npy --input-scale 0.003921569"
	# The first state is 0 on all samples: what it is multiplied with still can be added in 16 bits.
	good mnist-16 compile -q $float --inline-bodies --activations i16 --self-test 4 -o flat16
	self_test flat16 MNIST_LSTM_FLOAT
	good mnist-flat opt -q "$QUERN_DATA/models/mnist_lstm_int8.tflite" --passes=inline-bodies -o int8.qir
	silent mnist-loop run -q "$QUERN_DATA/models/mnist_lstm_int8.tflite" others.npy --input-scale 0.003921569 -o loop.npy
	silent mnist-flat run -q int8.qir others.npy --input-scale 0.003921569 -o flat.npy
	same mnist-int8 loop.npy flat.npy
	good mnist-eval eval -q $float --data others.npy --labels labels.npy --min top1=97.75
	has_words mnist-eval stdout 'float|98.25 %|(393 of 400)'
	good mnist-compile compile -q $float --max-weights 13000 -o mnist
else
	echo "mnist_lstm: skipped, without QUERN_DATA"
fi

# Limits come before memory.
sed 's/200/1000000000/g' <<'END' >many.qir
model "many" stage float
graph @main(%x: tensor<4xf32>) {
  %i = loop {count=200}
  %h = loop_carry %x, %i
  %j = loop %i {count=200}
  %k = loop_carry %h, %j
  %r = relu %k
  %e = loop_end %j, %r
  %l = loop_last %r, %e
  %f = loop_end %i, %l
  %y = loop_last %l, %f
  return %y
}
END
samples x4.npy '16, 4' 64
case_of steps 5 limit.steps 'steps|--import-limit' run -q many.qir x4.npy
sed 's/count=1000000000/count=3000/' many.qir >some.qir
case_of unrolled 5 limit.nodes '--import-limit' opt some.qir --passes=inline-bodies -o y.qir

finish
