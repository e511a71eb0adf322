/* SPDX-License-Identifier: Apache-2.0 */
/* tune_rounds.c - which candidates are measured, round by round (driver/tune.h). */
#include <string.h>

#include "driver/tune.h"

enum {
	ROUNDS = 3,  /* in which the best candidate is changed, if the options do not say */
	SPREAD = 8,  /* budgets of round 1 from the least cost to the largest */
	NEAR = 6,    /* changes of the best candidate in a round */
	BETWEEN = 4, /* costs between one that is accurate enough and one that is not */
	MOST_ITEMS = 32
};

typedef struct items {
	qn_tune_item of[MOST_ITEMS];
	size_t n;
} items;

bool
qn_tune_may_be_wide(const qn_tune_search *s)
{
	return s->o->wide_activations != 0 || s->o->max_arena_bytes > 0 ||
	       s->o->max_instructions > 0;
}

bool
qn_tune_saves_arena(const qn_tune_search *s)
{
	return s->o->has_threshold != 0 && s->o->cost == QN_TUNE_ARENA;
}

qn_tune_repairs
qn_tune_usual_repairs(const qn_tune_search *s)
{
	return (qn_tune_repairs){.rounding = s->compile.weight_rounding,
				 .bias = s->compile.bias_correction != 0};
}

static void
add_item(items *to, const char *recipe, bool by_layer)
{
	for (size_t i = 0; i < to->n; i++)
		if (strcmp(to->of[i].recipe, recipe) == 0)
			return;
	if (to->n < MOST_ITEMS)
		to->of[to->n++] = (qn_tune_item){recipe, by_layer};
}

/* ---- round 0 ---- */

static void
add_uniform(const qn_tune_search *s, items *to, qn_arena *a)
{
	const qn_tune_repairs usual = qn_tune_usual_repairs(s),
			      none = {.rounding = QN_WEIGHTS_NEAREST};

	for (unsigned k = 0; k < QN_TUNE_STORAGES; k++)
		add_item(to, qn_tune_uniform((uint8_t)k, false, &usual, a), true);
	if (qn_tune_may_be_wide(s))
		add_item(to, qn_tune_uniform(QN_TUNE_I8, true, &usual, a), true);
	add_item(to, qn_tune_uniform(QN_TUNE_I8, false, &none, a), false);
}

/* ---- round 1 ---- */

/* Which cost is varied: instructions where they alone are limited or to be small. */
static bool
is_by_instructions(const qn_tune_search *s)
{
	const qn_tune_opts *o = s->o;

	return o->has_threshold != 0 ? o->cost == QN_TUNE_INSTRUCTIONS
				     : o->max_weight_bytes == 0 && o->max_instructions > 0;
}

static uint64_t
budget_of(const qn_tune_search *s, bool instructions)
{
	const uint64_t b = instructions ? s->o->max_instructions : s->o->max_weight_bytes;

	return b > 0 ? b : UINT64_MAX;
}

/* The picks for a budget, with a price of the other cost that keeps it to its own. */
static const qn_tune_pick *
pick_for(const qn_tune_search *s, const qn_tune_table *t, qn_tune_wish w, qn_arena *a)
{
	const uint64_t other = budget_of(s, !w.by_instructions);
	const qn_tune_pick *pick = qn_tune_plan(t, &w, a), *last = pick;

	w.price = 1e-16;
	for (int i = 0; i < 40 && pick != NULL; i++) {
		const qn_tune_sum sum = qn_tune_sum_of(t, pick);

		if ((w.by_instructions ? sum.bytes : sum.instructions) <= other)
			return pick;
		w.price *= 3;
		last = pick;
		pick = qn_tune_plan(t, &w, a);
	}
	return last;
}

static void
add_budget(const qn_tune_search *s, const qn_tune_table *t, const qn_tune_wish *w, items *to,
	   qn_arena *a)
{
	const qn_tune_pick *pick = pick_for(s, t, *w, a);
	const qn_tune_repairs usual = qn_tune_usual_repairs(s);

	if (pick != NULL)
		add_item(to, qn_tune_recipe(t, pick, &usual, a), false);
}

static void
add_spread(const qn_tune_search *s, const qn_tune_table *t, bool wide, uint64_t n, items *to,
	   qn_arena *a)
{
	qn_tune_wish w = {.by_instructions = is_by_instructions(s), .wide = wide};
	uint64_t least, most;

	qn_tune_range(t, &w, &least, &most);
	const uint64_t budget = budget_of(s, w.by_instructions);
	const uint64_t top = budget < least ? least : budget < most ? budget : most;
	for (uint64_t i = n; i > 0; i--) {
		w.budget = least + (top - least) / n * i + (top - least) % n * i / n;
		add_budget(s, t, &w, to, a);
	}
}

/* ---- rounds around the best ---- */

/* What may be spent in the table's sums, which differ a little from those of whole programs. */
static uint64_t
in_sums(uint64_t budget, uint64_t measured, uint64_t sum)
{
	if (budget > UINT64_MAX - sum)
		return UINT64_MAX;
	return measured > sum + budget ? 0 : budget + sum - measured;
}

/* The dearest that is not accurate enough and costs less than the best one. */
static uint64_t
cost_below(const qn_tune_search *s, const qn_tune_entry *best)
{
	uint64_t below = 0;

	for (size_t i = 0; i < s->nlist; i++) {
		const uint64_t c = qn_tune_cost_of(s, s->list[i]);

		if (!s->list[i]->failed && c < qn_tune_cost_of(s, best) && c > below)
			below = c;
	}
	return below;
}

static void
add_between(const qn_tune_search *s, const qn_tune_table *t, const qn_tune_entry *best,
	    const qn_tune_sum *sum, bool wide, items *to, qn_arena *a)
{
	qn_tune_wish w = {.by_instructions = is_by_instructions(s), .wide = wide};
	const uint64_t high = qn_tune_cost_of(s, best), low = cost_below(s, best);
	const uint64_t planned = w.by_instructions ? sum->instructions : sum->bytes;

	for (uint64_t i = BETWEEN; i > 0 && s->o->cost != QN_TUNE_ARENA; i--) {
		w.budget = in_sums(low + (high - low) * i / (BETWEEN + 1), high, planned);
		add_budget(s, t, &w, to, a);
	}
}

static void
add_near(const qn_tune_search *s, items *to, qn_arena *a)
{
	const qn_tune_table t = qn_tune_table_of(s, a);
	const qn_tune_entry *best = qn_tune_best(s);
	const char *recipe[NEAR];

	if (best == NULL || t.n == 0)
		return;
	const qn_tune_pick *pick = qn_tune_picks_of(&t, best->item.recipe, a);
	const qn_tune_sum sum = qn_tune_sum_of(&t, pick);
	qn_tune_sum most = {
		.bytes = in_sums(budget_of(s, false), best->weight_bytes, sum.bytes),
		.instructions = in_sums(budget_of(s, true), best->instructions, sum.instructions)};
	const bool wide = t.wide && qn_tune_may_be_wide(s);
	if (s->o->has_threshold != 0 && qn_tune_is_within(s, best)) {
		add_between(s, &t, best, &sum, wide, to, a);
		if (s->o->cost == QN_TUNE_INSTRUCTIONS && sum.instructions < most.instructions)
			most.instructions = sum.instructions - 1;
		if (s->o->cost == QN_TUNE_WEIGHTS && sum.bytes < most.bytes)
			most.bytes = sum.bytes - 1;
	}
	const size_t n = qn_tune_near(s, &t, pick, &most, wide, NEAR, recipe, a);
	for (size_t i = 0; i < n; i++)
		add_item(to, recipe[i], false);
}

/* ---- the last round ---- */

static void
add_other_repairs(const qn_tune_search *s, items *to, qn_arena *a)
{
	const qn_tune_entry *best = qn_tune_best(s);

	if (best == NULL)
		return;
	const qn_tune_repairs r = qn_tune_repairs_of(best->item.recipe, a);
	qn_tune_repairs other = r;
	other.rounding = QN_WEIGHTS_NEAREST;
	add_item(to, qn_tune_repaired(best->item.recipe, &other, a), false);
	other = r;
	other.bias = false;
	add_item(to, qn_tune_repaired(best->item.recipe, &other, a), false);
	other = r;
	other.equalize = s->compile.equalize != 0;
	add_item(to, qn_tune_repaired(best->item.recipe, &other, a), false);
}

size_t
qn_tune_rounds(const qn_tune_search *s)
{
	return 3 + (s->o->rounds > 0 ? s->o->rounds : ROUNDS);
}

size_t
qn_tune_round(const qn_tune_search *s, size_t round, qn_arena *a, qn_tune_item **out)
{
	items to = {.n = 0};

	if (round == 0) {
		add_uniform(s, &to, a);
	} else if (round == 1) {
		const qn_tune_table t = qn_tune_table_of(s, a);

		if (t.n > 0)
			add_spread(s, &t, false, SPREAD, &to, a);
		if (t.n > 0 && t.wide)
			add_spread(s, &t, true, SPREAD / 2, &to, a);
	} else if (round + 1 < qn_tune_rounds(s)) {
		add_near(s, &to, a);
	} else {
		add_other_repairs(s, &to, a);
	}
	*out = qn_arena_copy(a, to.of, to.n * sizeof to.of[0]);
	return to.n;
}
