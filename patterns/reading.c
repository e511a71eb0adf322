/* SPDX-License-Identifier: Apache-2.0 */
/* reading.c - see reading.h. */
#include "patterns/reading.h"

#include "patterns/build.h"

qn_reading *
qn_reading_new(qn_arena *a)
{
	qn_reading *r = QN_NEW(a, qn_reading, 1);

	r->arena = a;
	return r;
}

const char *
qn_reading_name(const qn_bound *b)
{
	const qn_pattern *p = (const qn_pattern *)(const void *)b->pat; /* the first member */

	return b->kind == QN_BOUND_SLOT ? qn_pattern_slot_name(p) : NULL;
}

static bool
has_slot(const qn_bound *b)
{
	return b->kind == QN_BOUND_SLOT && b->pat->slot != QN_NO_SLOT;
}

/* Room for the values of each slot, in the order of the slots; what is counted may be left out. */
static void
make_room(qn_reading *r, const qn_bound *bound, size_t n)
{
	size_t at = 0;

	for (size_t k = 0; k < n; k++)
		if (has_slot(&bound[k]) && (size_t)bound[k].pat->slot >= r->nslot)
			r->nslot = (size_t)bound[k].pat->slot + 1;
	r->first = QN_NEW(r->arena, size_t, r->nslot);
	r->value = QN_NEW(r->arena, const qn_bound *, n);
	r->told = QN_NEW(r->arena, const qn_bound *, n);
	for (size_t k = 0; k < n; k++)
		if (has_slot(&bound[k]))
			r->first[bound[k].pat->slot]++;
	for (size_t k = 0; k < r->nslot; k++) {
		const size_t count = r->first[k];

		r->first[k] = at;
		at += count;
	}
}

static void
sort(qn_reading *r, const qn_bound *bound, size_t n)
{
	const qn_bound **first;
	size_t *end;

	make_room(r, bound, n);
	first = QN_NEW(r->arena, const qn_bound *, r->nslot);
	end = QN_NEW(r->arena, size_t, r->nslot);
	for (size_t k = 0; k < r->nslot; k++)
		end[k] = r->first[k];
	for (size_t k = 0; k < n; k++) {
		const qn_bound *b = &bound[k];

		if (!has_slot(b))
			continue;
		const qn_bound **f = &first[b->pat->slot];
		if (*f != NULL && (*f)->value == b->value && (*f)->graph == b->graph)
			continue;
		*f = *f == NULL ? b : *f;
		r->value[end[b->pat->slot]++] = b;
		if (qn_reading_name(b) != NULL)
			r->told[r->ntold++] = b;
	}
	r->end = end;
}

qn_memo_count
qn_reading_count(const qn_reading *r, int slot)
{
	return (size_t)slot < r->ncount ? r->count[slot] : QN_MEMO_ONE;
}

const qn_reading *
qn_reading_of(const qn_match *m, bool all)
{
	qn_reading *r = m->reading;
	qn_match found;

	if (r->made_all || (r->made && (r->matcher == NULL || !all)))
		return r;
	r->made = true;
	r->ntold = r->nslot = 0;
	if (r->matcher == NULL || !all) {
		const qn_bound *bound =
			qn_arena_copy(r->arena, m->bound, m->nbound * sizeof *bound);

		sort(r, bound, m->nbound);
		return r;
	}
	r->made_all = true;
	if (qn_match_at(r->matcher, m->graph, r->pat, m->root, &found)) {
		const qn_bound *bound =
			qn_arena_copy(r->arena, found.bound, found.nbound * sizeof *bound);

		sort(r, bound, found.nbound);
	}
	return r;
}
