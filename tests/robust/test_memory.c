/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory.c - every allocation of a job fails once, whichever library asks for it: a status,
 * no crash, no leak, no part of an output.
 *
 *   allocation    1  2  3  4 … 1500
 *   run 1         x  .  .  .            x fails        and once more where all later ones
 *   run 2         .  x  .  .                           fail with it
 *
 * Arenas take chunks of 128 bytes here, so that there are many.  The quick tier takes all of the
 * first hundred, each fifth of the first 2000, one of 25 of the first 6000 and then one of 100;
 * QUERN_FULL=1 takes all of the first 4000, and then ever fewer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/context.h"
#include "tests/robust/heap.h"
#include "tests/robust/job.h"

enum { CHUNK = 128, ENOUGH = 1000000 };

static workshop w;

/* One run of job i; returns how many allocations it asked for. */
static size_t
run_once(size_t i, size_t fail_at, bool and_after, qn_status *status)
{
	char when[80];
	size_t calls;
	bool told = true;

	(void)snprintf(when, sizeof when, "allocation %zu%s", fail_at,
		       and_after ? " and all after it" : "");
	job_clear(&w, i);
	heap_arm(fail_at, and_after);
	qn_ctx *ctx = qn_open(NULL);
	*status = QN_ENOMEM;
	if (ctx != NULL) {
		ctx->env.chunk_bytes = CHUNK;
		*status = jobs[i].run(ctx, &w);
		told = *status == QN_OK || qn_diag_count(ctx) > 0;
	}
	qn_close(ctx);
	size_t lost = heap_disarm(&calls);
	if (*status != QN_OK && *status != QN_ENOMEM)
		fail_msg("%s, %s: status %d", jobs[i].name, when, (int)*status);
	if (!told)
		fail_msg("%s, %s: no diagnostic", jobs[i].name, when);
	if (lost != 0)
		fail_msg("%s, %s: %zu blocks lost", jobs[i].name, when, lost);
	job_check(&w, i, *status, when);
	return calls;
}

/* How many allocations further the next fault is. */
static size_t
step(bool all, size_t at)
{
	if (all)
		return at < 4000 ? 1 : at / 400;
	if (at < 100)
		return 1;
	if (at < 2000)
		return 5;
	return at < 6000 ? 25 : 100;
}

static void
sweep(void **state)
{
	const char *full = getenv("QUERN_FULL");
	bool all = full != NULL && strcmp(full, "1") == 0;
	size_t i = *(size_t *)*state;
	qn_status status;
	size_t n = run_once(i, 0, false, &status);
	size_t failed = 0;

	assert_int_equal(status, QN_OK);
	assert_true(n < ENOUGH);
	for (size_t at = 1; at <= n; at += step(all, at)) {
		(void)run_once(i, at, false, &status);
		failed += status == QN_ENOMEM;
		(void)run_once(i, at, true, &status);
		assert_int_equal(status, QN_ENOMEM);
	}
	print_message("%s: %zu allocations, %zu of the runs without one failed\n", jobs[i].name, n,
		      failed);
	assert_true(n > 200 && failed > 100);
	/* none fails behind the last */
	(void)run_once(i, n + 1, true, &status);
	assert_int_equal(status, QN_OK);
}

/* The fault is where all allocations pass: cJSON's are among them. */
static void
counts_all(void **state)
{
	/* through pointers, so that no compiler takes the calls away */
	void *(*volatile take)(size_t) = malloc;
	void *(*volatile take_zeroed)(size_t, size_t) = calloc;
	size_t calls;
	void *p, *q;

	(void)state;
	heap_arm(2, false);
	p = take(10);
	q = take_zeroed(1, 10);
	void *r = take(20);
	size_t lost = heap_disarm(&calls);
	assert_non_null(p);
	assert_null(q);
	assert_non_null(r);
	assert_int_equal(calls, 3);
	assert_int_equal(lost, 2);
	free(p);
	free(r);
}

static int
begin(void **state)
{
	(void)state;
	job_begin(&w, "memory");
	return 0;
}

static int
end(void **state)
{
	(void)state;
	job_end(&w);
	return 0;
}

/* All jobs, or the one that is named. */
int
main(int argc, char **argv)
{
	enum { MOST = 32 };
	static size_t which[MOST];
	struct CMUnitTest tests[MOST + 1] = {cmocka_unit_test(counts_all)};
	const size_t first = argc > 1 ? job_find(argv[1]) : 0,
		     end_of = argc > 1 ? first + 1 : njobs;
	size_t n = 1;

	if (first >= njobs || end_of - first > MOST) {
		(void)fprintf(stderr, "no job '%s', or more than %d\n", argc > 1 ? argv[1] : "",
			      (int)MOST);
		return 1;
	}
	for (size_t i = first; i < end_of; i++, n++) {
		which[n - 1] = i;
		tests[n] = (struct CMUnitTest){
			.name = jobs[i].name, .test_func = sweep, .initial_state = &which[n - 1]};
	}
	return _cmocka_run_group_tests("memory", tests, n, begin, end);
}
