#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bad-samples.sh - what the program says to samples, labels, figures and accuracies that are wrong.
. "$(dirname "$0")/good-model.inc"

# ---- samples ----

# samples NAME CODE "ids" "words": NAME.npy is wrong, for compile and for run.
samples() {
	case_of "compile-$1" "$2" "$3" "$1.npy|$4" compile good.json --calib "$1.npy" -o out -q
	case_of "run-$1" "$2" "$3" "$1.npy|$4" run good.json "$1.npy" -o out.npy -q
	case_of "eval-$1" "$2" "$3" "$1.npy|$4" eval good.json --data "$1.npy" --labels labels.npy -q
}

case_of samples-missing 1 file.open 'nothing.npy: error|No such file' compile good.json --calib nothing.npy -o out -q
: | npy none.npy '<f4' '0, 4'
samples none 1 data.empty 'no samples'
bytes 15 "$one" | npy wide.npy '<f4' '3, 5'
samples wide 1 data.shape "[3,5]|'x'|[1,4]"
bytes 4 "$one" | npy flat.npy '<f4' '4,'
samples flat 1 data.shape "[4]|'x'|[1,4]"
printf 'model "m" stage float\ngraph @main(%%x: tensor<1x2x3x5xf32>) {\n %%y = relu %%x\n return %%y\n}\n' >first.qir
bytes 30 "$one" | npy last.npy '<f4' '1, 3, 5, 2'
case_of samples-layout 1 data.shape "[1,3,5,2]|[1,2,3,5]|channels first|transpose(0, 3, 1, 2)" run first.qir last.npy -o out.npy -q
bytes 12 '\001' | npy bytes.npy '|u1' '3, 4'
samples bytes 1 data.type "u8|'x'|f32|--input-scale 0.00392156862745098 for 0 to 1|--input-zero 127.5"
bytes 12 '\001' | npy codes.npy '|i1' '3, 4'
samples codes 1 data.type "i8|'x'|f32|float value = (quantized value - Z) * S"
bytes 12 '\001\000\000\000' | npy numbers.npy '<i4' '3, 4'
samples numbers 1 data.type "i32|'x'|f32|--input-scale 1 takes them"
printf 'model "q" stage integer\ngraph @main(%%x: tensor<1x4x!quant.uniform<i8:f32, 0.5:-3>>) {\n %%y = slice %%x {begin = [0, 0], end = [1, 4]}\n return %%y\n}\n' >taken.qir
case_of samples-u8-codes 1 data.type "bytes.npy: error|has elements of type u8|takes i8|float values / 0.5 + -3|--input-zero 125 --input-scale 0.5 if they are these quantized values plus 128" \
	run taken.qir bytes.npy -o out.npy -q
case_of samples-u8-taken 0 "" "" run taken.qir bytes.npy --input-zero 125 --input-scale 0.5 -o coded.npy -q
# Codes of the model are real values for a reference that does not take the same codes.
sed 's/integer/float/;s/!quant[^>]*>/f32/' taken.qir >real.qir
sed 's/0.5:-3/0.25:1/' taken.qir >other.qir
for reference in real other taken; do
	case_of "codes against $reference" 0 "" "" eval taken.qir --data codes.npy --against $reference.qir --max max-diff=0 -q
done
{ bytes 6 "$one"; bytes 1 "$nan"; bytes 5 "$one"; } | npy nan.npy '<f4' '3, 4'
samples nan 1 data.nonfinite 'sample 1, element 2|nan'
mkdir -p in/side
cp nan.npy none.npy in/side
case_of folder-nan 1 data.nonfinite 'in/side/nan.npy: error' compile good.json --calib in/side/nan.npy -o out -q
case_of folder-none 1 data.empty 'in/side/none.npy: error' compile good.json --calib in/side/none.npy -o out -q
{ bytes 11 "$one"; bytes 1 "$inf"; } | npy inf.npy '<f4' '3, 4'
samples inf 1 data.nonfinite 'sample 2, element 3|-inf'
bytes 11 "$one" | npy short.npy '<f4' '3, 4'
samples short 1 npy.truncated '44|48'
bytes 13 "$one" | npy long.npy '<f4' '3, 4'
samples long 1 npy.size '52|48'
: >nothing-in.npy
samples nothing-in 1 npy.magic 'NUMPY'
cp good.json text.npy
samples text 1 npy.magic 'NUMPY'
head -c 60 ok.npy >header.npy
samples header 1 npy.truncated 'header'
bytes 12 "$one" | npy swapped.npy '>f4' '3, 4'
samples swapped 3 npy.dtype '>f4'
bytes 12 "$one" | npy fortran.npy '<f4' '3, 4' True
samples fortran 3 npy.order 'ascontiguousarray'
mkdir dir.npy
samples dir 1 file.read 'not a regular file'

# Other sources.  picture NAME W H: a grey PNM of W x H.
picture() {
	printf 'P2 %d %d 9 %s' "$2" "$3" "$(seq $(($2 * $3)) | sed 's/.*/7/' | tr '\n' ' ')" >"$1"
}
edit photo 's/tensor<1x4xf32>/tensor<1x2x2x1xf32>/;s/"dense", "inputs": \["x", "w"\]/"relu", "inputs": ["x"]/;/"constants"/,/^    },/d'
sed 's/8//' <<'END' >table.csv
a,b,c,d
1,2,3,4
5,6,x,7
END
case_of csv-number 1 csv.number "table.csv:3: error|cell 3: 'x'" compile good.json --calib table.csv -o out -q
printf '1,2,3,4\n1,2\n' >ragged.csv
case_of csv-columns 1 csv.columns 'ragged.csv:2: error|2 cells|4' run good.json ragged.csv -o out.npy -q
printf '1,2,3\n' >narrow.csv
case_of csv-shape 1 data.shape "narrow.csv: error|[1,3]|'x'|[1,4]" run good.json narrow.csv -o out.npy -q
printf '1,2,3,4\n' >row.csv
case_of csv-option 1 data.size "row.csv: error|4 numbers" run good.json row.csv --shape 5 -o out.npy -q
case_of csv-good 0 "" "" run good.json row.csv -o row.npy -q
case_of input-name 1 data.input "unknown input 'y'|'x'" run good.json y=row.csv -o out.npy -q
case_of input-good 0 "" "" run good.json x=row.csv -o row.npy -q
cp row.csv 'a=b.csv'
case_of input-slash 0 "" "" run good.json ./a=b.csv -o row.npy -q
bytes 5 "$one" >raw.bin
case_of bin-shape 2 data.shape-needed 'raw.bin: error|--shape' run good.json raw.bin -o out.npy -q
case_of bin-size 1 data.size '20 bytes|16 bytes' run good.json raw.bin --shape 4 -o out.npy -q
case_of bin-dtype 2 array.dtype "'f31'" run good.json raw.bin --shape 4 --dtype f31 -o out.npy -q
case_of shape-unused 2 '' "--shape '4'|.bin" run good.json ok.npy --shape 4 -o out.npy -q
case_of dtype-unused 2 '' "--dtype 'u8'" compile good.json --calib ok.npy --dtype u8 -o out -q
case_of channels 1 data.channels 'mean has 3 numbers|4 channels' run good.json ok.npy --mean 1,2,3 -o out.npy -q
mkdir folder sizes sounds mixed empty
picture folder/a.pgm 2 2
picture folder/b.pgm 2 3
case_of folder-sizes 1 data.size 'folder/b.pgm: error|height 3, width 2|folder/a.pgm|height 2, width 2' run photo.json folder --input-scale 1 -o out.npy -q
case_of folder-pixels 1 data.type "folder/a.pgm: error|elements of type u8|if they are pixels|--input-scale 0.00392156862745098 for 0 to 1|--input-scale 1 for 0 to 255" run photo.json folder/a.pgm -o out.npy -q
picture sizes/a.pgm 3 2
case_of folder-shape 1 data.shape "sizes/a.pgm: error|[1,2,3,1]|'x'|[1,2,2,1]|height, width, channels" compile photo.json --calib sizes -o out -q
case_of folder-empty 1 data.empty 'empty: error|.png' compile photo.json --calib empty -o out -q
picture mixed/a.pgm 2 2
: >mixed/a.wav
case_of folder-mixed 1 data.format 'mixed: error|1 images and 1 audio files' compile photo.json --calib mixed -o out -q
printf 'RIFF____WAVEdata\004\000\000\000abcd' >sounds/a.wav
case_of wav-order 1 wav.format 'sounds/a.wav: error' run good.json sounds -o out.npy -q
cp good.json good.dat
case_of unknown-kind 1 data.format 'good.dat: error|.npz' run good.json good.dat -o out.npy -q
printf 'PK\003\004 no archive' >broken.npz
run run good.json broken.npz
if grep -q npz.support stderr; then
	case_of npz 3 npz.support 'libzip' run good.json broken.npz -o out.npy -q
else
	case_of npz 1 npz.archive 'broken.npz: error' run good.json broken.npz -o out.npy -q
fi
printf '\211PNG\r\n\032\nbroken' >broken.png
run run photo.json broken.png
if grep -q image.support stderr; then
	case_of png 3 image.support 'stb_image' run photo.json broken.png -o out.npy -q
else
	case_of png 1 image.decode 'broken.png: error' run photo.json broken.png -o out.npy -q
fi
case_of no-classes 2 data.labels 'folder with one subfolder per class' eval good.json --data ok.npy -q
# Samples that look wrong: a warning, and the work is done.
printf '1,1,1,1\n' >equal.csv
seq 7 | sed 's/.*/&,2,3,5/' >>equal.csv
seq 7 | sed 's/.*/&,2,3,5/' >>equal.csv
case_of lint 0 'data.constant data.duplicate' 'sample 0|sample 8 is equal to sample 1|7 of 15' compile good.json --calib equal.csv -o linted -q

case_of samples-none-given 1 calibrate.no-data '--calib' compile good.json -o out -q
case_of samples-too-many 1 data.count "samples: 2|model: 1|'x'" compile good.json --calib ok.npy --calib ok.npy -o out -q
edit batch 's/tensor<1x4xf32>/tensor<2x4xf32>/'
case_of remainder 1 data.remainder 'ok.npy|3 samples|2' compile batch.json --calib ok.npy -o out -q
edit two 's/"inputs": \[{"name": "x", "type": "tensor<1x4xf32>"}\]/"inputs": [{"name": "x", "type": "tensor<1x4xf32>"}, {"name": "b", "type": "tensor<1x2xf32>"}]/;s/"relu", "inputs": \["y"\]/"add", "inputs": ["y", "b"]/'
bytes 4 "$one" | npy pair.npy '<f4' '2, 2'
case_of unequal 1 data.count 'pair.npy|2|ok.npy|3' compile two.json --calib ok.npy --calib pair.npy -o out -q
case_of one-of-two 1 data.count "samples: 1|model: 2|'x', 'b'" compile two.json --calib ok.npy -o out -q
edit op 's/"relu"/"rleu"/'
case_of both-wrong 1 'op.unknown npy.truncated' 'rleu|short.npy' compile op.json --calib short.npy -o out -q

# ---- labels ----

bytes 2 '\001\000\000\000\000\000\000\000' | npy two-labels.npy '<i8' '2,'
case_of labels-count 1 data.labels 'two-labels.npy|2 labels|3 samples' eval good.json --data ok.npy --labels two-labels.npy -q
bytes 3 "$one" | npy float-labels.npy '<f4' '3,'
case_of labels-float 1 data.labels 'float-labels.npy|f32|integer' eval good.json --data ok.npy --labels float-labels.npy -q
bytes 3 '\002' | npy high-labels.npy '|u1' '3,'
case_of labels-range 1 data.labels 'high-labels.npy|label 2|2 classes' eval good.json --data ok.npy --labels high-labels.npy -q
# The label itself is the first output, as scikit-learn's models have it.
edit labelled 's/{"name": "z", "op": "relu", "inputs": \["y"\]}/{"name": "z", "op": "relu", "inputs": ["y"]}, {"name": "k", "op": "argmax", "inputs": ["z"], "attrs": {"axis": 1}}/;s/"outputs": \["z"\]/"outputs": ["k", "z"]/'
case_of labels-integer 1 data.labels "labels.npy: error|'k' is one integer|--cut z" eval labelled.json --data ok.npy --labels labels.npy -q
case_of labels-integer-analyze 1 data.labels "labels.npy: error|'k' is one integer" analyze labelled.json --calib ok.npy --labels labels.npy -q
printf 'file,label\na,0\nb,1\nc,x\n' >labels.csv
case_of labels-word 1 labels.number "labels.csv:4: error|cell 2: 'x'|the index of the model's output for it" eval good.json --data ok.npy --labels labels.csv -q
case_of labels-column 2 labels.column "'class'|1 to 2" eval good.json --data ok.npy --labels labels.csv --label-column class -q
case_of labels-no-column 2 labels.column 'labels.npy|.csv' eval good.json --data ok.npy --labels labels.npy --label-column 1 -q

# ---- figures ----

case_of against-missing 1 file.open 'nothing.json' eval good.json --data ok.npy --against nothing.json -q
case_of targets-shape 1 eval.target "12 elements in 3 samples|'z'|2 elements" eval good.json --data ok.npy --targets ok.npy -q
case_of targets-twice 2 eval.target '1 outputs|2 arrays' eval good.json --data ok.npy --targets ok.npy --targets ok.npy -q
case_of targets-both 2 eval.target 'not with both' eval good.json --data ok.npy --targets ok.npy --against good.json -q
case_of top 2 eval.top "top 3|1..2, the classes|'z'" eval good.json --data ok.npy --labels labels.npy --top-k 1,3 -q
case_of score 2 eval.score "'lost'|value:K|mse-input" eval good.json --data ok.npy --labels labels.npy --score lost -q
case_of score-element 2 eval.score "'value:2'" eval good.json --data ok.npy --labels labels.npy --score value:2 -q
case_of score-size 1 eval.score '4 elements|2' eval good.json --data ok.npy --score mse-input -q
case_of score-one-class 1 data.labels '3 of 3 labels are 1' eval good.json --data ok.npy --labels labels.npy --score value:1 -q
case_of window 2 eval.window '3 samples|groups of 2' eval good.json --data ok.npy --score value:1 --window 2 -q

# ---- accuracy ----

bytes 3 '\000' | npy wrong-labels.npy '|u1' '3,'
stdout_ok=1
case_of gate 4 "" '0.00 %|--min-accuracy 50' eval good.json --data ok.npy --labels wrong-labels.npy --min-accuracy 50 -q
grep -q '^float  *top1  *0.00 %' stdout || fail gate "the accuracy is not on stdout" stdout
case_of gate-integer 4 "" '0.00 %' eval good.json --data ok.npy --labels wrong-labels.npy --calib ok.npy --min-accuracy 2 -q
case_of gate-passed 0 "" "" eval good.json --data ok.npy --labels labels.npy --calib ok.npy --min-accuracy 100 -q
stdout_ok=

finish
