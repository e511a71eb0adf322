/* SPDX-License-Identifier: Apache-2.0 */
/* pool.c - one lock, one job at a time:
 *
 *   next    1 .. n    the next share that is not taken
 *   left    n .. 0    shares that are not done */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* pthread_sigmask */
#endif
#include "runtime/pool.h"

#include <fenv.h>
#include <pthread.h>
#include <signal.h>

typedef struct qn_pool qn_pool;

typedef struct thread {
	struct thread *next;
	pthread_t id;
} thread;

struct qn_pool {
	pthread_mutex_t lock;
	pthread_cond_t work; /* there are shares to take, or closing is set */
	pthread_cond_t done; /* left is 0 */
	qn_share_fn *fn;
	void *user;
	size_t next, n, left;
	bool closing;
	thread *threads; /* the owner's alone, as is what follows */
	size_t nthread;
};

/* Does shares until none is left to take.  The lock is held before and after. */
static void
take_shares(qn_pool *p)
{
	while (p->next < p->n) {
		size_t i = p->next++;
		qn_share_fn *fn = p->fn;
		void *user = p->user;

		(void)pthread_mutex_unlock(&p->lock);
		fn(user, i);
		(void)pthread_mutex_lock(&p->lock);
		if (--p->left == 0)
			(void)pthread_cond_signal(&p->done);
	}
}

static void *
thread_main(void *arg)
{
	qn_pool *p = arg;

	(void)fesetenv(FE_DFL_ENV);
	(void)pthread_mutex_lock(&p->lock);
	while (!p->closing) {
		take_shares(p);
		if (!p->closing)
			(void)pthread_cond_wait(&p->work, &p->lock);
	}
	(void)pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* On false nothing is left over. */
static bool
init(qn_pool *p)
{
	if (pthread_mutex_init(&p->lock, NULL) != 0)
		return false;
	if (pthread_cond_init(&p->work, NULL) != 0) {
		(void)pthread_mutex_destroy(&p->lock);
		return false;
	}
	if (pthread_cond_init(&p->done, NULL) != 0) {
		(void)pthread_cond_destroy(&p->work);
		(void)pthread_mutex_destroy(&p->lock);
		return false;
	}
	return true;
}

static bool
start_thread(qn_pool *p, thread *t)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
		return false;
	bool started = pthread_create(&t->id, NULL, thread_main, p) == 0;
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

/* Starts threads until there are n, or until no more can be made.  False without memory. */
static bool
grow(qn_env *env, qn_pool *p, size_t n)
{
	while (p->nthread < n) {
		thread *t = qn_env_realloc(env, NULL, 0, sizeof *t);

		if (t == NULL)
			return false;
		*t = (thread){.next = p->threads};
		if (!start_thread(p, t)) {
			qn_env_free(env, t, sizeof *t);
			break;
		}
		p->threads = t;
		p->nthread++;
	}
	return true;
}

/* The pool, NULL when the system has no locks; false without memory. */
static bool
pool_of(qn_env *env, size_t nthread, qn_pool **out)
{
	*out = env->pool;
	if (nthread == 0)
		return true;
	if (*out == NULL) {
		qn_pool *p = qn_env_realloc(env, NULL, 0, sizeof *p);

		if (p == NULL)
			return false;
		*p = (qn_pool){0};
		if (!init(p)) {
			qn_env_free(env, p, sizeof *p);
			return true;
		}
		*out = env->pool = p;
	}
	return grow(env, *out, nthread);
}

bool
qn_pool_run(qn_env *env, size_t n, qn_share_fn *fn, void *user)
{
	qn_pool *p;

	if (n == 0)
		return true;
	if (!pool_of(env, n - 1, &p))
		return false;
	if (p == NULL) {
		for (size_t i = 0; i < n; i++)
			fn(user, i);
		return true;
	}
	(void)pthread_mutex_lock(&p->lock);
	p->fn = fn;
	p->user = user;
	p->next = 1;
	p->n = p->left = n;
	(void)pthread_cond_broadcast(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
	fn(user, 0);
	(void)pthread_mutex_lock(&p->lock);
	p->left--;
	take_shares(p);
	while (p->left > 0)
		(void)pthread_cond_wait(&p->done, &p->lock);
	(void)pthread_mutex_unlock(&p->lock);
	return true;
}

void
qn_pool_close(qn_env *env)
{
	qn_pool *p = env->pool;

	if (p == NULL)
		return;
	env->pool = NULL;
	(void)pthread_mutex_lock(&p->lock);
	p->closing = true;
	(void)pthread_cond_broadcast(&p->work);
	(void)pthread_mutex_unlock(&p->lock);
	while (p->threads != NULL) {
		thread *t = p->threads;

		p->threads = t->next;
		(void)pthread_join(t->id, NULL);
		qn_env_free(env, t, sizeof *t);
	}
	(void)pthread_cond_destroy(&p->done);
	(void)pthread_cond_destroy(&p->work);
	(void)pthread_mutex_destroy(&p->lock);
	qn_env_free(env, p, sizeof *p);
}
