#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# channels.sh - activations with a scale for each channel by recipe: what they gain where channels differ, statistics and
# explanations of a channel, and the C of both ways to align them.
. "$(dirname "$0")/common.inc"

for what in model samples; do
	for seed in 1 2; do
		awk -v "what=$what" -v "seed=$seed" -f "$QUERN_SOURCE/bench/outliers.awk" >"$what$seed.txt"
	done
done
mv model1.txt block.qir
mv samples1.txt calib.csv
mv samples2.txt test.csv
echo '{"rules": [{"activations": "i8 per-axis"}]}' >all.json
echo '{"rules": [{"op": "add", "activations": "i8 per-axis"}, {"op": "layer_norm", "activations": "i8 per-axis"}]}' >some.json
calib=(--calib calib.csv --shape 16,32)

# sqnr NAME OPTIONS…: of the integer model, in tenths of a decibel
sqnr() {
	local name=$1
	shift
	good "$name" eval block.qir "${calib[@]}" --data test.csv -q "$@"
	awk '/^integer +sqnr/ {print int(10 * $3)}' stdout
}

# ---- what it gains: channels of deviation 1 beside one of -60 ----

plain=$(sqnr plain)
some=$(sqnr some --recipe some.json)
all=$(sqnr all --recipe all.json)
fixed=$(sqnr fixed --recipe all.json --align=fixed-point)
[ "$some" -ge $((plain + 15)) ] || fail some "sqnr $some after $plain"
[ "$all" -ge $((plain + 35)) ] || fail all "sqnr $all after $plain"
[ "$fixed" -ge $((all - 10)) ] || fail fixed "sqnr $fixed, with multipliers $all"

# ---- the emitted C gives the interpreter's bytes; no float in it ----

for align in tflite fixed-point fixed-point:12; do
	good "compile $align" compile block.qir "${calib[@]}" --recipe all.json "--align=$align" -q -o out
	cc -std=c99 -O1 -Wall -Wextra -Wconversion -Werror -DBLOCK_SELFTEST_MAIN out/*.c -o selftest 2>log &&
		./selftest >log 2>&1 || fail "self-test $align" "it failed" log
	grep -qE '\b(float|double)\b' out/block.c && fail "float $align" "there are floats in the C"
done
good opt opt block.qir "${calib[@]}" --recipe all.json --align=fixed-point --stop-after legalize -q
grep -q 'aligned = requantize .*{align=8} : .*i16:f32' stdout || fail opt "nothing is aligned" stdout

# ---- statistics and explanations name the channels ----

good statistics calibrate block.qir "${calib[@]}" --recipe all.json -q -o s.json
good from-statistics compile block.qir --stats s.json "${calib[@]}" --recipe all.json -q -o from
good direct compile block.qir "${calib[@]}" --recipe all.json -q -o direct
cmp -s from/block.c direct/block.c || fail statistics "the C differs from that of samples"
good explain calibrate block.qir "${calib[@]}" --recipe all.json --explain 'middle.a[17]'
grep -q '\$middle.a\[17\]' stdout || fail explain "the channel is not there" stdout
good method compile block.qir "${calib[@]}" --recipe all.json --method percentile -q -o out
good inputs opt block.qir "${calib[@]}" --recipe all.json --stop-after legalize -q
grep -q '%x: tensor<1x16x32x!quant.uniform<i8:f32, ' stdout || fail inputs "the input has several scales" stdout
# ---- chains of any length before a quantize with several scales ----

q='!quant.uniform<i8:f32:1, {0.1:3,0.2:3,0.3:3}>'
for move in relu reverse; do
	awk -v "q=$q" -v "move=$move" 'BEGIN {
		print "model \"m\" stage calibrated\ngraph @main(%x: tensor<4x3x" q ">) {\n  %v0 = dequantize %x"
		for (n = 1; n <= 60000; n++)
			printf "  %%v%d = %s %%v%d%s\n", n, move, n - 1, (move == "reverse" ? " {axes=[0]}" : "")
		print "  %q = quantize %v60000 : tensor<4x3x" q ">\n  return %q\n}"
	}' </dev/null >chain.qir
	good "chain of $move" opt chain.qir --passes requantize -q
done
finish
