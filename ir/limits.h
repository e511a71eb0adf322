/* SPDX-License-Identifier: Apache-2.0 */
/* limits.h - how much a model may ask for: the context's numbers or the defaults (docs/limits.md).
 *
 *   if (n > qn_limit(env, QN_LIMIT_NODES))
 *           return qn_limit_report(env, QN_LIMIT_NODES, place, n);      limit.nodes, QN_EBUDGET */
#ifndef QN_IR_LIMITS_H
#define QN_IR_LIMITS_H

#include "ir/env.h"

/* Rows (NAME, field of qn_limits, id, default, what is counted, the program's option for it). */
#define QN_LIMITS(X)                                                                               \
	X(NESTING, nesting, "limit.nesting", 64, "nested calls of graphs", NULL)                   \
	X(NODES, nodes, "limit.nodes", 1 << 20,                                                    \
	  "nodes, those of a called graph counted at each call", "--import-limit")                 \
	X(DIM, dim, "limit.dim", INT32_MAX, "in one dimension", NULL)                              \
	X(BYTES, bytes, "limit.bytes", UINT64_C(1) << 32,                                          \
	  "bytes of one value, all states or one file", "--import-limit")                          \
	X(STEPS, steps, "limit.steps", UINT64_C(1) << 40, "multiplications and elements per run",  \
	  "--import-limit")                                                                        \
	X(MATCHING, matching, "limit.matching", UINT64_C(1) << 27,                                 \
	  "steps of the search for one pattern, at all values together", "--match-limit")

typedef enum qn_limit_kind {
#define X(NAME, field, id, preset, what, option) QN_LIMIT_##NAME,
	QN_LIMITS(X)
#undef X
} qn_limit_kind;

enum { QN_MAX_CALLS = 64 }; /* as deep as code that recurses over calls goes in any case */

uint64_t qn_limit(const qn_env *env, qn_limit_kind kind);
/* Returns QN_EBUDGET.  have: the number, or UINT64_MAX: too large to count. */
qn_status qn_limit_report(qn_env *env, qn_limit_kind kind, const char *place, uint64_t have);

/* Bytes that reading a file of that many may take beside it, whatever it says of itself: 64 MiB, and 64
 * for each of its bytes. */
uint64_t qn_limit_expansion(uint64_t file_bytes);

#endif
