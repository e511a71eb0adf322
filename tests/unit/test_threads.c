/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c - samples side by side: the same bytes as one after the other, the host's
 * allocator called by one thread at a time, and memory that runs out in any thread. */
#include <fenv.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/diag.h"
#include "quern/quern.h"
#include "runtime/parallel.h"

/* Unlocked on purpose: ThreadSanitizer sees when two threads call it at once. */
typedef struct heap {
	size_t live, calls;
	size_t fail_at; /* the call that returns NULL; 0: none */
} heap;

#define MOST ((size_t)1 << 36) /* bytes of one object */

static void *
host_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	heap *h = user;

	if (new_size > MOST || (new_size > 0 && ++h->calls == h->fail_at))
		return NULL;
	h->live -= p != NULL ? old_size : 0;
	h->live += new_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

static const char *
digits(const char *name)
{
	static char path[512];
	const char *source = getenv("QUERN_SOURCE");

	(void)snprintf(path, sizeof path, "%s/examples/digits/%s", source != NULL ? source : ".",
		       name);
	return path;
}

static qn_ctx *
context(heap *h, int threads)
{
	qn_ctx *ctx =
		qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = h, .threads = threads});

	assert_non_null(ctx);
	return ctx;
}

static qn_array *
array(qn_ctx *ctx, const char *name)
{
	qn_array *x = NULL;

	assert_int_equal(qn_array_load(ctx, digits(name), &x), QN_OK);
	return x;
}

static qn_model *
model(qn_ctx *ctx)
{
	qn_model *m = NULL;

	assert_int_equal(qn_load(ctx, digits("digits.json"), &m), QN_OK);
	return m;
}

typedef struct text {
	char *s;
	size_t n;
} text;

static int
append(void *user, const char *s, size_t n)
{
	text *t = user;
	char *more = realloc(t->s, t->n + n);

	assert_non_null(more);
	memcpy(more + t->n, s, n);
	*t = (text){more, t->n + n};
	return 0;
}

/* What a run of all commands leaves: the integer model's text, results, accuracy. */
typedef struct outcome {
	text model;
	size_t bytes;
	void *real, *wave; /* results of the integer and of the float model */
	qn_accuracy accuracy;
} outcome;

static void *
results(qn_model *m, qn_array *x, size_t *bytes)
{
	qn_array *y = NULL;

	assert_int_equal(qn_run(m, 1, &x, 1, 1, &y), QN_OK);
	assert_string_equal(qn_array_dtype(y), "f32");
	*bytes = (size_t)(qn_array_dim(y, 0) * qn_array_dim(y, 1)) * sizeof(float);
	void *copy = malloc(*bytes);
	assert_non_null(copy);
	memcpy(copy, qn_array_data(y), *bytes);
	return copy;
}

static outcome
everything(int threads, qn_method_kind method)
{
	heap h = {0};
	outcome o = {0};
	qn_ctx *ctx = context(&h, threads);
	qn_model *m = model(ctx);
	qn_array *calib = array(ctx, "calib.npy"), *x = array(ctx, "test_x.npy");
	qn_compile_opts opts = {.calib = &calib, .ncalib = 1, .method = method};

	o.wave = results(m, x, &o.bytes);
	assert_int_equal(qn_compile(m, &opts), QN_OK);
	o.real = results(m, x, &o.bytes);
	assert_int_equal(qn_evaluate(m, 1, &x, array(ctx, "test_y.npy"), &o.accuracy), QN_OK);
	assert_int_equal(qn_print(m, QN_FORMAT_JSON, append, &o.model), QN_OK);
	qn_close(ctx);
	assert_int_equal(h.live, 0);
	return o;
}

static void
drop(outcome *o)
{
	free(o->model.s);
	free(o->real);
	free(o->wave);
}

static void
test_same_bytes(void **state)
{
	static const int threads[] = {4, 7};

	(void)state;
	for (int method = QN_MINMAX; method <= QN_PERCENTILE; method++) {
		outcome one = everything(1, (qn_method_kind)method);

		for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
			/* a host's rounding must not reach the threads */
			assert_int_equal(fesetround(FE_UPWARD), 0);
			outcome many = everything(threads[i], (qn_method_kind)method);
			assert_int_equal(fesetround(FE_TONEAREST), 0);

			assert_int_equal(one.model.n, many.model.n);
			assert_memory_equal(one.model.s, many.model.s, one.model.n);
			assert_memory_equal(one.wave, many.wave, one.bytes);
			assert_memory_equal(one.real, many.real, one.bytes);
			assert_int_equal(one.accuracy.samples, many.accuracy.samples);
			assert_int_equal(one.accuracy.correct, many.accuracy.correct);
			drop(&many);
		}
		drop(&one);
	}
}

/* Allocations of compiling and running fail, those of the workers among them: every one of a run,
 * every ninth of a compilation. */
static void
test_memory_runs_out(void **state)
{
	size_t failures = 0;

	(void)state;
	for (int run = 0; run < 2; run++) {
		qn_status status = QN_ENOMEM;

		for (size_t n = 1; status != QN_OK; n += run ? 1 : 9, failures++) {
			heap h = {0};
			qn_ctx *ctx = context(&h, 4);
			qn_model *m = model(ctx);
			qn_array *calib = array(ctx, "calib.npy"), *y = NULL;

			h.fail_at = h.calls + n;
			status = run ? qn_run(m, 1, &calib, 1, 1, &y)
				     : qn_compile(m,
						  &(qn_compile_opts){.calib = &calib, .ncalib = 1});
			assert_true(status == QN_OK || status == QN_ENOMEM);
			qn_close(ctx);
			assert_int_equal(h.live, 0);
		}
	}
	assert_true(failures > 10);
}

/* ---- qn_parallel itself ---- */

enum { WORKERS = 5 };

typedef struct job {
	size_t done[WORKERS];
	size_t starve; /* this worker asks for more memory than there is */
	size_t fail;   /* this one and those after it return QN_EIO */
} job;

static qn_status
share(void *user, size_t worker, qn_arena *scratch)
{
	job *j = user;
	char *room = QN_NEW(scratch, char, 1 << 20);

	room[worker] = 1;
	assert_int_equal(fegetround(), FE_TONEAREST);
	if (worker == j->starve)
		(void)qn_arena_alloc(scratch, SIZE_MAX / 8, 1);
	j->done[worker] += worker + 1;
	return worker >= j->fail ? QN_EIO : QN_OK;
}

/* The status, or QN_ENOMEM when the caller's place to jump to was taken. */
static qn_status
run_job(job *j, heap *h)
{
	qn_diags diags = {0};
	jmp_buf oom;
	qn_env env = {.alloc = host_alloc, .alloc_user = h, .diags = &diags, .oom = &oom};

	if (setjmp(oom) != 0)
		return QN_ENOMEM;
	return qn_parallel(&env, WORKERS, share, j);
}

static void
test_parallel(void **state)
{
	heap h = {0};
	job all = {.starve = WORKERS, .fail = WORKERS};
	job failing = {.starve = WORKERS, .fail = 3};
	job starving = {.starve = 2, .fail = WORKERS};
	job first = {.starve = 0, .fail = WORKERS};

	(void)state;
	assert_int_equal(run_job(&all, &h), QN_OK);
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(all.done[i], i + 1);
	assert_int_equal(run_job(&failing, &h), QN_EIO);
	assert_int_equal(run_job(&starving, &h), QN_ENOMEM);
	assert_int_equal(starving.done[WORKERS - 1], WORKERS); /* the others were waited for */
	assert_int_equal(run_job(&first, &h), QN_ENOMEM);
	assert_int_equal(h.live, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_memory_runs_out),
		cmocka_unit_test(test_parallel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
