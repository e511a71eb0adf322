/* SPDX-License-Identifier: Apache-2.0 */
/* front_end.h - what the parts of front_end.c share. */
#ifndef QN_PASSES_FRONT_END_H
#define QN_PASSES_FRONT_END_H

#include "passes/passes.h"

enum { QN_FRONT_MOST_SAMPLES = 1 << 30 };

typedef struct qn_front {
	qn_model *m;
	const qn_graph *g;
	const char *place, *text;
	qn_op op;
	qn_attrs attr;
	size_t input;                   /* index */
	int64_t batch, frames, samples; /* samples 0: what the frames need */
	bool quantized, streams;
	qn_id before, noise; /* states: samples of the run before, noise; 0: none */
	qn_id before_next, noise_next;
} qn_front;

/* The input whose features are computed. */
static inline const qn_node *
qn_front_input(const qn_front *f)
{
	return qn_graph_node(f->g, f->g->input[f->input]);
}

/* Reports import.front-end: what, and a value after it. */
qn_status qn_front_wrong(const qn_front *f, const char *what, const char *value);

/* Reads "[INPUT=]OP[:ATTRIBUTE=VALUE,…]" with stream or samples=N among them, f->text (front_end_text.c). */
qn_status qn_front_read_text(qn_front *f);

#endif
