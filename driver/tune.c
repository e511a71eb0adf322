/* SPDX-License-Identifier: Apache-2.0 */
/* tune.c - the public function qn_tune: rounds of candidates (driver/tune.h). */
#include "driver/tune.h"

#include <string.h>

#include "driver/host_struct.h"
#include "driver/run.h"
#include "driver/summary.h"
#include "formats/file.h"
#include "ir/progress.h"
#include "quern/stream.h"

typedef struct tune_call {
	qn_model *m;
	qn_tune_opts o;
	qn_tune_fn *fn;
	void *user;
	qn_tuned *out;
} tune_call;

/* ---- options ---- */

static qn_status
refuse(qn_model *m, const char *why)
{
	return qn_report(m->env, QN_EUSAGE, "tune.options", m->name, "%s", why);
}

static qn_status
check_compile(qn_model *m, const qn_compile_opts *o)
{
	if (o->ncalib == 0)
		return refuse(m, "candidates are calibrated: give samples (--calib)");
	if (o->recipe != NULL || o->recipe_file != NULL || o->weights_type != QN_WEIGHTS_I8 ||
	    o->weight_block != 0 || o->activations != QN_ACTIVATIONS_I8)
		return refuse(m, "the search chooses the storage of weights and activations: "
				 "leave out recipe, weights_type, weight_block and activations");
	if (o->passes != NULL || o->stop_after != NULL)
		return refuse(m, "candidates are compiled to the end: leave out passes and "
				 "stop_after");
	return QN_OK;
}

static qn_status
check(qn_tune_search *s)
{
	const qn_tune_opts *o = s->o;

	if (s->m->stage != QN_STAGE_FLOAT)
		return qn_report(s->m->env, QN_EINVALID, "tune.stage", s->m->name,
				 "only a float model can be tuned; this one is %s%s",
				 qn_stage_names[s->m->stage],
				 s->m->stage > QN_STAGE_SYMBOLIC
					 ? "; --from-float dequantizes a quantized file"
					 : "");
	if (o->compile == NULL)
		return refuse(s->m, "compile is NULL: it holds the calibration data");
	QN_TRY(QN_TAKE(s->m->env, qn_compile_opts, o->compile, &s->compile));
	s->compile.size = sizeof s->compile;
	QN_TRY(check_compile(s->m, &s->compile));
	QN_TRY(QN_TAKE(s->m->env, qn_measure_opts, o->measure, &s->measure));
	if (s->measure.ntarget > 0 || s->measure.ntop > 0)
		return refuse(s->m, "candidates are compared with a model: leave out target and "
				    "top of measure");
	if (o->stream != NULL)
		QN_TRY(qn_stream_check(s->m, o->stream));
	if (o->shard > o->shards || (o->shards > 0 && o->shard == 0))
		return refuse(s->m, "shard is 1 … shards, or both are 0");
	QN_TRY(qn_host_pointers(s->m->env, "data", o->ndata, o->data));
	QN_TRY(qn_host_pointers(s->m->env, "from", o->nfrom, o->from));
	QN_TRY(qn_host_pointers(s->m->env, "calib", s->compile.ncalib, s->compile.calib));
	s->ndata = o->ndata > 0 ? o->ndata : s->compile.ncalib;
	s->data = o->ndata > 0 ? o->data : s->compile.calib;
	return QN_OK;
}

/* ---- what a journal is of ---- */

static qn_status
add_arrays(const qn_tune_search *s, size_t n, qn_array *const *in, uint32_t *crc)
{
	const qn_graph *g = qn_model_entry(s->m);
	qn_arena *a = qn_arena_child(s->a);
	uint32_t *one = QN_NEW(a, uint32_t, qn_graph_fed(g));
	qn_dataset *d;

	QN_TRY(qn_samples_for(g, a, n, in, NULL, &d));
	QN_TRY(qn_dataset_check(d, a, &(qn_check){.crc = one}));
	*crc = qn_crc32(*crc, (const char *)one, qn_graph_fed(g) * sizeof *one);
	qn_arena_release(a);
	return QN_OK;
}

static qn_status
hash_samples(qn_tune_search *s)
{
	const qn_source *data = s->data[0]->source;
	const qn_tensor *labels = NULL;

	QN_TRY(add_arrays(s, s->compile.ncalib, s->compile.calib, &s->of_samples));
	QN_TRY(add_arrays(s, s->ndata, s->data, &s->of_samples));
	if (s->measure.labels == NULL) { /* numbers of subfolders may change, their files not */
		if (qn_array_has_labels(s->data[0]))
			s->of_samples = qn_crc32(s->of_samples, (const char *)data->label,
						 qn_source_count(data) * sizeof *data->label);
		return QN_OK;
	}
	QN_TRY(qn_array_read(s->measure.labels, s->a, &labels));
	s->of_samples = qn_crc32(s->of_samples, labels->data, labels->bytes);
	return QN_OK;
}

/* All options that change what is measured; budgets and thresholds only choose what is. */
static void
hash_options(qn_tune_search *s)
{
	const qn_compile_opts *o = &s->compile;
	const qn_tune_opts *t = s->o;
	const int n[] = {(int)o->scheme,        (int)o->weights, (int)o->weight_method,
			 (int)o->rounding,      (int)o->solver,  o->no_approx,
			 o->merge_always,       o->align,        o->no_standard,
			 (int)s->measure.window};
	const char *texts[] = {o->method,   o->dynamic,       o->skip,   t->target,
			       t->optimize, s->measure.score, s->metric, qn_version()};
	uint32_t crc = s->measure.against != NULL ? qn_model_hash(s->measure.against, s->a) : 0;
	qn_buf b;

	qn_buf_init(&b, s->a);
	for (size_t i = 0; i < QN_COUNT(n); i++)
		qn_buff(&b, "%d ", n[i]);
	for (size_t i = 0; i < QN_COUNT(texts); i++)
		qn_buff(&b, "%s|", texts[i] != NULL ? texts[i] : "");
	qn_buff(&b, "%zu %zu %d", t->max_weight_bytes, t->max_arena_bytes, qn_tune_saves_arena(s));
	if (t->stream != NULL)
		qn_buff(&b, " %s", t->stream);
	crc = qn_crc32(crc, b.data, b.n);
	s->of_options = crc;
}

/* ---- the search ---- */

static qn_tune_point
point_of(const qn_tune_search *s, const qn_tune_entry *e)
{
	qn_arena *a = qn_arena_child(s->a);
	const qn_tune_repairs r = qn_tune_repairs_of(e->item.recipe, a);

	qn_arena_release(a);
	return (qn_tune_point){.size = sizeof(qn_tune_point),
			       .recipe = e->item.recipe,
			       .weight_rounding = r.rounding,
			       .bias_correction = r.bias,
			       .equalize = r.equalize,
			       .weight_bytes = (size_t)e->weight_bytes,
			       .arena_bytes = (size_t)e->arena_bytes,
			       .instructions = e->instructions,
			       .metric = e->metric,
			       .sqnr = e->sqnr,
			       .within = qn_tune_is_within(s, e),
			       .front = qn_tune_is_front(s, e),
			       .best = e == s->best,
			       .number = s->nlist};
}

static void
tell(qn_tune_search *s, const qn_tune_entry *e)
{
	s->list = qn_arena_grow(s->a, s->list, &s->list_cap, s->nlist + 1, sizeof *s->list);
	s->list[s->nlist++] = e;
	s->best = qn_tune_best(s);
	if (e->failed || s->fn == NULL)
		return;
	const qn_tune_point p = point_of(s, e);
	s->fn(s->user, &p);
}

static bool
is_listed(const qn_tune_search *s, const qn_tune_item *item)
{
	for (size_t i = 0; i < s->nlist; i++) {
		if (strcmp(s->list[i]->item.recipe, item->recipe) == 0)
			return true;
	}
	return false;
}

static qn_status
write_text(const qn_tune_search *s, const char *path, const char *text)
{
	return path != NULL ? qn_file_write(s->m->env, path, text, strlen(text)) : QN_OK;
}

/* The best so far, where there is one. */
static qn_status
write_best(const qn_tune_search *s)
{
	qn_arena *a = qn_arena_child(s->a);
	qn_status status = QN_OK;

	if (s->best != NULL && s->o->recipe_file != NULL)
		status = write_text(s, s->o->recipe_file, qn_tune_recipe_text(s, s->best, a));
	if (status == QN_OK && s->best != NULL && s->o->front_file != NULL)
		status = write_text(s, s->o->front_file, qn_tune_front_text(s, a));
	qn_arena_release(a);
	return status;
}

/* A candidate that nobody has measured. */
static qn_status
measure_one(qn_tune_search *s, const qn_tune_item *item, const qn_tune_entry **out)
{
	qn_tune_entry *e = QN_NEW(s->a, qn_tune_entry, 1);

	QN_TRY(qn_tune_measure(s, item, e));
	qn_tune_add(&s->entries, e, s->a);
	*out = e;
	return s->o->journal != NULL ? qn_tune_journal_write(s, s->o->journal) : QN_OK;
}

/* *missing: those of other shards. */
static qn_status
run_round(qn_tune_search *s, size_t n, const qn_tune_item *item, bool *missing)
{
	const qn_tune_opts *o = s->o;

	for (size_t i = 0; i < n && !s->stopped; i++) {
		const qn_tune_entry *e = qn_tune_find(&s->entries, &item[i]);

		if (is_listed(s, &item[i]))
			continue;
		if (e != NULL) {
			tell(s, qn_arena_copy(s->a, e, sizeof *e));
		} else if (o->shards > 0 && i % o->shards != o->shard - 1) {
			*missing = true;
		} else if (o->stop != NULL && o->stop(o->stop_user) != 0) {
			s->stopped = true;
		} else {
			QN_TRY(measure_one(s, &item[i], &e));
			tell(s, e);
			QN_TRY(write_best(s));
		}
		QN_TRY(qn_progress(s->m->env, "candidates", i + 1, n));
	}
	return QN_OK;
}

static qn_status
run_rounds(qn_tune_search *s, bool *complete)
{
	bool missing = false;

	for (size_t r = 0; r < qn_tune_rounds(s) && !missing && !s->stopped; r++) {
		qn_arena *a = qn_arena_child(s->a);
		qn_tune_item *item;
		const size_t n = qn_tune_round(s, r, s->a, &item);

		QN_TRY(run_round(s, n, item, &missing));
		qn_arena_release(a);
	}
	*complete = !missing && !s->stopped;
	return QN_OK;
}

static void
set_result(const qn_tune_search *s, bool complete, qn_tuned *out)
{
	const qn_tune_entry *e = s->best;
	qn_arena *a = s->m->arena;

	*out = (qn_tuned){.complete = complete,
			  .candidates = s->nlist,
			  .metric = s->metric,
			  .unit = qn_arena_str(a, s->unit != NULL ? s->unit : ""),
			  .real = s->real,
			  .front = qn_arena_str(a, qn_tune_front_text(s, s->a))};
	if (e == NULL)
		return;
	out->recipe = qn_arena_str(a, qn_tune_recipe_text(s, e, s->a));
	out->within = qn_tune_is_within(s, e);
	out->best = point_of(s, e);
	out->best.recipe = qn_arena_str(a, e->item.recipe);
}

static qn_status
tune(void *arg, qn_arena *a)
{
	tune_call *c = arg;
	qn_tune_search s = {.m = c->m, .o = &c->o, .a = a, .fn = c->fn, .user = c->user};
	bool complete = false;

	QN_TRY(check(&s));
	QN_TRY(hash_samples(&s));
	const qn_measure_opts by = s.measure;
	QN_TRY(qn_tune_measure_float(&s));
	s.of_model = qn_model_hash(s.m, a);
	qn_measure_opts used = s.measure;
	s.measure = by;
	hash_options(&s);
	s.measure = used;
	s.source = qn_model_source_of(s.m, a);
	for (size_t i = 0; i < c->o.nfrom; i++)
		QN_TRY(qn_tune_journal_read(&s, c->o.from[i]));
	QN_TRY(run_rounds(&s, &complete));
	QN_TRY(write_best(&s));
	set_result(&s, complete, c->out);
	for (size_t k = 0; k < s.nreference; k++)
		qn_array_free(s.reference[k]);
	return QN_OK;
}

qn_status
qn_tune(qn_model *m, const qn_tune_opts *opts, qn_tune_fn *fn, void *user, qn_tuned *out)
{
	tune_call c = {.m = m, .fn = fn, .user = user, .out = out};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), out));
	*out = (qn_tuned){0};
	QN_TRY(QN_TAKE(m->env, qn_tune_opts, opts, &c.o));
	return qn_guard_model(m, tune, &c);
}
