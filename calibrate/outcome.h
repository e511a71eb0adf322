/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - how near a network's outputs are to those of the float network, over all samples.
 *
 *   qn_outcome_sums *s = qn_outcome_begin(float_outputs, arena);
 *   for each batch: qn_outcome_add(s, batch, y);
 *   qn_outcome o = qn_outcome_end(s);
 *
 * Sums are in double, in the order of the samples. */
#ifndef QN_CALIBRATE_OUTCOME_H
#define QN_CALIBRATE_OUTCOME_H

#include "calibrate/evaluate.h"

/* What is compared of an output of g: the float operand of a softmax at its end, which says more than probabilities
 * near 0 and 1; else the output itself. */
qn_id qn_output_compared(const qn_graph *g, qn_id output);

/* What the float network gives for its outputs of type f32. */
typedef struct qn_float_outputs {
	size_t n, nbatch;
	size_t *elements; /* of a batch, by output */
	float ***data;    /* by output and batch */
	double *power;    /* by output: the sum of squares */
	/* Of the first output, where it has a row of classes for each sample: */
	size_t rows, classes;   /* in a batch; in a row; 0: it has none */
	const int64_t *label;   /* by sample; NULL: not known */
	uint64_t samples, hits; /* of the float network: the class is the label's */
} qn_float_outputs;

/* id: the outputs in e, n at least 1.  batch: samples in one. */
qn_status qn_float_outputs_find(qn_evaluator *e, size_t n, const qn_id *id, const qn_dataset *data,
				const int64_t *label, qn_arena *a,
				qn_float_outputs *out) QN_MUST_CHECK;

typedef struct qn_outcome {
	double noise; /* sum of squares of the error relative to that of the float value; of several outputs the sum */
	double cosine;       /* of the angle between both; outputs count alike */
	uint64_t same, hits; /* samples of the same class as in float; of that of their label */
} qn_outcome;

typedef struct qn_outcome_sums qn_outcome_sums;

qn_outcome_sums *qn_outcome_begin(const qn_float_outputs *f, qn_arena *a);
/* y: a tensor for each output. */
void qn_outcome_add(qn_outcome_sums *s, size_t batch, const qn_tensor *const *y);
qn_outcome qn_outcome_end(const qn_outcome_sums *s);

#endif
