/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - a verified model against the limits of its context. */
#ifndef QN_DRIVER_LIMITS_H
#define QN_DRIVER_LIMITS_H

#include "ir/graph.h"

/* Reports all that is too much: limit.nesting, .nodes, .dim, .bytes, .steps (QN_EBUDGET).  a: for
 * the time of the call. */
qn_status qn_limits_check(qn_model *m, qn_arena *a) QN_MUST_CHECK;

#endif
