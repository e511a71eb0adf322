/* SPDX-License-Identifier: Apache-2.0 */
/* equalize_search.c - which scales and which biases move, by the error that a trial of them has (equalize_trial.c).
 *
 *   all groups together, then each of them, for each of three ways to choose s: less error than before? s stays
 *   then biases that are high: all groups together, or each of them */
#include "driver/equalize_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/progress.h"
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

bool
qn_equalize_is_scaled(const qn_equal_group *group)
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
	const bool was_scaled = qn_equalize_is_scaled(group);
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

qn_status
qn_equalize_scales(qn_equalize_search *q, double *error)
{
	QN_TRY(equalize_all(q, error));
	for (size_t i = 0; i < ROUNDS * q->e.n; i++) {
		if (!q->stays[i % q->e.n])
			QN_TRY(equalize_group(q, i % q->e.n, error));
		QN_TRY(qn_progress(q->p->m->env, "equalize", i + 1, ROUNDS * q->e.n));
	}
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

bool
qn_equalize_is_shifted(const qn_equal_group *group)
{
	for (int64_t i = 0; group->shift != NULL && i < group->channels; i++)
		if (group->shift[i] > 0)
			return true;
	return false;
}

/* Biases move on from all groups, or from each one alone, where that helps. */
qn_status
qn_equalize_biases(qn_equalize_search *q, double *error)
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
