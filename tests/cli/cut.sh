#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cut.sh - --cut ends a model at values of its file: JSON, text form, ONNX, TFLite; compiled it computes what the whole one
# has there.
. "$(dirname "$0")/common.inc"
E=$QUERN_SOURCE/examples/digits

good export export -q "$E/digits.json" --calib "$E/calib.npy" --reduce-range -o digits.onnx
silent 'whole' run -q "$E/digits.json" "$E/test_x.npy" --cut pool1 -o pool1.npy
silent 'two' run -q "$E/digits.json" "$E/test_x.npy" --cut logits --cut pool1 -o logits.npy -o second.npy
cases=$((cases + 1))
cmp -s pool1.npy second.npy || fail 'two' "the second output is another one"
good 'compiled' compile "$E/digits.json" --calib "$E/calib.npy" --cut logits --cut pool1 -o out
has_words 'compiled' stdout 'output       logits|output       pool1'
cc -std=c99 -DDIGITS_SELFTEST_MAIN out/*.c -o selftest && ./selftest >log || fail compiled "the self-test fails" log
good 'inspect onnx' inspect digits.onnx --cut conv2
has_words 'inspect onnx' stdout 'output       conv2'
grep -q softmax stdout && fail 'inspect onnx' "what comes after is there" stdout
good 'text form' opt -q "$E/digits.json" --cut conv2 --stop-after=clean -o cut.qir
usage 'unknown' "import.cut|no value of the file is called 'conv3'; did you mean 'conv1'?" inspect digits.onnx --cut conv3
usage 'unknown, json' "import.cut|no value is called 'conv3'; did you mean 'conv1'?" inspect "$E/digits.json" --cut conv3
usage 'twice' "import.cut|'conv2' is there twice" inspect "$E/digits.json" --cut conv2 --cut conv2
if [ -d "${QUERN_DATA:-/nowhere}/models" ]; then
	good 'tflite' inspect "$QUERN_DATA/models/resnet8_int8.tflite" --cut model/activation_6/Relu
	usage 'unknown, tflite' "import.cut|no tensor of the file is called" inspect "$QUERN_DATA/models/kws_int8.tflite" --cut nowhere
fi

finish
