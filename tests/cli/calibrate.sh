#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# calibrate.sh - calibration methods, statistics and explanations as a user asks for them; files that do not belong together are refused.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits

# change SED FILE: a file of statistics with a change and the checksum of its new bytes, which gzip knows, least byte first
change() {
	sed "$1;s/\"checksum\": \"[0-9a-f]*\"/\"checksum\": \"00000000\"/" "$2" >change.tmp
	local crc
	crc=$(gzip -c change.tmp | tail -c 8 | od -An -tx1 -N4 | awk '{print $4 $3 $2 $1}')
	sed "s/\"checksum\": \"00000000\"/\"checksum\": \"$crc\"/" change.tmp
}

# ---- every method that the help lists compiles; statistics give what samples give ----

quern compile --help | sed -n '/^calibration methods/,$p' | sed -n 's/^  \([a-z_]\+\) .*/\1/p' >methods
[ "$(wc -l <methods)" -ge 12 ] || fail methods "the help lists too few" methods
silent kl calibrate "$E/digits.json" --calib "$E/calib.npy" --method kl -q -o kl.json
silent direct compile "$E/digits.json" --calib "$E/calib.npy" --method kl -q -o direct
silent from-stats compile "$E/digits.json" --stats kl.json --calib "$E/calib.npy" -q -o from
same stats from direct
silent no-samples compile "$E/digits.json" --stats kl.json -q -o bare
same no-samples-code bare/digits.c direct/digits.c
same no-samples-report bare/digits.report.json direct/digits.report.json
grep -q '"options": .*method=kl calib=calib.npy:' direct/digits.report.json || fail report "the method is not recorded"
while read -r m; do
	# their defaults take long with sanitizers
	[ "$m" != kl_tvm ] || m=kl_tvm:bins=301,levels=15
	[ "$m" != output ] || m=output:steps=2
	# it cuts off much, or has one scale for all values, which is a warning
	[ "$m" = avgmax_pr ] && clips=1 || clips=0
	[ "$m" = global ] && far=1 || far=0
	run compile "$E/digits.json" --calib "$E/calib.npy" --method "$m" -q -o "direct-$m" --self-test 0
	[ "$clips$far" != 00 ] || [ ! -s stderr ] || fail "$m" "it is not silent" stderr
	[ "$clips" = 0 ] || grep -q 'clips [0-9.]* % of its elements .*\[calibrate.clip\]' stderr || fail "$m" "no warning" stderr
	[ "$far" = 0 ] || grep -q 'only [0-9.]* dB (SQNR) .*\[accuracy.low\]' stderr || fail "$m" "no warning" stderr
	grep -q "\"options\": .*method=${m%%:*}[: ]" "direct-$m/digits.report.json" || fail "$m" "it is not recorded"
done <methods
silent mse-weights eval "$E/digits.json" --stats kl.json --weight-method mse --data "$E/test_x.npy" --labels "$E/test_y.npy" --sqnr --min-accuracy 97 -q
grep -qE '^sqnr  *[0-9.]+ dB \(mean of [0-9]+ values' stdout || fail sqnr "no line" stdout
silent threads calibrate "$E/digits.json" --calib "$E/calib.npy" --method kl -q -o threads.json --threads 5
same threads threads.json kl.json
# a rounding that comes later does not matter
silent rounding compile "$E/digits.json" --stats kl.json --rounding single -q -o single

# samples are looked at as by compile, and so are recipes and what stays float
bytes 64 "$one" | npy same.npy '<f4' '16, 4'
printf '{"quern": 1, "name": "m", "graph": {"inputs": [{"name": "x", "type": "tensor<1x4xf32>"}],
 "constants": {"w": {"type": "tensor<1x4xf32>", "data": [0.5, -1, 0.25, 1]}},
 "nodes": [{"name": "y", "op": "dense", "inputs": ["x", "w"]}], "outputs": ["y"]}}' >lint.json
run compile lint.json --calib same.npy -q -o lint
grep 'warning' stderr >expected
run calibrate lint.json --calib same.npy -q -o lint-stats.json
cases=$((cases + 1))
grep -q 'data.constant' expected || fail lint "compile warns of nothing" expected
grep 'warning' stderr | diff - expected >difference || fail lint "other warnings than compile has" difference
# Too few samples: fewer than 8, and 12 whose ranges still grow; both commands say so.
for n in 1 5 12; do
	tail -c +129 "$E/calib.npy" | head -c $((n * 256)) | npy few.npy '<f4' "$n, 8, 8, 1"
	for c in "compile --self-test 0 -o few" "calibrate -o few.json"; do
		cases=$((cases + 1))
		quern ${c%% *} "$E/digits.json" --calib few.npy -q ${c#* } 2>stderr || fail "few $n" "it fails" stderr
		case $n in
		1) has_words "few $n" stderr 'digits: warning: 1 sample is too few to calibrate on' ;;
		5) has_words "few $n" stderr 'digits: warning: 5 samples are too few to calibrate on' ;;
		12) has_words "few $n" stderr '12 samples may be too few: ranges still grow' ;;
		esac
		[ "$(grep -c 'data.few' stderr)" = 1 ] || fail "few $n" "not one warning" stderr
	done
done
# A network that 8 bits cannot hold: a small value is added to a large one, which is taken away again.
cat >far.qir <<'END'
model "distant" stage float
graph @main(%x: tensor<1x4xf32>) {
  %k = const : tensor<1x4xf32> splat 1000.0
  %big = mul %x, %k
  %s = sigmoid %x
  %sum = add %big, %s
  %y = sub %sum, %big
  return %y
}
END
tail -c +129 "$E/calib.npy" | head -c 6400 | npy far.npy '<f4' '400, 4'
case_of far 0 'accuracy.low data.constant data.duplicate' 'on 4 samples the outputs are only|quern analyze shows|--activations auto gives' compile -q far.qir --calib far.npy -o far
# An output that is far smaller than its step on the samples that are compared says nothing about the network.
awk 'BEGIN { for (i = 0; i < 40; i++) print i == 7 ? "1,1,1,1" : "0.0001,0.0002,0.00015,0.0001" }' >faint.csv
cat >faint.qir <<'END'
model "faint" stage float
graph @main(%x: tensor<1x4xf32>) {
  %k = const : tensor<1x4xf32> splat 2.0
  %y = mul %x, %k
  return %y
}
END
case_of faint 0 'data.constant data.duplicate data.few' '' compile -q faint.qir --calib faint.csv -o faint
# Samples from all over the data are compared, not the first.
(printf '%s\n' 0,0,0,0 0,0,0,0 0,0,0,0 0,0,0,0; awk 'BEGIN { for (i = 0; i < 36; i++) printf "%d,%d,%d,%d\n", i, -i, i % 7, 2 * i }') >late.csv
case_of late 0 'accuracy.low data.constant data.duplicate' 'on 4 samples the outputs are only' compile -q far.qir --calib late.csv -o late
sed 's/1000\.0/30000.0/' far.qir >farther.qir # nor 16
case_of far-16 3 'accuracy.low data.constant data.duplicate int.multiplier' 'where 16 bits usually reach 35 to 55|lose it, and quern tune tries' compile -q farther.qir --calib far.npy --activations i16 -o far
# 16 bits are low below 20 dB already, and weights of 8 bits with a scale per channel are nothing to repair.
sed 's/1000\.0/7000.0/' far.qir >middle.qir
case_of middle-16 0 'accuracy.low data.constant data.duplicate' 'where 16 bits usually reach 35 to 55' compile -q middle.qir --calib far.npy --activations i16 -o far
{ ! grep -q gptq stderr && grep -Eq 'only 1[1-9](\.[0-9]*)? dB' stderr; } || fail middle-16 'another warning' stderr
# Boxes in pixels and classes in one output: the SQNR does not tell that the classes are lost.
cat >boxes.qir <<'END'
model "boxes" stage float
graph @main(%x: tensor<1x4x2xf32>) {
  %k = const : tensor<1x4x2xf32> splat 300.0
  %pixels = mul %x, %k
  %classes = sigmoid %x
  %rows = concat %pixels, %classes {axis=2}
  %turned = transpose %rows {perm=[0,2,1]}
  %y = reshape %turned {shape=[4,4]}
  return %y
}
END
awk 'BEGIN { for (i = 1; i <= 3200; i++) printf "%.4f%s", i * i * 7919 % 10007 / 10007 - 0.4, i % 8 ? "," : "\n" }' >boxes.csv
case_of joined 0 accuracy.joined "output 'y' joins values of different sizes|of those of 'classes', which reach 0.6|--cut for each" compile -q boxes.qir --calib boxes.csv -o boxes
case_of joined-16 0 '' '' compile -q boxes.qir --calib boxes.csv --activations i16 -o boxes
sed 's/300\.0/9.0/' boxes.qir >near.qir
case_of joined-near 0 '' '' compile -q near.qir --calib boxes.csv -o near
# Samples scaled otherwise than for the training: only the biases are left, whatever a sample is.
cat >flat.qir <<'END'
model "flat" stage float
graph @main(%x: tensor<1x4xf32>) {
  %w = const : tensor<3x4xf32> [1.0, -1.0, 0.5, 0.0, 0.0, 1.0, -1.0, 0.5, -0.5, 0.0, 1.0, -1.0]
  %b = const : tensor<3xf32> [0.5, -0.25, -0.25]
  %logits = dense %x, %w, %b
  %y = softmax %logits
  return %y
}
END
awk 'BEGIN { for (i = 1; i <= 160; i++) printf "%.4f%s", 5 * (i * i * 7919 % 10007 / 10007 - 0.5), i % 4 ? "," : "\n" }' >flat.csv
case_of flat-right 0 '' '' compile -q flat.qir --calib flat.csv -o flat
case_of flat-wrong 0 data.outputs "on 32 samples output 'y' differs from sample to sample by 2|--input-scale, --mean, --std" compile -q flat.qir --calib flat.csv --input-scale 0.0039215686 -o flat
case_of flat-eval 0 data.outputs '' eval -q flat.qir --calib flat.csv --input-scale 0.0039215686 --data flat.csv --against flat.qir
case_of flat-analyze 0 data.outputs '' analyze -q flat.qir --calib flat.csv --input-scale 0.0039215686
case_of flat-calibrate 0 data.outputs '' calibrate -q flat.qir --calib flat.csv --input-scale 0.0039215686
# Nearly all samples are silence, those that are compared first among them: not all.
awk 'NR % 10 == 1 { print "0.01,0.02,0,0.01" } NR % 10 != 1' flat.csv >rare.csv
case_of flat-rare 0 data.duplicate '' compile -q flat.qir --calib rare.csv -o flat
# Measurements of several units are far apart without a softmax, and a row of the input's shape has no classes.
sed 's/0\.5, -0\.25/5.0, -2.5/;/softmax/d;s/return %y/return %logits/' flat.qir >units.qir
case_of flat-units 0 '' '' compile -q units.qir --calib flat.csv --input-scale 0.1 -o flat
case_of flat-units-wrong 0 data.outputs '' compile -q units.qir --calib flat.csv --input-scale 0.0039215686 -o flat
# What ranges cut off is in the report, also of a model that was saved between.
silent 'clipped' compile "$E/digits.json" --calib "$E/calib.npy" --method percentile:p=99 -q -o clipped
has_words 'clipped' clipped/digits.report.json '"clipped": [|{"value": "residual.a", "outside": 1967, "elements": 204800, "percent": 0.96044921875}'
grep -q '"clipped"' direct-minmax/digits.report.json && fail 'clipped' "minmax cuts something off"
for f in clipped.qir clipped.json; do
	silent "$f" opt "$E/digits.json" --calib "$E/calib.npy" --method percentile:p=99 --stop-after legalize -q -o "$f"
	silent "$f" compile "$f" -q --self-test 0 -o from-clipped
	cases=$((cases + 1))
	grep -A99 '"clipped"' clipped/digits.report.json | grep '"value"' >expected
	grep '"value"' from-clipped/digits.report.json | diff - expected >difference || fail "$f" "other shares" difference
done
# A compilation without a self-test takes that of the one before along, which would not build with it.
[ -e clipped/digits_selftest.c ] || fail 'no self-test' "there was none before"
silent 'no self-test' compile "$E/digits.json" --calib "$E/calib.npy" -q --self-test 0 -o clipped
[ ! -e clipped/digits_selftest.c ] || fail 'no self-test' "the old one is there"
[ "$(ls clipped | wc -l)" -eq 5 ] || fail 'no self-test' "other files are missing"
# What needs no samples has a self-test of values that are drawn, always the same, and it finds a wrong weight.
silent drawn opt "$E/digits.json" --calib "$E/calib.npy" --stop-after legalize -q -o drawn.json
cat >rows.qir <<'END'
model "rows" stage integer
graph @main(%i: tensor<2x3xi32>, %x: tensor<1x4x!quant.uniform<u8:f32, 0.5:128>>) {
  %t = const : tensor<200x4x!quant.uniform<i8:f32, 0.25>> rand 7
  %y = gather %t, %i {axis=0}
  %z = reshape %x {shape=[4,1]}
  return %y, %z
}
END
for f in drawn.json rows.qir; do
	silent "$f drawn" compile "$f" -q --name net --self-test 3 -o drawn
	has_words "$f drawn" stdout 'self-test    3 samples of pseudo-random values|_selftest.c'
	silent "$f again" compile "$f" -q --name net --self-test 3 -o again
	cmp -s drawn/net_selftest.c again/net_selftest.c || fail "$f again" 'other values'
	cc -std=c99 -O1 -DNET_TRACE -DNET_SELFTEST_MAIN drawn/*.c -o selftest && ./selftest >log || fail "$f drawn" 'the self-test fails' log
done
silent 'drawn none' compile drawn.json -q --name net -o drawn
has_words 'drawn none' stdout 'it needs samples: --calib; --self-test 4 draws them'
silent 'drawn wrong' compile drawn.json -q --name net --self-test 1 -o drawn
sed '/_conv1_w\[/,/}/s/-\([0-9]\)/\1/' drawn/net_weights.c >wrong.c
cmp -s drawn/net_weights.c wrong.c && fail 'drawn wrong' 'nothing was changed'
cc -std=c99 -O1 -Idrawn -DNET_SELFTEST_MAIN drawn/net.c wrong.c drawn/net_selftest.c -o selftest && ./selftest >log && fail 'drawn wrong' 'the self-test passes' log
# More may be cut off when that is asked for, by the guarded methods alone.
silent 'clip' compile "$E/digits.json" --calib "$E/calib.npy" --method kl:clip=100 -q -o clip
grep -q '"options": .*method=kl:clip=100 ' clip/digits.report.json || fail clip "it is not recorded"
usage 'clip, other method' "method.param|unknown parameter 'clip' of calibration method percentile (expected p)" compile "$E/digits.json" --calib "$E/calib.npy" --method percentile:clip=2 -q -o o
usage 'clip, value' "method.value|'101' of parameter clip of calibration method" compile "$E/digits.json" --calib "$E/calib.npy" --method kl_tvm:clip=101 -q -o o
printf '{"rules": [{"name": "pw*", "activations": "i16"}]}' >mixed.json
silent 'recipe observed' calibrate "$E/digits.json" --calib "$E/calib.npy" --recipe mixed.json --skip last -q -o mixed-stats.json
silent 'recipe by statistics' opt "$E/digits.json" --stats mixed-stats.json --recipe mixed.json --skip last --stop-after bind -q -o mixed-stats.qir
silent 'recipe by samples' opt "$E/digits.json" --calib "$E/calib.npy" --recipe mixed.json --skip last --stop-after bind -q -o mixed-samples.qir
same 'recipe by statistics' mixed-stats.qir mixed-samples.qir
printf '{"rules": [{"name": "pw*", "method": "kl"}]}' >methods.json
case_of 'methods observed' 1 stats.method "the recipe has others ('kl')|without statistics" \
	calibrate "$E/digits.json" --calib "$E/calib.npy" --recipe methods.json -q -o o.json

# ---- explanations ----

silent table calibrate "$E/digits.json" --calib "$E/calib.npy" -q
has_words table stdout 'method       minmax|samples      200 of calib.npy|$conv1.x|$probs.x|largest at'
[ "$(grep -c '^\$' stdout)" -eq "$(grep -c '"name"' kl.json)" ] || fail table "not a line for each value" stdout
cp stdout table
silent 'explain all' calibrate "$E/digits.json" --calib "$E/calib.npy" -q --explain all
same 'explain all' stdout table
silent explain calibrate "$E/digits.json" --stats kl.json -q --explain '$probs.x'
has_words explain stdout 'value        logits.acc, asymmetric, symbol $probs.x|method       kl|range |parameters   scale |smallest |largest |clipped      0.|####'
cp stdout explained
silent 'explain by symbol' calibrate "$E/digits.json" --stats kl.json -q --explain probs.x
same 'explain by symbol' stdout explained
# three samples, the first of which has the smallest value and the last the largest
{ bytes 3 "$one"; bytes 1 '\000\000\040\301'; bytes 6 "$one"; bytes 1 '\000\000\240\101'; bytes 1 "$one"; } | npy x.npy '<f4' '3, 4'
cat >m.json <<'E'
{"quern": 1, "name": "m", "graph": {"inputs": [{"name": "x", "type": "tensor<1x4xf32>"}],
 "constants": {"w": {"type": "tensor<2x4xf32>", "data": [0.5, -1, 0.25, 1, 1, 0.5, -0.25, 0.75]}},
 "nodes": [{"name": "y", "op": "dense", "inputs": ["x", "w"]}], "outputs": ["y"]}}
E
silent samples calibrate m.json --calib x.npy -q --explain x
has_words samples stdout 'smallest     -10 in sample 0|largest      20 in sample 2|clipped      0 % of 12'

# Columns begin under their titles, whatever the length of a name.
sed 's|"y"|"functional_1/activation_3/Relu_1"|g' m.json >long.json
silent 'long names' calibrate long.json --calib x.npy -q
grep -qF 'functional_1/activation_3/Relu_1.x ' stdout || fail 'long names' 'no such value' stdout
for table in stdout table; do
	cases=$((cases + 1))
	awk '/^value/ { at[1] = index($0, "range"); at[2] = index($0, "scale"); at[3] = index($0, "clipped"); at[4] = index($0, "smallest") }
		/^\$/ { n++; for (k in at) if (substr($0, at[k] - 1, 1) != " " || substr($0, at[k], 1) == " ") bad = 1 }
		END { exit bad || n == 0 }' $table || fail 'long names' 'a value is not under its title' $table
done

# samples that are files of their own are told by their names
mkdir pictures
for k in 1 2 3; do
	printf 'P2 2 2 255 %d %d 0 0' $((k % 2 * 100)) $((k == 2 ? 90 : 7)) >pictures/p$k.pgm
done
cat >p.json <<'E'
{"quern": 1, "name": "p", "graph": {"inputs": [{"name": "x", "type": "tensor<1x2x2x1xf32>"}],
 "constants": {"w": {"type": "tensor<1x1x1x1xf32>", "data": [-1]}},
 "nodes": [{"name": "y", "op": "conv2d", "inputs": ["x", "w"]}], "outputs": ["y"]}}
E
run calibrate p.json --calib pictures --input-scale 1 --explain y.output -q
has_words pictures stdout 'smallest     -100 in sample 0, pictures/p1.pgm|largest      0 in sample 0, pictures/p1.pgm'
quern calibrate p.json --calib pictures --input-scale 1 -q -o p-stats.json 2>/dev/null
grep -q p1.pgm p-stats.json && fail pictures "a path is in the statistics"

# ---- wrong command lines ----

c="calibrate m.json --calib x.npy -q"
for s in 0/2 3/2 1 1/ /2 1/2/3 -1/2 a/b ' 1/2' '1/ 2' 1/99999999; do
	usage "shard '$s'" "--shard|'$s'" $c -o o.json --shard "$s"
done
usage shard-without-file '-o FILE.json' $c --shard 1/2
usage shard-explained 'quern merge' $c --shard 1/2 -o o.json --explain all
usage ending "FILE.json" $c -o out.txt
usage model-as-output 'overwrite the model' $c -o m.json
usage value "explain.value|'z'|--explain all" $c --explain z
usage value-of-weights "explain.value|come from a constant" $c --explain y.w
usage method "method.unknown|'mean'|minmax|kl_tvm" $c --method mean -o o.json
usage method-parameter "method.param|'q' of calibration method kl_ort (expected bins, levels or clip)|bins, levels" $c --method kl_ort:q=1 -o o.json
usage method-value "method.value|parameter p of calibration method percentile|50" $c --method percentile:p=10 -o o.json
usage method-steps "method.value|'1' of parameter steps of calibration method output (expected an integer from 2 to 1000)" $c --method output:steps=1 -o o.json
usage method-observes-nothing 'stats.method|global' $c --method global -o o.json
usage merge-without-output 'missing option: -o FILE.json' merge kl.json
usage merge-nothing 'missing argument' merge -o o.json
usage weight-method "--weight-method|'median'|max or mse" compile m.json --calib x.npy --weight-method median -o o.json

# ---- files that do not belong together ----

quern calibrate m.json --calib x.npy -q --shard 1/3 -o s1.json
quern calibrate m.json --calib x.npy -q --shard 2/3 -o s2.json
quern calibrate m.json --calib x.npy -q --method kl_ort -o ort.json
quern calibrate m.json --calib x.npy -q --method kl_ort --shard 1/1 -o ort1.json
quern calibrate m.json --calib x.npy -q -o m-all.json
bytes 12 "$one" | npy y.npy '<f4' '3, 4'
quern calibrate m.json --calib y.npy -q --shard 3/3 -o y3.json
sed 's/0.75/0.625/' m.json >n.json
quern calibrate n.json --calib x.npy -q --shard 3/3 -o n3.json
case_of overlap 1 stats.overlap 's1.json|sample 0 is in more than one' merge s1.json s2.json s1.json -o o.json -q
case_of other-samples 1 stats.mismatch 'y3.json|the samples' merge s1.json y3.json -o o.json -q
case_of other-model 1 stats.mismatch 'n3.json|the model' merge s1.json n3.json -o o.json -q
case_of other-method 1 stats.mismatch 'ort1.json|the method' merge s2.json ort1.json -o o.json -q
case_of other-pass 1 stats.mismatch 'ort1.json|the pass' merge ort.json ort1.json -o o.json -q
quern merge s1.json s2.json -o s12.json
case_of missing-shard 1 stats.incomplete 'samples 2 to 2 of 3|merge them' compile m.json --stats s12.json -o out -q
case_of first-pass 1 stats.pass 'kl_ort takes 2 passes|this is pass 1|--stats' compile m.json --stats ort1.json -o out -q
case_of next-shard 1 stats.incomplete 'samples 2 to 2' calibrate m.json --calib x.npy --stats s12.json --shard 1/3 -o o.json -q
case_of rest-of-the-pass 1 stats.incomplete 'samples 2 to 2' calibrate m.json --calib x.npy --stats s12.json -o o.json -q
change 's/"batches": 3/"batches": 4/' ort1.json >batches.json
case_of stats-batches 1 stats.incomplete 'samples 3 to 3' compile m.json --stats batches.json -o out -q
change 's/"batches": 3/"batches": 4/;s/\[0, 3\]/[0, 4]/' ort1.json >batches.json
case_of stats-other-count 1 stats.mismatch '4 batches|3' calibrate m.json --calib x.npy --stats batches.json -o o.json -q
case_of no-next-pass 2 stats.done 'needs no further pass' calibrate m.json --calib x.npy --stats m-all.json --shard 1/3 -o o.json -q
case_of stats-of-another 1 stats.mismatch "'m'|calibrate this model" compile n.json --stats m-all.json -o out -q
case_of stats-other-weights 1 stats.mismatch '--weights' compile m.json --stats m-all.json --weights per-tensor -o out -q
case_of stats-other-method 1 stats.mismatch 'minmax|kl' compile m.json --stats m-all.json --method kl -o out -q
case_of stats-other-samples 1 stats.mismatch 'y.npy:|x.npy:' compile m.json --stats m-all.json --calib y.npy -o out -q
case_of stats-encodings 2 encodings.stats 'remove one of them' compile m.json --stats m-all.json --encodings e.json -o out -q
case_of stats-missing 1 file.open 'none.json: error' compile m.json --stats none.json -o out -q
case_of stats-model 1 stats.version 'm.json|version 2' compile m.json --stats m.json -o out -q
head -c 300 m-all.json >cut.json
case_of stats-cut 1 json.syntax 'cut.json:' compile m.json --stats cut.json -o out -q
sed 's/"n": 12/"n": 13/' m-all.json >count.json
case_of stats-changed 1 stats.checksum 'count.json: error: the file was changed' compile m.json --stats count.json -o out -q
change 's/"n": 12/"n": 13/' m-all.json >count.json
case_of stats-count 1 stats.value 'count.json:/values/0/grid|all values' compile m.json --stats count.json -o out -q
case_of no-data 1 calibrate.no-data '--calib' calibrate m.json -o o.json -q
quern opt m.json --calib x.npy --stop-after bind -o bound.qir -q
case_of late 1 pass.stage 'calibrated' calibrate bound.qir --calib x.npy -o o.json -q
[ ! -e o.json ] || fail outputs "a failed run left o.json"

finish
