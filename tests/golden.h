/* SPDX-License-Identifier: Apache-2.0 */
/* golden.h - what the kinds of sections of golden files share (golden.c). */
#ifndef QN_TESTS_GOLDEN_H
#define QN_TESTS_GOLDEN_H

#include "calibrate/calibrate.h"
#include "ir/diag.h"
#include "ir/graph.h"

/* "--- name args", a body up to the next one. */
typedef struct section {
	const char *name, *args, *body; /* without blanks and newlines at the end */
} section;

/* One section's model.  status: of reading and verifying it. */
typedef struct bench {
	qn_env env;
	qn_diags diags;
	qn_arena arena;
	qn_model model;
	qn_status status;
} bench;

/* What really came out, to be compared with the section. */
typedef struct outcome {
	qn_buf args, body;
} outcome;

/* False: nothing came out, the reason is in b->diags or was printed. */
typedef bool kind_fn(bench *b, const section *s, outcome *o);

/* Prints the text on stderr; false. */
bool complain(const char *text);

/* Passes of a comma list that ends at a blank, a colon or the end (golden_pass.c). */
qn_status run_passes(qn_model *m, const char *list);

/* Seeded inputs of g, as wide as those of real (golden_run.c). */
qn_dataset *golden_data(const qn_graph *g, const qn_graph *real, qn_arena *a);

/* Kinds in golden_run.c. */
kind_fn run_pass, run_symbols, run_error_in;

#endif
