/* SPDX-License-Identifier: Apache-2.0 */
/* group.c - finds groups (group.h).  What it costs is the size of the match, not of the graph. */
#include "patterns/group.h"

void
qn_grouper_init(qn_grouper *s, qn_arena *arena, qn_matcher *matcher, const qn_graph *g)
{
	*s = (qn_grouper){.g = g, .arena = arena, .matcher = matcher};
	s->index = qn_matcher_index(matcher, g);
	s->owner = QN_NEW(arena, uint32_t, g->n);
	s->rooted = QN_NEW(arena, uint32_t, g->n);
	s->mark = QN_NEW(arena, uint32_t, g->n);
	s->reads = QN_NEW(arena, uint32_t, g->n);
}

/* ---- inputs ---- */

static void
push(qn_grouper *s, qn_id id)
{
	if (s->ntodo == s->todo_cap)
		s->todo = qn_arena_grow(s->arena, s->todo, &s->todo_cap, s->ntodo + 1,
					sizeof *s->todo);
	s->todo[s->ntodo++] = id;
}

/* The marks of one candidate: now for inputs, now + 1 for what lies inside, now + 2 for what is
 * not an input, whatever matched it. */
static void
add_input(qn_grouper *s, qn_id id)
{
	if (s->mark[id] == s->now || s->mark[id] == s->now + 2)
		return;
	s->mark[id] = s->now;
	push(s, id);
}

/* Values of slots that stand for something else than a wildcard: a wildcard of that slot is only
 * another mention of them. */
static void
note_named(qn_grouper *s, const qn_match *m, bool set)
{
	for (size_t i = 0; i < m->nbound; i++) {
		const qn_bound *b = &m->bound[i];

		if (b->kind != QN_BOUND_SLOT || b->pat->slot == QN_NO_SLOT ||
		    qn_pat_is_wildcard(b->pat))
			continue;
		s->named = qn_arena_grow(s->arena, s->named, &s->named_cap,
					 (size_t)b->pat->slot + 1, sizeof *s->named);
		s->named[b->pat->slot] = set ? b->value : 0;
	}
}

static bool
is_mention(const qn_grouper *s, const qn_bound *b)
{
	return qn_pat_is_wildcard(b->pat) && b->pat->slot != QN_NO_SLOT &&
	       (size_t)b->pat->slot < s->named_cap && s->named[b->pat->slot] == b->value;
}

static bool
is_leaf(const qn_pat *p)
{
	return qn_pat_is_wildcard(p) || p->kind == QN_PAT_CONST || p->kind == QN_PAT_INPUT ||
	       p->kind == QN_PAT_EXPR;
}

static void
find_inputs(qn_grouper *s, const qn_match *m)
{
	for (size_t i = 0; i < m->nbound; i++)
		if (m->bound[i].kind == QN_BOUND_PATH && m->bound[i].graph == s->g)
			s->mark[m->bound[i].value] = s->now + 2;
	for (size_t i = 0; i < m->nbound; i++) {
		const qn_bound *b = &m->bound[i];

		if (b->graph != s->g || b->kind == QN_BOUND_PATH)
			continue;
		const qn_node *n = qn_graph_node(s->g, b->value);
		if (b->kind == QN_BOUND_ARGS)
			for (uint32_t k = 0; k < n->nin; k++)
				add_input(s, n->in[k]);
		else if (is_leaf(b->pat) && !is_mention(s, b) &&
			 (qn_pat_is_wildcard(b->pat) || n->op != QN_OP_const))
			add_input(s, b->value);
	}
}

/* ---- what lies inside ---- */

static void
sink(qn_id *v, uint32_t i, uint32_t n)
{
	for (uint32_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && v[child + 1] > v[child])
			child++;
		if (v[i] >= v[child])
			return;
		qn_id t = v[i];
		v[i] = v[child];
		v[child] = t;
	}
}

/* Heap sort. */
static void
sort(qn_id *v, uint32_t n)
{
	for (uint32_t i = n / 2; i > 0; i--)
		sink(v, i - 1, n);
	for (uint32_t i = n; i > 1; i--) {
		qn_id t = v[0];

		v[0] = v[i - 1];
		v[i - 1] = t;
		sink(v, 0, i - 1);
	}
}

/* False where the pattern did not say what goes in: nothing lies inside then. */
static bool
find_inner(qn_grouper *s, qn_id root)
{
	size_t next = s->ntodo;

	if (s->mark[root] == s->now)
		return false;
	s->mark[root] = s->now + 1;
	push(s, root);
	for (; next < s->ntodo; next++) {
		const qn_node *n = qn_graph_node(s->g, s->todo[next]);

		if (n->op == QN_OP_input)
			return false;
		for (uint32_t i = 0; i < n->nin; i++) {
			qn_id in = n->in[i];

			if (s->mark[in] == s->now || s->mark[in] == s->now + 1)
				continue;
			s->mark[in] = s->now + 1;
			push(s, in);
		}
	}
	return true;
}

/* Whether all users of id outside of the group are needed by the root alone. */
static bool
only_root_needs(qn_grouper *s, qn_id id, qn_id root)
{
	return qn_index_dominates(s->index, root, id);
}

/* Notes why the candidate, which matches, cannot be a group. */
static bool
refuse(qn_grouper *s, qn_id value, uint32_t owner)
{
	const char *name = qn_graph_node(s->g, value)->name;
	qn_buf b;

	if (!s->tell)
		return false;
	qn_buf_init(&b, s->arena);
	if (owner != 0)
		qn_buff(&b, "'%s' belongs to the match of '%s' at '%s'", name,
			s->group[owner - 1].pattern,
			qn_graph_node(s->g, s->group[owner - 1].root)->name);
	else
		qn_buff(&b, "'%s', an inner node of the match, is used elsewhere", name);
	s->why = qn_buf_str(&b);
	return false;
}

static bool
is_closed(qn_grouper *s, const qn_group *gr, uint32_t flags)
{
	bool closed = true;

	for (uint32_t k = 0; k < gr->ninner; k++) {
		const qn_node *n = qn_graph_node(s->g, gr->inner[k]);

		for (uint32_t i = 0; i < n->nin; i++)
			s->reads[n->in[i]]++;
	}
	for (uint32_t k = 0; k < gr->ninner; k++) {
		qn_id id = gr->inner[k];

		if (qn_graph_node(s->g, id)->op == QN_OP_const)
			continue;
		if (s->owner[id] != 0)
			closed = refuse(s, id, s->owner[id]);
		if (id != gr->root && s->reads[id] != s->index->uses[id] &&
		    !((flags & QN_ALLOW_DUP) != 0 && only_root_needs(s, id, gr->root)))
			closed = refuse(s, id, 0);
	}
	for (uint32_t k = 0; k < gr->ninner; k++) {
		const qn_node *n = qn_graph_node(s->g, gr->inner[k]);

		for (uint32_t i = 0; i < n->nin; i++)
			s->reads[n->in[i]] = 0;
	}
	return closed;
}

bool
qn_group_find(qn_grouper *s, const qn_pat *p, qn_id root, uint32_t flags, qn_match *m,
	      qn_group *out)
{
	bool overlap = (flags & QN_OVERLAP) != 0;

	s->why = NULL;
	if (!s->index->live[root] || (s->owner[root] != 0 && !overlap && !s->tell) ||
	    !qn_match_at(s->matcher, s->g, p, root, m))
		return false;
	if (s->owner[root] != 0 && !overlap)
		return refuse(s, root, s->owner[root]);
	if (s->now > UINT32_MAX - 6) {
		for (qn_id id = 0; id < s->g->n; id++)
			s->mark[id] = 0;
		s->now = 0;
	}
	s->now += 3;
	s->ntodo = 0;
	note_named(s, m, true);
	find_inputs(s, m);
	note_named(s, m, false);
	*out = (qn_group){.root = root, .ninput = (uint32_t)s->ntodo};
	if (!find_inner(s, root))
		return false;
	out->ninner = (uint32_t)s->ntodo - out->ninput;
	out->input = s->todo;
	out->inner = s->todo + out->ninput;
	sort(out->inner, out->ninner);
	return overlap || is_closed(s, out, flags);
}

void
qn_group_take(qn_grouper *s, const qn_group *group)
{
	qn_group *g;

	s->group =
		qn_arena_grow(s->arena, s->group, &s->group_cap, s->ngroup + 1, sizeof *s->group);
	g = &s->group[s->ngroup++];
	*g = *group;
	g->input = qn_arena_copy(s->arena, group->input, group->ninput * sizeof *g->input);
	g->inner = qn_arena_copy(s->arena, group->inner, group->ninner * sizeof *g->inner);
	s->rooted[g->root] = (uint32_t)s->ngroup;
	for (uint32_t k = 0; k < g->ninner; k++)
		if (qn_graph_node(s->g, g->inner[k])->op != QN_OP_const)
			s->owner[g->inner[k]] = (uint32_t)s->ngroup;
}
