#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# widen.sh - 16-bit activations for the layers whose range needs them: --activations auto, and rules of a recipe.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
digits="$E/digits.json --calib $E/calib.npy"

# Of what y takes, one element is 250 times as wide as the others, and y does not count it.
cat >wide.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %w1 = const : tensor<4x4xf32> [250,-125,375,50, 0.3,0.9,-0.6,0.2, -0.8,0.4,0.15,0.7, 0.6,-0.35,0.45,-0.9]
  %w2 = const : tensor<3x4xf32> [0,0.85,-0.4,0.3, 0,0.1,0.65,0.5, 0,-0.15,0.25,-0.6]
  %h = dense %x, %w1
  %r = relu %h
  %y = dense %r, %w2
  return %y
}
X
awk 'BEGIN { for (i = 1; i <= 1024; i++) printf "%.3f%s", i * i * 7919 % 10007 / 10007 - 0.3, i % 4 ? "," : "\n" }' >wide.csv
wide="wide.qir --calib wide.csv"

# It is found, and no other layer; the emitted C computes what the interpreter does; threads change nothing.
good found compile $wide --activations auto --threads 1 --self-test 20 -o one
has_words found stderr 'activations: 16 bits for 1 of 2 layers (y +|: SQNR of the outputs |, before '
has_words found stdout 'widened      1 layer has 16-bit activations|input        x : tensor<1x4x!quant.uniform<i8:f32'
has_words found one/wide.report.json 'activations=auto:1/2:|"widened": [|{"layer": "y", "gain": '
cases=$((cases + 1))
{ "${CC:-cc}" -O1 -Werror -Wall -DWIDE_TRACE -DWIDE_SELFTEST_MAIN -o selftest one/wide.c one/wide_weights.c one/wide_selftest.c && ./selftest; } >stdout 2>&1 ||
	fail found-selftest "emitted C differs from the interpreter" stdout
silent threads compile -q $wide --activations auto --threads 3 --self-test 20 -o three
same threads one three
good eval-i8 eval -q wide.qir --calib wide.csv --data wide.csv --against wide.qir --max sqnr=15
good eval-auto eval -q wide.qir --calib wide.csv --data wide.csv --against wide.qir --activations auto --min sqnr=30
good analyze analyze -q $wide --activations auto
echo '{"rules": [{"activations": "auto"}]}' >auto.json
good recipe compile -q $wide --recipe auto.json --self-test 20 -o recipe
same recipe one/wide_weights.c recipe/wide_weights.c
good saved opt -q $wide --stop-after partition -o wide.json
good resumed compile -q wide.json --calib wide.csv --activations auto --name wide --self-test 20 -o resumed
same resumed one/wide_weights.c resumed/wide_weights.c
good stored opt -q $wide --activations auto --stop-after calibrate -o stored.json
has_words stored stored.json '"widened": [|{"layer": "y", "gain": '
good stored-report compile -q stored.json --name wide --self-test 0 -o stored
has_words stored-report stored/wide.report.json '"widened": ['

# Residual sums, one element of which is 60 times as wide as the others: each alone loses less than 3 dB.
{
	printf 'graph @main(%%x: tensor<1x8xf32>) {\n'
	printf '  %%scale = const : tensor<8xf32> [60,1,1,1,1,1,1,1]\n  %%one = const : tensor<8xf32> [1,1,1,1,1,1,1,1]\n'
	printf '  %%zero = const : tensor<8xf32> [0,0,0,0,0,0,0,0]\n  %%s0 = mul %%x, %%scale\n'
	for k in 1 2 3 4 5 6 7 8; do
		printf '  %%w%s = const : tensor<8x8xf32> rand %s\n  %%d%s = dense %%x, %%w%s\n  %%s%s = add %%s%s, %%d%s\n' $k $k $k $k $k $((k - 1)) $k
	done
	printf '  %%n = layer_norm %%s8, %%one, %%zero\n  %%v = const : tensor<4x8xf32> rand 9\n  %%y = dense %%n, %%v\n  return %%y\n}\n'
} >stream.qir
awk 'BEGIN { for (i = 1; i <= 768; i++) { g = 0; for (k = 1; k <= 4; k++) g += (i * i * 7919 + k * i * 104729) % 10007 / 10007 - 0.5; printf "%.3f%s", g, i % 8 ? "," : "\n" } }' >stream.csv
stream="stream.qir --weights-type i4 --calib stream.csv"
good stream-i8 eval -q $stream --data stream.csv --against stream.qir --max sqnr=16
good stream eval -q $stream --data stream.csv --against stream.qir --activations auto --min sqnr=17

# Twelve layers, in each of what they take an element is 120 times as wide as the others: far from the float network, and
# none brings 3 dB by itself, nor all of them 3 dB each.
{
	printf 'graph @main(%%x: tensor<1x8xf32>) {\n'
	for k in 1 2 3 4 5 6 7 8 9 10 11 12; do
		awk -v k=$k 'BEGIN {
			srand(k)
			printf "  %%w%d = const : tensor<8x8xf32> [", k
			for (i = 0; i < 64; i++) printf "%s%.3f", i ? ", " : "", (rand() * 2 - 1) * (i < 8 ? 120 : 1)
			printf "]\n  %%v%d = const : tensor<4x8xf32> [", k
			for (i = 0; i < 32; i++) printf "%s%.3f", i ? ", " : "", i % 8 ? rand() * 2 - 1 : 0
			printf "]\n"
		}'
		printf '  %%h%s = dense %%x, %%w%s\n  %%r%s = relu %%h%s\n  %%y%s = dense %%r%s, %%v%s\n' $k $k $k $k $k $k $k
	done
	printf '  return %%y1, %%y2, %%y3, %%y4, %%y5, %%y6, %%y7, %%y8, %%y9, %%y10, %%y11, %%y12\n}\n'
} >far.qir
far="far.qir --calib stream.csv"
good far compile $far --activations auto --name farther --self-test 20 -o far
has_words far stderr 'activations: 16 bits for |of 24 layers (|dB; 16 bits for all layers give '

# A slow mean, of which each step is right within half a step of 8 bits and moves no further: auto sees what steps add up to.
# A product reads it, otherwise it would have 16 bits from the start.
cat >slow.qir <<'X'
graph @main(%x: tensor<1x4xf32>, %m: tensor<1x4xf32> state) {
  %keep = const : tensor<4x4xf32> [0.99, 0, 0, 0, 0, 0.99, 0, 0, 0, 0, 0.99, 0, 0, 0, 0, 0.99]
  %take = const : tensor<f32> [0.01]
  %a = dense %m, %keep
  %b = mul %x, %take
  %next = add %a, %b
  %y = sub %x, %next
  return %y, %next to %m
}
X
awk 'BEGIN { for (i = 1; i <= 2400; i++) printf "%.3f%s", (i * i * 7919 + i * 104729) % 10007 / 10007 + 1, i % 4 ? "," : "\n" }' >slow.csv
slow="slow.qir --calib slow.csv --sequence 600 --data slow.csv --against slow.qir"
good slow-i8 eval -q $slow --max sqnr=33
good slow eval $slow --activations auto --min sqnr=60
has_words slow stderr 'activations: 16 bits for | with input m'
grep -qE 'before 3[0-9]\.' stderr || fail slow 'its figure is of single steps' stderr

# What a rule says stays: there is nothing to choose for y, or for no layer.
echo '{"rules": [{"name": "y", "activations": "i8"}]}' >y8.json
good kept compile $wide --activations auto --recipe y8.json -o kept
has_words kept stderr 'activations: none of 1 layers needs 16 bits'
echo '{"rules": [{"activations": "auto"}, {"name": "y", "activations": "i16"}]}' >y16.json
good met eval -q wide.qir --calib wide.csv --data wide.csv --against wide.qir --recipe y16.json --min sqnr=30
case_of settled 0 'accuracy.low widen.settled' 'says how the activations of each are stored' compile -q $wide --activations auto --dynamic op:dense -o settled

# A network that needs none is the one that i8 gives.
silent i8 compile -q $digits --self-test 20 -o i8
good none compile $digits --activations auto --self-test 20 -o none
has_words none stderr 'activations: none of 8 layers needs 16 bits, none brings 3 dB; SQNR of the outputs'
same none i8/digits_weights.c none/digits_weights.c
! grep -q widened none/digits.report.json stdout || fail none "a layer is widened" none/digits.report.json
for i in i8 none; do
	sed -e 's/ activations=auto:[^ "]*//' -e '/_CONTENT/d' $i/digits.c >$i.c
done
same none-program i8.c none.c

# What cannot be.
silent stats calibrate -q $digits -o stats.json
case_of no-samples 2 widen.no-data 'give samples (--calib)' opt -q $E/digits.json --activations auto --stop-after quantize
case_of statistics 2 widen.ranges 'give samples alone' compile -q $E/digits.json --stats stats.json --activations auto -o no
case_of shards 2 widen.ranges 'give i8, u8 or i16' calibrate -q $digits --activations auto -o no.json
case_of shards-recipe 2 widen.no-data 'to the run that quantizes' calibrate -q $digits --recipe auto.json -o no.json
case_of solver 2 pass.absent 'the solver chooses what is quantized' compile -q $digits --solver on --activations auto -o no
case_of late 2 option.late 'start from an earlier stage' compile -q stored.json --activations auto --calib wide.csv -o no
finish
