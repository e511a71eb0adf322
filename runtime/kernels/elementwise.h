/* SPDX-License-Identifier: MIT-0 */
/*
 * Addition, subtraction and multiplication of int8 codes with broadcasting.
 *
 *     output [dim0, dim1, dim2, dim3], contiguous
 *     element (i, j, k, l) of x is x[i*xs[0] + j*xs[1] + k*xs[2] + l*xs[3]]; a stride of 0 repeats
 *
 *     dim {1, 2, 3, 4}  x [2, 3, 4]: xs {0, 12, 4, 1}   y [3, 1]: ys {0, 0, 1, 0}
 *
 * The output may be the same memory as an input whose strides are those of the output, for each
 * element is read before it is written. The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_ELEMENTWISE_H
#define QN_KERNELS_ELEMENTWISE_H

#include "../fixed.h"

/*@ qn_add_args */
/* With T = 2 * max(sx, sy): multiplier (mx, shx) is sx / T, (my, shy) is sy / T, (mo, sho) is
 * T / (2^left * so); all shifts are in [-31, 0]. left is 20 for int8. sub: 0 adds, 1 subtracts. */
typedef struct qn_add_args {
	int32_t dim[4], xs[4], ys[4]; /* shape of the output, strides of the inputs */
	int32_t zx, zy;               /* zero points of the inputs */
	int32_t zo, lo, hi;           /* zero point and range of the output codes */
	int32_t left;                 /* headroom bits added to both inputs */
	int32_t mx, shx;
	int32_t my, shy;
	int32_t mo, sho;
	int32_t mode;                 /* rounding mode of the multipliers */
	int32_t sub;
} qn_add_args;

/*@ qn_add_one */
/* One pair of codes. Both are brought to scale T / 2^left, added, and brought to the output's
 * (TFLite reference_ops Add): 255 * 2^20 < 2^28, so nothing overflows. */
static inline int8_t
qn_add_one(const qn_add_args *a, int32_t x, int32_t y)
{
	int32_t one = INT32_C(1) << a->left;
	int32_t u = qn_apply_smaller((x - a->zx) * one, a->mx, a->shx, a->mode);
	int32_t v = qn_apply_smaller((y - a->zy) * one, a->my, a->shy, a->mode);

	u = qn_apply_smaller(a->sub != 0 ? u - v : u + v, a->mo, a->sho, a->mode);
	return (int8_t)qn_clamp32(u + a->zo, a->lo, a->hi);
}

/*@ qn_add_s8 */
/* z = x + y or x - y. */
static inline void
qn_add_s8(const qn_add_args *a, const int8_t *x, const int8_t *y, int8_t *z)
{
	int32_t runs = a->dim[0] * a->dim[1] * a->dim[2];
	int32_t r, l;

	for (r = 0; r < runs; r++) {
		const int8_t *px = x + qn_broadcast_at(a->dim, a->xs, r);
		const int8_t *py = y + qn_broadcast_at(a->dim, a->ys, r);

		for (l = 0; l < a->dim[3]; l++)
			z[r * a->dim[3] + l] = qn_add_one(a, px[l * a->xs[3]], py[l * a->ys[3]]);
	}
}

/*@ qn_mul_args */
/* (m, sh) is sx * sy / so. */
typedef struct qn_mul_args {
	int32_t dim[4], xs[4], ys[4]; /* shape of the output, strides of the inputs */
	int32_t zx, zy;               /* zero points of the inputs */
	int32_t zo, lo, hi;           /* zero point and range of the output codes */
	int32_t m, sh;
	int32_t mode;                 /* rounding mode of the multiplier */
} qn_mul_args;

/*@ qn_mul_one */
/* One pair of codes (TFLite reference_ops Mul). */
static inline int8_t
qn_mul_one(const qn_mul_args *a, int32_t x, int32_t y)
{
	return (int8_t)qn_requant((x - a->zx) * (y - a->zy), a->m, a->sh, a->zo, a->lo, a->hi,
		a->mode);
}

/*@ qn_mul_s8 */
/* z = x * y. */
static inline void
qn_mul_s8(const qn_mul_args *a, const int8_t *x, const int8_t *y, int8_t *z)
{
	int32_t runs = a->dim[0] * a->dim[1] * a->dim[2];
	int32_t r, l;

	for (r = 0; r < runs; r++) {
		const int8_t *px = x + qn_broadcast_at(a->dim, a->xs, r);
		const int8_t *py = y + qn_broadcast_at(a->dim, a->ys, r);

		for (l = 0; l < a->dim[3]; l++)
			z[r * a->dim[3] + l] = qn_mul_one(a, px[l * a->xs[3]], py[l * a->ys[3]]);
	}
}

/*@ end */
#endif
