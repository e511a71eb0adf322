#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quantize-tensor.sh - one array in a layout or by a scaled quantizer.
. "$(dirname "$0")/common.inc"
. "$QUERN_SOURCE/tests/cli/tensors.inc"

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
case_of zero-scale 1 quantizer.scale 'the scale at index 0 is 0.0 (expected a finite number other than 0)' quantize-tensor a.npy --scale 0
bytes 2 "$nan" | npy nan.npy '<f4' '2,'
case_of nan 1 layout.value 'element 0 is nan' quantize-tensor nan.npy
usage to-scale 'chooses scales itself' quantize-tensor a.npy --to q8_0 --scale 2
usage negative-axis "--axis: invalid value '-1' (expected 0 to 7)" quantize-tensor a.npy --axis -1
usage offset-alone '--offset needs --scale' quantize-tensor a.npy --offset 1
usage offsets '--offset has 1 numbers, --scale 2' quantize-tensor a.npy --scale 1,2 --offset 1 --axis 0
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

finish
