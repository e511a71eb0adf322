/* SPDX-License-Identifier: Apache-2.0 */
/* cut.h - takes all groups of one pattern out of the entry graph, each into a graph of its own.
 *
 *   %c = conv2d %x, %w        graph @r.block(%x, %w) attrs {"PartitionedFromPattern"="conv2d_relu_"} {
 *   %r = relu %c          ->    %c = conv2d %x, %w   %r = relu %c   return %r }
 *                             …  %r = call @r.block %x, %w */
#ifndef QN_PATTERNS_CUT_H
#define QN_PATTERNS_CUT_H

#include "patterns/group.h"

typedef struct qn_cut {
	const qn_pat *pattern;
	const char *label; /* of the graphs: "<root>.<label>" */
	size_t nattr;
	const qn_graph_attr *attr;
	bool (*check)(void *user, const qn_graph *g, qn_id root); /* NULL: all */
	void *user;
	uint32_t flags;
} qn_cut;

/* Roots are tried from the last one up; groups do not share nodes.  *count: how many
 * graphs were made.  A pattern of a function is refused with a warning (pattern.function): its
 * match is a call already. */
qn_status qn_cut_pattern(qn_model *m, const qn_cut *cut, const qn_matcher *like,
			 size_t *count) QN_MUST_CHECK;

#endif
