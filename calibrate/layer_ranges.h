/* SPDX-License-Identifier: Apache-2.0 */
/* layer_ranges.h - how the values of a layer lie in the ranges that were chosen for them, over all samples.
 *
 *   range      [------------------]              -1 … 1
 *   values        ...:::||||::..      .         used: 80 % of the range   clipped: 0.1 % of the values
 *   channels   0.1 0.1 0.2 0.1 1.9              median 0.1: one of more than 4 times as much, the worst 19 times */
#ifndef QN_CALIBRATE_LAYER_RANGES_H
#define QN_CALIBRATE_LAYER_RANGES_H

#include "calibrate/evaluate.h"
#include "calibrate/mixed.h"

enum {
	QN_HISTOGRAM_BINS = 64,
	QN_OUTLIER = 4 /* a channel whose range is more than that many times the median is one */
};

/* Bins of equal width from lo to hi, which holds all values and the range; n 0: there are no values. */
typedef struct qn_value_histogram {
	const char *name; /* of the value */
	double lo, hi;
	uint64_t n, count[QN_HISTOGRAM_BINS];
	double range_lo,
		range_hi; /* what quantized values stand for; of several channels the widest */
} qn_value_histogram;

/* Ranges are those of operands, which each match quantizes for itself; values are those of the float network. */
typedef struct qn_layer_ranges {
	size_t nrange;  /* operands that are quantized with one range for all channels */
	double clipped; /* share of their values that lie outside by more than half a step */
	double used; /* share of the ranges between the least and the largest value, on average over values */
	/* channels are along the last axis; the largest ratio to the median, 0: one channel, or a median of 0 */
	size_t outliers;
	double worst;
	uint64_t saturated;         /* elements of accumulators at an end of their type */
	qn_value_histogram data;    /* of the operand with the most values */
	qn_value_histogram weights; /* of the largest constant that is multiplied */
	double better; /* squared error of `data` in its range, relative to that in the best one that is not wider; 1 at least */
} qn_layer_ranges;

/* floating, quantized: of two->real and two->quantized. */
qn_status qn_layer_ranges_find(const qn_two_forms *two, const qn_network_layer *l,
			       qn_evaluator *floating, qn_evaluator *quantized, size_t nbatch,
			       qn_arena *a, qn_layer_ranges *out) QN_MUST_CHECK;

/* The quantize of a product's constant weights in the symbolic graph; NULL: it has none. */
const qn_node *qn_layer_weights(const qn_graph *symbolic, const qn_node *product);

#endif
