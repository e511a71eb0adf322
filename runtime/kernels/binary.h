/* SPDX-License-Identifier: MIT-0 */
/*
 * Minimum, maximum, comparison and division of int8 codes with broadcasting.
 *
 *     output [dim0, dim1, dim2, dim3], contiguous
 *     element (i, j, k, l) of x is x[i*xs[0] + j*xs[1] + k*xs[2] + l*xs[3]]; a stride of 0 repeats
 *
 * The output may be the same memory as an input whose strides are those of the output, for each
 * element is read before it is written. The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_BINARY_H
#define QN_KERNELS_BINARY_H

#include "../fixed.h"

/*@ qn_minmax_args */
/* The parameters of both inputs and the output are the same, so codes are compared as they are. */
typedef struct qn_minmax_args {
	int32_t dim[4], xs[4], ys[4]; /* shape of the output, strides of the inputs */
	int32_t max;                  /* 0 takes the smaller, 1 the larger */
} qn_minmax_args;

/*@ qn_minmax_s8 */
static inline void
qn_minmax_s8(const qn_minmax_args *a, const int8_t *x, const int8_t *y, int8_t *z)
{
	int32_t runs = a->dim[0] * a->dim[1] * a->dim[2];
	int32_t r, l;

	for (r = 0; r < runs; r++) {
		const int8_t *px = x + qn_broadcast_at(a->dim, a->xs, r);
		const int8_t *py = y + qn_broadcast_at(a->dim, a->ys, r);

		for (l = 0; l < a->dim[3]; l++) {
			int8_t u = px[l * a->xs[3]], v = py[l * a->ys[3]];

			z[r * a->dim[3] + l] = (u > v) == (a->max != 0) ? u : v;
		}
	}
}

/*@ qn_compare_args */
/* With T = 2 * max(sx, sy): multiplier (mx, shx) is sx / T, (my, shy) is sy / T, shifts in
 * [-31, 0]. left is 20 for int8. less, same, more are the results for x < y, x = y, x > y. */
typedef struct qn_compare_args {
	int32_t dim[4], xs[4], ys[4]; /* shape of the output, strides of the inputs */
	int32_t zx, zy;               /* zero points of the inputs */
	int32_t left;                 /* headroom bits added to both inputs */
	int32_t mx, shx;
	int32_t my, shy;
	int32_t mode;                 /* rounding mode of the multipliers */
	int32_t less, same, more;     /* 0 or 1 */
} qn_compare_args;

/*@ qn_compare_one */
/* One pair of codes, both brought to scale T / 2^left as an addition does. */
static inline uint8_t
qn_compare_one(const qn_compare_args *a, int32_t x, int32_t y)
{
	int32_t one = INT32_C(1) << a->left;
	int32_t u = qn_apply_smaller((x - a->zx) * one, a->mx, a->shx, a->mode);
	int32_t v = qn_apply_smaller((y - a->zy) * one, a->my, a->shy, a->mode);

	return (uint8_t)(u < v ? a->less : u > v ? a->more : a->same);
}

/*@ qn_compare_s8 */
/* 0 or 1 for each pair. */
static inline void
qn_compare_s8(const qn_compare_args *a, const int8_t *x, const int8_t *y, uint8_t *z)
{
	int32_t runs = a->dim[0] * a->dim[1] * a->dim[2];
	int32_t r, l;

	for (r = 0; r < runs; r++) {
		const int8_t *px = x + qn_broadcast_at(a->dim, a->xs, r);
		const int8_t *py = y + qn_broadcast_at(a->dim, a->ys, r);

		for (l = 0; l < a->dim[3]; l++)
			z[r * a->dim[3] + l] =
				qn_compare_one(a, px[l * a->xs[3]], py[l * a->ys[3]]);
	}
}

/*@ qn_div_args */
/* (m, sh) is sx / (sy * so). */
typedef struct qn_div_args {
	int32_t dim[4], xs[4], ys[4]; /* shape of the output, strides of the inputs */
	int32_t zx, zy;               /* zero points of the inputs */
	int32_t zo, lo, hi;           /* zero point and range of the output codes */
	int32_t m, sh;
} qn_div_args;

/*@ qn_div_one */
/* (x - zx) * m * 2^(sh-31) / (y - zy), rounded once, ties away from zero. Division by 0 gives the
 * end of the range on the side of the dividend's sign, and 0 / 0 gives 0. The product is below
 * 2^39, so from a shift of 41 on every quotient rounds to 0 and nothing overflows. */
static inline int8_t
qn_div_one(const qn_div_args *a, int32_t x, int32_t y)
{
	int32_t n = x - a->zx, d = y - a->zy, e = 31 - a->sh;
	int64_t p, half, q;

	if (d == 0)
		return (int8_t)(n < 0 ? a->lo : n > 0 ? a->hi : qn_clamp32(a->zo, a->lo, a->hi));
	if (d < 0) {
		n = -n;
		d = -d;
	}
	p = (int64_t)(n < 0 ? -n : n) * a->m;
	half = (int64_t)d << ((e < 41 ? e : 41) - 1);
	q = (p + half) / (2 * half);
	return (int8_t)(qn_clamp32(qn_sat32(n < 0 ? -q : q), a->lo - a->zo, a->hi - a->zo) + a->zo);
}

/*@ qn_div_s8 */
/* z = x / y. */
static inline void
qn_div_s8(const qn_div_args *a, const int8_t *x, const int8_t *y, int8_t *z)
{
	int32_t runs = a->dim[0] * a->dim[1] * a->dim[2];
	int32_t r, l;

	for (r = 0; r < runs; r++) {
		const int8_t *px = x + qn_broadcast_at(a->dim, a->xs, r);
		const int8_t *py = y + qn_broadcast_at(a->dim, a->ys, r);

		for (l = 0; l < a->dim[3]; l++)
			z[r * a->dim[3] + l] = qn_div_one(a, px[l * a->xs[3]], py[l * a->ys[3]]);
	}
}

/*@ end */
#endif
