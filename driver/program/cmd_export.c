/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - quern export: a calibrated model as a file of another tool. */
#include <stdio.h>
#include <string.h>

#include "program.h"

/* The place of a word among n, 0 when none is given; -1: it is none of them. */
static int
place_of(const char *word, int n, const char *const *words)
{
	for (int i = 0; word != NULL && i < n; i++)
		if (strcmp(word, words[i]) == 0)
			return i;
	return word == NULL ? 0 : -1;
}

/* A qn_export_format; -1: there is none of this name or version, which is said. */
static int
choose(const options *o)
{
	static const char *const names[] = {"onnx-qdq", "encodings"};
	static const char *const versions[] = {"0.6.1", "1.0.0", "2.0.0"};
	const int format = place_of(o->emit, 2, names);
	const int version = place_of(o->encodings_version, 3, versions);

	if (format < 0)
		fprintf(stderr, "quern export: --format: '%s' is none of onnx-qdq, encodings\n",
			o->emit);
	else if (version < 0)
		fprintf(stderr,
			"quern export: --encodings-version: '%s' is none of 0.6.1, 1.0.0, 2.0.0\n",
			o->encodings_version);
	else if (format == 0 && o->encodings_version != NULL)
		fprintf(stderr, "quern export: --encodings-version goes with --format encodings\n");
	else
		return format == 0 ? (int)QN_EXPORT_ONNX_QDQ : (int)QN_EXPORT_ENCODINGS + version;
	return -1;
}

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
	return status == QN_OK ? qn_export(m, o->output, (qn_export_format)choose(o)) : status;
}

int
cmd_export(const options *o)
{
	if (choose(o) < 0)
		return QN_EUSAGE;
	if (o->output == NULL || program_same_file(o->output, o->model)) {
		fprintf(stderr, "quern export: -o FILE is needed, another file than the model\n");
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, export_model(ctx, o));
}
