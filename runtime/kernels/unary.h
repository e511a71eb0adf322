/* SPDX-License-Identifier: MIT-0 */
/*
 * Functions of one code, and the leaky clamp whose slopes are data.
 *
 *     table   y = lut[x]                                     lut: codes 0 .. 127, then -128 .. -1
 *     prelu   x [rows, channels], slope [channels]
 *             y = x >= 0 ? x : x * slope                     in real numbers
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_UNARY_H
#define QN_KERNELS_UNARY_H

#include "../fixed.h"

/*@ qn_lut_args */
/* n codes; a table of all 256 results, indexed by the code as an unsigned byte. */
typedef struct qn_lut_args {
	int32_t n;
	const int8_t *lut; /* [256] */
} qn_lut_args;

/*@ qn_lut_s8 */
/* y = lut[x]. x = y is allowed. */
static inline void
qn_lut_s8(const qn_lut_args *a, const int8_t *x, int8_t *y)
{
	int32_t i;

	for (i = 0; i < a->n; i++)
		y[i] = (int8_t)QN_READ8(a->lut, (uint8_t)x[i]);
}

/*@ qn_prelu_args */
/* (m, sh) is sx / so, (ms, shs) is sx * ss / so. */
typedef struct qn_prelu_args {
	int32_t rows, channels;
	int32_t zx, zs;       /* zero points of the data and of the slopes */
	int32_t zo, lo, hi;   /* zero point and range of the output codes */
	int32_t m, sh;
	int32_t ms, shs;
	int32_t mode;         /* rounding mode of the multipliers */
} qn_prelu_args;

/*@ qn_prelu_one */
/* One code and the slope of its channel (TFLite reference_ops BroadcastPrelu4DSlow, int8). */
static inline int8_t
qn_prelu_one(const qn_prelu_args *a, int32_t x, int32_t slope)
{
	x -= a->zx;
	if (x >= 0)
		return (int8_t)qn_requant(x, a->m, a->sh, a->zo, a->lo, a->hi, a->mode);
	return (int8_t)qn_requant(x * (slope - a->zs), a->ms, a->shs, a->zo, a->lo, a->hi, a->mode);
}

/*@ qn_prelu_s8 */
/* y = x where that is not negative, else x * slope. x = y is allowed. */
static inline void
qn_prelu_s8(const qn_prelu_args *a, const int8_t *x, const int8_t *slope, int8_t *y)
{
	int32_t r, c;

	for (r = 0; r < a->rows; r++)
		for (c = 0; c < a->channels; c++)
			y[r * a->channels + c] =
				qn_prelu_one(a, x[r * a->channels + c], slope[c]);
}

/*@ end */
#endif
