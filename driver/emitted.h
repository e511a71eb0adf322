/* SPDX-License-Identifier: Apache-2.0 */
/* emitted.h - a folder that qn_emit wrote for qn_validate: the program's report, and the model. */
#ifndef QN_DRIVER_EMITTED_H
#define QN_DRIVER_EMITTED_H

#include "ir/graph.h"
#include "quern/quern.h"

typedef struct qn_emitted_step {
	const char *name;   /* of the value that it computes */
	const char *layers; /* "conv1, relu1"; its name when there are none */
	qn_id value;        /* in the graph of the steps */
} qn_emitted_step;

typedef struct qn_emitted_program {
	const char *name, *target;
	uint32_t content;
	qn_model *model;   /* of the context: the caller frees it */
	const qn_graph *g; /* of the steps: the entry graph as its plan has it */
	size_t nstep;
	qn_emitted_step *step;
} qn_emitted_program;

/* Reads FOLDER/NAME.report.json and FOLDER/NAME.integer.qir; name NULL: the only one in the folder.
 * *out is in arena a; its model is NULL, or to be freed, also after a failure.  Ids: validate.folder,
 * validate.report. */
qn_status qn_emitted_program_read(qn_ctx *ctx, const char *folder, const char *name, qn_arena *a,
				  qn_emitted_program *out) QN_MUST_CHECK;

#endif
