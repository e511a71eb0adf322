/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_tune.c - quern tune: a recipe within budgets, the front, and a journal to go on from. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* clock_gettime, access, getppid */
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "eval.h"
#include "tuning.h"

/* ---- files and time ---- */

double
tuning_seconds(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec
						       : 0;
}

bool
tuning_file_is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The recipe's path without its ending. */
static size_t
stem(const char *path)
{
	static const char *const end[] = {".recipe.json", ".json"};

	for (size_t i = 0; i < sizeof end / sizeof end[0]; i++)
		if (program_ends(path, end[i]))
			return strlen(path) - strlen(end[i]);
	return 0;
}

bool
tuning_file(const tuning *t, const char *what, char *to)
{
	const size_t n = stem(t->files.recipe);
	const int length =
		snprintf(to, MOST_TUNE_PATH, "%.*s.%s.json", (int)n, t->files.recipe, what);

	if (length > 0 && length < MOST_TUNE_PATH)
		return true;
	fprintf(stderr, "quern tune: -o '%s': the name is too long\n", t->files.recipe);
	return false;
}

/* The base name of the model's file without its extension. */
static void
default_name(const char *model, char *to)
{
	const char *base = strrchr(model, '/') != NULL ? strrchr(model, '/') + 1 : model;
	const char *dot = strrchr(base, '.');

	(void)snprintf(to, MOST_TUNE_PATH, "%.*s.recipe.json",
		       (int)(dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base)),
		       base);
}

static bool
name_files(tuning *t)
{
	const options *o = t->o;

	if (o->output == NULL)
		default_name(o->model, t->files.recipe);
	else if (strlen(o->output) < MOST_TUNE_PATH)
		memcpy(t->files.recipe, o->output, strlen(o->output) + 1);
	if (stem(t->files.recipe) == 0) {
		fprintf(stderr, "quern tune: -o '%s': a recipe is written to NAME.recipe.json\n",
			o->output);
		return false;
	}
	if (program_same_file(t->files.recipe, o->model)) {
		fprintf(stderr,
			"quern tune: -o '%s' would overwrite the model; give another name\n",
			t->files.recipe);
		return false;
	}
	return tuning_file(t, "front", t->files.front) &&
	       tuning_file(t, "journal", t->files.journal);
}

/* Before hours of work whose result could not be written. */
static bool
check_folder(const tuning *t)
{
	char folder[MOST_TUNE_PATH];
	const char *slash = strrchr(t->files.recipe, '/');
	const size_t n = slash != NULL ? (size_t)(slash - t->files.recipe) : 0;

	memcpy(folder, t->files.recipe, n);
	(void)snprintf(folder + n, 2, "%s", slash == NULL ? "." : n == 0 ? "/" : "");
	if (access(folder, W_OK | X_OK) == 0)
		return true;
	fprintf(stderr,
		"%s: error: %s; make the folder '%s', or give another name with -o [file.write]\n",
		t->files.recipe, strerror(errno), folder);
	return false;
}

/* ---- options ---- */

static bool
read_budgets(tuning *t)
{
	uint64_t weights, arena, seconds;
	const options *o = t->o;

	if (!program_read_size("--max-weights", o->max_weights, 1, 1024, &weights) ||
	    !program_read_size("--max-arena", o->max_arena, 1, 1024, &arena) ||
	    !program_read_size("--max-instructions", o->max_instructions, 1, 1000,
			       &t->max_instructions) ||
	    !program_read_size("--time", o->time, 1, 1, &seconds))
		return false;
	t->max_weights = (size_t)weights;
	t->max_arena = (size_t)arena;
	t->limit = (double)seconds;
	return true;
}

/* One threshold, on what decides. */
static bool
read_threshold(tuning *t)
{
	const options *o = t->o;
	evaluation e = {.n = 0};

	if (eval_read_gates(o, &e) != QN_OK)
		return false;
	if (e.ngate > 1) {
		fprintf(stderr, "quern tune: --min, --max and --min-accuracy: one metric decides; "
				"give one of them\n");
		return false;
	}
	t->has_threshold = e.ngate == 1;
	t->threshold = e.gate[0].bound;
	if (t->has_threshold && o->min_accuracy == NULL)
		memcpy(t->metric, e.gate[0].metric, sizeof t->metric);
	if (o->metric != NULL && t->metric[0] != '\0' && strcmp(o->metric, t->metric) != 0) {
		fprintf(stderr, "quern tune: --metric %s, but %s is for %s\n", o->metric,
			e.gate[0].option, t->metric);
		return false;
	}
	if (o->metric != NULL)
		(void)snprintf(t->metric, sizeof t->metric, "%s", o->metric);
	return true;
}

static bool
read_options(tuning *t)
{
	const options *o = t->o;

	if (!program_read_shard(o->shard, &t->shard, &t->shards) || !read_budgets(t) ||
	    !read_threshold(t))
		return false;
	if (o->ncalib == 0) {
		fprintf(stderr,
			"quern tune: missing option: --calib FILE\ntry: quern tune --help\n");
		return false;
	}
	if (t->max_weights == 0 && t->max_arena == 0 && t->max_instructions == 0 &&
	    !t->has_threshold) {
		fprintf(stderr, "quern tune: missing option: a budget (--max-weights, --max-arena, "
				"--max-instructions) or an accuracy (--min-accuracy)\n"
				"try: quern tune --help\n");
		return false;
	}
	if (t->shards > 0 && o->jobs > 0) {
		fprintf(stderr, "quern tune: --shard and --jobs: a shard is one job\n");
		return false;
	}
	if (t->shards > 0 && o->html != NULL) {
		fprintf(stderr, "quern tune: --shard and --html: a shard sees a part of the "
				"candidates; write the page when they are merged\n");
		return false;
	}
	return name_files(t);
}

/* ---- a run ---- */

typedef struct given {
	sample_list calib, data;
	qn_array *labels;
	qn_model *m, *against;
	qn_compile_opts compile;
	qn_measure_opts measure;
} given;

static qn_status
load(qn_ctx *ctx, const options *o, given *g)
{
	double window = 0;
	size_t n = 0;
	qn_status status = program_compile_opts(ctx, o, &g->calib, &g->compile);

	if (status == QN_OK)
		status = program_load_samples(ctx, o, o->ndata, o->data, &g->data);
	const sample_list *on = g->data.n > 0 ? &g->data : &g->calib;
	if (status == QN_OK && o->labels != NULL)
		status = qn_labels_open(ctx, o->labels, o->label_column,
					on->n > 0 ? on->array[0] : NULL, &g->labels);
	if (status == QN_OK)
		status = program_load_model(ctx, o, &g->m);
	if (status == QN_OK)
		status = program_check_stream(o, g->m);
	if (status == QN_OK && o->against != NULL)
		status = program_load_reference(ctx, o, &g->against);
	if (status == QN_OK)
		status = program_check_used(o, &g->data, &g->calib);
	if (status == QN_OK)
		status = program_read_list("--window", o->window, 1, &window, &n);
	g->compile.weight_rounding = o->no_repairs ? QN_WEIGHTS_NEAREST : QN_WEIGHTS_ADAPTIVE;
	g->compile.bias_correction = g->compile.equalize = !o->no_repairs;
	g->measure = (qn_measure_opts){.size = sizeof g->measure,
				       .labels = g->labels,
				       .against = g->against,
				       .score = o->score,
				       .window = window >= 1 ? (size_t)window : 0};
	return status;
}

static int
stops(void *user)
{
	const tune_run *r = user;
	const tuning *t = r->t;

	if (!r->measures || (r->is_child && (long)getppid() != r->parent))
		return 1;
	return t->limit > 0 && tuning_seconds() - t->begin > t->limit;
}

qn_status
tuning_run(qn_ctx *ctx, tuning *t, const tune_run *r, qn_tuned *out)
{
	const bool writes = r->shards == 0; /* a shard sees a part of the candidates */
	const options *o = t->o;
	given g = {.m = NULL};
	qn_status status = load(ctx, o, &g);

	*out = (qn_tuned){0};
	if (status != QN_OK)
		return status;
	const qn_tune_opts opts = {.size = sizeof opts,
				   .compile = &g.compile,
				   .ndata = g.data.n,
				   .data = g.data.array,
				   .measure = &g.measure,
				   .metric = t->metric[0] != '\0' ? t->metric : NULL,
				   .has_threshold = t->has_threshold,
				   .threshold = t->threshold,
				   .cost = (qn_tune_cost)option_index(o->minimize),
				   .target = o->emit_target,
				   .optimize = o->optimize,
				   .stream = o->stream,
				   .max_weight_bytes = t->max_weights,
				   .max_arena_bytes = t->max_arena,
				   .max_instructions = t->max_instructions,
				   .wide_activations = o->allow_i16,
				   .journal = r->journal,
				   .recipe_file = writes ? t->files.recipe : NULL,
				   .front_file = writes ? t->files.front : NULL,
				   .nfrom = r->nfrom,
				   .from = r->from,
				   .shard = r->shard,
				   .shards = r->shards,
				   .stop = stops,
				   .stop_user = (void *)(uintptr_t)r};
	return qn_tune(g.m, &opts, r->is_child ? NULL : tuning_print_point, t, out);
}

/* ---- the command ---- */

/* The best one is outside of the budgets or not accurate enough. */
static qn_status
check_result(const tuning *t, const qn_tuned *out)
{
	const qn_tune_point *b = &out->best;
	const bool fits = (t->max_weights == 0 || b->weight_bytes <= t->max_weights) &&
			  (t->max_arena == 0 || b->arena_bytes <= t->max_arena) &&
			  (t->max_instructions == 0 || b->instructions <= t->max_instructions);

	if (out->recipe == NULL || out->within != 0)
		return QN_OK;
	fprintf(stderr, "quern tune: no candidate is within %s; the recipe is of the nearest one\n",
		fits ? "the accuracy asked for" : "the budgets");
	return fits ? QN_EACCURACY : QN_EBUDGET;
}

static qn_status
tune(qn_ctx *ctx, tuning *t)
{
	char own[MOST_TUNE_PATH], what[64];
	const char *from[2];
	qn_tuned out;
	tune_run r = {
		.t = t, .shard = t->shard, .shards = t->shards, .from = from, .measures = true};

	if (tuning_file_is_there(t->files.journal))
		from[r.nfrom++] = t->files.journal;
	(void)snprintf(what, sizeof what, "%zu-of-%zu.journal", t->shard, t->shards);
	if (!tuning_file(t, what, own))
		return QN_EUSAGE;
	if (t->shards > 0 && tuning_file_is_there(own))
		from[r.nfrom++] = own;
	r.journal = t->shards > 0 ? own : t->files.journal;
	const qn_status status = tuning_run(ctx, t, &r, &out);
	if (status != QN_OK)
		return status;
	if (t->shards > 0) {
		printf("shard        %zu of %zu: %s%s\n", t->shard, t->shards, own,
		       out.complete != 0 ? "; the search is complete" : "");
		return QN_OK;
	}
	if (t->o->html != NULL && tuning_write_page(ctx, &out, t->o->html) != QN_OK)
		return QN_EIO;
	tuning_print_result(t, &out);
	return check_result(t, &out);
}

int
cmd_tune(const options *o)
{
	tuning t = {.o = o, .begin = tuning_seconds()};
	int code = 0;

	if (!read_options(&t))
		return QN_EUSAGE;
	if (!check_folder(&t))
		return 1;
	if (o->jobs > 1)
		code = tuning_jobs(&t, o->jobs);
	if (code != 0)
		return code;
	qn_ctx *ctx = program_open(o);
	return ctx == NULL ? 1 : program_close(ctx, tune(ctx, &t));
}
