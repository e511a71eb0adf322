/* SPDX-License-Identifier: MIT-0 */
/*
 * Reductions of int8 codes over any axes: sum, mean, largest, smallest; and the place of the
 * largest along one axis.
 *
 *     x [2,3,4], sum over axes 0 and 2   keep {3} in steps of 4, over {2,4} in steps of 12 and 1
 *
 * Neighbouring axes of one kind are one axis and axes of length 1 are none, so that eight axes are
 * at most four kept ones and four others. The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_REDUCE_H
#define QN_KERNELS_REDUCE_H

#include "../fixed.h"

/*@ qn_reduce_args */
/* Lengths of the kept and the other axes, from the outermost, and the distances of their elements
 * in the input; unused ones stand first and have length 1. (m, sh) is si / so, for a mean divided
 * by the number of elements as in qn_mean_args. The largest and smallest use flip alone. */
typedef struct qn_reduce_args {
	int32_t keep[4], keep_step[4];
	int32_t over[4], over_step[4];
	int32_t zi;         /* zero point of the input */
	int32_t zo, lo, hi; /* zero point and range of the output codes */
	int32_t m, sh;
	int32_t mode;       /* rounding mode of the multiplier */
	int32_t flip;       /* 0: the largest, -1: the smallest */
} qn_reduce_args;

/*@ qn_step_to */
/* Distance of element i, counted in row-major order, of an array of n axes. */
static inline int32_t
qn_step_to(const int32_t *dim, const int32_t *step, int32_t n, int32_t i)
{
	int32_t k, to = 0;

	for (k = n - 1; k >= 0 && i > 0; k--) {
		to += i % dim[k] * step[k];
		i /= dim[k];
	}
	return to;
}

/*@ qn_reduce_sum_s8 */
/* y = clamp(apply(sum of x - zi) + zo, lo, hi), fewer than 2^23 elements a sum, so that it fits
 * (TFLite Mean and Sum). */
static inline void
qn_reduce_sum_s8(const qn_reduce_args *a, const int8_t *x, int8_t *QN_RESTRICT y)
{
	int32_t count = a->keep[0] * a->keep[1] * a->keep[2] * a->keep[3];
	int32_t rows = a->over[0] * a->over[1] * a->over[2];
	int32_t i, r, k;

	for (i = 0; i < count; i++) {
		const int8_t *p = x + qn_step_to(a->keep, a->keep_step, 4, i);
		int32_t sum = 0;

		for (r = 0; r < rows; r++) {
			const int8_t *q = p + qn_step_to(a->over, a->over_step, 3, r);

			for (k = 0; k < a->over[3]; k++)
				sum += (int32_t)q[k * a->over_step[3]] - a->zi;
		}
		y[i] = (int8_t)qn_requant(sum, a->m, a->sh, a->zo, a->lo, a->hi, a->mode);
	}
}

/*@ qn_reduce_max_s8 */
/* The largest code, or the smallest: c ^ -1 = -1 - c turns the order round. */
static inline void
qn_reduce_max_s8(const qn_reduce_args *a, const int8_t *x, int8_t *QN_RESTRICT y)
{
	int32_t count = a->keep[0] * a->keep[1] * a->keep[2] * a->keep[3];
	int32_t rows = a->over[0] * a->over[1] * a->over[2];
	int32_t i, r, k;

	for (i = 0; i < count; i++) {
		const int8_t *p = x + qn_step_to(a->keep, a->keep_step, 4, i);
		int32_t best = INT8_MIN;

		for (r = 0; r < rows; r++) {
			const int8_t *q = p + qn_step_to(a->over, a->over_step, 3, r);

			for (k = 0; k < a->over[3]; k++) {
				int32_t code = (int32_t)q[k * a->over_step[3]] ^ a->flip;

				best = code > best ? code : best;
			}
		}
		y[i] = (int8_t)(best ^ a->flip);
	}
}

/*@ qn_argmax_args */
/* x [outer, n, inner] -> y [outer, inner]; last: of equal codes the last one is taken, not the
 * first. */
typedef struct qn_argmax_args {
	int32_t outer, n, inner;
	int32_t last;
} qn_argmax_args;

/*@ qn_argmax_at */
/* The place of the largest of n codes that are inner apart. */
static inline int32_t
qn_argmax_at(const qn_argmax_args *a, const int8_t *x)
{
	int32_t best = 0, k;

	for (k = 1; k < a->n; k++) {
		int32_t more = (int32_t)x[k * a->inner] - x[best * a->inner];

		if (more > 0 || (more == 0 && a->last != 0))
			best = k;
	}
	return best;
}

/*@ qn_argmax_s8_s32 */
static inline void
qn_argmax_s8_s32(const qn_argmax_args *a, const int8_t *x, int32_t *QN_RESTRICT y)
{
	int32_t o, i;

	for (o = 0; o < a->outer; o++)
		for (i = 0; i < a->inner; i++)
			y[o * a->inner + i] = qn_argmax_at(a, x + o * a->n * a->inner + i);
}

/*@ qn_argmax_s8_s64 */
static inline void
qn_argmax_s8_s64(const qn_argmax_args *a, const int8_t *x, int64_t *QN_RESTRICT y)
{
	int32_t o, i;

	for (o = 0; o < a->outer; o++)
		for (i = 0; i < a->inner; i++)
			y[o * a->inner + i] = qn_argmax_at(a, x + o * a->n * a->inner + i);
}

/*@ end */
#endif
