/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c - what is known of nodes beside what they compute (graph.h).
 *
 *   %c = conv2d …   %b = bias_add %c, …   %r = relu %b        ->   %c = conv2d … from ["c","b"]   %r = requantize %c from ["r"] */
#include <string.h>

#include "ir/graph.h"

/* Whether a node is a layer of its own where nothing else is said of it. */
static bool
is_layer(const qn_opinfo *op, qn_op kind)
{
	return op->behaviour != QN_EDGE && kind != QN_OP_const && kind != QN_OP_input &&
	       kind != QN_OP_call && kind != QN_OP_tuple && kind != QN_OP_get;
}

bool
qn_node_computes(const qn_node *n)
{
	return is_layer(qn_opinfo_of(n), n->op);
}

size_t
qn_node_origin(const qn_node *n, const char *const **names)
{
	const bool said = n->facts != NULL && n->facts->norigin > 0;

	*names = said ? n->facts->origin : &n->name;
	return said ? n->facts->norigin : n->name != NULL && qn_node_computes(n);
}

void
qn_layers_add(qn_layers *l, size_t n, const char *const *names)
{
	for (size_t i = 0; i < n && l->n < QN_MOST_LAYERS; i++) {
		uint32_t k = 0;

		while (k < l->n && strcmp(l->name[k], names[i]) != 0)
			k++;
		if (k == l->n)
			l->name[l->n++] = names[i];
	}
}

void
qn_layers_add_node(qn_layers *l, const qn_node *n)
{
	const char *const *names;
	const size_t count = qn_node_origin(n, &names);

	qn_layers_add(l, count, names);
}

/* Whether the names are those that a node of this name has anyway. */
static bool
follows(const qn_node *n, const qn_layers *l)
{
	if (l->n == 0)
		return true;
	return l->n == 1 && n->name != NULL && qn_node_computes(n) &&
	       strcmp(l->name[0], n->name) == 0;
}

const qn_facts *
qn_facts_make(qn_model *m, const qn_node *n, const qn_facts *like, const qn_layers *layers)
{
	qn_facts f = {.skipped = like != NULL && like->skipped,
		      .note = like != NULL ? like->note : NULL};

	if (!follows(n, layers)) {
		const char **names = QN_NEW(m->arena, const char *, layers->n);

		for (uint32_t i = 0; i < layers->n; i++)
			names[i] = qn_arena_str(m->arena, layers->name[i]);
		f.norigin = layers->n;
		f.origin = names;
	}
	if (!f.skipped && f.note == NULL && f.norigin == 0)
		return NULL;
	f.note = f.note != NULL ? qn_arena_str(m->arena, f.note) : NULL;
	return qn_arena_copy(m->arena, &f, sizeof f);
}

const qn_facts *
qn_facts_renamed(qn_model *m, const qn_node *n, const char *before)
{
	qn_node had = *n;
	qn_layers l = {0};

	had.name = before;
	qn_layers_add_node(&l, &had);
	return qn_facts_make(m, n, n->facts, &l);
}

void
qn_graph_set_facts(qn_graph *g, qn_id id, const qn_facts *facts)
{
	g->block[id / QN_NODE_BLOCK][id % QN_NODE_BLOCK].facts = facts;
}

const char *
qn_node_layers(const qn_node *n, qn_arena *a)
{
	const qn_facts *f = n->facts;
	qn_buf b;

	if (f == NULL || f->norigin == 0)
		return "";
	qn_buf_init(&b, a);
	qn_buf_puts(&b, f->norigin > 1 ? " (layers " : " (layer ");
	for (uint32_t i = 0; i < f->norigin; i++)
		qn_buff(&b, "%s'%s'", i > 0 ? ", " : "", f->origin[i]);
	qn_buf_putc(&b, ')');
	return qn_buf_str(&b);
}
