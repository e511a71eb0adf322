/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - a model quantized and calibrated in a way that is tried: how near its outputs are to the float ones.  The
 * model stays as it is.
 *
 *   qn_trials t = {.p = p, .data = data};
 *   QN_TRY(qn_trials_observe(&t, float_graph));
 *   QN_TRY(qn_trial_run(&t, &(qn_trial){.quant = …}, error));     error[QN_TRIAL_HELD] less than before? it helps */
#ifndef QN_DRIVER_TRIAL_H
#define QN_DRIVER_TRIAL_H

#include "calibrate/evaluate.h"
#include "driver/pass_rows.h"

/* Samples: those that choose, and those that are held back, by which it is kept; few are both. */
typedef enum qn_trial_part { QN_TRIAL_FIT, QN_TRIAL_HELD, QN_TRIAL_PARTS } qn_trial_part;

typedef struct qn_trials {
	qn_pipeline *p;
	qn_dataset *data;
	bool held_only; /* nothing but the error on the samples that are held back is wanted */
	size_t noutput;
	float ***wanted; /* by batch, by output: the float values; NULL: not of type f32 */
	double *power[QN_TRIAL_PARTS]; /* by output: sum of their squares */
} qn_trials;

/* Whether a batch belongs to a part: one of four is held back, with fewer than 8 all belong to both. */
bool qn_trial_has(const qn_dataset *data, qn_trial_part part, size_t batch);

/* Runs the float graph, which is one graph, on the samples.  Outputs that are not float, or always 0, count nothing. */
qn_status qn_trials_observe(qn_trials *t, const qn_graph *g) QN_MUST_CHECK;

/* What is tried. */
typedef struct qn_trial {
	/* makes the partitioned float graph of the model, which is changed for the trial alone; NULL: it is one */
	qn_model_fn *prepare;
	/* looks at the calibrated graph; NULL: it does not */
	qn_model_fn *look;
	void *arg;                  /* of both */
	const qn_quant_opts *quant; /* of quantize */
} qn_trial;

/* error, by part, of the graph that e runs: the squared error of the outputs, each relative to the output's squares.
 * e NULL: g itself, from the states that it has itself, so that what the errors of earlier steps add up to counts. */
qn_status qn_trials_error(const qn_trials *t, qn_evaluator *e, const qn_graph *g, qn_arena *a,
			  double error[QN_TRIAL_PARTS]) QN_MUST_CHECK;

/* error, by part: the squared error of the outputs, each relative to the output's squares. */
qn_status qn_trial_run(const qn_trials *t, const qn_trial *trial,
		       double error[QN_TRIAL_PARTS]) QN_MUST_CHECK;

/* An error as SQNR: hundredths of dB. */
double qn_trial_decibel(const qn_trials *t, qn_trial_part part, double error);

#endif
