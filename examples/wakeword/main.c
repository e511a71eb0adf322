/* SPDX-License-Identifier: MIT-0 */
/*
 * main.c - from microphone samples to a probability: reads PCM (16 bits, 16000 samples a second, least significant byte
 * first) from stdin, and prints the probability of the wake word after each hop of 30 ms, 0 to 255.
 *
 *   arecord -q -t raw -f S16_LE -r 16000 -c 1 | ./wakeword
 *
 * A firmware has the same loop around the buffer of its microphone. It needs the state, the arena and one call; nothing
 * is allocated, and all arithmetic is that of integers.
 */
#include <stdio.h>

#include "wakeword.h"

enum { HOP = WAKEWORD_IN_SERVING_DEFAULT_INPUT_AUDIO_0_LEN };

static wakeword_state state;
static int8_t arena[WAKEWORD_SCRATCH_BYTES] __attribute__((aligned(WAKEWORD_SCRATCH_ALIGN)));

int
main(void)
{
	unsigned char bytes[2 * HOP];
	int16_t samples[HOP];
	uint8_t probability;
	const wakeword_inputs in = {samples};
	wakeword_outputs out = {&probability};
	int i;

	wakeword_reset(&state);
	while (fread(bytes, 2, HOP, stdin) == HOP) {
		for (i = 0; i < HOP; i++)
			samples[i] = (int16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
		wakeword_run(&state, arena, &in, &out);
		printf("%d\n", probability);
	}
	return fflush(stdout) != 0;
}
