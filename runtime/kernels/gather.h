/* SPDX-License-Identifier: MIT-0 */
/*
 * Gathering: the parts of an input along one axis, in the order of an array of indices.
 *
 *     x [outer, dim, run bytes], index [n]  ->  y [outer, n, run bytes]
 *     index {2, 0, -1} of 3 rows: row 2, row 0, row 2
 *
 * The pieces are described in fixed.h.
 */
#ifndef QN_KERNELS_GATHER_H
#define QN_KERNELS_GATHER_H

#include "../fixed.h"

/*@ qn_gather_args */
/* dim >= 1. */
typedef struct qn_gather_args {
	int32_t outer, dim;
	int32_t n, run;
} qn_gather_args;

/*@ qn_gather */
/* An index below 0 counts from the end; one that lies outside the axis stands for its nearest
 * position. */
static inline void
qn_gather(const qn_gather_args *a, const void *x, const int32_t *index, void *QN_RESTRICT y)
{
	const int8_t *in = (const int8_t *)x;
	int8_t *out = (int8_t *)y;
	int32_t o, i;

	for (o = 0; o < a->outer; o++, in += a->dim * a->run) {
		for (i = 0; i < a->n; i++, out += a->run) {
			int32_t at = index[i] < 0 ? index[i] + a->dim : index[i];

			at = at < 0 ? 0 : at >= a->dim ? a->dim - 1 : at;
			memcpy(out, in + at * a->run, (size_t)a->run);
		}
	}
}

/*@ end */
#endif
