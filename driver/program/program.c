/* SPDX-License-Identifier: Apache-2.0 */
/* program.c - shared by the commands: contexts, diagnostics, options that become
 * qn_compile_opts. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* stat */
#endif
#include "program.h"
#include "quern/calibrate.h"
#include "quern/stream.h"
#include "quern/host_ops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_THREADS = 8, MOST_NAME = 256 };

bool
program_ends(const char *path, const char *end)
{
	size_t n = strlen(path), k = strlen(end);

	return n > k && strcmp(path + n - k, end) == 0;
}

static progress_bar bar; /* of the one context that a command has */

const char *program_command = "";

static void
log_line(void *user, const char *line)
{
	(void)user;
	progress_clear(&bar);
	fprintf(stderr, "%s\n", line);
}

/* From 1 to MOST_THREADS: each thread has buffers of its own. */
static int
processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
}

qn_ctx *
program_open(const options *o)
{
	const uint64_t times = o->limit > 1 ? (uint64_t)o->limit : 0; /* 0: the defaults */
	const uint64_t matching = o->match_limit > 1 ? (uint64_t)o->match_limit : 0;
	progress_begin(&bar, o->quiet);
	qn_ctx *ctx = qn_open(&(qn_config){.log = o->quiet ? NULL : log_line,
					   .progress = progress_step,
					   .progress_user = &bar,
					   .threads = o->threads > 0 ? o->threads : processors(),
					   .limits = {.nodes = times << 20,
						      .bytes = times << 32,
						      .steps = times << 40,
						      .matching = matching << 27}});

	if (ctx == NULL)
		fprintf(stderr, "quern: out of memory\n");
	else
		qn_set_sequence(ctx, (size_t)o->sequence);
	signals_context(ctx);
	return ctx;
}

void
program_print_diagnostics(qn_ctx *ctx)
{
	static const char *const severity[] = {"error", "warning", "note"};

	progress_clear(&bar);
	for (size_t i = 0; i < qn_diag_count(ctx); i++) {
		qn_diagnostic d = qn_diag_get(ctx, i);

		fprintf(stderr, "%s%s%s: %s [%s]\n", d.place, d.place[0] != '\0' ? ": " : "",
			severity[d.severity], d.message, d.id);
	}
	if (qn_diag_dropped(ctx) > 0)
		fprintf(stderr, "… and %zu more\n", qn_diag_dropped(ctx));
	qn_diag_clear(ctx);
}

int
program_close(qn_ctx *ctx, qn_status status)
{
	program_print_diagnostics(ctx);
	signals_context(NULL);
	qn_close(ctx);
	return status == QN_ENOMEM || status == QN_EIO ? 1 : (int)status;
}

bool
program_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void
program_suggest(const char *best)
{
	if (best != NULL)
		fprintf(stderr, "; did you mean '%s'?", best);
	fprintf(stderr, "\n");
}

#undef program_bad_value /* where __clang_analyzer__ is defined */
qn_status
program_bad_value(const char *option, const char *value, const char *expected)
{
	fprintf(stderr, "quern %s: %s: invalid value '%s' (expected %s)\n", program_command, option,
		value, expected);
	return QN_EUSAGE;
}

qn_status
program_compile_opts(qn_ctx *ctx, const options *o, sample_list *calib, qn_compile_opts *out)
{
	*out = (qn_compile_opts){
		.scheme = (qn_scheme_kind)option_index(o->scheme),
		.method = o->method,
		.weight_method = (qn_weight_method)option_index(o->weight_method),
		.weight_rounding = (qn_weight_rounding)option_index(o->weight_rounding),
		.bias_correction = o->bias_correction,
		.equalize = o->equalize,
		.narrow_ranges = o->narrow_ranges,
		.inline_bodies = o->inline_bodies,
		.weights = (qn_weights)option_index(o->weights),
		.activations = (qn_activations)option_index(o->activations),
		.weights_type = (qn_weights_type)option_index(o->weights_type),
		.weight_block = o->weight_block,
		.skip = o->skip,
		.recipe_file = o->recipe,
		.dynamic = o->dynamic,
		.encodings = o->encodings,
		.rounding = (qn_rounding)option_index(o->rounding),
		.no_approx = o->no_approx,
		.merge_always = o->merge_always,
		.expand_blocks = o->expand_blocks,
		.collapse_scales = o->collapse_scales,
		.require_int = o->require_int,
		.align = o->align,
		.solver = (qn_solver)option_index(o->solver),
		.calib = calib->array,
		.calib_names = calib->name,
		.passes = o->passes,
		.stop_after = o->stop_after,
		.print_after = o->print_after,
		.print = program_write_stderr,
		.trace_rules = o->trace_rules ? log_line : NULL,
	};
	qn_status status = program_load_samples(ctx, o, o->ncalib, o->calib, calib);
	qn_stats *stats = NULL;
	qn_status loaded = o->stats != NULL ? qn_stats_load(ctx, o->stats, &stats) : QN_OK;

	out->ncalib = calib->n;
	out->stats = stats;
	return status != QN_OK ? status : loaded;
}

bool
program_has_ranges(const options *o)
{
	return o->ncalib > 0 || o->stats != NULL || o->encodings != NULL ||
	       (o->method != NULL && strncmp(o->method, "global", 6) == 0);
}

void
program_list_passes(void)
{
	for (size_t i = 0; qn_pass_name(i) != NULL; i++)
		printf("%-21s %s\n", qn_pass_name(i), qn_pass_help(i));
	/* it has an option of its own: --passes and --stop-after do not name it */
	printf("%-21s %s\n", "stream",
	       "make a network over a hop of rows of one over a window (after all others, with "
	       "--stream)");
}

int
program_write_stdout(void *user, const char *text, size_t n)
{
	(void)user;
	if (fwrite(text, 1, n, stdout) == n)
		return 0;
	perror("quern: stdout");
	return 1;
}

int
program_write_stderr(void *user, const char *text, size_t n)
{
	(void)user;
	return fwrite(text, 1, n, stderr) == n ? 0 : 1;
}

/* NAME=VALUE or NAME=FILE.npy; the array lives as long as the context. */
static qn_status
input_value(qn_ctx *ctx, const char *text, bool optional, char *name, qn_input_value *out)
{
	const char *equals = strchr(text, '=');
	const size_t n = equals != NULL ? (size_t)(equals - text) : 0;
	qn_array *array = NULL;
	qn_status status = QN_OK;

	if (n == 0 || equals[1] == '\0' || n >= MOST_NAME) {
		fprintf(stderr,
			"quern %s: --input-value: '%s' is not NAME=VALUE or NAME=FILE.npy\n",
			program_command, text);
		return QN_EUSAGE;
	}
	memcpy(name, text, n);
	name[n] = '\0';
	*out = (qn_input_value){.name = name, .optional = optional};
	if (program_ends(equals + 1, ".npy"))
		status = qn_array_load(ctx, equals + 1, &array);
	else
		out->text = equals + 1;
	out->array = array;
	return status;
}

/* Open dimensions are given to models of other tools. */
static bool
takes_dims(const char *path)
{
	return path != NULL && !program_ends(path, ".json") && !program_ends(path, ".qir");
}

bool
program_takes_context(const char *path)
{
	return takes_dims(path) && !program_ends(path, ".onnx") && !program_ends(path, ".tflite");
}

static qn_status
load_model(qn_ctx *ctx, const options *o, const char *path, bool from_float, bool optional,
	   qn_model **out)
{
	qn_input_value value[MAX_VALUES];
	char name[MAX_VALUES][MOST_NAME];
	qn_import_opts how = {
		.size = sizeof how,
		.dim = o->dim,
		.ndim = (size_t)o->ndim,
		.from_float = from_float,
		.limit = (uint64_t)o->limit,
		.context = (uint64_t)o->context,
		.lax_zp = o->lax_zp,
		.value = value,
		.nvalue = (size_t)o->nvalue,
		.tie = o->tie,
		.cut = o->cut,
		.ncut = (size_t)o->ncut,
		.ntie = (size_t)o->ntie,
		.front_end = o->front_end,
		.quant_params = path == o->model ? o->quant_params : NULL,
	};
	qn_status status = QN_OK;

	/* of two models they are for the one that takes them */
	if (!takes_dims(path) && (takes_dims(o->model) || takes_dims(o->against))) {
		how.ndim = how.ntie = how.ncut = 0;
		how.front_end = NULL;
	}
	if (!program_takes_context(path) &&
	    (program_takes_context(o->model) || program_takes_context(o->against)))
		how.context = 0;
	for (int i = 0; i < o->nlib && status == QN_OK; i++)
		status = qn_compositions_load(ctx, o->lib[i]);
	for (int i = 0; i < o->nvalue && status == QN_OK; i++)
		status = input_value(ctx, o->value[i], optional, name[i], &value[i]);
	return status == QN_OK ? qn_import(ctx, path, &how, out) : status;
}

qn_status
program_load_model(qn_ctx *ctx, const options *o, qn_model **out)
{
	return load_model(ctx, o, o->model, o->from_float, false, out);
}

void
program_warn_activations(const options *o, const qn_model *m)
{
	const bool chosen = o->activations != 0 || o->recipe != NULL || o->dynamic != NULL ||
			    o->encodings != NULL;

	if (!chosen && program_has_ranges(o) && qn_model_describe(m).reads_tokens != 0 &&
	    strcmp(qn_model_stage(m), "float") == 0)
		fprintf(stderr,
			"%s: warning: activations of a language model get 8 bits, which costs some "
			"percent of perplexity; --activations i16 costs about a tenth of one "
			"percent, --activations i8 stays with 8 bits [llm.activations]\n",
			qn_model_name(m));
}

qn_status
program_compile(const options *o, qn_model *m, const qn_compile_opts *opts, qn_model_info *window)
{
	qn_status status = program_check_stream(o, m);

	program_warn_activations(o, m);
	if (status == QN_OK)
		status = qn_compile(m, opts);
	if (status == QN_OK && window != NULL)
		*window = qn_model_describe(m);
	return status == QN_OK ? program_stream(o, m) : status;
}

qn_status
program_check_stream(const options *o, qn_model *m)
{
	return o->stream != NULL ? qn_stream_check(m, o->stream) : QN_OK;
}

qn_status
program_stream(const options *o, qn_model *m)
{
	return o->stream != NULL ? qn_stream(m, o->stream) : QN_OK;
}

qn_status
program_load_reference(qn_ctx *ctx, const options *o, qn_model **out)
{
	return load_model(ctx, o, o->against, false, true, out);
}
