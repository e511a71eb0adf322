#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# export.sh - quern export: the digits as quantized ONNX; what is read back without samples gives the same codes.
. "$(dirname "$0")/common.inc"

E=$QUERN_SOURCE/examples/digits

run export -q "$E/digits.json" --calib "$E/calib.npy" -o digits.onnx
if [ "$code" -ne 0 ] && grep -q 'import.support' stderr; then
	echo "skipped: built without ONNX"
	exit 0
fi
good() {
	local name=$1
	shift
	cases=$((cases + 1))
	run "$@"
	[ "$code" -eq 0 ] || fail "$name" "exit code $code" stderr
}
refuses() {
	local name=$1 words=$2
	shift 2
	cases=$((cases + 1))
	run "$@"
	[ "$code" -eq 2 ] || fail "$name" "exit code $code" stderr
	has_words "$name" stderr "$words"
}
good export export -q "$E/digits.json" --calib "$E/calib.npy" -o digits.onnx
good before opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=legalize -o before.json
good 'no samples' opt -q digits.onnx --rounding double --stop-after=legalize -o after.json
good 'run before' run -q before.json "$E/test_x.npy" -o before.npy
good 'run after' run -q after.json "$E/test_x.npy" -o after.npy
cases=$((cases + 1))
cmp -s before.npy after.npy || fail codes "the model that was read back gives other codes" stderr

# what is calibrated already is written as it is
good bound opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=bind -o bound.json
good 'export bound' export -q bound.json -o bound.onnx --format onnx-qdq
good 'opt bound' opt -q bound.onnx --rounding double --stop-after=legalize -o after.json
good 'run bound' run -q after.json "$E/test_x.npy" -o after.npy
cases=$((cases + 1))
cmp -s before.npy after.npy || fail bound "the model that was read back gives other codes" stderr

# parameters alone, by the names of values: those of the input and of a layer's weights
good encodings export -q bound.json --format encodings -o encodings.json
cases=$((cases + 1))
has_words encodings encodings.json '"version": "0.6.1"|"activation_encodings"|"param_encodings"'
grep -A1 '"image": \[' encodings.json | grep -q '"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "max": 1.*, "min": 0.*, "offset": 0, "scale": 0.0039215' ||
	fail encodings "the input is not as it should be" encodings.json
[ "$(sed -n '/"conv1.w": \[/,/\]/p' encodings.json | grep -c '"is_symmetric": "True"')" -eq 16 ] ||
	fail encodings "conv1 has not 16 channels" encodings.json

# the real values alone
good 'from float' opt -q digits.onnx --from-float --stop-after=clean -o float.qir
cases=$((cases + 1))
grep -q quantize float.qir && fail 'from float' "there is a quantize" float.qir

refuses format "--format|'tflite'" export "$E/digits.json" --format tflite -o x.onnx
refuses output "-o FILE is needed" export "$E/digits.json"
cases=$((cases + 1))
run export -q before.json -o x.onnx
[ "$code" -eq 1 ] || fail integer "exit code $code" stderr
has_words integer stderr 'export.stage|float or calibrated'
finish
