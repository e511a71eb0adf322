/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h - loops of a graph: nodes that run once for each step.
 *
 *   %i = loop {count=28}                    the number of the step, 0 … 27
 *   %x = loop_slice %xs, %i {axis=1}        slice %i of %xs
 *   %h = loop_carry %h0, %i {index=0}       %h0 in the first step, then the carried value of the step before
 *   %d = dense %x, %w                       the body: all nodes that depend on %i
 *   %n = add %d, %h
 *   %e = loop_end %i, %n                    carries %n to %h of the next step: value k to the carry of index k
 *   %y = loop_stack %n, %e {axis=1, length=28}    what %n was in all steps
 *   %l = loop_last %n, %e                   what %n was in the last step
 *
 * A node is in the innermost loop on whose number it depends; loop_stack and loop_last of a loop belong
 * to what surrounds it, and run with it.  A loop in a loop has the number of the outer one as its
 * input.  The nodes of a loop, and its stacks and last values, stand one after the other; constants and
 * graph inputs may stand between them. */
#ifndef QN_IR_LOOPS_H
#define QN_IR_LOOPS_H

#include "ir/graph.h"
#include "ir/limits.h"

typedef struct qn_loop {
	qn_id begin;     /* the `loop` */
	qn_id end;       /* its `loop_end`; 0: there is none */
	qn_id last;      /* the last node that runs with it */
	uint32_t parent; /* the loop around it, an index plus 1; 0: none */
	int64_t count;
} qn_loop;

enum { QN_MOST_LOOPS = 1024 }; /* of a graph */

typedef struct qn_loops {
	size_t n;
	const qn_loop *loop; /* in the order of their `loop` nodes */
	/* [g->n] the loop on which a value depends, and the one with which the node runs: indices plus 1,
	 * 0: none */
	const uint32_t *of, *with;
} qn_loops;

/* All loops of the graph; in arena a.  Without any, n is 0 and the arrays are NULL. */
qn_loops qn_loops_find(const qn_graph *g, qn_arena *a);
/* The `loop` node whose number a loop op has as this input, also where it is that of a loop_end; NULL:
 * it is none. */
const qn_node *qn_loop_of(const qn_graph *g, const qn_node *n, uint32_t input);
/* Whether the graph has a loop. */
bool qn_has_loop(const qn_graph *g);
/* Whether loop `inner` (an index plus 1, 0: none) is `outer` or inside of it. */
bool qn_loop_is_in(const qn_loops *l, uint32_t inner, uint32_t outer);

/* Whether nothing but constants and graph inputs stands between the nodes of each loop. */
bool qn_loops_together(const qn_graph *g, const qn_loops *l);
/* Whether the loop of a loop_carry has a value for its next step; its id in *next. */
bool qn_loop_next(const qn_graph *g, const qn_loops *l, qn_id carry, qn_id *next);

/* How often a node computes its value in a run of the graph: in each step of the loops in which it is, the stacks
 * and last values too; UINT64_MAX: too often to count. */
uint64_t qn_loop_runs(const qn_loops *l, qn_id id);

/* The same without memory, of the nodes of a graph in which loops stand together, in their order; begin with 0. */
typedef struct qn_loop_walk {
	uint32_t depth;
	qn_id last[QN_MAX_CALLS + 1];
	uint64_t runs[QN_MAX_CALLS + 1];
} qn_loop_walk;
uint64_t qn_loop_walk_to(qn_loop_walk *w, const qn_graph *g, qn_id id);

/* The nodes in an order in which those of each loop stand together: ids, an array of g->n - 1, otherwise as
 * they are; in arena a.  NULL: they stand so already. */
const qn_id *qn_loops_order(const qn_graph *g, qn_arena *a);

/* *g with the nodes of each loop one after the other: a copy in its arena, whose values *map has by id (map NULL: not
 * wanted).  Where they stand so, *g stays and *map becomes NULL. */
qn_status qn_loops_gather(qn_graph **g, qn_arena *scratch, const qn_id **map) QN_MUST_CHECK;

/* A graph like g, in arena a, that is ready to be emitted: the nodes of each loop stand together, and what a loop
 * carries on is not another carried value itself, but a copy of it.  *out is g where it is so. */
qn_status qn_loops_prepare(const qn_graph *g, qn_arena *a, const qn_graph **out) QN_MUST_CHECK;

/* Reports what is wrong with the loops of a graph (verify.loop). */
void qn_loops_check(const qn_graph *g, qn_arena *a);

#endif
