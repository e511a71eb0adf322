#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dynamic.sh - layers that compute the scale of their data at run time: what they gain where the level of samples varies,
# the C of them, saved models, and words that name no such layer.
. "$(dirname "$0")/common.inc"

make_samples() {
	awk -v what=samples -v "seed=$1" -v "level=$2" -f "$QUERN_SOURCE/bench/levels.awk"
}
awk -v what=model -v seed=3 -f "$QUERN_SOURCE/bench/levels.awk" >levels.qir
make_samples 1 '' >calib.csv
make_samples 2 -40 >quiet.csv
make_samples 2 '' >all.csv
echo '{"rules": [{"op": "output", "activations": "i16"}]}' >out16.json
echo '{"rules": [{"op": "output", "activations": "i16"}, {"op": "dense", "activations": "dynamic per-row"}]}' >rows.json
echo '{"rules": [{"name": "fc?", "activations": "dynamic"}, {"op": "output", "activations": "i16"}]}' >rule.json
calib=(--calib calib.csv --shape 32)

# sqnr NAME SAMPLES OPTIONS…: of the integer model, in tenths of a decibel
sqnr() {
	local name=$1 samples=$2
	shift 2
	good "$name" eval levels.qir "${calib[@]}" --data "$samples" --against levels.qir -q "$@"
	awk '/^integer +sqnr/ {print int(10 * $3)}' stdout
}

# ---- what it gains: samples 40 dB below the loudest ----

fixed=$(sqnr fixed quiet.csv --recipe out16.json)
dynamic=$(sqnr dynamic quiet.csv --recipe out16.json --dynamic '*')
rule=$(sqnr rule quiet.csv --recipe rule.json)
rows=$(sqnr rows quiet.csv --recipe rows.json)
[ "$fixed" -le 100 ] || fail fixed "sqnr $fixed of fixed ranges"
[ "$dynamic" -ge 360 ] || fail dynamic "sqnr $dynamic, of fixed ranges $fixed"
[ "$rule" -eq "$dynamic" ] || fail rule "sqnr $rule, by --dynamic $dynamic"
[ "$rows" -eq "$dynamic" ] || fail rows "sqnr $rows of one row, of the tensor $dynamic"
part=$(sqnr part all.csv --recipe out16.json --dynamic fc1)
whole=$(sqnr whole all.csv --recipe out16.json --dynamic name:fc1,op:dense)
[ "$whole" -gt "$part" ] || fail part "sqnr $part of one layer, $whole of all"

# ---- the emitted C gives the interpreter's bytes, without floats; also from a saved model ----

for target in generic cortex-m4 x86-64-avx2; do
	good "compile $target" compile levels.qir "${calib[@]}" --dynamic '*' --target "$target" -q -o out
	[ "$target" = generic ] || continue
	cc -std=c99 -O1 -Wall -Wextra -Wconversion -Werror -DLEVELS_SELFTEST_MAIN out/*.c -o selftest 2>log &&
		./selftest >log 2>&1 || fail self-test "it failed" log
	grep -qE '\b(float|double)\b' out/levels.c && fail float "there are floats in the C"
	grep -q '"dynamic=\*\|dynamic=\*' out/levels.report.json || fail report "the options are not in the report"
done
good generic compile levels.qir "${calib[@]}" --dynamic '*' -q -o out
for stage in quantize calibrate bind requantize legalize; do
	good "stop after $stage" opt levels.qir "${calib[@]}" --dynamic '*' --stop-after "$stage" -q -o stopped.json
	good "from $stage" compile stopped.json "${calib[@]}" -q -o from
	cmp -s out/levels.c from/levels.c || fail "from $stage" "the C differs"
done
good partition opt levels.qir --stop-after partition -q -o stopped.json
good "from partition" compile stopped.json "${calib[@]}" --dynamic '*' -q -o from
cmp -s out/levels.c from/levels.c || fail "from partition" "the C differs"
good legalized opt levels.qir "${calib[@]}" --stop-after legalize -q -o legal.json
good statistics calibrate levels.qir "${calib[@]}" --dynamic '*' -q -o s.json
good from-statistics compile levels.qir --stats s.json "${calib[@]}" --dynamic '*' -q -o from
cmp -s out/levels.c from/levels.c || fail statistics "the C differs from that of samples"
good explain quantize levels.qir --dynamic fc2 --explain
grep -q 'fc2' stdout || fail explain "the layer is not there" stdout

# ---- words that name no such layer ----

case_of relu 1 recipe.dynamic "dynamic: error|relu 'r1' cannot|name one of these" compile levels.qir "${calib[@]}" --dynamic 'fc1,r1' -o out -q
case_of unknown 1 recipe.nothing "no node, input or output named 'fc9'; did you mean 'fc1'" compile levels.qir "${calib[@]}" --dynamic fc9 -o out -q
case_of skipped 1 recipe.dynamic "dense 'fc1' cannot" compile levels.qir "${calib[@]}" --dynamic fc1 --skip name:fc1 -o out -q
case_of op 2 recipe.op "unknown op 'denses'; did you mean 'dense'?" compile levels.qir "${calib[@]}" --dynamic op:denses -o out -q
case_of glob 2 recipe.glob "invalid value 'fc[1'" compile levels.qir "${calib[@]}" --dynamic 'fc[1' -o out -q
case_of empty 2 recipe.glob "it is empty" compile levels.qir "${calib[@]}" --dynamic 'fc1,' -o out -q
case_of late 2 option.late "dynamic" compile legal.json --dynamic fc1 -o out -q
case_of solver 2 pass.absent "dynamic|the solver chooses" compile levels.qir "${calib[@]}" --solver on --dynamic fc1 -o out -q
E=$QUERN_SOURCE/examples/digits
echo '{"rules": [{"name": "conv1", "activations": "dynamic per-row"}]}' >conv.json
case_of rows 1 recipe.rows "conv2d 'conv1' cannot have a scale of run time for each row" compile "$E/digits.json" --calib "$E/calib.npy" --recipe conv.json -o out -q
finish
