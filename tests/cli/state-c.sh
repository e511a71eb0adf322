#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# state-c.sh - stateful networks in C: sequences in the self-test on the host and on a Cortex-M4, two streams at once, a device.
. "$(dirname "$0")/common.inc"
strict="cc -std=c99 -O2 -Wall -Wextra -Wpedantic -Wconversion -Werror"

cat >cell.qir <<'X'
model "cell"
graph @main(%x: tensor<1x6xf32>, %h: tensor<1x8xf32> state splat 0.25, %last: tensor<1x6xf32> state) {
  %c = concat %x, %h, %last {axis=1}
  %w = const : tensor<8x20xf32> rand 1
  %b = const : tensor<8xf32> rand 5
  %z0 = dense %c, %w, %b
  %z = sigmoid %z0
  %n = tanh %z0
  %d = sub %h, %n
  %e = mul %z, %d
  %hn = add %n, %e
  %wo = const : tensor<3x8xf32> rand 3
  %o = dense %hn, %wo
  return %o as "y", %hn as "h.next" to %h, %x as "last.next" to %last
}
X
for ((i = 0; i < 240; i++)); do
	v=$(((i * 7919 + i * i * 31) % 255))
	printf '\\000\\000\\%03o\\%03o' $((v / 2 + 64)) $((v % 2 ? 63 : 191))
done | xargs -0 printf >x.bin
npy x.npy '<f4' '40, 6' <x.bin

selftest() { # NAME FOLDER
	local capital
	capital=$(echo "$1" | tr a-z A-Z)
	cases=$((cases + 1))
	${strict% -Werror} -DQN_PORTABLE -fsanitize=address,undefined -D"${capital}_TRACE" -D"${capital}_SELFTEST_MAIN" "$2/$1.c" "$2/$1_weights.c" "$2/$1_selftest.c" -o "$2/t" 2>stderr &&
		"$2/t" >stdout || fail "$1 in $2" "the self-test fails" stdout
	grep -q "self-test passed" stdout || fail "$1 in $2" "it did not run" stderr
}
for activations in i8 i16; do
	for target in generic cortex-m4 avr; do
		good "$activations $target" compile -q cell.qir --calib x.npy --sequence 10 --self-test 40 --activations $activations --target $target -o $activations-$target
		selftest cell $activations-$target
	done
done
grep -q 'if (i % 10 == 0)' i8-generic/cell_selftest.c || fail sequence 'the self-test does not reset' i8-generic/cell_selftest.c

# Every way in which a state can get its next value.
printf "$(for ((i = 0; i < 64; i++)); do printf '\\%03o' $(((i * 37 + i * i) % 256)); done)" | npy codes.npy '|i1' '16, 4'
sed '/^--- print/,$d' "$QUERN_SOURCE/tests/golden/state-exchange.qir" >exchange.qir
good exchange compile -q exchange.qir --calib codes.npy --sequence 8 --self-test 16 -o exchange
selftest exchange exchange
good 'exchange avr' compile -q exchange.qir --calib codes.npy --sequence 8 --self-test 16 --target avr -o exchange-avr
selftest exchange exchange-avr

# A state that keeps its first value, and that nothing else reads.
cat >kept.qir <<'X'
model "kept"
graph @main(%x: tensor<1x6xf32>, %h: tensor<1x6xf32> state splat 0.5) {
  %y = tanh %x
  return %y, %h as "next" to %h
}
X
good kept compile -q kept.qir --calib x.npy --self-test 40 -o kept
selftest kept kept
$strict -c kept/kept.c -o kept/kept.o 2>stderr || fail kept 'it has warnings' stderr

# Rows that are written into a cache, of keys and values, where they stay: the state is not copied.
cat >attend.qir <<'X'
model "attend"
graph @main(%x: tensor<1x6xf32>, %at: tensor<1xi32> state, %keys: tensor<12x2x4xf32> state, %values: tensor<12x2x4xf32> state) {
  %one = const : tensor<1xi32> [1]
  %index = const : tensor<12xi32> [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  %low = const : tensor<f32> [-1e9]
  %wq = const : tensor<8x6xf32> rand 1
  %wk = const : tensor<8x6xf32> rand 2
  %wv = const : tensor<8x6xf32> rand 3
  %q = dense %x, %wq
  %k = dense %x, %wk
  %v = dense %x, %wv
  %q3 = reshape %q {shape=[2,1,4]}
  %k3 = reshape %k {shape=[1,2,4]}
  %v3 = reshape %v {shape=[1,2,4]}
  %row = reshape %at {shape=[1,1]}
  %kn = scatter_nd %keys, %row, %k3
  %vn = scatter_nd %values, %row, %v3
  %kt = transpose %kn {perm=[1,0,2]}
  %vt = transpose %vn {perm=[1,0,2]}
  %s = matmul %q3, %kt {transpose_b=1}
  %seen = less_equal %index, %at
  %m = where %seen, %s, %low
  %p = softmax %m
  %o = matmul %p, %vt
  %y = reshape %o {shape=[1,8]}
  %next = add %at, %one
  return %y as "y", %next as "at.next" to %at, %kn as "keys.next" to %keys, %vn as "values.next" to %values
}
X
for activations in i8 i16; do
	good "attend $activations" compile -q attend.qir --calib x.npy --sequence 10 --self-test 40 --activations $activations -o attend-$activations
	selftest attend attend-$activations
	for cache in keys values; do
		cases=$((cases + 1))
		grep -q "(&.*, state->$cache, state->at, .*, state->$cache);" attend-$activations/attend.c || fail "attend $activations" "$cache are copied" attend-$activations/attend.c
	done
done
good 'eval attend' eval -q attend.qir --calib x.npy --data x.npy --sequence 10 --activations i16 --against attend.qir --min cosine=0.999

# Two streams in turn, each as it is by itself; without a heap.
good legalize opt -q cell.qir --calib x.npy --sequence 10 --stop-after=legalize -o integer.qir
good run run -q integer.qir x.npy --sequence 20 -o y.npy
cat >i8-generic/main.c <<'X'
#include <stdio.h>
#include "cell.h"
#include "cell_io.h"
static int8_t scratch[CELL_SCRATCH_BYTES];
int
main(void)
{
	static float x[40][CELL_IN_X_LEN];
	static int8_t y[40][CELL_OUT_Y_LEN];
	cell_state state[2];
	int8_t q[CELL_IN_X_LEN];
	int i, k;

	if (fread(x, sizeof x, 1, stdin) != 1)
		return 1;
	cell_reset(&state[0]);
	state[1] = state[0];
	for (i = 0; i < 20; i++)
		for (k = 0; k < 2; k++) {
			cell_inputs in;
			cell_outputs out;
			in.x = q;
			out.y = y[20 * k + i];
			cell_io_quantize_x(x[20 * k + i], q);
			cell_run(&state[k], scratch, &in, &out);
		}
	return fwrite(y, sizeof y, 1, stdout) != 1;
}
X
cases=$((cases + 1))
if $strict i8-generic/main.c i8-generic/cell.c i8-generic/cell_weights.c -o streams 2>stderr && ./streams <x.bin >got; then
	tail -c +129 y.npy >want
	same streams want got
else
	fail streams 'it does not run' stderr
fi
has_words header i8-generic/cell.h 'typedef struct cell_state {|void cell_reset(cell_state *state);|void cell_run(cell_state *state, void *scratch,|#define CELL_STATE_H_ZERO_POINT|state     22 bytes'
has_words report i8-generic/cell.report.json '"state_bytes": 22|"states": ['

# A device keeps its state from sample to sample, and begins each sequence with the first values.
good validation compile -q cell.qir --calib x.npy --validation -o device
cases=$((cases + 1))
$strict -DCELL_TRACE -DCELL_DEVICE_MAIN device/cell.c device/cell_weights.c device/cell_device.c -o device/run 2>stderr || fail device 'it does not compile' stderr
good validate validate device --data x.npy --device device/run
good 'validate, sequences' validate device --data x.npy --device device/run --sequence 10
has_words 'validate, sequences' stdout 'result       equal'
# One that does not reset gives other values from the second sequence on.
cases=$((cases + 1))
sed 's/if (begins != 0)/if (0)/' device/cell_device.c >device/keeps_device.c
$strict -DCELL_TRACE -DCELL_DEVICE_MAIN device/cell.c device/cell_weights.c device/keeps_device.c -o device/keeps 2>stderr || fail keeps 'it does not compile' stderr
good 'keeps, one sequence' validate device --data x.npy --device device/keeps
stdout_ok=1 case_of 'keeps, sequences' 4 '' '' validate device --data x.npy --device device/keeps --sequence 10
has_words 'keeps, sequences' stdout 'differs in 30 of 40 samples, from sample 10 on'

# A Cortex-M4 in QEMU.
if command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null; then
	for name in i8-cortex-m4 i16-cortex-m4; do
		cases=$((cases + 1))
		"$QUERN_SOURCE/tests/mcu/arm-cc" -O2 -DCELL_TRACE -DCELL_SELFTEST_MAIN $name/cell.c $name/cell_weights.c $name/cell_selftest.c -o $name/m4 2>stderr &&
			"$QUERN_SOURCE/tests/mcu/arm-run" $name/m4 >stdout && grep -q 'self-test passed (40 samples' stdout || fail "$name in QEMU" 'it fails' stdout
	done
fi

# SVDF, whose memory of i16 is a state.
printf "$(for ((i = 0; i < 60; i++)); do printf '\\%03o' $(((i * 53 + i * i) % 256)); done)" | npy svdf.npy '|i1' '30, 2'
good svdf compile -q "$QUERN_SOURCE/tests/fuzz/corpus/tflite/svdf.tflite" --calib svdf.npy --sequence 15 --self-test 30 -o svdf
selftest svdf svdf

# Networks that stream, as their authors have quantized them.
if [ -r "${QUERN_DATA:-}/models/voice_activity.tflite" ]; then
	hops=40
	for ((i = 0; i < hops * 120; i++)); do
		printf '\\%03o' $(((i * 37 + i / 120 * 11 + i * i % 97) % 256))
	done | xargs -0 printf | npy hops.npy '|i1' "$hops, 3, 40"
	for name in voice_activity wakeword_okay_nabu; do
		good $name compile -q "$QUERN_DATA/models/$name.tflite" --calib hops.npy --target cortex-m4 --self-test $hops -o $name
		selftest $name $name
		command -v arm-none-eabi-gcc >/dev/null && command -v qemu-system-arm >/dev/null || continue
		capital=$(echo $name | tr a-z A-Z)
		cases=$((cases + 1))
		"$QUERN_SOURCE/tests/mcu/arm-cc" -O2 -D${capital}_SELFTEST_MAIN $name/$name.c $name/${name}_weights.c $name/${name}_selftest.c -o $name/m4 2>stderr &&
			"$QUERN_SOURCE/tests/mcu/arm-run" $name/m4 >stdout && grep -q "self-test passed ($hops samples" stdout || fail "$name in QEMU" 'it fails' stdout
	done
fi
finish
