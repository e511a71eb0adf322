/* SPDX-License-Identifier: Apache-2.0 */
/* place_earlier.c - places for buffers in the order of their first steps (place.c), in n log n: the gaps between those
 * that live are in a tree by size. */
#include "codegen/place_impl.h"

#include "ir/hashes.h"

/* A buffer that lives, and the gap below it, which is a node of a treap: a search tree by size,
 * then by offset, whose nodes have higher ranks than their children. */
typedef struct gap {
	size_t bytes;
	uint32_t below, above; /* buffers that live, by offset; 0: none */
	uint32_t left, right;
	uint32_t rank;
	uint32_t next; /* that dies at the same step */
} gap;

/* Buffers are numbered from 1. */
typedef struct shelf {
	qn_buffer *buf;
	gap *gap;
	uint32_t root, top;
} shelf;

static bool
less(const shelf *s, uint32_t x, uint32_t y)
{
	const qn_buffer *a = &s->buf[x - 1], *b = &s->buf[y - 1];

	if (s->gap[x].bytes != s->gap[y].bytes)
		return s->gap[x].bytes < s->gap[y].bytes;
	return a->offset != b->offset ? a->offset < b->offset : x < y;
}

static void
add_gap(shelf *s, uint32_t x, size_t bytes)
{
	uint32_t *link = &s->root, *left = &s->gap[x].left, *right = &s->gap[x].right;

	s->gap[x].bytes = bytes;
	while (*link != 0 && s->gap[*link].rank >= s->gap[x].rank)
		link = less(s, x, *link) ? &s->gap[*link].left : &s->gap[*link].right;
	uint32_t rest = *link;
	*link = x;
	while (rest != 0)
		if (less(s, rest, x)) {
			*left = rest;
			left = &s->gap[rest].right;
			rest = *left;
		} else {
			*right = rest;
			right = &s->gap[rest].left;
			rest = *right;
		}
	*left = *right = 0;
}

static void
remove_gap(shelf *s, uint32_t x)
{
	uint32_t *link = &s->root, l = s->gap[x].left, r = s->gap[x].right;

	while (*link != x)
		link = less(s, x, *link) ? &s->gap[*link].left : &s->gap[*link].right;
	while (l != 0 && r != 0)
		if (s->gap[l].rank > s->gap[r].rank) {
			*link = l;
			link = &s->gap[l].right;
			l = *link;
		} else {
			*link = r;
			link = &s->gap[r].left;
			r = *link;
		}
	*link = l != 0 ? l : r;
}

/* The buffer above the smallest gap of that many bytes, the lowest of equal ones; 0: none. */
static uint32_t
find_gap(const shelf *s, size_t bytes)
{
	uint32_t best = 0;

	for (uint32_t x = s->root; x != 0;)
		if (s->gap[x].bytes >= bytes) {
			best = x;
			x = s->gap[x].left;
		} else {
			x = s->gap[x].right;
		}
	return best;
}

static void
take_off(shelf *s, uint32_t x)
{
	uint32_t below = s->gap[x].below, above = s->gap[x].above;

	remove_gap(s, x);
	if (below != 0)
		s->gap[below].above = above;
	if (above == 0) {
		s->top = below;
		return;
	}
	s->gap[above].below = below;
	remove_gap(s, above);
	add_gap(s, above, s->gap[above].bytes + s->buf[x - 1].bytes + s->gap[x].bytes);
}

static void
put_on(shelf *s, uint32_t x)
{
	qn_buffer *b = &s->buf[x - 1];
	uint32_t above = find_gap(s, b->bytes);
	uint32_t below = above != 0 ? s->gap[above].below : s->top;

	b->offset = below != 0 ? s->buf[below - 1].offset + s->buf[below - 1].bytes : 0;
	s->gap[x].below = below;
	s->gap[x].above = above;
	if (below != 0)
		s->gap[below].above = x;
	if (above != 0) {
		s->gap[above].below = x;
		remove_gap(s, above);
		add_gap(s, above, s->gap[above].bytes - b->bytes);
	} else {
		s->top = x;
	}
	add_gap(s, x, 0);
}

size_t
qn_place_earlier_first(qn_buffer *buf, size_t n, size_t nstep, qn_arena *a, uint64_t *pairs)
{
	shelf s = {.buf = buf, .gap = QN_NEW(a, gap, n + 1)};
	uint32_t *dying = QN_NEW(a, uint32_t, nstep + 1);
	size_t total = 0, step = 0, alive = 0;

	for (uint32_t x = 1; x <= n; x++) {
		qn_buffer *b = &buf[x - 1];

		for (; step < b->first; step++)
			for (uint32_t y = dying[step]; y != 0; y = s.gap[y].next) {
				take_off(&s, y);
				alive--;
			}
		s.gap[x].rank = qn_hash(&x, sizeof x, 0);
		put_on(&s, x);
		s.gap[x].next = dying[b->last];
		dying[b->last] = x;
		*pairs += alive++;
		if (b->offset + b->bytes > total)
			total = b->offset + b->bytes;
	}
	return total;
}
