/* SPDX-License-Identifier: Apache-2.0 */
/* index.h - what a graph does not store: which values are used and how often, through which
 * value all paths to the outputs lead, and which values are computed in the same way.
 *
 *   %c = conv2d …   %r = relu %c   %t = tanh %c   %s = add %r, %t        dominator of c, r and t: s */
#ifndef QN_PATTERNS_INDEX_H
#define QN_PATTERNS_INDEX_H

#include "ir/graph.h"

typedef struct qn_index {
	const qn_graph *g;
	uint32_t n;     /* g->n when the index was made */
	bool *live;     /* an output needs it */
	uint32_t *uses; /* by live nodes and outputs */
	/* Private: the tree of dominators; made on first use, like the numbers. */
	qn_arena *arena;
	qn_id *above, *jump;
	uint32_t *depth;
	uint32_t *number;
} qn_index;

void qn_index_init(qn_index *ix, qn_arena *arena, const qn_graph *g);

/* Whether every way from b to an output leads through a, which is not b. */
bool qn_index_dominates(qn_index *ix, qn_id a, qn_id b);

/* Numbers of computations: equal for values made by equal ops with equal attributes and types from
 * values of equal numbers, in one graph or in several.  Inputs are equal if their names are,
 * constants if their bytes are. */
typedef struct qn_numbers {
	qn_arena *arena;
	qn_map seen;
	uint32_t last;
	qn_buf key;
} qn_numbers;

void qn_numbers_init(qn_numbers *t, qn_arena *arena);
/* The number of a node whose inputs have these numbers. */
uint32_t qn_numbers_of(qn_numbers *t, const qn_node *n, const uint32_t *in);
/* Number of each value of the index's graph. */
const uint32_t *qn_index_numbers(qn_index *ix, qn_numbers *t);

#endif
