/* SPDX-License-Identifier: Apache-2.0 */
/* test_place.c - places of buffers against the definition, which looks at every pair; and very many
 * buffers.
 *
 *   order    A B C …          b goes into the smallest gap between all that are placed and live beside it */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codegen/place.h"
#include "tests/unit/host_heap.h"

enum { FEW = 60, STEPS = 40, ROUNDS = 3000, MANY = 200000, PROMOTIONS = 64 };

static uint32_t
next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

static bool
together(const qn_buffer *a, const qn_buffer *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/* The lowest place of the smallest gap: every end of a placed buffer, and 0, is looked at. */
static size_t
place_one(const qn_buffer *buf, size_t n, const bool *placed, const qn_buffer *b)
{
	size_t best = SIZE_MAX, at = SIZE_MAX;

	for (size_t i = 0; i <= n; i++) {
		size_t from = i < n ? buf[i].offset + buf[i].bytes : 0, to = SIZE_MAX;
		bool fits = i == n || (placed[i] && together(&buf[i], b));

		for (size_t k = 0; fits && k < n; k++) {
			if (!placed[k] || !together(&buf[k], b))
				continue;
			if (buf[k].offset + buf[k].bytes > from && buf[k].offset <= from)
				fits = false;
			if (buf[k].offset >= from && buf[k].offset < to)
				to = buf[k].offset;
		}
		if (!fits || to - from < b->bytes)
			continue;
		if (to - from < best || (to - from == best && from < at)) {
			best = to - from;
			at = from;
		}
	}
	return at;
}

enum order { EARLIER, LARGER, FULLER };

/* The most bytes that live at a step of the buffer's life. */
static size_t
fullness(const qn_buffer *buf, size_t n, const qn_buffer *b)
{
	size_t most = 0;

	for (size_t step = b->first; step <= b->last; step++) {
		size_t sum = 0;

		for (size_t i = 0; i < n; i++)
			sum += buf[i].first <= step && step <= buf[i].last ? buf[i].bytes : 0;
		most = sum > most ? sum : most;
	}
	return most;
}

/* The place of each buffer, by keys, of equal ones the larger first unless `earlier`. */
static size_t
model_of(qn_buffer *buf, size_t n, const size_t *key, bool earlier)
{
	bool placed[FEW] = {false};
	size_t total = 0;

	for (size_t round = 0; round < n; round++) {
		size_t x = n;

		for (size_t i = 0; i < n; i++)
			if (!placed[i] &&
			    (x == n || key[i] > key[x] ||
			     (key[i] == key[x] && !earlier && buf[i].bytes > buf[x].bytes)))
				x = i;
		buf[x].offset = place_one(buf, n, placed, &buf[x]);
		placed[x] = true;
		if (buf[x].offset + buf[x].bytes > total)
			total = buf[x].offset + buf[x].bytes;
	}
	return total;
}

static size_t
model(qn_buffer *buf, size_t n, enum order order)
{
	size_t key[FEW] = {0};

	for (size_t i = 0; order == FULLER && i < n; i++)
		key[i] = fullness(buf, n, &buf[i]);
	return model_of(buf, n, key, order == EARLIER);
}

/* Larger first, and what ended highest before all others, until the best of these rounds, which is in `best`, is
 * least; bytes: what is to be bettered. */
static size_t
model_promoted(const qn_buffer *buf, size_t n, size_t bytes, size_t least, qn_buffer *best)
{
	size_t key[FEW] = {0};
	qn_buffer now[FEW];

	memcpy(now, buf, n * sizeof *buf);
	for (size_t round = 1; round <= PROMOTIONS && bytes > least; round++) {
		const size_t need = model_of(now, n, key, false);
		size_t top = 0;

		if (need < bytes) {
			memcpy(best, now, n * sizeof *now);
			bytes = need;
		}
		while (now[top].offset + now[top].bytes < need)
			top++;
		key[top] = round;
	}
	return bytes;
}

/* In their order on a shelf of this height, each in the smallest gap, the lowest of equal ones; in the topmost, below
 * which something lies, at its upper end.  False when one does not fit. */
static bool
from_both_ends(qn_buffer *buf, size_t n, size_t height)
{
	for (size_t i = 0; i < n; i++) {
		size_t end = 0, best = SIZE_MAX;

		for (bool top = false; !top;) {
			const qn_buffer *next = NULL; /* above the gap */

			for (size_t k = 0; k < i; k++)
				if (buf[k].last >= buf[i].first && buf[k].offset >= end &&
				    (next == NULL || buf[k].offset < next->offset))
					next = &buf[k];
			top = next == NULL;
			size_t room = (top ? height : next->offset) - end;
			if (room >= buf[i].bytes && room < best) {
				best = room;
				buf[i].offset = top && end > 0 ? height - buf[i].bytes : end;
			}
			end = top ? end : next->offset + next->bytes;
		}
		if (best == SIZE_MAX)
			return false;
	}
	return true;
}

/* All lie below `bytes`, and no two that live at the same time overlap. */
static void
assert_apart(const qn_buffer *buf, size_t n, size_t bytes)
{
	for (size_t i = 0; i < n; i++) {
		assert_true(buf[i].offset + buf[i].bytes <= bytes);
		for (size_t k = 0; k < i; k++)
			assert_true(!together(&buf[i], &buf[k]) ||
				    buf[i].offset + buf[i].bytes <= buf[k].offset ||
				    buf[k].offset + buf[k].bytes <= buf[i].offset);
	}
}

static void
as_defined(void **state)
{
	qn_arena *a = *state;
	uint32_t seed = 7;
	int larger = 0, earlier = 0, ends = 0, fuller = 0, promoted = 0;

	for (int round = 0; round < ROUNDS; round++) {
		qn_buffer buf[FEW], early[FEW], large[FEW], both[FEW], full[FEW];
		size_t n = next(&seed) % (FEW + 1), step = 0;
		uint32_t life = 1 + next(&seed) % STEPS, sizes = 1 + next(&seed) % 12;

		for (size_t i = 0; i < n; i++) {
			step += step + 1 < STEPS && next(&seed) % 2 == 0;
			buf[i] = (qn_buffer){.bytes = 16 * (1 + next(&seed) % sizes),
					     .first = step,
					     .last = step + next(&seed) % life};
			early[i] = large[i] = both[i] = full[i] = buf[i];
		}
		size_t bytes = qn_buffers_place(buf, n, 2 * STEPS, a);
		size_t if_early = model(early, n, EARLIER), if_large = model(large, n, LARGER);
		size_t least = qn_buffers_alive(buf, n, 2 * STEPS, a, NULL);
		const qn_buffer *want = if_large <= if_early ? large : early;

		size_t if_one = if_large <= if_early ? if_large : if_early;
		if (if_one > least && from_both_ends(both, n, least)) {
			want = both;
			if_one = least;
			assert_apart(buf, n, bytes);
			ends++;
		} else if (if_one > least) {
			const size_t if_full = model(full, n, FULLER);

			want = if_full < if_one ? full : want;
			fuller += if_full < if_one;
			if_one = if_full < if_one ? if_full : if_one;
			const size_t if_promoted = model_promoted(large, n, if_one, least, both);
			want = if_promoted < if_one ? both : want;
			promoted += if_promoted < if_one;
			if_one = if_promoted;
		}
		assert_int_equal(bytes, if_one);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(buf[i].offset, want[i].offset);
		assert_true(least <= bytes);
		larger += if_large < if_early;
		earlier += if_early < if_large;
	}
	assert_true(larger > 10 && earlier > 10 && ends > 10 && fuller > 10 && promoted > 10);
}

/* Of several steps that need as much, the first is the one that is named; of none, step 0. */
static void
largest_step(void **state)
{
	const qn_buffer buf[] = {{.bytes = 16, .first = 0, .last = 1},
				 {.bytes = 32, .first = 1, .last = 2},
				 {.bytes = 16, .first = 2, .last = 3},
				 {.bytes = 48, .first = 4, .last = 4}};
	size_t step = 9;

	assert_int_equal(qn_buffers_alive(buf, 4, 5, *state, &step), 48);
	assert_int_equal(step, 1);
	assert_int_equal(qn_buffers_alive(buf, 0, 5, *state, &step), 0);
	assert_int_equal(step, 0);
}

/* Of a chain never more is needed than for two that live at a time. */
static void
chains(void **state)
{
	qn_arena *a = *state;
	uint32_t seed = 3;

	for (int round = 0; round < ROUNDS; round++) {
		qn_buffer buf[FEW];
		size_t n = 1 + next(&seed) % FEW;

		for (size_t i = 0; i < n; i++)
			buf[i] = (qn_buffer){
				.bytes = 16 * (1 + next(&seed) % 12), .first = i, .last = i + 1};
		size_t bytes = qn_buffers_place(buf, n, n + 1, a);
		assert_int_equal(bytes, qn_buffers_alive(buf, n, n + 1, a, NULL));
		assert_apart(buf, n, bytes);
	}
}

/* More than 10^10 pairs: only what does not look at each ends. */
static void
very_many(void **state)
{
	qn_arena *a = *state;
	qn_buffer *buf = QN_NEW(a, qn_buffer, MANY);
	size_t most = 0;

	for (size_t i = 0; i < MANY; i++)
		buf[i] = (qn_buffer){
			.bytes = 16 + 16 * (i % 5), .first = i, .last = MANY + i % (MANY / 2)};
	most = qn_buffers_alive(buf, MANY, 2 * (size_t)MANY, a, NULL);
	assert_int_equal(qn_buffers_place(buf, MANY, 2 * (size_t)MANY, a), most);
	/* every other one dies at once: what comes later goes there */
	for (size_t i = 0; i < MANY; i++) {
		buf[i].last = i % 2 == 0 ? i : MANY;
		buf[i].bytes = 16;
	}
	assert_int_equal(qn_buffers_place(buf, MANY, MANY + 1, a), 16 * (MANY / 2));
}

static int
open_arena(void **state)
{
	static qn_arena a;
	static qn_env env;
	static heap h;

	env = (qn_env){.alloc = host_alloc, .alloc_user = &h};
	qn_arena_init(&a, &env);
	*state = &a;
	return 0;
}

static int
close_arena(void **state)
{
	qn_arena_release(*state);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(as_defined, open_arena, close_arena),
		cmocka_unit_test_setup_teardown(largest_step, open_arena, close_arena),
		cmocka_unit_test_setup_teardown(chains, open_arena, close_arena),
		cmocka_unit_test_setup_teardown(very_many, open_arena, close_arena),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
