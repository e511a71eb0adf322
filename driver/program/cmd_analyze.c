/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_analyze.c - quern analyze: what each layer costs, as tables with advice or as JSON. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#endif
#include <string.h>
#include <time.h>

#include "analysis.h"

typedef struct analyzing {
	const options *o;
	sample_list calib, data;
	qn_compile_opts compile;
	qn_array *labels;
	qn_model *m;
	progress_bar terminal; /* whether stderr is one */
	double begin;          /* seconds */
} analyzing;

static double
seconds(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
						       : 0;
}

/* What the analysis will take, from what the first runs took. */
static void
tell_plan(void *user, const qn_analyze_plan *p)
{
	const analyzing *g = user;
	const double passed = seconds() - g->begin;

	if (!g->terminal.wanted || p->done == 0)
		return;
	fprintf(stderr, "\r\033[K%zu layers: about %.0f s, %.1f MB of values between layers\n",
		p->layers, passed * (double)(p->steps - p->done) / (double)p->done,
		(double)p->bytes / 1e6);
}

static qn_status
load(qn_ctx *ctx, analyzing *g)
{
	const options *o = g->o;
	qn_status status = program_compile_opts(ctx, o, &g->calib, &g->compile);

	if (status == QN_OK)
		status = program_load_samples(ctx, o, o->ndata, o->data, &g->data);
	if (status == QN_OK && o->labels != NULL)
		status = qn_labels_open(ctx, o->labels, o->label_column,
					g->data.n > 0    ? g->data.array[0]
					: g->calib.n > 0 ? g->calib.array[0]
							 : NULL,
					&g->labels);
	if (status == QN_OK)
		status = program_load_model(ctx, o, &g->m);
	if (status == QN_OK)
		status = program_check_stream(o, g->m);
	if (status == QN_OK)
		status = program_check_used(o, &g->data, &g->calib);
	return status;
}

static qn_status
analyze(qn_ctx *ctx, analyzing *g, analysis *a)
{
	qn_status status = load(ctx, g);

	if (status != QN_OK)
		return status;
	g->compile.stop_after = g->compile.bias_correction != 0 || g->compile.narrow_ranges != 0 ||
						g->compile.weight_rounding != QN_WEIGHTS_NEAREST ||
						g->compile.recipe_file != NULL
					? "repair"
					: "calibrate";
	const sample_list *on = g->data.n > 0 ? &g->data : &g->calib;
	const qn_analyze_opts opts = {
		.size = sizeof opts, .labels = g->labels, .plan = tell_plan, .plan_user = g};
	const char *stage = qn_model_stage(g->m);
	const bool is_float = strcmp(stage, "float") == 0;
	if (is_float || strcmp(stage, "symbolic") == 0)
		status = qn_compile(g->m, &g->compile);
	g->begin = seconds();
	a->model = qn_model_name(g->m);
	if (status == QN_OK)
		status = qn_analyze(g->m, on->n, on->array, &opts, analysis_add, a, &a->all);
	if (status == QN_OK)
		status = analysis_plan(a, ctx, g->m, g->o);
	if (status == QN_OK && is_float && g->o->recipe == NULL)
		status = analysis_try_rules(a, ctx, g->o, &g->compile, on);
	if (status == QN_OK && g->o->html != NULL && !a->out_of_memory)
		status = analysis_write_page(ctx, a, g->o->html);
	return status == QN_OK && a->out_of_memory ? QN_ENOMEM : status;
}

int
cmd_analyze(const options *o)
{
	analyzing g = {.o = o};
	analysis a = {.equalized = o->equalize};

	if (o->ncalib == 0 && (o->ndata == 0 || !program_has_ranges(o))) {
		fprintf(stderr, "quern analyze: missing option: --calib FILE\ntry: quern analyze "
				"--help\n");
		return QN_EUSAGE;
	}
	if (o->label_column != NULL && o->labels == NULL) {
		fprintf(stderr, "quern analyze: --label-column '%s' is for --labels FILE.csv\n",
			o->label_column);
		return QN_EUSAGE;
	}
	qn_ctx *ctx = program_open(o);
	if (ctx == NULL)
		return 1;
	progress_begin(&g.terminal, o->quiet);
	const qn_status status = analyze(ctx, &g, &a);
	if (status == QN_OK && o->json)
		analysis_print_json(stdout, &a);
	else if (status == QN_OK)
		analysis_print(&a, o);
	analysis_release(&a);
	return program_close(ctx, status);
}
