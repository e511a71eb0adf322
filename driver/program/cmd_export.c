/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - quern export: a calibrated model as a file of another tool. */
#include <stdio.h>
#include <string.h>

#include "program.h"

static qn_status
export_model(qn_ctx *ctx, const options *o)
{
	qn_model *m = NULL;
	sample_list calib = {0};
	qn_compile_opts opts;
	qn_status status = program_compile_opts(ctx, o, &calib, &opts);
	qn_status loaded = program_load_model(ctx, o, &m);

	if (status == QN_OK)
		status = program_check_used(o, &calib, NULL);
	if (status == QN_OK)
		status = loaded;
	if (status != QN_OK)
		return status;
	if (strcmp(qn_model_stage(m), "calibrated") != 0 &&
	    strcmp(qn_model_stage(m), "integer") != 0) {
		opts.stop_after = "bind";
		status = qn_compile(m, &opts);
	}
	return status == QN_OK ? qn_export(m, o->output, QN_EXPORT_ONNX_QDQ) : status;
}

int
cmd_export(const options *o)
{
	if (o->emit != NULL && strcmp(o->emit, "onnx-qdq") != 0) {
		fprintf(stderr, "quern export: --format: '%s' is none of onnx-qdq\n", o->emit);
		return QN_EUSAGE;
	}
	if (o->output == NULL || program_same_file(o->output, o->model)) {
		fprintf(stderr,
			"quern export: -o FILE.onnx is needed, another file than the model\n");
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, export_model(ctx, o));
}
