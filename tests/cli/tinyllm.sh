#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tinyllm.sh - examples/tinyllm: a language model tells a story, with the same bytes in the interpreter, on this machine and
# on a Cortex-M4; its self-test also runs on a Cortex-M55.
. "$(dirname "$0")/common.inc"

model=${QUERN_DATA:-}/models/stories260K-q8_0.gguf
if [ ! -r "$model" ]; then
	echo 'skipped: QUERN_DATA has no stories260K-q8_0.gguf'
	exit 0
fi
cases=$((cases + 1))
if CONTEXT=64 TOKENS=24 QUERN=$QUERN_BIN "$QUERN_SOURCE/examples/tinyllm/run" "$model" out "Once upon a time" >stdout 2>stderr; then
	has_words story stdout 'Once upon a time, there was a little '
	has_words story stderr '64 tokens, '
else
	fail story 'the example fails' stderr
fi
command -v arm-none-eabi-gcc qemu-system-arm >/dev/null && has_words board stdout 'the board says the same: Once upon a time, there was a'

# The state as computed on paper: a position, and keys and values of 5 blocks, 64 tokens, 4 heads of 8 values in 16 bits.
has_words state stdout "state        $((4 + 2 * 5 * 64 * 4 * 8 * 2)) bytes"

# The steps of a whole context and the first ones after it, in all of the program.
selftest="-O2 -DLLM_TRACE -DLLM_SELFTEST_MAIN"
for target in generic cortex-m4 cortex-m55; do
	good "compile $target" compile -q "$model" --context 16 --calib "$QUERN_SOURCE/examples/tinyllm/calib.txt" --sequence 64 --activations i16 --self-test 24 --name llm --target $target -o $target
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	cc -std=c99 -Wall -Wextra -DQN_PORTABLE -fsanitize=address,undefined $selftest $target/llm.c $target/llm_weights.c $target/llm_selftest.c -o $target/host 2>stderr && $target/host >stdout ||
		fail "$target" 'the self-test fails' stdout
	grep -q 'self-test passed (24 samples' stdout || fail "$target" 'it did not run' stderr
	[ ! -s stderr ] || fail "$target" 'the compiler warns' stderr
	[ $target != generic ] && command -v arm-none-eabi-gcc qemu-system-arm >/dev/null || continue
	cases=$((cases + 1))
	# shellcheck disable=SC2086
	ARM_CORE=$target "$QUERN_SOURCE/tests/mcu/arm-cc" $selftest $target/llm.c $target/llm_weights.c $target/llm_selftest.c -o $target/board 2>stderr &&
		ARM_CORE=$target "$QUERN_SOURCE/tests/mcu/arm-run" $target/board >stdout && grep -q 'self-test passed (24 samples' stdout || fail "$target in QEMU" 'it fails' stdout
done

finish
