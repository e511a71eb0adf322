/* SPDX-License-Identifier: Apache-2.0 */
/* entropy.h - how much a histogram P loses when it is replaced by Q, whose bins have one height for
 * each level: D = sum P ln(P / Q), both smoothed and normalized to 1.
 *
 *   P   5 3 2 | 4 0 2        inner bins and ends
 *   Q   4 4 2 | 3 0 3        three levels of two bins: heights 4, 2 … where P is not empty
 *
 * Smoothing gives empty bins 1e-4, taken from the others in equal parts d, so the terms are
 * (c - d) ln (c - d) for each count c of P, and -(sum of c - d) ln(height) for each level: the first
 * sum grows bin by bin as the histogram does (counts below QN_ENTROPY_SMALL are tallied, the others
 * are powers of 1/c of the series in d), the second needs sums over ranges of bins.  A histogram that
 * grows by a bin costs its levels, not its bins. */
#ifndef QN_CALIBRATE_ENTROPY_H
#define QN_CALIBRATE_ENTROPY_H

#include "ir/base.h"

enum {
	QN_ENTROPY_SMALL = 32, /* counts from here on are in the series; 32^-11 is below 2^-53 */
	QN_ENTROPY_POWERS = 10
};

/* Counts of bins of P; all are integers, or 0. */
typedef struct qn_entropy_counts {
	double tally[QN_ENTROPY_SMALL];  /* how many are 1, 2, … */
	double c, ln, c_ln;              /* of the larger ones: sum c, sum ln c, sum c ln c, */
	double power[QN_ENTROPY_POWERS]; /* sum c^-1, sum c^-2, … */
	double large;                    /* and how many these are */
} qn_entropy_counts;

/* Bins in which Q has the same height. */
typedef struct qn_entropy_level {
	double height;        /* 0: Q is empty there */
	double sum;           /* of P */
	size_t filled, empty; /* bins that P has something in, and others */
} qn_entropy_level;

void qn_entropy_add(qn_entropy_counts *to, double count);

/* D of P, whose counts are *p, against Q, whose levels cover the same bins; infinite when one cannot
 * be smoothed. */
double qn_entropy_divergence(const qn_entropy_counts *p, size_t nlevel,
			     const qn_entropy_level *level);

/* Whether d is less than best by more than rounding errors: sums of up to 2^14 bins are right to about
 * 1e-13 of ln(all counts).  Histograms with gaps, as those of images, have many candidates of equal D,
 * of which the first has to win. */
bool qn_entropy_less(double d, double best);

#endif
