/* SPDX-License-Identifier: Apache-2.0 */
/* search.c - the matcher: a depth-first search over a list of goals ("this pattern must match that
 * value"), so that whatever is still to be matched is known at each choice and a failure anywhere
 * comes back to the last choice.
 *
 *   todo ─▶ add(u, v) at %s ─▶ end            a goal that has several ways to go on is remembered with
 *   todo ─▶ u at %a ─▶ v at %b ─▶ … ─▶ end    the way that comes next, the goals and the bindings so far
 *
 * Nothing recurses, so depth costs no stack. */
#include "patterns/search.h"

#include "ir/limits.h"
#include "patterns/memo.h"

static bool
step(qn_matcher *s, const qn_goal *goal, uint32_t way)
{
	switch (goal->kind) {
	case QN_GOAL_MATCH:
		return qn_search_match_step(s, goal, way);
	case QN_GOAL_BIND:
		qn_search_bind(s, QN_BOUND_SLOT, goal);
		return true;
	case QN_GOAL_WHERE:
		return qn_pat_test_holds(&s->text, goal->pat->test, goal->graph, goal->value);
	case QN_GOAL_CUT:
		qn_search_forget(s, goal->value);
		return true;
	case QN_GOAL_LEARN:
		qn_memo_learn(s, goal);
		return true;
	case QN_GOAL_PATH:
	case QN_GOAL_ON_PATH:
	case QN_GOAL_PARENT:
	case QN_GOAL_DOMINATED:
		return qn_search_dominator_step(s, goal, way);
	}
	return false;
}

static bool
search(qn_matcher *s, const qn_graph *g)
{
	const uint64_t limit = qn_matcher_limit(s, g);
	const uint64_t most = qn_limit(s->arena->env, QN_LIMIT_MATCHING);

	while (s->todo != 0) {
		qn_goal goal = qn_search_pop(s);
		uint32_t way = 0;

		s->base_bound = s->nbound;

		for (;;) {
			s->gave_up = ++s->steps > limit;
			s->gave_out = ++s->spent > most;
			if (s->gave_up || s->gave_out)
				return false;
			if (step(s, &goal, way))
				break; /* its parts are goals now */
			if (!qn_search_retry(s, &goal, &way))
				return false;
			s->base_bound = s->nbound;
		}
	}
	return true;
}

static void
fill(const qn_matcher *s, const qn_graph *g, qn_id root, qn_match *out)
{
	*out = (qn_match){.root = root, .graph = g, .bound = s->bound, .nbound = s->nbound};
	for (size_t i = 0; i < s->nbound; i++) {
		int slot = s->bound[i].kind == QN_BOUND_SLOT ? s->bound[i].pat->slot : QN_NO_SLOT;

		if (slot != QN_NO_SLOT && slot < QN_MAX_SLOTS && out->at[slot] == 0)
			out->at[slot] = s->bound[i].value;
	}
}

static bool
start(qn_matcher *s, const qn_graph *g, const qn_pat *p, qn_id root, bool decide)
{
	s->gave_up = false;
	if (s->gave_out ||
	    !qn_search_may_match(p, qn_graph_node(g, root), (s->flags & QN_MATCH_REASSOC) != 0))
		return false;
	qn_search_unbind(s, 0);
	qn_search_unmark(s, 0);
	s->todo = s->ngoal = s->kept = s->base = s->nchoice = 0;
	s->steps = 0;
	s->decide = decide;
	qn_memo_begin(s, g, p);
	qn_search_push(s, (qn_goal){.kind = QN_GOAL_MATCH, .pat = p, .graph = g, .value = root});
	return search(s, g);
}

bool
qn_match_at(qn_matcher *s, const qn_graph *g, const qn_pat *p, qn_id root, qn_match *out)
{
	if (!start(s, g, p, root, false))
		return false;
	fill(s, g, root, out);
	return true;
}

bool
qn_match_is(qn_matcher *s, const qn_graph *g, const qn_pat *p, qn_id root, qn_match *out)
{
	if (!start(s, g, p, root, true))
		return false;
	fill(s, g, root, out);
	return true;
}
