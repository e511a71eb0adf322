/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - one step of the search (search.c) where the goal is that a pattern matches a value: whether they fit,
 * and the goals for the pattern's parts.
 *
 *   add(u, v) at %s = add %a, %b      ->   u at %a, v at %b; the other way: u at %b, v at %a */
#include "patterns/search.h"

#include <string.h>

#include "patterns/memo.h"

static bool
is_op(const qn_pat *p, const qn_node *n)
{
	return n->op == p->op && (p->row == NULL || qn_opinfo_of(n) == p->row);
}

/* Whether a search can come to anything: most nodes are of another op. */
bool
qn_search_may_match(const qn_pat *p, const qn_node *n, bool regroup)
{
	switch (p->kind) {
	case QN_PAT_OP:
		return regroup || (is_op(p, n) && (p->narg < 0 || (uint32_t)p->narg == n->nin));
	case QN_PAT_CLASS:
		return qn_opinfo_of(n)->behaviour == p->behaviour;
	case QN_PAT_CONST:
		return n->op == QN_OP_const;
	case QN_PAT_ALT:
		for (int i = 0; i < p->narg; i++)
			if (p->arg[i]->kind == QN_PAT_ALT ||
			    qn_search_may_match(p->arg[i], n, regroup))
				return true;
		return false;
	case QN_PAT_ANY:
	case QN_PAT_INPUT:
	case QN_PAT_EXPR:
	case QN_PAT_CALL:
	case QN_PAT_FUNCTION:
	case QN_PAT_TEST:
	case QN_PAT_DOM:
		break;
	}
	return true;
}

/* The arguments of p, first one first, on the inputs in written or reversed order. */
static bool
push_args(qn_matcher *s, const qn_goal *goal, const qn_node *n, bool reversed)
{
	const qn_pat *p = goal->pat;

	if (p->narg < 0) {
		qn_search_bind(s, QN_BOUND_ARGS, goal);
		return true;
	}
	if ((uint32_t)p->narg != n->nin)
		return false;
	for (int k = p->narg - 1; k >= 0; k--)
		qn_search_push(s, (qn_goal){.kind = QN_GOAL_MATCH,
					    .fresh = goal->fresh,
					    .pat = p->arg[k],
					    .graph = goal->graph,
					    .value = n->in[reversed ? p->narg - 1 - k : k]});
	return true;
}

/* Where both operands may be anything, swapping them helps nothing. */
static bool
commutes(const qn_pat *p, const qn_node *n)
{
	if (p->narg == 2 && qn_pat_is_wildcard(p->arg[0]) && qn_pat_is_wildcard(p->arg[1]) &&
	    p->arg[0]->slot == QN_NO_SLOT && p->arg[1]->slot == QN_NO_SLOT)
		return false;
	return p->kind == QN_PAT_OP && (p->op == QN_OP_add || p->op == QN_OP_mul) && p->narg == 2 &&
	       n->nin == 2 && n->in[0] != n->in[1];
}

bool
qn_search_is_call(const qn_node *n)
{
	return n->op != QN_OP_input && n->op != QN_OP_const && n->op != QN_OP_tuple &&
	       n->op != QN_OP_get;
}

/* The inputs and the output of a called graph, after the arguments of the call. */
static bool
push_function(qn_matcher *s, const qn_goal *goal, const qn_node *n)
{
	const qn_pat_test *t = goal->pat->test;
	const qn_graph *f = n->callee;

	if (n->op != QN_OP_call || (t->nparam >= 0 && (size_t)t->nparam != f->ninput) ||
	    f->noutput != 1 || !push_args(s, goal, n, false))
		return false;
	qn_search_push(s, (qn_goal){.kind = QN_GOAL_MATCH,
				    .fresh = goal->fresh,
				    .pat = t->body,
				    .graph = f,
				    .value = f->output[0].value});
	for (int k = t->nparam - 1; k >= 0; k--)
		qn_search_push(s, (qn_goal){.kind = QN_GOAL_MATCH,
					    .fresh = goal->fresh,
					    .pat = t->param[k],
					    .graph = f,
					    .value = f->input[k]});
	return true;
}

/* Way `way` of an op: the written order, the reversed one, then the associations of mul and div. */
static bool
step_op(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	const qn_node *n = qn_graph_node(goal->graph, goal->value);
	bool swap = commutes(goal->pat, n);
	uint32_t direct = is_op(goal->pat, n) ? 1 + (uint32_t)swap : 0;
	uint32_t other = (s->flags & QN_MATCH_REASSOC) != 0 ? qn_search_regroupings(goal, n) : 0;

	if (way >= direct + other)
		return false;
	if (way + 1 < direct + other)
		qn_search_remember(s, goal, way + 1);
	if (way < direct)
		return push_args(s, goal, n, way == 1);
	return qn_search_regroup(s, goal, n, way - direct);
}

static bool
is_same_value(qn_matcher *s, const qn_goal *goal)
{
	const qn_pat_test *t = goal->pat->test;
	qn_index *ix = qn_matcher_index(s, goal->graph);
	const qn_graph *from = t->graph != NULL ? t->graph : goal->graph;
	qn_id value = t->graph != NULL ? t->value : qn_graph_find(from, t->text);

	if (value == 0 || value >= from->n)
		return false;
	uint32_t number = qn_index_numbers(ix, &s->numbers)[goal->value];
	if (from == goal->graph)
		return ix->number[value] == number;
	return qn_index_numbers(qn_matcher_index(s, from), &s->numbers)[value] == number;
}

/* A pattern without parts. */
static bool
leaf_holds(qn_matcher *s, const qn_goal *goal)
{
	const qn_node *n = qn_graph_node(goal->graph, goal->value);
	const qn_pat *p = goal->pat;

	if (p->kind == QN_PAT_CONST)
		return n->op == QN_OP_const;
	if (p->kind == QN_PAT_INPUT)
		return n->op == QN_OP_input &&
		       (p->test == NULL || strcmp(p->test->text, n->name) == 0);
	return p->kind == QN_PAT_ANY || is_same_value(s, goal);
}

static bool
push_part(qn_matcher *s, const qn_goal *goal, int k)
{
	qn_goal part = *goal;

	part.pat = goal->pat->arg[k];
	qn_search_push(s, part);
	return true;
}

static bool
step_test(qn_matcher *s, const qn_goal *goal)
{
	const qn_pat_test *t = goal->pat->test;
	qn_goal later = *goal;

	later.kind = QN_GOAL_WHERE;
	if (t->kind == QN_TEST_WHERE) /* called only where the rest matches */
		qn_search_push(s, later);
	else if (!qn_pat_test_holds(&s->text, t, goal->graph, goal->value))
		return false;
	return push_part(s, goal, 0);
}

/* The first alternative from `way` on that the value's op does not rule out; narg: none. */
static uint32_t
next_alternative(const qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	const qn_node *n = qn_graph_node(goal->graph, goal->value);

	while (way < (uint32_t)goal->pat->narg &&
	       !qn_search_may_match(goal->pat->arg[way], n, (s->flags & QN_MATCH_REASSOC) != 0))
		way++;
	return way;
}

static bool
step_alternative(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	const uint32_t n = (uint32_t)goal->pat->narg;
	uint32_t after;

	way = next_alternative(s, goal, way);
	if (way >= n)
		return false;
	after = next_alternative(s, goal, way + 1);
	if (after < n)
		qn_search_remember(s, goal, after);
	return push_part(s, goal, (int)way);
}

/* The parts of a pattern, pushed as goals; false when the value cannot match. */
static bool
step_parts(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	const qn_pat *p = goal->pat;
	const qn_node *n = qn_graph_node(goal->graph, goal->value);

	switch (p->kind) {
	case QN_PAT_OP:
		return step_op(s, goal, way);
	case QN_PAT_CLASS:
		return qn_opinfo_of(n)->behaviour == p->behaviour && qn_search_is_call(n) &&
		       push_args(s, goal, n, false);
	case QN_PAT_CALL:
		return qn_search_is_call(n) && push_args(s, goal, n, false);
	case QN_PAT_FUNCTION:
		return push_function(s, goal, n);
	case QN_PAT_ALT:
		return step_alternative(s, goal, way);
	case QN_PAT_TEST:
		return step_test(s, goal);
	case QN_PAT_DOM:
		return qn_search_dominator(s, goal);
	case QN_PAT_ANY:
	case QN_PAT_CONST:
	case QN_PAT_INPUT:
	case QN_PAT_EXPR:
		break;
	}
	return p->kind == QN_PAT_ANY && p->narg > 0 && push_part(s, goal, 0);
}

/* A pattern that is being matched at the same value already would repeat the same search for ever.
 * Only the goals on top for this value are compared; a goal for another value means that the
 * search went down. */
static bool
turns_in_a_circle(const qn_matcher *s, const qn_goal *goal)
{
	for (uint32_t k = s->todo; k != 0; k = s->goal[k].next) {
		const qn_goal *g = &s->goal[k];

		if (g->kind == QN_GOAL_CUT || (g->kind == QN_GOAL_LEARN && g->value == goal->value))
			continue;
		if (g->value != goal->value || g->graph != goal->graph)
			return false;
		if (g->kind == QN_GOAL_BIND && g->pat == goal->pat)
			return true;
	}
	return false;
}

bool
qn_search_match_step(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	const qn_pat *p = goal->pat;
	bool is_leaf = p->kind == QN_PAT_CONST || p->kind == QN_PAT_INPUT ||
		       p->kind == QN_PAT_EXPR || qn_pat_is_wildcard(p);

	if (p->slot != QN_NO_SLOT && !goal->fresh && way == 0) {
		const qn_first *first = qn_search_first(s, p->slot);

		if (first->graph != NULL &&
		    (first->graph != goal->graph || first->value != goal->value))
			return false;
		if (first->graph != NULL && first->pat == p)
			return true;
	}
	if (is_leaf) {
		if (!leaf_holds(s, goal))
			return false;
		qn_search_bind(s, QN_BOUND_SLOT, goal);
		return true;
	}
	if (way == QN_WAY_FAILED) {
		qn_memo_fail(s, goal);
		return false;
	}
	if (p->slot != QN_NO_SLOT && way == 0 && turns_in_a_circle(s, goal)) {
		s->turned++;
		return false;
	}
	if (way == 0 && p->kind == QN_PAT_ANY) {
		const qn_memo_answer known = qn_memo_lookup(s, goal);

		if (known != QN_MEMO_UNKNOWN)
			return known == QN_MEMO_HOLDS;
	}
	if (way == QN_WAY_AGAIN)
		way = 0;
	if ((s->flags & QN_MATCH_GREEDY) != 0)
		qn_search_push(s, (qn_goal){.kind = QN_GOAL_CUT, .value = s->nchoice});
	if (p->slot != QN_NO_SLOT) {
		qn_goal later = *goal;

		later.kind = QN_GOAL_BIND;
		qn_search_push(s, later);
	}
	return step_parts(s, goal, way);
}
