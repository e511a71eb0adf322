/* SPDX-License-Identifier: Apache-2.0 */
/* repeats.c - see repeats.h. */
#include "codegen/repeats.h"

#include <stdlib.h>

typedef struct found {
	qn_repeat r;
	uint64_t saved;
} found;

typedef struct finder {
	const uint32_t *item;
	const uint64_t *sum; /* of the weights before an item */
	size_t n;
	uint64_t least;
	found *list;
	size_t nlist, cap;
	qn_arena *arena;
} finder;

/* From item `begin` on, `equal` items are equal to those `length` later. */
static void
consider(finder *f, size_t begin, size_t equal, size_t length)
{
	const size_t count = equal / length + 1;

	if (count < 2)
		return;
	const uint64_t saved = (count - 1) * (f->sum[begin + length] - f->sum[begin]);
	if (saved == 0 || saved < f->least)
		return;
	f->list = qn_arena_grow(f->arena, f->list, &f->cap, f->nlist + 1, sizeof(*f->list));
	f->list[f->nlist++] = (found){
		.r = {.begin = begin, .length = length, .count = count, .slack = equal % length},
		.saved = saved};
}

static void
find_of_length(finder *f, size_t length)
{
	size_t equal = 0, i = 0;

	for (; i + length < f->n; i++) {
		if (f->item[i] != 0 && f->item[i] == f->item[i + length]) {
			equal++;
			continue;
		}
		consider(f, i - equal, equal, length);
		equal = 0;
	}
	consider(f, i - equal, equal, length);
}

/* What saves most first; of equals the shorter one, then the earlier one. */
static int
by_saved(const void *x, const void *y)
{
	const found *a = x, *b = y;

	if (a->saved != b->saved)
		return a->saved > b->saved ? -1 : 1;
	if (a->r.length != b->r.length)
		return a->r.length < b->r.length ? -1 : 1;
	return a->r.begin < b->r.begin ? -1 : 1;
}

static int
by_begin(const void *x, const void *y)
{
	const qn_repeat *a = x, *b = y;

	return a->begin < b->begin ? -1 : 1;
}

/* With the place where it may begin at the latest. */
static size_t
end_of(const qn_repeat *r)
{
	return r->begin + r->length * r->count + r->slack;
}

static bool
overlaps(const qn_repeat *list, size_t n, const qn_repeat *r)
{
	for (size_t i = 0; i < n; i++)
		if (r->begin < end_of(&list[i]) && list[i].begin < end_of(r))
			return true;
	return false;
}

size_t
qn_repeats_find(const uint32_t *item, const uint32_t *weight, size_t n, uint64_t least, qn_arena *a,
		qn_repeat **out)
{
	uint64_t *sum = QN_NEW(a, uint64_t, n + 1);
	finder f = {.item = item, .sum = sum, .n = n, .least = least, .arena = a};
	size_t taken = 0;

	for (size_t i = 0; i < n; i++)
		sum[i + 1] = sum[i] + weight[i];
	for (size_t length = 1; length <= QN_REPEAT_MOST && 2 * length <= n; length++)
		find_of_length(&f, length);
	if (f.nlist > 0)
		qsort(f.list, f.nlist, sizeof(*f.list), by_saved);
	*out = QN_NEW(a, qn_repeat, f.nlist + 1);
	for (size_t i = 0; i < f.nlist; i++)
		if (!overlaps(*out, taken, &f.list[i].r))
			(*out)[taken++] = f.list[i].r;
	if (taken > 0)
		qsort(*out, taken, sizeof(**out), by_begin);
	return taken;
}
