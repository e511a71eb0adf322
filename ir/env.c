/* SPDX-License-Identifier: Apache-2.0 */
/* env.c - raw memory from the host's allocator and the jump out of a call when there is none. */
#include "ir/env.h"

void *
qn_env_realloc(qn_env *env, void *p, size_t old_size, size_t new_size)
{
	return env->alloc(env->alloc_user, p, old_size, new_size);
}

void
qn_env_free(qn_env *env, void *p, size_t size)
{
	if (p != NULL)
		(void)env->alloc(env->alloc_user, p, size, 0);
}

void
qn_env_oom(qn_env *env)
{
	longjmp(*env->oom, 1);
}
