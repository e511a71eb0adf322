/* SPDX-License-Identifier: Apache-2.0 */
/* dominator.c - goals of a dominator: parent, path, child.
 *
 *   conv ─▶ relu ─┬▶ relu ─▶ add      dominator(conv, relu, add) at add: every way up from add comes over
 *                 └─────────▶         relu alone to the one conv
 *
 * Each value of a path is looked at once, however many ways lead over it. */
#include "patterns/memo.h"

static qn_path_mark *
mark_of(qn_matcher *s, const qn_goal *goal)
{
	const qn_mark key = {goal->pat, goal->graph, goal->value, 0};
	qn_path_mark *mark = qn_map_get(&s->marked, &key, sizeof key);
	if (mark == NULL) {
		mark = QN_NEW(s->arena, qn_path_mark, 1);
		qn_map_put(&s->marked, &key, sizeof key, mark);
	}
	return mark;
}

void
qn_search_mark_only(qn_matcher *s, const qn_goal *goal)
{
	qn_path_mark *mark = mark_of(s, goal);

	if (*mark == QN_MET)
		*mark = QN_MET_ONLY;
}

void
qn_search_unmark(qn_matcher *s, size_t n)
{
	while (s->nmark > n)
		*s->mark[--s->nmark] = QN_NOT_MET;
}

/* Constants and inputs of the graph lead nowhere: what a call reads of them stands beside the path. */
static bool
is_beside(const qn_matcher *s, const qn_goal *goal, const qn_node *n, qn_id in)
{
	const qn_op op = qn_graph_node(goal->graph, in)->op;

	return (s->flags & QN_MATCH_NO_PATH_CONST) == 0 && qn_search_is_call(n) &&
	       (op == QN_OP_const || op == QN_OP_input);
}

/* false: there are none that could lead to the parent. */
static bool
push_inputs(qn_matcher *s, const qn_goal *goal)
{
	const qn_node *n = qn_graph_node(goal->graph, goal->value);
	bool any = false;

	for (uint32_t i = n->nin; i > 0; i--) {
		qn_goal input = *goal;

		if (is_beside(s, goal, n, n->in[i - 1]))
			continue;
		input.kind = QN_GOAL_PATH;
		input.value = n->in[i - 1];
		qn_search_push(s, input);
		any = true;
	}
	return any;
}

static void
push_match(qn_matcher *s, const qn_goal *goal, int k, bool fresh)
{
	qn_search_push(s, (qn_goal){.kind = QN_GOAL_MATCH,
				    .fresh = fresh,
				    .pat = goal->pat->arg[k],
				    .graph = goal->graph,
				    .value = goal->value});
}

bool
qn_search_dominator(qn_matcher *s, const qn_goal *goal)
{
	qn_goal last = *goal;

	last.kind = QN_GOAL_DOMINATED;
	qn_search_push(s, last);
	if (!push_inputs(s, goal))
		return false;
	push_match(s, goal, 2, goal->fresh);
	return true;
}

static bool
may_be_on_path(const qn_matcher *s, const qn_goal *goal)
{
	return qn_search_may_match(goal->pat->arg[1], qn_graph_node(goal->graph, goal->value),
				   (s->flags & QN_MATCH_REASSOC) != 0);
}

static bool
step_path(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	qn_goal after = *goal;

	const qn_path_mark mark = *mark_of(s, goal);

	if (mark != QN_NOT_MET) {
		s->met += mark == QN_MET; /* there may be other ways from there */
		return true;
	}
	if (way == QN_WAY_FAILED) {
		qn_memo_fail(s, goal);
		return false;
	}
	if (way == 0) {
		const qn_memo_answer known = qn_memo_lookup(s, goal);

		if (known != QN_MEMO_UNKNOWN)
			return known == QN_MEMO_HOLDS;
	}
	if (way == QN_WAY_AGAIN)
		way = 0;
	if ((s->flags & QN_MATCH_GREEDY) != 0)
		qn_search_push(s, (qn_goal){.kind = QN_GOAL_CUT, .value = s->nchoice});
	if (way == 0 && may_be_on_path(s, goal))
		qn_search_remember(s, goal, 1);
	after.kind = way == 0 ? QN_GOAL_PARENT : QN_GOAL_ON_PATH;
	qn_search_push(s, after);
	push_match(s, goal, way == 0 ? 0 : 1, way > 0);
	return true;
}

static bool
step_on_path(qn_matcher *s, const qn_goal *goal)
{
	if (s->nmark == s->mark_cap)
		s->mark = qn_arena_grow(s->arena, (void *)s->mark, &s->mark_cap, s->nmark + 1,
					sizeof *s->mark);
	s->mark[s->nmark] = mark_of(s, goal);
	*s->mark[s->nmark++] = QN_MET;
	qn_search_bind(s, QN_BOUND_PATH, goal);
	return push_inputs(s, goal);
}

bool
qn_search_dominator_step(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	const qn_first *parent = qn_search_first(s, goal->pat->arg[0]->slot);

	if (goal->kind == QN_GOAL_PATH)
		return step_path(s, goal, way);
	if (goal->kind == QN_GOAL_ON_PATH)
		return step_on_path(s, goal);
	if (goal->kind == QN_GOAL_PARENT) {
		qn_search_bind(s, QN_BOUND_PATH, goal);
		return true;
	}
	return parent->graph == goal->graph &&
	       qn_index_dominates(qn_matcher_index(s, goal->graph), goal->value, parent->value);
}
