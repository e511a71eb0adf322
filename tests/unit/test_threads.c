/* SPDX-License-Identifier: Apache-2.0 */
/* test_threads.c - samples side by side: the same bytes as one after the other, the host's
 * allocator called by one thread at a time, memory that runs out in any thread, and threads that
 * cannot be made. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "driver/context.h"
#include "quern/quern.h"
#include "runtime/parallel.h"
#include "runtime/pool.h"

/* The sanitizers have a pthread_create of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PLAIN 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PLAIN 0
#endif
#endif
#ifndef PLAIN
#define PLAIN 1
#endif

#if PLAIN
static int threads_left = -1; /* that may be made; -1: any number */

int
pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (threads_left == 0)
		return EAGAIN;
	threads_left -= threads_left > 0;
	*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(id, attr, fn, arg);
}
#endif

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
	static _Thread_local char path[512];
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

/* bundle_bytes: as in qn_env. */
static outcome
everything(int threads, qn_method_kind method, size_t bundle_bytes)
{
	heap h = {0};
	outcome o = {0};
	qn_ctx *ctx = context(&h, threads);
	ctx->env.bundle_bytes = bundle_bytes;
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
same_outcome(const outcome *one, const outcome *other)
{
	assert_int_equal(one->model.n, other->model.n);
	assert_memory_equal(one->model.s, other->model.s, one->model.n);
	assert_memory_equal(one->wave, other->wave, one->bytes);
	assert_memory_equal(one->real, other->real, one->bytes);
	assert_int_equal(one->accuracy.samples, other->accuracy.samples);
	assert_int_equal(one->accuracy.correct, other->accuracy.correct);
}

/* Any number of threads, any size of a bundle: 1, 2 …, as many as there may be. */
static void
test_same_bytes(void **state)
{
	static const struct {
		int threads;
		size_t bundle_bytes;
	} way[] = {{4, 1}, {7, 0}, {1, 0}, {1, 10000}, {3, 25000}, {2, SIZE_MAX}};

	(void)state;
	for (int method = QN_MINMAX; method <= QN_PERCENTILE; method++) {
		outcome one = everything(1, (qn_method_kind)method, 1);

		for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
			/* a host's rounding must not reach the threads */
			assert_int_equal(fesetround(FE_UPWARD), 0);
			outcome other = everything(way[i].threads, (qn_method_kind)method,
						   way[i].bundle_bytes);
			assert_int_equal(fesetround(FE_TONEAREST), 0);

			same_outcome(&one, &other);
			drop(&other);
		}
		drop(&one);
	}
}

static void *
everything_thread(void *out)
{
	*(outcome *)out = everything(3, QN_MINMAX, 0);
	return NULL;
}

/* Contexts in different threads, each with threads of its own. */
static void
test_two_contexts(void **state)
{
	outcome one = everything(1, QN_MINMAX, 0), two[2];
	pthread_t id[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&id[i], NULL, everything_thread, &two[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_join(id[i], NULL), 0);
	for (int i = 0; i < 2; i++) {
		same_outcome(&one, &two[i]);
		drop(&two[i]);
	}
	drop(&one);
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

/* A context's environment, without the context. */
typedef struct owner {
	heap h;
	qn_diags diags;
	jmp_buf oom;
	qn_env env;
} owner;

static owner *
owner_new(void)
{
	owner *o = calloc(1, sizeof *o);

	assert_non_null(o);
	o->env = (qn_env){
		.alloc = host_alloc, .alloc_user = &o->h, .diags = &o->diags, .oom = &o->oom};
	return o;
}

static void
owner_free(owner *o)
{
	qn_pool_close(&o->env);
	assert_null(o->env.pool);
	assert_int_equal(o->h.live, 0);
	free(o);
}

/* The status, or QN_ENOMEM when the caller's place to jump to was taken. */
static qn_status
run_job(job *j, owner *o)
{
	if (setjmp(o->oom) != 0)
		return QN_ENOMEM;
	return qn_parallel(&o->env, WORKERS, share, j);
}

static void
check_all_done(owner *o)
{
	job all = {.starve = WORKERS, .fail = WORKERS};

	assert_int_equal(run_job(&all, o), QN_OK);
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(all.done[i], i + 1);
}

static void
test_parallel(void **state)
{
	owner *o = owner_new();
	job failing = {.starve = WORKERS, .fail = 3};
	job starving = {.starve = 2, .fail = WORKERS};
	job first = {.starve = 0, .fail = WORKERS};

	(void)state;
	check_all_done(o);
	assert_int_equal(run_job(&failing, o), QN_EIO);
	assert_int_equal(run_job(&starving, o), QN_ENOMEM);
	assert_int_equal(starving.done[WORKERS - 1], WORKERS); /* the others were waited for */
	assert_int_equal(run_job(&first, o), QN_ENOMEM);
	check_all_done(o); /* what failed leaves the pool as it was */
	owner_free(o);
}

/* Each share waits until all are under way, so each has a thread of its own. */
typedef struct meeting {
	pthread_barrier_t here;
	pthread_t who[WORKERS];
} meeting;

static qn_status
meet(void *user, size_t worker, qn_arena *scratch)
{
	meeting *m = user;

	(void)scratch;
	(void)pthread_barrier_wait(&m->here);
	m->who[worker] = pthread_self();
	return QN_OK;
}

/* The threads of the first call do the shares of the second. */
static void
test_threads_stay(void **state)
{
	owner *o = owner_new();
	meeting m[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_barrier_init(&m[i].here, NULL, WORKERS), 0);
		assert_int_equal(qn_parallel(&o->env, WORKERS, meet, &m[i]), QN_OK);
		assert_int_equal(pthread_barrier_destroy(&m[i].here), 0);
		assert_true(pthread_equal(m[i].who[0], pthread_self()));
	}
	for (int i = 0; i < WORKERS; i++) {
		bool found = false;

		for (int k = 0; k < WORKERS; k++)
			found = found || pthread_equal(m[1].who[i], m[0].who[k]);
		assert_true(found);
	}
	owner_free(o);
}

/* Every allocation of a first call fails once; the next call on the same pool succeeds. */
static void
test_pool_memory(void **state)
{
	qn_status status = QN_ENOMEM;
	size_t n;

	(void)state;
	for (n = 1; status != QN_OK; n++) {
		owner *o = owner_new();
		job all = {.starve = WORKERS, .fail = WORKERS};

		o->h.fail_at = n;
		status = run_job(&all, o);
		assert_true(status == QN_OK || status == QN_ENOMEM);
		o->h.fail_at = 0;
		check_all_done(o);
		owner_free(o);
	}
	assert_true(n > 1 + 1 + WORKERS - 1); /* the workers, the pool, its threads */
}

/* Without threads, or with fewer than were asked for, the same is done. */
static void
test_no_threads(void **state)
{
	(void)state;
#if PLAIN
	for (int n = 0; n < WORKERS; n++) {
		owner *o = owner_new();

		threads_left = n;
		check_all_done(o);
		check_all_done(o);
		threads_left = -1;
		check_all_done(o); /* now there are threads */
		owner_free(o);
	}
#else
	skip();
#endif
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_bytes),      cmocka_unit_test(test_two_contexts),
		cmocka_unit_test(test_memory_runs_out), cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_threads_stay),    cmocka_unit_test(test_pool_memory),
		cmocka_unit_test(test_no_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
