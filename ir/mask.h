/* SPDX-License-Identifier: Apache-2.0 */
/* mask.h - values that lead to nothing but a softmax, of which elements far below the others stand
 * for "left out".
 *
 *   softmax(scores + mask)     mask 0 or -inf, -3.4e38, -1e9, -10000
 *
 * A range that held such elements would leave nothing for the others.  They are not observed; the
 * range ends a little below the others, where quantized values saturate and e^x is 0 all the same.
 *
 *   greater(reduce_max(mask), -inf)     whether anything of a row is left: allowed, too */
#ifndef QN_IR_MASK_H
#define QN_IR_MASK_H

#include "ir/graph.h"

/* What becomes of a value; the order is that of what is known of it. */
typedef enum qn_mask {
	QN_MASK_NONE,    /* it is read elsewhere too */
	QN_MASK_FACTOR,  /* is multiplied, then added to the scores */
	QN_MASK_OPERAND, /* is added to the scores, or to something that is */
	QN_MASK_SCORES,  /* the scores themselves */
	QN_MASK_LIMIT    /* -inf, with which masks are compared */
} qn_mask;

/* Elements at or below this are masked: what masks of -1000 and less leave of scores and other terms
 * up to 200.  No score of a trained model is there: e^-800 is 0 in double. */
#define QN_MASKED -800.0f
/* Where a factor's range ends. */
#define QN_MASK_LEAST_FACTOR -32768.0

/* By value of g. */
const qn_mask *qn_mask_values(const qn_graph *g, qn_arena *a);

/* Whether an element of a value of this kind is masked: it is in no range. */
bool qn_mask_leaves_out(qn_mask kind, double v);

/* Copies the n elements that are not masked to `to`, in their order; how many they are. */
size_t qn_mask_drop(const float *x, size_t n, float *to);

/* The lower end of a range of which elements were masked; least: of the others, 0 where there are
 * none; only_zeros: they are all 0. */
double qn_mask_end(qn_mask kind, double least, bool only_zeros);

/* Room below lo..hi for elements that were left out.  seen: it holds others; else it begins at 0..0. */
void qn_mask_widen(qn_mask kind, double *lo, double *hi, bool seen);

/* A float constant of this kind with what is masked no lower than needed, so that a range of all its
 * elements is enough: of an operand as above, otherwise at QN_MASK_LEAST_FACTOR, as of where(…, scores,
 * -inf), which is below all scores. */
const qn_tensor *qn_mask_bounded(qn_arena *a, const qn_tensor *from, qn_mask kind);

#endif
