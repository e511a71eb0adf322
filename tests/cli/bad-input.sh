#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bad-input.sh - what the program says to models, samples and folders that are wrong.
#
# Every row is a small file made here, the exit code, the diagnostics' ids, words that must be in the message (the place, the value, the
# way out), and the command.  No row may leave an output.
. "$(dirname "$0")/common.inc"

# ---- a good model; most rows are this one with one line changed ----

cat >good.json <<'END'
{
  "quern": 1,
  "name": "good",
  "graph": {
    "inputs": [{"name": "x", "type": "tensor<1x4xf32>"}],
    "constants": {
      "w": {"type": "tensor<2x4xf32>", "data": [0.5, -1, 0.25, 1, 1, 0.5, -0.25, 0.75]}
    },
    "nodes": [
      {"name": "y", "op": "dense", "inputs": ["x", "w"]},
      {"name": "z", "op": "relu", "inputs": ["y"]}
    ],
    "outputs": ["z"]
  }
}
END
bytes 12 "$one" | npy ok.npy '<f4' '3, 4'
bytes 3 '\001\000\000\000\000\000\000\000' | npy labels.npy '<i8' '3,'

# edit NAME SED-SCRIPT: NAME.json is the good model, changed; it must differ.
edit() {
	sed "$2" good.json >"$1.json"
	! cmp -s good.json "$1.json" || fail "$1" "the edit changes nothing"
}

# bad NAME "ids" "words" SED-SCRIPT: a model that is wrong, exit code 1.
bad() {
	edit "$1" "$4"
	case_of "$1" 1 "$2" "$3" compile "$1.json" --calib ok.npy -o out -q
}

case_of good 0 "" "" compile good.json --calib ok.npy -o out -q
[ -f out/good.c ] || fail good "no out/good.c"

# ---- encodings ----

# encodings NAME CODE "ids" "words" ACTIVATIONS PARAMS [OPTION…]: x, z and w by name
encodings() {
	local name=$1 code=$2 ids=$3 words=$4
	printf '{"version": "0.6.1", "activation_encodings": {%s}, "param_encodings": {%s}}' "$5" "$6" >e.json
	shift 6
	case_of "encodings $name" "$code" "$ids" "$words" compile good.json --encodings e.json -o out -q "$@"
}
pair() { printf '{"bitwidth":%s,"is_symmetric":"%s","scale":%s,"offset":%s}' "$@"; }
asym=$(pair 8 False 0.5 -3)
sym=$(pair 8 True 0.25 -128)
both='"x": ['$asym'], "z": ['$asym']'
at=e.json:/activation_encodings/x

encodings good 0 "" "" "$both" '"w": ['$sym', '$sym']'
has_words 'encodings good' out/good.report.json '"scale": 0.5, "zero_point": -125'
encodings one-for-all 0 "" "" "$both" '"w": ['$sym']'
encodings per-tensor 0 "" "" "$both" '"w": ['$sym']' --weights per-tensor
encodings strict 0 "" "" "$both" '"w": ['$(pair 8 True 0.25 -127)']'
encodings range-below-1 0 "" "" '"x": [{"bitwidth": 8, "min": -1, "max": 0.5}], "z": ['$asym']' ''
encodings range-to-0 0 "" "" '"x": [{"bitwidth": 8, "min": -1, "max": 0}], "z": ['$asym']' ''
encodings range 0 "" "" '"x": [{"bitwidth": 8, "min": -1, "max": 1}], "z": ['$asym']' ''
encodings unused 0 encodings.unused "e.json: warning|'q', 'v'" "$both"', "q": ['$asym']' '"v": ['$sym']'
encodings missing 1 encodings.missing "e.json: error|'x', 'z'|--calib" '' '"w": ['$sym']'
encodings missing-one 1 encodings.missing "for 'z';" '"x": ['$asym']' ''
encodings samples 0 "" "" '"x": ['$asym']' '' --calib ok.npy
encodings bits 1 encodings.value "$at/0/bitwidth: error|4, 8, 16" '"x": ['$(pair 3 False 0.5 -3)']' ''
encodings bits-5 1 encodings.value "$at/0/bitwidth: error|4, 8, 16" '"x": ['$(pair 5 False 0.5 -3)']' ''
encodings stored 1 encodings.bitwidth "$at/0/bitwidth: error|has 16 bits|--activations" '"x": ['$(pair 16 False 0.5 -3)'], "z": ['$asym']' ''
encodings nan 1 encodings.value "$at/0/scale: error|finite" '"x": ['$(pair 8 False '"nan"' -3)']' ''
encodings nan-number 1 json.syntax 'e.json:1:' '"x": ['$(pair 8 False NaN -3)']' ''
encodings scale 1 encodings.value "$at/0/scale: error|positive" '"x": ['$(pair 8 False 0 -3)']' ''
for o in 1 -256 -2.5; do
	encodings "offset $o" 1 encodings.value "$at/0/offset: error" '"x": ['$(pair 8 False 0.5 $o)']' ''
done
encodings words 1 encodings.value "$at/0/is_symmetric: error" '"x": ['$(pair 8 Yes 0.5 -3)']' ''
encodings min-max 1 encodings.value "$at/0/min: error|above max" '"x": [{"bitwidth": 8, "min": 2, "max": 1, "scale": 1, "offset": 0}]' ''
encodings no-zero 1 encodings.value "$at/0: error|without 0" '"x": [{"bitwidth": 8, "min": 1, "max": 2}]' ''
encodings tiny 1 encodings.value "$at/0: error|normal f32" '"x": [{"bitwidth": 8, "min": -1e-300, "max": 1e-300}]' ''
encodings other-range 1 encodings.value "$at/0: error|scale and offset" '"x": [{"bitwidth": 8, "min": -9, "max": 1, "scale": 1, "offset": 0}]' ''
encodings nothing 1 encodings.value "$at/0: error|neither" '"x": [{"bitwidth": 8, "scale": 1}]' ''
encodings no-bits 1 json.key.missing "$at/0" '"x": [{"scale": 1, "offset": 0}]' ''
encodings float 1 encodings.float "$at: error|--skip" '"x": [{"bitwidth": 16, "dtype": "float"}]' ''
encodings kind 1 json.kind "$at: error" '"x": {}' ''
encodings empty 1 encodings.value "$at: error|empty" '"x": []' ''
encodings channels 1 encodings.value "$at: error|more than one" '"x": ['$asym', '$asym']' ''
encodings length 1 encodings.length 'e.json:/param_encodings/w: error|has 3 encodings' "$both" '"w": ['$sym', '$sym', '$sym']'
encodings length-tensor 1 encodings.length 'has 2 encodings|--weights' "$both" '"w": ['$sym', '$sym']' --weights per-tensor
encodings zero-point 1 encodings.symmetric 'e.json:/param_encodings/w/1/offset: error|-128 or -127' "$both" '"w": ['$sym', '$asym']'
encodings search 2 encodings.search 'method output' '"x": ['$asym']' '' --method output --calib ok.npy
encodings cut 1 json.syntax 'e.json:1:' '"x": [' ''
case_of encodings-version 1 encodings.version 'good.json' compile good.json --encodings good.json -o out -q
printf '{"version": "1.0.0", "activation_encodings": [], "param_encodings": []}' >e.json
case_of encodings-lists 1 encodings.missing "e.json: error|'x', 'z'|--calib" compile good.json --encodings e.json -o out -q
printf '{"version": "3.0.0", "activation_encodings": [], "param_encodings": []}' >e.json
case_of encodings-newer 1 encodings.version 'e.json:/version: error|0.6.1' compile good.json --encodings e.json -o out -q
case_of encodings-file 1 file.open 'none.json: error' compile good.json --encodings none.json -o out -q

# ---- recipes ----

# recipe NAME CODE "ids" "words" TEXT
recipe() {
	printf '%s' "$5" >recipe.json
	case_of "recipe $1" "$2" "$3" "$4" compile good.json --calib ok.npy --recipe recipe.json -o out -q
}

recipe good 0 "" "" '{"rules": [{"name": "?", "weights": "i4"}]}'
recipe nothing 1 recipe.nothing "recipe.json:/rules/1: error|/rules/1 matches nothing: the model has no op 'tanh'" '{"rules": [{}, {"op": "tanh", "skip": true}]}'
recipe nothing-named 1 recipe.nothing "no node, input or output named 'xx'; did you mean 'x'?" '{"rules": [{"name": "xx", "skip": true}]}'
recipe unused 3 'recipe.unused legalize.float' "recipe.json:/rules/1: warning|/rules/1 changes nothing" '{"rules": [{"name": "y", "skip": true}, {"name": "y", "weights": "i4"}]}'
recipe blocks 1 recipe.value "invalid value 'i4 block 7' of 'weights'|invalid value 'i4 32' of|invalid value 'i3 block 8' of|invalid value 'i4 block 8x'|invalid value 'i4 block 65537'" '{"rules": [{"weights": "i4 block 7"}, {"weights": "i4 32"}, {"weights": "i3 block 8"}, {"weights": "i4 block 8x"}, {"weights": "i4 block 65537"}]}'
recipe class 0 "" "" '{"rules": [{"name": "[w-z]", "weights": "i4"}, {"name": "[!a-v]", "weights": "i4"}]}'
recipe open-class 1 recipe.glob "recipe.json:/rules/0/name: error|invalid value 'x[0' of 'name': not a pattern of names|[[] stands for" '{"rules": [{"name": "x[0"}]}'
recipe range 1 recipe.glob "end comes before its start" '{"rules": [{"name": "[z-a]"}]}'
recipe key 1 json.key.unknown 'recipe.json:/rules/0/weight: error' '{"rules": [{"weight": "i4"}]}'
recipe top-key 1 json.key.unknown 'recipe.json:/rule: error' '{"rules": [], "rule": []}'
recipe missing 1 json.key.missing 'rules' '{}'
recipe value 1 recipe.value "recipe.json:/rules/1/activations: error|invalid value 'i12' of 'activations' (expected i8, u8, i16, i8 per-axis, u8 per-axis, i16 per-axis, dynamic, dynamic per-row or auto)" '{"rules": [{}, {"activations": "i12"}]}'
recipe values 1 recipe.value "invalid value 'u8' of 'weights' (expected i8, i4 or i2, and after it maybe block|invalid value 'row' of 'granularity' (expected per-channel or per-tensor)" '{"rules": [{"weights": "u8", "granularity": "row"}]}'
recipe op 1 recipe.op "recipe.json:/rules/0/op: error|unknown op 'conv'; did you mean 'conv2d'?" '{"rules": [{"op": "conv"}]}'
recipe method 1 method.unknown "recipe.json:/rules/1/method: error|unknown calibration method 'median' (expected minmax" '{"rules": [{}, {"method": "median"}]}'
recipe method-value 1 method.value "recipe.json:/rules/0/method: error|invalid value '5' of parameter p of calibration method percentile (expected a number from 50 to 100)" '{"rules": [{"method": "percentile:p=5"}]}'
recipe method-parameter 1 method.param "recipe.json:/rules/0/method: error|unknown parameter 'bins' of calibration method kl (expected clip)" '{"rules": [{"method": "kl:bins=5"}]}'
recipe method-kind 1 json.kind 'recipe.json:/rules/0/method' '{"rules": [{"method": 5}]}'
recipe kind 1 json.kind 'recipe.json:/rules/0/skip' '{"rules": [{"skip": "yes"}]}'
recipe list 1 json.kind 'recipe.json:/rules' '{"rules": {}}'
recipe array 1 json.kind '' '[]'
recipe rule 1 json.kind 'recipe.json:/rules/0' '{"rules": [3]}'
recipe syntax 1 json.syntax 'recipe.json:1:' '{"rules": ['
recipe skipped 3 legalize.float "'y' stays in float: skipped by /rules/0 of the recipe" '{"rules": [{"name": "y", "skip": true}]}'
printf '{"rules": [{"activations": "u8"}]}' >recipe.json
case_of recipe-rfc 1 recipe.storage "invalid value 'u8' of 'activations': scheme rfc quantizes symmetrically" compile good.json --calib ok.npy --recipe recipe.json --scheme rfc -o out -q
case_of recipe-file 1 file.open 'none.json: error' compile good.json --calib ok.npy --recipe none.json -o out -q
case_of skipped 3 legalize.float "'y' stays in float: skipped by 'first'" compile good.json --calib ok.npy --skip first -o out -q

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
for row in 'saved_model from_saved_model(folder)' 'net.h5 from_keras_model' 'net.keras a Keras model' 'NET.PT torch.onnx.export' 'a.pth torch.onnx.export' 'saved_model.pb tf2onnx' 'm.pkl skl2onnx' 'w.safetensors docs/json-format.md' 'w.irpa quern convert'; do
	printf 'bytes' >"${row%% *}"
	case_of "convert ${row%% *}" 2 model.format "${row%% *}: error: this is |${row#* }" inspect "${row%% *}" -q
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
case_of unknown-kind 1 data.format 'good.txt: error|.npz' run good.json good.txt -o out.npy -q
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
case_of both-wrong 1 'op.unknown npy.truncated' 'rleu|short.npy' compile op.json --calib short.npy -o out -q

# ---- labels ----

bytes 2 '\001\000\000\000\000\000\000\000' | npy two-labels.npy '<i8' '2,'
case_of labels-count 1 data.labels 'two-labels.npy|2 labels|3 samples' eval good.json --data ok.npy --labels two-labels.npy -q
bytes 3 "$one" | npy float-labels.npy '<f4' '3,'
case_of labels-float 1 data.labels 'float-labels.npy|f32|integer' eval good.json --data ok.npy --labels float-labels.npy -q
bytes 3 '\002' | npy high-labels.npy '|u1' '3,'
case_of labels-range 1 data.labels 'high-labels.npy|label 2|2 classes' eval good.json --data ok.npy --labels high-labels.npy -q
printf 'file,label\na,0\nb,1\nc,x\n' >labels.csv
case_of labels-word 1 labels.number "labels.csv:4: error|cell 2: 'x'" eval good.json --data ok.npy --labels labels.csv -q
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
	for what in 'inspect good.json' 'opt good.json' "opt $QUERN_SOURCE/examples/digits/digits.json" 'run good.json ok.npy' '--help' '--version' 'compile --help' 'opt --list-passes'; do
		cases=$((cases + 1))
		# shellcheck disable=SC2086
		"$QUERN_BIN" $what <&- >/dev/full 2>stderr
		code=$?
		[ "$code" -eq 1 ] || fail "full stdout: $what" "exit code $code" stderr
		grep -q "^quern: stdout: " stderr || fail "full stdout: $what" "no reason" stderr
	done
fi

finish
