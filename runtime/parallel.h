/* SPDX-License-Identifier: Apache-2.0 */
/* parallel.h - work side by side on the threads of the context (pool.h).
 *
 *   qn_status run_share(void *user, size_t worker, qn_arena *a);
 *   QN_TRY(qn_parallel(env, 4, run_share, &job));     run_share(&job, 0 … 3, …), all done
 *
 * Worker 0 is the calling thread, and the only one that may log.  Each worker has an arena and
 * an environment of its own (that of `a`); the host's allocator is called by one thread at a
 * time.  What a worker reports there is handed to the caller when it is the first that fails; the
 * caller's own environment is not a worker's to use. */
#ifndef QN_RUNTIME_PARALLEL_H
#define QN_RUNTIME_PARALLEL_H

#include "ir/arena.h"

typedef qn_status qn_worker_fn(void *user, size_t worker, qn_arena *scratch);

/* How many workers n pieces of work deserve under env. */
size_t qn_parallel_workers(const qn_env *env, size_t n);

/* The first worker's status that is not QN_OK, and QN_OK for 0 workers.  When memory runs out in a worker, all are waited
 * for, their arenas released, and then the caller's env->oom is taken.  A share for which
 * no thread could be made is done by another one. */
qn_status qn_parallel(qn_env *env, size_t nworker, qn_worker_fn *fn, void *user) QN_MUST_CHECK;

/* A lock, destroyed with the arena. */
typedef struct qn_lock qn_lock;
qn_lock *qn_lock_new(qn_arena *a);
void qn_lock_acquire(qn_lock *lock);
void qn_lock_release(qn_lock *lock);

#endif
