/* SPDX-License-Identifier: Apache-2.0 */
/* widen.h - activations of 16 bits for the layers whose range needs them (QN_ACTIVATIONS_AUTO, "activations": "auto").
 *
 *   partitioned graph ──all i8──▶ what the activations of each layer cost (calibrate/analyze.h), worst first
 *                     ──i16 for the worst, then for the next …──▶ kept where the outputs gain (driver/trial.h) */
#ifndef QN_DRIVER_WIDEN_H
#define QN_DRIVER_WIDEN_H

#include "calibrate/dataset.h"
#include "driver/pass_rows.h"
#include "driver/trial.h"

/* A layer that stays in 16 bits has to bring so many dB on the samples that choose: half of the error.  Less is
 * how the errors of layers are spread in any network, and no range that needs 16 bits. */
#define QN_WIDEN_LEAST_GAIN 3.0
/* Outputs with less SQNR are far from the float ones: then many layers that bring less each become wide together. */
#define QN_WIDEN_FAR 15.0
enum {
	QN_WIDEN_TRIALS = 32,     /* after that of 8 bits, at most */
	QN_WIDEN_LAST = 12,       /* of them, for all layers together where none helped */
	QN_WIDEN_FAR_TRIALS = 16, /* more, where the outputs are far from the float ones */
	QN_WIDEN_SAMPLES = 64     /* batches that layers are ranked by, at most */
};

/* Options for the pass quantize: p->quant where nothing is to be chosen; else with rules for layers and graph inputs
 * that get 16 bits, which are noted in the model.  Ids: widen.no-data, widen.ranges; warning: widen.settled. */
qn_status qn_widen(qn_pipeline *p, qn_quant_opts *out) QN_MUST_CHECK;

/* ---- widen_rank.c ---- */

/* A layer whose activations may get 16 bits. */
typedef struct qn_wide_layer {
	const char *name;   /* a glob of its own */
	const char *source; /* … as it is called */
	size_t ninput;
	const char *const
		*input; /* globs of graph inputs that it takes, which are stored as it says */
	qn_id first;    /* its first node */
	bool product;   /* it multiplies and sums: weights keep their storage */
	double noise; /* of what 16 bits would repair alone, relative to the signal of the outputs */
	bool wide;
	/* dB on the samples held back: what it brought, or of layers that became wide together, what is
	 * lost without it */
	double gain;
} qn_wide_layer;

typedef struct qn_wide_layers {
	size_t n;
	qn_wide_layer *layer; /* with noise, the noisiest first */
	double noise;         /* of all layers together, constants too */
	double constants;     /* sum of what the weights of each layer cost: it stays */
} qn_wide_layers;

/* The layers of a calibrated graph that `quant` leaves open; g: the partitioned graph that it was.  They live in arena
 * a. */
qn_status qn_widen_rank(qn_model *m, const qn_graph *g, const qn_quant_opts *quant,
			qn_dataset *data, qn_arena *a, qn_wide_layers *out) QN_MUST_CHECK;
/* Whether `quant` leaves the activations of some match open. */
bool qn_widen_is_open(const qn_graph *g, const qn_quant_opts *quant);

/* ---- widen.c, for the others ---- */

typedef struct qn_widening {
	qn_pipeline *p;
	const qn_graph *g; /* partitioned */
	qn_trials trials;
	qn_arena *arena;
	qn_wide_layers all;
	double first[QN_TRIAL_PARTS],
		now[QN_TRIAL_PARTS]; /* errors with 8 bits, and as it is so far */
	bool lowers;  /* with 8 bits the graph becomes integer: then it has to with 16 bits, too */
	double begun; /* noise of all layers with 8 bits */
	size_t tried,
		impossible; /* trials; of those, with a storage that the network cannot have */
	/* the outputs were far from the float ones; all layers can be wide; that helps, with … */
	bool is_far, all_can, all_help;
	double with_all; /* … this error on the samples held back */
} qn_widening;

/* Measures the layers that are wide now, and tells the host; *can: the network can be quantized so. */
qn_status qn_widening_try(qn_widening *w, double error[QN_TRIAL_PARTS], bool *can) QN_MUST_CHECK;
/* The error as it is so far. */
void qn_widening_take(qn_widening *w, const double error[QN_TRIAL_PARTS]);

/* ---- widen_far.c ---- */

/* Where the outputs are far from the float ones: the noisiest layers become wide, as few as bring them near. */
qn_status qn_widen_far(qn_widening *w) QN_MUST_CHECK;

/* ---- widen_tell.c ---- */

/* Says which layers are wide, and notes them in the model. */
void qn_widen_tell(const qn_widening *w);

/* ---- widen_options.c ---- */

/* The options of the pipeline with a rule for each layer that is wide, and for its inputs. */
qn_quant_opts qn_widen_options(const qn_pipeline *p, const qn_wide_layers *all, qn_arena *a);

/* ---- widen_choose.c; in: by layer ---- */

/* By how many dB an error fell. */
double qn_widen_gain(double before, double after);
/* What layers have to bring together: the least gain for each that has weights, and once for all others.  What sums,
 * quotients and powers one after the other lose (a normalization, say) none of them gains alone. */
double qn_widen_least_gain(const qn_wide_layers *all, const bool *in);
/* As many layers, the noisiest first, as may bring most beyond the least gain.  Noise of layers adds up about so. */
void qn_widen_noisiest(const qn_wide_layers *all, qn_arena *a, bool *in);
/* All that have no weights and are not wide. */
void qn_widen_without_weights(const qn_wide_layers *all, bool *in);

#endif
