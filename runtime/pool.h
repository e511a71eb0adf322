/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h - threads that live as long as their context and wait for shares of work.
 *
 *   qn_pool_run(env, 4, fn, job)    fn(job, 0) here; fn(job, 1) … fn(job, 3) on any thread that is
 *                                   free, this one included; returns when all are done
 *   qn_pool_close(env)              joins them
 *
 * Threads are made when they are first needed and block all signals: a host's handlers run on the
 * host's own threads.  A thread that cannot be made is one less to take shares. */
#ifndef QN_RUNTIME_POOL_H
#define QN_RUNTIME_POOL_H

#include "ir/env.h"

typedef void qn_share_fn(void *user, size_t index);

/* n shares, at most n threads with this one.  Must not be called from within a share.  False when
 * the host's allocator has no memory for the pool; then nothing was called. */
bool qn_pool_run(qn_env *env, size_t n, qn_share_fn *fn, void *user) QN_MUST_CHECK;

/* Joins the threads and frees the pool, if there is one. */
void qn_pool_close(qn_env *env);

#endif
