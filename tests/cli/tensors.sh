#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tensors.sh - archives of tensors: listing, dumping, converting, quantizing; what is wrong with a file.
. "$(dirname "$0")/common.inc"

# little BYTES NUMBER: a little-endian number.
little() {
	local i n=$2
	for ((i = 0; i < $1; i++)); do
		printf "\\$(printf %03o $((n & 255)))"
		n=$((n >> 8))
	done
}
text() {
	little 8 ${#1}
	printf %s "$1"
}
# tensor NAME TYPE OFFSET DIM…: an entry of a GGUF file.
tensor() {
	local name=$1 type=$2 offset=$3
	shift 3
	text "$name"
	little 4 $#
	for d; do little 8 "$d"; done
	little 4 "$type"
	little 8 "$offset"
}
# aligned FILE: zeros up to a multiple of 32.
aligned() {
	truncate -s %32 "$1"
}

# A file of two matrices, a vector and a property: w is 2x32, odd 2x3.
{
	printf GGUF
	little 4 3
	little 8 3
	little 8 2
	text general.name
	little 4 8
	text 'small "model"'
	text layers
	little 4 4
	little 4 2
	tensor w 0 0 32 2
	tensor odd 0 256 3 2
	tensor norm 0 288 2
} >m.gguf
aligned m.gguf
{
	for i in $(seq 64); do printf '\000\000\200%b' "$([ $((i % 2)) = 0 ] && echo '\077' || echo '\277')"; done # 1 and -1
	bytes 6 "$one"
	bytes 2 '\000\000\000\000'
	bytes 2 "$one"
} >>m.gguf
aligned m.gguf

silent list tensors m.gguf
has_words list stdout 'general.name|"small \"model\""|f32     [2, 32]  256|odd   f32     [2, 3]  24|3 tensors, 288 bytes, 2 properties (GGUF)'
[ "$(sed -n 4,6p stdout | cut -d' ' -f1 | tr '\n' ' ')" = 'w odd norm ' ] || fail list "tensors are not in the order of the file" stdout
silent json tensors m.gguf --json
has_words json stdout '"format": "GGUF"|"layers": 2|{"name": "norm", "layout": "plain", "shape": [2], "bytes": 8, "planes": [{"name": "", "dtype": "f32", "shape": [2], "bytes": 8}], "metadata": {}}'
silent dump tensors m.gguf --dump odd -o odd.npy
bytes 6 "$one" | npy want.npy '<f4' '2, 3'
same dump odd.npy want.npy

# Control bytes of names.
{
	printf GGUF
	little 4 3
	little 8 1
	little 8 1
	text "$(printf 'key\033]0;')"
	little 4 4
	little 4 7
	tensor "$(printf 'a\033[31mb\nc\177')" 0 0 1
} >control.gguf
aligned control.gguf
bytes 1 "$one" >>control.gguf
silent control tensors control.gguf
has_words control stdout 'key\u001b]0;                             7|a\u001b[31mb\u000ac\u007f  f32     [1]  4'

# A type that nothing computes with: its bytes are listed and copied.
{
	printf GGUF
	little 4 3
	little 8 2
	little 8 1
	text general.quantization_version
	little 4 4
	little 4 2
	tensor w 20 0 64 2
	tensor norm 0 96 2
} >iq4.gguf
aligned iq4.gguf
bytes 18 "$one" >>iq4.gguf
aligned iq4.gguf
bytes 2 "$one" >>iq4.gguf
aligned iq4.gguf
silent opaque tensors iq4.gguf
has_words opaque stdout 'w     iq4_nl  [2, 64]  72|norm  f32     [2]  8|2 tensors, 80 bytes'
silent opaque-json tensors iq4.gguf --json
has_words opaque-json stdout '"layout": "iq4_nl", "shape": [2, 64], "bytes": 72, "planes": [{"name": "", "dtype": "u8", "shape": [2, 2, 18], "bytes": 72}]'
silent opaque-copy convert iq4.gguf copied.gguf
same opaque-copy iq4.gguf copied.gguf
silent opaque-norm tensors iq4.gguf --dump norm -o norm.npy
case_of opaque-dump 3 layout.values 'type iq4_nl of GGUF files, which cannot be read|llama-quantize' tensors iq4.gguf --dump w -o none.npy
case_of opaque-quantized 3 layout.values 'w: error|iq4_nl' convert iq4.gguf none.gguf --to q8_0
for format in irpa safetensors; do case_of "opaque $format" 3 layout.values "none.$format: tensor 'w'|iq4_nl" convert iq4.gguf none.$format; done

# To another file: the same bytes; quantized: the rows that no block divides are listed.
silent copy convert m.gguf copy.gguf
same copy m.gguf copy.gguf
silent quantized convert m.gguf q.gguf --to q8_0
has_words quantized stdout 'stays f32: odd [2, 3]|1 tensors of 3 became q8_0 (0 exactly), 1 stay|no block of 32 divides their rows|GGUF has no int8 per channel'
silent quantized-list tensors q.gguf
has_words quantized-list stdout 'general.quantization_version|w     q8_0    [2, 32]  68|norm  f32'
silent quantized-dump tensors q.gguf --dump w -o w.npy
# d = 1 / 127 as f16 is 0x2008: 127 * 0.007873535 = 0.999939
tail -c 4 w.npy | od -An -tx1 | grep -q 'e0 fb 7f 3f\|00 fc 7f 3f' || fail quantized-dump "not 127 times the scale" <(tail -c 8 w.npy | od -An -tx1)
for format in irpa safetensors; do
	silent "channels $format" convert m.gguf odd.$format --to q4_0
	has_words "channels $format" stdout 'int8 per channel: odd [2, 3]|1 tensors of 3 became q4_0 (0 exactly), 1 int8 per channel since no block of 32 divides their rows'
	silent "channels list $format" tensors odd.$format
	has_words "channels list $format" stdout 'odd   TensorScaledLayout  [2, 3]|norm  f32'
	silent "channels dump $format" tensors odd.$format --dump odd -o rows.npy
	same "channels $format" rows.npy want.npy # ones are 127 times their scale
	silent "channels again $format" convert odd.$format again.irpa --to q4_0
	has_words "channels again $format" stdout 'stays TensorScaledLayout: odd [2, 3]'
done
silent planar convert m.gguf p.gguf --to BlockScaledLayout
same 'planes of q8_0 are packed again' p.gguf q.gguf
good floats convert m.gguf f.gguf --to TensorScaledLayout
has_words floats stdout '2 tensors of 3 became TensorScaledLayout|2 are f32 in the file since GGUF has no form|288 bytes became 288'
silent floats-list tensors f.gguf
has_words floats-list stdout 'w     f32     [2, 32]  256|3 tensors, 288 bytes'
silent exact convert q.gguf again.gguf --to plain
has_words exact stdout '2 tensors of 3 became plain (2 exactly)'
silent list-exact tensors again.gguf
has_words list-exact stdout 'w     f32     [2, 32]  256'

# Wrong command lines and files.
usage no-archive 'missing argument' tensors
usage dump-without-output '--dump NAME and -o FILE.npy belong together' tensors m.gguf --dump w
usage plane-alone '--plane needs them' tensors m.gguf --plane d
usage unknown-tensor "unknown tensor 'wd'; did you mean 'w'" tensors m.gguf --dump wd -o x.npy
usage unknown-plane "w has no planes|layout|without --plane" tensors m.gguf --dump w --plane d -o x.npy
usage unknown-layout "--to: invalid value 'q4_9'|did you mean 'q4_" convert m.gguf x.gguf --to q4_9
usage same-file "'m.gguf' is the archive that is read" convert m.gguf m.gguf
case_of other-extension 2 archive.format 'm.bin|unknown file extension of an archive of tensors (expected .gguf, .safetensors, .irpa, .index.json or a folder); quern inspect' tensors m.bin
case_of no-file 1 file.open 'none.gguf' tensors none.gguf
# Types of many properties are found in about as many steps.
awk 'BEGIN {
	printf "{\"__metadata__\": {\"__SHARK_DATASET__\": \"{\\\"SHARK_DATASET_VERSION\\\": 1"
	for (i = 0; i < 150000; i++)
		printf ", \\\"k%d\\\": 1", i
	printf ", \\\"_gguf_types\\\": {\\\"k0\\\": \\\"u8\\\""
	for (i = 1; i < 150000; i++)
		printf ", \\\"k%d\\\": \\\"u8\\\"", i
	printf "}}\"}}"
}' </dev/null >many.txt
n=$(wc -c <many.txt)
printf "$(printf '\\%03o\\%03o\\%03o\\000\\000\\000\\000\\000' $((n % 256)) $((n / 256 % 256)) $((n / 65536)))" | cat - many.txt >many.safetensors
QUERN_CLI_SECONDS=20 good many tensors many.safetensors
has_words many stdout '150000 properties'
head -c 100 m.gguf >cut.gguf
case_of cut-header 1 gguf.truncated 'cut.gguf: tensor' tensors cut.gguf
head -c -28 m.gguf >cut.gguf
case_of cut-data 1 gguf.truncated "cut.gguf: tensor 'norm'|is the file complete?" tensors cut.gguf
[ ! -e x.gguf ] && [ ! -e x.npy ] || fail files "a failed command left a file"

# Files of 4 GB with holes are mapped: there is no memory to read them.  Each has 4 * 10^9 bytes and two numbers.
{
	printf GGUF
	little 4 3
	little 8 2
	little 8 0
	tensor big 24 0 1000000 4000
	tensor last 0 4000000000 2
} >big.gguf
aligned big.gguf
safetensors big.safetensors '{"big":{"dtype":"I8","shape":[4000,1000000],"data_offsets":[0,4000000000]},"last":{"dtype":"F32","shape":[2],"data_offsets":[4000000000,4000000008]}}      ' </dev/null
# entry NAME-OFFSET NAME-LENGTH META-LENGTH OFFSET LENGTH: a data entry of an IRPA file, up to the next multiple of 16;
# its metadata follows its name.
entry() {
	little 8 76
	little 4 2
	little 8 0
	little 8 "$1"
	little 8 "$2"
	little 8 $(($1 + $2))
	little 8 "$3"
	little 8 0
	little 8 "$4"
	little 8 "$5"
	little 4 0
}
big='PYTORCH:{"type": "Tensor", "dtype": "int8", "shape": [4000, 1000000]}' last='PYTORCH:{"type": "Tensor", "dtype": "float32", "shape": [2]}'
names=$((7 + ${#big} + ${#last}))
{
	printf IRPA
	little 4 0
	little 8 88
	little 8 0
	little 8 0
	little 8 2
	little 8 96
	little 8 156
	little 8 256
	little 8 $names
	little 8 512
	little 8 4000000008
	little 8 0
	entry 0 3 ${#big} 0 4000000000
	entry $((3 + ${#big})) 4 ${#last} 4000000000 8
	printf %s "big$big" "last$last"
} >big.irpa
truncate -s 512 big.irpa
for each in gguf safetensors irpa; do
	truncate -s $((4000000000 + $(stat -c %s big.$each))) big.$each
	bytes 2 "$one" >>big.$each
done
(
	failures=0
	# sanitizers, emulators and valgrind (the program is a script then) take more for themselves
	if grep -q '__[at]san_init' "$QUERN_BIN" || [ "$(head -c 2 "$QUERN_BIN")" = '#!' ]; then
		echo "the limit of memory is not set: the program is not run by itself"
	else
		ulimit -d 400000
	fi
	bytes 2 "$one" | npy want.npy '<f4' '2,'
	for each in gguf safetensors irpa; do
		silent big.$each tensors big.$each
		has_words big.$each stdout 'big   i8      [4000, 1000000]  4000000000|2 tensors, 4000000008 bytes'
		silent big-dump.$each tensors big.$each --dump last -o last.npy
		same big-dump.$each last.npy want.npy
	done
	exit "$failures"
) || failures=$((failures + 1))
rm -f big.*

# Real files: Q8_0 by our rounding is what the file of the reference holds.
if [ -n "${QUERN_DATA:-}" ]; then
	M=$QUERN_DATA/models
	silent real convert "$M/stories260K.gguf" s.gguf --to q8_0
	has_words real stdout 'stays f32: blk.4.ffn_down.weight [64, 172]|32 tensors of 48 became q8_0|1171200 bytes became 474848'
	tail -c 474848 s.gguf >ours
	tail -c 474848 "$M/stories260K-q8_0.gguf" >reference
	same real-bytes ours reference
	silent real-copy convert "$M/stories260K.gguf" c.gguf
	same real-copy c.gguf "$M/stories260K.gguf"
else
	echo "QUERN_DATA is not set: real files were not read"
fi
# ---- other formats ----

# There and back, with quantized tensors: the same bytes.
silent exact-irpa convert q.gguf q.irpa
silent exact-safetensors convert q.irpa q.safetensors
silent exact-back convert q.safetensors q2.gguf
same exact-back q2.gguf q.gguf
silent list-irpa tensors q.irpa
has_words list-irpa stdout 'w     BlockScaledLayout  [2, 32]  68|general.name|"small \"model\""|layers|3 properties (IRPA)'
silent plane tensors q.irpa --dump w --plane qs -o qs.npy
[ "$(tail -c 2 qs.npy | od -An -tx1)" = ' 81 7f' ] || fail plane "not -127 and 127" <(od -c qs.npy)
usage no-such-plane "w has no plane 'm' (expected 'd', 'qs')" tensors q.irpa --dump w --plane m -o x.npy
# What GGUF has no form for becomes f32, and that is said.
case_of scaled 0 '' '' convert m.gguf scaled.irpa --to TensorScaledLayout
case_of scaled-gguf 0 gguf.dequantized "scaled.gguf: warning: 2 tensors have no form|'w' (TensorScaledLayout), 'odd'" convert scaled.irpa scaled.gguf
safetensors bytes.safetensors '{"b":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}' < <(printf ab)
case_of no-type 3 archive.type "tensor 'b'|no tensors of u8" convert bytes.safetensors x.gguf
safetensors hole.safetensors '{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}' < <(printf abc)
case_of hole 1 safetensors.hole 'bytes 0 to 1' tensors hole.safetensors
safetensors f8.safetensors '{"b":{"dtype":"F8_E4M3","shape":[2],"data_offsets":[0,2]}}' < <(printf '\070\176')
silent f8 tensors f8.safetensors
has_words f8 stdout 'b     f8E4M3FN  [2]  2'
silent f8-convert convert f8.safetensors f8.irpa
silent f8-back convert f8.irpa g8.safetensors
silent f8-list tensors g8.safetensors --json
has_words f8-list stdout '"dtype": "f8E4M3FN"'

# Split and replicated tensors, and joined again: the same bytes.
silent split convert m.gguf m.irpa --split 2
has_words split stdout '2 tensors of 3 are split into 2 parts, 1 replicated, 0 quantized ones stay whole'
silent split-list tensors m.irpa --json
has_words split-list stdout '{"name": "odd", "layout": "SplitPrimitiveTensor", "shape": [2, 3], "bytes": 24, "planes": [{"name": "0", "dtype": "f32", "shape": [1, 3], "bytes": 12}|"metadata": {"shard_count": 2, "shard_dim": 0}|"name": "norm", "layout": "ReplicatedTensor", "shape": [2], "bytes": 8'
silent split-dump tensors m.irpa --dump odd -o have.npy
same split-dump have.npy odd.npy
silent split-again convert m.irpa m.safetensors --split 2
silent joined convert m.safetensors j.irpa --split 1
silent joined-copy convert j.irpa j.gguf
same joined-copy j.gguf m.gguf
case_of split-gguf 0 gguf.split 'GGUF has no split or replicated tensors: 3 are joined' convert m.irpa j.gguf
same split-gguf j.gguf m.gguf
silent split-quantized convert q.gguf s.irpa --split 2
has_words split-quantized stdout '1 tensors of 3 are split into 2 parts, 1 replicated, 1 quantized ones stay whole'
usage split-to 'give one of them' convert m.gguf x.irpa --split 2 --to q8_0
usage split-many 'number from 1 to 8' convert m.gguf x.irpa --split 9

# A folder of Hugging Face: one file, or an index of several.
mkdir hf
echo '{"architectures": ["Tiny"], "hidden_size": 2, "rope": {"theta": 10000.0}}' >hf/config.json
safetensors hf/model.safetensors '{"a.weight":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}' < <(bytes 2 "$one")
silent folder tensors hf
has_words folder stdout 'hidden_size|a.weight  f32     [2]  8|1 tensors, 8 bytes, 3 properties (Hugging Face folder)'
silent folder-irpa convert hf hf.irpa
mv hf/model.safetensors hf/first.safetensors
safetensors hf/second.safetensors '{"b.weight":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}' < <(bytes 1 "$one")
echo '{"metadata": {"total_size": 12}, "weight_map": {"b.weight": "second.safetensors", "a.weight": "first.safetensors"}}' >hf/model.safetensors.index.json
silent index tensors hf
has_words index stdout 'b.weight  f32     [1]  4|a.weight  f32     [2]  8|total_size|2 tensors, 12 bytes'
silent index-alone tensors hf/model.safetensors.index.json
has_words index-alone stdout '2 tensors, 12 bytes, 1 properties (safetensors index)'
sed -i 's/second.safetensors/first.safetensors/' hf/model.safetensors.index.json
case_of index-wrong 1 hugging-face.tensor "'first.safetensors' has no tensor 'b.weight'" tensors hf
sed -i 's|"first|"../first|' hf/model.safetensors.index.json
case_of index-outside 1 hugging-face.file "no '..'" tensors hf
mkdir empty
case_of folder-empty 1 file.open 'empty/config.json' tensors empty

finish
