/* SPDX-License-Identifier: MIT-0 */
/*
 * Fully connected layer on int8 codes.
 *
 *     x [batch, in]      w [out, in]
 *     acc[b, o] = bias[o] + sum over k of (x[b, k] - zi) * (w[o, k] - zw)
 *     y = clamp(apply(acc, mult[o], shift[o]) + zo, lo, hi)
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_DENSE_H
#define QN_KERNELS_DENSE_H

#include "../fixed.h"

/*@ qn_dense_args */
/* Shapes, then quantization, then constant data. zw is 0 for constant weights; the product of two
 * activations has another. mult_n is out for one multiplier per channel or 1 for a single one. bias
 * may be NULL. The fields from zo to mode, mult and shift concern only the int8 form. */
typedef struct qn_dense_args {
	int32_t batch, in, out;
	int32_t zi, zw;         /* zero points of x and w */
	int32_t zo, lo, hi;     /* zero point and range of the output codes */
	int32_t mode;           /* rounding mode of the multipliers */
	int32_t mult_n;         /* entries in mult and shift: out or 1 */
	const int8_t *w;        /* [out, in] */
	const int32_t *bias;    /* [out], scale s_x * s_w, or NULL */
	const int32_t *mult;    /* [mult_n] in [2^30, 2^31) or 0 */
	const int8_t *shift;    /* [mult_n] in [-31, 30] */
} qn_dense_args;

/*@ qn_dense_dot */
/* The accumulator of output o for one row x of in codes. The caller sees to it that the sum fits:
 * at most 66311 terms without a bias, for weights in [-127, 127]. */
static inline int32_t
qn_dense_dot(const qn_dense_args *a, const int8_t *x, int32_t o)
{
	const int8_t *w = a->w + o * a->in;
	int32_t acc = a->bias != NULL ? QN_READ32(a->bias, o) : 0;
	int32_t k;

	for (k = 0; k < a->in; k++)
		acc += ((int32_t)x[k] - a->zi) * ((int32_t)QN_READ8(w, k) - a->zw);
	return acc;
}

/*@ qn_dense_acc */
/* [batch, in] -> [batch, out], int32 accumulators out. */
static inline void
qn_dense_acc(const qn_dense_args *a, const int8_t *x, int32_t *QN_RESTRICT y)
{
	int32_t b, o;

	for (b = 0; b < a->batch; b++)
		for (o = 0; o < a->out; o++)
			y[b * a->out + o] = qn_dense_dot(a, x + b * a->in, o);
}

/*@ qn_dense_s8 */
/* [batch, in] -> [batch, out] with the requantize, int8 out. */
static inline void
qn_dense_s8(const qn_dense_args *a, const int8_t *x, int8_t *QN_RESTRICT y)
{
	int32_t b, o;

	for (b = 0; b < a->batch; b++) {
		for (o = 0; o < a->out; o++) {
			int32_t i = a->mult_n == 1 ? 0 : o;

			y[b * a->out + o] = (int8_t)qn_requant(qn_dense_dot(a, x + b * a->in, o),
				QN_READ32(a->mult, i), QN_READ8(a->shift, i), a->zo, a->lo, a->hi,
				a->mode);
		}
	}
}

/*@ end */
#endif
