/* SPDX-License-Identifier: Apache-2.0 */
/* hashes.c - see hashes.h.  Linear probing; at most three of four slots are taken.
 *
 *   hash 6: slot 6 (of 8) taken by another, 7 free -> 7 */
#include "ir/hashes.h"

enum { FIRST_CAP = 8 };

uint32_t
qn_hash(const void *data, size_t n, uint32_t seed)
{
	const unsigned char *p = data;
	uint32_t h = seed ^ 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 16777619u;
	/* neighbours differ in their low bits only: spread them over the table */
	h ^= h >> 16;
	h *= 0x85ebca6bu;
	return h ^ h >> 13;
}

void
qn_hashes_init(qn_hashes *x, qn_arena *arena)
{
	*x = (qn_hashes){.arena = arena};
}

static void
put(qn_hashes *x, qn_hashes_slot s)
{
	size_t i = s.hash & (x->cap - 1);

	while (x->slot[i].id != 0)
		i = (i + 1) & (x->cap - 1);
	x->slot[i] = s;
}

static void
grow(qn_hashes *x)
{
	qn_hashes old = *x;
	size_t from = 0;

	x->cap = old.cap > 0 ? old.cap * 2 : FIRST_CAP;
	x->slot = QN_NEW(x->arena, qn_hashes_slot, x->cap);
	/* begin after a free slot, so that those of one hash stay in their order */
	while (from < old.cap && old.slot[from].id != 0)
		from++;
	for (size_t i = 0; i < old.cap; i++) {
		qn_hashes_slot s = old.slot[(from + i) & (old.cap - 1)];

		if (s.id != 0)
			put(x, s);
	}
	qn_arena_free(x->arena, old.slot, old.cap * sizeof *old.slot);
}

void
qn_hashes_add(qn_hashes *x, uint32_t hash, uint32_t id)
{
	if (x->n >= x->cap / 4 * 3)
		grow(x);
	put(x, (qn_hashes_slot){hash, id});
	x->n++;
}

uint32_t
qn_hashes_next(const qn_hashes *x, uint32_t hash, size_t *at)
{
	if (x->cap == 0)
		return 0;
	for (; *at < x->cap; ++*at) {
		const qn_hashes_slot *s = &x->slot[(hash + *at) & (x->cap - 1)];

		if (s->id == 0)
			return 0;
		if (s->hash == hash) {
			++*at;
			return s->id;
		}
	}
	return 0;
}
