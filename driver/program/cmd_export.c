/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - quern export: a calibrated model as a file of another tool. */
#include <stdio.h>
#include <string.h>

#include "program.h"

enum { NFORMAT = 2 };

/* A format of the file, with its file extensions, NULL after them. */
typedef struct form {
	const char *name;
	const char *end[3];
} form;

static const form forms[NFORMAT] = {
	{"onnx-qdq", {".onnx"}},
	{"encodings", {".json", ".encodings"}},
};

/* The format that a file of this name has; -1: none. */
static int
impl_of(const char *path)
{
	for (int i = 0; i < NFORMAT; i++)
		for (const char *const *end = forms[i].end; *end != NULL; end++)
			if (program_ends(path, *end))
				return i;
	return -1;
}

/* What --format and the file's extension say, which must be the same; -1 after a message. */
static int
choose_impl(const options *o)
{
	const int by_name = impl_of(o->output);

	if (by_name >= 0 && (o->format == 0 || option_index(o->format) == by_name))
		return by_name;
	fprintf(stderr,
		"quern export: -o '%s'%s%s: quantized ONNX (onnx-qdq) is written to FILE.onnx, "
		"encodings to FILE.json or FILE.encodings\n",
		o->output, o->format != 0 ? " with --format " : "",
		o->format != 0 ? forms[option_index(o->format)].name : "");
	return -1;
}

/* A qn_export_format; -1 after a message. */
static int
choose(const options *o)
{
	const int format = choose_impl(o);

	if (format < 0)
		return -1;
	if (format == 0 && o->encodings_version != 0)
		fprintf(stderr,
			"quern export: --encodings-version goes with encodings, and -o '%s' is "
			"quantized ONNX\n",
			o->output);
	else if (format != 0 && o->reduce_range)
		fprintf(stderr,
			"quern export: --reduce-range goes with quantized ONNX, and -o '%s' is "
			"encodings\n",
			o->output);
	else
		return format == 0 ? (int)QN_EXPORT_ONNX_QDQ
				   : (int)QN_EXPORT_ENCODINGS + option_index(o->encodings_version);
	return -1;
}

/* The passes that give the model its parameters.  One that has them is written as it is: samples are for values that
 * have none, and options that come too late are refused. */
static qn_status
calibrate(qn_model *m, qn_compile_opts *opts)
{
	if (strcmp(qn_model_stage(m), "integer") == 0)
		return QN_OK; /* qn_export refuses it */
	if (strcmp(qn_model_stage(m), "calibrated") != 0)
		opts->stop_after = "bind";
	else if (opts->inline_bodies != 0)
		opts->passes = opts->ncalib > 0 ? "inline-bodies,calibrate" : "inline-bodies";
	else
		opts->passes = opts->ncalib > 0 ? "calibrate" : "";
	return qn_compile(m, opts);
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
	status = calibrate(m, &opts);
	if (status == QN_OK && o->reduce_range)
		status = qn_reduce_range(m);
	return status == QN_OK ? qn_export(m, o->output, (qn_export_format)choose(o)) : status;
}

int
cmd_export(const options *o)
{
	if (o->output == NULL || program_same_file(o->output, o->model)) {
		fputs(o->output == NULL
			      ? "quern export: missing option: -o FILE\ntry: quern export --help\n"
			      : "quern export: -o FILE would overwrite the model; give another "
				"name\n",
		      stderr);
		return QN_EUSAGE;
	}
	if (choose(o) < 0)
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, export_model(ctx, o));
}
