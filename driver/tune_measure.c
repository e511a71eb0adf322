/* SPDX-License-Identifier: Apache-2.0 */
/* tune_measure.c - one candidate: compiled as a whole, planned for the target, run by the integer interpreter.
 *
 *   copy of the model ──compile to repair──▶ (what each layer costs) ──compile──▶ metrics ──(stream)──▶ plan */
#include <math.h>
#include <string.h>

#include "calibrate/network_layers.h"
#include "codegen/estimate.h"
#include "codegen/strips.h"
#include "driver/score.h"
#include "driver/tune.h"
#include "ir/nearest.h"
#include "quern/stream.h"
#include "runtime/math.h"

/* ---- what decides ---- */

typedef struct readings {
	const char *metric;
	bool more_is_better;
	double value, sqnr; /* of the worst output */
	const char *unit;
	bool found;
} readings;

static void
take_metric(void *user, const qn_metric *m)
{
	readings *r = user;

	if (strcmp(m->name, "sqnr") == 0 && m->value < r->sqnr)
		r->sqnr = m->value;
	if (strcmp(m->name, r->metric) != 0 ||
	    (r->found && (r->more_is_better ? m->value >= r->value : m->value <= r->value)))
		return; /* the worst output decides, as a limit of quern eval holds for each */
	r->found = true;
	r->value = m->value;
	r->unit = m->unit;
}

/* A metric that a reference alone gives is that of a model that does not differ from it. */
static double
best_value(const char *metric)
{
	if (strcmp(metric, "agreement") == 0)
		return 100;
	if (strcmp(metric, "cosine") == 0)
		return 1;
	return strcmp(metric, "sqnr") == 0 ? (double)INFINITY : 0;
}

static bool
is_of_reference(const char *metric)
{
	static const char *const name[] = {"score-error", "agreement", "mse", "mae",
					   "max-diff",    "cosine",    "sqnr"};

	for (size_t i = 0; i < QN_COUNT(name); i++)
		if (strcmp(name[i], metric) == 0)
			return true;
	return false;
}

static const char *
default_metric(const qn_tune_search *s)
{
	const qn_measure_opts *o = &s->measure;
	const bool labels = o->labels != NULL || qn_array_has_labels(s->data[0]);

	if (o->score != NULL)
		return labels ? "auc" : "score-error";
	if (labels)
		return "top1";
	return qn_gives_classes(qn_model_entry(s->m)) ? "agreement" : "sqnr";
}

static qn_status
check_metric(qn_tune_search *s)
{
	const char *less[] = {"score-error", "mse", "mae", "max-diff"};
	const char *names[16];
	size_t n = 0;
	bool known = false;

	/* more of a score is neither better nor worse */
	for (size_t i = 0; n < QN_COUNT(names) && qn_metric_name(i) != NULL; i++)
		if (strcmp(qn_metric_name(i), "score") != 0)
			names[n++] =
				strcmp(qn_metric_name(i), "top") == 0 ? "top1" : qn_metric_name(i);
	s->metric =
		s->o->metric != NULL ? qn_arena_str(s->m->arena, s->o->metric) : default_metric(s);
	for (size_t i = 0; i < n; i++)
		known = known || strcmp(names[i], s->metric) == 0;
	if (!known)
		return qn_report(
			s->m->env, QN_EUSAGE, "tune.metric", "",
			"'%s' is not a metric that candidates can be compared by (expected %s)",
			s->metric, qn_choices(s->a, n, names));
	s->more_is_better = true;
	for (size_t i = 0; i < QN_COUNT(less); i++)
		s->more_is_better = s->more_is_better && strcmp(less[i], s->metric) != 0;
	return QN_OK;
}

static qn_status
measure(qn_tune_search *s, qn_model *m, double *value, double *sqnr)
{
	readings r = {
		.metric = s->metric, .more_is_better = s->more_is_better, .sqnr = (double)INFINITY};

	QN_TRY(qn_measure(m, s->ndata, s->data, &s->measure, take_metric, &r));
	if (!r.found)
		return qn_report(s->m->env, QN_EUSAGE, "tune.metric", s->metric,
				 "the samples do not give the metric '%s': labels, a score or a "
				 "reference is missing",
				 s->metric);
	s->unit = r.unit;
	*value = r.value;
	*sqnr = r.sqnr;
	return QN_OK;
}

/* The outputs of the reference, which is what the model gives unless there is another; what the model itself has of
 * the metric. */
qn_status
qn_tune_measure_float(qn_tune_search *s)
{
	qn_model *ref = s->measure.against != NULL ? s->measure.against : s->m;
	const bool is_own = ref == s->m;
	double sqnr;

	s->nreference = qn_model_describe(ref).outputs;
	s->reference = QN_NEW(s->a, qn_array *, s->nreference);
	s->samples = (size_t)s->data[0]->type->dim[0];
	QN_TRY(check_metric(s));
	QN_TRY(qn_run(ref, s->ndata, s->data, 1, s->nreference, s->reference));
	s->measure.against = NULL;
	s->measure.ntarget = s->nreference;
	s->measure.target = s->reference;
	s->measure.size = sizeof s->measure;
	s->real = best_value(s->metric);
	if (is_own && is_of_reference(s->metric)) {
		s->unit = strcmp(s->metric, "sqnr") == 0 ? "dB"
			  : strcmp(s->metric, "agreement") == 0 ||
					  strcmp(s->metric, "score-error") == 0
				  ? "%"
				  : "";
		return QN_OK;
	}
	return measure(s, s->m, &s->real, &sqnr);
}

/* ---- layers ---- */

typedef struct collecting {
	qn_tune_entry *to;
	size_t cap;
	qn_arena *a;
} collecting;

/* Of dB of signal to noise; what has no signal is as bad as can be. */
static double
noise_of(double db)
{
	static const double most = 1e12;

	if (db - db != 0)
		return db > 0 ? 0 : most;
	const double x = 1 + qn_expm1(-db / 10 * qn_ln(10));

	return x < most ? x : most;
}

static void
take_layer(void *user, const qn_layer_cost *l)
{
	collecting *c = user;
	qn_tune_entry *e = c->to;

	/* told by cost, stored in the order of the graph */
	e->layer = qn_arena_grow(c->a, e->layer, &c->cap, l->index + 1, sizeof *e->layer);
	e->nlayer = e->nlayer > l->index ? e->nlayer : l->index + 1;
	e->layer[l->index] = (qn_tune_layer){.name = qn_arena_str(c->a, l->name),
					     .op = qn_arena_str(c->a, l->op),
					     .has_weights = l->weights != NULL,
					     .weights = noise_of(l->weights_alone),
					     .data = noise_of(l->data_alone)};
}

/* Whether the step computes the layer, which has the name of its node or of a layer of the file. */
static bool
computes(const qn_plan *p, const qn_step *s, const char *layer, qn_arena *a)
{
	qn_layers of;

	if (strcmp(qn_layer_node_name(qn_graph_node(p->g, s->core), a), layer) == 0)
		return true;
	qn_step_layers(p->g, s, NULL, &of);
	for (uint32_t i = 0; i < of.n; i++)
		if (strcmp(of.name[i], layer) == 0)
			return true;
	return false;
}

static void
add_step(const qn_plan *p, const qn_step *s, qn_tune_entry *e, qn_arena *a)
{
	for (size_t k = 0; k < e->nlayer; k++)
		if (computes(p, s, e->layer[k].name, a)) {
			e->layer[k].bytes += s->constant_bytes;
			e->layer[k].instructions += qn_step_instructions(p, s);
			break;
		}
}

/* Bytes and instructions of the plan's steps, by layer. */
static void
add_steps(const qn_plan *p, qn_tune_entry *e, qn_arena *a)
{
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *part[QN_STRIP_PARTS];
		const size_t parts = qn_strip_parts(&p->step[i], part);

		for (size_t k = 0; k < parts; k++)
			add_step(p, part[k], e, a);
	}
}

/* ---- a candidate ---- */

static qn_status
plan(qn_tune_search *s, qn_model *m, qn_arena *a, qn_tune_entry *out)
{
	qn_plan_opts how = {.target = qn_target_find(m->env, s->o->target),
			    .max_arena = qn_tune_saves_arena(s) ? 1 : s->o->max_arena_bytes,
			    .max_weights = s->o->max_weight_bytes};
	qn_plan *p;

	if (how.target == NULL)
		return QN_EUSAGE;
	QN_TRY(qn_optimize_find(m->env, s->o->optimize, &how.optimize));
	QN_TRY(qn_plan_make(qn_model_entry(m), m->name, &how, a, &p));
	out->weight_bytes = p->weight_bytes;
	out->arena_bytes = p->scratch_bytes;
	out->instructions = qn_plan_instructions(p);
	add_steps(p, out, a);
	return QN_OK;
}

typedef struct candidate {
	qn_tune_search *s;
	qn_model *m;
	const qn_tune_item *item;
	qn_tune_entry *out;
} candidate;

static qn_status
compile_and_measure(void *arg, qn_arena *a)
{
	const candidate *c = arg;
	qn_tune_search *s = c->s;
	qn_compile_opts o = s->compile;
	collecting layers = {.to = c->out, .a = s->a};
	qn_analysis all;

	o.recipe = c->item->recipe; /* which has the repairs */
	o.weight_rounding = QN_WEIGHTS_NEAREST;
	o.bias_correction = o.equalize = 0;
	if (c->item->by_layer) {
		o.stop_after = "repair";
		QN_TRY(qn_compile(c->m, &o));
		QN_TRY(qn_analyze(c->m, o.ncalib, o.calib, NULL, take_layer, &layers, &all));
		/* what is left of the options: those of the passes that are left */
		o = (qn_compile_opts){.size = sizeof o,
				      .rounding = o.rounding,
				      .no_approx = o.no_approx,
				      .merge_always = o.merge_always,
				      .align = o.align};
	}
	QN_TRY(qn_compile(c->m, &o));
	QN_TRY(measure(s, c->m, &c->out->metric, &c->out->sqnr));
	if (s->o->stream != NULL) /* outputs stay as they are */
		QN_TRY(qn_stream(c->m, s->o->stream));
	return plan(s, c->m, a, c->out);
}

/* A storage that a network cannot have is a candidate that failed; anything else ends the search. */
static bool
is_candidate_failure(qn_status status)
{
	return status == QN_EUNSUPPORTED || status == QN_EINVALID;
}

qn_status
qn_tune_measure(qn_tune_search *s, const qn_tune_item *item, qn_tune_entry *out)
{
	const qn_diag_mark mark = qn_diag_mark_now(s->m->env);
	qn_arena *a = qn_arena_child(s->a);
	candidate c = {.s = s, .item = item, .out = out};

	*out = (qn_tune_entry){.item = *item};
	QN_TRY(qn_model_copy(&s->source, &c.m));
	const qn_status status = compile_and_measure(&c, a);
	qn_model_free(c.m);
	qn_arena_release(a);
	const bool is_first = s->entries.n == 0; /* what it warns of, the others would, too */
	if (is_first || (status != QN_OK && !is_candidate_failure(status)))
		return status;
	qn_diag_forget(s->m->env, mark);
	if (status != QN_OK)
		*out = (qn_tune_entry){.item = *item, .failed = true};
	return QN_OK;
}
