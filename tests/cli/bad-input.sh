#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bad-input.sh - what the program says to models and folders that are wrong.
. "$(dirname "$0")/good-model.inc"

case_of good 0 "" "" compile good.json --calib ok.npy -o out -q
[ -f out/good.c ] || fail good "no out/good.c"

# ---- files ----

: >empty.json
mkdir folder.json
printf '{"quern": 1,\n "graph": {' >cut.json
printf '{"quern": 1}\n{}\n' >twice.json
cp good.json good.txt

case_of no-file 1 file.open 'nothing.json: error|No such file' compile nothing.json --calib ok.npy -o out -q
case_of folder-as-file 1 file.read 'folder.json: error|not a regular file' compile folder.json --calib ok.npy -o out -q
case_of empty-file 1 json.syntax 'empty.json:1:1: error|empty' compile empty.json --calib ok.npy -o out -q
case_of cut-json 1 json.syntax 'cut.json:2:' compile cut.json --calib ok.npy -o out -q
case_of twice-json 1 json.syntax 'twice.json:2:1: error|after the end' compile twice.json --calib ok.npy -o out -q
case_of file-ending 2 model.format 'good.txt: error|.json|.qir' compile good.txt --calib ok.npy -o out -q
for row in 'saved_model from_saved_model(folder)' 'net.h5 from_keras_model' 'net.keras a Keras model' 'NET.PT torch.onnx.export' 'a.pth torch.onnx.export' 'saved_model.pb tf2onnx' 'm.pkl skl2onnx' 'm.ort converted from' 'm.pte ExecuTorch' 'm.mlmodel Core ML' 'w.safetensors docs/json-format.md' 'w.irpa quern convert'; do
	printf 'bytes' >"${row%% *}"
	case_of "convert ${row%% *}" 2 model.format "${row%% *}: error: this is |${row#* }" inspect "${row%% *}" -q
done
cp w.safetensors w.safetensors.index.json
case_of index 2 model.format 'this is the index of several files of weights|give the folder' inspect w.safetensors.index.json -q
mkdir hf
echo '{"model_type": "llama"}' >hf/config.json
for name in model.safetensors model.safetensors.index.json; do
	cp w.safetensors hf/$name
	case_of "folder of $name" 2 model.format 'Hugging Face folder|give the folder' inspect hf/$name -q
	rm hf/$name
done
case_of 'folder without weights' 1 file.open 'hf/model.safetensors' inspect hf -q
for name in pytorch_model.bin.index.json pytorch_model.bin; do
	cp w.safetensors hf/$name
	case_of "folder of $name" 3 hugging-face.file "$name, a pickle|safetensors first" inspect hf -q
done
printf 'bytes' >w.gguf
case_of gguf 1 gguf.magic 'w.gguf: error' inspect w.gguf -q
mkdir saved_folder
case_of folder 2 model.format 'from_saved_model(folder)' inspect saved_folder -q
printf 'model "m" stage float\ngraph @main(%%x: tensor<4xf32>) {\n  %%y = relu %%q : tensor<4xf32>\n  return %%y\n}\n' >text.qir
case_of text-form 1 graph.value.undefined 'text.qir:3:13: error|%q' inspect text.qir
: >empty.qir
case_of empty-text 1 graph.syntax 'empty.qir:1:1: error' inspect empty.qir

# ---- JSON ----

bad no-comma json.syntax 'no-comma.json:3:|error' '2s/,//'
bad comment json.syntax 'comment.json:2:' '2s|$| // note|'
bad key-twice json.key.duplicate "key-twice.json:/name: error|duplicate key 'name'" '3s/$/ "name": "other",/'
bad key-unknown json.key.unknown "key-unknown.json:/graph/nodez: error|unknown key 'nodez' (expected name, |did you mean 'nodes'?" 's/"nodes"/"nodez"/;s/"outputs": .*/"outputs": ["x"]/'
bad version json.version '/quern: error|version 2 (expected 1)' 's/"quern": 1/"quern": 2/'
bad no-version json.key.missing "'quern'" 's/"quern": 1,//'
bad wrong-kind json.kind '/graph/nodes/0/inputs: error|an array|a string' 's/"inputs": \["x", "w"\]/"inputs": "x"/'
bad no-graph 'json.key.missing json.key.unknown' "'graph'|'grph'" 's/"graph"/"grph"/'
bad no-outputs json.key.missing "/graph: error|'outputs'" 's/"relu", "inputs": \["y"\]}/&]}}/;/^    \],/,$d'
bad stage json.value "/stage: error|'flaot'|float, symbolic" '2s/$/ "stage": "flaot",/'

# ---- graphs ----

bad op op.unknown "/graph/nodes/1/op: error|'rleu'" 's/"relu"/"rleu"/'
bad attribute attr.unknown "/graph/nodes/1/attrs/alpha: error|unknown attribute 'alpha': relu has no attributes" 's/"inputs": \["y"\]/&, "attrs": {"alpha": 1}/'
bad attribute-kind attr.value "/attrs/min: error|invalid value 'low' of attribute 'min' of clip (expected a number" 's/"relu", "inputs": \["y"\]/"clip", "inputs": ["y"], "attrs": {"min": "low"}/'
bad attribute-missing attr.missing "nodes/1|'kernel'" 's/"relu", "inputs": \["y"\]/"max_pool", "inputs": ["y"]/'
bad operand graph.value.undefined "/graph/nodes/1/inputs/0: error|'yy'" 's/"inputs": \["y"\]/"inputs": ["yy"]/'
bad operands op.arity "'z'|relu|2" 's/"inputs": \["y"\]/"inputs": ["y", "x"]/'
bad name-twice graph.name.duplicate "/graph/nodes/1: error|'y'|/graph/nodes/0" 's/"name": "z"/"name": "y"/;s/"outputs": .*/"outputs": ["y"]/'
bad name-of-constant graph.name.duplicate "'w'|/graph/constants/w" 's/"name": "z"/"name": "w"/;s/"outputs": .*/"outputs": ["y"]/'
bad name-empty graph.name.empty '/graph/nodes/1/name' 's/"name": "z"/"name": ""/;s/"outputs": .*/"outputs": ["y"]/'
bad cycle json.cycle 'y -> z -> y' 's/"inputs": \["x", "w"\]/"inputs": ["z", "w"]/'
bad shape shape.channels "'y'|5 features|'w'|4" 's/tensor<1x4xf32>/tensor<1x5xf32>/'
bad rank shape.rank "'y'|tensor<4xf32>" 's/tensor<1x4xf32>/tensor<4xf32>/'
bad output graph.value.undefined "/graph/outputs/0: error|'zz'" 's/"outputs": .*/"outputs": ["zz"]/'
bad output-twice graph.name.duplicate "/graph/outputs/1: error|'z'" 's/"outputs": .*/"outputs": ["z", "z"]/'
bad type type.unknown '/graph/inputs/0/type|tensr' 's/tensor<1x4xf32>/tensr<1x4xf32>/'
bad type-declared type.mismatch "'z'|tensor<1x3xf32>|tensor<1x2xf32>" 's/"inputs": \["y"\]/&, "type": "tensor<1x3xf32>"/'
bad callee graph.callee.undefined "/callee: error|'f'" 's/"relu", "inputs": \["y"\]/"call", "callee": "f", "inputs": ["y"]/'
bad several 'op.unknown attr.unknown graph.value.undefined tensor.nonfinite' "rleu|alpha|'zz'|element 2" \
	's/"relu"/"rleu"/;s/"inputs": \["x", "w"\]/&, "attrs": {"alpha": 1}/;s/"outputs": .*/"outputs": ["zz"]/;s/0.25, 1,/"nan", 1,/'

# ---- constants ----

inline='s/"data": .*/"data": [0.5, -1, VALUE, 1, 1, 0.5, -0.25, 0.75]}/'
in_file='s/"type": "tensor<2x4xf32>", "data": .*/"type": "tensor<2x4xf32>", "file": "FILE"}/'
in_tensors='s/"type": "tensor<2x4xf32>", "data": .*/"type": "tensor<2x4xf32>", "file": "FILE", "tensor": "w"}/'
entry='{"w":{"dtype":"F32","shape":[2,4],"data_offsets":[0,32]}}'

bad weight-nan tensor.nonfinite "/graph/constants/w/data/2: error|element 2|'w'" "${inline/VALUE/\"nan\"}"
bad weight-inf tensor.nonfinite 'element 2' "${inline/VALUE/\"-inf\"}"
bad weight-huge tensor.nonfinite 'element 2' "${inline/VALUE/1e39}"
bad weight-huger json.number '/graph/constants/w/data/2' "${inline/VALUE/1e999}"
bad weight-word json.kind 'element 2' "${inline/VALUE/\"one\"}"
bad weight-count tensor.size "'w' has 9 numbers|8" "${inline/VALUE/1, 1}"
bad weight-code tensor.range 'element 2|-128 to 127' "${inline/VALUE/300};s/tensor<2x4xf32>/tensor<2x4xi8>/;s/0.5, -1/1, -1/"

bad file-missing file.open 'none.safetensors: error|No such file' "${in_tensors/FILE/none.safetensors}"
bad file-outside tensor.path "'../w.npy'|below" "${in_file/FILE/..\\/w.npy}"
bad file-kind tensor.path "'w.bin'|.safetensors" "${in_file/FILE/w.bin}"

bytes 8 "$one" | safetensors w.safetensors "$entry"
bad tensor-missing tensor.missing "w.safetensors|'v'" "${in_tensors/FILE/w.safetensors};s/\"tensor\": \"w\"/\"tensor\": \"v\"/"
bad tensor-type tensor.type '/graph/constants/w: error|tensor<2x4xf32>' "${in_tensors/FILE/w.safetensors};s/\"type\": \"tensor<2x4xf32>\", \"file/\"type\": \"tensor<4x2xf32>\", \"file/"
bad tensor-name json.key.missing "'tensor'" "${in_file/FILE/w.safetensors}"
bytes 7 "$one" | safetensors cut.safetensors "$entry"
bad tensors-cut safetensors.truncated 'cut.safetensors:/w/data_offsets: error|28|32' "${in_tensors/FILE/cut.safetensors}"
head -c 20 w.safetensors >head.safetensors
bad tensors-cut-head safetensors.truncated 'head.safetensors: error' "${in_tensors/FILE/head.safetensors}"
: >null.safetensors
bad tensors-empty safetensors.truncated 'null.safetensors: error' "${in_tensors/FILE/null.safetensors}"
bytes 8 "$one" | safetensors f8.safetensors '{"w":{"dtype":"F8_E4M3","shape":[2,4],"data_offsets":[0,8]}}'
edit tensors-dtype "${in_tensors/FILE/f8.safetensors}"
case_of tensors-dtype 3 safetensors.dtype 'f8.safetensors:/w/dtype: error|F8_E4M3' compile tensors-dtype.json --calib ok.npy -o out -q
bytes 8 "$one" | safetensors twice.safetensors "${entry%\}},${entry#\{}"
bad tensors-twice safetensors.duplicate 'twice.safetensors:/w' "${in_tensors/FILE/twice.safetensors}"
bytes 7 "$one" >data
bytes 1 "$nan" >>data
safetensors nan.safetensors "$entry" <data
bad tensors-nan tensor.nonfinite "/graph/constants/w: error|element 7|'w'" "${in_tensors/FILE/nan.safetensors}"
npy nan-weights.npy '<f4' '2, 4' <data
bad npy-nan tensor.nonfinite "element 7|'w'" "${in_file/FILE/nan-weights.npy}"
bytes 7 "$one" | npy cut.npy '<f4' '2, 4'
bad npy-cut npy.truncated 'cut.npy: error|28|32' "${in_file/FILE/cut.npy}"

# ---- networks of other tools ----

corpus=$QUERN_SOURCE/tests/fuzz/corpus
cp "$corpus/onnx/image.onnx" "$corpus/onnx/outside.onnx" "$corpus/tflite/dense.tflite" .

# network NAME CODE "ids" "words" FILE
network() {
	case_of "$1" "$2" "$3" "$4" compile "$5" --calib ok.npy -o out -q
}

# Cut at each of these lengths, and one byte before the end: what is there is damaged, and nothing else is said.
cut() {
	local file=$1 kind=${1##*.} n
	shift
	for n in "$@" $(($(wc -c <"$file") - ${last:-1})); do
		head -c "$n" "$file" >"cut.$kind"
		network "cut-$kind-$n" 1 import.file 'cut.|error: ' "cut.$kind"
	done
}

: >empty.tflite
network empty-tflite 1 import.file 'empty.tflite: error: not a TFLite file' empty.tflite
# Behind the last bytes are those of values that are no constants.
last=120 cut dense.tflite 4 8 9 40 100 400 800 1200 1500 1700 1750 1800
if "$QUERN_BIN" inspect image.onnx >/dev/null 2>stderr || ! grep -q import.support stderr; then
	: >empty.onnx
	network empty-onnx 1 import.file 'empty.onnx: error: the file has no graph' empty.onnx
	cut image.onnx 1 2 3 10 20 50 100 150 200 250 300 350

	# Weights in a file beside the model.
	network outside-missing 1 'file.open import.external' "outside.bin: error: No such file|outside.onnx: node|the data of tensor 'w' is in 'outside.bin'" outside.onnx
	mkdir outside.bin
	network outside-folder 1 'file.read import.external' "outside.bin: error: not a regular file|tensor 'w'" outside.onnx
	rmdir outside.bin
	bytes 8 "$one" >outside.bin
	network outside-short 1 import.external "outside.onnx|error: tensor 'w' is 32 bytes at 4 of 'outside.bin', which has 32 bytes" outside.onnx
	: >outside.bin
	network outside-empty 1 import.external "'outside.bin', which has 0 bytes" outside.onnx
	bytes 9 "$one" >outside.bin
	network outside-good 0 '' '' outside.onnx
	[ -f out/outside.c ] || fail outside-good "no out/outside.c"
	if [ "$(id -u)" -ne 0 ]; then
		chmod 0 outside.bin
		network outside-unreadable 1 'file.open import.external' "outside.bin: error: Permission denied|tensor 'w'" outside.onnx
	fi
fi

# ---- what Quern cannot do: exit code 3 ----

edit floats 's/"name": "x", "type": "tensor<1x4xf32>"}/&, {"name": "v", "type": "tensor<2x4xf32>"}/;s/"x", "w"/"x", "v"/'
bytes 24 "$one" | npy weights.npy '<f4' '6, 4'
case_of stays-float 3 legalize.float "dense 'y' stays in float|the weights are not an f32 constant" compile floats.json --calib ok.npy --calib weights.npy -o out -q
digits=$QUERN_SOURCE/examples/digits
case_of stays-float-list 3 legalize.float "'pool2' stays in float|'probs' stays in float" compile "$digits/digits.json" --calib "$digits/calib.npy" --scheme rfc -o out -q
# Quantized by another tool, all of it or not: samples give a range to what has none, which is named without them.
cat >all.qir <<'END'
model "all" stage calibrated
graph @main(%x: tensor<1x4xf32>) {
  %q = quantize %x : tensor<1x4x!quant.uniform<i8:f32, 0.5>>
  %d = dequantize %q
  %e = sigmoid %d
  %r = quantize %e : tensor<1x4x!quant.uniform<i8:f32, 0.00390625:-128>>
  return %r
}
END
case_of calib-unused 0 calib.unused 'all: warning: |quantized already|self-test|--from-float' compile all.qir --calib ok.npy -o out -q
case_of calib-none 0 '' '' compile all.qir -o out -q
sed 's/"all"/"part"/;s/%e = sigmoid %d/%e = sigmoid %x/' all.qir >part.qir
case_of part-quantized 3 legalize.float "sigmoid 'e' stays in float|no range for 'x';|--calib SAMPLES, which preserves|in the tool that wrote the model|--from-float --calib" compile part.qir -o out -q
case_of part-calibrated 0 '' '' compile part.qir --calib ok.npy -o out -q
case_of part-eval 0 '' '' eval part.qir --calib ok.npy --data ok.npy --against part.qir
case_of calibrate-calibrated 1 pass.stage 'all: error: |quantized already|--from-float' calibrate all.qir -q
cat >blocks.qir <<'END'
model "blocks" stage integer
graph @main(%x: tensor<1x4x!quant.uniform<i8:f32, 0.5>>) {
  %w = const : tensor<2x4x!quant.uniform<i8:f32:{0:1, 1:2}, {{0.5, 0.25}, {0.5, 0.25}}>> bytes "0101010101010101"
  %y = matmul %x, %w {transpose_b=1} : tensor<1x2x!quant.uniform<i32:f32, 0.25>>
  return %y
}
END
case_of sub-channel 3 unsupported.subchannel "'y'|matmul|'w'" compile blocks.qir -o out -q

case_of budgets 5 'budget.arena budget.weights' 'digits: error|bytes of activation arena|bytes of constants|budget of 1' \
	compile "$digits/digits.json" --calib "$digits/calib.npy" --max-arena 1 --max-weights 1 -o out -q

# ---- outputs that cannot be written: nothing may be left, nothing old may change ----

echo precious >file
case_of out-is-file 1 file.mkdir 'file: error' compile good.json --calib ok.npy -o file -q
[ "$(cat file)" = precious ] || fail out-is-file "the file has changed"
case_of out-below-file 1 file.mkdir 'file/sub: error|Not a directory' compile good.json --calib ok.npy -o file/sub -q
# The folder is looked at before the work, made with its parents, and goes again with them when the work fails.
case_of out-early 1 file.mkdir 'file: error' compile good.json --calib ok.npy -o file
grep -q '^calibrate' stderr && fail out-early "the work was done before" stderr
case_of out-parents 0 "" "" compile good.json --calib ok.npy -o new/parent/ -q
[ -f new/parent/good.c ] || fail out-parents "no new/parent/good.c"
mkdir there
{ bytes 6 "$one"; bytes 1 "$nan"; bytes 5 "$one"; } | npy nan.npy '<f4' '3, 4'
case_of out-gone 1 data.nonfinite 'nan.npy' compile good.json --calib nan.npy -o there/is/none -q
[ -d there ] && [ -z "$(ls there)" ] || fail out-gone "left: $(ls -R there)"
case_of run-below-file 1 file.write 'file/y.npy: error|Not a directory' run good.json ok.npy -o file/y.npy -q
mkdir taken.npy
case_of run-on-folder 1 file.write "taken.npy: error|directory" run good.json ok.npy -o taken.npy -q
case_of dot-no-parent 1 file.write 'no/x.dot: error: No such file' inspect good.json --dot no/x.dot -q
case_of opt-no-parent 1 file.write 'no/m.json: error|No such file' opt good.json --emit=json -o no/m.json -q

# One of several files that cannot take its place: the others do not either.
mkdir -p half/m.safetensors half/good_weights.c
echo precious >half/good.c
case_of half-model 1 file.write 'half/m.safetensors: error|directory' opt good.json -o half/m.json -q
case_of half-code 1 file.write 'half/good_weights.c: error|directory' compile good.json --calib ok.npy -o half -q
[ "$(echo $(ls half))" = 'good.c good_weights.c m.safetensors' ] && [ "$(cat half/good.c)" = precious ] || fail half "left: $(echo $(ls half))"

# A file that may not grow beyond 1 KiB stands for a full disk; the program ignores the signal, so the call fails instead.
bytes 1024 "$one" | npy big.npy '<f4' '1, 1024'
cat >big.json <<'END'
{"quern": 1, "graph": {"inputs": [{"name": "x", "type": "tensor<1x1024xf32>"}],
 "constants": {"w": {"file": "big.npy"}}, "nodes": [{"name": "y", "op": "dense", "inputs": ["x", "w"]}], "outputs": ["y"]}}
END
limited() {
	name=$1
	cases=$((cases + 1))
	shift
	(
		ulimit -f 1
		"$QUERN_BIN" "$@" <&- >stdout 2>stderr
	)
	code=$?
	[ "$code" -eq 1 ] || fail "$name" "exit code $code" stderr
	has_words "$name" stderr '[file.write]|File too large'
}
limited full-compile compile big.json --calib big.npy -o full -q
limited full-json opt "$digits/digits.json" -o full.json -q
limited full-text opt "$digits/digits.json" -o full.qir -q
ls full* 2>/dev/null | grep -q . && fail full "left: $(echo full*)"

# A folder that was there stays, with what it held.
mkdir old
echo precious >old/good.c
limited full-old compile good.json --calib ok.npy -o old -q
[ "$(ls old)" = good.c ] && [ "$(cat old/good.c)" = precious ] || fail full-old "the folder has changed: $(ls old | tr '\n' ' ')"

# A real full disk, where one may be mounted.
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16k tmpfs disk 2>/dev/null; then
	mounted=$work/disk
	case_of disk-full 1 file.write 'disk/new/|No space left' compile good.json --calib ok.npy -o disk/new -q
	[ -z "$(ls disk)" ] || fail disk-full "left: $(ls -R disk | tr '\n' ' ')"
	if mount -o remount,ro "$work/disk"; then
		case_of read-only 1 file.mkdir 'disk/new: error|Read-only' compile good.json --calib ok.npy -o disk/new -q
		case_of read-only-run 1 file.write 'disk/y.npy: error|Read-only' run good.json ok.npy -o disk/y.npy -q
	fi
fi

# What is asked for on stdout and cannot be written there is an error too.
if [ -w /dev/full ]; then
	head -c 128 /dev/zero | npy row.npy '<f4' '1, 32'
	for what in 'inspect good.json' 'opt good.json' "opt $QUERN_SOURCE/examples/digits/digits.json" 'run good.json ok.npy' '--help' '--version' 'compile --help' 'opt --list-passes' "tensors $QUERN_SOURCE/examples/digits/digits.safetensors" \
		"tensors --json $QUERN_SOURCE/examples/digits/digits.safetensors" "tokens $QUERN_SOURCE/tests/fuzz/corpus/tokens/small.gguf" 'targets' 'supported-ops' \
		"convert $QUERN_SOURCE/examples/digits/digits.safetensors full.gguf --to q8_0" 'quantize-tensor row.npy --to q8_0'; do
		cases=$((cases + 1))
		# shellcheck disable=SC2086
		"$QUERN_BIN" $what <&- >/dev/full 2>stderr
		code=$?
		[ "$code" -eq 1 ] || fail "full stdout: $what" "exit code $code" stderr
		grep -q "^quern: stdout: " stderr || fail "full stdout: $what" "no reason" stderr
	done
fi

finish
