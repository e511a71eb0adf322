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
 *   both ends       [ A |         | B ]     then C for A, from the left, D for B, from the right …
 *
 * Where one does not, what lives at the fullest step goes first, as little is in its way then:
 *
 *   fuller first    by the most bytes that live at a step of a buffer's life, of equal ones the larger first
 *   promoted        larger first, then what ended highest before all others, and so on, for some rounds */
#include "codegen/place_impl.h"

#include <stdlib.h>
#include <string.h>

/* Pairs of buffers that live at the same time, up to which the second order is tried. */
enum { PAIRS = 1 << 20, PAIRS_PER_BUFFER = 16 };
/* Rounds of promotion, and the pairs that they look at in all. */
enum { ROUNDS = 64, PAIRS_OF_ROUNDS = 1 << 23 };

/* Who lives beside whom: a list for each buffer. */
typedef struct pair {
	uint32_t other; /* index of the buffer */
	uint32_t next;  /* index of the pair plus 1 */
} pair;

typedef struct beside {
	uint32_t *first; /* by buffer: index of a pair plus 1 */
	pair *pair;
	uint32_t npair;
	struct pending *todo; /* room for in_order */
	qn_buffer **near;
	bool *placed;
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

/* A buffer that is to be placed; those with higher keys first, of equal ones the larger. */
typedef struct pending {
	qn_buffer *buffer;
	size_t key;
} pending;

static int
by_key(const void *x, const void *y)
{
	const pending *a = x, *b = y;

	if (a->key != b->key)
		return a->key > b->key ? -1 : 1;
	if (a->buffer->bytes != b->buffer->bytes)
		return a->buffer->bytes > b->buffer->bytes ? -1 : 1;
	return a->buffer < b->buffer ? -1 : a->buffer > b->buffer; /* of one array */
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

/* In the order of these keys, each into the smallest gap beside all that live at the same time. */
static size_t
in_order(qn_buffer *buf, size_t n, const beside *s, const size_t *key)
{
	pending *todo = s->todo;
	qn_buffer **near = s->near;
	bool *placed = s->placed;
	size_t total = 0;

	memset(placed, 0, n * sizeof *placed);
	for (size_t i = 0; i < n; i++)
		todo[i] = (pending){&buf[i], key != NULL ? key[i] : 0};
	qsort(todo, n, sizeof *todo, by_key);
	for (size_t i = 0; i < n; i++) {
		qn_buffer *b = todo[i].buffer;
		size_t k = 0;

		for (uint32_t p = s->first[b - buf]; p != 0; p = s->pair[p - 1].next)
			if (placed[s->pair[p - 1].other])
				near[k++] = &buf[s->pair[p - 1].other];
		if (k > 0)
			qsort(near, k, sizeof *near, by_offset);
		b->offset = best_gap(b->bytes, near, k);
		placed[b - buf] = true;
		if (b->offset + b->bytes > total)
			total = b->offset + b->bytes;
	}
	return total;
}

/* For each buffer the most bytes that live at one of its steps. */
static const size_t *
fullness(const qn_buffer *buf, size_t n, const beside *s, qn_arena *a)
{
	size_t *key = QN_NEW(a, size_t, n + 1), *begun = QN_NEW(a, size_t, n + 1);

	/* the sum is largest where some buffer begins: of those beside it, when it does */
	for (size_t i = 0; i < n; i++) {
		begun[i] = buf[i].bytes;
		for (uint32_t p = s->first[i]; p != 0; p = s->pair[p - 1].next) {
			const qn_buffer *c = &buf[s->pair[p - 1].other];

			begun[i] +=
				c->first < buf[i].first || (c->first == buf[i].first && c < &buf[i])
					? c->bytes
					: 0;
		}
	}
	for (size_t i = 0; i < n; i++) {
		key[i] = begun[i];
		for (uint32_t p = s->first[i]; p != 0; p = s->pair[p - 1].next) {
			const uint32_t other = s->pair[p - 1].other;

			if (buf[other].first >= buf[i].first && begun[other] > key[i])
				key[i] = begun[other];
		}
	}
	return key;
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

/* The first buffer that ends highest. */
static size_t
highest(const qn_buffer *buf, size_t n)
{
	size_t top = 0;

	for (size_t i = 1; i < n; i++)
		if (buf[i].offset + buf[i].bytes > buf[top].offset + buf[top].bytes)
			top = i;
	return top;
}

static void
take_places(qn_buffer *buf, const qn_buffer *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf[i].offset = from[i].offset;
}

/* The best of these places, which need `bytes`, and of those of rounds in which what ended highest before goes first. */
static size_t
promote(qn_buffer *buf, size_t n, const beside *s, size_t bytes, size_t least, qn_arena *a)
{
	if (bytes == least)
		return bytes;
	const uint64_t most = PAIRS_OF_ROUNDS / ((uint64_t)s->npair + n + 1);
	qn_buffer *other = QN_NEW(a, qn_buffer, n + 1);
	size_t *key = QN_NEW(a, size_t, n + 1);

	for (size_t i = 0; i < n; i++)
		other[i] = buf[i];
	for (size_t round = 0; round < ROUNDS && round <= most && bytes > least; round++) {
		const size_t need = in_order(other, n, s, key);

		if (need < bytes) {
			take_places(buf, other, n);
			bytes = need;
		}
		key[highest(other, n)] = round + 1;
	}
	return bytes;
}

/* The better of these places, which need `bytes`, and of those in other orders; returns what they need. */
static size_t
improve(qn_buffer *buf, size_t n, size_t nstep, uint64_t pairs, size_t bytes, qn_arena *a)
{
	qn_buffer *other = QN_NEW(a, qn_buffer, n + 1);
	const size_t least = qn_buffers_alive(buf, n, nstep, a, NULL);
	beside s = {0};

	for (size_t i = 0; i < n; i++)
		other[i] = buf[i];
	find_pairs(&s, buf, n, pairs, a);
	s.todo = QN_NEW(a, pending, n + 1);
	s.near = QN_NEW(a, qn_buffer *, n + 1);
	s.placed = QN_NEW(a, bool, n + 1);
	size_t need = in_order(other, n, &s, NULL);
	if (need <= bytes) {
		take_places(buf, other, n);
		bytes = need;
	}
	if (bytes > least && from_both_ends(other, n, least, a)) {
		take_places(buf, other, n);
		return least;
	}
	need = bytes > least ? in_order(other, n, &s, fullness(buf, n, &s, a)) : bytes;
	if (need < bytes) {
		take_places(buf, other, n);
		bytes = need;
	}
	return promote(buf, n, &s, bytes, least, a);
}

size_t
qn_buffers_place(qn_buffer *buf, size_t n, size_t nstep, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	uint64_t pairs = 0;
	size_t bytes = qn_place_earlier_first(buf, n, nstep, tmp, &pairs);

	if (pairs <= PAIRS + PAIRS_PER_BUFFER * (uint64_t)n)
		bytes = improve(buf, n, nstep, pairs, bytes, tmp);
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
