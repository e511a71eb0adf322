#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# running.sh - run and eval: quantized values, float values, the sources of samples, the figures of eval.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits

# ---- running: codes, real values, real samples for an integer model ----

silent legalize opt "$E/digits.json" --calib "$E/calib.npy" -q --stop-after legalize -o legalize.json
silent run run -q legalize.json "$E/test_x.npy" -o legalize.json.npy
silent 'run summary' run -q legalize.json "$E/test_x.npy"
grep -qx 'probs : i8\[500,10\]' stdout || fail 'run summary' "other text" stdout
silent 'run real' run -q legalize.json "$E/test_x.npy" --dequantize -o real.npy
head -c 128 real.npy | grep -q "'<f4'.*(500, 10)" || fail 'run real' "no f32 [500,10]"
head -c 128 legalize.json.npy | grep -q "'|i1'.*(500, 10)" || fail 'run codes' "no i8 [500,10]"
# Real values are code * 1/256 + 1/2: the first sample's codes and values agree.
cases=$((cases + 1))
tail -c +129 legalize.json.npy | head -c 10 | od -An -v -td1 | tr -s ' \n' '\n\n' | awk 'NF { printf "%.6f\n", ($1 + 128) / 256 }' >by-codes
tail -c +129 real.npy | head -c 40 | od -An -v -tf4 | tr -s ' \n' '\n\n' | awk 'NF { printf "%.6f\n", $1 }' >by-run
[ "$(wc -l <by-codes)" -eq 10 ] || fail 'run real' "no codes" by-codes
same 'run real' by-codes by-run
# An integer model takes codes, or real values that it quantizes: value / 0.5, ties to even.
cat >codes.qir <<'END'
model "codes" stage integer
graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 0.5>>) {
  return %x
}
END
printf "$one"'\000\000\000\100''\000\000\100\300''\000\000\200\076' | npy values.npy '<f4' '1, 4' # 1 2 -3 0.25
printf '\002\004\372\000' | npy codes.npy '|i1' '1, 4'
silent 'real in' run -q codes.qir values.npy -o y1.npy
silent 'codes in' run -q codes.qir codes.npy -o y2.npy
same 'real in' y1.npy y2.npy
same 'codes' y2.npy codes.npy
silent 'real out' run -q codes.qir codes.npy --dequantize -o y3.npy
printf "$one"'\000\000\000\100''\000\000\100\300''\000\000\000\000' | npy rounded.npy '<f4' '1, 4'
same 'real out' y3.npy rounded.npy

# Other sources of the same samples give the same files but for the name, check sum and preprocessing of the samples.
tail -c +129 "$E/calib.npy" >calib.bin
silent 'bin' compile -q "$E/digits.json" --calib calib.bin --shape 8,8,1 --self-test 0 -o by-bin
od -An -v -tf4 -w256 calib.bin | sed 's/^ *//; s/  */,/g' >calib.csv
silent 'csv' compile -q "$E/digits.json" --calib image=calib.csv --self-test 0 -o by-csv
# pixels are k / 16: exact with 16 bits
printf "$(od -An -v -tf4 -w4 calib.bin | awk '{
	e = 0
	for (v = $1; v > 0 && v < 1; v *= 2)
		e--
	h = v > 0 ? (e + 15) * 1024 + (v - 1) * 1024 : 0
	printf "\\%03o\\%03o", h % 256, int(h / 256)
}')" | npy f16.npy '<f2' '200, 8, 8, 1'
silent 'f16' compile -q "$E/digits.json" --calib f16.npy --self-test 0 -o by-f16
mkdir pictures
od -An -v -tf4 -w256 calib.bin | awk '{ f = sprintf("pictures/%03d.pgm", NR); printf "P2 8 8 16" >f; for (i = 1; i <= NF; i++) printf " %d", $i * 16 >f; close(f) }'
silent 'pictures' compile -q "$E/digits.json" --calib pictures --input-scale 0.0625 --self-test 0 -o by-pictures
silent 'npy' compile -q "$E/digits.json" --calib "$E/calib.npy" --self-test 0 -o by-npy
for k in bin csv f16 pictures; do
	[ "$(ls "by-$k" | wc -l)" -eq 5 ] || fail "$k" "not five files"
	for f in "by-$k"/* by-npy/*; do
		sed -i -E 's/calib=[^ "]*//; s/((  model  |CONTENT|content_hash":) ).*/\1/; s/(CONTENT != ).*/\1/; s/, "preprocessing": \{[^}]*\}//' "$f"
		sed -i '/^\/\* The model was calibrated on/,/quantized\. \*\/$/d; /^#define DIGITS_SAMPLE_/d' "$f"
	done
	same "$k" "by-$k" by-npy
done
# Shapes that a model leaves open are those of the samples: every sample as the model of that shape has it.
cat >open.qir <<'X'
model "open" stage calibrated
graph @main(%x: tensor<*xf32>, %y: tensor<?x8x?x1xf32>) {
  %q = quantize %x : tensor<*x!quant.uniform<i8:f32:1, {1.0, 0.5, 0.25, 2.0, 1.0, 1.0, 1.0, 4.0}>>
  %d = dequantize %q
  %r = add %d, %y
  return %q, %r
}
X
sed 's/[*]x/1x8x8x1x/g; s/?x8x?x1x/1x8x8x1x/' open.qir >closed.qir
for each in open closed; do
	silent "$each-shapes" run -q $each.qir "$E/calib.npy" "$E/calib.npy" -o $each-q.npy -o $each-r.npy
done
same open-shapes open-q.npy closed-q.npy
same open-shapes open-r.npy closed-r.npy
run opt open.qir --passes=lower-quant -o lowered.qir -q
silent lowered-shapes run -q lowered.qir "$E/calib.npy" "$E/calib.npy" -o lowered-q.npy -o lowered-r.npy
same lowered-shapes lowered-q.npy closed-q.npy
same lowered-shapes lowered-r.npy closed-r.npy
# Classes by subfolders: the labels of the first ten.
tail -c +129 "$E/test_y.npy" | head -c 80 | od -An -v -td8 -w8 | tr -d ' ' >labels
tail -c +129 "$E/test_x.npy" | head -c 2560 | od -An -v -tf4 -w256 | paste -d ' ' labels - | awk '{ system("mkdir -p classes/" $1); f = sprintf("classes/%d/%03d.pgm", $1, NR); printf "P2 8 8 16" >f; for (i = 2; i <= NF; i++) printf " %d", $i * 16 >f; close(f) }'
silent 'classes' eval -q "$E/digits.json" --data classes --input-scale 0.0625 --min-accuracy 80
grep -qE '^float .*of 10\)  probs$' stdout || fail classes "no ten samples" stdout
grep -q '^class' stdout && fail classes "numbers are printed as names" stdout

# ---- figures ----

digits_eval() {
	local name=$1
	shift
	silent "$name" eval -q "$E/digits.json" --data "$E/test_x.npy" "$@"
}
# Labels of a table by rows are those of the array.
tail -c +129 "$E/test_y.npy" | od -An -v -td8 -w8 | tr -d ' ' | sed 's/^/x,/; 1i file,label' >labels.csv
digits_eval labels-npy --labels "$E/test_y.npy" --top-k 1,3
mv stdout by-array
digits_eval labels-csv --labels labels.csv --top-k 1,3
same labels-csv stdout by-array
[ "$(cut -c14-18 stdout | tr -d '\n ')" = top1top3 ] || fail top-k "other figures" stdout
# By the names of files: a reversed table of two files.
mkdir -p few && cp pictures/001.pgm pictures/002.pgm few
ls few | tac | awk '{ print $1 "," NR + 5 }' >few.csv
silent labels-by-name eval -q "$E/digits.json" --data few --input-scale 0.0625 --labels few.csv
# A folder of bytes with a table as MLPerf Tiny has it: file, number of classes, label.
mkdir -p bytes
tail -c +129 "$E/test_x.npy" | od -An -v -tf4 -w256 | head -20 | awk '{ f = sprintf("bytes/x%02d.txt", NR - 1); for (i = 1; i <= NF; i++) printf "\\%03o", $i * 16 + 5 >f; close(f) }'
for f in bytes/*.txt; do
	printf "$(cat "$f")" >"${f%.txt}.bin"
	rm "$f"
done
tail -c +129 "$E/test_y.npy" | head -c 160 | od -An -v -td8 -w8 | awk '{ printf "x%02d.bin, 10, %d\n", NR - 1, $1 }' | tac >y_labels.csv
silent bytes-folder eval -q "$E/digits.json" --data bytes --dtype u8 --shape 8,8,1 --input-zero 5 --input-scale 0.0625 --labels y_labels.csv --min-accuracy 90
grep -qE 'top1 .*of 20\)' stdout || fail bytes-folder "no twenty samples" stdout
printf x >bytes/x07.bin
cases=$((cases + 1))
run run -q "$E/digits.json" bytes --dtype u8 --shape 8,8,1 --input-scale 1
[ "$code" -eq 1 ] && grep -q 'x07.bin: error: this file has 1 bytes, but a sample has 64' stderr || fail bytes-size "exit code $code" stderr
# --shape is not for the pictures beside them.
usage bytes-pictures "--shape|'8,8,1'" run "$E/digits.json" few --shape 8,8,1
# A model against itself, and in integers.
digits_eval against --against "$E/digits.json" --calib "$E/calib.npy" --min agreement=99 --min cosine=0.999 --min sqnr=35 --max max-diff=0.2 --json
has_words against stdout '"quern_eval": 1|"stage": "float", "metric": "sqnr", "output": "probs", "value": "inf"|"stage": "integer", "metric": "agreement"|"hits": 499, "of": 500|"min": 35, "passed": true'
cases=$((cases + 1))
if command -v python3 >/dev/null; then
	python3 -m json.tool <stdout >/dev/null || fail json "no JSON" stdout
fi
mv stdout one-way
for t in 1 2 5; do
	digits_eval "threads $t" --against "$E/digits.json" --calib "$E/calib.npy" --min agreement=99 --min cosine=0.999 --min sqnr=35 --max max-diff=0.2 --json --threads $t
	same "threads $t" stdout one-way
done
cases=$((cases + 1))
run eval -q "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --score value:3 --max auc=0.5 --min top1=99.9
[ "$code" -eq 4 ] || fail gates "exit code $code" stderr
has_words gates stderr "top1 of 'probs' is 99.20 %, below --min top1=99.9|auc of 'probs' is 0.99|, above --max auc=0.5"
cases=$((cases + 1))
run eval -q "$E/digits.json" --data "$E/test_x.npy" --labels "$E/test_y.npy" --min cosine=0.5
[ "$code" -eq 2 ] || fail not-measured "exit code $code" stderr
has_words not-measured stderr 'cosine was not measured|measured: top1|--against'
# Codes as samples of a float model: real = (code - zero) * scale.
tail -c +129 "$E/test_x.npy" | od -An -v -tf4 -w4 | awk '{ printf "\\%03o", $1 * 16 + 5 }' >codes.txt
printf "$(cat codes.txt)" >codes.bin
silent input-zero run -q "$E/digits.json" codes.bin --dtype u8 --shape 8,8,1 --input-zero 5 --input-scale 0.0625 -o codes.npy
silent input-real run -q "$E/digits.json" "$E/test_x.npy" -o real.npy
same input-zero codes.npy real.npy

# Functions of the model's own are run as they are and inlined by the passes.
cat >function.json <<'END'
{"quern": 1, "name": "function",
 "functions": [{"name": "f", "inputs": [{"name": "a", "type": "tensor<1x4xf32>"}],
  "nodes": [{"name": "r", "op": "relu", "inputs": ["a"]}], "outputs": ["r"]}],
 "graph": {"inputs": [{"name": "x", "type": "tensor<1x4xf32>"}],
  "constants": {"w": {"type": "tensor<2x4xf32>", "data": [1, -1, 0.5, 1, 1, 0.5, -0.25, 0.75]}},
  "nodes": [{"name": "z", "op": "call", "callee": "f", "inputs": ["x"]}, {"name": "y", "op": "dense", "inputs": ["z", "w"]}],
  "outputs": ["y"]}}
END
bytes 12 "$one" | npy ones.npy '<f4' '3, 4'
silent 'function' run -q function.json ones.npy -o f1.npy
silent 'function, clean' opt -q function.json --passes=clean -o inlined.json
silent 'function, run' run -q inlined.json ones.npy -o f2.npy
same 'function' f1.npy f2.npy
silent 'function, compile' compile -q function.json --calib ones.npy -o function

# A fixed input is a constant to every command; two samples of 1 to 4, a mask of numbers, of a file, of one number for all.
cat >masked.qir <<'END'
model "masked" stage float
graph @main(%x: tensor<1x4xf32>, %mask: tensor<1x4xf32>, %rate: tensor<1xi64>) {
  %y = mul %x, %mask
  %z = relu %y
  return %z
}
END
two='\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100'
printf "$two$two" | npy two.npy '<f4' '2, 4'
printf '\000\000\200\077\000\000\000\000\000\000\000\077\000\000\000\100' | npy mask.npy '<f4' '1, 4'
silent 'fixed, numbers' run -q masked.qir two.npy --input-value rate=16000 --input-value mask=1,0,0.5,2 -o numbers.npy
silent 'fixed, file' run -q masked.qir two.npy --input-value rate=16000 --input-value mask=mask.npy -o file.npy
same 'fixed' numbers.npy file.npy
silent 'fixed, saved' opt -q masked.qir --input-value rate=1 --input-value mask=mask.npy -o fixed.json
silent 'fixed, inspect' inspect fixed.json
grep -q 'input .*mask' stdout && fail 'fixed, inspect' 'an input is left' stdout
silent 'fixed, run' run -q fixed.json two.npy -o saved.npy
same 'fixed, saved' numbers.npy saved.npy
fixed=(--input-value rate=1 --input-value mask=0.5)
silent 'fixed, compile' compile -q masked.qir "${fixed[@]}" --calib two.npy -o masked
cc -DMASKED_SELFTEST_MAIN masked/*.c -o selftest && ./selftest >log || fail 'fixed, compile' 'the self-test fails' log
silent 'fixed, calibrate' calibrate -q masked.qir "${fixed[@]}" --calib two.npy -o stats.json
silent 'fixed, quantize' quantize -q masked.qir "${fixed[@]}"
silent 'fixed, export' export -q masked.qir "${fixed[@]}" --calib two.npy --format encodings -o encodings.json
silent 'fixed, eval' eval -q masked.qir "${fixed[@]}" --calib two.npy --data two.npy --against masked.qir --min cosine=0.99
silent 'fixed, eval against' eval -q masked.qir --input-value rate=1 --input-value mask=mask.npy --data two.npy --against fixed.json --max max-diff=0
usage 'fixed, unknown' "import.value|unknown input 'masc'; did you mean 'mask'?" run masked.qir two.npy --input-value masc=1
usage 'fixed, shape' "import.value|3 numbers; expected one for all 4 elements" run masked.qir two.npy --input-value mask=1,2,3
usage 'fixed, type' "import.value|integers are expected" run masked.qir two.npy --input-value rate=0.5
# Two outputs of one name, however it is written.
printf 'graph @main(%%x: tensor<1x4xf32>) {\n  %%y = relu %%x\n  %%z = abs %%x\n  return %%y, %%z\n}\n' >pair.qir
usage 'one file twice' "file.twice|y.npy: error: two outputs" run -q pair.qir two.npy -o y.npy -o ./y.npy
[ ! -e y.npy ] || fail 'one file twice' "it was written"
# No input is left: a warning, as the program has no step.  Dimensions are given to models of other tools.
case_of 'fixed, all' 0 import.fixed "output 'z' is a constant|no input is left" inspect masked.qir "${fixed[@]}" --input-value x=1
usage 'dim, text form' "import.dim|masked.qir: error: 'x:0=2'|in the type of the input" run masked.qir two.npy --input-dim x:0=2
usage 'dim, json' "import.dim|fixed.json: error" compile fixed.json --calib two.npy --input-dim x:0=2
usage 'from float, text form' "import.from-float|masked.qir: error: only an .onnx or .tflite" run masked.qir two.npy --from-float
usage 'fixed, no value' "--input-value: 'rate' is not NAME=VALUE" run masked.qir two.npy --input-value rate


# ---- options of one source; preprocessing is recorded ----

silent 'options of the command' compile -q "$E/digits.json" --calib "$E/calib.npy" --mean 0.1 --std 0.5 -o prep
silent 'options of a source' compile -q "$E/digits.json" --calib "$E/calib.npy:mean=0.1,std=0.5" -o prep-source
silent 'options of a source first' compile -q "$E/digits.json" --calib "image=$E/calib.npy:std=0.5,mean=0.1" --mean 7 -o prep-first
cases=$((cases + 1))
diff -r prep prep-source >difference || fail 'options of a source' "other files" difference
diff -r prep prep-first >difference || fail 'options of a source first' "other files" difference
has_words 'macros' prep/digits.h '#define DIGITS_SAMPLE_IMAGE_SCALE 1.0|DIGITS_SAMPLE_IMAGE_MEAN {0.1}|DIGITS_SAMPLE_IMAGE_STD {0.5}|channels last'
has_words 'report' prep/digits.report.json '"preprocessing": {"zero": 0.0, "scale": 1.0, "mean": [0.1], "std": [0.5], "layout": "nhwc"}'
grep -q SAMPLE_IMAGE direct/digits.h 2>/dev/null && fail 'macros' "samples that were not changed have macros"
silent 'no self-test' compile -q "$E/digits.json" --calib "$E/calib.npy" --mean 0.1 --std 0.5 --self-test 0 -o prep-no
same 'no self-test' prep-no/digits_weights.c prep/digits_weights.c
has_words 'no self-test' prep-no/digits.h 'DIGITS_SAMPLE_IMAGE_MEAN {0.1}'
[ ! -e prep-no/digits_selftest.c ] || fail 'no self-test' "there is one"
# Statistics carry it, through shards too.
for shard in 1 2; do
	silent "statistics $shard" calibrate -q "$E/digits.json" --calib "$E/calib.npy" --mean 0.1 --std 0.5 --shard $shard/2 -o prep-$shard.json
done
good "statistics" merge prep-1.json prep-2.json -o prep.json
has_words "statistics" prep.json '"preprocessing": [|"mean": [0.1], "std": [0.5], "layout": "nhwc"'
silent "statistics" compile -q "$E/digits.json" --stats prep.json -o prep-stats
cases=$((cases + 1))
for file in digits.h digits_weights.c; do
	same "statistics" prep-stats/$file prep-no/$file
done
has_words "statistics" prep-stats/digits.report.json '"preprocessing": {"zero": 0.0, "scale": 1.0, "mean": [0.1]'
usage 'source key' "unknown option 'men' (expected scale, zero, mean,|did you mean 'mean'?" run "$E/digits.json" "$E/test_x.npy:men=1"
usage 'source value' "--mean: invalid value 'a'" run "$E/digits.json" "$E/test_x.npy:mean=a"
usage 'source layout' "layout: invalid value 'hwc' (expected nhwc or nchw)" run "$E/digits.json" "$E/test_x.npy:layout=hwc"
usage 'source shape' "shape '8,8' is for .bin and .csv samples" run "$E/digits.json" "$E/test_x.npy:shape=8,8"
usage 'source key twice' "option 'mean' is given twice" run "$E/digits.json" "$E/test_x.npy:mean=0.5,mean=0.25"
usage 'source of a value' "--input-scale: invalid value '0'|in the samples|test_x.npy:scale=0'" run "$E/digits.json" "$E/test_x.npy:scale=0"
run run "$E/digits.json" "$E/test_x.npy:std=1,2,3"
has_words 'channels' stderr 'std has 3 numbers, but the samples have 1 channel (the last dimension, by layout nhwc)|[data.channels]'
# A constant whose symbol would be a macro of the preprocessing.
cat >NET.qir <<'END'
model "NET"
graph @main(%X: tensor<1x4xf32>) {
  %SAMPLE_X_SCALE = const : tensor<4x4xf32> rand 1
  %y = dense %X, %SAMPLE_X_SCALE
  return %y
}
END
tail -c +129 "$E/calib.npy" >NET.bin
good 'macro names' compile -q NET.qir --calib NET.bin:shape=4,scale=0.5 -o macros
cases=$((cases + 1))
"${CC:-cc}" -Werror -DNET_SELFTEST_MAIN macros/NET.c macros/NET_weights.c macros/NET_selftest.c -o net 2>stderr && ./net >stdout || fail 'macro names' "the C does not compile or fails" stderr
cp "$E/test_x.npy" 'odd:mean=1'
silent 'name with options' run "$E/digits.json" ./odd:mean=1

# Types by the names of NumPy and TFLite.
silent 'int8' compile -q "$E/digits.json" --calib "$E/calib.npy" --activations int8 --weights-type int4 -o named-types
silent 'i8' compile -q "$E/digits.json" --calib "$E/calib.npy" --activations i8 --weights-type i4 -o short-types
diff -r named-types short-types >difference || fail 'int8' "other files" difference

# A trace prints the values that it passes on: floats, and the integers of the same graph.
cat >traced.qir <<'END'
model "traced" stage float
graph @main(%x: tensor<1x2xf32>) {
  %a = neg %x
  %t = trace %a {key="negated"}
  %y = relu %t
  return %y
}
END
printf '1,2\n-3,0.5\n' >two.csv
run run -q "$E/digits.json" "$E/test_x.npy" --trace-ops
has_words 'no trace ops' stderr 'the graph has no trace op'
good 'trace ops' run -q traced.qir two.csv --trace-ops
cat >want <<'END'
trace 'negated' run 0: tensor<1x2xf32>, -2 … -1
trace 'negated' run 1: tensor<1x2xf32>, -0.5 … 3
y : f32[2,2]
END
same 'trace ops' want stdout
silent 'trace legalize' opt -q traced.qir --calib two.csv --stop-after legalize -o traced-q.qir
good 'trace integers' run -q traced-q.qir two.csv --trace-ops
has_words 'trace integers' stdout "trace 'negated' run 0: tensor<1x2x!quant.uniform<i8:f32,|run 1: tensor"
good 'no trace' run -q traced.qir two.csv
grep -q trace stdout && fail 'no trace' "it prints traces" stdout

# Without labels and without a reference the integer model is compared with the float one.
silent 'eval float' eval -q "$E/digits.json" --calib "$E/calib.npy" --data "$E/test_x.npy"
has_words 'eval float' stdout 'integer      agreement    99.80 %  (499 of 500)  probs|integer      cosine'
grep -q '^float' stdout && fail 'eval float' "the float model is compared with itself" stdout

# ---- progress: a bar with a time on a terminal, nothing elsewhere ----

# As many samples as take some five seconds: 400 times those of the example, or fewer where a program is slow.
many() {
	local i
	for ((i = 0; i < $1; i++)); do tail -c +129 "$E/test_x.npy"; done >many.bin
}
many 20
begin=${EPOCHREALTIME/[.,]/}
silent 'few samples' eval "$E/digits.json" --against "$E/digits.json" --data many.bin --shape 8,8,1 --threads 1
times=$((100000000 / (${EPOCHREALTIME/[.,]/} - begin)))
many $((times > 400 ? 400 : times < 20 ? 20 : times))
silent 'no bar' eval "$E/digits.json" --against "$E/digits.json" --data many.bin --shape 8,8,1 --threads 1
if command -v script >/dev/null; then
	cases=$((cases + 1))
	script -qec "'$QUERN_BIN' eval '$E/digits.json' --against '$E/digits.json' --data many.bin --shape 8,8,1 --threads 1" /dev/null >terminal </dev/null
	grep -qE 'running +\[#*-*\] +[0-9]+ %  [0-9]+ s' terminal || fail bar "there is none" terminal
	script -qec "'$QUERN_BIN' eval '$E/digits.json' --against '$E/digits.json' --data many.bin --shape 8,8,1 --threads 1 -q" /dev/null >terminal </dev/null
	grep -q 'running' terminal && fail bar "one in spite of -q" terminal
fi
# Tensors of ONNX's test data are samples and targets: dims [3,2], FLOAT, a name, raw_data of 0.5, -1, 2, 0.25, -2, 3; what they should give.
cat >half.qir <<'END'
model "half" stage float
graph @main(%x: tensor<1x2xf32>) {
  %y = relu %x
  return %y
}
END
printf '\012\002\003\002\020\001\102\001x\112\030\0\0\0\077\0\0\200\277\0\0\0\100\0\0\200\076\0\0\0\300\0\0\100\100' >x.pb
printf '\010\003\010\002\020\001\042\030\0\0\0\077\0\0\0\0\0\0\0\100\0\0\200\076\0\0\0\0\0\0\100\100' >y.pb
good 'pb run' run half.qir x.pb
has_words 'pb run' stdout 'y : f32[3,2]'
good 'pb eval' eval half.qir --data x.pb --targets y.pb --max max-diff=0
has_words 'pb eval' stdout 'max-diff     0'
head -c 20 x.pb >cut.pb
case_of pb-cut 1 pb.syntax 'cut.pb|ends within a field' run half.qir cut.pb
# So is the folder of them: one for each input and output, in order; others in it are not looked at.
cat >two.qir <<'END'
model "two" stage float
graph @main(%x: tensor<1x2xf32>, %s: tensor<1x2xf32>) {
  %y = relu %x
  %d = sub %y, %s
  return %d, %y
}
END
mkdir -p set/test_data_set_0 one
cp x.pb set/test_data_set_0/input_0.pb
cp y.pb set/test_data_set_0/input_1.pb
printf '\012\002\003\002\020\001\112\030\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' >set/test_data_set_0/output_0.pb
cp y.pb set/test_data_set_0/output_1.pb
echo notes >set/test_data_set_0/input.txt
good 'pb folder run' run two.qir set/test_data_set_0
has_words 'pb folder run' stdout 'd : f32[3,2]|y : f32[3,2]'
good 'pb folder eval' eval two.qir --data set/test_data_set_0/ --targets set/test_data_set_0 --max max-diff=0
good 'pb folder calib' calibrate two.qir --calib set/test_data_set_0:scale=1
cp x.pb one/input_0.pb
good 'pb folder, several' run two.qir one y.pb
case_of 'pb folder, few' 1 data.count 'arrays of samples: 1, inputs of the model: 2' run two.qir one
case_of 'pb folder, named' 2 data.option "2 tensors, one for each input in order; remove 'x=', or give the file" run two.qir x=set/test_data_set_0
good 'pb folder, named one' run half.qir x=one
case_of 'pb folder, above' 1 data.empty 'no input_0.pb' run half.qir set
usage 'pb folder, no output' "'one': the folder has no output_0.pb" eval half.qir --data one --targets one
cp cut.pb set/test_data_set_0/input_1.pb
case_of 'pb folder, cut' 1 pb.syntax 'test_data_set_0/input_1.pb' run two.qir set/test_data_set_0
finish
