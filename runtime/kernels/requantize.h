/* SPDX-License-Identifier: MIT-0 */
/*
 * Rescaling of codes, and clipping.
 *
 *     x, y [outer, channels, inner]
 *     y = clamp(apply(x - zi, mult[c], shift[c]) + zo, lo, hi)
 *
 * Per-tensor parameters are tables of length 1; then channels may be 1 and outer 1.
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_REQUANTIZE_H
#define QN_KERNELS_REQUANTIZE_H

#include "../fixed.h"

/*@ qn_requantize_args */
/* Shape as axes before, at and after the channel axis; quantization; tables of length mult_n, which
 * is channels or 1. */
typedef struct qn_requantize_args {
	int32_t outer, channels, inner;
	int32_t zi;             /* zero point of the input; 0 for accumulators */
	int32_t zo, lo, hi;     /* zero point and range of the output codes */
	int32_t mode;           /* rounding mode of the multipliers */
	int32_t mult_n;         /* entries in mult and shift: channels or 1 */
	const int32_t *mult;    /* [mult_n] in [2^30, 2^31) or 0 */
	const int8_t *shift;    /* [mult_n] in [-31, 30] */
} qn_requantize_args;

/*@ qn_requantize_one */
/* One value of channel c. The subtraction saturates, so that every int32 input is defined. */
static inline int8_t
qn_requantize_one(const qn_requantize_args *a, int32_t x, int32_t c)
{
	int32_t i = a->mult_n == 1 ? 0 : c;

	return (int8_t)qn_requant(qn_satadd32(x, -a->zi), QN_READ32(a->mult, i),
		QN_READ8(a->shift, i), a->zo, a->lo, a->hi, a->mode);
}

/*@ qn_requantize_s8 */
/* int8 -> int8. x = y is allowed. */
static inline void
qn_requantize_s8(const qn_requantize_args *a, const int8_t *x, int8_t *y)
{
	int32_t o, c, i, at = 0;

	for (o = 0; o < a->outer; o++)
		for (c = 0; c < a->channels; c++)
			for (i = 0; i < a->inner; i++, at++)
				y[at] = qn_requantize_one(a, x[at], c);
}

/*@ qn_requantize_s32_s8 */
/* int32 -> int8: accumulators become codes. */
static inline void
qn_requantize_s32_s8(const qn_requantize_args *a, const int32_t *x, int8_t *QN_RESTRICT y)
{
	int32_t o, c, i, at = 0;

	for (o = 0; o < a->outer; o++)
		for (c = 0; c < a->channels; c++)
			for (i = 0; i < a->inner; i++, at++)
				y[at] = qn_requantize_one(a, x[at], c);
}

/*@ qn_clip_args */
/* n codes and their limits, lo <= hi. */
typedef struct qn_clip_args {
	int32_t n;
	int32_t lo, hi;
} qn_clip_args;

/*@ qn_clip_s8 */
/* y = clamp(x, lo, hi), which is also every member of the relu family whose input and output have
 * the same scale. x = y is allowed. */
static inline void
qn_clip_s8(const qn_clip_args *a, const int8_t *x, int8_t *y)
{
	int32_t i;

	for (i = 0; i < a->n; i++)
		y[i] = (int8_t)qn_clamp32(x[i], a->lo, a->hi);
}

/*@ end */
#endif
