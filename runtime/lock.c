/* SPDX-License-Identifier: Apache-2.0 */
/* lock.c - a lock for what only one worker may do at a time. */
#include <pthread.h>

#include "runtime/parallel.h"

struct qn_lock {
	pthread_mutex_t mutex;
};

static void
destroy(void *lock)
{
	(void)pthread_mutex_destroy(&((qn_lock *)lock)->mutex);
}

qn_lock *
qn_lock_new(qn_arena *a)
{
	qn_lock *lock = QN_NEW(a, qn_lock, 1);

	if (pthread_mutex_init(&lock->mutex, NULL) != 0)
		qn_env_oom(a->env);
	qn_arena_defer(a, destroy, lock);
	return lock;
}

void
qn_lock_acquire(qn_lock *lock)
{
	(void)pthread_mutex_lock(&lock->mutex);
}

void
qn_lock_release(qn_lock *lock)
{
	(void)pthread_mutex_unlock(&lock->mutex);
}
