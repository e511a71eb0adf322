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
good 'no samples' opt -q digits.onnx --stop-after=legalize -o after.json
good 'run before' run -q before.json "$E/test_x.npy" -o before.npy
good 'run after' run -q after.json "$E/test_x.npy" -o after.npy
cases=$((cases + 1))
cmp -s before.npy after.npy || fail codes "the model that was read back gives other codes" stderr

# what is calibrated already is written as it is
good bound opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=bind -o bound.json
good 'export bound' export -q bound.json -o bound.onnx --format onnx-qdq
good 'opt bound' opt -q bound.onnx --stop-after=legalize -o after.json
good 'run bound' run -q after.json "$E/test_x.npy" -o after.npy
cases=$((cases + 1))
cmp -s before.npy after.npy || fail bound "the model that was read back gives other codes" stderr

# the graph that is read is the one that was written; quantized files as they are
same() {
	local name=$1 model=$2
	shift 2
	good "$name" export -q "$model" "$@" -o same.onnx
	good "$name" opt -q "$model" "$@" --stop-after=requantize -o direct.qir
	good "$name" opt -q same.onnx --stop-after=requantize -o back.qir
	cases=$((cases + 1))
	sed '1s/model "[^"]*"//' direct.qir >one
	sed '1s/model "[^"]*"//' back.qir >two
	cmp -s one two || fail "$name" "another graph comes back"
}
same 'graph of digits' "$E/digits.json" --calib "$E/calib.npy"
same 'graph of digits, u8' "$E/digits.json" --calib "$E/calib.npy" --activations u8
same 'graph of digits, i16 and i4' "$E/digits.json" --calib "$E/calib.npy" --activations i16 --weights-type i4
same 'graph of digits, rfc' "$E/digits.json" --calib "$E/calib.npy" --scheme rfc
if [ -d "${QUERN_DATA:-/nowhere}/models" ]; then
	for f in kws_int8 resnet8_int8 vww_int8 ad_int8 mnist_valid_int8 hello_world_int8; do
		same "graph of $f" "$QUERN_DATA/models/$f.tflite"
	done
	same 'graph of ad_float' "$QUERN_DATA/models/ad_float.tflite" --calib "$QUERN_DATA/samples/ad_x.npy"
	same 'graph of kws_hybrid_float' "$QUERN_DATA/models/kws_hybrid_float.tflite" \
		--calib "$QUERN_DATA/samples/kws_x.npy" --input-zero 83 --input-scale 0.5847029
else
	echo "skipped: QUERN_DATA is not set, so no networks of other tools"
fi

# parameters alone, by the names of values: those of the input and of a layer's weights
good encodings export -q bound.json --format encodings -o encodings.json
cases=$((cases + 1))
has_words encodings encodings.json '"version": "0.6.1"|"activation_encodings"|"param_encodings"'
grep -A1 '"image": \[' encodings.json | grep -q '"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "max": 1.*, "min": 0.*, "offset": 0, "scale": 0.0039215' ||
	fail encodings "the input is not as it should be" encodings.json
[ "$(sed -n '/"conv1.w": \[/,/\]/p' encodings.json | grep -c '"is_symmetric": "True"')" -eq 16 ] ||
	fail encodings "conv1 has not 16 channels" encodings.json

# read back, they are the model that was calibrated; the name of an accumulator's value is the model's own
has_words encodings encodings.json '"pw_bias": ['
back() {
	local name=$1
	shift
	good "$name" opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=bind "$@" -o direct.qir
	good "$name" export -q "$E/digits.json" --calib "$E/calib.npy" "$@" --format encodings -o e.json
	good "$name" opt -q "$E/digits.json" --encodings e.json --stop-after=bind "$@" -o back.qir
	sed '1s/ options .*//' direct.qir >one
	sed '1s/ options .*//' back.qir >two
	cmp -s one two || fail "$name" "encodings that were read back give another model"
}
back i8
back u8 --activations u8
back i16 --activations i16
back i4 --weights-type i4
back rfc --scheme rfc
back per-tensor --weights per-tensor --method kl
good 'encodings twice' export -q "$E/digits.json" --encodings encodings.json --format encodings -o again.json
cmp -s encodings.json again.json || fail 'encodings twice' "they differ"
good 'encodings emitted' compile -q "$E/digits.json" --encodings encodings.json -o coded
good 'encodings emitted' compile -q "$E/digits.json" --calib "$E/calib.npy" --self-test 0 -o sampled
for f in digits.c digits.h digits_weights.c; do
	for d in coded sampled; do
		sed -e '/ \*   \(content\|options\) /d' -e '/_CONTENT/d' $d/$f >$d.text
	done
	cmp -s coded.text sampled.text || fail 'encodings emitted' "$f differs"
done
good 'encodings eval' eval -q "$E/digits.json" --encodings encodings.json --data "$E/test_x.npy" --labels "$E/test_y.npy" --min-accuracy 98.9
# what is not named: calibrated, with samples
sed '/"relu1": \[/,/\],/d' encodings.json >less.json
good 'encodings and samples' opt -q "$E/digits.json" --encodings less.json --calib "$E/calib.npy" --stop-after=legalize -o less.qir
sed '1s/ options .*//' less.qir >two
good 'encodings and samples' opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=legalize -o direct.qir
sed '1s/ options .*//' direct.qir >one
cmp -s one two || fail 'encodings and samples' "another model"

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
