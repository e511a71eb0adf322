/* SPDX-License-Identifier: Apache-2.0 */
/* slice.h - which positions of an axis begin:end:step takes, as in numpy.
 *
 *   dim 5   1:4:1 -> 1 2 3      4:1:-2 -> 4 2      -1:-99:-1 -> 4 3 2 1 0      3:99:1 -> 3 4
 *
 * Numbers below 0 count from the end; what lies outside the axis is cut off. */
#ifndef QN_IR_SLICE_H
#define QN_IR_SLICE_H

#include "ir/clamp.h"
#include "ir/graph.h"

static inline int64_t
qn_slice_bound(int64_t at, int64_t dim, int64_t lo, int64_t hi)
{
	if (at < 0)
		at += dim;
	return qn_clamp_i64(at, lo, hi);
}

/* The first position and how many; dim >= 0, step not 0 and within [-2^31, 2^31]. */
static inline void
qn_slice_resolve(int64_t dim, int64_t begin, int64_t end, int64_t step, int64_t *first,
		 int64_t *count)
{
	int64_t lo = step > 0 ? 0 : -1, hi = step > 0 ? dim : dim - 1;
	int64_t from = qn_slice_bound(begin, dim, lo, hi), to = qn_slice_bound(end, dim, lo, hi);
	int64_t span = step > 0 ? to - from : from - to, each = step > 0 ? step : -step;

	*first = from;
	*count = span > 0 ? (span - 1) / each + 1 : 0;
}

/* The step along axis i; it is 1 where none is given. */
static inline int64_t
qn_slice_step(const qn_attrs_slice *a, int32_t i)
{
	return i < a->step.n ? a->step.v[i] : 1;
}

#endif
