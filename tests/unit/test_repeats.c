/* SPDX-License-Identifier: Apache-2.0 */
/* Where a list repeats itself: lists by hand, and random ones against the definition. */
#include "tests/e2e/build.h"

#include <string.h>

#include "codegen/repeats.h"

enum { MOST = 64 };

typedef struct expected {
	const char *
		list; /* an item for each letter, ' ' for one that is equal to nothing; capitals weigh nothing */
	uint64_t least;
	size_t n;
	qn_repeat want[3];
} expected;

static const expected rows[] = {
	{"", 1, 0, {{0}}},
	{"abcdef", 1, 0, {{0}}},
	{"xabcabcabcy", 1, 1, {{1, 3, 3, 0}}},
	{"xabcabcaby", 1, 1, {{1, 3, 2, 2}}}, /* abc, bca or cab */
	{"aaaa", 1, 1, {{0, 1, 4, 0}}},
	{"abababab", 1, 1, {{0, 2, 4, 0}}}, /* not abab twice, which saves less */
	{"abcabc", 4, 0, {{0}}},
	{"abcabcabc", 4, 1, {{0, 3, 3, 0}}},
	{"AbAb", 2, 0, {{0}}},
	{"AAAA", 0, 0, {{0}}}, /* nothing is saved */
	{"ab abab", 1, 1, {{3, 2, 2, 0}}},
	{"a a a", 1, 0, {{0}}},
	{"aabcdbcdefgefghh", 2, 2, {{2, 3, 2, 0}, {8, 3, 2, 0}}},
	{"aabcdbcdefgefghh", 1, 3, {{0, 1, 2, 0}, {2, 3, 2, 0}, {8, 3, 2, 0}}},
};

static size_t
find(const char *list, uint64_t least, qn_arena *a, qn_repeat **out)
{
	uint32_t item[MOST], weight[MOST];
	const size_t n = strlen(list);

	for (size_t i = 0; i < n; i++) {
		item[i] = list[i] == ' ' ? 0 : (uint32_t)list[i];
		weight[i] = list[i] < 'A' || list[i] > 'Z';
	}
	return qn_repeats_find(item, weight, n, least, a, out);
}

static void
by_hand(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		builder b;
		qn_repeat *got;

		build_begin(&b, "net", 1);
		const size_t n = find(rows[i].list, rows[i].least, &b.arena, &got);
		print_message("'%s'\n", rows[i].list);
		assert_true(n >= rows[i].n);
		for (size_t k = 0; k < rows[i].n; k++) {
			assert_int_equal(got[k].begin, rows[i].want[k].begin);
			assert_int_equal(got[k].length, rows[i].want[k].length);
			assert_int_equal(got[k].count, rows[i].want[k].count);
			assert_int_equal(got[k].slack, rows[i].want[k].slack);
		}
		assert_true(rows[i].n == QN_COUNT(rows[i].want) || n == rows[i].n);
		build_end(&b);
	}
}

/* Each is what it says, wherever it begins, and they do not overlap. */
static void
check(const char *list, const qn_repeat *r, size_t n)
{
	size_t done = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t equal = r[i].length * (r[i].count - 1) + r[i].slack;

		assert_true(r[i].begin >= done && r[i].count >= 2 && r[i].slack < r[i].length);
		done = r[i].begin + equal + r[i].length;
		assert_true(done <= strlen(list));
		for (size_t k = r[i].begin; k < r[i].begin + equal; k++) {
			assert_int_equal(list[k], list[k + r[i].length]);
			assert_int_not_equal(list[k], ' ');
		}
	}
}

/* What the best single one saves, by looking at all of them. */
static size_t
best_of(const char *list)
{
	const size_t n = strlen(list);
	size_t best = 0;

	for (size_t begin = 0; begin < n; begin++)
		for (size_t length = 1; begin + 2 * length <= n; length++) {
			size_t k = begin;

			while (k + length < n && list[k] != ' ' && list[k] == list[k + length])
				k++;
			const size_t saved = (k - begin) / length * length;
			best = saved > best ? saved : best;
		}
	return best;
}

static void
random_lists(void **state)
{
	builder b;
	size_t found = 0;

	(void)state;
	build_begin(&b, "net", 7);
	for (int round = 0; round < 2000; round++) {
		const int64_t n = build_random(&b, 0, MOST - 2), letters = build_random(&b, 1, 4);
		char list[MOST] = "";
		qn_repeat *r;
		size_t most = 0;

		for (int64_t i = 0; i < n; i++)
			list[i] = (char)(build_random(&b, 0, 20) == 0
						 ? ' '
						 : 'a' + build_random(&b, 0, letters - 1));
		const size_t count = find(list, 1, &b.arena, &r);
		check(list, r, count);
		for (size_t i = 0; i < count; i++) {
			const size_t saved = r[i].length * (r[i].count - 1);
			most = saved > most ? saved : most;
		}
		assert_int_equal(most, best_of(list));
		found += count;
	}
	assert_true(found > 2000);
	build_end(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(random_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
