/* SPDX-License-Identifier: Apache-2.0 */
/* lint.h - warnings about samples that can be read but look wrong (docs/data.md).
 *
 *   qn_lint l;
 *   qn_lint_init(&l, d, g->ninput, arena);
 *   QN_TRY(qn_dataset_check(d, a, &(qn_check){.look = qn_lint_sample, .user = &l}));
 *   qn_lint_samples(&l, env);                 data.constant, data.duplicate
 *   QN_TRY(qn_lint_model(d, g, a));     data.range, data.statistics
 *   QN_TRY(qn_lint_outputs(d, g, a));   data.outputs
 *
 *   QN_TRY(qn_lint_data(g, d, 0, a));   samples that a model is about to run on */
#ifndef QN_CALIBRATE_LINT_H
#define QN_CALIBRATE_LINT_H

#include "calibrate/dataset.h"

enum {
	QN_LINT_FEWEST = 8,       /* samples; fewer are a trial and not looked at */
	QN_LINT_HASHES = 1 << 16, /* samples that are compared with each other, from the first on */
	QN_LINT_UNITS = 1024,     /* batches that the columns of inputs are looked at in */
	QN_LINT_BATCHES = 32      /* that the model's first layers are run on */
};

typedef struct qn_lint {
	const qn_dataset *d;
	size_t ninput, n; /* samples looked at */
	uint64_t *hash;   /* pairs: that of all inputs of a sample, and its index */
	size_t *constant; /* by input: samples of equal elements, */
	size_t *first;    /* and the first of them */
	bool with_states; /* what a sample computes depends on those before it: equal ones are not duplicates */
} qn_lint;

void qn_lint_init(qn_lint *l, const qn_dataset *d, size_t ninput, qn_arena *a);
qn_check_sample_fn qn_lint_sample;
void qn_lint_samples(qn_lint *l, qn_env *env);

/* Runs the float graph up to its first layer on up to QN_LINT_BATCHES batches, evenly chosen. */
qn_status qn_lint_model(qn_dataset *d, const qn_graph *g, qn_arena *scratch) QN_MUST_CHECK;

/* Runs the whole float graph, whose first output is a row of classes for each sample, on a few batches; where the outputs
 * are the same for all, on QN_LINT_BATCHES. */
qn_status qn_lint_outputs(qn_dataset *d, const qn_graph *g, qn_arena *scratch) QN_MUST_CHECK;

/* Whether inputs of a graph with bound symbols leave some columns of the samples no steps (data.units). */
qn_status qn_lint_units(const qn_graph *g, qn_dataset *d, qn_arena *a) QN_MUST_CHECK;

/* Reads the samples (qn_dataset_check), of the first `batches` or of all with 0, and compares them with
 * the ranges of quantized inputs (data.range, data.stored, data.units), or with a float model as qn_lint_model does. */
qn_status qn_lint_data(const qn_graph *g, qn_dataset *d, size_t batches, qn_arena *a) QN_MUST_CHECK;

#endif
