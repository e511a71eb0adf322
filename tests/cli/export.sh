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

# options that would give it other parameters come too late, for eval of the file, too
for o in '--activations i16' '--method kl' '--skip first' '--equalize' '--scheme rfc'; do
	usage "late $o" 'already' export -q bound.json $o -o x.onnx
	usage "late $o in eval" 'already' eval -q bound.json --data "$E/test_x.npy" --against bound.json $o
done

for o in '--rounding single' --inline-bodies --merge-always; do
	usage "late $o in eval" "${o%% *} is for quantizing|already" eval -q bound.json --data "$E/test_x.npy" --against bound.json $o
done

# values without a range get one from samples, in the file
cat >open.qir <<'END'
model "open" stage calibrated
graph @main(%x: tensor<1x4xf32>) {
  %q = quantize %x : tensor<1x4x!quant.uniform<i8:f32, 0.01>>
  %d = dequantize %q : tensor<1x4xf32>
  %e = exp %d
  %s = add %e, %d
  %r = quantize %s : tensor<1x4x!quant.uniform<i8:f32, 0.02>>
  %y = dequantize %r : tensor<1x4xf32>
  return %y
}
END
bytes 16 '\000\000\200\077' | npy four.npy '<f4' '4, 4'
good 'open' export -q open.qir --calib four.npy -o opened.onnx
good 'opened' compile -q opened.onnx -o opened

# a loop is refused once, with the way out
cat >loop.qir <<'END'
model "loop" stage calibrated
graph @main(%x: tensor<4x4xf32>) {
  %q = quantize %x : tensor<4x4x!quant.uniform<i8:f32, 0.02>>
  %d = dequantize %q
  %zero = const : tensor<4xf32> splat 0.0
  %i = loop {count=4}
  %h = loop_carry %zero, %i
  %s = loop_slice %d, %i
  %n = maximum %s, %h
  %e = loop_end %i, %n
  %y = loop_stack %n, %e {length=4}
  return %y
}
END
case_of 'loop' 3 export.op "loop 'i' cannot be written to ONNX|--inline-bodies" export -q loop.qir -o x.onnx
bytes 16 '\000\000\200\077' | npy loop.npy '<f4' '1, 4, 4'
good 'loop of steps' export -q loop.qir --inline-bodies -o loop.onnx
good 'loop of steps, equal' eval -q loop.onnx --data loop.npy --against loop.qir --max max-diff=0

# the graph that is read is the one that was written; quantized files as they are
same_graph() {
	local name=$1 model=$2
	shift 2
	good "$name" export -q "$model" "$@" -o same.onnx
	good "$name" opt -q "$model" "$@" --stop-after=requantize -o direct.qir
	good "$name" opt -q same.onnx --stop-after=requantize -o back.qir
	cases=$((cases + 1))
	# the names that each file has for its tensors are its own
	sed '1s/model "[^"]*"//; /^tensor /d' direct.qir >one
	sed '1s/model "[^"]*"//; /^tensor /d' back.qir >two
	cmp -s one two || fail "$name" "another graph comes back"
}
same_graph 'graph of digits' "$E/digits.json" --calib "$E/calib.npy"
same_graph 'graph of digits, u8' "$E/digits.json" --calib "$E/calib.npy" --activations u8
same_graph 'graph of digits, i16 and i4' "$E/digits.json" --calib "$E/calib.npy" --activations i16 --weights-type i4
same_graph 'graph of digits, rfc' "$E/digits.json" --calib "$E/calib.npy" --scheme rfc
same_graph 'graph of digits, blocks of i4' "$E/digits.json" --calib "$E/calib.npy" --weights-type i4 --weight-block 16
same_graph 'graph of digits, blocks of i8' "$E/digits.json" --calib "$E/calib.npy" --weight-block 8
same_graph 'graph of digits, blocks of i2' "$E/digits.json" --calib "$E/calib.npy" --weights-type i2 --weight-block 8
cat >windows.qir <<'END'
model "windows"
graph @main(%x: tensor<1x3x4x8xf32>, %v: tensor<1x2x3x4x8xf32>) {
  %w = const : tensor<6x2x3x4xf32> rand 1
  %y = conv2d_transpose %x, %w {stride = [2, 1], groups = 2}
  %u = const : tensor<4x2x1x2x8xf32> rand 2
  %z = conv3d %v, %u
  return %y, %z
}
END
bytes 96 '\000\000\200\077' | npy image.npy '<f4' '1, 3, 4, 8'
bytes 192 '\000\000\200\277' | npy volume.npy '<f4' '1, 2, 3, 4, 8'
same_graph 'graph of windows in blocks of i4' windows.qir --calib x=image.npy --calib v=volume.npy --weights-type i4 --weight-block 8
has_words 'blocks of both' back.qir 'i4<-7:7>:f32:{0:1, 1:1, 2:2, 3:4}|i4<-7:7>:f32:{0:1, 1:1, 2:1, 3:1, 4:8}'
same_graph 'graph of digits, i2' "$E/digits.json" --calib "$E/calib.npy" --weights-type i2
if [ -d "${QUERN_DATA:-/nowhere}/models" ]; then
	for f in kws_int8 resnet8_int8 vww_int8 ad_int8 mnist_valid_int8 hello_world_int8; do
		same_graph "graph of $f" "$QUERN_DATA/models/$f.tflite"
	done
	same_graph 'graph of ad_float' "$QUERN_DATA/models/ad_float.tflite" --calib "$QUERN_DATA/samples/ad_x.npy"
	same_graph 'graph of kws_hybrid_float' "$QUERN_DATA/models/kws_hybrid_float.tflite" \
		--calib "$QUERN_DATA/samples/kws_x.npy" --input-zero 83 --input-scale 0.5847029
else
	echo "skipped: QUERN_DATA is not set, so no networks of other tools"
fi

# what saturates in kernels that add pairs of products in 16 bits is said, and gone with weights of 7 bits
good saturation export "$E/digits.json" --calib "$E/calib.npy" -o wide.onnx
cases=$((cases + 1))
has_words saturation stderr 'export.saturation|--reduce-range|VNNI'
good reduced export "$E/digits.json" --calib "$E/calib.npy" --reduce-range -o narrow.onnx
cases=$((cases + 2))
grep -q export.saturation stderr && fail reduced "still a warning" stderr
cmp -s wide.onnx narrow.onnx && fail reduced "the same file"
good 'sums of 64 bits' export "$E/digits.json" --calib "$E/calib.npy" --activations i16 -o wide16.onnx
cases=$((cases + 1))
grep -q export.saturation stderr && fail 'sums of 64 bits' "a warning that does not matter" stderr
good 'reduced eval' eval -q narrow.onnx --data "$E/test_x.npy" --labels "$E/test_y.npy" --min-accuracy 98.5
good 'reduced text' opt -q narrow.onnx -o narrow.qir
cases=$((cases + 1))
[ "$(grep -c 'i8<-64:63>' narrow.qir)" -ge 4 ] || fail 'reduced text' "weights of 7 bits" narrow.qir
refuses 'reduced encodings' "--reduce-range goes with quantized ONNX" export "$E/digits.json" --format encodings --reduce-range -o x.json

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
	sed '1s/ options .*//;/^clipped /d' direct.qir >one # what samples had outside is theirs
	sed '1s/ options .*//' back.qir >two
	cmp -s one two || fail "$name" "encodings that were read back give another model"
}
back i8
back u8 --activations u8
back i16 --activations i16
back i4 --weights-type i4
back rfc --scheme rfc
back per-tensor --weights per-tensor --method kl

# the other versions of the form say the same
version() {
	local number=$1 words=$2
	shift 2
	good "version $number" export -q "$E/digits.json" --calib "$E/calib.npy" "$@" --format encodings --encodings-version "$number" -o e.json
	cases=$((cases + 1))
	has_words "version $number" e.json "\"version\": \"$number\"|$words"
	good "version $number" opt -q "$E/digits.json" --calib "$E/calib.npy" --stop-after=bind "$@" -o direct.qir
	good "version $number" opt -q "$E/digits.json" --encodings e.json --stop-after=bind "$@" -o back.qir
	sed '1s/ options .*//' direct.qir >one
	sed '1s/ options .*//' back.qir >two
	cmp -s one two || fail "version $number" "encodings that were read back give another model"
}
version 1.0.0 '"enc_type": "PER_TENSOR"|"enc_type": "PER_CHANNEL"|"is_sym": true|"is_sym": false|"bw": 8|"dtype": "INT"'
version 1.0.0 '"bw": 16' --activations i16 --weights-type i4
version 2.0.0 '"output_dtype": "int8"|"y_scale": [|"axis": 0|"y_zero_point": -128'
version 2.0.0 '"output_dtype": "uint8"' --activations u8 --weights per-tensor

# files as AIMET writes them: counts as reals, texts for truth, what it was told, values in float, names that are not here
cat >a061.json <<'JSON'
{"activation_encodings": {
  "image": [{"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "max": 0.99999, "min": 0.0, "offset": 0.0, "scale": 0.003921568393707275}],
  "bn1": [{"bitwidth": 16, "dtype": "float"}],
  "/model/out_output_0": [{"bitwidth": 8, "dtype": "int", "is_symmetric": "False", "max": 1.0, "min": 0.0, "offset": 0, "scale": 0.00392156862745098}]},
 "excluded_layers": [],
 "param_encodings": {
  "conv1.w": [{"bitwidth": 8, "dtype": "int", "is_symmetric": "True", "max": 1.27, "min": -1.28, "offset": -128, "scale": 0.01}],
  "fc.bias": [{"bitwidth": 32, "dtype": "int", "is_symmetric": "True", "max": 1.0, "min": -1.0, "offset": -2147483648, "scale": 4.6566e-10}]},
 "quantizer_args": {"activation_bitwidth": 8, "dtype": "int", "is_symmetric": "True", "param_bitwidth": 8, "per_channel_quantization": "False", "quant_scheme": "post_training_tf"},
 "version": "0.6.1"}
JSON
cat >a100.json <<'JSON'
{"version": "1.0.0",
 "activation_encodings": [
  {"bw": 8, "dtype": "INT", "enc_type": "PER_TENSOR", "is_sym": false, "name": "image", "offset": [0], "scale": [0.003921568393707275]},
  {"bw": 16, "dtype": "FLOAT", "enc_type": "PER_TENSOR", "name": "bn1"},
  {"bw": 8, "dtype": "INT", "enc_type": "PER_TENSOR", "is_sym": false, "name": "/model/out_output_0", "offset": [0], "scale": [0.00392156862745098]}],
 "excluded_layers": [],
 "param_encodings": [
  {"bw": 8, "dtype": "INT", "enc_type": "PER_CHANNEL", "is_sym": true, "name": "conv1.w", "offset": [-128], "scale": [0.01]},
  {"bw": 32, "dtype": "INT", "enc_type": "PER_TENSOR", "is_sym": true, "name": "fc.bias", "offset": [-2147483648], "scale": [4.6566e-10]}],
 "quantizer_args": {"activation_bitwidth": 8, "dtype": "int", "is_symmetric": true, "param_bitwidth": 8, "per_channel_quantization": true, "quant_scheme": "min_max"}}
JSON
cat >a200.json <<'JSON'
{"version": "2.0.0", "encodings": [
  {"name": "image", "output_dtype": "uint8", "y_scale": 0.003921568393707275},
  {"name": "/model/out_output_0", "output_dtype": "uint8", "y_scale": 0.00392156862745098, "y_zero_point": 0},
  {"name": "conv1.w", "output_dtype": "int8", "y_scale": [0.01], "axis": 0},
  {"name": "fc.bias", "output_dtype": "int32", "y_scale": 4.6566e-10}]}
JSON
for f in a061 a100 a200; do
	good "$f" opt -q "$E/digits.json" --encodings "$f.json" --calib "$E/calib.npy" --stop-after=bind -o "$f.qir"
	cases=$((cases + 1))
	grep -q "2 unknown values: '/model/out_output_0', 'fc.bias'" stderr || fail "$f" "names that are not here" stderr
	grep -q 'symbol .conv1.w : sym, len 16 = {1.000000e-02,1.000000e-02,' "$f.qir" || fail "$f" "conv1.w" "$f.qir"
	sed '1s/ options .*//' "$f.qir" >"$f.text"
done
cases=$((cases + 2))
cmp -s a061.text a100.text || fail a100 "another model than of version 0.6.1"
cmp -s a061.text a200.text || fail a200 "another model than of version 0.6.1"
broken() {
	local name=$1 from=$2 change=$3 words=$4
	cases=$((cases + 1))
	sed "$change" "$from" >broken.json
	cmp -s "$from" broken.json && fail "$name" "nothing was changed"
	run opt -q "$E/digits.json" --encodings broken.json --calib "$E/calib.npy" --stop-after=bind
	[ "$code" -eq 1 ] || fail "$name" "exit code $code" stderr
	has_words "$name" stderr "$words"
}
broken 'bad width' a061.json 's/"bitwidth": 8/"bitwidth": 9/' "'image'|/activation_encodings/image/0/bitwidth|encodings.value"
broken 'bad truth' a100.json 's/"is_sym": true/"is_sym": "yes"/' "'conv1.w'|/param_encodings/0/is_sym|True"
broken 'bad offset' a100.json 's/"offset": \[-128\]/"offset": [5]/' "'conv1.w'|/param_encodings/0/offset/0|encodings.value"
broken 'bad zero point' a200.json 's/"y_zero_point": 0/"y_zero_point": 256/' "'/model/out_output_0'|y_zero_point|encodings.value"
broken 'bad count' a100.json 's/"scale": \[0.01\]/"scale": [0.01, 0.02]/' "'conv1.w'|another number of offsets than of scales"
broken 'bad length' a200.json 's/"y_scale": \[0.01\]/"y_scale": [0.01, 0.02]/' "encodings.length|2 encodings|16"
broken 'bad scale' a061.json 's/"scale": 0.01/"scale": -0.01/' "'conv1.w'|scale|normal f32"
broken 'bad dtype' a100.json 's/"dtype": "FLOAT"/"dtype": "BF16"/' "'bn1'|/activation_encodings/1/dtype"
broken 'bad type' a200.json 's/"uint8"/"float8e5m2"/' "'image'|/encodings/0/output_dtype"
broken 'blocks' a100.json 's/PER_CHANNEL/PER_BLOCK/' "'conv1.w'|enc_type|PER_CHANNEL"
broken 'no type' a100.json 's/"enc_type": "PER_CHANNEL", //' "enc_type|json.key.missing"
broken 'twice' a100.json 's/"fc.bias"/"conv1.w"/' "'conv1.w'|twice"
broken 'float' a100.json 's/"bn1"/"relu1"/' "relu1|encodings.float|--skip"
broken 'a later version' a200.json 's/"2.0.0"/"3.0.0"/' "encodings.version|/version"
broken 'another form' a061.json 's/"0.6.1"/"1.0.0"/' "/activation_encodings|json.kind"
# what is wrong is where the message points
pointed() {
	local name=$1 file=$2
	shift 2
	cases=$((cases + 1))
	run opt -q "$E/digits.json" --encodings "$file" --calib "$E/calib.npy" --stop-after=bind --activations i16
	[ "$code" -eq 1 ] || fail "$name" "exit code $code" stderr
	has_words "$name" stderr "$1"
}
pointed 'width, 0.6.1' a061.json "/activation_encodings/image/0/bitwidth: error|has 8 bits|encodings.bitwidth"
pointed 'width, 1.0.0' a100.json "/activation_encodings/0/bw: error|has 8 bits|encodings.bitwidth"
pointed 'width, 2.0.0' a200.json "/encodings/0/output_dtype: error|has 8 bits|encodings.bitwidth"
broken 'zero point of weights' a100.json 's/"offset": \[-128\]/"offset": [-3]/' "/param_encodings/0/offset/0: error|encodings.symmetric"
refuses 'encodings version' "--encodings-version|'0.7'" export "$E/digits.json" --format encodings --encodings-version 0.7 -o x.json
refuses 'encodings version alone' "--encodings-version goes with" export "$E/digits.json" --encodings-version 1.0.0 -o x.onnx
good 'encodings twice' export -q "$E/digits.json" --encodings encodings.json --format encodings -o again.json
cmp -s encodings.json again.json || fail 'encodings twice' "they differ"
good 'encodings emitted' compile -q "$E/digits.json" --encodings encodings.json -o coded
good 'encodings emitted' compile -q "$E/digits.json" --calib "$E/calib.npy" --self-test 0 -o sampled
for f in digits.c digits.h digits_weights.c; do
	for d in coded sampled; do
		sed -e '/ \*   \(model \|options\) /d' -e '/_CONTENT/d' $d/$f >$d.text
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

# files of other tools: names of their tensors, which fit the real values of the same file
if [ -d "${QUERN_DATA:-/nowhere}/models" ]; then
	for f in resnet8_int8 kws_int8; do
		for number in 0.6.1 1.0.0 2.0.0; do
			good "$f $number" export -q "$QUERN_DATA/models/$f.tflite" --format encodings --encodings-version "$number" -o t.json
			good "$f $number" opt -q "$QUERN_DATA/models/$f.tflite" --from-float --encodings t.json --stop-after=legalize -o t.qir
			cases=$((cases + 1))
			[ -s stderr ] && fail "$f $number" "something was reported" stderr
		done
		# the weights have the codes of the file
		good "$f codes" opt -q "$QUERN_DATA/models/$f.tflite" --stop-after=legalize -o u.qir
		for g in t u; do
			grep -o 'const : tensor<[0-9x]*x!quant.uniform<i8.*' "$g.qir" | sed 's/!quant.*>> //' | sort >"$g.codes"
		done
		cases=$((cases + 1))
		[ "$(wc -l <t.codes)" -ge 9 ] && cmp -s t.codes u.codes || fail "$f codes" "weights have other codes"
	done
	has_words 'tensors of kws' t.json '"functional_1/activation/Relu;functional_1/batch_normalization/FusedBatchNormV3;'
	good 'another file of the network' opt -q "$QUERN_DATA/models/kws_hybrid_float.tflite" --encodings t.json --stop-after=bind -o u.qir
	cases=$((cases + 1))
	[ -s stderr ] && fail 'another file of the network' "something was reported" stderr
	tail -c 7840 "$QUERN_DATA/samples/mnist_x.npy" >m.bin
	good 'names of an onnx' export -q "$QUERN_DATA/models/mnist_cntk.onnx" --calib m.bin --dtype u8 --shape 1,28,28 --input-scale 1 --format encodings -o t.json
	cases=$((cases + 1))
	[ "$(sed -n 's/^    "\(.*\)": \[$/\1/p' t.json | tr '\n' ' ')" = "Input3 Pooling66_Output_0 Pooling160_Output_0_reshape0 Plus214_Output_0 Parameter5 Parameter87 Parameter193 " ] ||
		fail 'names of an onnx' "other names" t.json
fi

# the real values alone
good 'from float' opt -q digits.onnx --from-float --stop-after=clean -o float.qir
cases=$((cases + 1))
grep -q '= quantize' float.qir && fail 'from float' "there is a quantize" float.qir
# … of MODEL: the reference stays quantized, so there is a difference
good 'from float, against' eval -q digits.onnx --from-float --data "$E/test_x.npy" --against digits.onnx --min sqnr=20 --max sqnr=80

refuses format "--format|'tflite'" export "$E/digits.json" --format tflite -o x.onnx
# the name of the file says its form, --format may say it too
refuses 'unknown end' "'x.tflite'|FILE.onnx|FILE.encodings" export "$E/digits.json" --calib "$E/calib.npy" -o x.tflite
refuses 'other end' "'x.onnx'|--format encodings|FILE.json" export "$E/digits.json" --calib "$E/calib.npy" --format encodings -o x.onnx
refuses 'other end' "'x.json'|--format onnx-qdq|FILE.onnx" export "$E/digits.json" --calib "$E/calib.npy" --format onnx-qdq -o x.json
cases=$((cases + 1))
ls x.* >/dev/null 2>&1 && fail 'other end' "a refused command left a file"
for f in byend.json byend.encodings; do
	good "$f" export -q bound.json -o "$f"
	cmp -s "$f" encodings.json || fail "$f" "not the encodings"
done
refuses output "missing option: -o FILE|try: quern export --help" export "$E/digits.json"
refuses 'output over the model' "would overwrite the model" export "$E/digits.json" -o "$E/digits.json"
cases=$((cases + 1))
run export -q before.json -o x.onnx
[ "$code" -eq 1 ] || fail integer "exit code $code" stderr
has_words integer stderr 'export.stage|float or calibrated'
finish
