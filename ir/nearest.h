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
 * one is near.  qn_nearer_name is public (quern/context.h): programs use it for their own options. */
#ifndef QN_IR_NEAREST_H
#define QN_IR_NEAREST_H

#include "ir/graph.h"

#define QN_DID_YOU_MEAN "%s%s%s"
#define QN_SUGGEST(best)                                                                           \
	(best) != NULL ? "; did you mean '" : "", (best) != NULL ? (best) : "",                    \
		(best) != NULL ? "'?" : ""

/* Of a list, of the known ops, of the plain types, of the values of a graph, of the graphs and of the symbols of a model;
 * NULL when none is near.  All but the first compare at most QN_MAX_COMPARED names, and none once the
 * list of diagnostics is full: a file may have a million unknown names. */
const char *qn_nearest_name(const char *wanted, size_t n, const char *const *name);
const char *qn_nearest_op(const qn_env *env, const char *wanted);
const char *qn_nearest_plain(const char *wanted); /* an element type: i8, also for int8 */
const char *qn_nearest_value(const qn_graph *g, const char *wanted);
const char *qn_nearest_graph(const qn_model *m, const char *wanted);
const char *qn_nearest_symbol(const qn_types *t, const char *wanted);
enum { QN_MAX_COMPARED = 20000 };

/* "A, B or C"; "none" of none. */
const char *qn_choices(qn_arena *a, size_t n, const char *const *name);

#endif
