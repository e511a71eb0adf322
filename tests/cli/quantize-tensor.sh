#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quantize-tensor.sh - one array in a layout or by a scaled quantizer; quant_params.json applied to an archive.
. "$(dirname "$0")/common.inc"

f() { # f NUMBER…: little-endian f32 of the numbers that the tests use
	local v
	for v; do
		case $v in
		0) printf '\000\000\000\000' ;; 0.5) printf '\000\000\000\077' ;; 1) printf '\000\000\200\077' ;;
		2) printf '\000\000\000\100' ;; 0.25) printf '\000\000\200\076' ;; -1.25) printf '\000\000\240\277' ;;
		-2) printf '\000\000\000\300' ;; -3) printf '\000\000\100\300' ;; 40) printf '\000\000\040\102' ;;
		*) fail f "no bytes for $v" ;;
		esac
	done
}
# codes NAME ARCHIVE TENSOR "NUMBERS": the bytes of plane qs, as signed numbers.
codes() {
	silent "$1" tensors "$2" --dump "$3" --plane qs -o codes.npy
	[ "$(tail -c +129 codes.npy | od -An -td1 | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" = "$4" ] ||
		fail "$1" "the codes are not $4" <(tail -c +129 codes.npy | od -An -td1)
}
# silent_values NAME ARCHIVE TENSOR SHAPE NUMBERS…: its values as f32.
silent_values() {
	local name=$1 archive=$2 tensor=$3 shape=$4
	shift 4
	silent "$name" tensors "$archive" --dump "$tensor" -o have.npy
	f "$@" | npy want.npy '<f4' "$shape"
	same "$name" have.npy want.npy
}

# ---- scaled quantizers ----

f 0.5 -1.25 40 | npy a.npy '<f4' '3,'
silent static quantize-tensor a.npy --scale 4 -o a.irpa
has_words static stdout 'TensorScaledLayout, 7 bytes|d               f32   []|qs              i8    [3]|dtype = "float32"|largest difference 8.25'
codes static-codes a.irpa a '2 -5 127'
f -3 0.25 1 | npy b.npy '<f4' '3,'
silent offset quantize-tensor b.npy --scale 2 --offset 10 --type u8 -o b.safetensors --name x
codes offset-codes b.safetensors x '4 10 12' # 0.5 + 10: halves to even, after the offset is added
silent_values offset-values b.safetensors x '3,' -3 0 1
f -2 1 | npy c.npy '<f4' '2,'
silent dynamic quantize-tensor c.npy -o c.irpa
codes dynamic-codes c.irpa c '-127 64' # 63.5 ties to even
f 0 0 | npy z.npy '<f4' '2,'
silent zeros quantize-tensor z.npy
has_words zeros stdout 'SQNR infinite: no value has changed'
f 1 2 1 2 | npy m.npy '<f4' '2, 2'
f 2 40 | npy scales.npy '<f4' '2,'
silent axis quantize-tensor m.npy --axis 1 --scale scales.npy -o m.irpa
codes axis-codes m.irpa m '2 80 2 80'
silent axis-0 quantize-tensor m.npy --axis 0 --scale 2,40 -o m.irpa
codes axis-0-codes m.irpa m '2 4 40 80'
silent block quantize-tensor m.npy --block 2 -o m.irpa
has_words block stdout 'BlockScaledLayout|d               f32   [2, 1, 1]|qs              i8    [2, 1, 2]'
codes block-codes m.irpa m '64 127 64 127'
case_of no-saturation 1 quantizer.range 'element 2 becomes 160.0, beyond the range of i8' quantize-tensor a.npy --scale 4 --no-saturation -o out
case_of unsigned 1 quantizer.dtype 'u8 is unsigned' quantize-tensor a.npy --type u8
case_of type 2 quantizer.dtype "unknown element type 'i4'" quantize-tensor a.npy --type i4
case_of scales 1 quantizer.scale '2 scales without an axis' quantize-tensor a.npy --scale 1,2
case_of many-axes 1 quantizer.axis 'axis 1 of a tensor with 1 dimensions' quantize-tensor a.npy --axis 1
case_of zero-scale 1 quantizer.scale 'scale 0 is 0.0 (expected a finite number other than 0)' quantize-tensor a.npy --scale 0
bytes 2 "$nan" | npy nan.npy '<f4' '2,'
case_of nan 1 layout.value 'element 0 is nan' quantize-tensor nan.npy
usage to-scale 'chooses scales itself' quantize-tensor a.npy --to q8_0 --scale 2
usage negative-axis "--axis: invalid value '-1' (expected 0 to 7)" quantize-tensor a.npy --axis -1
usage offsets '--offset has 1 numbers, --scale 0' quantize-tensor a.npy --offset 1
usage layout "--to: invalid value 'q9'" quantize-tensor a.npy --to q9

# ---- layouts ----

bytes 32 "$one" | npy ones.npy '<f4' '1, 32'
silent packed quantize-tensor ones.npy --to q4_0 -o ones.gguf
has_words packed stdout 'q4_0, 18 bytes|(bytes)         u8    [1, 1, 18]|SQNR infinite'
silent_values packed-values ones.gguf ones '1, 32' $(printf '1 %.0s' $(seq 32))
case_of row 3 layout.row 'rows of 3 elements' quantize-tensor a.npy --to q8_0
if [ -n "${QUERN_DATA:-}" ]; then
	D=$QUERN_DATA/layouts/dtln_conv1d_2
	for form in q4_0 q8_0 q4_K; do
		silent "$form" quantize-tensor "$D.src.npy" --to $form -o w.gguf --name w
		silent "$form-values" tensors w.gguf --dump w -o w.npy
		same "$form-values" <(tail -c +129 w.npy) <(tail -c +129 "$D.$form.dequant.npy")
	done
else
	echo "QUERN_DATA is not set: real tensors were not quantized"
fi

# ---- quant_params.json ----

H='{"fc.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"fc.bias":{"dtype":"F32","shape":[2],"data_offsets":[24,32]}}'
safetensors model.safetensors "$H" < <(f 0.5 -1.25 40 1 0.25 -2 1 2)
echo '{"fc": {"input_scale": [0.02], "input_scale_shape": [], "weight_scale": [0.25, 0.5], "weight_scale_shape": [2, 1], "smoothquant_mul": [1, 2, 1], "smoothquant_mul_shape": [3]}}' >q.json
silent params convert model.safetensors model.irpa --quant-params q.json
silent params-list tensors model.irpa
has_words params-list stdout 'fc.weight        TensorScaledLayout  [2, 3]|fc.premul_input  f32     [3]|fc.q_input       StaticScaledQuantizer|fc.bias          TensorScaledLayout  [2]'
codes params-codes model.irpa fc.weight '2 -5 127 2 0 -4'
silent bias tensors model.irpa --dump fc.bias --plane qs -o bias.npy # 1 / (0.02 * 0.25), 2 / (0.02 * 0.5)
[ "$(tail -c 8 bias.npy | od -An -td4 | tr -s ' ')" = ' 200 200' ] || fail bias "not 200 and 200" <(od -td4 bias.npy)
silent quantizer tensors model.irpa --dump fc.q_input --plane scale -o scale.npy
case_of quantizer-values 2 layout.values 'StaticScaledQuantizer has no values' tensors model.irpa --dump fc.q_input -o out.npy
case_of requantized 0 '' '' convert model.irpa again.irpa --to TensorScaledLayout
case_of gguf 0 'gguf.dequantized gguf.quantizer' "tensor 'fc.q_input': warning: GGUF has no quantizers" convert model.irpa model.gguf
sed 's/\[2, 1\]/[1, 2]/' q.json >bad.json
case_of params-shape 1 quant-params.shape 'bad.json:/fc: error|output channel' convert model.safetensors out --quant-params bad.json
case_of params-missing 1 file.open 'none.json' convert model.safetensors out.irpa --quant-params none.json

finish
