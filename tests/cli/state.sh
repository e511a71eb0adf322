#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# state.sh - stateful networks: tied inputs and outputs, sequences, both file forms, the passes, errors.
. "$(dirname "$0")/common.inc"

# A recurrent layer that takes its state and returns the next one.
cat >untied.qir <<'X'
model "cell"
graph @main(%h: tensor<1x8xf32>, %x: tensor<1x6xf32>) {
  %c = concat %x, %h {axis=1}
  %w = const : tensor<8x14xf32> rand 1
  %b = const : tensor<8xf32> rand 5
  %z0 = dense %c, %w, %b
  %z = sigmoid %z0
  %wn = const : tensor<8x14xf32> rand 2
  %n0 = dense %c, %wn
  %n = tanh %n0
  %d = sub %h, %n
  %e = mul %z, %d
  %hn = add %n, %e
  %wo = const : tensor<3x8xf32> rand 3
  %o = dense %hn, %wo
  %y = softmax %o
  return %hn as "next", %y
}
X
floats() { # FILE ROWS COUNT SEED
	for ((i = 0; i < $2 * $3; i++)); do
		v=$(((($4 + i) * 7919 + i * i * 31) % 255))
		printf '\\000\\000\\%03o\\%03o' $((v / 2 + 64)) $((v % 2 ? 63 : 191))
	done | xargs -0 printf | npy "$1" '<f4' "$2, $3"
}
steps=12
floats x.npy $steps 6 3
silent 'tie' opt -q untied.qir --tie next=h -o tied.qir
silent 'tied run' run -q tied.qir x.npy -o y.npy
[ "$(head -c 128 y.npy | grep -c "($steps, 3)")" -eq 1 ] || fail 'tied run' 'another shape'

# Step by step, with the state handed on in files.
rows() { # FILE FIRST COUNT BYTES: rows of an .npy, of that many bytes
	tail -c +129 "$1" | tail -c +$(($2 * $4 + 1)) | head -c $(($3 * $4))
}
walk() { # FROM TO FIRST_STATE OUT
	cp "$3" h.npy
	: >"$4"
	for ((s = $1; s < $2; s++)); do
		rows x.npy $s 1 24 | npy step.npy '<f4' '1, 6'
		silent "step $s" run -q untied.qir h=h.npy x=step.npy -o h.npy -o step-y.npy
		rows step-y.npy 0 1 12 >>"$4"
	done
}
bytes 8 '\000\000\000\000' | npy zero.npy '<f4' '1, 8'
bytes 8 '\000\000\200\076' | npy quarter.npy '<f4' '1, 8'
walk 0 $steps zero.npy expected
rows y.npy 0 $steps 12 >got
same 'steps' expected got
silent 'first values' run -q untied.qir x.npy --tie next=h --input-value h=0.25 -o y.npy
walk 0 4 quarter.npy expected
rows y.npy 0 4 12 >got
same 'first values' expected got
silent 'first values, file' run -q untied.qir x.npy --tie next=h --input-value h=quarter.npy -o z.npy
same 'first values, file' y.npy z.npy

# Sequences: the state begins again, on any number of threads.
for threads in 1 2 3; do
	silent "sequences, $threads" run -q tied.qir x.npy --sequence 4 --threads $threads -o "y$threads.npy"
done
same 'threads' y1.npy y2.npy
same 'threads' y1.npy y3.npy
: >expected
for first in 0 4 8; do
	walk $first $((first + 4)) zero.npy part
	cat part >>expected
done
rows y1.npy 0 $steps 12 >got
same 'sequences' expected got
case_of 'sequence, long' 1 data.sequence "holds 12 steps|sequence of 1048576" run tied.qir x.npy --sequence 1048576
usage 'sequence, too long' 'a number from 1 to 1048576: --sequence' run -q tied.qir x.npy --sequence 1048577
case_of 'sequence, remainder' 1 data.sequence "holds 12 steps|sequence of 5" run tied.qir x.npy --sequence 5

# Both file forms keep states.
silent 'json' opt -q tied.qir -o tied.json
silent 'text again' opt -q tied.json -o again.qir
same 'forms' tied.qir again.qir
silent 'json run' run -q tied.json x.npy --sequence 4 -o yj.npy
same 'json run' y1.npy yj.npy
good 'inspect' inspect tied.qir
has_words 'inspect' stdout 'state        h : tensor<1x8xf32>, next next|output       y : tensor<1x3xf32>'

# Quantized: both ends of the state have one type, also when stopped after each pass and started again.
good 'eval' eval -q tied.qir --calib x.npy --data x.npy --sequence 4 --max max-diff=0.05
good 'legalize' opt -q tied.qir --calib x.npy --sequence 4 --stop-after=legalize -o integer.qir
type_of() { sed -n "s/.*%h: \(tensor<1x8x!quant[^ ]* [^>]*>>\) state.*/\1/p" "$1"; }
[ -n "$(type_of integer.qir)" ] || fail 'legalize' 'the state is not quantized' integer.qir
good 'resume 1' opt -q tied.qir --calib x.npy --sequence 4 --stop-after=calibrate -o calibrated.json
silent 'resume 2' opt -q calibrated.json --stop-after=legalize -o resumed.qir
same 'resume' integer.qir resumed.qir
for threads in 1 3; do
	good "calibrate, $threads" opt -q tied.qir --calib x.npy --sequence 4 --threads $threads --stop-after=legalize -o "integer$threads.qir"
done
same 'calibrate threads' integer1.qir integer3.qir
good 'one sequence' opt -q tied.qir --calib x.npy --stop-after=legalize -o other.qir
cmp -s integer.qir other.qir && fail 'one sequence' 'sequences do not matter'

# What runs parts of the network begins each step with the states of the float network.
for option in --bias-correction '--weight-rounding gptq' --narrow-ranges --equalize '--method output' '--activations auto'; do
	# shellcheck disable=SC2086
	good "parts, $option" compile -q tied.qir --calib x.npy --sequence 4 $option -o parts
	cases=$((cases + 1))
	cc -w -O1 -DCELL_SELFTEST_MAIN parts/*.c -o selftest 2>stderr && ./selftest >stdout || fail "parts, $option" 'its self-test fails' stdout
done
good 'analyze' analyze -q tied.qir --calib x.npy --sequence 4
has_words 'analyze' stdout 'layer|weights|alone|cosine'
good 'tune' tune -q tied.qir --calib x.npy --sequence 4 --max-weights 1M -o tuned.json

# Errors.
usage 'tie, unknown output' "import.tie|unknown output 'nxt'|'next' (tensor<1x8xf32>)" run untied.qir x.npy --tie nxt=h
usage 'tie, unknown input' "import.tie|unknown input 'k'|'h' (tensor<1x8xf32>), 'x' (tensor<1x6xf32>)" run untied.qir x.npy --tie next=k
usage 'tie, types' "import.tie|must have equal types|'y' (tensor<1x3xf32>)" run untied.qir x.npy --tie y=h
printf 'graph @main(%%x: tensor<1x2xf32>, %%past: tensor<4x2xf32>) {\n  %%all = concat %%past, %%x {axis=0}\n  return %%x, %%all\n}\n' >grows.qir
usage 'tie, grows' "import.tie|export the model with a cache of a fixed length" run grows.qir x.npy --tie all=past
usage 'tie, twice' "import.tie|output 'next' is tied twice" run untied.qir x.npy --tie next=h --tie next=h
usage 'tie, form' "import.tie|'next' is not OUTPUT=INPUT" run untied.qir x.npy --tie next
usage 'tie, again' "import.tie|unknown output 'next' (expected 'y'" run tied.qir x.npy --tie next=h
case_of 'state samples' 1 data.count "arrays of samples: 2, inputs of the model: 1 ('x')" run tied.qir x.npy zero.npy

# A state that no output depends on.
cat >unread.qir <<'X'
model "unread"
graph @main(%h: tensor<1x6xf32>, %x: tensor<1x6xf32>) {
  %y = tanh %x
  return %y, %y as "next"
}
X
case_of 'unread state' 3 legalize.float "no output depends on this state|leave its --tie out and fix its value (--input-value h=0)" \
	compile -q unread.qir --tie next=h --calib x.npy -o out
good 'unread state, fixed' compile -q unread.qir --input-value h=0 --calib x.npy -o out
finish
