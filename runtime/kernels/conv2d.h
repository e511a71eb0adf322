/* SPDX-License-Identifier: MIT-0 */
/*
 * 2-D convolution of int8 codes, also grouped and depthwise (groups = in_c).
 *
 *     x [batch, in_h, in_w, in_c]      w [out_c, k_h, k_w, in_c / groups]
 *     acc[b, oy, ox, o] = bias[o] + sum over (ky, kx, c) of (x - zi) * w
 *     y = clamp(apply(acc, mult[o], shift[o]) + zo, lo, hi)
 *
 * One output row needs k_h input rows. They come as an array of pointers, so an input may lie in a
 * ring buffer of a few rows; a row of padding is NULL. The caller of the whole-image functions
 * lends that array (k_h entries, "const int8_t *rows[3]" in emitted code, arena memory in the
 * interpreter), which bounds k_h by nothing and keeps variable-length arrays out.
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_CONV2D_H
#define QN_KERNELS_CONV2D_H

#include "../fixed.h"

/*@ qn_conv2d_args */
/* Shapes, then quantization, then constant data. Weights have zero point 0. mult_n is out_c for one
 * multiplier per channel or 1 for a single one. bias may be NULL. The fields from zo to mode and
 * the tables mult and shift concern only the functions that give int8. */
typedef struct qn_conv2d_args {
	int32_t batch, in_h, in_w, in_c;
	int32_t out_h, out_w, out_c;
	int32_t k_h, k_w;
	int32_t stride_h, stride_w;
	int32_t dil_h, dil_w;
	int32_t pad_t, pad_l; /* rows above and columns left of the image; the rest follows */
	int32_t groups;
	int32_t zi;             /* zero point of the input */
	int32_t zo, lo, hi;     /* zero point and range of the output codes */
	int32_t mode;           /* rounding mode of the multipliers */
	int32_t mult_n;         /* entries in mult and shift: out_c or 1 */
	const int8_t *w;        /* [out_c, k_h, k_w, in_c / groups] */
	const int32_t *bias;    /* [out_c], scale s_in * s_w, or NULL */
	const int32_t *mult;    /* [mult_n] in [2^30, 2^31) or 0 */
	const int8_t *shift;    /* [mult_n] in [-31, 30] */
} qn_conv2d_args;

/*@ qn_conv2d_dot */
/* The accumulator of output column ox, channel o, from k_h row pointers. Positions in the padding
 * are skipped: they stand for the real number 0. The caller sees to it that the sum fits: at most
 * 66311 terms without a bias. */
static inline int32_t
qn_conv2d_dot(const qn_conv2d_args *a, const int8_t *const *rows, int32_t ox, int32_t o)
{
	int32_t depth = a->in_c / a->groups;
	int32_t first = a->groups == 1 ? 0 : o / (a->out_c / a->groups) * depth;
	int32_t acc = a->bias != NULL ? QN_READ32(a->bias, o) : 0;
	int32_t ky, kx, c;

	for (ky = 0; ky < a->k_h; ky++) {
		if (rows[ky] == NULL)
			continue;
		for (kx = 0; kx < a->k_w; kx++) {
			int32_t ix = ox * a->stride_w - a->pad_l + kx * a->dil_w;
			const int8_t *w = a->w + ((o * a->k_h + ky) * a->k_w + kx) * depth;
			const int8_t *x;

			if (ix < 0 || ix >= a->in_w)
				continue;
			x = rows[ky] + ix * a->in_c + first;
			for (c = 0; c < depth; c++)
				acc += ((int32_t)x[c] - a->zi) * (int32_t)QN_READ8(w, c);
		}
	}
	return acc;
}

/*@ qn_conv2d_row_acc */
/* One output row [out_w, out_c] of accumulators. */
static inline void
qn_conv2d_row_acc(const qn_conv2d_args *a, const int8_t *const *rows, int32_t *QN_RESTRICT y)
{
	int32_t ox, o;

	for (ox = 0; ox < a->out_w; ox++)
		for (o = 0; o < a->out_c; o++)
			y[ox * a->out_c + o] = qn_conv2d_dot(a, rows, ox, o);
}

/*@ qn_conv2d_row_s8 */
/* One output row [out_w, out_c] of codes. */
static inline void
qn_conv2d_row_s8(const qn_conv2d_args *a, const int8_t *const *rows, int8_t *QN_RESTRICT y)
{
	int32_t ox, o;

	for (ox = 0; ox < a->out_w; ox++) {
		for (o = 0; o < a->out_c; o++) {
			int32_t i = a->mult_n == 1 ? 0 : o;

			y[ox * a->out_c + o] = (int8_t)qn_requant(qn_conv2d_dot(a, rows, ox, o),
				QN_READ32(a->mult, i), QN_READ8(a->shift, i), a->zo, a->lo, a->hi,
				a->mode);
		}
	}
}

/*@ qn_conv2d_acc */
/* The whole convolution, int32 accumulators out. rows: k_h entries of working memory. */
static inline void
qn_conv2d_acc(const qn_conv2d_args *a, const int8_t *x, const int8_t **rows, int32_t *QN_RESTRICT y)
{
	int32_t b, oy;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_rows_at(x + b * a->in_h * a->in_w * a->in_c, a->in_h, a->in_w * a->in_c,
				oy * a->stride_h - a->pad_t, a->dil_h, a->k_h, rows);
			qn_conv2d_row_acc(a, rows, y + (b * a->out_h + oy) * a->out_w * a->out_c);
		}
	}
}

/*@ qn_conv2d_s8 */
/* The whole convolution with its requantize, int8 out. rows: k_h entries of working memory. */
static inline void
qn_conv2d_s8(const qn_conv2d_args *a, const int8_t *x, const int8_t **rows, int8_t *QN_RESTRICT y)
{
	int32_t b, oy;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_rows_at(x + b * a->in_h * a->in_w * a->in_c, a->in_h, a->in_w * a->in_c,
				oy * a->stride_h - a->pad_t, a->dil_h, a->k_h, rows);
			qn_conv2d_row_s8(a, rows, y + (b * a->out_h + oy) * a->out_w * a->out_c);
		}
	}
}

/*@ end */
#endif
