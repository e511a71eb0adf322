/* SPDX-License-Identifier: Apache-2.0 */
/* tune_rank.c - which candidate is better: within the budgets, then by the metric as far as the samples can tell, then
 * by SQNR.
 *
 * A metric beyond that of the float model is chance, and so is a difference of less than half the standard error of a
 * share of so many samples, 50 sqrt(p (1 - p) / n) percent: among these the candidate with the highest SQNR is the
 * best.  It is measured on all values of all samples, and does not depend on a few samples at the border of two classes.
 * Within a quarter of a dB of it, the one with the fewest instructions is preferred. */
#include <math.h>
#include <string.h>

#include "driver/tune.h"

/* The metric, the larger the better, at most that of the float model. */
static double
quality(const qn_tune_search *s, const qn_tune_entry *e)
{
	const double value = s->more_is_better ? e->metric : -e->metric;
	const double real = s->more_is_better ? s->real : -s->real;

	return value < real ? value : real;
}

double
qn_tune_tolerance(const qn_tune_search *s)
{
	const double p = s->real >= 100 ? 0.98 : s->real / 100;

	if (strcmp(s->metric, "top1") != 0 && strcmp(s->metric, "agreement") != 0)
		return 0;
	return s->samples > 0 && p > 0 ? 50 * sqrt(p * (1 - p) / (double)s->samples) : 0;
}

uint64_t
qn_tune_cost_of(const qn_tune_search *s, const qn_tune_entry *e)
{
	switch (s->o->cost) {
	case QN_TUNE_ARENA:
		return e->arena_bytes;
	case QN_TUNE_INSTRUCTIONS:
		return e->instructions;
	case QN_TUNE_WEIGHTS:
		break;
	}
	return e->weight_bytes;
}

static bool
is_in_budget(const qn_tune_search *s, const qn_tune_entry *e)
{
	const qn_tune_opts *o = s->o;

	return (o->max_weight_bytes == 0 || e->weight_bytes <= o->max_weight_bytes) &&
	       (o->max_arena_bytes == 0 || e->arena_bytes <= o->max_arena_bytes) &&
	       (o->max_instructions == 0 || e->instructions <= o->max_instructions);
}

bool
qn_tune_is_within(const qn_tune_search *s, const qn_tune_entry *e)
{
	if (e->failed || !is_in_budget(s, e))
		return false;
	if (s->o->has_threshold == 0)
		return true;
	return s->more_is_better ? e->metric >= s->o->threshold : e->metric <= s->o->threshold;
}

/* Whether a costs no more than b, is not worse, and one of them is strict. */
static bool
is_ahead(const qn_tune_search *s, const qn_tune_entry *a, const qn_tune_entry *b)
{
	const double p = quality(s, a), q = quality(s, b);
	const bool cheap = a->weight_bytes <= b->weight_bytes && a->arena_bytes <= b->arena_bytes &&
			   a->instructions <= b->instructions;
	const bool cheaper = a->weight_bytes < b->weight_bytes || a->arena_bytes < b->arena_bytes ||
			     a->instructions < b->instructions;

	if (!cheap || p < q || (!(q < p) && a->sqnr < b->sqnr))
		return false;
	return cheaper || q < p || b->sqnr < a->sqnr;
}

bool
qn_tune_is_front(const qn_tune_search *s, const qn_tune_entry *e)
{
	for (size_t i = 0; i < s->nlist; i++)
		if (!s->list[i]->failed && is_ahead(s, s->list[i], e))
			return false;
	return !e->failed;
}

/* In dB: what is less makes no difference to a user, and three times the instructions do. */
static const double least_sqnr = 0.25;

/* Of two within everything; highest: the SQNR of the best of all. */
static bool
is_better(const qn_tune_search *s, const qn_tune_entry *a, const qn_tune_entry *b, double highest)
{
	const uint64_t c = qn_tune_cost_of(s, a), d = qn_tune_cost_of(s, b);
	const bool near_a = a->sqnr >= highest - least_sqnr,
		   near_b = b->sqnr >= highest - least_sqnr;

	if (s->o->has_threshold != 0 && c != d)
		return c < d;
	if (s->o->has_threshold == 0 && near_a != near_b)
		return near_a;
	if (s->o->has_threshold == 0 && near_a && a->instructions != b->instructions)
		return a->instructions < b->instructions;
	if (a->sqnr < b->sqnr || b->sqnr < a->sqnr)
		return b->sqnr < a->sqnr;
	return a->weight_bytes < b->weight_bytes;
}

/* Without one within everything: the one in the budgets with the best metric, else the one that is nearest to them. */
static double
excess(const qn_tune_search *s, const qn_tune_entry *e)
{
	const qn_tune_opts *o = s->o;
	double most = 0;
	const uint64_t have[] = {e->weight_bytes, e->arena_bytes, e->instructions};
	const uint64_t limit[] = {o->max_weight_bytes, o->max_arena_bytes, o->max_instructions};

	for (size_t i = 0; i < QN_COUNT(have); i++)
		if (limit[i] > 0 && have[i] > limit[i]) {
			const double over = (double)have[i] / (double)limit[i];

			most = over > most ? over : most;
		}
	return most;
}

static const qn_tune_entry *
nearest(const qn_tune_search *s)
{
	const qn_tune_entry *best = NULL;

	for (size_t i = 0; i < s->nlist; i++) {
		const qn_tune_entry *e = s->list[i];

		if (e->failed)
			continue;
		if (best == NULL || excess(s, e) < excess(s, best) ||
		    (!(excess(s, best) < excess(s, e)) && quality(s, best) < quality(s, e)))
			best = e;
	}
	return best;
}

static bool
is_good(const qn_tune_search *s, const qn_tune_entry *e, double least)
{
	return qn_tune_is_within(s, e) && !(quality(s, e) < least);
}

const qn_tune_entry *
qn_tune_best(const qn_tune_search *s)
{
	const double slack = s->o->has_threshold != 0 ? (double)INFINITY : qn_tune_tolerance(s);
	const qn_tune_entry *best = NULL;
	double most = -(double)INFINITY, highest = -(double)INFINITY;

	for (size_t i = 0; i < s->nlist; i++)
		if (qn_tune_is_within(s, s->list[i]) && quality(s, s->list[i]) > most)
			most = quality(s, s->list[i]);
	for (size_t i = 0; i < s->nlist; i++)
		if (is_good(s, s->list[i], most - slack) && s->list[i]->sqnr > highest)
			highest = s->list[i]->sqnr;
	for (size_t i = 0; i < s->nlist; i++) {
		const qn_tune_entry *e = s->list[i];

		if (is_good(s, e, most - slack) && (best == NULL || is_better(s, e, best, highest)))
			best = e;
	}
	return best != NULL ? best : nearest(s);
}
