/* SPDX-License-Identifier: Apache-2.0 */
/* goals.c - the memory of a search: the list of goals, the choices to come back to, the bindings.
 *
 *   cells   1 ◀─ 2 ◀─ 3 ◀─ 5      todo = 5: the list 5, 3, 2, 1
 *                     └─── 4      a choice that was made when 3 was the first goal: cells up to 3 are kept
 *
 * A cell points at an older one, so all that lies above both the first goal and what choices keep
 * is free. */
#include "patterns/search.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/limits.h"
#include "patterns/index.h"

/* ---- the list of goals ---- */

void
qn_search_push(qn_matcher *s, qn_goal goal)
{
	if (s->ngoal + 1 >= s->goal_cap)
		s->goal = qn_arena_grow(s->arena, s->goal, &s->goal_cap, s->ngoal + 2,
					sizeof *s->goal);
	goal.next = s->todo;
	s->todo = ++s->ngoal; /* cell 0 is the end of all lists */
	s->goal[s->todo] = goal;
}

qn_goal
qn_search_pop(qn_matcher *s)
{
	qn_goal goal = s->goal[s->todo];

	s->todo = s->base = goal.next;
	s->ngoal = s->todo > s->kept ? s->todo : s->kept;
	return goal;
}

void
qn_search_remember(qn_matcher *s, const qn_goal *goal, uint32_t next)
{
	uint32_t cells = s->base > s->kept ? s->base : s->kept;

	if (s->nchoice == s->choice_cap)
		s->choice = qn_arena_grow(s->arena, s->choice, &s->choice_cap, s->nchoice + 1,
					  sizeof *s->choice);
	s->choice[s->nchoice++] =
		(qn_choice){*goal, next, s->base, s->kept, s->base_bound, s->nmark};
	s->kept = cells;
}

void
qn_search_forget(qn_matcher *s, uint32_t n)
{
	if (n >= s->nchoice)
		return;
	s->kept = s->choice[n].kept;
	s->nchoice = n;
}

bool
qn_search_retry(qn_matcher *s, qn_goal *goal, uint32_t *way)
{
	if (s->nchoice == 0)
		return false;
	const qn_choice *c = &s->choice[--s->nchoice];
	*goal = c->goal;
	*way = c->next;
	s->todo = s->base = c->todo;
	s->kept = c->kept;
	s->ngoal = s->todo > s->kept ? s->todo : s->kept;
	qn_search_unbind(s, c->nbound);
	qn_search_unmark(s, c->nmark);
	return true;
}

/* ---- bindings ---- */

qn_first *
qn_search_first(qn_matcher *s, int slot)
{
	if ((size_t)slot >= s->first_cap)
		s->first = qn_arena_grow(s->arena, s->first, &s->first_cap, (size_t)slot + 1,
					 sizeof *s->first);
	return &s->first[slot];
}

/* A wildcard at a value that its slot has already adds nothing. */
void
qn_search_bind(qn_matcher *s, qn_bound_kind kind, const qn_goal *goal)
{
	qn_bound b = {kind, false, goal->pat, goal->graph, goal->value};

	if (kind == QN_BOUND_SLOT && goal->pat->slot != QN_NO_SLOT) {
		qn_first *first = qn_search_first(s, goal->pat->slot);

		if (qn_pat_is_wildcard(goal->pat) && first->graph == goal->graph &&
		    first->value == goal->value)
			return;
		b.is_first = first->graph == NULL;
		if (b.is_first)
			*first = (qn_first){goal->pat, goal->graph, goal->value, s->nbound};
	}
	if (s->nbound == s->bound_cap)
		s->bound = qn_arena_grow(s->arena, s->bound, &s->bound_cap, s->nbound + 1,
					 sizeof *s->bound);
	s->bound[s->nbound++] = b;
}

void
qn_search_unbind(qn_matcher *s, size_t n)
{
	while (s->nbound > n) {
		const qn_bound *b = &s->bound[--s->nbound];

		if (b->is_first)
			s->first[b->pat->slot] = (qn_first){0};
	}
}

/* ---- matchers ---- */

qn_matcher *
qn_matcher_new(qn_arena *arena, uint32_t flags)
{
	qn_matcher *s = QN_NEW(arena, qn_matcher, 1);

	*s = (qn_matcher){.arena = arena, .flags = flags};
	qn_buf_init(&s->text, arena);
	qn_buf_init(&s->key, arena);
	qn_map_init(&s->deep, arena);
	qn_map_init(&s->scopes, arena);
	qn_map_init(&s->known, arena);
	qn_map_init(&s->marked, arena);
	qn_numbers_init(&s->numbers, arena);
	return s;
}

void
qn_matcher_set_limit(qn_matcher *s, uint32_t steps)
{
	s->limit = steps;
}

uint64_t
qn_matcher_limit(const qn_matcher *s, const qn_graph *g)
{
	return s->limit > 0 ? s->limit : QN_MATCH_STEPS + (uint64_t)QN_MATCH_STEPS_A_NODE * g->n;
}

void
qn_matcher_set_like(qn_matcher *s, const qn_matcher *like)
{
	s->flags = like->flags;
	s->limit = like->limit;
}

bool
qn_matcher_exhausted(const qn_matcher *s)
{
	return s->gave_up || s->gave_out;
}

qn_status
qn_matcher_report(const qn_matcher *s, const qn_graph *g, qn_id value)
{
	const char *name = qn_graph_node(g, value)->name;

	if (s->gave_out)
		return qn_limit_report(s->arena->env, QN_LIMIT_MATCHING, name, s->spent);
	return qn_report(
		s->arena->env, QN_EBUDGET, "pattern.limit", name,
		"the search for the pattern did not end in %llu steps; write it with fewer "
		"alternatives, or allow more",
		(unsigned long long)qn_matcher_limit(s, g));
}

qn_index *
qn_matcher_index(qn_matcher *s, const qn_graph *g)
{
	for (size_t i = 0; i < s->nindex; i++)
		if (s->index[i]->g == g && s->index[i]->n == g->n)
			return s->index[i];
	qn_index *ix = QN_NEW(s->arena, qn_index, 1);
	qn_index_init(ix, s->arena, g);
	s->index = qn_arena_grow(s->arena, (void *)s->index, &s->index_cap, s->nindex + 1,
				 sizeof(qn_index *));
	return s->index[s->nindex++] = ix;
}
