/* SPDX-License-Identifier: Apache-2.0 */
/* test_contexts.c - contexts know nothing of each other: two of them with heaps of their own, step by step in
 * turns in one thread, or side by side in two, give the files that each gives alone, and no block
 * of one heap comes back to the other. */
#include <pthread.h>

#include "tests/unit/host_fixture.h"
#include "quern/measure.h"

enum { ROUNDS = 4 };

static void
run_float(host *h)
{
	qn_array *y;

	assert_int_equal(qn_run(h->m, 1, &h->x, 1, 1, &y), QN_OK);
	assert_int_equal(qn_array_dim(y, 0), 20);
	qn_array_free(y);
}

/* A mistake, whose report must stay in its own context. */
static void
slip(host *h)
{
	qn_model *none;

	assert_int_equal(qn_load(h->ctx, h->step < 0.2f ? "a.txt" : "b.txt", &none), QN_EIO);
	assert_int_equal(qn_diag_count(h->ctx), 1);
	assert_string_equal(qn_diag_get(h->ctx, 0).place, h->step < 0.2f ? "a.txt" : "b.txt");
	qn_diag_clear(h->ctx);
}

static void
emit_well(host *h)
{
	host_emit(h);
	assert_int_equal(h->status, QN_OK);
	assert_int_equal(qn_diag_count(h->ctx), 0);
}

static void (*const steps[])(host *) = {host_open,    host_build, run_float, slip,
					host_compile, run_float,  emit_well, host_close};

enum { STEPS = sizeof steps / sizeof steps[0] };

static void
expect_balance(const host *h)
{
	assert_int_equal(h->live, 0);
	assert_int_equal(h->blocks, 0);
	assert_int_equal(h->foreign, 0);
}

static void
expect_same_files(const host *a, const host *b)
{
	assert_int_equal(a->nfile, HOST_FILES);
	assert_int_equal(b->nfile, HOST_FILES);
	for (size_t i = 0; i < HOST_FILES; i++) {
		assert_string_equal(a->file[i].name, b->file[i].name);
		assert_int_equal(a->file[i].n, b->file[i].n);
		assert_memory_equal(a->file[i].text, b->file[i].text, a->file[i].n);
	}
}

static void *
run_all(void *arg)
{
	for (size_t s = 0; s < STEPS; s++)
		steps[s](arg);
	return NULL;
}

/* Two hosts, and the same two each for itself. */
static void
prepare(host alone[2], host both[2])
{
	for (int i = 0; i < 2; i++) {
		alone[i] = both[i] = (host){.step = i == 0 ? 0.1f : 0.3f};
		run_all(&alone[i]);
		expect_balance(&alone[i]);
	}
}

static void
check(host alone[2], host both[2])
{
	for (int i = 0; i < 2; i++) {
		expect_balance(&both[i]);
		expect_same_files(&alone[i], &both[i]);
	}
	assert_true(both[0].file[2].n != both[1].file[2].n ||
		    memcmp(both[0].file[2].text, both[1].file[2].text, both[0].file[2].n) != 0);
	for (int i = 0; i < 2; i++) {
		host_drop_files(&alone[i]);
		host_drop_files(&both[i]);
	}
}

static void
take_turns_in_one_thread(void **state)
{
	host alone[2], both[2];

	(void)state;
	prepare(alone, both);
	for (size_t s = 0; s < STEPS; s++)
		for (int i = 0; i < 2; i++)
			steps[s](&both[i]);
	check(alone, both);
}

static void
run_in_two_threads(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		host alone[2], both[2];
		pthread_t thread[2];

		prepare(alone, both);
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_create(&thread[i], NULL, run_all, &both[i]), 0);
		for (int i = 0; i < 2; i++)
			assert_int_equal(pthread_join(thread[i], NULL), 0);
		check(alone, both);
	}
}

/* A context moves from one thread to another between calls. */
static void *
run_step(void *arg)
{
	void **both = arg;

	(*(void (*const *)(host *))both[0])(both[1]);
	return NULL;
}

static void
move_between_threads(void **state)
{
	host alone[2], both[2];

	(void)state;
	prepare(alone, both);
	for (size_t s = 0; s < STEPS; s++)
		for (int i = 0; i < 2; i++) {
			void *arg[2] = {(void *)(uintptr_t)&steps[s], &both[i]};
			pthread_t thread;

			assert_int_equal(pthread_create(&thread, NULL, run_step, arg), 0);
			assert_int_equal(pthread_join(thread, NULL), 0);
		}
	check(alone, both);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(take_turns_in_one_thread),
		cmocka_unit_test(run_in_two_threads),
		cmocka_unit_test(move_between_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
