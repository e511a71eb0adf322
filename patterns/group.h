/* SPDX-License-Identifier: Apache-2.0 */
/* group.h - matches that can be taken out of a graph: what goes in, what lies inside, and whether
 * nothing inside is needed elsewhere.
 *
 *   pattern relu(conv2d(*, *))       %c = conv2d %x, %w   %r = relu %c       inputs x, w; inside c, r
 *
 * Inputs are what the leaves of the pattern matched, in the order of the pattern, each once; but
 * not constants that the pattern asks to be constants, which lie inside.  Inside is all that the
 * root needs short of the inputs. */
#ifndef QN_PATTERNS_GROUP_H
#define QN_PATTERNS_GROUP_H

#include "patterns/index.h"
#include "patterns/pattern.h"

typedef struct qn_group {
	qn_id root;
	uint32_t ninput, ninner;
	qn_id *input;
	qn_id *inner; /* ascending; the root is the last one */
	/* Of the composite (composite.h), set by who takes the group. */
	const char *label;   /* its name is "<root>.<label>" */
	const char *pattern; /* qn_graph.pattern */
	size_t nattr;
	const qn_graph_attr *attr;
} qn_group;

typedef struct qn_grouper {
	const qn_graph *g;
	qn_arena *arena;
	qn_matcher *matcher;
	qn_index *index;
	uint32_t *owner;  /* value -> number of its group (of the last one), from 1; 0: none */
	uint32_t *rooted; /* value -> number of the group whose root it is */
	qn_group *group;
	size_t ngroup, group_cap;
	const qn_facts **
		facts; /* value -> what the node is to know from now on; NULL: what it knows.  NULL: of no node */
	bool tell;       /* look at roots that are in a group, too, for `why` */
	const char *why; /* the last candidate matched, but is not a group: why */
	/* Private: of the candidate that is looked at. */
	uint32_t *mark, *reads;
	uint32_t now;
	qn_id *todo;
	size_t ntodo, todo_cap;
	qn_id *named; /* slot -> value */
	size_t named_cap;
} qn_grouper;

void qn_grouper_init(qn_grouper *s, qn_arena *arena, qn_matcher *matcher, const qn_graph *g);
/* flags: qn_group_flags.  Whether the pattern matches at root and the match can be a group; *m is
 * valid until the next search.  Roots that no output needs are passed over, and those in a group
 * already unless they may overlap. */
bool qn_group_find(qn_grouper *s, const qn_pat *p, qn_id root, uint32_t flags, qn_match *m,
		   qn_group *out);
/* Takes the group: its nodes are in no other one from now on. */
void qn_group_take(qn_grouper *s, const qn_group *group);

/* The graph in which each group whose `label` is not NULL is a call of a composite, which stands
 * before the entry in the model; others are left as they are.  The entry is replaced. */
qn_status qn_groups_cut(qn_model *m, qn_grouper *s) QN_MUST_CHECK;

#endif
