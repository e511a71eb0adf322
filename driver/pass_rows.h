/* SPDX-License-Identifier: Apache-2.0 */
/* pass_rows.h - the passes in their order, as rows of a table.
 *
 *   {"bind", "write the values of symbols into the types", QN_STAGE_SYMBOLIC, run_bind} */
#ifndef QN_DRIVER_PASS_ROWS_H
#define QN_DRIVER_PASS_ROWS_H

#include "driver/quant_options.h"

/* What the passes of one run share. */
typedef struct qn_pipeline {
	qn_model *m;
	const qn_compile_opts *opts;
	qn_arena *scratch;
	qn_quant_opts quant;
	uint32_t *crc; /* of the calibration data, by input */
} qn_pipeline;

typedef struct qn_pass_row {
	const char *name;
	const char *help;
	qn_stage
		from; /* the pass is part of the default sequence of models at this stage and before */
	qn_status (*run)(qn_pipeline *p);
} qn_pass_row;

extern const qn_pass_row qn_passes[];
extern const size_t qn_npasses;

/* The row of that name, n characters long; NULL. */
const qn_pass_row *qn_pass_find(const char *name, size_t n);
/* Whether the pass runs only where qn_compile_opts.passes names it: it has no place in the order. */
bool qn_pass_is_on_request(const qn_pass_row *pass);
/* Whether the pass is part of the default sequence of this model and these options. */
bool qn_pass_is_due(const qn_pipeline *p, const qn_pass_row *pass);
/* Whether the entry graph calls composites that partition has made. */
bool qn_is_partitioned(const qn_model *m);
/* Whether the pass runs the samples. */
bool qn_pass_calibrates(const qn_pass_row *pass);
/* Samples that a model which came quantized has no use for (calib.unused). */
void qn_warn_of_unused(const qn_model *m);

#endif
