/* SPDX-License-Identifier: Apache-2.0 */
/* observer.h - what is remembered of the values that one symbol stands for: smallest, largest,
 * and a histogram on a power-of-two grid.
 *
 * Bin i holds values in [i * 2^e, (i + 1) * 2^e), i from -1024 to 1023.  When a value does not
 * fit, e grows and pairs of bins add up.  e ends as the smallest that fits all values, so the
 * result is exact and the same in any order, split or merged. */
#ifndef QN_CALIBRATE_OBSERVER_H
#define QN_CALIBRATE_OBSERVER_H

#include "ir/base.h"

enum { QN_HIST_HALF = 1024, QN_HIST_BINS = 2 * QN_HIST_HALF };

typedef struct qn_observer {
	uint64_t n;
	float min, max; /* when n > 0 */
	bool nonfinite; /* a NaN or an infinity has been seen; it counts nowhere else */
	qn_simd_kind simd; /* the best instruction set that may be used */
	bool has_grid;  /* a value other than 0 has been seen; until then all are in bin 0 */
	int exponent;   /* e */
	uint64_t *bin;  /* QN_HIST_BINS, bin i at [i + QN_HIST_HALF]; NULL: only min and max are wanted */
} qn_observer;

void qn_observer_add(qn_observer *o, const float *x, size_t n);
/* Both with bins, or both without. */
void qn_observer_merge(qn_observer *o, const qn_observer *other);

/* The range that leaves (100 - percent) / 2 % of the values outside on each side, by bin edges,
 * within [min, max].  symmetric: the range of |x| that leaves (100 - percent) % outside, as [-t,
 * t]. */
void qn_observer_percentile(const qn_observer *o, double percent, bool symmetric, double *lo,
			    double *hi);

#endif
