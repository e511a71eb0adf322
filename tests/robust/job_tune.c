/* SPDX-License-Identifier: Apache-2.0 */
/* job_tune.c - jobs of the accuracy workshop: what each layer costs, and a search that is interrupted and goes on. */
#include "quern/measure.h"
#include "quern/tune.h"
#include "tests/robust/job.h"

#include <string.h>

static qn_status
load(qn_ctx *ctx, workshop *w, qn_model **m, qn_array **x)
{
	const qn_status status = qn_load(ctx, job_path(w, "net.json"), m);

	return status == QN_OK ? qn_array_load(ctx, job_path(w, "x.npy"), x) : status;
}

static void
count_layer(void *user, const qn_layer_cost *l)
{
	*(size_t *)user += l->index + 1;
}

qn_status
job_analyze(qn_ctx *ctx, workshop *w)
{
	qn_model *m = NULL;
	qn_array *x = NULL;
	qn_analysis all;
	size_t seen = 0;
	qn_status status = load(ctx, w, &m, &x);

	if (status == QN_OK)
		status = qn_compile(m, &(qn_compile_opts){.calib = &x,
							  .ncalib = 1,
							  .weights_type = QN_WEIGHTS_I4,
							  .stop_after = "calibrate"});
	if (status == QN_OK)
		status = qn_analyze(m, 1, &x, NULL, count_layer, &seen, &all);
	return status;
}

/* Stops after a candidate. */
static int
stops(void *user)
{
	return ++*(int *)user > 1;
}

/* A search is stopped; its journal is merged; another one reads that and goes on for a candidate. */
qn_status
job_tune(qn_ctx *ctx, workshop *w)
{
	char from[160], journal[160], recipe[160], front[160];
	const char *const journals[] = {from};
	qn_compile_opts how = {.ncalib = 1};
	qn_measure_opts by = {.size = 0};
	qn_tune_opts opts = {.compile = &how,
			     .measure = &by,
			     .max_weight_bytes = 100,
			     .journal = journal,
			     .stop = stops};
	qn_model *m = NULL;
	qn_array *x = NULL;
	qn_tuned out;
	int asked = 0;

	strcpy(journal, job_path(w, "out/journal.json"));
	strcpy(from, job_path(w, "out/merged.json"));
	strcpy(recipe, job_path(w, "out/recipe.json"));
	strcpy(front, job_path(w, "out/front.json"));
	opts.stop_user = &asked;
	qn_status status = load(ctx, w, &m, &x);
	how.calib = &x;
	if (status == QN_OK)
		status = qn_tune(m, &opts, NULL, NULL, &out);
	if (status == QN_OK)
		status = qn_tune_merge(ctx, 1, (const char *const[]){journal}, from);
	opts.journal = NULL; /* each file is written in one state */
	opts.recipe_file = recipe;
	opts.front_file = front;
	opts.nfrom = 1;
	opts.from = journals;
	asked = 0;
	return status == QN_OK ? qn_tune(m, &opts, NULL, NULL, &out) : status;
}
