/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.c - see equalize.h: what the pass takes, which groups may change, and what it says. */
#include "driver/equalize.h"

#include "calibrate/calibrate.h"
#include "driver/calibration.h"
#include "driver/equalize_impl.h"
#include "ir/diag.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"

static bool
is_changed(const qn_equal_group *group)
{
	return qn_equalize_is_scaled(group) || qn_equalize_is_shifted(group);
}

static double
decibel(const qn_equalize_search *q, double error)
{
	return qn_trial_decibel(&q->trials, QN_TRIAL_HELD, error);
}

/* What it brought; names of the groups that changed. */
static void
tell(const qn_equalize_search *q, size_t nkept, double before, double after)
{
	qn_model *m = q->p->m;
	const char *comma = "";
	size_t ntried = 0, nshifted = 0;
	qn_buf b;

	qn_buf_init(&b, m->scratch);
	for (size_t k = 0; k < q->e.n; k++) {
		ntried += !q->stays[k];
		nshifted += qn_equalize_is_shifted(&q->e.group[k]);
		if (!is_changed(&q->e.group[k]))
			continue;
		qn_buff(&b, "%s%s", comma, q->e.group[k].name);
		comma = ", ";
	}
	if (ntried == 0)
		qn_warn(m->env, "equalize.dropped", m->name,
			"no channels are scaled: no layer is read by other layers alone, through "
			"nothing but ops that keep channels apart (docs/calibration.md), or rules "
			"of the recipe leave these as they are");
	else if (nkept == 0)
		qn_warn(m->env, "equalize.dropped", m->name,
			"no channels are scaled: none of %zu groups brings the outputs nearer to "
			"the float ones on the samples held back (SQNR %g dB); more samples may "
			"help",
			ntried, decibel(q, before));
	else
		qn_log(m->env,
		       "equalize: channels of %zu of %zu groups of layers are scaled%s (%s): SQNR "
		       "of the outputs %g dB, before %g dB",
		       nkept, ntried, nshifted > 0 ? ", or high biases moved on" : "",
		       qn_buf_str(&b), decibel(q, after), decibel(q, before));
	qn_model_record(m, "equalize=%zu/%zu:%g:%g", nkept, ntried, decibel(q, before),
			decibel(q, after));
	if (nshifted > 0)
		qn_model_record(m, "absorbed=%zu", nshifted);
}

static qn_status
refuse(const qn_pipeline *p)
{
	const qn_compile_opts *o = p->opts;

	if (o->ncalib == 0)
		return qn_report(p->m->env, QN_EUSAGE, "equalize.no-data", p->m->name,
				 "equalization needs the calibration data itself; %s",
				 qn_samples_advice(p->m));
	if (o->stats != NULL || o->encodings != NULL)
		return qn_report(
			p->m->env, QN_EUSAGE, "equalize.ranges", p->m->name,
			"equalization changes the ranges of activations, so that those of "
			"statistics or encodings do not fit; give samples alone (--calib)");
	return QN_OK;
}

/* A rule that says no for one of its layers keeps a group as it is; else the option asks for it, or a rule for one of
 * them. */
static void
find_groups(qn_equalize_search *q)
{
	qn_model *m = q->p->m;
	const qn_graph *g = qn_model_entry(m);
	const uint32_t *uses = qn_graph_uses(g, m->scratch);

	qn_equalize_find(g, m->scratch, &q->e);
	q->stays = QN_NEW(m->scratch, bool, q->e.n + 1);
	for (size_t k = 0; k < q->e.n; k++) {
		bool asked = q->p->opts->equalize != 0, refused = false;

		for (size_t i = 0; i < q->e.group[k].nlayer; i++) {
			qn_recipe_repair says = {.equalize = false};

			qn_recipe_repair_layer(q->p->quant.recipe, g, uses, q->e.group[k].layer[i],
					       &says);
			asked = asked || says.equalize;
			refused = refused || (says.says_equalize && !says.equalize);
		}
		q->stays[k] = refused || !asked;
	}
}

qn_status
qn_run_equalize(qn_pipeline *p)
{
	qn_equalize_search q = {.p = p, .trials = {.p = p, .held_only = true}};
	double before = 0, after;
	size_t nkept = 0;
	qn_graph *g;

	QN_TRY(refuse(p));
	QN_TRY(qn_calibration_data(p->m, p->opts, p->m->scratch, &q.trials.data));
	find_groups(&q);
	QN_TRY(qn_equalize_observe(&q));
	QN_TRY(qn_equalize_error(&q, &before));
	after = before;
	QN_TRY(qn_equalize_scales(&q, &after));
	QN_TRY(qn_equalize_biases(&q, &after));
	for (size_t k = 0; k < q.e.n; k++)
		nkept += is_changed(&q.e.group[k]);
	tell(&q, nkept, before, after);
	if (nkept == 0)
		return QN_OK;
	QN_TRY(qn_equalize_apply(p->m, &q.e, &g));
	qn_model_set_graph(p->m, g);
	return QN_OK;
}
