#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# suggestions.sh - every unknown name gets the nearest known one: ops, keys, attributes, values of
# lists, names of the model, calibration methods, passes, targets.
. "$(dirname "$0")/common.inc"

cat >good.json <<'END'
{
  "quern": 1,
  "name": "good",
  "stage": "float",
  "graph": {
    "inputs": [{"name": "image", "type": "tensor<1x4xf32>"}],
    "constants": {
      "weights": {"type": "tensor<2x4xf32>", "data": [0.5, -1, 0.25, 1, 1, 0.5, -0.25, 0.75]}
    },
    "nodes": [
      {"name": "hidden", "op": "dense", "inputs": ["image", "weights"]},
      {"name": "clipped", "op": "clip", "inputs": ["hidden"], "attrs": {"min": 0, "max": 6}},
      {"name": "score", "op": "reduce_mean", "inputs": ["clipped"], "attrs": {"axes": [1]}}
    ],
    "outputs": ["score"]
  }
}
END
sed 's/^ *//' >good.qir <<'END'
	model "m"
	graph @main(%image: tensor<1x4x4x1xf32>) {
	%pooled = avg_pool %image {kernel=[2,2], padding=valid}
	return %pooled
	}
END
bytes 12 "$one" | npy ok.npy '<f4' '3, 4'

# json NAME "id" "words" SED-SCRIPT and text …: the good model, with one name changed.
json() {
	sed "$4" good.json >bad.json
	! cmp -s good.json bad.json || fail "$1" "the edit changes nothing"
	case_of "$1" 1 "$2" "$3" inspect bad.json
}
text() {
	sed "$4" good.qir >bad.qir
	! cmp -s good.qir bad.qir || fail "$1" "the edit changes nothing"
	case_of "$1" 1 "$2" "$3" inspect bad.qir
}

good json inspect good.json
good text inspect good.qir
json op op.unknown "unknown op 'Dense'; did you mean 'dense'?" 's/"dense"/"Dense"/'
json 'op of other tools' op.unknown "unknown op 'Fully_Connected'; did you mean 'dense'?" 's/"dense"/"Fully_Connected"/'
json 'layer of other tools' op.unknown "unknown op 'MaxPool2D'; did you mean 'max_pool'?" 's/"clip"/"MaxPool2D"/'
json 'type of a list' type.unknown "expected tensor<…> or tuple<…>, such as tensor<1x8xf32>, found 'f32[1,4]'" 's/tensor<1x4xf32>/f32[1,4]/'
json 'op far away' op.unknown "unknown op 'frobnicate' [op.unknown]" 's/"dense"/"frobnicate"/'
json key json.key.unknown "unknown key 'input' (expected|; did you mean 'inputs'?" 's/"inputs": \["image"/"input": ["image"/; s/"op": "dense"/"inputs": ["image", "weights"], &/'
json attribute attr.unknown "unknown attribute 'axis' of reduce_mean (expected axes or keepdims); did you mean 'axes'?" 's/"axes": \[1\]/"axes": [1], "axis": 1/'
json 'attribute value' attr.value "invalid value 'true' of attribute 'min' of clip (expected a number, inf or -inf)" 's/"min": 0/"min": true/'
json value graph.value.undefined "unknown input, constant or node 'wieghts'; did you mean 'weights'?" 's/"weights"\]/"wieghts"]/'
json output graph.value.undefined "unknown input, constant or node 'scor'; did you mean 'score'?" 's/\["score"\]/["scor"]/'
json stage json.value "invalid value 'flaot' of 'stage' (expected float, symbolic, calibrated or integer); did you mean 'float'?" 's/"float"/"flaot"/'
json 'layout of dense weights' shape.channels "the data has 4 features, the weights 'weights' take 2: weights are [outputs, inputs]; transpose them" 's/tensor<2x4xf32>/tensor<4x2xf32>/'
text 'layout of convolution weights' shape.channels "weights are [out, height, width, in / groups]: transpose them" '/graph/s/.*/&\n%w = const : tensor<3x3x1x8xf32> rand 1/; s/avg_pool.*/conv2d %image, %w/'
json type type.unknown "unknown element type at 'float32>'; did you mean 'f32'?" 's/4xf32>"}\]/4xfloat32>"}]/'
text op op.unknown "node 'pooled': unknown op 'avgpool'; did you mean 'avg_pool'?" 's/avg_pool/avgpool/'
text attribute attr.unknown "unknown attribute 'paddin' of avg_pool|; did you mean 'padding'?" 's/padding=/paddin=/'
text enum attr.value "invalid value 'vaild' of attribute 'padding' of avg_pool (expected explicit, same or valid); did you mean 'valid'?" 's/=valid/=vaild/'
text value graph.value.undefined "unknown value '%imag'|; did you mean 'image'?" 's/d %image {/d %imag {/; s/%image {/%imag {/; s/avg_pool %image/avg_pool %imag/'

Q="quantize good.json"
good 'skip name' $Q --skip name:hiden
has_words 'skip name' stderr "'hiden' matches nothing that would be quantized; did you mean 'hidden'?"
usage method "unknown calibration method 'percentil' (expected minmax|; did you mean 'percentile'? [method.unknown]" compile good.json --calib ok.npy -o out --method percentil
usage 'method parameter' "unknown parameter 'q' of calibration method percentile (expected p" compile good.json --calib ok.npy -o out --method percentile:q=99
usage 'method value' "invalid value '101' of parameter p of calibration method percentile (expected a number from" compile good.json --calib ok.npy -o out --method percentile:p=101
usage pass "unknown pass 'partitoin' (expected inline-bodies, axes, clean, fake-quant, equalize, partition,|; did you mean 'partition'?" opt good.json --passes clean,partitoin
usage skip "invalid value 'frist' (expected first, last, name:GLOB or op:OP); did you mean 'first'?" $Q --skip frist
usage 'skip op' "unknown op 'dens'; did you mean 'dense'?" $Q --skip op:dens
usage explain "unknown symbol or quantized value 'hiden'; did you mean 'hidden.x'?" calibrate good.json --calib ok.npy -o out.json --explain hiden
recipe() {
	printf '{"rules": [%s]}' "$4" >recipe.json
	case_of "recipe $1" 1 "$2" "$3" quantize good.json --recipe recipe.json
}
recipe name recipe.nothing "matches nothing|named 'hiddn'; did you mean 'hidden'?" '{"name": "hiddn", "skip": true}'
recipe op recipe.op "unknown op 'dens'; did you mean 'dense'?" '{"op": "dens", "skip": true}'
recipe value recipe.value "invalid value 'I8' of 'activations' (expected i8, u8, i16, i8 per-axis, u8 per-axis, i16 per-axis, dynamic, dynamic per-row or auto); did you mean 'i8'?" '{"activations": "I8"}'
recipe key json.key.unknown "unknown key 'weigths'|; did you mean 'weights'?" '{"weigths": "i4"}'
case_of sample 1 data.input "unknown input 'imag' (expected 'image'); did you mean 'image'?" calibrate good.json --calib imag=ok.npy -o out.json

finish
