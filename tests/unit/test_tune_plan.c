/* SPDX-License-Identifier: Apache-2.0 */
/* test_tune_plan.c - picks of the least noise within a budget, compared with all that there are; recipes and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/tune.h"
#include "ir/diag.h"

enum { ROWS = 4 };

typedef struct fixture {
	qn_env env;
	qn_diags diags;
	qn_arena a;
	qn_tune_row row[ROWS];
	qn_tune_table t;
	uint32_t seed;
} fixture;

static uint32_t
draw(fixture *f, uint32_t n)
{
	f->seed = f->seed * 1664525u + 1013904223u;
	return (f->seed >> 8) % n;
}

/* Noise falls with bytes, more or less; one row has no weights, one lacks a storage. */
static void
make(fixture *f)
{
	static const char *const name[ROWS] = {"conv[1]", "relu*", "fc?", "out"};

	f->t = (qn_tune_table){
		.n = ROWS, .row = f->row, .wide = true, .bytes = 50, .instructions = 7};
	for (size_t i = 0; i < ROWS; i++) {
		qn_tune_row *r = &f->row[i];

		*r = (qn_tune_row){.name = name[i], .op = "dense", .has_weights = i != 1};
		r->data[0] = draw(f, 1000) * 1e-5;
		r->data[1] = r->data[0] / 256;
		r->wide_instructions = 5000 + draw(f, 500);
		for (size_t k = 0; k < QN_TUNE_STORAGES; k++) {
			r->can[k] = i == 1 ? k == 0 : !(i == 2 && k == 3);
			r->bytes[k] = i == 1 ? 0 : 10 + draw(f, 40);
			r->weights[k] =
				i == 1 ? 0 : (60 - (double)r->bytes[k]) * draw(f, 100) * 1e-5;
			r->instructions[k] = 100 + draw(f, 900);
		}
		r->wide_bytes = r->bytes[0] + (i != 1 ? 4 : 0);
	}
}

/* The least noise of all picks within the budget; -1: there are none. */
static double
least(const fixture *f, const qn_tune_wish *w, size_t i, qn_tune_pick *pick)
{
	qn_tune_way way[QN_TUNE_WAYS];
	double best = -1;

	if (i == ROWS) {
		const qn_tune_sum s = qn_tune_sum_of(&f->t, pick);

		return (w->by_instructions ? s.instructions : s.bytes) <= w->budget ? s.noise : -1;
	}
	for (size_t n = qn_tune_ways_of(&f->row[i], w->wide, way); n-- > 0;) {
		pick[i] = way[n].pick;
		const double one = least(f, w, i + 1, pick);

		if (one >= 0 && (best < 0 || one < best))
			best = one;
	}
	return best;
}

static void
finds_the_least(void **state)
{
	fixture *f = *state;
	qn_tune_pick pick[ROWS];
	size_t found = 0, none = 0;

	for (uint32_t round = 0; round < 60; round++) {
		f->seed = round;
		make(f);
		const qn_tune_wish w = {.wide = round % 2 == 1, .budget = 50 + draw(f, 160)};
		const double want = least(f, &w, 0, pick);
		const qn_tune_pick *have = qn_tune_plan(&f->t, &w, &f->a);

		assert_int_equal(have == NULL, want < 0);
		none += have == NULL;
		if (have == NULL)
			continue;
		found++;
		const qn_tune_sum s = qn_tune_sum_of(&f->t, have);
		assert_true(s.bytes <= w.budget);
		assert_true(s.noise < want + 1e-12);
	}
	assert_true(found > 20 && none > 5);
}

/* The range of instructions is more than the steps, so the least may be missed by little; the budget is kept. */
static void
keeps_a_budget_of_instructions(void **state)
{
	fixture *f = *state;
	qn_tune_pick pick[ROWS];

	for (uint32_t round = 0; round < 40; round++) {
		f->seed = round;
		make(f);
		const qn_tune_wish w = {
			.by_instructions = true, .wide = true, .budget = 1500 + draw(f, 12000)};
		const qn_tune_pick *have = qn_tune_plan(&f->t, &w, &f->a);
		const double want = least(f, &w, 0, pick);

		if (have == NULL)
			continue;
		const qn_tune_sum s = qn_tune_sum_of(&f->t, have);
		assert_true(s.instructions <= w.budget);
		assert_true(s.noise >= want - 1e-12 && s.noise < 2 * want + 1e-3);
	}
}

static void
recipes_are_read_back(void **state)
{
	fixture *f = *state;

	for (uint32_t round = 0; round < 50; round++) {
		qn_tune_pick pick[ROWS];

		f->seed = round;
		make(f);
		for (size_t i = 0; i < ROWS; i++)
			pick[i] = (qn_tune_pick){
				f->row[i].has_weights ? (uint8_t)draw(f, QN_TUNE_STORAGES) : 0,
				draw(f, 3) == 0};
		const qn_tune_repairs r = {(qn_weight_rounding)draw(f, 3), draw(f, 2) == 0,
					   draw(f, 2) == 0};
		const char *text = qn_tune_recipe(&f->t, pick, &r, &f->a);
		const qn_tune_repairs same = qn_tune_repairs_of(text, &f->a);
		assert_true(qn_tune_recipe_is_ours(text, &f->a));
		assert_true(same.rounding == r.rounding && same.bias == r.bias &&
			    same.equalize == r.equalize);
		assert_string_equal(qn_tune_repaired(text, &r, &f->a), text);
		const qn_tune_pick *back = qn_tune_picks_of(&f->t, text, &f->a);
		for (size_t i = 0; i < ROWS; i++) {
			assert_int_equal(back[i].storage, pick[i].storage);
			assert_int_equal(back[i].wide, pick[i].wide);
		}
		/* names are no patterns */
		assert_null(strstr(text, "\"relu*\""));
	}
}

static void *
host_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size > 0)
		return realloc(p, new_size);
	free(p);
	return NULL;
}

static int
set_up(void **state)
{
	static fixture f;

	f = (fixture){.env = {.alloc = host_alloc, .diags = &f.diags}};
	qn_arena_init(&f.a, &f.env);
	*state = &f;
	return 0;
}

static int
clean_up(void **state)
{
	fixture *f = *state;

	qn_arena_release(&f->a);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(finds_the_least, set_up, clean_up),
		cmocka_unit_test_setup_teardown(keeps_a_budget_of_instructions, set_up, clean_up),
		cmocka_unit_test_setup_teardown(recipes_are_read_back, set_up, clean_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
