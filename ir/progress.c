/* SPDX-License-Identifier: Apache-2.0 */
/* progress.c - see progress.h. */
#include "ir/progress.h"

#include "ir/diag.h"

qn_status
qn_progress(qn_env *env, const char *stage, uint64_t done, uint64_t total)
{
	if (env->cancel == NULL)
		return QN_OK;
	if (atomic_load(&env->cancel->ended))
		return QN_ECANCELLED; /* the thread of the call has reported it */
	if (env->progress == NULL || env->progress(env->progress_user, stage, done, total) == 0)
		return QN_OK;
	atomic_store(&env->cancel->ended, true);
	return qn_report(env, QN_ECANCELLED, "cancelled", stage,
			 "the host ended the call at %llu of %llu", (unsigned long long)done,
			 (unsigned long long)total);
}
