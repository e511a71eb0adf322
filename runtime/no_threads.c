/* SPDX-License-Identifier: Apache-2.0 */
/* no_threads.c - a build without threads (QUERN_THREADS=OFF): pool.c, parallel.c and lock.c for one
 * worker, the calling thread. */
#include "ir/diag.h"
#include "runtime/parallel.h"
#include "runtime/pool.h"

struct qn_lock {
	char nothing;
};

qn_lock *
qn_lock_new(qn_arena *a)
{
	return QN_NEW(a, qn_lock, 1);
}

void
qn_lock_acquire(qn_lock *lock)
{
	(void)lock;
}

void
qn_lock_release(qn_lock *lock)
{
	(void)lock;
}

void
qn_pool_close(qn_env *env)
{
	(void)env;
}

size_t
qn_parallel_workers(const qn_env *env, size_t n)
{
	(void)env;
	return n < 1 ? n : 1;
}

typedef struct share {
	qn_worker_fn *fn;
	void *user;
	size_t index;
} share;

static qn_status
run_share(void *arg, qn_arena *scratch)
{
	const share *s = arg;

	return s->fn(s->user, s->index, scratch);
}

/* An arena for each share, as a worker has one; the jump without memory goes on after its release. */
qn_status
qn_parallel(qn_env *env, size_t nworker, qn_worker_fn *fn, void *user)
{
	qn_status status = QN_OK;

	for (size_t i = 0; i < nworker && status == QN_OK; i++) {
		qn_arena scratch;

		qn_arena_init(&scratch, env);
		status = qn_arena_try(&scratch, run_share, &(share){fn, user, i});
		qn_arena_release(&scratch);
	}
	if (status == QN_ENOMEM)
		qn_env_oom(env);
	return status;
}
