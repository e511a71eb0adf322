/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_impl.h - what the files of the driver of local rules share (rewrite.h). */
#ifndef QN_PATTERNS_REWRITE_IMPL_H
#define QN_PATTERNS_REWRITE_IMPL_H

#include "patterns/rewrite.h"

/* Of the rule that is being applied: the layers of what it matched, in order, found when it adds its
 * first node.  Matched conversions between types stand apart: they are made again beside what computes,
 * and are of their own layers then. */
typedef struct qn_applied {
	const qn_match *m;
	bool known;    /* the layers have been found */
	bool computes; /* a node that computes was made, and took them */
	qn_layers layers, conversions;
	qn_layers lasting; /* layers without those of transposes and reshapes alone */
	qn_id stands_for;  /* not 0: what is added is of this node's layers */
	struct qn_applied *outer;
} qn_applied;

struct qn_rw {
	qn_model *m;
	qn_arena *
		tmp; /* for the time of the sweep: the graph under construction and what is known of it */
	const qn_graph *src;
	qn_graph *dst;
	qn_matcher *matcher;
	const qn_rule *rules;
	size_t nrules;
	void *user;
	const uint32_t *src_uses;
	qn_id *map;        /* source id -> value in dst */
	const char **name; /* dst id -> the name it should have in the result */
	uint32_t *uses;    /* dst id -> uses of the source value it stands for */
	qn_id *stands;     /* dst id, the first of equal nodes -> the value that stands for them */
	size_t name_cap, uses_cap, stands_cap;
	qn_hashes shared; /* the first of equal nodes, so that they are one */
	qn_status status;
	const char *reason; /* of the last rule that declined */
	qn_applied *rule;   /* NULL: nodes are copied */
	uint64_t added;
	uint32_t nested; /* rules that are being applied */
};

/* The facts of a node like n that is added, by a rule or from the source (rewrite_layers.c). */
const qn_facts *qn_rw_facts(qn_rw *rw, const qn_node *n);
/* A layer of which no node is left is added to those of the value that replaces it:
 * relu(requantize(x)) became requantize(x), with other limits or without.  Not that of a transpose or
 * reshape, which computes nothing. */
void qn_rw_pass_on_layers(qn_rw *rw, qn_applied *r, qn_id got);

#endif
