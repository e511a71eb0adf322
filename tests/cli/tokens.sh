#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tokens.sh - text as tokens and back by the program and by the C that it writes; a language model's step and what it samples.
. "$(dirname "$0")/common.inc"
strict="cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"

printf '%s' "Once upon a time, there was a café ☃. <s>" >text.txt
: >empty.txt
digits=$QUERN_SOURCE/examples/digits/digits.safetensors
case_of vocabulary 1 tokenizer.missing "no property 'tokenizer.ggml.model'" tokens "$digits"
case_of archive 2 archive.format 'unknown file extension' tokens text.txt
usage sequence '--sequence cuts a text for -o FILE.npy' tokens "$digits" text.txt --sequence 8
usage name '--name is that of the C' tokens "$digits" --name story
usage decoded-output 'standard output' tokens "$digits" tokens.npy -o text.txt
usage encoded-output 'FILE.npy' tokens "$digits" text.txt -o tokens.txt
usage arguments 'unexpected argument: more' tokens "$digits" text.txt more

# A network that reads a token and keeps a state has a step, and logits of one scale are drawn from.
cat >next.qir <<'X'
model "next"
graph @main(%token: tensor<1xi32>, %h: tensor<1x8xf32> state) {
  %table = const : tensor<20x8xf32> rand 1
  %x = gather %table, %token
  %a = const : tensor<8x8xf32> rand 2
  %b = dense %h, %a
  %s = add %x, %b
  %n = tanh %s
  %w = const : tensor<20x8xf32> rand 3
  %y = dense %n, %w
  return %y as "logits", %n as "h.next" to %h
}
X
for ((i = 0; i < 60; i++)); do printf "\\$(printf %03o $((i * i % 20)))\\000\\000\\000"; done | npy tokens.npy '<i4' '60, 1'
tail -c 240 tokens.npy >tokens.bin
cat >main.c <<'X'
#include <stdio.h>
#include "next_sample.h"
static int8_t scratch[NEXT_SCRATCH_BYTES];
int
main(void)
{
	static NEXT_VALUE logits[NEXT_OUT_LOGITS_LEN];
	next_state state;
	uint64_t seed = 5;
	int32_t token;
	unsigned char b[4];
	int i;

	for (i = 0; fread(b, 4, 1, stdin) == 1; i++) {
		if (i % 20 == 0)
			next_reset(&state);
		next_step(&state, scratch, b[0], logits);
		if (fwrite(logits, sizeof logits, 1, stdout) != 1)
			return 1;
		token = next_sample(logits, 256, &seed);
		if (next_sample(logits, 0, &seed) != next_largest(logits) || token < 0 || token >= NEXT_OUT_LOGITS_LEN)
			return 2;
	}
	return 0;
}
X
for activations in i8 u8 i16; do
	good "step $activations" compile -q next.qir --calib tokens.npy --sequence 20 --activations $activations -o next-$activations
	good "integer $activations" opt -q next.qir --calib tokens.npy --sequence 20 --activations $activations --stop-after=mixed-storage -o int.qir
	good "run $activations" run -q int.qir tokens.npy --sequence 20 -o y.npy
	type=int8_t each=1
	[ $activations != u8 ] || type=uint8_t
	[ $activations != i16 ] || type=int16_t each=2
	tail -c $((60 * 20 * each)) y.npy >want
	cases=$((cases + 1))
	if $strict -DNEXT_VALUE=$type -Inext-$activations main.c next-$activations/next.c next-$activations/next_weights.c -o step 2>stderr && ./step <tokens.bin >got; then
		same "steps $activations" want got
	else
		fail "steps $activations" 'the program fails' stderr
	fi
done
cases=$((cases + 1))
echo '#include "next_sample.h"' >header.cc
c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -Inext-i16 -c header.cc -o header.o 2>stderr || fail 'C++' 'next_sample.h does not compile' stderr
good 'no tokens' compile -q "$QUERN_SOURCE/examples/digits/digits.json" --calib "$QUERN_SOURCE/examples/digits/calib.npy" -o digits
cases=$((cases + 1))
[ ! -e digits/digits_sample.h ] && ! grep -q digits_step digits/digits.h || fail 'no tokens' 'a network without tokens has a step'

cat >there.c <<'X'
#include <stdio.h>
#include "story_tokens.h"
int
main(void)
{
	static char text[4096];
	static int32_t token[6146];
	char piece[STORY_TOKEN_BYTES];
	const int32_t n = story_encode(text, (int32_t)fread(text, 1, sizeof text, stdin), token);
	int32_t i;

	for (i = 0; i < n; i++)
		fprintf(stderr, "%d\n", (int)token[i]);
	for (i = 0; i < n; i++)
		fwrite(piece, 1, (size_t)story_decode(i > 0 ? token[i - 1] : -1, token[i], piece), stdout);
	return 0;
}
X
# emitted NAME ARCHIVE TEXT: the tokens of the emitted C are those of the program, and become the text again.
emitted() {
	silent "$1" tokens "$2" --name story -o out
	silent "$1" tokens "$2" "$3"
	cp stdout want
	cases=$((cases + 1))
	if $strict -Iout there.c out/story_tokens.c -o there 2>stderr && ./there <"$3" >got 2>numbers; then
		same "$1: tokens of the C" want numbers
		same "$1: text of the C" "$3" got
	else
		fail "$1" 'the C fails' stderr
	fi
	c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -Iout -c out/story_tokens.c -o tokens.o 2>stderr ||
		fail "$1" 'it is not C++' stderr
}

# Byte-level BPE: words are split by classes of characters, which a program without utf8proc does not know.
corpus=$QUERN_SOURCE/tests/fuzz/corpus/tokens
printf '%s' "The thin then, it's HE'LL; café étéП  1234 ½	x  <tool>in

naïve ☃ $(printf '\377\300\355\240')abcabc" >bytes.txt
quern tokens "$corpus/bpe.gguf" >stdout 2>stderr
if grep -q tokenizer.support stderr; then
	case_of classes 3 tokenizer.support 'utf8proc' tokens "$corpus/bpe.gguf"
else
	case_of pre 3 tokenizer.pre 'splits words as "viking"' tokens "$corpus/bpe-pre.gguf"
	case_of merge 1 tokenizer.merge 'merge 1 is "ab"' tokens "$corpus/bpe-merge.gguf"
	for vocabulary in bpe bpe-marks; do emitted $vocabulary "$corpus/$vocabulary.gguf" bytes.txt; done
fi

# A folder with a tokenizer.json; the tokens are those of Hugging Face's tokenizers (npm's @huggingface/tokenizers 0.2.0).
printf "The thin then, it's HE'LL; café été 12345 cats 1234 in\n\nna\303\257ve \342\230\203 <tool> the  cat\tabc  \n" >folder.txt
for each in bytes marks; do
	mkdir $each
	cp "$corpus/hf-$each.json" $each/tokenizer.json
	echo '{"eos_token_id": [2, 7]}' >$each/config.json
	printf '\002\0\0\0\0\0\0\0{}' >$each/model.safetensors
done
echo 1 259 306 329 328 267 331 330 273 314 259 268 279 317 278 259 294 291 317 298 298 62 334 265 286 259 338 286 259 319 320 321 322 \
	323 335 278 259 319 320 321 322 259 331 13 13 273 260 198 178 281 264 259 229 155 134 259 63 279 274 274 271 65 330 332 336 12 \
	260 261 262 332 13 | tr ' ' '\n' >want
silent marks tokens marks folder.txt
same marks want stdout
emitted marks marks folder.txt
# A token that is added, and a space before what follows it, or only before the text.
printf '%s' '<tool>the <tool>the' >tool.txt
for scheme in always first; do
	mkdir $scheme
	cp marks/* $scheme
	sed -e 's/"normalizer":{.*}\]},"pre_tokenizer":null/"normalizer":null,"pre_tokenizer":{"type":"Metaspace","replacement":"▁","prepend_scheme":"'$scheme'"}/' \
		-e 's/"added_tokens":\[/&{"id":339,"content":"<tool>","special":false},/' "$corpus/hf-marks.json" >$scheme/tokenizer.json
	silent $scheme tokens $scheme tool.txt
	tr '\n' ' ' <stdout >$scheme.numbers
done
printf '1 339 330 259 339 330 ' >want
same always want always.numbers
printf '1 339 279 329 259 339 279 329 ' >want
same first want first.numbers
emitted always always text.txt
silent 'marks, what it has' tokens marks
has_words 'marks, what it has' stdout 'tokens       339|begin        1|end          2'
# As a GGUF file: not a language model that Quern builds.
good 'convert, names' convert marks marks.gguf
has_words 'convert, names' stderr 'names and properties of the folder|llm.names'
# step NAME ID WORDS OLD NEW: a tokenizer.json with another step is an error.
step() {
	mkdir "$1"
	sed "s|$4|$5|" "$corpus/hf-${6:-marks}.json" >"$1/tokenizer.json"
	cmp -s "$1/tokenizer.json" "$corpus/hf-${6:-marks}.json" && fail "$1" 'nothing is changed'
	cp marks/config.json marks/model.safetensors "$1"
	case_of "$1" "${7:-3}" "$2" "$3" tokens "$1" folder.txt
}
step unigram tokenizer.model "tokenizer.json:/model/type: error: Unigram is not implemented (implemented: BPE)" '"BPE"' '"Unigram"'
step lower tokenizer.step "Lowercase is not implemented" 'Prepend' 'Lowercase'
step suffix tokenizer.model "</w> is not implemented" '"end_of_word_suffix":null' '"end_of_word_suffix":"</w>"'
step no-bytes tokenizer.model 'BPE of bytes, or with byte_fallback' '"byte_fallback":true' '"byte_fallback":false'
step after tokenizer.step 'one token before a text' '{"Sequence":{"id":"A","type_id":0}}' '&,{"SpecialToken":{"id":"</s>"}}'
step merge tokenizer.json 'two tokens that make a third one' '"i n"' '"i z"' marks 1
step pairs tokenizer.step '11 merges, where the tokens have 12 pairs that make a third one' ',"▁ cat"' ''
step roberta tokenizer.step 'RobertaProcessing|ByteLevel, TemplateProcessing' TemplateProcessing RobertaProcessing
step metaspace tokenizer.pre 'Metaspace is not implemented' '"pre_tokenizer":null' '"pre_tokenizer":{"type":"Metaspace","replacement":"_"}'
step number tokenizer.json 'numbers of tokens by their texts' '"<unk>":0' '"<unk>":-1' marks 1
step added tokenizer.json 'an object with the id of a token' '"id":2,' '"id":0.5,' marks 1
step begin tokenizer.json "a text begins with '<S>', which is not a token" '"SpecialToken":{"id":"<s>"' '"SpecialToken":{"id":"<S>"' marks 1
mkdir none
cp marks/config.json marks/model.safetensors none
case_of none 1 tokenizer.missing 'the folder has no tokenizer.json' tokens none folder.txt
quern tokens bytes >stdout 2>stderr
if ! grep -q tokenizer.support stderr; then
	echo 265 84 254 258 104 257 256 110 44 32 105 116 39 115 32 72 69 39 76 76 59 32 262 102 193 167 32 193 167 116 193 167 32 261 52 \
		53 264 32 261 52 32 257 10 10 110 97 193 173 118 101 32 224 150 129 32 266 256 32 32 263 9 97 98 99 32 32 10 | tr ' ' '\n' >want
	silent bytes tokens bytes folder.txt
	same bytes want stdout
	emitted bytes bytes folder.txt
	step regex tokenizer.pre 'the expressions of GPT-2, Llama 3 and Qwen 2' 'N}{1,3}' 'N}{1,2}' bytes
	step space tokenizer.pre 'ByteLevel without a space before the text' '"add_prefix_space":false' '"add_prefix_space":true' bytes
	step strip tokenizer.step 'lstrip, rstrip, single_word' '"<tool>","single_word":false' '"<tool>","single_word":true' bytes
	step twice tokenizer.pre 'ByteLevel with use_regex false after Split' '"trim_offsets":true,"use_regex":false' '"trim_offsets":true,"use_regex":true' bytes
	step inverted tokenizer.pre 'the expressions of GPT-2' '"invert":false' '"invert":true' bytes
	step words tokenizer.pre 'the expressions of GPT-2' 'N}{1,3}' 'N}' bytes # with ignore_merges
fi
usage 'text of another model' "text is for a language model with a vocabulary (.gguf or a folder), which '${digits%.*}.json' is not" run "${digits%.*}.json" text.txt -o y.npy

model=${QUERN_DATA:-}/models/stories260K.gguf
if [ ! -r "$model" ]; then
	echo 'skipped: QUERN_DATA has no stories260K.gguf'
	finish
	exit
fi
silent describe tokens "$model"
has_words describe stdout 'tokens       512, the longest of 7 bytes|begin        1|end          2'
silent encode tokens "$model" text.txt
# The first ones are those of llama.cpp.
head -n 5 stdout | tr '\n' ' ' >got
echo -n '1 403 407 261 378 ' >want
same 'Once upon a time' want got
silent save tokens "$model" text.txt -o text.npy
silent decode tokens "$model" text.npy
head -c -1 stdout >got
same decode text.txt got
silent empty tokens "$model" empty.txt
echo 1 >want
same empty want stdout
silent sequences tokens "$model" text.txt --sequence 9 -o cut.npy
has_words sequences stdout 'tokens in 2 sequences'
silent 'decode sequences' tokens "$model" cut.npy
head -c -1 stdout >got
head -c "$(wc -c <got)" text.txt >want
same 'text of sequences' want got
case_of 'too short' 2 '' 'do not fill a sequence' tokens "$model" text.txt --sequence 100 -o cut.npy
silent name tokens "$model" --name my-story.1 -o named
has_words name stdout 'named/my_story_1_tokens.h'
cases=$((cases + 1))
[ -e named/my_story_1_tokens.c ] || fail name 'other files than it says' stdout
emitted emit "$model" text.txt

# Text as samples: its tokens in sequences, and the next ones as labels.
silent 'tokens as samples' run "$model" cut.npy --sequence 9 -o want.npy
silent 'text as samples' run "$model" text.txt --sequence 9 -o got.npy
same 'text as samples' want.npy got.npy
silent 'one sequence of tokens' run "$model" text.npy -o want.npy
silent 'one sequence of text' run "$model" text.txt -o got.npy
head -c "$(wc -c <got.npy)" want.npy | tail -c +129 >want # but the last token, which none follows
tail -c +129 got.npy >got
same 'one sequence of text' want got
head -c 30 text.txt >short.txt
good 'texts of other lengths' eval "$model" --calib short.txt --data text.txt --activations i16
good 'texts of other lengths, the other way' eval "$model" --calib text.txt --data short.txt --activations i16
usage 'sequence of one' 'a sequence of a text needs 2 tokens or more' run "$model" text.txt --sequence 1 -o y.npy
usage 'empty text' 'the text has 0 tokens, which do not fill a sequence of 2' run "$model" empty.txt -o y.npy
usage 'too short a text' 'do not fill a sequence of 100' run "$model" text.txt --sequence 100 -o y.npy
usage 'text with options' 'a text without INPUT= and without options' run "$model" token=text.txt -o y.npy
for k in 0 1; do tail -c +$((129 + 4 + 32 * k)) text.npy | head -c 36; done | npy next.npy '<i4' '18,'
good 'perplexity of tokens' eval "$model" --data cut.npy --sequence 9 --labels next.npy --score loss
cp stdout want
good 'perplexity of a text' eval "$model" --data text.txt --sequence 9
same 'perplexity of a text' want stdout
has_words 'perplexity of a text' stdout 'top1|score|perplexity'
good 'integers of a text' eval "$model" --calib text.txt --data text.txt --activations i16
has_words 'integers of a text' stdout 'integer      perplexity'
finish
