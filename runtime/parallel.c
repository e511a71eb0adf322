/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.c - the library's entry to each share of work: a target for the jump when out of memory,
 * an arena that is released, the host's allocator with a lock around it. */
#include "runtime/parallel.h"

#include <pthread.h>

#include "ir/diag.h"
#include "runtime/pool.h"

/* The host's allocator and the lock before it. */
typedef struct gate {
	pthread_mutex_t lock;
	qn_alloc_fn *alloc;
	void *user;
} gate;

typedef struct worker {
	qn_env env;
	qn_diags diags;
	qn_worker_fn *fn;
	void *user;
	qn_status status;
} worker;

static void *
locked_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	gate *g = user;

	(void)pthread_mutex_lock(&g->lock);
	void *q = g->alloc(g->user, p, old_size, new_size);
	(void)pthread_mutex_unlock(&g->lock);
	return q;
}

static void
run_share(void *workers, size_t index)
{
	worker *w = (worker *)workers + index;
	jmp_buf here;
	qn_arena scratch;

	w->status = QN_ENOMEM;
	qn_arena_init(&scratch, &w->env);
	w->env.oom = &here;
	if (setjmp(here) == 0)
		w->status = w->fn(w->user, index, &scratch);
	qn_arena_release(&scratch);
}

/* What worker w reported, to the caller. */
static void
hand_over(qn_env *env, const worker *w)
{
	for (size_t i = 0; i < w->diags.n; i++) {
		const qn_diag *d = &w->diags.item[i];

		if (d->severity == QN_ERROR)
			(void)qn_report(env, d->status, d->id, d->place, "%s", d->message);
		else
			qn_warn(env, d->id, d->place, "%s", d->message);
	}
}

size_t
qn_parallel_workers(const qn_env *env, size_t n)
{
	size_t most = env->threads > 0 ? env->threads : 1;

	return n < most ? n : most;
}

static void
make_worker(worker *w, const qn_env *env, gate *g, size_t index)
{
	w->env = *env;
	w->env.alloc = locked_alloc;
	w->env.alloc_user = g;
	w->env.diags = &w->diags;
	w->env.pool = NULL;
	if (index > 0) {
		w->env.log = NULL;
		w->env.progress = NULL;
	}
}

qn_status
qn_parallel(qn_env *env, size_t nworker, qn_worker_fn *fn, void *user)
{
	gate g = {.alloc = env->alloc, .user = env->alloc_user};
	qn_status status = QN_OK;

	if (nworker == 0)
		return QN_OK;
	if (pthread_mutex_init(&g.lock, NULL) != 0)
		qn_env_oom(env);
	/* Raw memory: an arena without room would jump past the mutex. */
	worker *w = qn_env_realloc(env, NULL, 0, nworker * sizeof *w);
	for (size_t i = 0; w != NULL && i < nworker; i++) {
		w[i] = (worker){.fn = fn, .user = user};
		make_worker(&w[i], env, &g, i);
	}
	bool starved = w == NULL || !qn_pool_run(env, nworker, run_share, w);
	for (size_t i = 0; w != NULL && i < nworker; i++) {
		starved = starved || w[i].status == QN_ENOMEM;
	}
	for (size_t i = 0; w != NULL && i < nworker; i++) {
		if (status == QN_OK && w[i].status != QN_OK)
			hand_over(env, &w[i]);
		status = status == QN_OK ? w[i].status : status;
		qn_diags_clear(&w[i].env, &w[i].diags);
	}
	if (w != NULL)
		qn_env_free(env, w, nworker * sizeof *w);
	(void)pthread_mutex_destroy(&g.lock);
	if (starved)
		qn_env_oom(env);
	return status;
}
