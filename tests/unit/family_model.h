/* SPDX-License-Identifier: Apache-2.0 */
/* family_model.h - data and arithmetic of the models that the kernels of each family are held
 * against: wide integers on arrays of one type, whatever the family. */
#ifndef QN_TESTS_FAMILY_MODEL_H
#define QN_TESTS_FAMILY_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/fixed.h"

__extension__ typedef __int128 wide;

enum { ROOM = 4096 };

/* What the models compute on; the kernels get it in their own types. */
typedef struct data {
	int64_t lo, hi; /* codes */
	int64_t zi, zo;
	bool is_wide; /* 64-bit accumulators */
	int32_t x[ROOM], w[ROOM], b[ROOM];
	int64_t bias[64];
	int32_t mult[64];
	int8_t shift[64];
	int64_t acc[ROOM], y[ROOM];
} data;

static uint64_t seed = 1;

static inline int64_t
draw(int64_t lo, int64_t hi)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return lo + (int64_t)((seed >> 33) % (uint64_t)(hi - lo + 1));
}

/* Random data; weights of so many bits. */
static inline data *
make(int64_t lo, int64_t hi, int weight_bits)
{
	data *d = calloc(1, sizeof(*d));
	int32_t most = (1 << (weight_bits - 1)) - 1;

	assert_non_null(d);
	d->lo = lo;
	d->hi = hi;
	d->is_wide = hi > 255;
	d->zi = d->is_wide ? 0 : draw(lo, hi);
	d->zo = d->is_wide ? 0 : draw(lo, hi);
	for (int i = 0; i < ROOM; i++) {
		d->x[i] = (int32_t)draw(lo, hi);
		d->b[i] = (int32_t)draw(lo, hi);
		d->w[i] = (int32_t)draw(-most - 1, most);
	}
	for (int i = 0; i < 64; i++) {
		d->bias[i] = draw(-1000, 1000) * (d->is_wide ? 40000 : 10);
		d->mult[i] = (int32_t)draw(INT32_C(1) << 30, INT32_MAX);
		d->shift[i] = (int8_t)draw(-12, -6);
	}
	d->mult[3] = INT32_MAX;
	return d;
}

/* floor((x m + half) / 2^t), of 64-bit accumulators with 15 bits of m. */
static inline wide
rescale(const data *d, wide x, int32_t m, int32_t s)
{
	wide r = d->is_wide ? (m >= 0x7fff0000 ? 0x7fff : ((wide)m + 32768) / 65536) : m;
	wide unit = (wide)1 << ((d->is_wide ? 15 : 31) - s);
	wide p = x * r + unit / 2;

	return p >= 0 ? p / unit : -((-p + unit - 1) / unit);
}

static inline int64_t
to_code(const data *d, wide x, int32_t m, int32_t s)
{
	wide q = rescale(d, x, m, s) + d->zo;

	return (int64_t)(q < d->lo ? d->lo : q > d->hi ? d->hi : q);
}

/* zo, lo, hi and mode of an argument struct. */
#define CODES(d) (int32_t)(d)->zo, (int32_t)(d)->lo, (int32_t)(d)->hi, QN_RQ_SINGLE

#endif
