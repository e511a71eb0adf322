#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# bad-encodings.sh - what the program says to encodings and recipes that are wrong.
. "$(dirname "$0")/good-model.inc"

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
encodings module 1 encodings.value "$at: error|of a PyTorch module|other file" '"x": {"output": {"0": '$asym'}}' ''
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

finish
