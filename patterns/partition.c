/* SPDX-License-Identifier: Apache-2.0 */
/* partition.c - replaces each accepted match of a quantizer pattern by a call of a composite.
 *
 *   %c = conv2d %x, %w        graph @conv1.conv2d_bias(%x, %w, %b) pattern "conv2d_bias" { %c = conv2d %x, %w   %y = bias_add %c, %b   return %y }
 *   %y = bias_add %c, %b  ->  …
 *                             %y = call @conv1.conv2d_bias %x, %w, %b
 *
 * Patterns go in list order over the immutable source graph, each from the last node to the
 * first (root first), so a longer pattern that stands earlier wins.  A match is refused when a
 * node inside it belongs to another one already, or is used outside it: then it would have to be
 * computed twice.
 * requires: a float graph.   leaves: the entry graph calls composites; other nodes are as they were. */
#include <string.h>

#include "ir/diag.h"
#include "patterns/quantizer.h"
#include "patterns/rewrite.h"

typedef struct group {
	const qn_qpattern *pattern;
	qn_match match;
} group;

typedef struct partition {
	qn_model *m;
	const qn_graph *g;
	const uint32_t *uses;
	uint32_t *owner; /* id -> index of its group + 1, 0: none */
	group *group;
	size_t ngroup, group_cap;
} partition;

static void
note(partition *p, qn_id id, const char *text)
{
	const char *name = qn_graph_node(p->g, id)->name;

	if (p->m->notes == NULL) {
		p->m->notes = QN_NEW(p->m->arena, qn_map, 1);
		qn_map_init(p->m->notes, p->m->arena);
	}
	if (qn_map_gets(p->m->notes, name) == NULL)
		qn_map_puts(p->m->notes, name, (void *)(uintptr_t)text);
}

static bool
is_inner(const qn_match *m, qn_id id)
{
	for (uint32_t i = 0; i < m->ninner; i++)
		if (m->inner[i] == id)
			return true;
	return false;
}

/* How often nodes inside the match read `id`. */
static uint32_t
reads_inside(const qn_graph *g, const qn_match *m, qn_id id)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < m->ninner; k++) {
		const qn_node *node = qn_graph_node(g, m->inner[k]);

		for (uint32_t i = 0; i < node->nin; i++)
			n += node->in[i] == id;
	}
	return n;
}

/* No node of the match is in another one, and none but the root is used outside. */
static bool
closed(const partition *p, const qn_match *m)
{
	for (uint32_t k = 0; k < m->ninner; k++) {
		qn_id id = m->inner[k];

		if (p->owner[id] != 0 ||
		    (id != m->root && reads_inside(p->g, m, id) != p->uses[id]))
			return false;
	}
	return true;
}

/* Ascending ids, each once. */
static void
sort_inner(qn_match *m)
{
	uint32_t n = 0;

	for (uint32_t i = 1; i < m->ninner; i++)
		for (uint32_t j = i; j > 0 && m->inner[j] < m->inner[j - 1]; j--) {
			qn_id t = m->inner[j];

			m->inner[j] = m->inner[j - 1];
			m->inner[j - 1] = t;
		}
	for (uint32_t i = 0; i < m->ninner; i++)
		if (n == 0 || m->inner[n - 1] != m->inner[i])
			m->inner[n++] = m->inner[i];
	m->ninner = n;
}

static void
try_match(partition *p, const qn_qpattern *qp, qn_id root)
{
	qn_match m;
	const char *reason = NULL;

	if (p->owner[root] != 0 || !qn_match_at(p->g, qp->pattern, root, &m))
		return;
	sort_inner(&m);
	if (!closed(p, &m))
		return;
	if (qp->accept != NULL && !qp->accept(p->g, &m, &reason)) {
		qn_buf b;

		qn_buf_init(&b, p->m->arena);
		qn_buff(&b, "pattern '%s' declined: %s", qp->name, reason);
		note(p, root, qn_buf_str(&b));
		return;
	}
	p->group = qn_arena_grow(p->m->arena, p->group, &p->group_cap, p->ngroup + 1,
				 sizeof *p->group);
	p->group[p->ngroup++] = (group){qp, m};
	for (uint32_t k = 0; k < m.ninner; k++)
		p->owner[m.inner[k]] = (uint32_t)p->ngroup;
}

/* A composite under construction: outer values and what stands for them inside. */
typedef struct inliner {
	qn_graph *graph;
	qn_id *outer, *inner;
	uint32_t n, nparam;
} inliner;

static qn_id
lookup(const inliner *in, qn_id outer)
{
	for (uint32_t i = 0; i < in->n; i++)
		if (in->outer[i] == outer)
			return in->inner[i];
	return 0;
}

static void
bind(inliner *in, qn_id outer, qn_id inner)
{
	in->outer[in->n] = outer;
	in->inner[in->n++] = inner;
}

static uint32_t
count_reads(const qn_graph *g, const qn_match *m)
{
	uint32_t n = m->ninner;

	for (uint32_t k = 0; k < m->ninner; k++)
		n += qn_graph_node(g, m->inner[k])->nin;
	return n;
}

/* The composite of a group; the first nparam values of the result's `outer` are the arguments of
 * its call, in the order in which they are first read. */
static qn_status
make_composite(partition *p, const group *gr, inliner *out)
{
	const qn_match *m = &gr->match;
	const qn_node *root = qn_graph_node(p->g, m->root);
	uint32_t most = count_reads(p->g, m);
	inliner in = {.outer = QN_NEW(p->m->arena, qn_id, most),
		      .inner = QN_NEW(p->m->arena, qn_id, most)};
	qn_buf name;

	qn_buf_init(&name, p->m->arena);
	qn_buff(&name, "%s.%s", root->name, gr->pattern->name);
	in.graph = qn_graph_new(p->m, qn_buf_str(&name));
	in.graph->pattern = gr->pattern->name;
	for (uint32_t k = 0; k < m->ninner; k++) {
		const qn_node *n = qn_graph_node(p->g, m->inner[k]);

		for (uint32_t i = 0; i < n->nin; i++) {
			const qn_node *arg = qn_graph_node(p->g, n->in[i]);

			if (!is_inner(m, n->in[i]) && lookup(&in, n->in[i]) == 0)
				bind(&in, n->in[i], qn_graph_input(in.graph, arg->name, arg->type));
		}
	}
	in.nparam = in.n;
	for (uint32_t k = 0; k < m->ninner; k++) {
		qn_node n = *qn_graph_node(p->g, m->inner[k]);
		qn_id *arg = QN_NEW(p->m->arena, qn_id, n.nin);

		for (uint32_t i = 0; i < n.nin; i++)
			arg[i] = lookup(&in, n.in[i]);
		n.in = arg;
		qn_id id = qn_graph_add(in.graph, &n);
		if (id == 0)
			return QN_EINTERNAL;
		bind(&in, m->inner[k], id);
	}
	qn_graph_output(in.graph, root->name, lookup(&in, m->root));
	qn_model_add_graph(p->m, in.graph);
	*out = in;
	return QN_OK;
}

/* The node that takes the place of `id`, with inputs mapped. */
static qn_status
replace(partition *p, qn_id id, const qn_id *map, qn_node *n)
{
	uint32_t owner = p->owner[id];
	const qn_id *from = n->in;
	inliner in = {0};

	if (owner != 0) {
		QN_TRY(make_composite(p, &p->group[owner - 1], &in));
		*n = (qn_node){.op = QN_OP_call,
			       .name = n->name,
			       .nin = in.nparam,
			       .callee = in.graph,
			       .place = n->place};
		from = in.outer;
	}
	qn_id *mapped = QN_NEW(p->m->arena, qn_id, n->nin);
	for (uint32_t i = 0; i < n->nin; i++)
		mapped[i] = map[from[i]];
	n->in = mapped;
	return QN_OK;
}

static qn_status
rebuild(partition *p)
{
	qn_graph *dst = qn_graph_new(p->m, p->g->name);
	qn_id *map = QN_NEW(p->m->arena, qn_id, p->g->n);
	qn_graph *entry = qn_model_entry(p->m);

	p->m->ngraph = 0;
	for (qn_id id = 1; id < p->g->n; id++) {
		qn_node n = *qn_graph_node(p->g, id);
		uint32_t owner = p->owner[id];

		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): an owner has a group */
		if (owner != 0 && p->group[owner - 1].match.root != id)
			continue; /* computed inside its composite */
		QN_TRY(replace(p, id, map, &n));
		map[id] = qn_graph_add(dst, &n);
		if (map[id] == 0)
			return QN_EINTERNAL;
	}
	for (size_t i = 0; i < entry->noutput; i++)
		qn_graph_output(dst, entry->output[i].name, map[entry->output[i].value]);
	qn_model_add_graph(p->m, dst);
	return QN_OK;
}

qn_status
qn_partition(qn_model *m, const qn_quant_opts *opts)
{
	const qn_graph *g = qn_model_entry(m);
	partition p = {.m = m, .g = g};
	size_t n;
	const qn_qpattern *list = qn_standard_patterns(opts->scheme, &n);

	if (m->stage != QN_STAGE_FLOAT)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "partition takes a float graph; this one is %s",
				 qn_stage_names[m->stage]);
	p.uses = qn_graph_uses(g, m->arena);
	p.owner = QN_NEW(m->arena, uint32_t, g->n);
	m->notes = NULL;
	for (size_t k = 0; k < n; k++) /* list order is priority */
		for (qn_id id = g->n - 1; id > 0; id--)
			try_match(&p, &list[k], id);
	return rebuild(&p);
}
