/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.h - the shape of an elementwise operation with as few axes as possible.
 *
 *   x [2,3,4]  y [3,1]   result [2,3,4]
 *   axes after merging:  dim {2, 3, 4}   xs {12, 4, 1}   ys {0, 1, 0}
 *
 *   x [2,3,4]  y [4]     result [2,3,4]
 *   axes after merging:  dim {6, 4}      xs {4, 1}       ys {0, 1}       two axes walk as one */
#ifndef QN_RUNTIME_BROADCAST_H
#define QN_RUNTIME_BROADCAST_H

#include "ir/type.h"

typedef struct qn_broadcast {
	int32_t rank; /* 1 .. QN_MAX_RANK */
	int64_t dim[QN_MAX_RANK];
	int64_t xs[QN_MAX_RANK], ys[QN_MAX_RANK]; /* distances in elements; 0 repeats */
} qn_broadcast;

/* x and y broadcast to out, axes aligned at the end. */
void qn_broadcast_make(const qn_type *x, const qn_type *y, const qn_type *out, qn_broadcast *b);

/* Offsets in x and y of the next run along the last axis; at holds the rank - 1 outer positions,
 * zero to begin.  Changes at, *x and *y; false after the last run. */
bool qn_broadcast_next(const qn_broadcast *b, int64_t *at, int64_t *x, int64_t *y);

#endif
