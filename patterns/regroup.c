/* SPDX-License-Identifier: Apache-2.0 */
/* regroup.c - products and quotients that associate, with QN_MATCH_REASSOC:
 *
 *   div(mul(a, b), c)   also at   mul(b', div(a', c'))      four ways: which operand is the quotient,
 *   mul(x, div(a, b))   also at   div(mul(a', x'), b')      which of a and b is divided; a and x either way
 */
#include "patterns/search.h"

static bool
is_op(const qn_pat *p, qn_op op)
{
	return p->kind == QN_PAT_OP && p->op == op && p->narg == 2;
}

static bool
is_node(const qn_graph *g, qn_id id, qn_op op)
{
	return qn_graph_node(g, id)->op == op;
}

/* The operand of the pattern mul that is a quotient; -1: none. */
static int
quotient(const qn_pat *mul)
{
	for (int i = 0; i < 2; i++)
		if (is_op(mul->arg[i], QN_OP_div))
			return i;
	return -1;
}

uint32_t
qn_search_regroupings(const qn_goal *goal, const qn_node *n)
{
	const qn_pat *p = goal->pat;

	if (is_op(p, QN_OP_div) && is_op(p->arg[0], QN_OP_mul) && n->op == QN_OP_mul)
		return 4;
	if (is_op(p, QN_OP_mul) && quotient(p) >= 0 && n->op == QN_OP_div &&
	    is_node(goal->graph, n->in[0], QN_OP_mul))
		return 2;
	return 0;
}

static void
push(qn_matcher *s, const qn_goal *goal, const qn_pat *p, qn_id value)
{
	qn_goal part = *goal;

	part.pat = p;
	part.value = value;
	qn_search_push(s, part);
}

bool
qn_search_regroup(qn_matcher *s, const qn_goal *goal, const qn_node *n, uint32_t way)
{
	const qn_pat *p = goal->pat;

	if (p->op == QN_OP_div) {
		uint32_t side = way / 2; /* of the quotient in the product */
		const qn_node *div = qn_graph_node(goal->graph, n->in[side]);

		if (div->op != QN_OP_div)
			return false;
		push(s, goal, p->arg[1], div->in[1]);
		push(s, goal, p->arg[0]->arg[1 - way % 2], n->in[1 - side]);
		push(s, goal, p->arg[0]->arg[way % 2], div->in[0]);
		return true;
	}
	const qn_node *mul = qn_graph_node(goal->graph, n->in[0]);
	int div = quotient(p);

	push(s, goal, p->arg[div]->arg[1], n->in[1]);
	push(s, goal, p->arg[1 - div], mul->in[1 - way]);
	push(s, goal, p->arg[div]->arg[0], mul->in[way]);
	return true;
}
