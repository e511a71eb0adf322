/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - the known name that a mistyped one was most likely meant to be, for messages:
 *
 *   const char *best = NULL;
 *   for (size_t i = 0; i < n; i++)
 *           best = qn_nearer_name(name, best, row[i].name);
 *   return qn_report(env, QN_EINVALID, "op.unknown", place,
 *                    "unknown op '%s'" QN_DID_YOU_MEAN, name, QN_SUGGEST(best));
 *
 * gives "unknown op 'covn2d'; did you mean 'conv2d'?", or nothing after the name where no known
 * one is near.  qn_nearer_name is public (quern/quern.h): programs use it for their own options. */
#ifndef QN_IR_NEAREST_H
#define QN_IR_NEAREST_H

#include "ir/base.h"

#define QN_DID_YOU_MEAN "%s%s%s"
#define QN_SUGGEST(best)                                                                           \
	(best) != NULL ? "; did you mean '" : "", (best) != NULL ? (best) : "",                    \
		(best) != NULL ? "'?" : ""

/* Of a list; NULL when none is near. */
const char *qn_nearest_name(const char *wanted, size_t n, const char *const *name);

#endif
