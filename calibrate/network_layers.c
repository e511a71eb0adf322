/* SPDX-License-Identifier: Apache-2.0 */
/* network_layers.c - see network_layers.h. */
#include "calibrate/network_layers.h"

#include <stdlib.h>
#include <string.h>

#include "ir/macs.h"

/* What one match computes; the ids of a list are in no order. */
typedef struct match {
	qn_id out;
	size_t nin, nconstant, nnode;
	qn_id *in, *constant, *node;
	qn_layers source;
	size_t layer; /* that it belongs to */
} match;

typedef struct finder {
	const qn_graph *g;
	const qn_id *map;
	qn_arena *arena;
	size_t stamp; /* of the match that is looked at, from 1 */
	size_t *seen,
		*given;      /* by id: the stamp of the last match that reached it; that takes it */
	qn_id *stack, *room; /* the lists of a match until they are complete: room for three */
	size_t nmatch;
	match *match;
} finder;

const char *
qn_layer_node_name(const qn_node *n, qn_arena *a)
{
	static const char end[] = ".acc";
	const size_t length = strlen(n->name), m = sizeof end - 1;

	return length > m && strcmp(n->name + length - m, end) == 0
		       ? qn_arena_strn(a, n->name, length - m)
		       : n->name;
}

/* ---- one match ---- */

/* What the match reads at id: a value from elsewhere, a constant, or a node of its own. */
static void
reach(finder *f, match *to, qn_id id, size_t *nstack)
{
	const qn_node *n = qn_graph_node(f->g, id);

	if (f->seen[id] == f->stamp)
		return;
	f->seen[id] = f->stamp;
	if (n->op == QN_OP_const) {
		if (qn_type_is_f32(n->type) && f->map[id] != 0)
			to->constant[to->nconstant++] = id;
	} else if (f->given[id] == f->stamp || n->op == QN_OP_input) {
		if (f->map[id] != 0 && !n->type->is_tuple && !qn_elem_is_quant(n->type->elem))
			to->in[to->nin++] = id;
	} else {
		to->node[to->nnode++] = id;
		f->stack[(*nstack)++] = id;
	}
}

static bool
find_match(finder *f, const qn_part *part, match *to)
{
	const qn_id out = qn_graph_find(f->g, part->out);
	size_t nstack = 0;

	if (out == 0 || f->map[out] == 0 || !qn_type_is_f32(qn_graph_node(f->g, out)->type))
		return false;
	*to = (match){.out = out,
		      .in = f->room,
		      .constant = f->room + f->g->n,
		      .node = f->room + 2 * (size_t)f->g->n};
	f->stamp++;
	for (uint32_t i = 0; i < part->nin; i++) {
		const qn_id in = qn_graph_find(f->g, part->in[i]);

		f->given[in] = f->stamp;
		if (in == out || (in != 0 && f->map[in] == f->map[out]))
			return false; /* it computes nothing */
	}
	reach(f, to, out, &nstack);
	while (nstack > 0) {
		const qn_node *n = qn_graph_node(f->g, f->stack[--nstack]);

		qn_layers_add_node(&to->source, n);
		for (uint32_t i = 0; i < n->nin; i++)
			reach(f, to, n->in[i], &nstack);
	}
	to->in = qn_arena_copy(f->arena, to->in, to->nin * sizeof *to->in);
	to->constant = qn_arena_copy(f->arena, to->constant, to->nconstant * sizeof *to->constant);
	to->node = qn_arena_copy(f->arena, to->node, to->nnode * sizeof *to->node);
	return true;
}

/* ---- matches to layers ---- */

static bool
has(const qn_layers *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (strcmp(l->name[i], name) == 0)
			return true;
	return false;
}

static bool
are_equal(const qn_layers *a, const qn_layers *b)
{
	for (uint32_t i = 0; i < a->n; i++)
		if (!has(b, a->name[i]))
			return false;
	return a->n == b->n;
}

/* The layer of a match: an earlier one of the same source, or a new one. */
static size_t
layer_for(const match *m, qn_network_layers *to)
{
	for (size_t i = 0; m->source.n > 0 && i < to->n; i++)
		if (are_equal(&m->source, &to->layer[i].source))
			return i;
	to->layer[to->n].source = m->source;
	return to->n++;
}

static int
ascending(const void *a, const void *b)
{
	const qn_id x = *(const qn_id *)a, y = *(const qn_id *)b;

	return (x > y) - (x < y);
}

/* Sorts ids, and leaves out those that stand there twice. */
static size_t
sort(qn_id *id, size_t n)
{
	size_t count = 0;

	if (n > 0)
		qsort(id, n, sizeof *id, ascending);
	for (size_t i = 0; i < n; i++)
		if (count == 0 || id[count - 1] != id[i])
			id[count++] = id[i];
	return count;
}

static void
append(qn_id *to, size_t *n, const qn_id *from, size_t count)
{
	if (count > 0)
		memcpy(to + *n, from, count * sizeof *from);
	*n += count;
}

/* The lists of layer k from those of its matches. */
static void
collect(const finder *f, qn_network_layer *l, size_t k)
{
	size_t nout = 0, nin = 0, nconstant = 0, nnode = 0;

	for (size_t i = 0; i < f->nmatch; i++) {
		const match *m = &f->match[i];

		if (m->layer != k)
			continue;
		nout++;
		nin += m->nin;
		nconstant += m->nconstant;
		nnode += m->nnode;
	}
	l->out = QN_NEW(f->arena, qn_id, 2 * nout);
	l->exit = l->out + nout;
	l->in = QN_NEW(f->arena, qn_id, nin);
	l->constant = QN_NEW(f->arena, qn_id, nconstant);
	l->node = QN_NEW(f->arena, qn_id, nnode);
	for (size_t i = 0; i < f->nmatch; i++) {
		const match *m = &f->match[i];

		if (m->layer != k)
			continue;
		l->out[l->nout++] = m->out;
		append(l->in, &l->nin, m->in, m->nin);
		append(l->constant, &l->nconstant, m->constant, m->nconstant);
		append(l->node, &l->nnode, m->node, m->nnode);
	}
	l->nin = sort(l->in, l->nin);
	l->nconstant = sort(l->constant, l->nconstant);
	l->nnode = sort(l->node, l->nnode);
}

/* ---- what is known of a layer ---- */

/* Its results that something outside takes; all, where nothing does. */
static void
find_exits(qn_network_layer *l, const bool *taken)
{
	for (size_t i = 0; i < l->nout; i++)
		if (taken[l->out[i]])
			l->exit[l->nexit++] = l->out[i];
	if (l->nexit == 0)
		append(l->exit, &l->nexit, l->out, l->nout);
}

/* By id: whether an output is it, or a node of another layer reads it. */
static bool *
find_taken(const qn_graph *g, const size_t *owner, qn_arena *a)
{
	bool *taken = QN_NEW(a, bool, g->n);

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin; i++)
			if (owner[id] != owner[n->in[i]])
				taken[n->in[i]] = true;
	}
	for (size_t i = 0; i < g->noutput; i++)
		taken[g->output[i].value] = true;
	return taken;
}

/* The op whose result the last match dequantizes. */
static qn_id
last_core(const qn_graph *g, const qn_network_layer *l)
{
	qn_id id = l->out[l->nout - 1];

	while (qn_graph_node(g, id)->op == QN_OP_dequantize ||
	       qn_graph_node(g, id)->op == QN_OP_quantize)
		id = qn_graph_node(g, id)->in[0];
	return id;
}

static void
find_core(const qn_graph *g, qn_network_layer *l)
{
	uint64_t most = 0;

	l->core = last_core(g, l);
	for (size_t i = 0; i < l->nnode; i++) {
		const uint64_t macs = qn_node_macs(g, qn_graph_node(g, l->node[i]));

		if (macs <= most)
			continue;
		most = macs;
		l->core = l->node[i];
	}
}

/* How many of the other layers a rule of this name matches, too. */
static size_t
count_others(const qn_network_layers *all, size_t k, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += i != k && has(&all->layer[i].source, name);
	return n;
}

/* The node's own name, where there is one match; else that of a layer of the source, which all nodes have. */
static void
choose_name(const qn_graph *g, const qn_network_layers *all, size_t k, qn_arena *a)
{
	qn_network_layer *l = &all->layer[k];
	size_t fewest = SIZE_MAX;

	l->name = qn_layer_node_name(qn_graph_node(g, l->core), a);
	if (l->nout == 1)
		fewest = count_others(all, k, l->name);
	for (uint32_t i = 0; i < l->source.n && fewest > 0; i++) {
		const size_t n = count_others(all, k, l->source.name[i]);

		if (n >= fewest)
			continue;
		fewest = n;
		l->name = l->source.name[i];
	}
}

qn_network_layers
qn_network_layers_find(const qn_graph *g, const qn_id *map, qn_arena *a)
{
	finder f = {.g = g, .map = map, .arena = a};
	qn_network_layers all = {0};
	size_t most = 0;

	for (const qn_part *p = g->parts; p != NULL; p = p->next)
		most++;
	f.seen = QN_NEW(a, size_t, g->n);
	f.given = QN_NEW(a, size_t, g->n);
	f.stack = QN_NEW(a, qn_id, 4 * (size_t)g->n);
	f.room = f.stack + g->n;
	f.match = QN_NEW(a, match, most);
	all.layer = QN_NEW(a, qn_network_layer, most);
	all.owner = QN_NEW(a, size_t, g->n);
	for (const qn_part *p = g->parts; p != NULL; p = p->next) {
		match *m = &f.match[f.nmatch];

		if (!find_match(&f, p, m))
			continue;
		f.nmatch++;
		m->layer = layer_for(m, &all);
		for (size_t i = 0; i < m->nnode; i++)
			if (all.owner[m->node[i]] == 0)
				all.owner[m->node[i]] = m->layer + 1;
	}
	const bool *taken = find_taken(g, all.owner, a);
	for (size_t k = 0; k < all.n; k++) {
		collect(&f, &all.layer[k], k);
		find_exits(&all.layer[k], taken);
		find_core(g, &all.layer[k]);
	}
	for (size_t k = 0; k < all.n; k++)
		choose_name(g, &all, k, a);
	return all;
}

size_t *
qn_network_layers_before(const qn_graph *g, const qn_network_layers *all, size_t k, qn_arena *a,
			 size_t *n)
{
	const qn_network_layer *l = &all->layer[k];
	bool *reached = QN_NEW(a, bool, g->n);
	bool *before = QN_NEW(a, bool, all->n);
	size_t *list = QN_NEW(a, size_t, all->n);

	*n = 0;
	for (size_t i = 0; i < l->nin; i++)
		reached[l->in[i]] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *node = qn_graph_node(g, id);

		if (reached[id] && all->owner[id] != 0)
			before[all->owner[id] - 1] = true;
		for (uint32_t i = 0; reached[id] && all->owner[id] == 0 && i < node->nin; i++)
			reached[node->in[i]] = true;
	}
	for (size_t i = 0; i < all->n; i++)
		if (before[i] && i != k)
			list[(*n)++] = i;
	return list;
}
