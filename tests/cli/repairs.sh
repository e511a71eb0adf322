#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# repairs.sh - weights rounded by what they are multiplied with, corrected biases, equalized channels, narrower ranges.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
digits="-q $E/digits.json --calib $E/calib.npy"
test="--data $E/test_x.npy --labels $E/test_y.npy"

# Weights of 2 bits are of no use as they are; repaired, they nearly are as good as those of 8.
run eval $digits $test --weights-type i2 --min-accuracy 50
[ "$code" -eq 4 ] || fail plain "exit code $code: weights of 2 bits need no repairs" stdout
distant both eval $digits $test --weights-type i2 --weight-rounding adaptive --bias-correction --min-accuracy 95
distant gptq eval $digits $test --weights-type i2 --weight-rounding gptq --bias-correction --min-accuracy 90
silent bias eval $digits $test --weights-type i4 --bias-correction --min-accuracy 98.5
silent 8-bits eval $digits $test --weight-rounding adaptive --bias-correction --min-accuracy 98.5

# The report, the summary and the emitted C; the same files whatever the threads are.
silent compile compile $digits --weights-type i4 --weight-rounding gptq --bias-correction --threads 1 --self-test 20 -o one
has_words summary stdout 'repaired     5 of 5 layers: mean SQNR of their outputs'
has_words report one/digits.report.json 'weight-rounding=gptq bias-correction=on|{"layer": "logits", "sqnr_before": |"weights": true, "bias": true}'
silent threads compile $digits --weights-type i4 --weight-rounding gptq --bias-correction --threads 3 --self-test 20 -o three
cases=$((cases + 1))
diff -r one three >stdout 2>&1 || fail threads "other threads give other files" stdout
cases=$((cases + 1))
{ "${CC:-cc}" -O1 -Werror -Wall -DDIGITS_SELFTEST_MAIN -o selftest one/digits.c one/digits_weights.c one/digits_selftest.c && ./selftest; } >stdout 2>&1 ||
	fail selftest "emitted C differs from the interpreter" stdout

# Where nothing is gained, nothing changes, and the warning speaks in dB.
cat >even.qir <<'X'
graph @main(%x: tensor<1x4xf32>) {
  %w = const : tensor<3x4xf32> [0.9,-0.3,0.2,0.6, -0.5,0.7,0.35,-0.1, 0.4,0.15,-0.85,0.25]
  %y = dense %x, %w
  return %y
}
X
awk 'BEGIN { for (i = 1; i <= 400; i++) printf "%.3f%s", (i * 7919 + i * i * 104729) % 1007 / 500 - 1, i % 4 ? "," : "\n" }' >even.csv
case_of dropped 0 repair.dropped 'SQNR on the samples held back is ' compile -q even.qir --calib even.csv --weight-rounding adaptive -o even
grep -Eq ' is [0-9]{2}(\.[0-9]{1,2})? dB, before [0-9]{2}(\.[0-9]{1,2})? dB; more' stderr || fail dropped "not in dB with two decimals" stderr

# A graph that was saved before the repairs goes on; one that was saved after them keeps what is known of them.
silent before opt $digits --weights-type i4 --stop-after calibrate -o before.json
silent resumed compile -q before.json --calib "$E/calib.npy" --name digits --weight-rounding gptq --bias-correction --self-test 20 -o resumed
same resumed one/digits_weights.c resumed/digits_weights.c
silent after opt $digits --weights-type i4 --weight-rounding gptq --bias-correction --stop-after repair -o after.json
silent after-again compile -q after.json --calib "$E/calib.npy" --name digits --self-test 20 -o again
same again one/digits_weights.c again/digits_weights.c
has_words again again/digits.report.json '"repaired": ['
run opt $digits --weights-type i4 --list-passes
has_words list stdout 'repair '

# Where no output is float, layers alone decide.
cat >classes.qir <<'END'
graph @main(%x: tensor<1x12xf32>) {
  %w = const : tensor<6x12xf32> rand 3
  %h = dense %x, %w
  %y = argmax %h {axis=1}
  return %y
}
END
tail -c +129 "$E/calib.npy" | head -c $((64 * 12 * 4)) | npy classes.npy '<f4' '64, 12'
silent classes compile -q classes.qir --calib classes.npy --weights-type i4 --weight-rounding gptq --bias-correction -o classes
has_words classes stdout 'repaired     1 of 1 layers'

# Rules of a recipe do what the options do, for all layers or for some, at once or from a model that was saved before.
echo '{"rules": [{"weights": "i4", "weight-rounding": "gptq", "bias-correction": true}]}' >all.json
silent recipe compile $digits --recipe all.json --self-test 20 -o ruled
same recipe one/digits_weights.c ruled/digits_weights.c
for after in quantize calibrate; do
	silent "recipe-$after" opt $digits --recipe all.json --stop-after $after -o before.json
	silent "recipe-resumed-$after" compile -q before.json --calib "$E/calib.npy" --recipe all.json --name digits --self-test 20 -o resumed
	same "recipe-resumed-$after" one/digits_weights.c resumed/digits_weights.c
done
cat >some.json <<'END'
{"rules": [
  {"weights": "i2", "bias-correction": true},
  {"name": "relu1", "weight-rounding": "nearest"},
  {"op": "dense", "weight-rounding": "gptq", "bias-correction": false},
  {"name": "pw", "weight-rounding": "nearest", "bias-correction": false}
]}
END
good some compile -q $digits --recipe some.json --weight-rounding adaptive -o some
has_words some stdout 'repaired     4 of 4 layers'
has_words some some/digits.report.json '{"layer": "bn1", |"weights": false, "bias": true|{"layer": "logits", |"weights": true, "bias": false'
! grep -q '"layer": "pw' some/digits.report.json || fail some "pw is repaired" some/digits.report.json
echo '{"rules": [{"weights": "i4"}]}' >none.json
silent recipe-none opt $digits --recipe none.json --stop-after repair -o none.qir
good recipe-analyze analyze $digits --recipe all.json
echo '{"rules": [{"weight-rounding": "best"}, {"bias-correction": "yes"}, {"equalize": 1}, {"narrow-ranges": 1}]}' >bad.json
case_of recipe-bad 1 'recipe.value json.kind' "'best' of 'weight-rounding' (expected nearest, gptq or adaptive)|/rules/1/bias-correction|/rules/2/equalize|/rules/3/narrow-ranges" compile -q "$E/digits.json" --calib "$E/calib.npy" --recipe bad.json -o no

# Scales of channels: in the report, the same for any threads, the same from a model that was saved between.
good equalize compile -q --threads 1 "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --equalize --self-test 20 -o eq
has_words equalize eq/digits.report.json 'equalize='
cases=$((cases + 1))
{ "${CC:-cc}" -O1 -Werror -Wall -DDIGITS_SELFTEST_MAIN -o selftest eq/digits.c eq/digits_weights.c eq/digits_selftest.c && ./selftest; } >stdout 2>&1 ||
	fail equalize-selftest "emitted C differs from the interpreter" stdout
good equalize-threads compile --threads 3 "$E/digits.json" --calib "$E/calib.npy" --weights per-tensor --equalize --self-test 20 -o eq3
has_words equalize-threads stderr 'equalize: channels of |groups of layers are scaled (|: SQNR of the outputs '
same equalize-threads eq eq3
good equalize-saved opt $digits --weights per-tensor --equalize --stop-after equalize -o eq.json
good equalize-resumed compile -q eq.json --calib "$E/calib.npy" --weights per-tensor --name digits --self-test 20 -o eqr
same equalize-resumed eq/digits_weights.c eqr/digits_weights.c
# as rules: for all layers, but not for groups of one, for groups of one alone
echo '{"rules": [{"granularity": "per-tensor", "equalize": true}]}' >eq.json
good equalize-recipe compile -q "$E/digits.json" --calib "$E/calib.npy" --recipe eq.json --self-test 20 -o eqr
same equalize-recipe eq/digits_weights.c eqr/digits_weights.c
echo '{"rules": [{"equalize": false, "op": "conv2d"}]}' >eq.json
case_of equalize-refused 0 equalize.dropped 'rules of the recipe leave' compile -q "$E/digits.json" --calib "$E/calib.npy" --recipe eq.json --equalize -o no
echo '{"rules": [{"equalize": true, "name": "conv1"}]}' >eq.json
good equalize-one compile "$E/digits.json" --calib "$E/calib.npy" --recipe eq.json --weights per-tensor -o one
has_words equalize-one stderr 'equalize: channels of 1 of 1 groups'
good equalize-eval eval $digits $test --weights per-tensor --equalize --min-accuracy 98.5
cat >alone.qir <<'END'
graph @main(%x: tensor<1x12xf32>) {
  %w = const : tensor<6x12xf32> rand 3
  %h = dense %x, %w
  return %h
}
END
case_of equalize-nothing 0 equalize.dropped 'no layer is read' compile -q alone.qir --calib classes.npy --equalize -o out

# Narrower ranges: of x, one element is 40 times as wide as the others in one sample of four, and means hardly anything.
awk 'BEGIN {
	for (o = 0; o < 4; o++)
		for (i = 0; i < 12; i++)
			w = w sprintf("%s%g", o + i ? ", " : "", i ? (((o * 12 + i) * 37 % 23) - 11) / 16 : 0.002)
	printf "graph @main(%%x: tensor<1x12xf32>) {\n  %%w = const : tensor<4x12xf32> [%s]\n", w >"rare.qir"
	print "  %y = dense %x, %w\n  return %y\n}" >"rare.qir"
	for (s = 0; s < 64; s++) {
		row = s % 8 == 0 || s % 8 == 3 ? 40 : 0.5
		for (i = 1; i < 12; i++)
			row = row sprintf(",%g", ((s * 53 + i * 29) % 97 - 48) / 48)
		print row >"rare.csv"
	}
}'
rare="rare.qir --calib rare.csv"
run eval -q $rare --data rare.csv --against rare.qir --min sqnr=22
[ "$code" -eq 4 ] || fail rare "exit code $code: its ranges need no repair" stdout
good narrow eval $rare --data rare.csv --against rare.qir --narrow-ranges --min sqnr=24
has_words narrow stderr 'ranges: 1 of 2 are narrowed (x 10 %): SQNR of the outputs '
good narrow-compile compile -q --threads 1 $rare --narrow-ranges --self-test 20 -o narrow
has_words narrow-report narrow/rare.report.json 'narrowed=1/2:'
cases=$((cases + 1))
{ "${CC:-cc}" -O1 -Werror -Wall -DRARE_SELFTEST_MAIN -o selftest narrow/rare.c narrow/rare_weights.c narrow/rare_selftest.c && ./selftest; } >stdout 2>&1 ||
	fail narrow-selftest "emitted C differs from the interpreter" stdout
good narrow-threads compile -q --threads 3 $rare --narrow-ranges --self-test 20 -o narrow3
same narrow-threads narrow narrow3
echo '{"rules": [{"op": "dense", "narrow-ranges": true}]}' >narrow.json
good narrow-recipe compile $rare --recipe narrow.json --self-test 20 -o narrowr
has_words narrow-recipe stderr 'ranges: 1 of 1 are narrowed (x 10 %)'
same narrow-recipe narrow/rare.c narrowr/rare.c
echo '{"rules": [{"op": "dense", "narrow-ranges": false}]}' >narrow.json
case_of narrow-refused 0 narrow.dropped 'none of 1 brings the outputs nearer' compile -q $rare --recipe narrow.json --narrow-ranges -o no
good narrow-with compile -q $digits --weights-type i4 --weight-rounding adaptive --bias-correction --narrow-ranges --self-test 20 -o with
has_words narrow-with with/digits.report.json 'weight-rounding=adaptive bias-correction=on narrowed='
good narrow-given export -q $rare --format encodings -o rare.encodings.json

# What cannot be.
case_of narrow-encodings 2 narrow.ranges 'encodings say what ranges are' compile -q $rare --encodings rare.encodings.json --narrow-ranges -o no
silent integer opt $digits --stop-after legalize -o one.json
silent stats calibrate -q "$E/digits.json" --calib "$E/calib.npy" -o stats.json
case_of narrow-no-samples 2 repair.no-data 'give samples (--calib FILE.npy)' compile -q "$E/digits.json" --stats stats.json --narrow-ranges -o no
case_of no-samples 2 repair.no-data 'give samples (--calib FILE.npy)' compile -q "$E/digits.json" --stats stats.json --bias-correction -o no
silent both-given compile -q "$E/digits.json" --stats stats.json --calib "$E/calib.npy" --bias-correction -o yes
case_of equalize-no-samples 2 equalize.no-data 'give samples (--calib FILE.npy)' compile -q "$E/digits.json" --stats stats.json --equalize -o no
case_of equalize-stats 2 equalize.ranges 'give samples alone' compile -q "$E/digits.json" --stats stats.json --calib "$E/calib.npy" --equalize -o no
case_of equalize-late 2 option.late 'integer already' compile -q one.json --calib "$E/calib.npy" --equalize -o no
case_of equalize-unasked 2 pass.absent 'neither the option equalize nor a recipe' opt $digits --stop-after equalize
case_of late 2 option.late 'integer already' compile -q one.json --calib "$E/calib.npy" --weight-rounding gptq -o no
case_of solver 2 pass.absent 'the solver chooses what is quantized' compile $digits --solver on --bias-correction -o no
case_of unasked 2 pass.absent 'none of weight-rounding, bias-correction and narrow-ranges is given' opt $digits --stop-after repair
usage rounding "invalid value 'best'" compile $digits --weight-rounding best -o no
finish
