#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# quant-params.sh - quant_params.json of Brevitas applied to an archive (convert) and to the layers of a model (import …).
. "$(dirname "$0")/common.inc"
. "$QUERN_SOURCE/tests/cli/tensors.inc"

# ---- archives ----

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
case_of gguf 0 'gguf.dequantized gguf.quantizer' "warning: 2 tensors have no form in GGUF|tensor 'fc.q_input': warning: StaticScaledQuantizer is a quantizer, which GGUF does not have" convert model.irpa model.gguf
sed 's/\[2, 1\]/[1, 2]/' q.json >bad.json
case_of params-shape 1 quant-params.shape 'bad.json:/fc: error|output channel' convert model.safetensors out --quant-params bad.json
case_of params-missing 1 file.open 'none.json' convert model.safetensors out.irpa --quant-params none.json

# ---- models ----

D=$QUERN_SOURCE/examples/digits
cat >digits.json <<'X'
{"logits": {"input_scale": 0.03, "weight_scale": 0.01, "output_scale": 0.2, "smoothquant_mul": 1.5},
 "pw": {"input_scale": 0.03, "weight_scale": 0.01, "smoothquant_mul": [1, 1, 1, 2, 1, 1, 1, 0.5, 1, 1, 1, 1, 1, 1, 1, 1]}}
X
silent import import "$D/digits.json" --quant-params digits.json -o q.qir
has_words import q.qir 'stage calibrated|%mul_1 = mul %relu2, %pw.premul_input|%pw.q_input = quantize %mul_1|%logits.q_output = quantize %logits'
# Other layers are calibrated on samples; named ones keep their scales, in integers too.
good eval eval "$D/digits.json" --quant-params digits.json --calib "$D/calib.npy" --data "$D/test_x.npy" --labels "$D/test_y.npy"
has_words eval stdout 'integer      top1         99.'
good compile compile "$D/digits.json" --quant-params digits.json --calib "$D/calib.npy" -o out
has_words compile out/digits.report.json '"layers": ["logits"], "type": "tensor<1x10x!quant.uniform<i8:f32, 0.2>>"|i32:f32, 0.01*0.03>>'
case_of samples 3 legalize.float "has no range for 'image'" compile "$D/digits.json" --quant-params digits.json -o out
echo '{"dense": {}}' >bad.json
case_of layer 1 quant-params.layer 'bad.json:/dense: error: the model has no float layer' import "$D/digits.json" --quant-params bad.json -o out.json
case_of no-file 1 file.open 'none.json' import "$D/digits.json" --quant-params none.json -o out.json
usage needs-file 'option needs a value: --quant-params' import "$D/digits.json" -o out.json --quant-params

finish
