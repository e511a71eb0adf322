/* SPDX-License-Identifier: Apache-2.0 */
/* composite.c - puts groups into composites.
 *
 *   %c = conv2d %x, %w        graph @r.block(%x, %w) { %c = conv2d %x, %w   %r = relu %c   return %r }
 *   %r = relu %c          ->  …
 *                             %r = call @r.block %x, %w */
#include "patterns/group.h"

typedef struct cutter {
	qn_model *m;
	qn_grouper *s;
	qn_id *inside; /* value -> value in the last composite that has it */
	bool *read;    /* values that the new graph reads */
	qn_map names;  /* of graphs */
} cutter;

/* "<root>.<label>", made unique. */
static const char *
composite_name(cutter *c, const qn_group *gr)
{
	const char *root = qn_graph_node(c->s->g, gr->root)->name;
	qn_buf b;

	qn_buf_init(&b, c->m->scratch);
	qn_buff(&b, "%s.%s", root, gr->label);
	for (int k = 1; qn_map_gets(&c->names, qn_buf_str(&b)) != NULL; k++) {
		b.n = 0;
		qn_buff(&b, "%s.%s_%d", root, gr->label, k);
	}
	qn_map_puts(&c->names, qn_buf_str(&b), c);
	return qn_buf_str(&b);
}

/* The inputs of n as values of another graph. */
static const qn_id *
mapped(cutter *c, const qn_node *n, const qn_id *map)
{
	qn_id *in = QN_NEW(c->m->scratch, qn_id, n->nin);

	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = map[n->in[i]];
	return in;
}

static qn_status
make_composite(cutter *c, const qn_group *gr, qn_graph **out)
{
	const qn_graph *g = c->s->g;
	qn_graph *composite = qn_graph_new(c->m, composite_name(c, gr));
	qn_status status = QN_OK;

	composite->pattern = gr->pattern;
	for (size_t i = 0; i < gr->nattr; i++)
		qn_graph_add_attr(composite, gr->attr[i].key, gr->attr[i].value);
	for (uint32_t k = 0; k < gr->ninput; k++) {
		const qn_node *n = qn_graph_node(g, gr->input[k]);

		c->inside[gr->input[k]] = qn_graph_input(composite, n->name, n->type);
	}
	for (uint32_t k = 0; k < gr->ninner && status == QN_OK; k++) {
		qn_node n = *qn_graph_node(g, gr->inner[k]);

		n.in = mapped(c, &n, c->inside);
		c->inside[gr->inner[k]] = qn_graph_add(composite, &n);
		status = c->inside[gr->inner[k]] != 0 ? QN_OK : QN_EINTERNAL;
	}
	qn_graph_output(composite, qn_graph_node(g, gr->root)->name, c->inside[gr->root]);
	*out = composite;
	return status;
}

/* The group of which id is the root and which is cut out; NULL: none. */
static const qn_group *
cut_at(const cutter *c, qn_id id)
{
	uint32_t number = c->s->rooted[id];
	const qn_group *gr = number != 0 ? &c->s->group[number - 1] : NULL;

	return gr != NULL && gr->label != NULL ? gr : NULL;
}

/* Whether the value is computed in a composite and, unless something else reads it, only there. */
static bool
lies_inside(const cutter *c, qn_id id)
{
	uint32_t owner = c->s->owner[id];

	return owner != 0 && c->s->group[owner - 1].label != NULL && cut_at(c, id) == NULL;
}

static void
find_reads(cutter *c)
{
	const qn_graph *g = c->s->g;

	for (size_t i = 0; i < g->noutput; i++)
		c->read[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_group *gr = cut_at(c, id);
		const qn_node *n = qn_graph_node(g, id);
		uint32_t nin = gr != NULL ? gr->ninput : n->nin;

		if (lies_inside(c, id) && !c->read[id])
			continue;
		for (uint32_t i = 0; i < nin; i++)
			c->read[gr != NULL ? gr->input[i] : n->in[i]] = true;
	}
}

/* The node that replaces `id`. */
static qn_status
replacement(cutter *c, qn_id id, const qn_id *map, qn_node *n)
{
	const qn_group *gr = cut_at(c, id);
	qn_graph *composite;

	*n = *qn_graph_node(c->s->g, id);
	if (c->s->facts != NULL && c->s->facts[id] != NULL)
		n->facts = c->s->facts[id];
	if (gr != NULL) {
		QN_TRY(make_composite(c, gr, &composite));
		qn_model_add_graph(c->m, composite);
		*n = (qn_node){.op = QN_OP_call,
			       .name = n->name,
			       .nin = gr->ninput,
			       .in = gr->input,
			       .callee = composite,
			       .place = n->place};
	}
	n->in = mapped(c, n, map);
	return QN_OK;
}

qn_status
qn_groups_cut(qn_model *m, qn_grouper *s)
{
	const qn_graph *g = s->g;
	qn_graph *dst = qn_graph_new(m, g->name);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	cutter c = {.m = m, .s = s};

	c.inside = QN_NEW(m->scratch, qn_id, g->n);
	c.read = QN_NEW(m->scratch, bool, g->n);
	qn_map_init(&c.names, m->scratch);
	for (size_t i = 0; i < m->ngraph; i++)
		qn_map_puts(&c.names, m->graph[i]->name, m);
	m->ngraph--; /* the entry, which is appended again after the composites */
	find_reads(&c);
	for (qn_id id = 1; id < g->n; id++) {
		qn_node n;

		if (lies_inside(&c, id) && !c.read[id])
			continue;
		QN_TRY(replacement(&c, id, map, &n));
		map[id] = qn_graph_add(dst, &n);
		if (map[id] == 0)
			return QN_EINTERNAL;
	}
	qn_graph_copy_outputs(dst, g, map);
	qn_model_add_graph(m, dst);
	return QN_OK;
}
