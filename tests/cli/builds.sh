#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# builds.sh - the lines for CMake in docs/emitted-code.md: a firmware that they build, and build again when the model changes.
. "$(dirname "$0")/common.inc"

if ! command -v cmake >/dev/null; then
	echo "cmake is not installed: skipped"
	exit 0
fi
mkdir bin
printf '#!/bin/sh\necho "$*" >>"%s/calls"\nexec "%s" "$@"\n' "$work" "$QUERN_BIN" >bin/quern
chmod +x bin/quern
PATH=$work/bin:$PATH
E=$QUERN_SOURCE/examples/digits
cp "$E/digits.json" "$E/digits.safetensors" "$E/calib.npy" .
cat >main.c <<'END'
#include "digits.h"

static int8_t arena[DIGITS_SCRATCH_BYTES] __attribute__((aligned(DIGITS_SCRATCH_ALIGN)));

int
main(void)
{
	int8_t image[DIGITS_IN_IMAGE_LEN] = {0}, probs[DIGITS_OUT_PROBS_LEN];
	digits_inputs in = {image};
	digits_outputs out = {probs};

	int sum = 0, i;

	digits_run(arena, &in, &out);
	for (i = 0; i < DIGITS_OUT_PROBS_LEN; i++)
		sum += probs[i] + 128; /* of probabilities in 256ths */
	return sum < 250 || sum > 262;
}
END
{
	printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nadd_executable(firmware main.c)\n'
	awk '/^```cmake$/ {inside = 1; next} /^```$/ {if (inside) exit} inside' "$QUERN_SOURCE/docs/emitted-code.md"
} >CMakeLists.txt
grep -q 'quern compile' CMakeLists.txt || fail cmake 'the page has no lines'
# The C for a Cortex-M4 runs on this machine with the instructions written in C.
build() {
	cases=$((cases + 1))
	cmake -S . -B tree -DCMAKE_C_FLAGS=-DQN_PORTABLE >log 2>&1 && cmake --build tree >>log 2>&1 && tree/firmware || fail "$1" 'it does not build' log
}
build first
build unchanged
[ "$(wc -l <calls)" -eq 1 ] || fail unchanged 'the model was compiled again' calls
sleep 1.1
touch digits.json
build changed
[ "$(wc -l <calls)" -eq 2 ] || fail changed 'the model was not compiled again' calls
finish
