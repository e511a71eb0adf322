/* SPDX-License-Identifier: MIT-0 */
/*
 * Pooling of int8 codes: largest, average, and mean over an axis.
 *
 *     x [batch, in_h, in_w, c] -> y [batch, out_h, out_w, c], input and output have one scale
 *     window of output (oy, ox): rows oy*stride_h - pad_t + [0, k_h), columns likewise
 *
 * Positions outside the image do not count. As in the convolution, one output row comes from an
 * array of k_h row pointers (NULL for a row of padding), which the caller of the whole-image
 * functions lends. The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_POOL_H
#define QN_KERNELS_POOL_H

#include "../fixed.h"

/*@ qn_pool_args */
/* Shapes, then the range of the output codes. */
typedef struct qn_pool_args {
	int32_t batch, in_h, in_w, c;
	int32_t out_h, out_w;
	int32_t k_h, k_w;
	int32_t stride_h, stride_w;
	int32_t pad_t, pad_l; /* rows above and columns left of the image */
	int32_t lo, hi;
} qn_pool_args;

/*@ qn_max_pool_row_s8 */
/* One output row [out_w, c]. A window without any valid position yields lo. */
static inline void
qn_max_pool_row_s8(const qn_pool_args *a, const int8_t *const *rows, int8_t *QN_RESTRICT y)
{
	int32_t ox, ky, kx, c;

	for (ox = 0; ox < a->out_w; ox++, y += a->c) {
		for (c = 0; c < a->c; c++)
			y[c] = (int8_t)a->lo;
		for (ky = 0; ky < a->k_h; ky++) {
			for (kx = 0; rows[ky] != NULL && kx < a->k_w; kx++) {
				int32_t ix = ox * a->stride_w - a->pad_l + kx;
				const int8_t *x;

				if (ix < 0 || ix >= a->in_w)
					continue;
				x = rows[ky] + ix * a->c;
				for (c = 0; c < a->c; c++)
					y[c] = x[c] > y[c] ? x[c] : y[c];
			}
		}
		for (c = 0; c < a->c; c++)
			y[c] = y[c] > a->hi ? (int8_t)a->hi : y[c];
	}
}

/*@ qn_max_pool_s8 */
/* The whole image. rows: k_h entries of working memory. */
static inline void
qn_max_pool_s8(const qn_pool_args *a, const int8_t *x, const int8_t **rows, int8_t *QN_RESTRICT y)
{
	int32_t b, oy;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_rows_at(x + b * a->in_h * a->in_w * a->c, a->in_h, a->in_w * a->c,
				oy * a->stride_h - a->pad_t, 1, a->k_h, rows);
			qn_max_pool_row_s8(a, rows, y + (b * a->out_h + oy) * a->out_w * a->c);
		}
	}
}

/*@ qn_round_div */
/* sum / n, ties away from zero for even n (TFLite reference_integer_ops AveragePool). n = 0 gives
 * 0, so that a mistake upstream does not trap. */
static inline int32_t
qn_round_div(int32_t sum, int32_t n)
{
	if (n == 0)
		return 0;
	return sum > 0 ? (sum + n / 2) / n : (sum - n / 2) / n;
}

/*@ qn_avg_pool_row_s8 */
/* One output row [out_w, c]. Each window must hold a valid position: graphs in which one does not
 * are refused before they come here. */
static inline void
qn_avg_pool_row_s8(const qn_pool_args *a, const int8_t *const *rows, int8_t *QN_RESTRICT y)
{
	int32_t ox, ky, kx, c;

	for (ox = 0; ox < a->out_w; ox++) {
		for (c = 0; c < a->c; c++) {
			int32_t sum = 0, n = 0;

			for (ky = 0; ky < a->k_h; ky++) {
				for (kx = 0; rows[ky] != NULL && kx < a->k_w; kx++) {
					int32_t ix = ox * a->stride_w - a->pad_l + kx;

					if (ix < 0 || ix >= a->in_w)
						continue;
					sum += rows[ky][ix * a->c + c];
					n++;
				}
			}
			y[ox * a->c + c] = (int8_t)qn_clamp32(qn_round_div(sum, n), a->lo, a->hi);
		}
	}
}

/*@ qn_avg_pool_s8 */
/* The whole image. rows: k_h entries of working memory. */
static inline void
qn_avg_pool_s8(const qn_pool_args *a, const int8_t *x, const int8_t **rows, int8_t *QN_RESTRICT y)
{
	int32_t b, oy;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_rows_at(x + b * a->in_h * a->in_w * a->c, a->in_h, a->in_w * a->c,
				oy * a->stride_h - a->pad_t, 1, a->k_h, rows);
			qn_avg_pool_row_s8(a, rows, y + (b * a->out_h + oy) * a->out_w * a->c);
		}
	}
}

/*@ qn_mean_args */
/* x [outer, n, inner] -> y [outer, inner]; for the mean of an image per channel n = h * w and inner
 * = c. (m, sh) is si / so, divided by n (TFLite: m * 2^k / n truncated, sh - k, where k =
 * min(floor(log2 n), 32, 31 + sh)); without that division the result is the sum. */
typedef struct qn_mean_args {
	int32_t outer, n, inner;
	int32_t zi;             /* zero point of the input */
	int32_t zo, lo, hi;     /* zero point and range of the output codes */
	int32_t m, sh;
	int32_t mode;           /* rounding mode of the multiplier */
} qn_mean_args;

/*@ qn_mean_s8 */
/* y = clamp(apply(sum of x - zi * n) + zo, lo, hi); n < 2^23, so the sum fits. */
static inline void
qn_mean_s8(const qn_mean_args *a, const int8_t *x, int8_t *QN_RESTRICT y)
{
	int32_t o, i, k;

	for (o = 0; o < a->outer; o++) {
		for (i = 0; i < a->inner; i++) {
			const int8_t *p = x + o * a->n * a->inner + i;
			int32_t sum = 0;

			for (k = 0; k < a->n; k++)
				sum += (int32_t)p[k * a->inner] - a->zi;
			y[o * a->inner + i] = (int8_t)qn_requant(sum, a->m, a->sh, a->zo, a->lo,
				a->hi, a->mode);
		}
	}
}

/*@ end */
#endif
