/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_opt.c - quern opt and quern inspect: a model at any stage, changed by passes or looked at. */
#include <stdio.h>
#include <string.h>

#include "program.h"

static qn_status
write_result(qn_model *m, const options *o, qn_format format)
{
	size_t n = o->nout > 0 ? strlen(o->out[0]) : 0;

	if (o->nout > 0 && format == QN_FORMAT_JSON)
		return qn_save(m, o->out[0], n > 5 && strcmp(o->out[0] + n - 5, ".json") == 0);
	if (o->nout == 0)
		return qn_print(m, format, program_write_stdout, NULL);
	return qn_save_text(m, o->out[0]);
}

static qn_status
opt(qn_ctx *ctx, const options *o, qn_format format)
{
	qn_model *m;
	qn_array *calib[MAX_VALUES] = {0};
	const char *names[MAX_VALUES];
	qn_compile_opts opts;
	qn_status status = program_compile_opts(ctx, o, calib, names, &opts);

	if (status == QN_OK)
		status = qn_load(ctx, o->model, &m);
	if (status != QN_OK)
		return status;
	if (o->passes == NULL && o->stop_after == NULL)
		opts.passes = "";
	status = qn_compile(m, &opts);
	return status == QN_OK ? write_result(m, o, format) : status;
}

int
cmd_opt(const options *o)
{
	bool json = o->emit != NULL && strcmp(o->emit, "json") == 0;

	if (o->list_passes) {
		program_list_passes();
		return 0;
	}
	if (o->emit != NULL && !json && strcmp(o->emit, "ir") != 0) {
		fprintf(stderr, "quern opt: --emit: '%s' is none of ir, json\n", o->emit);
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, opt(ctx, o, json ? QN_FORMAT_JSON : QN_FORMAT_IR));
}

int
cmd_inspect(const options *o)
{
	qn_model *m;
	qn_ctx *ctx = program_open(o);

	if (ctx == NULL)
		return 1;
	qn_status status = qn_load(ctx, o->model, &m);
	if (status == QN_OK)
		status = qn_print(m, QN_FORMAT_SUMMARY, program_write_stdout, NULL);
	return program_close(ctx, status);
}
