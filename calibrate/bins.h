/* SPDX-License-Identifier: Apache-2.0 */
/* bins.h - a histogram whose edges are known before the pass over the samples that fills it, so
 * that parts add up.
 *
 *   EDGES   n equal bins over [lo, lo + n * width]                 the last one holds its right edge
 *   SIZES   the same of |x|
 *   BITS    |x| by its f32 bits, of which the upper ones are known: counts the next ones, so that
 *           a few passes find a value by its rank exactly
 *
 *   3f8 00000      1.0 is 0x3f800000: the first pass counts 0x3f8 of its 31 bits, the next 10 bits … */
#ifndef QN_CALIBRATE_BINS_H
#define QN_CALIBRATE_BINS_H

#include "ir/base.h"

typedef enum qn_bins_kind { QN_BINS_NONE, QN_BINS_EDGES, QN_BINS_SIZES, QN_BINS_BITS } qn_bins_kind;

enum { QN_BINS_MOST = 1 << 16 }; /* bins of one histogram */

typedef struct qn_bins {
	qn_bins_kind kind;
	size_t n;         /* bins; BITS: a power of two */
	double lo, width; /* EDGES, SIZES; width > 0 */
	int shift;        /* BITS: bits below the ones that are counted */
	uint32_t prefix;  /* BITS: the ones above, which a value must have to count */
	uint64_t below;   /* BITS: values that are smaller than all of this prefix */
	uint64_t *count;  /* n */
} qn_bins;

/* The left edge of bin i, the right one of bin i - 1; EDGES and SIZES. */
double qn_bins_edge(const qn_bins *b, size_t i);
/* Values that are not finite count nowhere. */
void qn_bins_add(qn_bins *b, const float *x, size_t n);

#endif
