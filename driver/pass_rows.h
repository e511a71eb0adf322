/* SPDX-License-Identifier: Apache-2.0 */
/* pass_rows.h - the passes in their order, as rows of a table.
 *
 *   [QN_PASS_BIND] = {"bind", "write the values of symbols into the types", QN_STAGE_SYMBOLIC, .change = qn_bind} */
#ifndef QN_DRIVER_PASS_ROWS_H
#define QN_DRIVER_PASS_ROWS_H

#include "driver/quant_options.h"
#include "passes/passes.h"

/* What the passes of one run share. */
typedef struct qn_pipeline {
	qn_model *m;
	const qn_compile_opts *opts;
	qn_arena *scratch;
	qn_quant_opts quant;
	uint32_t *crc; /* of the calibration data, by input */
} qn_pipeline;

typedef enum qn_pass_id { /* in their order */
			  QN_PASS_INLINE_BODIES,
			  QN_PASS_AXES,
			  QN_PASS_CLEAN,
			  QN_PASS_FAKE_QUANT,
			  QN_PASS_EQUALIZE,
			  QN_PASS_PARTITION,
			  QN_PASS_QUANTIZE,
			  QN_PASS_INSTRUMENT,
			  QN_PASS_TRANSFORM,
			  QN_PASS_CALIBRATE,
			  QN_PASS_REPAIR,
			  QN_PASS_BIND,
			  QN_PASS_SIMPLIFY,
			  QN_PASS_REQUANTIZE,
			  QN_PASS_ALIGN,
			  QN_PASS_LEGALIZE,
			  QN_PASS_PRUNE,
			  QN_PASS_TABLES,
			  QN_PASS_MIXED_STORAGE,
			  QN_PASS_LOWER_FIXED_POINT,
			  QN_PASS_NORMALIZE_QUANT_TYPES,
			  QN_PASS_LOWER_QUANT,
			  QN_PASS_STRIP_QUANT
} qn_pass_id;

enum {
	QN_PASS_SEES_COMPOSITES = 1, /* it takes the model's graphs as they are; others one graph */
	QN_PASS_OF_SOLVER = 2,
	QN_PASS_ON_REQUEST = 4
};

typedef struct qn_pass_row {
	const char *name;
	const char *help;
	qn_stage
		from; /* the pass is part of the default sequence of models at this stage and before */
	qn_status (*change)(qn_model *m); /* of a pass that takes no options; or */
	qn_status (*run)(qn_pipeline *p);
	unsigned flags;
} qn_pass_row;

extern const qn_pass_row qn_passes[];
extern const size_t qn_npasses;

/* The row of that name, n characters long; NULL. */
const qn_pass_row *qn_pass_find(const char *name, size_t n);
/* Whether the pass runs only where qn_compile_opts.passes names it: it has no place in the order. */
bool qn_pass_is_on_request(const qn_pass_row *pass);
/* Whether the pass is part of the default sequence of this model and these options. */
bool qn_pass_is_due(const qn_pipeline *p, const qn_pass_row *pass);
/* Passes see one graph: functions of the model's own are inlined.  Before quantize, composites are a sign that it is too
 * late (pass.stage); after it there are none. */
qn_status qn_one_graph(qn_pipeline *p, const char *pass) QN_MUST_CHECK;
qn_status qn_run_calibrate(qn_pipeline *p) QN_MUST_CHECK;
/* Warns of a calibrated graph whose outputs are far from the float ones on the first samples (noise_check.c). */
qn_status qn_check_noise(qn_pipeline *p) QN_MUST_CHECK;
qn_status qn_run_repair(qn_pipeline *p) QN_MUST_CHECK;
qn_requant_opts qn_requant_opts_of(const qn_compile_opts *o);
/* What follows on a calibrated graph until it is integer: bind … legalize, without the verifier. */
qn_status qn_pass_lower(qn_pipeline *p) QN_MUST_CHECK;
/* Whether the entry graph calls composites that partition has made. */
bool qn_is_partitioned(const qn_model *m);
/* Whether calibrate has been there: there are symbols, and every one has its value. */
bool qn_has_all_values(const qn_model *m);
/* Whether the pass runs the samples. */
bool qn_pass_calibrates(const qn_pass_row *pass);
/* Samples that a model which came quantized has no use for (calib.unused). */
void qn_warn_of_unused(const qn_model *m);

#endif
