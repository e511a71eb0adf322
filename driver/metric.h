/* SPDX-License-Identifier: Apache-2.0 */
/* metric.h - figures of a model on samples: rows of a table over what the samples gave.
 *
 *   y ─┬─ label ─────────────▶ top1 top5 …            a sample gives the rank of its label
 *      ├─ score (and label) ─▶ score auc               … a number
 *      └─ what y should be ──▶ agreement … sqnr        … sums over its elements
 *
 * What a sample gives is computed in double, element after element, and added up sample after
 * sample: the figures do not depend on threads. */
#ifndef QN_DRIVER_METRIC_H
#define QN_DRIVER_METRIC_H

#include "ir/arena.h"
#include "quern/measure.h"

/* How far a result y is from what it should be, w: of one sample, or of all. */
typedef struct qn_difference {
	double square, absolute, most;    /* sum of (y - w)^2, of |y - w|, largest |y - w| */
	double yy, ww, yw;                /* sums of y^2, w^2, y*w */
	uint64_t elements, samples, same; /* same: samples whose largest element is the same one */
} qn_difference;

qn_difference qn_difference_of(const double *y, const double *w, size_t n);
void qn_difference_add(qn_difference *sum, const qn_difference *one);

/* How many of the n elements come before element `label`: the larger ones, and equal ones of a
 * smaller index. */
size_t qn_rank_of(const double *y, size_t n, size_t label);

/* The mean of (a - b)^2. */
double qn_mean_square(const double *a, const double *b, size_t n);

/* The area under the ROC curve: how probably a positive has the larger score than a negative; equal
 * ones count half. Exact: pairs are counted.  There are positives and negatives. */
double qn_auc(qn_arena *tmp, const double *score, const bool *positive, size_t n);

/* The results of all samples; parts that are NULL were not requested. */
typedef struct qn_tally {
	size_t samples;
	const uint32_t *rank; /* of the labels, one per sample */
	size_t ntop;
	const size_t *top;
	size_t scores;
	const double *score;
	bool losses;                /* the scores are */
	const double *wanted_score; /* of the reference */
	const bool *positive;
	size_t outputs;
	const char *const *output;       /* their names */
	const qn_difference *difference; /* one per output */
	bool reconstructs; /* output 0 has no classes (score.h): its agreement is the last figure */
} qn_tally;

/* Reports to fn all figures that the tally has the parts for, in the order of the table, output by
 * output.  Names are made in arena a. */
void qn_metrics_report(const qn_tally *t, qn_arena *a, qn_arena *tmp, qn_metric_fn *fn, void *user);

#endif
