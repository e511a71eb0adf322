/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.c - see equalize.h.
 *
 *   all groups together, then each of them, for each of three ways to choose s: less error than before (equalize_trial.c)? s stays
 *   then biases that are high: all groups together, or each of them */
#include "driver/equalize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/calibration.h"
#include "driver/equalize_impl.h"
#include "ir/diag.h"
#include "ir/progress.h"
#include "patterns/recipe.h"
#include "patterns/rewrite.h"
#include "runtime/math.h"

enum { ROUNDS = 2 /* what a group gains depends on the others */ };

/* What has to be gained: below this share of the error it is chance. */
static const double least_gain = 0.1;

/* The ranges that s follows from: those of weights count with their scale per tensor, those of activations always. */
typedef enum way { BY_WEIGHTS, BY_ACTIVATIONS, BY_BOTH, NWAY } way;

/* ---- choices ---- */

static int
by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Halves of the logarithms of rows against columns, less their median, rounded: then both are alike. */
static void
choose(qn_equalize_search *q, size_t k, way by)
{
	const qn_equal_group *group = &q->e.group[k];
	qn_arena *a = qn_arena_child(q->p->m->scratch);
	double *log = QN_NEW(a, double, (size_t)group->channels), *sorted;
	size_t n = 0;

	qn_equalize_measure(&q->e, k, a);
	for (int64_t i = 0; i < group->channels; i++) {
		const double w = (double)group->rows[i], y = (double)q->peak[k][i];
		double from = sqrt(w * y);

		if (by == BY_WEIGHTS)
			from = w;
		else if (by == BY_ACTIVATIONS)
			from = y;
		log[i] = (double)NAN;
		if (from > 0 && group->columns[i] > 0)
			log[i] = (qn_ln(from) - qn_ln((double)group->columns[i])) / (2 * qn_ln(2));
	}
	sorted = QN_NEW(a, double, (size_t)group->channels);
	for (int64_t i = 0; i < group->channels; i++)
		if (!isnan(log[i]))
			sorted[n++] = log[i];
	qsort(sorted, n, sizeof *sorted, by_value);
	for (int64_t i = 0; i < group->channels; i++) {
		const double s = isnan(log[i]) ? 0 : rint(log[i] - sorted[n / 2]);

		group->exponent[i] = (int8_t)(s > QN_EQUALIZE_MOST    ? QN_EQUALIZE_MOST
					      : s < -QN_EQUALIZE_MOST ? -QN_EQUALIZE_MOST
								      : s);
	}
	qn_arena_release(a);
}

/* Exponents of all groups, one group after the other. */
static void
save(const qn_equalize_search *q, int8_t *to)
{
	for (size_t k = 0; k < q->e.n; to += q->e.group[k++].channels)
		memcpy(to, q->e.group[k].exponent, (size_t)q->e.group[k].channels);
}

static void
load(qn_equalize_search *q, const int8_t *from)
{
	for (size_t k = 0; k < q->e.n; from += q->e.group[k++].channels)
		memcpy(q->e.group[k].exponent, from, (size_t)q->e.group[k].channels);
}

/* All groups together: a group alone may be of no use where another one spoils the outputs. */
static qn_status
equalize_all(qn_equalize_search *q, double *error)
{
	size_t n = 0;

	for (size_t k = 0; k < q->e.n; k++)
		n += (size_t)q->e.group[k].channels;
	int8_t *best = QN_NEW(q->p->m->scratch, int8_t, n + 1);
	const int8_t *none = QN_NEW(q->p->m->scratch, int8_t, n + 1);
	for (way by = BY_WEIGHTS; by < NWAY; by++) {
		double tried;

		load(q, none);
		for (size_t i = 0; i < ROUNDS * q->e.n; i++)
			if (!q->stays[i % q->e.n])
				choose(q, i % q->e.n, by);
		QN_TRY(qn_equalize_error(q, &tried));
		if (!(tried < *error * (1 - least_gain)))
			continue;
		*error = tried;
		save(q, best);
	}
	load(q, best);
	return QN_OK;
}

static bool
is_scaled(const qn_equal_group *group)
{
	for (int64_t i = 0; i < group->channels; i++)
		if (group->exponent[i] != 0)
			return true;
	return false;
}

/* The scales with the least error; none where none are as good.  *error: the least so far. */
static qn_status
equalize_group(qn_equalize_search *q, size_t k, double *error)
{
	const qn_equal_group *group = &q->e.group[k];
	const size_t n = (size_t)group->channels;
	int8_t *best = qn_arena_copy(q->p->m->scratch, group->exponent, n);
	const bool was_scaled = is_scaled(group);
	double tried;

	for (way by = BY_WEIGHTS; by < NWAY; by++) {
		choose(q, k, by);
		QN_TRY(qn_equalize_error(q, &tried));
		if (!(tried < *error * (1 - least_gain)))
			continue;
		*error = tried;
		memcpy(best, group->exponent, n);
	}
	memset(group->exponent, 0, n);
	if (was_scaled) {
		QN_TRY(qn_equalize_error(q, &tried));
		if (tried <= *error) {
			*error = tried;
			return QN_OK;
		}
	}
	memcpy(group->exponent, best, n);
	return QN_OK;
}

/* ---- biases ---- */

/* c: the least value of each channel, or 0 again. */
static bool
shift(const qn_equalize_search *q, size_t k, bool on)
{
	const qn_equal_group *group = &q->e.group[k];
	bool any = false;

	for (int64_t i = 0; group->shift != NULL && !q->stays[k] && i < group->channels; i++) {
		const float least = q->least[k][i];

		group->shift[i] = on && least > 0 && isfinite(least) ? least : 0;
		any = any || group->shift[i] > 0;
	}
	return any;
}

static bool
is_shifted(const qn_equal_group *group)
{
	for (int64_t i = 0; group->shift != NULL && i < group->channels; i++)
		if (group->shift[i] > 0)
			return true;
	return false;
}

/* Biases move on from all groups, or from each one alone, where that helps. */
static qn_status
absorb(qn_equalize_search *q, double *error)
{
	double tried;
	size_t n = 0;

	for (size_t k = 0; k < q->e.n; k++)
		n += shift(q, k, true);
	if (n == 0)
		return QN_OK;
	QN_TRY(qn_equalize_error(q, &tried));
	if (tried < *error * (1 - least_gain)) {
		*error = tried;
		return QN_OK;
	}
	for (size_t k = 0; k < q->e.n; k++)
		(void)shift(q, k, false);
	for (size_t k = 0; k < q->e.n && n > 1; k++) {
		if (!shift(q, k, true))
			continue;
		QN_TRY(qn_equalize_error(q, &tried));
		if (tried < *error * (1 - least_gain))
			*error = tried;
		else
			(void)shift(q, k, false);
	}
	return QN_OK;
}

/* ---- the pass ---- */

static bool
is_changed(const qn_equal_group *group)
{
	return is_scaled(group) || is_shifted(group);
}

/* Hundredths of dB. */
static double
decibel(const qn_equalize_search *q, double error)
{
	size_t measured = 0;

	for (size_t k = 0; k < q->e.g->noutput; k++)
		measured += q->power[k] > 0;
	const double db = -10 * (qn_ln(error / (double)measured) / qn_ln(10));

	return error > 0 ? rint(100 * db) / 100 : (double)INFINITY;
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
		nshifted += is_shifted(&q->e.group[k]);
		if (!is_changed(&q->e.group[k]))
			continue;
		qn_buff(&b, "%s%s", comma, q->e.group[k].name);
		comma = ", ";
	}
	if (nkept == 0)
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
				 "equalization needs the calibration data itself; give samples "
				 "(--calib)");
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
	qn_equalize_search q = {.p = p};
	double before = 0, after;
	size_t nkept = 0;
	qn_graph *g;

	QN_TRY(refuse(p));
	QN_TRY(qn_calibration_data(p->m, p->opts, p->m->scratch, &q.data));
	find_groups(&q);
	QN_TRY(qn_equalize_observe(&q));
	QN_TRY(qn_equalize_error(&q, &before));
	after = before;
	QN_TRY(equalize_all(&q, &after));
	for (size_t i = 0; i < ROUNDS * q.e.n; i++) {
		if (!q.stays[i % q.e.n])
			QN_TRY(equalize_group(&q, i % q.e.n, &after));
		QN_TRY(qn_progress(p->m->env, "equalize", i + 1, ROUNDS * q.e.n));
	}
	QN_TRY(absorb(&q, &after));
	for (size_t k = 0; k < q.e.n; k++)
		nkept += is_changed(&q.e.group[k]);
	tell(&q, nkept, before, after);
	if (nkept == 0)
		return QN_OK;
	QN_TRY(qn_equalize_apply(p->m, &q.e, &g));
	qn_model_set_graph(p->m, g);
	return QN_OK;
}
