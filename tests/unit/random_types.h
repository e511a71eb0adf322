/* SPDX-License-Identifier: Apache-2.0 */
/* random_types.h - random quantized types as text, and values that are awkward to quantize.
 *
 *   put_type(&t, "f32", 2, dim)   !quant.uniform<u5<2:29>:f32:{0:2}+, {{1.25e-01:4}, {3.0e+00:17}}> */
#ifndef QN_TESTS_RANDOM_TYPES_H
#define QN_TESTS_RANDOM_TYPES_H

#include <math.h>
#include <stdio.h>

#include "tests/unit/run_util.h"

enum { MOST_TEXT = 1 << 15 };

typedef struct random_text {
	char s[MOST_TEXT];
	size_t n;
} random_text;

static inline void
put(random_text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->n += (size_t)vsnprintf(t->s + t->n, sizeof t->s - t->n, fmt, args);
	va_end(args);
	assert_true(t->n < sizeof t->s);
}

/* A storage type and, in *lo and *hi, its range. */
static inline void
put_storage(random_text *t, int64_t *lo, int64_t *hi)
{
	const int bits = (int)pick(1, 32), is_signed = (int)pick(0, 1);

	*hi = (int64_t)((UINT64_C(1) << (bits - is_signed)) - 1);
	*lo = is_signed ? -*hi - 1 : 0;
	put(t, "%c%d", is_signed ? 'i' : 'u', bits);
	if (pick(0, 3) > 0 || bits < 3)
		return;
	*lo += pick(0, (*hi - *lo) / 3);
	*hi -= pick(0, (*hi - *lo) / 3);
	put(t, "<%lld:%lld>", (long long)*lo, (long long)*hi);
}

static inline void
put_pair(random_text *t, int64_t lo, int64_t hi, bool zero)
{
	put(t, "%.6e", ldexp(1.0 + (double)pick(0, 999) / 1000, (int)pick(-9, 4)));
	if (zero)
		put(t, ":%lld", (long long)pick(lo, hi));
}

/* Nested lists of the shape's parameters. */
static inline void
put_list(random_text *t, int rank, const int64_t *shape, int64_t lo, int64_t hi, bool zero)
{
	put(t, "{");
	for (int64_t i = 0; i < shape[0]; i++) {
		put(t, i > 0 ? ", " : "");
		if (rank > 1)
			put_list(t, rank - 1, shape + 1, lo, hi, zero);
		else
			put_pair(t, lo, hi, zero);
	}
	put(t, "}");
}

static inline void
put_blocks(random_text *t, int rank, const int64_t *dim, int64_t lo, int64_t hi, bool zero)
{
	int64_t shape[3] = {1, 1, 1};
	bool partial = false;

	put(t, ":{");
	for (int d = 0, n = 0; d < rank; d++) {
		if (pick(0, 2) == 0)
			continue;
		const int64_t block = pick(1, dim[d]);
		shape[d] = (dim[d] + block - 1) / block;
		partial = partial || dim[d] % block != 0;
		put(t, "%s%d:%lld", n++ > 0 ? ", " : "", d, (long long)block);
	}
	put(t, partial ? "}+, " : "}, ");
	put_list(t, rank, shape, lo, hi, zero);
}

/* A quantized type for a tensor of this shape; expressed: the float type. */
static inline void
put_type(random_text *t, const char *expressed, int rank, const int64_t *dim)
{
	const bool zero = pick(0, 3) > 0, product = !zero && pick(0, 2) == 0;
	int64_t lo, hi;

	put(t, "!quant.uniform<");
	put_storage(t, &lo, &hi);
	put(t, ":%s", expressed);
	if (!zero && lo > 0) /* the zero point 0 must be stored */
		rg->m.types.lax_zp = true;
	switch (pick(0, 2)) {
	case 0:
		put(t, ", ");
		put_pair(t, lo, hi, zero);
		break;
	case 1: {
		const int axis = (int)pick(0, rank - 1);

		put(t, ":%d, ", axis);
		put_list(t, 1, &dim[axis], lo, hi, zero);
		break;
	}
	default:
		put_blocks(t, rank, dim, lo, hi, zero);
		break;
	}
	put(t, product ? "*0.37>" : ">");
}

/* Halves of steps, small and huge values, and what is not a number. */
static inline double
awkward(void)
{
	static const double some[] = {0.0,
				      -0.0,
				      (double)INFINITY,
				      (double)-INFINITY,
				      (double)NAN,
				      1e30,
				      -1e30,
				      0.5,
				      -0.5,
				      1.5,
				      2.5,
				      -2.5,
				      0x1p-140,
				      65504,
				      0x1p40,
				      -0x1p41,
				      0x1p31,
				      0.49999997};

	switch (pick(0, 3)) {
	case 0:
		return some[pick(0, 17)];
	case 1:
		return (double)pick(-600, 600) / 2;
	case 2:
		return real() * ldexp(1, (int)pick(-10, 36));
	default:
		return real() * 20;
	}
}

#endif
