/* SPDX-License-Identifier: Apache-2.0 */
/* progress.h - how far a call is, to the host, which may end it.
 *
 *   QN_TRY(qn_progress(env, "calibrate", 12, 100));     12 of 100 batches; QN_ECANCELLED: leave */
#ifndef QN_IR_PROGRESS_H
#define QN_IR_PROGRESS_H

#include <stdatomic.h>

#include "ir/env.h"

/* Whether the host ended the call; all threads of the call see it. */
typedef struct qn_cancel {
	atomic_bool ended;
} qn_cancel;

/* Tells the host, on the thread of its call alone, and looks whether it has ended the call
 * (QN_ECANCELLED, cancelled): of loops whose steps take a while. */
qn_status qn_progress(qn_env *env, const char *stage, uint64_t done, uint64_t total) QN_MUST_CHECK;

#endif
