/* SPDX-License-Identifier: Apache-2.0 */
/* time.c - how long one NAME_run takes on this machine: the least of many runs, in microseconds.
 *
 *   113.6 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "case.h"
#include "net.h"

enum { ROUNDS = 300, RUNS = 3 };

static _Alignas(64) unsigned char scratch[NET_SCRATCH_BYTES + 1], output[sizeof(expected)];

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int
main(void)
{
	net_inputs in = {(const void *)input};
	net_outputs out = {(void *)output};
	double least = 1e9;

	net_run(scratch, &in, &out);
	if (memcmp(output, expected, sizeof(expected)) != 0) {
		(void)puts("wrong bytes");
		return 1;
	}
	for (int i = 0; i < ROUNDS; i++) {
		const double begin = seconds();

		for (int j = 0; j < RUNS; j++)
			net_run(scratch, &in, &out);
		const double each = (seconds() - begin) / RUNS;
		least = each < least ? each : least;
	}
	(void)printf("%.1f\n", 1e6 * least);
	return 0;
}
