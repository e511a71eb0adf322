/* SPDX-License-Identifier: Apache-2.0 */
/* matvec.c - a square matrix times a vector: the emitted layer beside f32 products of the same size, in one run.  Prints the
 * least times in microseconds, and their ratio:
 *
 *   30.6 66.9 0.457 */
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>

#include "net.h"

enum { N = NET_IN_X_LEN, ROUNDS = 2000, PARTS = 32 };

static _Alignas(64) unsigned char scratch[NET_SCRATCH_BYTES + 1];
static _Alignas(64) float matrix[N * N];
static float vector[N], product[N];
static int8_t input[N], output[N];

static double
seconds(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sums in parts, of which the compiler makes vectors without changing the order of additions. */
static void
multiply(void)
{
	for (int o = 0; o < N; o++) {
		const float *row = matrix + o * N;
		float part[PARTS] = {0}, sum = 0;

		for (int k = 0; k < N; k += PARTS)
			for (int j = 0; j < PARTS; j++)
				part[j] += row[k + j] * vector[k + j];
		for (int j = 0; j < PARTS; j++)
			sum += part[j];
		product[o] = sum;
	}
}

int
main(void)
{
	net_inputs in = {input};
	net_outputs out = {output};
	double least = 1e9, least_f32 = 1e9;
	float all = 0;

	for (int i = 0; i < N; i++) {
		input[i] = (int8_t)(i * 37 % 255 - 127);
		vector[i] = (float)input[i];
		for (int k = 0; k < N; k++)
			matrix[i * N + k] = (float)((i + 3 * k) % 15 - 7);
	}
	for (int i = 0; i < ROUNDS; i++) {
		const double begin = seconds();

		net_run(scratch, &in, &out);
		const double between = seconds();
		multiply();
		const double end = seconds();
		least = between - begin < least ? between - begin : least;
		least_f32 = end - between < least_f32 ? end - between : least_f32;
		all += product[i % N];
	}
	(void)printf("%.1f %.1f %.3f%s\n", 1e6 * least, 1e6 * least_f32, least / least_f32,
		     all > 1e30F ? " " : ""); /* so that no product is left out */
	return 0;
}
