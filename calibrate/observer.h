/* SPDX-License-Identifier: Apache-2.0 */
/* observer.h - what is remembered of the values that one symbol stands for: smallest and largest,
 * each with the batch that reached it first, the range of every fourth batch (calibrate/growth.h),
 * and what else the method requires: a histogram on a power-of-two grid, the range of each batch,
 * bins of a later pass (calibrate/bins.h).
 *
 * Bin i of the grid holds values in [i * 2^e, (i + 1) * 2^e), i from -2048 to 2047.  When a value
 * does not fit, e grows and pairs of bins add up.  e ends as the smallest that fits all values, so
 * the result is exact and the same in any order, split or merged.
 *
 * 0.3 0.5 | 7.0      two batches      min 0.3 (batch 0), max 7.0 (batch 1), e = -8 */
#ifndef QN_CALIBRATE_OBSERVER_H
#define QN_CALIBRATE_OBSERVER_H

#include "calibrate/bins.h"
#include "ir/arena.h"

enum { QN_HIST_HALF = 2048, QN_HIST_BINS = 2 * QN_HIST_HALF, QN_QUARTERS = 4 };

typedef struct qn_pair_range {
	float min, max;
} qn_pair_range;

typedef struct qn_observer {
	uint64_t n;
	float min, max;                     /* when n > 0 */
	uint64_t min_at, max_at;            /* the first batch that reached them */
	qn_pair_range quarter[QN_QUARTERS]; /* of the batches i with i % QN_QUARTERS == k, at [k] */
	bool has_quarter[QN_QUARTERS];      /* none, although n > 0: an older file, not known */
	bool nonfinite;    /* a NaN or an infinity has been seen; it counts nowhere else */
	bool masked;       /* elements of a mask were left out (ir/mask.h) */
	bool again;        /* a later pass: only `fine` counts */
	qn_simd_kind simd; /* the best instruction set that may be used */
	bool has_grid;     /* a value other than 0 has been seen; until then all are in bin 0 */
	int exponent;      /* e */
	uint64_t *bin;     /* QN_HIST_BINS, bin i at [i + QN_HIST_HALF]; NULL: not wanted */
	qn_pair_range *
		pair; /* of batch pair_first + i at [i], shared by all workers; before its first value min is inf and max -inf; NULL: not wanted */
	uint64_t pair_first;
	qn_bins fine; /* kind QN_BINS_NONE: not wanted */
} qn_observer;

/* Values that one batch has; those of several quantizes that share a symbol are added one after the
 * other. */
void qn_observer_add(qn_observer *o, uint64_t batch, const float *x, size_t n);
/* Room for the ranges of n batches without a value so far; when all is added, batches that have
 * none are given 0. */
qn_pair_range *qn_observer_pairs(qn_arena *a, size_t n);
void qn_observer_end_pairs(qn_pair_range *pair, size_t n);
/* Both observe the same things, in the same pass. */
void qn_observer_merge(qn_observer *o, const qn_observer *other);
/* Whether the ranges of the quarters are known. */
bool qn_observer_has_quarters(const qn_observer *o);
/* 0, or the largest absolute value. */
double qn_observer_reach(const qn_observer *o);
/* Values with |x| in [i * 2^e, (i + 1) * 2^e): bins i and -i - 1, i >= 0. */
uint64_t qn_observer_magnitude(const qn_observer *o, int i);

#endif
