/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_rig.h - random numbers, codes and multipliers for tests of integer kernels. */
#ifndef TESTS_UNIT_KERNEL_RIG_H
#define TESTS_UNIT_KERNEL_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static uint64_t seed = 1;

/* Uniform in [lo, hi]. */
static inline int32_t
pick(int32_t lo, int32_t hi)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int32_t)((seed >> 33) % (uint64_t)((int64_t)hi - lo + 1));
}

static inline void *
take(int32_t n)
{
	void *p = calloc((size_t)n + 1, 1);

	assert_non_null(p);
	return p;
}

/* n codes in exactly n bytes, so that the address sanitizer sees an access beyond. */
static inline int8_t *
codes(int32_t n, int32_t lo)
{
	int8_t *p = malloc((size_t)n);

	assert_non_null(p);
	for (int32_t i = 0; i < n; i++)
		p[i] = (int8_t)pick(lo, 127);
	return p;
}

/* (m, s) with real = m * 2^(s-31): TFLite QuantizeMultiplier, real > 2^-32. */
static inline void
multiplier(double real, int32_t *m, int32_t *s)
{
	int64_t q;

	for (*s = 0; real >= 1.0; ++*s)
		real /= 2.0;
	for (; real < 0.5; --*s)
		real *= 2.0;
	q = (int64_t)(real * 2147483648.0 + 0.5);
	if (q == INT64_C(1) << 31) {
		q /= 2;
		++*s;
	}
	*m = (int32_t)q;
}

static inline int64_t
limit(int64_t x, int64_t lo, int64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* A sum of at most `bits` bits, drawn; in every second round near one that a multiplier m * 2^(-n - 32) takes to a
 * multiple of half a step, where ties are. */
static inline int32_t
pick_sum(int round, int32_t m, int32_t n, int32_t bits)
{
	const int32_t limits = 1 << pick(1, bits), most = 1 << bits;
	const int64_t half = pick(-300, 300) * (INT64_C(1) << n);
	const int64_t near = half * (INT64_C(1) << 31) / m + pick(-2, 2);

	return round % 2 == 0 && near > -most && near < most ? (int32_t)near
							     : pick(-limits + 1, limits - 1);
}

#endif
