/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - the matcher: a depth-first search over a list of goals ("this pattern must match
 * that value"), so that whatever is still to be matched is known at each choice and a failure
 * anywhere comes back to the last choice. */
#include "patterns/pattern.h"

#include <string.h>

typedef struct goal {
	const qn_pat *pat;
	qn_id value;
	const struct goal *next;
} goal;

typedef struct search {
	const qn_graph *g;
	qn_match m;
	uint32_t steps;
} search;

static bool solve(search *s, const goal *todo);

/* Matches arguments i.. of p against the node's inputs, in written or reversed order, then the
 * rest of the goals. */
static bool
solve_args(search *s, const qn_pat *p, const qn_node *n, bool reversed, int i, const goal *rest)
{
	if (i == p->narg)
		return solve(s, rest);

	/* Goals are pushed from the last argument to the first, so that the first is tried
	 * first. */
	int k = p->narg - 1 - i;
	goal one = {p->arg[k], n->in[reversed ? p->narg - 1 - k : k], rest};

	return solve_args(s, p, n, reversed, i + 1, &one);
}

static bool
solve_op(search *s, const qn_pat *p, const qn_node *n, const goal *rest)
{
	if (n->op != p->op)
		return false;
	if (p->narg < 0)
		return solve(s, rest);
	if ((uint32_t)p->narg != n->nin)
		return false;
	if (solve_args(s, p, n, false, 0, rest))
		return true;
	return (n->op == QN_OP_add || n->op == QN_OP_mul) && solve_args(s, p, n, true, 0, rest);
}

/* A node that lies inside the match: remembered while the search goes on below it. */
static bool
solve_inner(search *s, const qn_pat *p, qn_id value, const goal *rest)
{
	const qn_node *n = qn_graph_node(s->g, value);

	if (s->m.ninner == QN_MAX_INNER)
		return false;
	s->m.inner[s->m.ninner++] = value;
	if (p->kind == QN_PAT_OP ? solve_op(s, p, n, rest)
				 : qn_opinfo_of(n)->behaviour == p->behaviour && solve(s, rest))
		return true;
	s->m.ninner--;
	return false;
}

static bool
solve_pattern(search *s, const qn_pat *p, qn_id value, const goal *rest)
{
	const qn_node *n = qn_graph_node(s->g, value);

	switch (p->kind) {
	case QN_PAT_ANY:
		return solve(s, rest);
	case QN_PAT_CONST:
		return n->op == QN_OP_const && solve(s, rest);
	case QN_PAT_OP:
	case QN_PAT_CLASS:
		return solve_inner(s, p, value, rest);
	case QN_PAT_ALT:
		for (int i = 0; i < p->narg; i++) {
			goal one = {p->arg[i], value, rest};

			if (solve(s, &one))
				return true;
		}
		return false;
	}
	return false;
}

static bool
solve(search *s, const goal *todo)
{
	if (todo == NULL)
		return true;
	if (++s->steps > QN_MATCH_STEPS)
		return false;

	const qn_pat *p = todo->pat;
	if (p->slot == QN_NO_SLOT)
		return solve_pattern(s, p, todo->value, todo->next);

	qn_id *bound = &s->m.at[p->slot];
	if (*bound != 0)
		return *bound == todo->value && solve_pattern(s, p, todo->value, todo->next);
	*bound = todo->value;
	if (solve_pattern(s, p, todo->value, todo->next))
		return true;
	*bound = 0;
	return false;
}

bool
qn_match_at(const qn_graph *g, const qn_pat *p, qn_id root, qn_match *out)
{
	search s = {.g = g};
	goal first = {p, root, NULL};

	if (!solve(&s, &first))
		return false;
	*out = s.m;
	out->root = root;
	return true;
}
