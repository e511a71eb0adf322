/* SPDX-License-Identifier: Apache-2.0 */
/* score.h - a number for each sample, of which the larger ones are to be found.
 *
 *   value        the only element of the first output
 *   value:3      element 3 of it: how much a sample is of class 3
 *   loss         -ln(softmax(first output)[label]): how little the sample's class was expected
 *   mse-input    the mean of (first output - first input)^2: how badly an autoencoder knows the sample */
#ifndef QN_DRIVER_SCORE_H
#define QN_DRIVER_SCORE_H

#include "driver/context.h"

typedef struct qn_scoring {
	const char *name; /* NULL: there is no score */
	size_t each;      /* elements of the output, one sample's */
	size_t element;   /* of value */
	bool of_input, of_label;
	int64_t positive;       /* the label of those to find */
	const int64_t *label;   /* of_label: of all samples, set by the caller */
	const qn_tensor *input; /* of_input: all samples, of a plain type, set by the caller */
} qn_scoring;

/* text NULL: "value" where each is 1, else none.  Id: eval.score. */
qn_status qn_scoring_read(qn_env *env, const char *text, size_t each,
			  qn_scoring *out) QN_MUST_CHECK;

/* Whether the first output has the shape of the first input, with several elements for each sample:
 * that of an autoencoder, say, whose largest element is not a class. */
bool qn_reconstructs(const qn_graph *g);
/* Whether the elements of a sample's first output are classes: they lie along one axis, and not as in the input. */
bool qn_gives_classes(const qn_graph *g);

/* Of sample i, whose output is y; tmp: room for `each` numbers. */
double qn_score_of(const qn_scoring *s, size_t i, const double *y, double *tmp);

/* Elements i * each … of a tensor of a plain type: those of sample i. */
void qn_row_get(const qn_tensor *x, size_t each, size_t i, double *dst);

#endif
