/* SPDX-License-Identifier: Apache-2.0 */
/* simplify_impl.h - what the pass simplify and its search share (simplify.c). */
#ifndef QN_PASSES_SIMPLIFY_IMPL_H
#define QN_PASSES_SIMPLIFY_IMPL_H

#include "ir/graph.h"

enum { FLOAT = 0, MOST_TYPES = 31 };

typedef struct simplify {
	qn_model *m;
	const qn_graph *g;
	const qn_elem *type[MOST_TYPES + 1]; /* of domain d; 0: float */
	uint32_t ntype;
	bool *moves;      /* by id */
	uint32_t *domain; /* by id: of a value that no op chooses; after the search, of all */
	uint32_t *wanted; /* by id: by readers that are other ops */
	uint32_t *all_of; /* by id: the type that all it reads is dequantized from; 0: none */
	uint32_t *all_to; /* by id: the type that all readers quantize to; 0: none */
	qn_id *last;      /* by id: the last op that reads it and chooses; 0: none */
} simplify;

static inline uint32_t
bit(uint32_t domain)
{
	return UINT32_C(1) << domain;
}

static inline bool
qn_simplify_is_const(const simplify *s, qn_id id)
{
	return qn_graph_node(s->g, id)->op == QN_OP_const;
}

/* Chooses the domain of every op that moves values, for the fewest casts (simplify_search.c). */
void qn_simplify_search(simplify *s);

#endif
