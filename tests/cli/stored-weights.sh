#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# stored-weights.sh - constants of a model that are tensors of an archive: blocks of GGUF's forms in integers, their values
# with an f32 type, and what is wrong with them.
. "$(dirname "$0")/common.inc"

# model NAME FILE TYPE: a dense layer with the tensor w of an archive as it is stored, or with a type its values.
model() {
	local w=dw
	[ -z "$3" ] || w=w
	cat >"$1" <<-EOF
		{"quern": 1, "name": "m", "stage": "calibrated", "graph": {
		  "inputs": [{"name": "x", "type": "tensor<1x96xf32>"}],
		  "constants": {"w": {"file": "$2", "tensor": "w"$3}},
		  "nodes": [$([ "$3" ] || echo '{"op": "dequantize", "name": "dw", "inputs": ["w"]},')
		    {"op": "dense", "name": "d", "inputs": ["x", "$w"]}, {"op": "relu", "name": "y", "inputs": ["d"]}],
		  "outputs": ["y"]}}
	EOF
}
# floats N SEED: f32 from 2^-5 to 0.5 of both signs.
floats() {
	printf "$(awk -v n="$1" -v s="$2" 'function r() { s = (s * 75 + 74) % 65537; return int(s / 7) % 256 }
		BEGIN { for (i = 0; i < n; i++) printf "\\000\\%03o\\%03o\\%03o", r(), r(), (r() % 2 * 128) + 61 + r() % 2 }')"
}

floats 5760 1 | npy w.npy '<f4' '60, 96'
floats 1920 2 | npy x.npy '<f4' '20, 96'
values=', "type": "tensor<60x96xf32>"'
for form in q8_0 q4_0 q5_0 q4_1; do
	silent "$form" quantize-tensor w.npy --to $form --name w -o $form.irpa
	silent "$form packed" convert $form.irpa $form.gguf
	silent "$form as safetensors" convert $form.irpa $form.safetensors
	for kind in gguf irpa safetensors; do
		model $kind.json $form.$kind ''
		model values.json $form.$kind "$values"
		silent "$form $kind" run $kind.json x.npy -o have.npy
		silent "$form $kind values" run values.json x.npy -o want.npy
		same "$form $kind values" have.npy want.npy
		silent "$form $kind C" compile $kind.json --calib x.npy -o $kind --explain kernels
		has_words "$form $kind kernel" stdout 'dense + requantize: qn_dense_blocks'
		has_words "$form $kind blocks" stdout 'in blocks of 1x32'
		! grep -qw 'float\|double' $kind/m.c || fail "$form $kind" "a float in C" $kind/m.c
	done
	same "$form in IRPA" gguf/m_weights.c irpa/m_weights.c
	same "$form in safetensors" gguf/m_weights.c safetensors/m_weights.c
	silent "$form eval" eval gguf.json --calib x.npy --data x.npy
	awk '$2 == "sqnr" && $3 > 38 { ok = 1 } END { exit !ok }' stdout || fail "$form" "less than 38 dB beside the values" stdout
	cases=$((cases + 1))
	cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror -fsanitize=undefined -DM_SELFTEST_MAIN gguf/*.c -o selftest 2>stderr &&
		./selftest >stdout || fail "$form" "its self-test fails" stderr
	# the scales of blocks stay as they are beside aligned ones
	silent "$form aligned" compile gguf.json --calib x.npy --align -o aligned
	cc -std=c99 -O2 -fsanitize=undefined -DM_SELFTEST_MAIN aligned/*.c -o selftest 2>stderr &&
		./selftest >stdout || fail "$form aligned" "its self-test fails" stderr
	silent "$form aligned eval" eval gguf.json --calib x.npy --data x.npy --align
	awk '$2 == "sqnr" && $3 > 38 { ok = 1 } END { exit !ok }' stdout || fail "$form" "less than 38 dB with aligned scales" stdout
	# what is saved stands for the same values
	silent "$form saved" opt gguf.json -o saved.json
	silent "$form saved run" run saved.json x.npy -o saved.npy
	same "$form saved run" have.npy saved.npy
done

# An embedding stays in 4 bits: 60 * 96 / 2 bytes, and 2 for each 32, with offsets 4.
printf '\000\000\000\000\007\000\000\000\073\000\000\000' | npy t.npy '<i4' '3, 1'
for form in q4_0 q4_1; do
	cat >table.json <<-EOF
		{"quern": 1, "name": "m", "stage": "calibrated", "graph": {
		  "inputs": [{"name": "t", "type": "tensor<1xi32>"}],
		  "constants": {"w": {"file": "$form.gguf", "tensor": "w"}},
		  "nodes": [{"op": "dequantize", "name": "dw", "inputs": ["w"]},
		    {"op": "gather", "name": "g", "inputs": ["dw", "t"], "attrs": {"axis": 0}},
		    {"op": "relu", "name": "y", "inputs": ["g"]}], "outputs": ["y"]}}
	EOF
	good "table $form" compile table.json --calib t.npy -o table
	has_words "table $form" table/m.c 'qn_gather_blocks'
	silent "table $form eval" eval table.json --calib t.npy --data t.npy
	awk '$2 == "sqnr" && $3 > 38 { ok = 1 } END { exit !ok }' stdout || fail "table $form" "less than 38 dB" stdout
	cases=$((cases + 1))
	cc -std=c99 -O2 -DM_SELFTEST_MAIN table/*.c -o selftest 2>stderr && ./selftest >stdout || fail "table $form" "its self-test fails" stderr
done

# Forms with blocks of 256: a row of w has two.  The offset of a block is added in integers; q2_K stays in 2 bits, q4_K in 4.
floats 12288 3 | npy w.npy '<f4' '24, 512'
floats 10240 4 | npy x.npy '<f4' '20, 512'
silent plain quantize-tensor w.npy --to plain --name w -o plain.irpa
for form in q2_K:i2 q4_K:i4 q5_K:i8 q6_K:i8; do
	bits=${form#*:} form=${form%:*}
	silent "$form" convert plain.irpa $form.gguf --to $form
	model m.json $form.gguf ''
	sed -i 's/1x96/1x512/' m.json
	silent "$form" opt m.json --calib x.npy --stop-after=legalize -o m.qir
	has_words "$form bits" m.qir "const : tensor<24x512x!quant.uniform<$bits:f32"
	silent "$form eval" eval m.json --calib x.npy --data x.npy
	awk '$2 == "sqnr" && $3 > 38 { ok = 1 } END { exit !ok }' stdout || fail "$form" "less than 38 dB beside the values" stdout
	silent "$form C" compile m.json --calib x.npy -o k
	cases=$((cases + 1))
	cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror -fsanitize=undefined -DM_SELFTEST_MAIN k/*.c -o selftest 2>stderr &&
		./selftest >stdout || fail "$form" "its self-test fails" stderr
done
floats 5760 1 | npy w.npy '<f4' '60, 96'
silent scaled quantize-tensor w.npy --name w -o scaled.irpa
model m.json scaled.irpa ''
case_of scaled 3 layout.constant 'it has no blocks|an f32 type' inspect m.json
model m.json q8_0.gguf ', "type": "tensor<60x96xi8>"'
case_of type 1 tensor.type 'does not match' inspect m.json
model m.json q8_0.gguf ', "type": "tensor<96x60xf32>"'
case_of shape 1 tensor.type 'does not match' inspect m.json
model m.json q8_0.gguf ''
sed -i 's/"tensor": "w"/"tensor": "ww"/' m.json
case_of missing 1 tensor.missing "unknown tensor 'ww'|did you mean 'w'" inspect m.json
sed -i 's/q8_0.gguf/q8_0.safetensors/' m.json
case_of missing-array 1 tensor.missing "unknown tensor 'ww'" inspect m.json
sed -i 's/, "tensor": "ww"//' m.json
case_of unnamed 1 json.key.missing "'tensor'" inspect m.json
head -c 50 q8_0.gguf >cut.gguf
model m.json cut.gguf ''
case_of cut 1 gguf.string '' inspect m.json
finish
