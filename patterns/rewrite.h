/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.h - local rules: one copying sweep over a graph in which each node that is added,
 * copied or made by a rule, is offered to the rules at once, so that a chain is folded in one sweep.
 *
 *   static const qn_rule rules[] = {
 *     {"identity-requantize", QN_P_OPN(requantize, ROOT), drop_identity},
 *   };
 *   QN_TRY(qn_rewrite(model, graph, rules, QN_COUNT(rules), NULL, &result));
 *
 * Rules are tried in order; the first whose pattern matches and whose callback does not decline
 * returns the value that replaces the node. Equal nodes are shared.  Nodes that nothing uses
 * in the end are not in the result. */
#ifndef QN_PATTERNS_REWRITE_H
#define QN_PATTERNS_REWRITE_H

#include "patterns/pattern.h"

typedef struct qn_rw qn_rw;

/* Returns the new value (of the graph under construction), or 0 to decline.  m holds values of
 * the graph under construction. */
typedef qn_id qn_rule_fn(qn_rw *rw, const qn_match *m);

typedef struct qn_rule {
	const char *name;
	const qn_pat *pattern;
	qn_rule_fn *apply;
} qn_rule;

/* For callbacks. */
qn_model *qn_rw_model(const qn_rw *rw);
const qn_graph *
qn_rw_graph(const qn_rw *rw); /* the graph under construction: read only through qn_graph_node */
const qn_node *qn_rw_node(const qn_rw *rw, qn_id id);
/* The name that the node will have in the result (its own `name` is a working name); NULL: any. */
const char *qn_rw_name(const qn_rw *rw, qn_id id);
/* "<the node's name, or its op's>.<what>", for what a rule makes of it. */
const char *qn_rw_derived_name(const qn_rw *rw, qn_id id, const char *what);
void *qn_rw_user(const qn_rw *rw);
/* Uses of the value in the source graph, or of the one that it replaces there; 1 for others that a rule made. */
uint32_t qn_rw_uses(const qn_rw *rw, qn_id id);
/* Adds a node and offers it to the rules; returns what replaces it, 0 after an error. */
qn_id qn_rw_add(qn_rw *rw, qn_op op, const char *name, uint32_t nin, const qn_id *in,
		const qn_attrs *attr, const qn_type *type);
/* Whether a node of op `op`, which has no attributes, with this input and type was added before:
 * adding it again returns the same value, and no rule is tried. */
bool qn_rw_known(const qn_rw *rw, qn_op op, qn_id x, const qn_type *type);
/* What the rule adds stands for the layers of this node too, an operand of what its pattern holds. */
void qn_rw_add_origin(qn_rw *rw, qn_id id);
/* What the rule adds from now on stands for the layers of this node alone; 0: for those of the match
 * again. */
void qn_rw_stand_for(qn_rw *rw, qn_id id);
qn_id qn_rw_const(qn_rw *rw, const char *name, const qn_tensor *value);
qn_id qn_rw_reshape(qn_rw *rw, const char *name, qn_id x, int32_t rank, const int64_t *dim);
/* Why the rule declines, for `trace` of the environment (static text); 0. */
qn_id qn_rw_decline(qn_rw *rw, const char *reason);
/* Stops the sweep: an error has been reported. */
void qn_rw_fail(qn_rw *rw, qn_status status);

/* The rewritten graph (not yet part of the model).  nrules 0: a copy without dead nodes. */
qn_status qn_rewrite(qn_model *m, const qn_graph *g, const qn_rule *rules, size_t nrules,
		     void *user, qn_graph **out) QN_MUST_CHECK;

/* A copy of g in which node i is `keep[i]`: the nodes that outputs and inputs need, in order,
 * names kept where they are unique. */
qn_status qn_graph_sweep(qn_model *m, const qn_graph *g, const char *const *names,
			 qn_graph **out) QN_MUST_CHECK;

/* Replaces the model's graphs by one. */
void qn_model_set_graph(qn_model *m, qn_graph *g);

#endif
