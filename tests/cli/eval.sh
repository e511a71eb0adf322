#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# eval.sh - what eval measures: layers that stay float, labels of subfolders beside a float row, quantized files, arrays with
# dims of 1 at other places, and whose input a message is about.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
on=(--calib "$E/calib.npy" --data "$E/test_x.npy" --labels "$E/test_y.npy" -q)

# ---- layers that stay float: as opt leaves them after requantize ----

echo '{"rules": [{"name": "conv1", "skip": true}]}' >skip.json
for skip in '--skip first' '--recipe skip.json'; do
	# shellcheck disable=SC2086
	silent "$skip" eval "$E/digits.json" "${on[@]}" $skip --min-accuracy 97
	[ "$(cut -d' ' -f1 stdout | tr '\n' ' ')" = 'float calibrated ' ] || fail "$skip" "other rows" stdout
	grep '^calibrated' stdout >by-eval
	# shellcheck disable=SC2086
	silent "$skip, opt" opt "$E/digits.json" --calib "$E/calib.npy" -q $skip --stop-after requantize -o skipped.qir
	silent "$skip, opt and eval" eval skipped.qir --data "$E/test_x.npy" --labels "$E/test_y.npy" -q
	same "$skip" stdout by-eval
	# shellcheck disable=SC2086
	silent "$skip, sqnr" eval "$E/digits.json" "${on[@]}" $skip --sqnr
	has_words "$skip, sqnr" stdout 'calibrated |sqnr '
done
case_of 'skip, compile' 3 legalize.float "skipped by 'first'" compile "$E/digits.json" --calib "$E/calib.npy" --skip first -o out -q

# What compile and opt take and what changes results, eval takes as well.
for o in --merge-always --inline-bodies; do
	silent "$o" eval "$E/digits.json" "${on[@]}" $o
	grep '^integer' stdout >measured
	good "$o, opt" opt "$E/digits.json" --calib "$E/calib.npy" $o --stop-after legalize -o lowered.qir -q
	good "$o, lowered" eval lowered.qir --data "$E/test_x.npy" --labels "$E/test_y.npy" -q
	cmp -s stdout measured || fail "$o" "opt makes another model" stdout
done

# ---- labels of subfolders, whose names are numbers ----

class_folders classes
silent 'subfolders' eval "$E/digits.json" --calib classes --data classes --input-scale 0.0625 -q
[ "$(awk '{print $1, $2}' stdout | tr '\n' ' ')" = 'float top1 integer top1 ' ] || fail subfolders "other rows" stdout

# ---- a model that came quantized as a whole runs in integers ----

cat >came.qir <<'END'
model "came" stage calibrated
graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 0.5>>) {
  %y = requantize %x : tensor<1x4x!quant.uniform<i8:f32, 0.25>>
  return %y
}
END
bytes 8 '\001\002\003\004' | npy codes.npy '|i1' '8, 4'
silent came eval came.qir --data codes.npy --against came.qir -q
grep -q '^integer ' stdout || fail came "its row is not integer" stdout
silent 'came, inspect' inspect came.qir
grep -q '^model *came (quantized)$' stdout || fail 'came, inspect' "other stage" stdout
case_of 'came, late' 2 option.late 'quantized already|--from-float --calib' compile came.qir --activations u8 -o out -q
case_of 'came, analyze' 1 analyze.stage 'quantized already|--from-float' analyze came.qir --calib codes.npy -q

# ---- samples that cannot be read are not none ----

case_of 'no file' 1 file.open 'nofile.npy' eval "$E/digits.json" --data nofile.npy --input-scale 0.25 -q
grep -q 'there are none' stderr && fail 'no file' "the option is blamed" stderr
case_of 'no samples' 2 '' "--input-scale '0.25' is for samples" compile came.qir --input-scale 0.25 -o out -q

# ---- an autoencoder: what it gives has the shape of its input, and no classes ----

cat >auto.qir <<'END'
model "auto" stage float
graph @main(%x: tensor<1x2xf32>) {
  %w = const : tensor<2x2xf32> [1, 0.5, -0.5, 1]
  %y = dense %x, %w
  return %y
}
END
bytes 1 '\001\002\003\004\375\002\007\000\002\002\375\005\004\001\000\003' >two.npy.raw
npy two.npy '|i1' '8, 2' <two.npy.raw
auto=(auto.qir --calib two.npy --data two.npy --input-scale 0.25 --input-zero 0 -q)
good autoencoder eval "${auto[@]}"
[ "$(awk '$1 == "integer" {print $2}' stdout | tr '\n' ' ')" = 'mse mae max-diff cosine sqnr agreement ' ] ||
	fail autoencoder "other rows, or agreement is not the last" stdout
good 'autoencoder, analyze' analyze "${auto[@]}"
grep -qE 'agreement|loss' stdout && fail 'autoencoder, analyze' "it counts classes" stdout
good 'autoencoder, tune' tune "${auto[@]}" --no-repairs --max-weights 1K -o auto.recipe.json
has_words 'autoencoder, tune' auto.recipe.json 'sqnr '

# ---- log of values that are rounded to 0: the calibrated graph and the integer one have the same numbers, and 16 bits for
# the layer that reads it do no harm ----

cat >pole.qir <<'END'
model "pole"
graph @main(%x: tensor<1x8xf32>) {
  %a = abs %x
  %p = log %a
  %w = const : tensor<4x8xf32> rand 3
  %y = dense %p, %w
  return %y
}
END
awk 'BEGIN { for (i = 1; i <= 2048; i++) printf "%.4f%s", (i * i * 7919 + i * 104729) % 10007 / 5003.5 - 1, i % 8 ? "," : "\n" }' >pole.csv
echo '{"rules": [{"name": "y", "activations": "i16"}]}' >pole.json
pole=(pole.qir --calib pole.csv -q)
for recipe in '' '--recipe pole.json'; do
	good "pole $recipe" eval "${pole[@]}" $recipe --data pole.csv --against pole.qir --min sqnr=17
	awk '/^integer +sqnr/ {print $3}' stdout >pole.integer
	silent "pole $recipe, calibrated" opt "${pole[@]}" $recipe --stop-after=bind -o pole.bound.json
	good "pole $recipe, eval" eval pole.bound.json -q --data pole.csv --against pole.qir
	awk '/^calibrated +sqnr/ {print $3}' stdout >pole.calibrated
	awk '{ getline other <"pole.integer"; exit !($1 > 0 && ($1 - other) ^ 2 < 0.04) }' pole.calibrated || fail "pole $recipe" 'the calibrated graph differs from the integer one' pole.integer
done

# ---- a sequence along dimension 0: a run is a sample ----

cat >major.qir <<'END'
model "major"
graph @main(%x: tensor<4x1x2xf32>) {
  %w = const : tensor<3x8xf32> rand 1
  %r = reshape %x {shape=[1,8]}
  %y = dense %r, %w
  return %y
}
END
npy major.npy '|i1' '8, 1, 2' <two.npy.raw
bytes 1 '\001\000\000\000\002\000\000\000' | npy major.labels.npy '<i4' '2,'
bytes 8 '\001\000\000\000' | npy major8.npy '<i4' '8,'
major=(major.qir --calib major.npy --data major.npy --input-scale 0.25 --input-zero 0 -q)
good 'time major' eval "${major[@]}" --labels major.labels.npy --against major.qir
has_words 'time major' stdout '(2 of 2)'
case_of 'time major, labels' 1 data.labels '8' eval "${major[@]}" --labels major8.npy

# ---- shapes: dims of 1 may be at other places; whose input is meant ----

cp "$E/test_x.npy" moved.npy
sed -i '1s/(500, 8, 8, 1)/(500, 1, 8, 8)/' moved.npy
silent moved run "$E/digits.json" moved.npy -q -o moved.out.npy
silent 'not moved' run "$E/digits.json" "$E/test_x.npy" -q -o out.npy
same moved moved.out.npy out.npy
sed '1s/(500, 8, 8, 1)/(500, 4,16, 1)/' "$E/test_x.npy" >other.npy
case_of 'other shape' 1 data.shape 'has shape [500,4,16,1]' run "$E/digits.json" other.npy -q
case_of reference 1 data.shape "input 'x'|(in the reference model 'came')" eval "$E/digits.json" --against came.qir --data "$E/test_x.npy" -q

finish
