/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h - what quern eval found, printed and compared with bounds. */
#ifndef QN_PROGRAM_EVAL_H
#define QN_PROGRAM_EVAL_H

#include "program.h"
#include "quern/measure.h"

enum { MAX_FIGURES = 256, MAX_STAGES = 2, MAX_GATES = 2 * MAX_VALUES + 1 };

typedef struct figure {
	const char *stage; /* of the model: "float" */
	qn_metric m;
} figure;

/* METRIC=VALUE: figures of the last stage must not be below, or above. */
typedef struct gate {
	const char *option, *text; /* as given */
	char metric[32];
	double bound;
	bool is_max;
} gate;

typedef struct evaluation {
	figure figure[MAX_FIGURES];
	size_t n, dropped;
	const char *stage; /* the last one */
	gate gate[MAX_GATES];
	size_t ngate;
	bool has_noise;
	qn_noise noise;
	const qn_array *classes; /* samples in subfolders with names, or NULL */
} evaluation;

/* The gates of the command line; 2 after a message. */
qn_status eval_read_gates(const options *o, evaluation *e);
/* A qn_metric_fn: adds a figure of e->stage. */
void eval_add(void *user, const qn_metric *m);
void eval_print(const evaluation *e);
void eval_print_json(const evaluation *e);
/* 4 after a message for each figure that is beyond a bound, 2 for a metric that was not
 * measured. */
qn_status eval_check(const evaluation *e);

#endif
