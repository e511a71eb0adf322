/* SPDX-License-Identifier: MIT-0 */
/*
 * Resizing of images [batch, height, width, channels].
 *
 *     nearest     y[oy][ox] = x[row[oy]][col[ox]]
 *     bilinear    the mean of four neighbours, weighted in 1/1024 along each axis (TFLite's
 *                 ResizeBilinear for int8)
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_RESIZE_H
#define QN_KERNELS_RESIZE_H

#include "../fixed.h"

/*@ qn_nearest_args */
/* run: bytes of a pixel; row[out_h], col[out_w]: the pixel of the input for each one of the
 * output. */
typedef struct qn_nearest_args {
	int32_t batch, in_h, in_w;
	int32_t out_h, out_w;
	int32_t run;
	const int32_t *row, *col;
} qn_nearest_args;

/*@ qn_nearest */
static inline void
qn_nearest(const qn_nearest_args *a, const void *x, void *QN_RESTRICT y)
{
	const int8_t *in = (const int8_t *)x;
	int8_t *out = (int8_t *)y;
	int32_t b, oy, ox;

	for (b = 0; b < a->batch; b++) {
		for (oy = 0; oy < a->out_h; oy++) {
			const int8_t *row = in + (b * a->in_h + a->row[oy]) * a->in_w * a->run;

			for (ox = 0; ox < a->out_w; ox++, out += a->run)
				memcpy(out, row + a->col[ox] * a->run, (size_t)a->run);
		}
	}
}

/*@ qn_bilinear_args */
/* step_h, step_w: distance of two pixels of the output in 1/1024 pixels of the input; half: 1 where
 * pixels lie at their middle. in_h, in_w < 2^20. */
typedef struct qn_bilinear_args {
	int32_t batch, in_h, in_w, c;
	int32_t out_h, out_w;
	int32_t step_h, step_w;
	int32_t half;
} qn_bilinear_args;

/*@ qn_bilinear_tap */
/* The two positions, of n, between which a position of the output lies, and the weight of the
 * second in 1/1024. */
typedef struct qn_bilinear_tap {
	int32_t lower, upper;
	int32_t weight;
} qn_bilinear_tap;

/*@ qn_bilinear_at */
static inline qn_bilinear_tap
qn_bilinear_at(int32_t i, int32_t step, int32_t half, int32_t n)
{
	int32_t at = i * step + (half ? step / 2 - 512 : 0);
	qn_bilinear_tap t;

	/* The step is rounded, so the last positions may lie behind the image. */
	t.lower = at / 1024 > 0 ? at / 1024 : 0;
	t.lower = t.lower < n ? t.lower : n - 1;
	t.upper = (at + 1023) / 1024 < n ? (at + 1023) / 1024 : n - 1;
	t.weight = at - 1024 * t.lower;
	return t;
}

/*@ qn_bilinear_s8 */
/* Input and output have the same parameters.  The weights have 20 fraction bits; halves are rounded
 * away from 0. */
static inline void
qn_bilinear_s8(const qn_bilinear_args *a, const int8_t *x, int8_t *QN_RESTRICT y)
{
	int32_t b, oy, ox, c;

	for (b = 0; b < a->batch; b++, x += a->in_h * a->in_w * a->c) {
		for (oy = 0; oy < a->out_h; oy++) {
			qn_bilinear_tap v = qn_bilinear_at(oy, a->step_h, a->half, a->in_h);
			const int8_t *r0 = x + v.lower * a->in_w * a->c;
			const int8_t *r1 = x + v.upper * a->in_w * a->c;

			for (ox = 0; ox < a->out_w; ox++, y += a->c) {
				qn_bilinear_tap h = qn_bilinear_at(ox, a->step_w, a->half, a->in_w);
				int32_t p = h.lower * a->c, q = h.upper * a->c;

				for (c = 0; c < a->c; c++) {
					int64_t s =
						(int64_t)r0[p + c] * (1024 - v.weight) *
							(1024 - h.weight) +
						(int64_t)r1[p + c] * v.weight * (1024 - h.weight) +
						(int64_t)r0[q + c] * (1024 - v.weight) * h.weight +
						(int64_t)r1[q + c] * v.weight * h.weight;

					s += s > 0 ? 524288 : -524288;
					y[c] = (int8_t)(s / 1048576);
				}
			}
		}
	}
}

/*@ end */
#endif
