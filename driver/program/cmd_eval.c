/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_eval.c - quern eval: figures of a model on samples, before and after it is made integer. */
#include <stdio.h>
#include <string.h>

#include "eval.h"
#include "quern/measure.h"

enum { MAX_TOP = 16, MOST_PATH = 4096 };

/* What the command line gives. */
typedef struct given {
	const options *o;
	qn_model *m, *against;
	sample_list data, calib;
	qn_array *target[MAX_VALUES];
	qn_array *labels;
	size_t top[MAX_TOP];
	qn_compile_opts compile;
	qn_measure_opts measure;
	bool with_float; /* `against` is the model itself, before it is quantized */
} given;

/* "1,5": integers from 1 on. */
static qn_status
read_counts(const char *option, const char *text, size_t most, size_t *out, size_t *n)
{
	double v[MAX_TOP];

	if (program_read_list(option, text, most, v, n) != QN_OK)
		return QN_EUSAGE;
	for (size_t i = 0; i < *n; i++) {
		if (!(v[i] >= 1 && v[i] <= 1e9) || v[i] != (double)(size_t)v[i])
			return program_bad_value(option, text,
						 most > 1 ? "integers from 1 on, like 1,5"
							  : "an integer from 1 on");
		out[i] = (size_t)v[i];
	}
	return QN_OK;
}

static qn_status
read_numbers(given *g)
{
	size_t n = 0;

	g->measure.top = g->top;
	if (read_counts("--top-k", g->o->top, MAX_TOP, g->top, &g->measure.ntop) != QN_OK)
		return QN_EUSAGE;
	return read_counts("--window", g->o->window, 1, &g->measure.window, &n);
}

/* Without labels or a reference, what the integer model is compared with is the float one. */
static bool
compares_with_float(const given *g)
{
	const options *o = g->o;

	return o->labels == NULL && o->against == NULL && o->ntarget == 0 && o->score == NULL &&
	       g->data.next == NULL && program_has_ranges(o) && g->data.n > 0 &&
	       !qn_array_has_labels(g->data.array[0]) &&
	       strcmp(qn_model_stage(g->m), "integer") != 0;
}

/* Of several errors that have been reported the first one. */
static void
note(qn_status *status, qn_status next)
{
	if (*status == QN_OK)
		*status = next;
}

/* A text says itself which token follows each: without another reference, its perplexity is measured. */
static void
judge_text(given *g)
{
	const options *o = g->o;

	if (g->data.next == NULL || o->labels != NULL || o->against != NULL || o->ntarget > 0)
		return;
	g->labels = g->data.next;
	g->measure.score = o->score != NULL ? o->score : "loss";
}

/* A file for each output, or a folder of ONNX's test data, which has one for each: output_0.pb … */
static qn_status
load_targets(qn_ctx *ctx, given *g)
{
	qn_status status = QN_OK;

	for (int i = 0; i < g->o->ntarget; i++) {
		const char *path = g->o->target[i];
		char file[MOST_PATH];
		size_t k = 0;

		while (g->measure.ntarget < MAX_VALUES &&
		       program_numbered(path, "output_", k, file, sizeof file)) {
			note(&status, qn_array_load(ctx, file, &g->target[g->measure.ntarget++]));
			k++;
		}
		if (k > 0)
			continue;
		if (program_is_folder(path)) {
			fprintf(stderr,
				"quern eval: --targets '%s': the folder has no output_0.pb of "
				"ONNX's test data; give a file for each output\n",
				path);
			return QN_EUSAGE;
		}
		if (g->measure.ntarget == MAX_VALUES) {
			fprintf(stderr, "quern eval: --targets: more than %d arrays\n",
				(int)MAX_VALUES);
			return QN_EUSAGE;
		}
		note(&status, qn_array_load(ctx, path, &g->target[g->measure.ntarget++]));
	}
	return status;
}

/* Loads all that is given, so that everything wrong is reported at once. */
static qn_status
load(qn_ctx *ctx, given *g)
{
	const options *o = g->o;
	qn_status status = program_compile_opts(ctx, o, &g->calib, &g->compile);

	note(&status, program_load_samples(ctx, o, o->ndata, o->data, &g->data));
	if (o->labels != NULL)
		note(&status, qn_labels_open(ctx, o->labels, o->label_column,
					     g->data.n > 0 ? g->data.array[0] : NULL, &g->labels));
	note(&status, program_load_model(ctx, o, &g->m));
	if (o->against != NULL)
		note(&status, program_load_reference(ctx, o, &g->against));
	if (status == QN_OK) /* else samples that could not be read would count as none */
		status = program_check_used(o, &g->data, &g->calib);
	note(&status, load_targets(ctx, g));
	if (status == QN_OK && compares_with_float(g)) {
		g->with_float = true;
		status = program_load_model(ctx, o, &g->against);
	}
	g->compile.keep_skipped = 1;
	g->measure.score = o->score;
	judge_text(g);
	g->measure.labels = g->labels;
	g->measure.against = g->against;
	g->measure.target = g->target;
	return status;
}

static qn_status
measure(given *g, evaluation *e)
{
	e->stage = qn_runs_in_integers(g->m) ? "integer" : qn_model_stage(g->m);
	return qn_measure(g->m, g->data.n, g->data.array, &g->measure, eval_add, e);
}

/* Compiles up to the stage with float values beside quantized ones, and compares them there. */
static qn_status
measure_noise(given *g, evaluation *e)
{
	qn_compile_opts *opts = &g->compile;

	if (strcmp(qn_model_stage(g->m), "calibrated") == 0) { /* a quantized file has both */
		const qn_status measured =
			qn_measure_noise(g->m, g->data.n, g->data.array, NULL, NULL, &e->noise);

		e->has_noise = measured == QN_OK;
		return measured;
	}
	opts->stop_after = "bind";
	program_warn_activations(g->o, g->m);
	qn_status status = qn_compile(g->m, opts);
	if (status == QN_OK)
		status = qn_measure_noise(g->m, g->data.n, g->data.array, NULL, NULL, &e->noise);
	e->has_noise = status == QN_OK;
	/* what these options changed is in the model now; asked for again they would be late */
	*opts = (qn_compile_opts){.rounding = opts->rounding,
				  .no_approx = opts->no_approx,
				  .merge_always = opts->merge_always,
				  .require_int = opts->require_int,
				  .align = opts->align,
				  .keep_skipped = opts->keep_skipped,
				  .print_after = opts->print_after,
				  .print = opts->print};
	return status;
}

/* Without samples a model is measured as it is; options that would quantize it otherwise are refused. */
static qn_status
check_as_it_is(const given *g)
{
	const char *option = g->o->method != NULL ? "--method" : g->o->quantizing;
	const bool is_float = strcmp(qn_model_stage(g->m), "float") == 0;
	qn_compile_opts none = g->compile;
	qn_status status = QN_OK;

	none.passes = "";
	if (strcmp(qn_model_stage(g->m), "calibrated") == 0)
		status = qn_compile(g->m, &none); /* says which way out each option has */
	if (status != QN_OK || option == NULL)
		return status;
	fprintf(stderr, "quern eval: %s is for quantizing the model, %s\n", option,
		is_float ? "which takes samples: --calib FILE (or --stats, --encodings)"
			 : "which is quantized already and is measured as it is; leave it out");
	return QN_EUSAGE;
}

/* The graph as it is, and, when it is not integer yet, the integer graph made from it. */
static qn_status
eval(qn_ctx *ctx, given *g, evaluation *e)
{
	qn_status status = load(ctx, g);
	const bool compiles = status == QN_OK && program_has_ranges(g->o) &&
			      strcmp(qn_model_stage(g->m), "integer") != 0;

	if (status == QN_OK && !compiles)
		status = check_as_it_is(g);
	if (status == QN_OK && !compiles)
		status = program_stream(g->o, g->m);
	if (status == QN_OK && !g->with_float)
		status = measure(g, e);
	if (status == QN_OK && compiles) {
		status = g->o->sqnr ? measure_noise(g, e) : QN_OK;
		if (status == QN_OK)
			status = program_compile(g->o, g->m, &g->compile, NULL);
		if (status == QN_OK)
			status = measure(g, e);
	}
	if (status != QN_OK)
		return status;
	if (g->labels == NULL && qn_array_class(g->data.array[0], 0) != NULL)
		e->classes = g->data.array[0];
	if (g->o->json)
		eval_print_json(e);
	else
		eval_print(e);
	return eval_check(e);
}

int
cmd_eval(const options *o)
{
	evaluation e = {0};
	given g = {.o = o};

	if (o->ndata == 0) {
		fprintf(stderr,
			"quern eval: missing option: --data FILE\ntry: quern eval --help\n");
		return QN_EUSAGE;
	}
	if (o->label_column != NULL && o->labels == NULL) {
		fprintf(stderr, "quern eval: --label-column '%s' is for --labels FILE.csv\n",
			o->label_column);
		return QN_EUSAGE;
	}
	if (read_numbers(&g) != QN_OK || eval_read_gates(o, &e) != QN_OK)
		return QN_EUSAGE;
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, eval(ctx, &g, &e));
}
