/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_opt.c - quern opt: a model at any stage, changed by passes; quern import: a model as it
 * is. */
#include <stdio.h>
#include <string.h>

#include "program.h"

/* The format of the result.  A file is read by its extension, so it is written by it too; false
 * after a message. */
static bool
choose_format(const char *name, const options *o, qn_format *out)
{
	const bool json = option_index(o->emit) == QN_FORMAT_JSON;

	*out = (qn_format)option_index(o->emit);
	if (o->output == NULL)
		return true;
	if (program_same_file(o->output, o->model)) {
		fprintf(stderr, "quern %s: -o '%s' would overwrite the model; give another name\n",
			name, o->output);
		return false;
	}
	const bool json_file = program_ends(o->output, ".json");
	if (!json_file && !program_ends(o->output, ".qir")) {
		fprintf(stderr,
			"quern %s: -o '%s': a model is written to FILE.json, or as text to "
			"FILE.qir\n",
			name, o->output);
		return false;
	}
	if (o->emit != 0 && json != json_file) {
		fprintf(stderr,
			"quern %s: -o '%s' is written as %s, not as --emit=%s says; leave --emit "
			"out, or write to FILE.%s\n",
			name, o->output, json_file ? "json" : "ir", json ? "json" : "ir",
			json ? "json" : "qir");
		return false;
	}
	*out = json_file ? QN_FORMAT_JSON : QN_FORMAT_IR;
	return true;
}

static qn_status
write_result(qn_model *m, const options *o, qn_format format)
{
	if (o->output == NULL)
		return qn_print(m, format, program_write_stdout, NULL);
	return format == QN_FORMAT_JSON ? qn_save(m, o->output, 1) : qn_save_text(m, o->output);
}

static qn_status
opt(qn_ctx *ctx, const options *o, qn_format format)
{
	qn_model *m = NULL;
	sample_list calib = {0};
	qn_compile_opts opts;
	qn_status status = program_compile_opts(ctx, o, &calib, &opts);
	qn_status loaded = program_load_model(
		ctx, o, &m); /* the model's problems too, whatever is wrong with the samples */

	if (status == QN_OK)
		status = program_check_used(o, &calib, NULL);
	if (status == QN_OK)
		status = loaded;
	if (status != QN_OK)
		return status;
	if (o->passes == NULL && o->stop_after == NULL)
		opts.passes = "";
	status = program_compile(o, m, &opts, NULL);
	return status == QN_OK ? write_result(m, o, format) : status;
}

static int
change_and_write(const char *name, const options *o)
{
	qn_format format;

	if (!choose_format(name, o, &format))
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, opt(ctx, o, format));
}

int
cmd_opt(const options *o)
{
	if (o->list_passes) {
		program_list_passes();
		return 0;
	}
	return change_and_write("opt", o);
}

int
cmd_import(const options *o)
{
	if (o->output == NULL) {
		fprintf(stderr, "quern import: missing option: -o FILE.json or -o FILE.qir\ntry: "
				"quern import --help\n");
		return QN_EUSAGE;
	}
	return change_and_write("import", o);
}
