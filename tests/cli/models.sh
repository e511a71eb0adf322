#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# models.sh - networks of other tools, as a user takes them: inspect, compile, the emitted self-test under strict flags, the integer results
# beside the float ones, and the commands of docs/importing.md and README.md.  Two small files are always there; real networks are in $QUERN_DATA, and
# without it they are skipped.
. "$(dirname "$0")/common.inc"

# network FILE SAMPLES MIN_COSINE OPTIONS…: compiles it, and compares the integer model with a float one.
network() {
	local file=$1 cosine=$3
	good "inspect $file" inspect "$file"
	has_words "inspect $file" stdout "model        |parameters|MACs"
	set -- --calib "$2" "${@:4}" --quiet
	good "compile $file" compile "$file" "$@" --name net -o out
	has_words "compile $file" stdout "arena        |weights      "
	if [ "$code" -eq 0 ]; then
		cc -std=c99 -Wall -Wextra -Wpedantic -Werror -O2 -DNET_SELFTEST_MAIN out/*.c -o selftest >log 2>&1 || fail "cc $file" "it does not compile" log
		./selftest >log 2>&1 || fail "self-test of $file" "it fails" log
	fi
	rm -rf out
	[[ $file == *int8* ]] || quantized "$file" "$cosine" "$@"
}

# quantized FILE MIN_COSINE OPTIONS…: the integer model gives nearly what the float model gives, on the samples it was calibrated on.
quantized() {
	local file=$1 cosine=$2
	shift 2
	good "eval $file" eval "$file" "$@" --data "$2" --against "$file" --min cosine="$cosine"
	has_words "eval $file" stdout "cosine"
}

# floats FILE SHAPE N: N numbers from -1 to 1 as f32, by a fixed rule: k/8 for k of -8 … 7.
floats() {
	local i=0 all='' bits=(200 277 140 277 100 277 040 277 000 277 300 276 200 276 000 276 000 000 000 076 200 076 300 076 000 077 040 077 100 077 140 077)
	while [ "$i" -lt "$3" ]; do
		all=$all"\\000\\000\\${bits[2 * (i * 7 % 16)]}\\${bits[2 * (i * 7 % 16) + 1]}"
		i=$((i + 1))
	done
	printf "$all" | npy "$1" '<f4' "$2"
}
floats dense.npy '32, 2' 64
floats image.npy '8, 1, 4, 4' 128
network "$QUERN_SOURCE/tests/fuzz/corpus/tflite/dense.tflite" dense.npy 0.98
network "$QUERN_SOURCE/tests/fuzz/corpus/onnx/image.onnx" image.npy 0.98

D=${QUERN_DATA:-}
if [ ! -d "$D/models" ]; then
	echo "QUERN_DATA is not set, or holds no folder models: skipped"
	finish
	exit
fi
M=$D/models
S=$D/samples

# noise FILE SHAPE BYTES: samples in bytes, those of a model file.
noise() {
	head -c "$3" "$M/ad_float.tflite" | npy "$1" '|u1' "$2"
}
noise vww.npy '4, 96, 96, 3' 110592
noise sine.npy '100, 1' 100
tail -c 184320 "$S/cifar_x.npy" | npy cifar.npy '|u1' '60, 32, 32, 3'
tail -c 78400 "$S/mnist_x.npy" | npy mnist_nchw.npy '|u1' '100, 1, 28, 28'

network "$M/hello_world_float.tflite" sine.npy 0.99 --input-scale 0.0246
network "$M/hello_world_int8.tflite" sine.npy 0.99 --input-scale 0.0246
network "$M/mnist_cntk.onnx" mnist_nchw.npy 0.99 --input-scale 1
for f in float int8; do
	network "$M/mnist_valid_$f.tflite" "$S/mnist_x.npy" 0.99 --input-scale 0.00392157
	network "$M/resnet8_$f.tflite" cifar.npy 0.97 --input-scale 1
	network "$M/vww_$f.tflite" vww.npy 0.97 --input-scale 0.00392157
	network "$M/ad_$f.tflite" "$S/ad_x.npy" 0.98
done
for f in hybrid_float int8; do
	network "$M/kws_$f.tflite" "$S/kws_x.npy" 0.98 --input-scale 0.5847029 --input-zero 83
done

# ---- the commands of docs/importing.md and README.md, in a folder with files of the names that they take ----

mkdir -p docs bin
printf '#!/bin/sh\nexec "%s" "$@"\n' "$QUERN_BIN" >bin/quern
chmod +x bin/quern

# part FILE OFFSET BYTES: of a .npy file whose header has 128 bytes.
part() {
	tail -c +$((129 + $2)) "$1" | head -c "$3"
}
# real FILE TYPE SAMPLES OPTIONS…: samples as the f32 numbers that they stand for, by a graph that changes nothing.
real() {
	local file=$1
	printf 'graph @main(%%x: %s) {\n return %%x\n}\n' "$2" >same.qir
	shift 2
	good "$file" run same.qir "$@" -o "$file" --quiet
}
cp "$M/mnist_cntk.onnx" docs/mnist.onnx
cp "$M/mnist_cntk.onnx" docs/model.onnx
cp "$M/kws_int8.tflite" docs/model.tflite
cp "$M/kws_int8.tflite" docs/model_int8.tflite
cp "$M/kws_int8.tflite" docs
cp "$M/kws_hybrid_float.tflite" docs/kws_float.tflite
part "$S/mnist_x.npy" 0 78400 >docs/c.bin
part "$S/mnist_x.npy" 78400 78400 >docs/x.bin

# block WORD: the block of commands that has it.
block() {
	cases=$((cases + 1))
	awk -v word="$1" '/^```/ {if (inside && text ~ word && text ~ /^quern/) printf "%s", text; inside = !inside; text = ""; next} {text = text $0 "\n"}' \
		"$QUERN_SOURCE/docs/importing.md" >block.sh
	[ -s block.sh ] || fail "block of $1" "there is none in docs/importing.md"
	(cd docs && PATH="$work/bin:$PATH" sh -e ../block.sh) >stdout 2>stderr <&- || fail "block of $1" "it fails" stderr
}
real docs/samples.npy 'tensor<1x1x28x28xf32>' mnist_nchw.npy --input-scale 1
cp docs/samples.npy docs/x.npy
part "$S/mnist_y.npy" 23200 800 | npy docs/y.npy '<i8' '100,'
block 'inspect model'
sed -n 's|^\$ build/\(quern compile model.*\)|\1|p' "$QUERN_SOURCE/README.md" >readme.sh
cases=$((cases + 1))
[ "$(grep -c . readme.sh)" -eq 2 ] || fail readme "it has not two compilations of model files" readme.sh
(cd docs && PATH="$work/bin:$PATH" sh -e ../readme.sh) >stdout 2>stderr <&- || fail readme "its commands fail" stderr
part "$S/mnist_y.npy" 800 800 | npy docs/y.npy '<i8' '100,'
block 'mnist.onnx'
real docs/x.npy 'tensor<1x49x10x1xf32>' "$S/kws_x.npy" --input-scale 0.5847029 --input-zero 83
cp docs/x.npy docs/c.npy
cp "$S/kws_y.npy" docs/y.npy
block 'kws_int8'

finish
