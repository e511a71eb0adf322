/* SPDX-License-Identifier: Apache-2.0 */
/* widen.c - see widen.h.  Some layers become 16 bits wide together, then others one after the other, those whose activations
 * cost most first.  A layer stays so if it brings QN_WIDEN_LEAST_GAIN on the samples that choose, and anything on those that
 * are held back. */
#include "driver/widen.h"

#include <math.h>
#include <string.h>

#include "codegen/inline.h"
#include "driver/calibration.h"
#include "driver/trial.h"
#include "ir/diag.h"
#include "ir/progress.h"
#include "patterns/recipe.h"
#include "runtime/math.h"

/* ---- options ---- */

static qn_status
refuse(const qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;

	if (o->stats != NULL || o->encodings != NULL)
		return qn_report(p->m->env, QN_EUSAGE, "widen.ranges", p->m->name,
				 "which activations need 16 bits (auto) is found by trials, for "
				 "which statistics or encodings have no ranges; give samples alone "
				 "(--calib), or say it in a recipe");
	if (o->ncalib == 0)
		return qn_report(
			p->m->env, QN_EUSAGE, "widen.no-data", p->m->name,
			"which activations need 16 bits (auto) is found on the calibration "
			"data itself; give samples (--calib) to the run that quantizes");
	return QN_OK;
}

/* ---- trials ---- */

/* Whether the storage that is tried is one that the network cannot have. */
static bool
is_impossible(qn_status status)
{
	return status == QN_EUNSUPPORTED || status == QN_EINVALID;
}

static qn_status
rank(void *arg, qn_model *m)
{
	qn_widening *w = arg;

	QN_TRY(qn_widen_rank(m, w->g, &w->p->quant, w->trials.data, w->arena, &w->all));
	const qn_status status = qn_pass_lower(w->p);
	w->lowers = status == QN_OK;
	return is_impossible(status) ? QN_OK : status;
}

static qn_status
lower(void *arg, qn_model *m)
{
	const qn_widening *w = arg;

	(void)m;
	return w->lowers ? qn_pass_lower(w->p) : QN_OK;
}

/* The error with the layers that are wide now; *can: the network can be quantized so. */
static qn_status
measure(qn_widening *w, double error[QN_TRIAL_PARTS], bool *can)
{
	qn_env *env = w->p->m->env;
	const qn_diag_mark mark = qn_diag_mark_now(env);
	qn_arena *a = qn_arena_child(w->arena);
	const qn_quant_opts quant = qn_widen_options(w->p, &w->all, a);
	const qn_status status = qn_trial_run(
		&w->trials, &(qn_trial){.look = lower, .arg = w, .quant = &quant}, error);

	qn_arena_release(a);
	*can = status == QN_OK;
	if (!is_impossible(status))
		return status;
	qn_diag_forget(env, mark);
	w->impossible++;
	return QN_OK;
}

qn_status
qn_widening_try(qn_widening *w, double error[QN_TRIAL_PARTS], bool *can)
{
	QN_TRY(measure(w, error, can));
	w->tried++;
	return qn_progress(w->p->m->env, "activations", w->tried,
			   QN_WIDEN_TRIALS + QN_WIDEN_FAR_TRIALS);
}

void
qn_widening_take(qn_widening *w, const double error[QN_TRIAL_PARTS])
{
	for (qn_trial_part part = 0; part < QN_TRIAL_PARTS; part++)
		w->now[part] = error[part];
}

/* Layers that became wide together. */
typedef struct group {
	const size_t *member; /* indices, the noisiest first */
	double full;          /* the error with all of them on the samples that choose */
	double share;         /* dB that a layer without weights has to bring */
	double spent;         /* what those that are narrow again had to bring, and did not */
	bool chain; /* each hides what the others bring: what some had to bring is not spent for others */
} group;

static double
to_bring(const qn_widening *w, const group *g, size_t from, size_t to)
{
	double sum = 0;

	for (; from < to; from++)
		sum += w->all.layer[g->member[from]].product ? QN_WIDEN_LEAST_GAIN : g->share;
	return sum;
}

static void
set_members(qn_widening *w, const group *g, size_t from, size_t to, bool wide)
{
	for (; from < to; from++) {
		w->all.layer[g->member[from]].wide = wide;
		w->all.layer[g->member[from]].gain = 0;
	}
}

/* Goes back to 8 bits with members from … to of a group, if all that went back lose less than they had to bring: with
 * these at once, else with those of each half. */
static qn_status
prune(qn_widening *w, group *g, size_t from, size_t to)
{
	double error[QN_TRIAL_PARTS];
	bool can;

	if (from == to || w->tried >= QN_WIDEN_TRIALS)
		return QN_OK;
	set_members(w, g, from, to, false);
	QN_TRY(qn_widening_try(w, error, &can));
	const double bring = to_bring(w, g, from, to);
	const double lost =
		qn_widen_gain(error[QN_TRIAL_FIT], g->chain ? w->now[QN_TRIAL_FIT] : g->full);
	if (can && (error[QN_TRIAL_HELD] <= w->now[QN_TRIAL_HELD] ||
		    lost < (g->chain ? bring : g->spent + bring))) {
		g->spent += bring;
		qn_widening_take(w, error);
		return QN_OK;
	}
	set_members(w, g, from, to, true);
	if (to - from == 1) {
		w->all.layer[g->member[from]].gain =
			can ? qn_widen_gain(error[QN_TRIAL_HELD], w->now[QN_TRIAL_HELD]) : 0;
		return QN_OK;
	}
	QN_TRY(prune(w, g, (from + to) / 2, to));
	return prune(w, g, from, (from + to) / 2);
}

static bool
gains(const qn_widening *w, const double before[QN_TRIAL_PARTS], double least)
{
	return w->now[QN_TRIAL_HELD] < before[QN_TRIAL_HELD] &&
	       qn_widen_gain(before[QN_TRIAL_FIT], w->now[QN_TRIAL_FIT]) >= least;
}

/* One layer alone may be of no use where another one spoils the outputs as much. */
static qn_status
try_together(qn_widening *w, const bool *in, bool chain)
{
	size_t *member = QN_NEW(w->arena, size_t, w->all.n + 1), n = 0, others = 0;
	double before[QN_TRIAL_PARTS], error[QN_TRIAL_PARTS];
	bool can;

	for (size_t k = 0; k < w->all.n; k++) {
		if (!in[k])
			continue;
		member[n++] = k;
		others += !w->all.layer[k].product;
	}
	if (n < 2 || w->tried >= QN_WIDEN_TRIALS || !(w->now[QN_TRIAL_FIT] > 0))
		return QN_OK;
	memcpy(before, w->now, sizeof before);
	group g = {.member = member, .chain = chain};
	set_members(w, &g, 0, n, true);
	QN_TRY(qn_widening_try(w, error, &can));
	if (can)
		qn_widening_take(w, error);
	const bool kept = can && gains(w, before, qn_widen_least_gain(&w->all, in));
	if (kept) {
		const double all = qn_widen_gain(before[QN_TRIAL_FIT], error[QN_TRIAL_FIT]);

		g.full = error[QN_TRIAL_FIT];
		/* half of an equal share: of a chain none may lose much by itself */
		g.share = others > 0 ? fmin(QN_WIDEN_LEAST_GAIN, all / 2 / (double)others) : 0;
		QN_TRY(prune(w, &g, n / 2, n));
		QN_TRY(prune(w, &g, 0, n / 2));
	}
	/* several that each lose little without it may lose all that they brought */
	if (!kept || !gains(w, before, QN_WIDEN_LEAST_GAIN)) {
		set_members(w, &g, 0, n, false);
		qn_widening_take(w, before);
	}
	return QN_OK;
}

static qn_status
try_layer(qn_widening *w, qn_wide_layer *l)
{
	double error[QN_TRIAL_PARTS];
	bool can;

	l->wide = true;
	QN_TRY(qn_widening_try(w, error, &can));
	l->wide = can && error[QN_TRIAL_HELD] < w->now[QN_TRIAL_HELD] &&
		  qn_widen_gain(w->now[QN_TRIAL_FIT], error[QN_TRIAL_FIT]) >= QN_WIDEN_LEAST_GAIN;
	if (!l->wide)
		return QN_OK;
	l->gain = qn_widen_gain(w->now[QN_TRIAL_HELD], error[QN_TRIAL_HELD]);
	qn_widening_take(w, error);
	return QN_OK;
}

/* Whether the layer may bring the least gain: noise of layers adds up about so. */
static bool
may_help(const qn_widening *w, const qn_wide_layer *l)
{
	static const double doubt = 2;
	const double left = w->begun * (w->now[QN_TRIAL_FIT] / w->first[QN_TRIAL_FIT]);
	const double share = 1 - 1 / (1 + qn_expm1(QN_WIDEN_LEAST_GAIN / 10 * qn_ln(10)));

	return !l->wide && l->noise * doubt >= share * left;
}

static size_t
count_wide(const qn_widening *w)
{
	size_t n = 0;

	for (size_t k = 0; k < w->all.n; k++)
		n += w->all.layer[k].wide;
	return n;
}

/* Layers one after the other.  What one brings depends on those that are wide already: once more after a round that kept
 * some.  While none is, some trials are left for all together. */
static qn_status
try_each(qn_widening *w)
{
	bool kept = true;

	while (kept) {
		kept = false;
		for (size_t k = 0; k < w->all.n; k++) {
			const size_t left = count_wide(w) > 0 ? 0 : QN_WIDEN_LAST;

			if (w->tried + left >= QN_WIDEN_TRIALS)
				break;
			qn_wide_layer *l = &w->all.layer[k];

			if (!(w->now[QN_TRIAL_FIT] > 0) || !may_help(w, l))
				continue;
			QN_TRY(try_layer(w, l));
			kept = kept || l->wide;
		}
	}
	return QN_OK;
}

static qn_status
try_layers(qn_widening *w)
{
	bool *in = QN_NEW(w->arena, bool, w->all.n + 1);

	qn_widen_noisiest(&w->all, w->arena, in);
	QN_TRY(try_together(w, in, false));
	qn_widen_without_weights(&w->all, in);
	QN_TRY(try_together(w, in, false));
	QN_TRY(try_each(w));
	if (count_wide(w) == 0) { /* in a chain each hides what the others bring */
		for (size_t k = 0; k < w->all.n; k++)
			in[k] = true;
		QN_TRY(try_together(w, in, true));
	}
	QN_TRY(qn_widen_far(w));
	const size_t most = QN_WIDEN_TRIALS + QN_WIDEN_FAR_TRIALS;
	return w->tried < most ? qn_progress(w->p->m->env, "activations", most, most) : QN_OK;
}

/* ---- all of it ---- */

qn_status
qn_widen(qn_pipeline *p, qn_quant_opts *out)
{
	qn_model *m = p->m;
	qn_widening w = {.p = p, .g = qn_model_entry(m), .trials = {.p = p}, .arena = m->scratch};
	const qn_graph *flat;

	*out = p->quant;
	if (!p->quant.automatic && !qn_recipe_is_automatic(p->quant.recipe))
		return QN_OK;
	QN_TRY(refuse(p));
	if (!qn_widen_is_open(w.g, &p->quant)) {
		qn_warn(m->env, "widen.settled", m->name,
			"no layer is left that 16 bits could be chosen for (auto): the recipe or "
			"the option dynamic says how the activations of each are stored, or none "
			"is quantized");
		return QN_OK;
	}
	QN_TRY(qn_calibration_data(m, p->opts, m->scratch, &w.trials.data));
	QN_TRY(qn_graph_inline(w.g, m->scratch, &flat));
	QN_TRY(qn_trials_observe(&w.trials, flat));
	QN_TRY(qn_trial_run(&w.trials, &(qn_trial){.look = rank, .arg = &w, .quant = &p->quant},
			    w.first));
	w.begun = w.all.noise;
	w.now[QN_TRIAL_FIT] = w.first[QN_TRIAL_FIT];
	w.now[QN_TRIAL_HELD] = w.first[QN_TRIAL_HELD];
	QN_TRY(try_layers(&w));
	qn_widen_tell(&w);
	*out = qn_widen_options(p, &w.all, m->scratch);
	return QN_OK;
}
