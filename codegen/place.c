/* SPDX-License-Identifier: Apache-2.0 */
/* place.c - see place.h.  Buffers are placed one by one, each into the smallest gap between those
 * already placed that live at the same time.  Two orders are tried, and the better one stays:
 *
 *   earlier first   [ A | gap | B | gap | C | …     the gaps at one step, in a tree by size: n log n
 *   larger first    gaps beside all that ever live beside it: only if such pairs are few enough
 *
 * Where neither reaches what lives at one step, the shelf is given that height, and gaps are filled
 * from its two ends: a chain, of which two buffers live at a time, fits whatever their sizes are:
 *
 *   both ends       [ A |         | B ]     then C for A, from the left, D for B, from the right … */
#include "codegen/place.h"

#include <stdlib.h>
#include <string.h>

#include "ir/hashes.h"

/* Pairs of buffers that live at the same time, up to which the second order is tried. */
enum { PAIRS = 1 << 20, PAIRS_PER_BUFFER = 16 };

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

/* *pairs: those of buffers that live at the same time. */
static size_t
earlier_first(qn_buffer *buf, size_t n, size_t nstep, qn_arena *a, uint64_t *pairs)
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

/* Who lives beside whom: a list for each buffer. */
typedef struct pair {
	uint32_t other; /* index of the buffer */
	uint32_t next;  /* index of the pair plus 1 */
} pair;

typedef struct beside {
	uint32_t *first; /* by buffer: index of a pair plus 1 */
	pair *pair;
	uint32_t npair;
} beside;

static void
add_pair(beside *s, uint32_t x, uint32_t other)
{
	s->pair[s->npair] = (pair){other, s->first[x]};
	s->first[x] = ++s->npair;
}

static void
find_pairs(beside *s, const qn_buffer *buf, size_t n, uint64_t pairs, qn_arena *a)
{
	uint32_t *alive = QN_NEW(a, uint32_t, n + 1);
	size_t nalive = 0;

	s->first = QN_NEW(a, uint32_t, n + 1);
	s->pair = QN_NEW(a, pair, 2 * (size_t)pairs + 1);
	for (uint32_t x = 0; x < n; x++) {
		size_t kept = 0;

		for (size_t i = 0; i < nalive; i++)
			if (buf[alive[i]].last >= buf[x].first) {
				add_pair(s, x, alive[i]);
				add_pair(s, alive[i], x);
				alive[kept++] = alive[i];
			}
		alive[kept] = x;
		nalive = kept + 1;
	}
}

static int
by_size(const void *x, const void *y)
{
	const qn_buffer *a = *(const qn_buffer *const *)x, *b = *(const qn_buffer *const *)y;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a < b ? -1 : a > b; /* of one array */
}

static int
by_offset(const void *x, const void *y)
{
	const qn_buffer *a = *(const qn_buffer *const *)x, *b = *(const qn_buffer *const *)y;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* The offset of the smallest gap of that many bytes among n buffers in order of offset, or the first
 * place above all of them. */
static size_t
best_gap(size_t bytes, qn_buffer *const *placed, size_t n)
{
	size_t end = 0, best = SIZE_MAX, at = 0;

	for (size_t i = 0; i < n; i++) {
		const qn_buffer *c = placed[i];

		if (c->offset >= end && c->offset - end >= bytes && c->offset - end < best) {
			best = c->offset - end;
			at = end;
		}
		if (c->offset + c->bytes > end)
			end = c->offset + c->bytes;
	}
	return best != SIZE_MAX ? at : end;
}

static size_t
larger_first(qn_buffer *buf, size_t n, uint64_t pairs, qn_arena *a)
{
	qn_buffer **todo = QN_NEW(a, qn_buffer *, n + 1), **near = QN_NEW(a, qn_buffer *, n + 1);
	bool *placed = QN_NEW(a, bool, n + 1);
	beside s = {0};
	size_t total = 0;

	find_pairs(&s, buf, n, pairs, a);
	for (size_t i = 0; i < n; i++)
		todo[i] = &buf[i];
	qsort(todo, n, sizeof *todo, by_size);
	for (size_t i = 0; i < n; i++) {
		qn_buffer *b = todo[i];
		size_t k = 0;

		for (uint32_t p = s.first[b - buf]; p != 0; p = s.pair[p - 1].next)
			if (placed[s.pair[p - 1].other])
				near[k++] = &buf[s.pair[p - 1].other];
		if (k > 0)
			qsort(near, k, sizeof *near, by_offset);
		b->offset = best_gap(b->bytes, near, k);
		placed[b - buf] = true;
		if (b->offset + b->bytes > total)
			total = b->offset + b->bytes;
	}
	return total;
}

/* Earlier first on a shelf of this height; false when one does not fit. */
static bool
from_both_ends(qn_buffer *buf, size_t n, size_t height, qn_arena *a)
{
	qn_buffer **alive = QN_NEW(a, qn_buffer *, n + 1); /* by offset */
	size_t nalive = 0;

	for (size_t i = 0; i < n; i++) {
		size_t kept = 0, end = 0, best = SIZE_MAX, place = 0;
		qn_buffer *b = &buf[i];

		for (size_t k = 0; k < nalive; k++)
			if (alive[k]->last >= b->first)
				alive[kept++] = alive[k];
		nalive = kept;
		for (size_t k = 0; k <= nalive; k++) {
			size_t to = k < nalive ? alive[k]->offset : height;

			if (to - end >= b->bytes && to - end < best) {
				best = to - end;
				place = k;
				b->offset = k == nalive && k > 0 ? height - b->bytes : end;
			}
			end = k < nalive ? to + alive[k]->bytes : end;
		}
		if (best == SIZE_MAX)
			return false;
		memmove(alive + place + 1, alive + place, (nalive - place) * sizeof *alive);
		alive[place] = b;
		nalive++;
	}
	return true;
}

size_t
qn_buffers_place(qn_buffer *buf, size_t n, size_t nstep, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	uint64_t pairs = 0;
	size_t bytes = earlier_first(buf, n, nstep, tmp, &pairs);

	if (pairs <= PAIRS + PAIRS_PER_BUFFER * (uint64_t)n) {
		qn_buffer *other = QN_NEW(tmp, qn_buffer, n + 1);

		for (size_t i = 0; i < n; i++)
			other[i] = buf[i];
		size_t need = larger_first(other, n, pairs, tmp);
		for (size_t i = 0; need <= bytes && i < n; i++)
			buf[i].offset = other[i].offset;
		bytes = need < bytes ? need : bytes;
		size_t least = qn_buffers_alive(buf, n, nstep, tmp, NULL);
		if (bytes > least && from_both_ends(other, n, least, tmp)) {
			for (size_t i = 0; i < n; i++)
				buf[i].offset = other[i].offset;
			bytes = least;
		}
	}
	qn_arena_release(tmp);
	return bytes;
}

size_t
qn_buffers_alive(const qn_buffer *buf, size_t n, size_t nstep, qn_arena *a, size_t *step)
{
	size_t *ends = QN_NEW(a, size_t, nstep + 2); /* bytes that die before a step */
	size_t most = 0, sum = 0, next = 0, at = 0;

	for (size_t i = 0; i < n; i++)
		ends[buf[i].last + 1] += buf[i].bytes;
	for (size_t i = 0; i < nstep; i++) {
		sum -= ends[i];
		for (; next < n && buf[next].first == i; next++)
			sum += buf[next].bytes;
		if (sum > most) {
			most = sum;
			at = i;
		}
	}
	if (step != NULL)
		*step = at;
	return most;
}
