/* SPDX-License-Identifier: Apache-2.0 */
/* analysis.h - what quern analyze has found, and how it is printed. */
#ifndef QN_PROGRAM_ANALYSIS_H
#define QN_PROGRAM_ANALYSIS_H

#include <stdio.h>

#include "program.h"
#include "quern/measure.h"

/* The compiled network: its activation arena, and what its steps take. */
typedef struct compiled_plan {
	bool known;
	char *error; /* why not: NULL with it */
	qn_emit_info info;
	qn_plan_buffer *buffer; /* names are copies */
	size_t n, room;
	uint64_t *
		instructions; /* by layer, as analysis.layer; of steps of several layers the first has them */
} compiled_plan;

/* Rules that were tried, one after the other. */
typedef struct tried_recipe {
	bool tried;
	char *rules; /* those that bring something, "{…},\n  {…}", each with a comment that says how much */
	double before, after; /* SQNR of the outputs in integers, dB, without and with them */
	qn_emit_info less,
		more; /* what the network takes without and with them; steps 0: it is not known */
} tried_recipe;

typedef struct analysis {
	const char *model;    /* its name */
	bool equalized;       /* it was compiled with --equalize */
	qn_layer_cost *layer; /* worst first; what it points to are copies */
	size_t n, room;
	bool out_of_memory;
	qn_analysis all;
	compiled_plan plan;
	tried_recipe recipe;
} analysis;

/* A qn_layer_fn; user: an analysis. */
void analysis_add(void *user, const qn_layer_cost *cost);
void analysis_release(analysis *a);
/* Compiles the analyzed model to the end, streams it with --stream, and plans it; where that fails, plan.error says why (analysis_plan.c). */
qn_status analysis_plan(analysis *a, qn_ctx *ctx, qn_model *m, const options *o);

/* Tries rules for the layers that cost most on the samples on which they were measured: some compilations
 * and runs. compile: how the network was compiled (analysis_recipe.c). */
qn_status analysis_try_rules(analysis *a, qn_ctx *ctx, const options *o,
			     const qn_compile_opts *compile, const sample_list *on);

/* Two tables, the network's figures and the advice. */
void analysis_print(const analysis *a, const options *o);
/* docs/quern-analyze.schema.json */
void analysis_print_json(FILE *to, const analysis *a);

/* The same as a page with charts, written as a whole. */
qn_status analysis_write_page(qn_ctx *ctx, const analysis *a, const char *path);

/* Whether the weights of a layer cost it more than its other operands. */
bool analysis_weights_cost_most(const qn_layer_cost *l);

/* ---- advice (analysis_advice.c) ---- */

/* What would help a layer most. */
typedef struct advice {
	const char *
		keys; /* of a recipe's rule: "\"weights\": \"i8\""; NULL: nothing that a rule can */
	const char *where; /* what gains: "network", "inputs" */
	double gain;       /* dB that are expected there at most */
} advice;

/* keys NULL where the network would not gain enough. */
advice analysis_advise(const analysis *a, const qn_layer_cost *l);
/* The worst layer that is worth it and whose weights cost most, which repairs may help; NULL: none. */
const qn_layer_cost *analysis_costly_weights(const analysis *a, const options *o);
/* What 8 bits for the weights take, where the keys of a rule say so; 0: nothing, or it is not known. */
uint64_t analysis_more_bytes(const qn_layer_cost *l, const char *keys);
/* A layer's name as a glob that matches nothing else, as a JSON text. */
void analysis_put_glob(FILE *to, const char *name);
/* Hints and a recipe, on stdout. */
void analysis_print_advice(const analysis *a, const options *o);

#endif
