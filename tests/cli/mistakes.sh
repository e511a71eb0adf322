#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mistakes.sh - options without effect, files that are not what their names say, values of a wrong form: each is named once,
# with its value and the way out.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits
calib=(--calib "$E/calib.npy")

# once NAME "word": it is in one line of stderr
once() {
	[ "$(grep -cF -e "$2" stderr)" -eq 1 ] || fail "$1" "'$2' is not there once" stderr
}

# ---- options of samples ----

for o in '--mean 0.5' '--std 2' '--input-scale 0.5' '--input-zero 3' '--layout nchw'; do
	usage "${o% *} alone" "quern opt: ${o% *} '${o#* }' is for samples, and there are none" opt "$E/digits.json" $o -o o.json
done
silent 'with samples' opt "$E/digits.json" "${calib[@]}" --mean 0.5 --stop-after calibrate -o o.qir -q
for o in '--input-scale abc' '--shape 8y8' '--shape 8,8,' '--shape 1,1,1,1,1,1,1,1'; do
	usage "wrong ${o% *}" "${o% *}: invalid value '${o#* }'" eval "$E/digits.json" --data "$E/test_x.npy" "${calib[@]}" $o
	once "wrong ${o% *}" 'invalid value'
done
tail -c +129 "$E/test_x.npy" | head -c 2560 >x.bin
good x compile "$E/digits.json" --calib x.bin --shape 8x8x1 --self-test 0 -o by-x -q
good comma compile "$E/digits.json" --calib x.bin:shape=8,8,1 --self-test 0 -o by-comma -q
same shape by-x by-comma
usage colons "samples: invalid value '$E/calib.npy:scale=2:mean=0.5' (expected commas between options" \
	compile "$E/digits.json" --calib "$E/calib.npy:scale=2:mean=0.5" -o out
head -c 640 x.bin >short.bin
case_of dtype 1 data.size 'short.bin: error: 640 bytes|256 bytes (f32)|--dtype' eval "$E/digits.json" --data short.bin --shape 8,8,1 -q
case_of 'other dtype' 1 data.size '640 bytes are not a multiple of the sample size of 512 bytes (f64)' eval "$E/digits.json" --data short.bin --shape 8,8,1 --dtype f64 -q
grep -q 'f64); f32' stderr && fail 'other dtype' "the type was given" stderr
printf 'a;b\n1;2\n' >narrow.csv
case_of table 1 data.shape "shape [1,2] (a table of 2 columns separated by ';', after a header line), but input 'image'" eval "$E/digits.json" --data narrow.csv -q
printf '1\n2\n' >one.csv
case_of 'table of one' 1 data.size "a row has 1 numbers (a table of 1 column, without a header line), but --shape says 64" eval "$E/digits.json" --data one.csv --shape 8,8,1 -q

# ---- names of options ----

usage calibration "unknown option: --calibration; did you mean '--calib'?" compile "$E/digits.json" --calibration "$E/calib.npy" -o out

# ---- files ----

for f in net.h5 net.bin net nothing/net.onnx; do
	case_of "no $f" 1 file.open "$f: error: No such file or directory" inspect "$f"
done
mkdir saved
case_of folder 2 model.format 'saved: error: this is a file or folder without an extension|from_saved_model' inspect saved
printf '\034\000\000\000TFL3\000\000' >tfl3
for f in net.onnx=1:import.file net.bin=2:model.format net=2:model.format net.pb=2:model.format; do
	how=${f#*=} f=${f%=*}
	cp tfl3 "$f"
	case_of "TFLite as $f" "${how%:*}" "${how#*:}" "$f: error: this is a TFLite model|rename it to .tflite" inspect "$f"
done
silent saved opt "$E/digits.json" -o moved.json -q
rm moved.safetensors
case_of 'no constants' 1 file.open 'moved.safetensors: error: No such file or directory; moved.json has its constants there' inspect moved.json
cp "$E/test_y.npy" labels.npy
head -c 184 "$E/test_y.npy" | sed '1s/(500,), }/(7,), }  /' >a.npy
cp a.npy b.npy
if npz ab.npz a.npy b.npy && npz a.npz a.npy; then
	case_of 'no labels' 1 data.labels "no array is named 'labels': it has 'a', 'b'" eval "$E/digits.json" --data "$E/test_x.npy" --labels ab.npz -q
	case_of 'few labels' 1 data.labels "array 'a': 7 labels of i64 for 500 samples" eval "$E/digits.json" --data "$E/test_x.npy" --labels a.npz -q
fi
sed 's/"bitwidth": 8/"bitwidth": 7/' >encodings.json <<'Y'
{"version": "0.6.1", "activation_encodings": {"image": [{"bitwidth": 8, "min": 0.0, "max": 1.0, "dtype": "int"}]}, "param_encodings": {}}
Y
case_of encodings 1 encodings.value "of 'image': is not a valid width|; it is 7 [" compile "$E/digits.json" "${calib[@]}" --encodings encodings.json -o out -q

# ---- what stays in float is named once, with the option that says so ----

case_of averages 3 legalize.float "avg_pool 'pool2' stays in float: integer averages round, and --no-approx" compile "$E/digits.json" "${calib[@]}" --no-approx -o out -q
once averages "'pool2'"
cat >one.qir <<'Y'
graph @main(%x: tensor<1x4xf32>) {
  %y = relu %x
  return %y
}
Y
printf '1,2,3,4\n-1,2,-3,4\n' >one.csv
good 'one step' compile one.qir --calib one.csv -o out -q
has_words 'one step' stdout 'in 1 step: '
has_words 'one step' out/one.h ', 1 step'

# ---- options that a quantized file leaves nothing to do ----

if [ -d "${QUERN_DATA:-}/models" ]; then
	kws=$QUERN_DATA/models/kws_int8.tflite
	case_of no-approx 2 option.late 'no-approx: error: the model is quantized already|--from-float' compile "$kws" --no-approx -o out -q
	case_of method 2 option.late 'method: error: the model is quantized already|--from-float' compile "$kws" --calib "$QUERN_DATA/samples/kws_x.npy" --method percentile -o out -q
	case_of skip 2 pass.absent 'skip: error: |the model is quantized already|--from-float' compile "$kws" --skip first -o out -q
	echo '{"rules": [{"weights": "i4"}]}' >r.json
	case_of recipe 2 pass.absent 'recipe: error: |the model is quantized already|--from-float' compile "$kws" --recipe r.json -o out -q
	good tested compile "$kws" --calib "$QUERN_DATA/samples/kws_x.npy" --input-zero 83 --input-scale 0.5847029 -o out -q
	has_words tested out/kws_int8.h 'The model was tested on x = ((sample - ZERO)'
fi
silent calibrated compile "$E/digits.json" "${calib[@]}" --input-scale 0.5 -o out -q
has_words calibrated out/digits.h 'The model was calibrated on x = ((sample - ZERO)'
silent explained compile "$E/digits.json" "${calib[@]}" --explain kernels -o out -q
has_words explained stdout ' bytes of constants'
grep -q 'another target' stdout && fail explained "kernels of other targets are listed" stdout

finish
