/* SPDX-License-Identifier: MIT-0 */
/*
 * main.c - tells a story on a computer, and how fast.
 *
 *   ./story "Once upon a time" 0.8 42      temperature, seed; 0: what is most likely
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "story.h"

#ifndef CONTEXT
#define CONTEXT 256 /* tokens of which keys and values have room */
#endif

static void
say(const char *text, int32_t n)
{
	(void)fwrite(text, 1, (size_t)n, stdout);
	(void)fflush(stdout);
}

int
main(int argc, char **argv)
{
	const char *prompt = argc > 1 ? argv[1] : "";
	const int32_t temperature = argc > 2 ? (int32_t)(atof(argv[2]) * 256 + 0.5) : 0;
	const uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
	const int32_t most = argc > 4 ? (int32_t)atoi(argv[4]) : CONTEXT;
	const clock_t begin = clock();
	const int32_t n = tell(prompt, (int32_t)strlen(prompt), most, temperature, seed, say);
	const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;

	fprintf(stderr, "\n%d tokens, %.0f a second\n", (int)n, n / (seconds > 0 ? seconds : 1e-6));
	return 0;
}
