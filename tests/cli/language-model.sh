#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# language-model.sh - GGUF files as models: inspect, run, import, eval, compile; their context and sequences.
. "$(dirname "$0")/common.inc"

for arch in llama qwen2 gemma; do
	cp "$QUERN_SOURCE/tests/fuzz/corpus/llm/$arch.gguf" .
done

# tokens FILE N…: numbers of tokens.
tokens() {
	local file=$1
	shift
	printf "$(printf '\\%03o\\000\\000\\000' "$@")" | npy "$file" '<i4' "$#,"
}
first=$(seq 1 12) more=$(seq 20 31)
tokens a.npy $first
tokens b.npy $first $more

good inspect inspect llama.gguf
has_words inspect stdout 'token : tensor<1xi32>' 'logits : tensor<1x48xf32>' 'position : tensor<1xi32>' 'blk.0.k : tensor<2x64x8xf32>' \
	'blk.0.attn_q = dense blk.0.attn_norm, blk.0.attn_q.weight.values' 'blk.0.ffn_down = dense' 'logits = dense output_norm'
good context inspect llama.gguf --context 12
has_words context stdout 'blk.0.v : tensor<2x12x8xf32>'

for arch in llama qwen2 gemma; do
	silent "$arch" run $arch.gguf b.npy -o all.npy --context 24
	silent "$arch short" run $arch.gguf a.npy -o short.npy --context 24
	silent "$arch text" import $arch.gguf --context 24 -o $arch.qir
	silent "$arch run of its text" run $arch.qir b.npy -o text.npy
	same "$arch text" all.npy text.npy
	silent "$arch JSON" import $arch.gguf --context 24 -o $arch.json
	silent "$arch run of its JSON" run $arch.json b.npy -o json.npy
	same "$arch JSON" all.npy json.npy
	# the first tokens alone; after the last position of a context of 12 a new sequence, as with --sequence 12
	tail -c +129 short.npy >short.bytes
	tail -c +129 all.npy | head -c "$(stat -c %s short.bytes)" >begin.bytes
	same "$arch first tokens" short.bytes begin.bytes
	silent "$arch sequences" run $arch.gguf b.npy -o sequences.npy --sequence 12
	silent "$arch full context" run $arch.gguf b.npy -o full.npy --context 12
	same "$arch full context" sequences.npy full.npy
	! cmp -s all.npy full.npy || fail "$arch full context" 'it changes nothing'
done

# In integers: the weights stay in blocks of 4 bits.
for arch in llama qwen2 gemma; do
	good "$arch C" compile $arch.gguf --calib b.npy --sequence 12 --activations i16 --name net -o $arch --explain kernels
	has_words "$arch kernels" stdout 'dense + requantize: qn_dense_blocks' 'gather: qn_gather_blocks'
	grep '^files ' stdout | tr -d , | tr ' ' '\n' | sed -n 's|.*/net||; /^[._]/p' | sort >printed
	(cd $arch && ls net*) | sed 's/^net//' | sort | cmp -s - printed || fail "$arch C" 'other files than it says' printed
	! grep -qw 'float\|double' $arch/net.c || fail "$arch C" 'a float in C' $arch/net.c
	cases=$((cases + 1))
	cc -std=c99 -O1 -Wall -Wextra -Werror -DNET_SELFTEST_MAIN $arch/net.c $arch/net_weights.c $arch/net_selftest.c -o selftest 2>stderr &&
		./selftest >stdout || fail "$arch C" 'its self-test fails' stderr
done

# What is missing, and what costs accuracy.
samples='(--calib FILE.txt), or its tokens (--calib FILE.npy --sequence N), as quern tokens'
case_of no-samples 1 calibrate.no-data "$samples" compile llama.gguf -o out -q
case_of no-samples-text 1 calibrate.no-data "$samples" compile llama.qir --activations i16 -o out -q
case_of no-statistics 1 calibrate.no-data "$samples" calibrate llama.gguf -o stats.json
case_of no-search 1 calibrate.no-data "$samples" compile llama.gguf --method output -o out -q
case_of narrow 0 'data.few llm.activations' '--activations i16' compile llama.gguf --calib b.npy --sequence 12 -o out -q
case_of narrow-eval 0 'data.few llm.activations' '--activations i16' eval llama.gguf --calib b.npy --data b.npy --sequence 12 -q
case_of narrow-text 0 'data.few llm.activations' '--activations i16' compile llama.qir --calib b.npy --sequence 12 -o out -q
for activations in i8 u8 i16; do
	good "$activations" compile llama.gguf --calib b.npy --sequence 12 --activations $activations -o out -q
	! grep -q llm.activations stderr || fail "$activations" 'a warning about what was chosen' stderr
done

# The values of the weights, to be quantized again: per channel.
silent float run llama.gguf b.npy -o float.npy --context 24 --from-float
silent blocks run llama.gguf b.npy -o blocks.npy --context 24
same float float.npy blocks.npy
good 'float C' compile llama.gguf --from-float --calib b.npy --sequence 12 --name net -o float --explain kernels
! grep -q qn_dense_blocks stdout || fail 'float C' 'weights in blocks' stdout
case_of value 2 import.value "'nothing'|token" inspect llama.gguf --input-value nothing=1

# In eval: the perplexity of 24 tokens is e to the mean of the losses.
tokens next.npy $first $more
good eval eval llama.gguf --data b.npy --labels next.npy --score loss --quiet
awk '$2 == "score" { loss = $3 } $2 == "perplexity" { ok = $3 / exp(loss) > 0.9999 && $3 / exp(loss) < 1.0001 } END { exit !ok }' stdout ||
	fail eval 'perplexity is not e to the score' stdout
case_of loss-labels 2 eval.score '--labels' eval llama.gguf --data b.npy --against llama.gguf --score loss -q
case_of loss-window 2 eval.score 'window' eval llama.gguf --data b.npy --labels a.npy --score loss --window 2 -q

case_of other-model 2 import.context 'only language models' inspect "$QUERN_SOURCE/examples/digits/digits.json" --context 8
mkdir folder
echo '{"model_type": "bert"}' >folder/config.json
case_of no-tensors 1 file.open 'model.safetensors' inspect folder
printf '\002\000\000\000\000\000\000\000{}' >folder/model.safetensors
case_of architecture 3 llm.architecture '"bert"|llama, mistral, qwen2, qwen3, gemma' inspect folder
finish
