/* SPDX-License-Identifier: Apache-2.0 */
/* repair_impl.h - what the files of the pass repair share (repair.h). */
#ifndef QN_CALIBRATE_REPAIR_IMPL_H
#define QN_CALIBRATE_REPAIR_IMPL_H

#include "calibrate/evaluate.h"
#include "calibrate/products.h"
#include "calibrate/repair.h"

/* ---- layers (repair_find.c) ---- */

/* A layer with constants of its own, which are changed in place. */
typedef struct qn_repairable {
	const char *name;
	qn_product product;
	qn_weight_rounding rounding; /* how its weights are rounded */
	bool corrects;               /* its bias is corrected */
	qn_id source;                /* of the symbolic graph: the layer */
	qn_id x, w;            /* its operand, as it is multiplied; the quantize of its weights */
	qn_id y;               /* its output as float values */
	int64_t steps;         /* how often it is computed in a run: 1, or in each step of loops */
	float *weight, *bias;  /* bias NULL: it takes none */
	const float *original; /* its weights before … */
	qn_symbol scales;      /* … and the symbol of their scales, where that is one */
} qn_repairable;

typedef struct qn_repairables {
	size_t n;
	qn_repairable *layer; /* in the order of the graph */
	qn_graph *g;          /* a copy of the symbolic graph that holds them */
} qn_repairables;

/* Layers that something is to be done at, and whose weights are an f32 constant of theirs alone.  Those without a bias that
 * get a corrected one have zeros. */
qn_status qn_repairables_find(qn_model *m, const qn_repair_opts *o,
			      qn_repairables *out) QN_MUST_CHECK;

/* What the float graph gives for a value. */
typedef struct qn_wanted {
	double *fit;  /* its sum for each channel, on the samples that fit; NULL: not wanted */
	float **held; /* by sample that is held back: all elements */
	double power; /* sum of their squares */
} qn_wanted;

typedef struct qn_repairing {
	qn_model *m;
	qn_dataset *data;
	const qn_repair_opts *o;
	qn_repairables all;
	qn_evaluator *quantized;   /* of the repaired graph */
	qn_wanted *layer, *output; /* of each layer, of each output of the graph */
	double *x;                 /* room for the largest operand */
	size_t nfit, nheld;        /* samples of either kind */
	size_t most_held;          /* that many of the latter fit into memory */
} qn_repairing;

/* One batch of four is held back, to decide what is kept; with few of them all serve both ends. */
bool qn_repair_holds(const qn_repairing *r, size_t batch);
bool qn_repair_fits(const qn_repairing *r, size_t batch);
/* The symbol of a layer's weight scales; NULL: they are numbers, or a product of symbols. */
qn_symbol *qn_repair_scales(const qn_repairing *r, const qn_repairable *l);
/* Adds the elements of y to the sums of their channels, which are last. */
void qn_repair_add(const float *y, size_t n, size_t channels, double *to);

/* ---- one layer (repair_layer.c) ---- */

/* Other weights and another bias for layer k where they bring its output nearer; *done tells what was
 * changed.  a: for what it takes meanwhile. */
qn_status qn_repair_layer(qn_repairing *r, size_t k, qn_arena *a, qn_repaired *done) QN_MUST_CHECK;

/* ---- its weights (repair_moments.c, repair_weights.c) ---- */

/* Means over patches of a group: x[i], x[i] * x[j]. */
typedef struct qn_moments {
	size_t n, taps, groups;
	double *first;  /* [groups, taps] */
	double *second; /* [groups, taps, taps]; the upper triangles until they are finished */
} qn_moments;

/* The most memory and work that moments of a layer may take; beyond, weights are rounded to the nearest. */
bool qn_moments_fit(const qn_product *p);
qn_moments *qn_moments_new(const qn_product *p, qn_arena *a);
/* Adds the patches of data x of one batch at the chosen positions: of `all` as many as the work allows,
 * evenly spread. */
void qn_moments_add(qn_moments *s, const qn_product *p, const double *x, size_t batch, size_t all);
/* Divides by their number; centred: less the products of means, where the bias makes up for these. */
void qn_moments_finish(qn_moments *s, bool centred);

/* New values for a layer's weights, which quantize makes the chosen integers of.  Weights with a scale for each output and no
 * other use of it also get the best of some smaller scales. */
qn_status qn_round_layer(qn_model *m, const qn_graph *g, const qn_repairable *l,
			 const qn_moments *s, bool descend, qn_arena *a) QN_MUST_CHECK;

#endif
