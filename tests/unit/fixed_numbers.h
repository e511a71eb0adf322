/* SPDX-License-Identifier: Apache-2.0 */
/* fixed_numbers.h - for tests of fixed-point arithmetic: random numbers, and models of its primitives. */
#ifndef TESTS_UNIT_FIXED_NUMBERS_H
#define TESTS_UNIT_FIXED_NUMBERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/fixed.h"
#include "runtime/kernels/softmax.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static inline uint32_t
next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 32);
}

/* (m, s) with real = m * 2^(s-31): TFLite QuantizeMultiplier. */
static inline void
multiplier(double real, int32_t *m, int32_t *s)
{
	int exponent = 0;
	double fraction = real;
	int64_t q;

	while (fraction >= 1.0) {
		fraction /= 2.0;
		exponent++;
	}
	while (fraction > 0.0 && fraction < 0.5) {
		fraction *= 2.0;
		exponent--;
	}
	q = (int64_t)(fraction * 2147483648.0 + 0.5);
	if (q == INT64_C(1) << 31) {
		q /= 2;
		exponent++;
	}
	*m = exponent < -31 ? 0 : (int32_t)q;
	*s = exponent < -31 ? 0 : exponent;
}

#endif
