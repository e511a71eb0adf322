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

# To another file: the same bytes; quantized: the rows that no block divides are listed.
silent copy convert m.gguf copy.gguf
same copy m.gguf copy.gguf
silent quantized convert m.gguf q.gguf --to q8_0
has_words quantized stdout 'stays f32: odd [2, …, 3]|1 tensors of 3 became q8_0 (0 exactly), 1 stay'
silent quantized-list tensors q.gguf
has_words quantized-list stdout 'general.quantization_version|w     q8_0    [2, 32]  68|norm  f32'
silent quantized-dump tensors q.gguf --dump w -o w.npy
# d = 1 / 127 as f16 is 0x2008: 127 * 0.007873535 = 0.999939
tail -c 4 w.npy | od -An -tx1 | grep -q 'e0 fb 7f 3f\|00 fc 7f 3f' || fail quantized-dump "not 127 times the scale" <(tail -c 8 w.npy | od -An -tx1)
silent planar convert m.gguf p.gguf --to BlockScaledLayout
same 'planes of q8_0 are packed again' p.gguf q.gguf
silent exact convert q.gguf again.gguf --to plain
has_words exact stdout '2 tensors of 3 became plain (2 exactly)'
silent list-exact tensors again.gguf
has_words list-exact stdout 'w     f32     [2, 32]  256'

# Wrong command lines and files.
usage no-archive 'missing argument' tensors
usage dump-without-output '--dump NAME and -o FILE.npy belong together' tensors m.gguf --dump w
usage plane-alone '--plane needs them' tensors m.gguf --plane d
usage unknown-tensor "unknown tensor 'wd'; did you mean 'w'" tensors m.gguf --dump wd -o x.npy
usage unknown-plane "w has no plane 'd' (expected '')" tensors m.gguf --dump w --plane d -o x.npy
usage unknown-layout "--to: invalid value 'q4_9'|did you mean 'q4_" convert m.gguf x.gguf --to q4_9
usage same-file "'m.gguf' is the archive that is read" convert m.gguf m.gguf
case_of other-extension 2 archive.format 'm.bin|unknown file extension (expected .gguf' tensors m.bin
case_of no-file 1 file.open 'none.gguf' tensors none.gguf
head -c 100 m.gguf >cut.gguf
case_of cut-header 1 gguf.truncated 'cut.gguf: tensor' tensors cut.gguf
head -c -28 m.gguf >cut.gguf
case_of cut-data 1 gguf.truncated "cut.gguf: tensor 'norm'|is the file complete?" tensors cut.gguf
[ ! -e x.gguf ] && [ ! -e x.npy ] || fail files "a failed command left a file"

# A file of 4 GB with holes is mapped: there is no memory to read it.
{
	printf GGUF
	little 4 3
	little 8 2
	little 8 0
	tensor big 24 0 1000000 4000
	tensor last 0 4000000000 2
} >big.gguf
aligned big.gguf
truncate -s $((4000000000 + $(stat -c %s big.gguf))) big.gguf
bytes 2 "$one" >>big.gguf
(
	failures=0
	ulimit -d 400000
	silent big tensors big.gguf
	has_words big stdout 'big   i8      [4000, 1000000]  4000000000|2 tensors, 4000000008 bytes'
	silent big-dump tensors big.gguf --dump last -o last.npy
	bytes 2 "$one" | npy want.npy '<f4' '2,'
	same big-dump last.npy want.npy
	exit "$failures"
) || failures=$((failures + 1))
rm -f big.gguf

# Real files: Q8_0 by our rounding is what the file of the reference holds.
if [ -n "${QUERN_DATA:-}" ]; then
	M=$QUERN_DATA/models
	silent real convert "$M/stories260K.gguf" s.gguf --to q8_0
	has_words real stdout 'stays f32: blk.4.ffn_down.weight [64, …, 172]|32 tensors of 48 became q8_0|1171200 bytes became 474848'
	tail -c 474848 s.gguf >ours
	tail -c 474848 "$M/stories260K-q8_0.gguf" >reference
	same real-bytes ours reference
	silent real-copy convert "$M/stories260K.gguf" c.gguf
	same real-copy c.gguf "$M/stories260K.gguf"
else
	echo "QUERN_DATA is not set: real files were not read"
fi
finish
