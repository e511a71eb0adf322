/* SPDX-License-Identifier: Apache-2.0 */
/* tune_near.c - what differs from a candidate in one layer or in two, the least noise first.
 *
 *   i4 i4 i8 i4   ──▶   i4 i8 i4 i4, i8 i4 i4 i4, i4 i4 i8 i2 …   as far as they cost no more */
#include <string.h>

#include "driver/tune.h"

enum { KEPT = 48 }; /* of the changes, for those that are measured already */

/* Layer i stored in way k, and layer j in way l; j == i: one change. */
typedef struct change {
	size_t i, j;
	qn_tune_pick k, l;
	double noise;
} change;

typedef struct changes {
	change of[KEPT];
	size_t n;
} changes;

/* Of equal ones the earlier stays before. */
static void
offer(changes *c, const change *one)
{
	size_t at = c->n;

	while (at > 0 && one->noise < c->of[at - 1].noise)
		at--;
	if (at == KEPT)
		return;
	c->n += c->n < KEPT;
	for (size_t k = c->n - 1; k > at; k--)
		c->of[k] = c->of[k - 1];
	c->of[at] = *one;
}

static bool
is_same(qn_tune_pick a, qn_tune_pick b)
{
	return a.storage == b.storage && a.wide == b.wide;
}

static qn_tune_way
way_of(const qn_tune_row *r, qn_tune_pick p)
{
	return (qn_tune_way){.pick = p,
			     .noise = r->weights[p.storage] + r->data[p.wide],
			     .bytes = p.wide ? r->wide_bytes : r->bytes[p.storage],
			     .instructions =
				     p.wide ? r->wide_instructions : r->instructions[p.storage]};
}

static qn_tune_sum
changed(const qn_tune_sum *s, const qn_tune_way *was, const qn_tune_way *is)
{
	return (qn_tune_sum){s->noise - was->noise + is->noise, s->bytes - was->bytes + is->bytes,
			     s->instructions - was->instructions + is->instructions};
}

static bool
fits(const qn_tune_sum *s, const qn_tune_sum *most)
{
	return s->bytes <= most->bytes && s->instructions <= most->instructions;
}

typedef struct finding {
	const qn_tune_table *t;
	const qn_tune_pick *from;
	const qn_tune_sum *most;
	qn_tune_way (*way)[QN_TUNE_WAYS];
	size_t *nway;
	changes *out;
} finding;

/* The second change beside one of layer i that gives `sum`. */
static void
find_second(const finding *f, const change *first, const qn_tune_sum *sum)
{
	for (size_t j = first->i + 1; j < f->t->n; j++) {
		const qn_tune_way was = way_of(&f->t->row[j], f->from[j]);

		for (size_t l = 0; l < f->nway[j]; l++) {
			const qn_tune_sum both = changed(sum, &was, &f->way[j][l]);
			change c = *first;

			if (is_same(f->way[j][l].pick, f->from[j]) || !fits(&both, f->most))
				continue;
			c.j = j;
			c.l = f->way[j][l].pick;
			c.noise = both.noise;
			offer(f->out, &c);
		}
	}
}

static void
find_changes(const finding *f)
{
	const qn_tune_sum now = qn_tune_sum_of(f->t, f->from);

	for (size_t i = 0; i < f->t->n; i++) {
		const qn_tune_way was = way_of(&f->t->row[i], f->from[i]);

		for (size_t k = 0; k < f->nway[i]; k++) {
			const qn_tune_way *w = &f->way[i][k];
			const qn_tune_sum one = changed(&now, &was, w);
			const change c = {i, i, w->pick, w->pick, one.noise};

			if (is_same(w->pick, f->from[i]))
				continue;
			if (fits(&one, f->most))
				offer(f->out, &c);
			find_second(f, &c, &one);
		}
	}
}

static bool
is_known(const qn_tune_search *s, const char *recipe)
{
	for (size_t i = 0; i < s->nlist; i++)
		if (strcmp(s->list[i]->item.recipe, recipe) == 0)
			return true;
	return false;
}

size_t
qn_tune_near(const qn_tune_search *s, const qn_tune_table *t, const qn_tune_pick *from,
	     const qn_tune_sum *most, bool wide, size_t n, const char **recipe, qn_arena *a)
{
	changes found = {.n = 0};
	finding f = {.t = t, .from = from, .most = most, .out = &found};
	qn_tune_pick *pick = QN_NEW(a, qn_tune_pick, t->n + 1);
	const qn_tune_repairs usual = qn_tune_usual_repairs(s);
	size_t count = 0;

	f.way = qn_arena_alloc(a, t->n + 1, sizeof *f.way);
	f.nway = QN_NEW(a, size_t, t->n + 1);
	for (size_t i = 0; i < t->n; i++)
		f.nway[i] = qn_tune_ways_of(&t->row[i], wide, f.way[i]);
	find_changes(&f);
	for (size_t i = 0; i < found.n && count < n; i++) {
		const change *c = &found.of[i];

		memcpy(pick, from, t->n * sizeof *pick);
		pick[c->i] = c->k;
		if (c->j != c->i)
			pick[c->j] = c->l;
		const char *text = qn_tune_recipe(t, pick, &usual, a);
		if (!is_known(s, text))
			recipe[count++] = text;
	}
	return count;
}
