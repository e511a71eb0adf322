/* SPDX-License-Identifier: Apache-2.0 */
/* test_pool.c - shares of work on the threads of a context: what the shares return, threads that stay
 * from call to call, memory that runs out, threads that cannot be made. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <fenv.h>
#include <pthread.h>

#include "ir/diag.h"
#include "runtime/parallel.h"
#include "runtime/pool.h"
#include "tests/unit/host_heap.h"

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
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_threads_stay),
		cmocka_unit_test(test_pool_memory),
		cmocka_unit_test(test_no_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
