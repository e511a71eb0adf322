/* SPDX-License-Identifier: MIT-0 */
/*
 * Transposed 2-D convolution of int8 codes, also grouped.
 *
 *     x [batch, in_h, in_w, in_c]      w [out_c, k_h, k_w, in_c / groups]
 *     acc[b, oy, ox, o] = bias[o] + sum of (x[b, iy, ix, c] - zi) * w[o, ky, kx, c]
 *         over all (iy, ky) with iy * stride_h + ky = oy + pad_t, (ix, kx) likewise
 *     y = clamp(apply(acc, mult[o], shift[o]) + zo, lo, hi)
 *
 * The sums are those of TFLite's TransposeConv, gathered for each output instead of scattered, so
 * that an output row needs k_h input rows at most and no row of accumulators. Rows come as an array
 * of pointers, NULL where no input row meets row ky of the kernel, as in conv2d.h.
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_CONV_TRANSPOSE_H
#define QN_KERNELS_CONV_TRANSPOSE_H

#include "../fixed.h"

/*@ qn_conv_transpose_args */
/* As in conv2d: weights have zero point 0, mult_n is out_c or 1, bias may be NULL, and the fields
 * from zo to mode, mult and shift concern only the functions that give int8. */
typedef struct qn_conv_transpose_args {
	int32_t batch, in_h, in_w, in_c;
	int32_t out_h, out_w, out_c;
	int32_t k_h, k_w;
	int32_t stride_h, stride_w;
	int32_t pad_t, pad_l; /* rows and columns cut off above and left of the result */
	int32_t groups;
	int32_t zi;             /* zero point of the input */
	int32_t zo, lo, hi;     /* zero point and range of the output codes */
	int32_t mode;           /* rounding mode of the multipliers */
	int32_t mult_n;         /* entries in mult and shift: out_c or 1 */
	const int8_t *w;        /* [out_c, k_h, k_w, in_c / groups] */
	const int32_t *bias;    /* [out_c], scale s_in * s_w, or NULL */
	const int32_t *mult;    /* [mult_n] in [2^30, 2^31) or 0 */
	const int8_t *shift;    /* [mult_n] in [-31, 30] */
} qn_conv_transpose_args;

/*@ qn_conv_transpose_at */
/* The input position that element k of the kernel brings to output position `out` (pads added), or
 * -1 where there is none among n. */
static inline int32_t
qn_conv_transpose_at(int32_t out, int32_t k, int32_t stride, int32_t n)
{
	int32_t at = out - k;

	return at >= 0 && at % stride == 0 && at / stride < n ? at / stride : -1;
}

/*@ qn_conv_transpose_rows */
/* The input rows that meet output row oy. */
static inline void
qn_conv_transpose_rows(const qn_conv_transpose_args *a, const int8_t *x, int32_t oy,
	const int8_t **rows)
{
	int32_t ky;

	for (ky = 0; ky < a->k_h; ky++) {
		int32_t iy = qn_conv_transpose_at(oy + a->pad_t, ky, a->stride_h, a->in_h);

		rows[ky] = iy >= 0 ? x + iy * a->in_w * a->in_c : NULL;
	}
}

/*@ qn_conv_transpose_dot */
/* The accumulator of output column ox, channel o, from k_h row pointers. */
static inline int32_t
qn_conv_transpose_dot(const qn_conv_transpose_args *a, const int8_t *const *rows, int32_t ox,
	int32_t o)
{
	int32_t depth = a->in_c / a->groups;
	int32_t first = a->groups == 1 ? 0 : o / (a->out_c / a->groups) * depth;
	int32_t acc = a->bias != NULL ? QN_READ32(a->bias, o) : 0;
	int32_t ky, kx, c;

	for (ky = 0; ky < a->k_h; ky++) {
		if (rows[ky] == NULL)
			continue;
		for (kx = 0; kx < a->k_w; kx++) {
			int32_t ix = qn_conv_transpose_at(ox + a->pad_l, kx, a->stride_w, a->in_w);
			const int8_t *w = a->w + ((o * a->k_h + ky) * a->k_w + kx) * depth;
			const int8_t *x;

			if (ix < 0)
				continue;
			x = rows[ky] + ix * a->in_c + first;
			for (c = 0; c < depth; c++)
				acc += ((int32_t)x[c] - a->zi) * (int32_t)QN_READ8(w, c);
		}
	}
	return acc;
}

/*@ qn_conv_transpose_row_acc */
/* One output row [out_w, out_c] of accumulators. */
static inline void
qn_conv_transpose_row_acc(const qn_conv_transpose_args *a, const int8_t *const *rows,
	int32_t *QN_RESTRICT y)
{
	int32_t ox, o;

	for (ox = 0; ox < a->out_w; ox++)
		for (o = 0; o < a->out_c; o++)
			y[ox * a->out_c + o] = qn_conv_transpose_dot(a, rows, ox, o);
}

/*@ qn_conv_transpose_row_s8 */
/* One output row [out_w, out_c] of codes. */
static inline void
qn_conv_transpose_row_s8(const qn_conv_transpose_args *a, const int8_t *const *rows,
	int8_t *QN_RESTRICT y)
{
	int32_t ox, o;

	for (ox = 0; ox < a->out_w; ox++) {
		for (o = 0; o < a->out_c; o++) {
			int32_t i = a->mult_n == 1 ? 0 : o;

			y[ox * a->out_c + o] = (int8_t)qn_requant(
				qn_conv_transpose_dot(a, rows, ox, o), QN_READ32(a->mult, i),
				QN_READ8(a->shift, i), a->zo, a->lo, a->hi, a->mode);
		}
	}
}

/*@ qn_conv_transpose_acc */
/* The whole image, int32 accumulators out. rows: k_h entries of working memory. */
static inline void
qn_conv_transpose_acc(const qn_conv_transpose_args *a, const int8_t *x, const int8_t **rows,
	int32_t *QN_RESTRICT y)
{
	int32_t b, oy;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_conv_transpose_rows(a, x + b * a->in_h * a->in_w * a->in_c, oy, rows);
			qn_conv_transpose_row_acc(a, rows,
				y + (b * a->out_h + oy) * a->out_w * a->out_c);
		}
	}
}

/*@ qn_conv_transpose_s8 */
/* The whole image with its requantize, int8 out. rows: k_h entries of working memory. */
static inline void
qn_conv_transpose_s8(const qn_conv_transpose_args *a, const int8_t *x, const int8_t **rows,
	int8_t *QN_RESTRICT y)
{
	int32_t b, oy;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_conv_transpose_rows(a, x + b * a->in_h * a->in_w * a->in_c, oy, rows);
			qn_conv_transpose_row_s8(a, rows,
				y + (b * a->out_h + oy) * a->out_w * a->out_c);
		}
	}
}

/*@ end */
#endif
