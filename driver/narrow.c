/* SPDX-License-Identifier: Apache-2.0 */
/* narrow.c - see narrow.h.  A trial runs the network from the value on: what comes before is kept (calibrate/evaluate.h). */
#include "driver/narrow.h"

#include <math.h>

#include "calibrate/calibrate.h"
#include "driver/trial.h"
#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/progress.h"
#include "patterns/recipe.h"

enum {
	KEEP_BYTES = 1 << 29, /* of values before those that are narrowed, for all samples */
	TENTHS = 10,
	LEAST_TENTHS = 1, /* of a range that are left */
	PATIENCE = 2      /* by chance one trial may be worse than the next */
};

/* What has to be gained on the samples of both parts: below this share of the error it is chance. */
static const double least_gain = 0.1;

/* A symbol of a value. */
typedef struct member {
	qn_symbol *sym;
	const qn_node *quantize; /* its first one */
	qn_symbol had, best;     /* what it was before the trials, and in the best one */
	struct member *next;
} member;

/* A value that may change its range: that of all symbols that it is quantized by, one after the other or side by side. */
typedef struct range {
	qn_id value;
	const char *name;
	member *symbols;
	bool asked, refused;
	int tenths; /* of its range that are left */
} range;

typedef struct narrowing {
	qn_model *m;
	const qn_graph *g;
	qn_trials trials;
	qn_evaluator *e;
	size_t n;
	range *range;                                       /* in the order of the graph */
	double before[QN_TRIAL_PARTS], now[QN_TRIAL_PARTS]; /* errors of the outputs */
} narrowing;

bool
qn_narrow_is_asked(const qn_pipeline *p)
{
	return p->opts->narrow_ranges != 0 || qn_recipe_narrows(p->quant.recipe);
}

/* ---- ranges ---- */

/* A rule that says no for one of the layers that take the value keeps its range; else the option asks for it, or a rule
 * for one of them. */
static void
ask(const qn_pipeline *p, const qn_graph *g, const uint32_t *uses, qn_id quantize, range *r)
{
	r->asked = r->asked || p->opts->narrow_ranges != 0;
	for (qn_id id = quantize + 1; id < g->n && p->quant.recipe != NULL; id++) {
		const qn_node *n = qn_graph_node(g, id);
		qn_recipe_repair says = {.narrow = false};
		bool takes = false;

		for (uint32_t i = 0; i < n->nin; i++)
			takes = takes || n->in[i] == quantize;
		if (takes)
			qn_recipe_repair_layer(p->quant.recipe, g, uses, id, &says);
		r->asked = r->asked || says.narrow;
		r->refused = r->refused || (says.says_narrow && !says.narrow);
	}
}

/* The value that a quantize takes, not quantized before. */
static qn_id
value_of(const qn_graph *g, qn_id quantize)
{
	qn_id id = qn_graph_node(g, quantize)->in[0];

	while (qn_graph_node(g, id)->op == QN_OP_dequantize &&
	       qn_graph_node(g, qn_graph_node(g, id)->in[0])->op == QN_OP_quantize)
		id = qn_graph_node(g, qn_graph_node(g, id)->in[0])->in[0];
	return id;
}

static range *
range_of(narrowing *s, qn_id value)
{
	size_t k = 0;

	while (k < s->n && s->range[k].value != value)
		k++;
	if (k == s->n)
		s->range[s->n++] = (range){
			.value = value, .name = qn_graph_node(s->g, value)->name, .tenths = TENTHS};
	return &s->range[k];
}

/* Symbols that values share belong to the first one. */
static bool
is_known(const narrowing *s, const qn_symbol *sym)
{
	for (size_t k = 0; k < s->n; k++)
		for (const member *m = s->range[k].symbols; m != NULL; m = m->next)
			if (m->sym == sym)
				return true;
	return false;
}

static void
find_ranges(const qn_pipeline *p, narrowing *s)
{
	qn_model *m = s->m;
	const uint32_t *uses = qn_graph_uses(s->g, m->scratch);
	size_t kept = 0;

	s->range = QN_NEW(m->scratch, range, s->g->n);
	for (qn_id id = 1; id < s->g->n; id++) {
		const qn_node *n = qn_graph_node(s->g, id);
		const qn_symbol *sym = n->type->is_tuple ? NULL : qn_symbol_to_calibrate(n);

		if (sym == NULL || qn_graph_node(s->g, n->in[0])->op == QN_OP_const)
			continue;
		range *r = range_of(s, value_of(s->g, id));
		ask(p, s->g, uses, id, r);
		if (is_known(s, sym))
			continue;
		member *one = QN_NEW(m->scratch, member, 1);
		*one = (member){.sym = qn_symbol_find(&m->types, sym->name),
				.quantize = n,
				.next = r->symbols};
		r->symbols = one;
	}
	for (size_t k = 0; k < s->n; k++)
		if (s->range[k].asked && !s->range[k].refused && s->range[k].symbols != NULL)
			s->range[kept++] = s->range[k];
	s->n = kept;
}

/* Scales of channels, which share a zero point. */
static qn_status
bind_channels(narrowing *s, const member *one, double factor)
{
	const qn_params *had = one->had.vec;
	const size_t n = (size_t)one->had.len;
	double *scale = QN_NEW(s->m->scratch, double, n);

	for (size_t k = 0; k < n; k++)
		scale[k] = had->scale[k] * factor;
	return qn_symbol_bind(&s->m->types, one->quantize->name, one->sym->name, n, scale, had->zp);
}

/* Binds the symbol to the part of its range whose magnitudes are so many tenths of the largest at most. */
static qn_status
bind(narrowing *s, const member *one, int tenths)
{
	const qn_elem *e = one->quantize->type->elem;
	const double lo = (double)(e->qmin - one->had.zp) * one->had.scale;
	const double hi = (double)(e->qmax - one->had.zp) * one->had.scale;
	const double factor = (double)tenths / TENTHS, most = factor * fmax(fabs(lo), fabs(hi));

	one->sym->bound = false; /* bound again */
	if (one->had.len > 0)
		return bind_channels(s, one, factor);
	return qn_bind_range(s->m, one->quantize, one->sym, fmax(lo, -most), fmin(hi, most));
}

static qn_status
measure(narrowing *s, double error[QN_TRIAL_PARTS])
{
	qn_env *env = s->m->env;
	qn_arena *a = qn_arena_child(s->m->scratch);

	qn_evaluator_changed(s->e);
	QN_TRY(qn_trials_error(&s->trials, s->e, s->g, a, error));
	qn_arena_release(a);
	if (qn_evaluator_steps(s->e) > qn_limit(env, QN_LIMIT_STEPS))
		return qn_limit_report(env, QN_LIMIT_STEPS, s->m->name, qn_evaluator_steps(s->e));
	return QN_OK;
}

static void
take(double to[QN_TRIAL_PARTS], const double error[QN_TRIAL_PARTS])
{
	for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++)
		to[part] = error[part];
}

/* Ever narrower until PATIENCE trials in a row have no less error on the samples that choose; *least: the errors of the
 * best. */
static qn_status
try_tenths(narrowing *s, range *r, double least[QN_TRIAL_PARTS])
{
	for (int t = TENTHS - 1; t >= LEAST_TENTHS && t >= r->tenths - PATIENCE; t--) {
		double error[QN_TRIAL_PARTS];

		for (const member *m = r->symbols; m != NULL; m = m->next)
			QN_TRY(bind(s, m, t));
		QN_TRY(measure(s, error));
		if (!(error[QN_TRIAL_FIT] < least[QN_TRIAL_FIT]))
			continue;
		take(least, error);
		r->tenths = t;
		for (member *m = r->symbols; m != NULL; m = m->next)
			m->best = *m->sym;
	}
	return QN_OK;
}

static qn_status
narrow(narrowing *s, range *r)
{
	double least[QN_TRIAL_PARTS];
	bool kept = true;

	take(least, s->now);
	QN_TRY(qn_evaluator_cache(s->e, 1, &r->value));
	for (member *m = r->symbols; m != NULL; m = m->next)
		m->had = m->best = *m->sym;
	QN_TRY(try_tenths(s, r, least));
	for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++)
		kept = kept && least[part] < s->now[part] * (1 - least_gain);
	for (member *m = r->symbols; m != NULL; m = m->next)
		*m->sym = kept ? m->best : m->had;
	if (kept)
		take(s->now, least);
	else
		r->tenths = TENTHS;
	return QN_OK;
}

/* ---- what became of it ---- */

static void
tell(const narrowing *s)
{
	qn_model *m = s->m;
	const double before = qn_trial_decibel(&s->trials, QN_TRIAL_HELD, s->before[QN_TRIAL_HELD]);
	const double after = qn_trial_decibel(&s->trials, QN_TRIAL_HELD, s->now[QN_TRIAL_HELD]);
	size_t nkept = 0;
	qn_buf b;

	qn_buf_init(&b, m->scratch);
	for (size_t k = 0; k < s->n; k++)
		if (s->range[k].tenths < TENTHS)
			qn_buff(&b, "%s%s %d %%", nkept++ > 0 ? ", " : "", s->range[k].name,
				s->range[k].tenths * (100 / TENTHS));
	if (nkept == 0)
		qn_warn(m->env, "narrow.dropped", m->name,
			"no range is narrowed: none of %zu brings the outputs nearer to the float "
			"ones on the samples held back (SQNR %g dB); more samples may help",
			s->n, before);
	else
		qn_log(m->env,
		       "ranges: %zu of %zu are narrowed (%s): SQNR of the outputs %g dB, before "
		       "%g dB",
		       nkept, s->n, qn_buf_str(&b), after, before);
	qn_model_record(m, "narrowed=%zu/%zu:%g:%g", nkept, s->n, before, after);
}

qn_status
qn_narrow(qn_pipeline *p, qn_dataset *data)
{
	qn_model *m = p->m;
	narrowing s = {.m = m, .g = qn_model_entry(m), .trials = {.p = p, .data = data}};
	const qn_graph *reference;
	const qn_id *of_reference;
	qn_graph *real;
	qn_id *map;

	if (p->opts->encodings != NULL)
		return qn_report(m->env, QN_EUSAGE, "narrow.ranges", m->name,
				 "encodings say what ranges are; leave them or the narrowing of "
				 "ranges (narrow-ranges) out");
	QN_TRY(qn_float_reference(m, s.g, &reference, &of_reference));
	QN_TRY(qn_trials_observe(&s.trials, reference));
	s.e = qn_evaluator_new(s.g, data, KEEP_BYTES, m->scratch);
	find_ranges(p, &s);
	QN_TRY(measure(&s, s.now));
	take(s.before, s.now);
	for (size_t k = 0; k < s.n; k++) {
		QN_TRY(narrow(&s, &s.range[k]));
		QN_TRY(qn_progress(m->env, "ranges", k + 1, s.n));
	}
	tell(&s);
	QN_TRY(qn_erase_quantization(m, s.g, true, &real, &map));
	return qn_widen_bias_scales(m, s.g, real, map);
}
