/* SPDX-License-Identifier: Apache-2.0 */
/* fixpoint.c - see fixpoint.h.
 *
 * A graph of one pass lives until the next one exists; nodes that nothing needs are skipped, so
 * that a node that a rule left over uses nothing. Whether a callback changed something is seen
 * by numbers of computations (index.h), which are equal for what is made again in the same way. */
#include "patterns/fixpoint.h"

#include "ir/diag.h"
#include "ir/limits.h"
#include "ir/progress.h"
#include "patterns/reading.h"
#include "patterns/rewrite.h"

typedef struct pass {
	qn_model *m;
	const qn_fixpoint_rule *rule;
	qn_arena *arena;
	qn_matcher *matcher;
	qn_grouper groups;
	qn_match *match; /* of group i */
	size_t match_cap;
	const qn_graph *src;
	qn_graph *dst;
	qn_id *map;
	qn_numbers numbers;
	uint32_t *number; /* of the values of dst */
	size_t nnumber, number_cap;
	bool changed;
} pass;

static qn_status
find_groups(pass *p)
{
	for (qn_id id = p->src->n - 1; id > 0; id--) {
		qn_match m;
		qn_group group;
		bool found =
			qn_group_find(&p->groups, p->rule->pattern, id, p->rule->flags, &m, &group);

		if (qn_matcher_exhausted(p->matcher))
			return qn_matcher_report(p->matcher, p->src, id);
		if (!found)
			continue;
		qn_group_take(&p->groups, &group);
		p->match = qn_arena_grow(p->arena, p->match, &p->match_cap, p->groups.ngroup,
					 sizeof *p->match);
		m.bound = qn_arena_copy(p->arena, m.bound, m.nbound * sizeof *m.bound);
		p->match[p->groups.ngroup - 1] = m;
	}
	return QN_OK;
}

/* The number of a value of dst. */
static uint32_t
number_of(pass *p, qn_id id)
{
	p->number =
		qn_arena_grow(p->arena, p->number, &p->number_cap, p->dst->n, sizeof *p->number);
	for (; p->nnumber < p->dst->n; p->nnumber++) {
		const qn_node *n = qn_graph_node(p->dst, (qn_id)p->nnumber);
		uint32_t *in = QN_NEW(p->arena, uint32_t, n->nin);

		for (uint32_t i = 0; i < n->nin; i++)
			in[i] = p->number[n->in[i]];
		if (p->nnumber > 0)
			p->number[p->nnumber] = qn_numbers_of(&p->numbers, n, in);
	}
	return p->number[id];
}

/* What replaces the root, whose copy is `copy`; 0 after an error. */
static qn_id
call_back(pass *p, const qn_match *found, qn_id copy)
{
	const qn_node *root = qn_graph_node(p->src, found->root);
	const char *name = root->name;
	const qn_type *type = root->type;
	qn_bound *bound = qn_arena_copy(p->arena, found->bound, found->nbound * sizeof *bound);
	qn_match m = *found;

	p->map[found->root] = copy;
	for (size_t i = 0; i < m.nbound; i++)
		if (bound[i].graph == p->src) {
			bound[i].value = p->map[bound[i].value];
			bound[i].graph = p->dst;
		}
	for (size_t i = 0; i < QN_MAX_SLOTS; i++)
		m.at[i] = p->map[m.at[i]];
	m.root = copy;
	m.graph = p->dst;
	m.bound = bound;
	m.reading = qn_reading_new(p->arena);
	qn_id got = p->rule->fn(p->rule->user, p->dst, &m, p->src, found->root);
	if (got == 0 || got >= p->dst->n) {
		(void)qn_report(p->m->env, QN_EINVALID, "rewrite.callback", name,
				"rule '%s' returned no value of the graph for this node",
				p->rule->name);
		return 0;
	}
	if (qn_graph_node(p->dst, got)->type != type) {
		(void)qn_report(p->m->env, QN_EINVALID, "rewrite.type", name,
				"rule '%s' returned a value of another type for this node: '%s'",
				p->rule->name, qn_graph_node(p->dst, got)->name);
		return 0;
	}
	if (got == copy || number_of(p, got) == number_of(p, copy))
		return copy;
	p->changed = true;
	return got;
}

static qn_status
rebuild(pass *p)
{
	const qn_graph *g = p->src;
	const qn_index *ix = p->groups.index;
	const uint64_t most = qn_limit(p->m->env, QN_LIMIT_NODES);

	for (qn_id id = 1; id < g->n; id++) {
		qn_node n = *qn_graph_node(g, id);
		qn_id *in = QN_NEW(p->arena, qn_id, n.nin);
		uint32_t number = p->groups.rooted[id];

		if (!ix->live[id] && n.op != QN_OP_input)
			continue;
		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = p->map[n.in[i]];
		n.in = in;
		p->map[id] = qn_graph_add(p->dst, &n);
		if (p->map[id] != 0 && number != 0)
			p->map[id] = call_back(p, &p->match[number - 1], p->map[id]);
		if (p->map[id] == 0)
			return QN_EINVALID;
		if (p->dst->n > most)
			return qn_limit_report(p->m->env, QN_LIMIT_NODES, p->rule->name, p->dst->n);
	}
	qn_graph_copy_outputs(p->dst, g, p->map);
	return QN_OK;
}

static qn_status
run_pass(pass *p, const qn_matcher *like)
{
	p->matcher = qn_matcher_new(p->arena, 0);
	qn_matcher_set_like(p->matcher, like);
	qn_grouper_init(&p->groups, p->arena, p->matcher, p->src);
	QN_TRY(find_groups(p));
	if (p->groups.ngroup == 0)
		return QN_OK;
	p->dst = qn_graph_new_in(p->m, p->src->name, p->arena);
	p->map = QN_NEW(p->arena, qn_id, p->src->n);
	qn_numbers_init(&p->numbers, p->arena);
	return rebuild(p);
}

/* The rounds; *g is the graph so far, in *held (NULL: the model's own). */
static qn_status
run_rounds(qn_model *m, const qn_fixpoint_rule *rules, size_t n, const qn_matcher *like,
	   const qn_graph **g, qn_arena **held, size_t *passes)
{
	bool *done = QN_NEW(m->scratch, bool, n);
	bool changed = true;

	while (changed) {
		changed = false;
		for (size_t i = 0; i < n; i++) {
			pass p = {.m = m, .rule = &rules[i], .src = *g};

			if (done[i])
				continue;
			if (*passes == QN_MAX_PASSES)
				return qn_report(
					m->env, QN_EINVALID, "rewrite.fixpoint", rules[i].name,
					"the rules still change the graph after %d passes; mark a "
					"rule that matches its own result to run once",
					(int)QN_MAX_PASSES);
			QN_TRY(qn_progress(m->env, "rewrite", *passes, QN_MAX_PASSES));
			p.arena = qn_arena_child(m->scratch);
			qn_status status = run_pass(&p, like);
			++*passes;
			if (status != QN_OK || !p.changed) {
				qn_arena_release(p.arena);
				QN_TRY(status);
				continue;
			}
			if (*held != NULL)
				qn_arena_release(*held);
			*held = p.arena;
			*g = p.dst;
			changed = true;
			done[i] = (rules[i].flags & QN_ONCE) != 0;
		}
	}
	return QN_OK;
}

qn_status
qn_rewrite_to_fixpoint(qn_model *m, const qn_fixpoint_rule *rules, size_t n, const qn_matcher *like,
		       size_t *passes)
{
	const qn_graph *g = qn_model_entry(m);
	qn_arena *held = NULL;
	size_t count = 0;
	qn_graph *out = NULL;
	qn_status status = run_rounds(m, rules, n, like, &g, &held, &count);

	if (passes != NULL)
		*passes = count;
	if (status == QN_OK && held != NULL) {
		status = qn_graph_sweep(m, g, NULL, &out);
		if (status == QN_OK)
			m->graph[m->ngraph - 1] = out;
	}
	if (held != NULL)
		qn_arena_release(held);
	return status;
}
