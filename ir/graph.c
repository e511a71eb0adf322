/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - building graphs: nodes are checked and typed when they are added and never changed
 * afterwards. */
#include <string.h>

#include "ir/diag.h"
#include "ir/infer.h"

enum { FIRST_NODES = 6 }; /* in the first block of a small graph */

/* Room for node g->n.  Nodes never move, but those of a small first block are copied to a larger
 * one; what points to the old ones still finds them there, as nodes do not change. */
static qn_node *
new_node(qn_graph *g)
{
	size_t b = g->n / QN_NODE_BLOCK;

	g->block =
		qn_arena_grow(g->arena, (void *)g->block, &g->block_cap, b + 1, sizeof *g->block);
	if (b > 0 && g->n % QN_NODE_BLOCK == 0)
		g->block[b] = QN_NEW(g->arena, qn_node, QN_NODE_BLOCK);
	if (b == 0 && g->n == g->first_cap) {
		uint32_t cap = g->n == 0 ? FIRST_NODES : g->n * 2;

		cap = cap < QN_NODE_BLOCK ? cap : QN_NODE_BLOCK;
		qn_node *first = QN_NEW(g->arena, qn_node, cap);
		if (g->n > 0)
			memcpy(first, g->block[0], g->n * sizeof *first);
		g->block[0] = first;
		g->first_cap = cap;
	}
	return &g->block[b][g->n++ % QN_NODE_BLOCK];
}

qn_graph *
qn_graph_new_in(qn_model *m, const char *name, qn_arena *arena)
{
	qn_graph *g = QN_NEW(arena, qn_graph, 1);

	g->model = m;
	g->arena = arena;
	g->name = qn_arena_str(arena, name);
	(void)new_node(g); /* number 0, which stands for none */
	qn_hashes_init(&g->names, arena);
	qn_map_init(&g->counters, arena);
	return g;
}

qn_graph *
qn_graph_new(qn_model *m, const char *name)
{
	return qn_graph_new_in(m, name, m->graphs);
}

void
qn_graph_add_attr(qn_graph *g, const char *key, const char *value)
{
	g->attr = qn_arena_grow(g->arena, g->attr, &g->attr_cap, g->nattr + 1, sizeof *g->attr);
	g->attr[g->nattr++] =
		(qn_graph_attr){qn_arena_str(g->arena, key), qn_arena_str(g->arena, value)};
}

const char *
qn_graph_attr_value(const qn_graph *g, const char *key)
{
	for (size_t i = 0; i < g->nattr; i++)
		if (strcmp(g->attr[i].key, key) == 0)
			return g->attr[i].value;
	return NULL;
}

const qn_part **
qn_graph_add_part(qn_graph *g, const qn_part **last, const qn_part *part)
{
	qn_arena *a = g->arena;
	qn_part *own = qn_arena_copy(a, part, sizeof *part);
	const char **in = QN_NEW(a, const char *, part->nin);

	for (uint32_t i = 0; i < part->nin; i++)
		in[i] = qn_arena_str(a, part->in[i]);
	own->pattern = qn_arena_str(a, part->pattern);
	own->out = qn_arena_str(a, part->out);
	own->in = in;
	own->method = part->method != NULL ? qn_arena_str(a, part->method) : NULL;
	own->next = NULL;
	*last = own;
	return &own->next;
}

bool
qn_graph_copy_nodes(qn_graph *to, const qn_graph *from, const qn_id *order, const bool *need,
		    qn_id *map)
{
	for (qn_id at = 1; at < from->n; at++) {
		const qn_id id = order != NULL ? order[at - 1] : at;
		qn_node n = *qn_graph_node(from, id);
		qn_id *in = QN_NEW(from->model->scratch, qn_id, n.nin + 1);

		if (map[id] != 0 || (need != NULL && !need[id]))
			continue;
		for (uint32_t i = 0; i < n.nin; i++)
			in[i] = map[n.in[i]];
		n.in = in;
		map[id] = qn_graph_add(to, &n);
		if (map[id] == 0)
			return false;
	}
	return true;
}

void
qn_graph_copy_facts(qn_graph *to, const qn_graph *from)
{
	const qn_part **last = &to->parts;

	to->pattern = from->pattern != NULL ? qn_arena_str(to->arena, from->pattern) : NULL;
	for (size_t i = 0; i < from->nattr; i++)
		qn_graph_add_attr(to, from->attr[i].key, from->attr[i].value);
	for (const qn_part *p = from->parts; p != NULL; p = p->next)
		last = qn_graph_add_part(to, last, p);
}

qn_id
qn_graph_find(const qn_graph *g, const char *name)
{
	uint32_t hash = qn_hash(name, strlen(name), 0);
	qn_id id;

	for (size_t at = 0; (id = qn_hashes_next(&g->names, hash, &at)) != 0;)
		if (strcmp(qn_graph_node(g, id)->name, name) == 0)
			return id;
	return 0;
}

const char *
qn_node_place(const qn_graph *g, const qn_node *n)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	if (n->place != NULL && n->place[0] != '\0')
		qn_buff(&b, "%s: ", n->place);
	qn_buff(&b, "node '%s'", n->name);
	return qn_buf_str(&b);
}

/* "<base>_<k>" with the smallest free k not tried before. */
static const char *
fresh(qn_graph *g, const char *base)
{
	uint32_t *k = qn_map_gets(&g->counters, base);
	qn_buf b;

	if (k == NULL) {
		k = QN_NEW(g->arena, uint32_t, 1);
		qn_map_puts(&g->counters, base, k);
	}
	qn_buf_init(&b, g->arena);
	do {
		b.n = 0;
		qn_buff(&b, "%s_%u", base, ++*k);
	} while (qn_graph_find(g, qn_buf_str(&b)) != 0);
	return qn_buf_str(&b);
}

static const char *
choose_name(qn_graph *g, const qn_node *like)
{
	if (like->name == NULL || like->name[0] == '\0')
		return fresh(g, qn_opinfo_of(like)->name);
	if (qn_graph_find(g, like->name) != 0)
		return fresh(g, like->name);
	return qn_arena_str(g->arena, like->name);
}

static bool
arity_ok(const qn_graph *g, const qn_node *n)
{
	const qn_opinfo *op = qn_opinfo_of(n);

	if (n->nin >= op->min_in && n->nin <= op->max_in)
		return true;
	if (op->min_in == op->max_in)
		return qn_infer_error(g, n, "op.arity", "%s takes %u inputs, not %u", op->name,
				      op->min_in, n->nin);
	return qn_infer_error(g, n, "op.arity", "%s takes %u to %u inputs, not %u", op->name,
			      op->min_in, op->max_in, n->nin);
}

static bool
inputs_ok(const qn_graph *g, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++)
		if (n->in[i] == 0 || n->in[i] >= g->n)
			return qn_infer_error(g, n, "op.input",
					      "input %u is not a value of this graph", i);
	return true;
}

static const qn_attrs *
copy_attrs(qn_arena *a, const qn_node *like)
{
	const qn_attr_set_info *set = qn_opinfo_of(like)->attrs;

	qn_attrs defaults;

	if (set->size == 0)
		return NULL;
	if (like->attr == NULL)
		qn_attrs_default(set, &defaults);
	qn_attrs *own = qn_arena_copy(a, like->attr != NULL ? like->attr : &defaults, set->size);
	qn_attrs_own(a, set, own);
	return own;
}

static qn_id
append(qn_graph *g, const qn_node *n)
{
	qn_id id = g->n;

	*new_node(g) = *n;
	qn_hashes_add(&g->names, qn_hash(n->name, strlen(n->name), 0), id);
	if (n->op == QN_OP_input) {
		g->input = qn_arena_grow(g->arena, g->input, &g->input_cap, g->ninput + 1,
					 sizeof *g->input);
		g->input[g->ninput++] = id;
	}
	return id;
}

qn_id
qn_graph_add(qn_graph *g, const qn_node *like)
{
	qn_arena *a = g->arena;
	qn_node n = *like;

	n.name = choose_name(g, like);
	n.place = like->place != NULL ? like->place : "";
	if (!arity_ok(g, &n) || !inputs_ok(g, &n))
		return 0;
	n.attr = copy_attrs(a, like);
	n.in = n.nin > 0 ? qn_arena_copy(a, like->in, n.nin * sizeof *n.in) : NULL;
	if (like->name != NULL && strcmp(like->name, n.name) != 0)
		n.facts = qn_facts_renamed(g->model, &n, like->name);
	n.type = qn_infer_type(g, &n, like->type);
	if (n.type == NULL)
		return 0;
	if (like->type != NULL && like->type != n.type) {
		(void)qn_infer_error(g, &n, "type.mismatch",
				     "the declared type %s differs from the inferred type %s",
				     qn_infer_type_text(g, like->type),
				     qn_infer_type_text(g, n.type));
		return 0;
	}
	return append(g, &n);
}

qn_id
qn_graph_input(qn_graph *g, const char *name, const qn_type *type)
{
	return qn_graph_add(g, &(qn_node){.op = QN_OP_input, .name = name, .type = type});
}

qn_id
qn_graph_const(qn_graph *g, const char *name, const qn_tensor *value)
{
	return qn_graph_add(g, &(qn_node){.op = QN_OP_const, .name = name, .value = value});
}

qn_id
qn_graph_op(qn_graph *g, qn_op op, const char *name, uint32_t nin, const qn_id *in,
	    const qn_attrs *attr, const qn_type *type)
{
	return qn_graph_add(
		g,
		&(qn_node){
			.op = op, .name = name, .nin = nin, .in = in, .attr = attr, .type = type});
}

void
qn_graph_output(qn_graph *g, const char *name, qn_id value)
{
	qn_arena *a = g->arena;

	g->output = qn_arena_grow(a, g->output, &g->output_cap, g->noutput + 1, sizeof *g->output);
	g->output[g->noutput++] = (qn_output){
		.name = name != NULL ? qn_arena_str(a, name) : qn_graph_node(g, value)->name,
		.value = value,
	};
}

void
qn_graph_copy_outputs(qn_graph *g, const qn_graph *from, const qn_id *map)
{
	for (size_t i = 0; i < from->noutput; i++)
		qn_graph_output(g, from->output[i].name, map[from->output[i].value]);
	qn_graph_copy_states(g, from);
}

uint32_t *
qn_graph_uses(const qn_graph *g, qn_arena *a)
{
	uint32_t *uses = QN_NEW(a, uint32_t, g->n);

	for (qn_id id = 1; id < g->n; id++)
		for (uint32_t i = 0; i < qn_graph_node(g, id)->nin; i++)
			uses[qn_graph_node(g, id)->in[i]]++;
	for (size_t i = 0; i < g->noutput; i++)
		uses[g->output[i].value]++;
	return uses;
}
