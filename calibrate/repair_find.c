/* SPDX-License-Identifier: Apache-2.0 */
/* repair_find.c - finds the layers that can be repaired, and copies the graph so that layers share no
 * constants.
 *
 *   %w = const   %w_1 = quantize %w   %acc = conv2d %x, %w_1, %b_1   %y = dequantize %acc
 *   %w = const   %w_1 = quantize %w   %w_2 = dequantize %w_1   %y = conv2d %x_1, %w_2, %b     with weights in blocks, say */
#include <string.h>

#include "calibrate/repair_impl.h"
#include "ir/diag.h"
#include "ir/loops.h"

enum { MOST_STACKED = 1 << 24 }; /* elements of a value in all steps: 128 MiB of double */

typedef struct copier {
	qn_model *m;
	const qn_graph *g;
	qn_graph *dst;
	qn_id *map; /* id of g -> of dst */
	const uint32_t *uses;
	qn_loops loops;
	qn_repairable **layer, **weight, **of_bias; /* by id of g: of a layer, of its constants */
	const qn_repair_opts *o;
} copier;

/* The constant that a quantize, or a dequantize of one, reads, none of which has another use; 0: there is none.  *q: the
 * quantize. */
static qn_id
own_constant(const copier *c, qn_id id, qn_id *q)
{
	const qn_graph *g = c->g;

	*q = 0;
	if (qn_graph_node(g, id)->op == QN_OP_dequantize && c->uses[id] == 1)
		id = qn_graph_node(g, id)->in[0];
	if (qn_graph_node(g, id)->op == QN_OP_quantize && c->uses[id] == 1) {
		*q = id;
		id = qn_graph_node(g, id)->in[0];
	}
	const qn_node *n = qn_graph_node(g, id);
	return n->op == QN_OP_const && c->uses[id] == 1 && qn_type_is_f32(n->type) ? id : 0;
}

/* The only use of a value when that is a dequantize. */
static qn_id
dequantized(const copier *c, qn_id id)
{
	for (qn_id k = id + 1; k < c->g->n && c->uses[id] == 1; k++)
		if (qn_graph_node(c->g, k)->op == QN_OP_dequantize &&
		    qn_graph_node(c->g, k)->in[0] == id)
			return k;
	return 0;
}

/* Whether the operand and the result of a layer in loops can be stacked, those of all steps; in *steps how many there are. */
static bool
counts_steps(const copier *c, const qn_repairable *l, int64_t *steps)
{
	const qn_type *x = qn_graph_node(c->g, l->x)->type, *y = qn_graph_node(c->g, l->y)->type;
	const uint64_t runs = qn_loop_runs(&c->loops, l->y);
	const int64_t nx = qn_type_count(x), ny = qn_type_count(y);
	int32_t depth = 0;

	*steps = 1;
	if (c->loops.n == 0 || c->loops.of[l->y] == 0)
		return true;
	for (uint32_t k = c->loops.of[l->y]; k != 0; k = c->loops.loop[k - 1].parent)
		depth++;
	if (c->loops.of[l->x] != c->loops.of[l->y] ||
	    (x->rank > y->rank ? x->rank : y->rank) + depth > QN_MAX_RANK || nx < 1 || ny < 1 ||
	    runs > MOST_STACKED / (uint64_t)(nx > ny ? nx : ny))
		return false;
	*steps = (int64_t)runs;
	return true;
}

/* Whether the layer can be repaired: ids are those of g still. */
static bool
find_layer(const copier *c, qn_id id, qn_repairable *l, qn_id *weight, qn_id *bias)
{
	const qn_node *n = qn_graph_node(c->g, id);
	qn_id q;

	if (n->type->is_tuple || qn_opinfo_of(n)->behaviour != QN_ACC)
		return false;
	qn_layer_repair wanted = c->o->all;
	if (c->o->of_layer != NULL)
		c->o->of_layer(c->o->rules, c->g, c->uses, id, &wanted);
	if (wanted.rounding == QN_WEIGHTS_NEAREST && !wanted.bias)
		return false;
	*l = (qn_repairable){.name = n->name,
			     .rounding = wanted.rounding,
			     .corrects = wanted.bias,
			     .source = id,
			     .x = n->in[0]};
	*weight = own_constant(c, n->in[1], &l->w);
	*bias = n->nin == 3 ? own_constant(c, n->in[2], &q) : 0;
	l->y = qn_type_is_f32(n->type) ? id : dequantized(c, id);
	return *weight != 0 && l->w != 0 && l->y != 0 && (n->nin < 3 || *bias != 0) &&
	       counts_steps(c, l, &l->steps) && qn_product_of(c->g, n, &l->product);
}

/* ---- the copy ---- */

static qn_id
copy_constant(copier *c, qn_node *n, float **data, const float **original)
{
	void *to;
	const qn_tensor *from = n->value;

	n->value = qn_tensor_new(c->m->arena, from->type, &to);
	*original = qn_tensor_as_f32(c->m->scratch, from);
	memcpy(to, *original, from->bytes);
	*data = to;
	return qn_graph_add(c->dst, n);
}

/* A bias of zeros, in the units of the accumulator where the layer has integers. */
static qn_id
add_bias(copier *c, const qn_node *n, qn_repairable *l)
{
	qn_types *t = &c->m->types;
	const qn_type *real = qn_type_plain(t, QN_PLAIN_f32, 1, &l->product.outputs);
	const int32_t axis = 0;
	const qn_elem *e;
	qn_buf name;
	void *data;

	qn_buf_init(&name, c->m->scratch);
	qn_buff(&name, "%s.bias", n->name);
	qn_tensor *zeros = qn_tensor_new(c->m->arena, real, &data);
	l->bias = data;
	qn_id b = qn_graph_const(c->dst, qn_buf_str(&name), zeros);
	if (b == 0 || qn_type_is_f32(n->type))
		return b;
	qn_elem desc = *n->type->elem;
	desc.axis = &axis;
	if (qn_elem_make(t, n->name, &desc, &e) != QN_OK)
		return 0;
	return qn_graph_op(c->dst, QN_OP_quantize, NULL, 1, &b, NULL,
			   qn_type_with_elem(t, real, e));
}

static qn_id
copy_node(copier *c, qn_id id)
{
	qn_node n = *qn_graph_node(c->g, id);
	const float *unchanged;
	qn_id *in = QN_NEW(c->m->scratch, qn_id, n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = c->map[n.in[i]];
	n.in = in;
	if (c->weight[id] != NULL)
		return copy_constant(c, &n, &c->weight[id]->weight, &c->weight[id]->original);
	if (c->of_bias[id] != NULL)
		return copy_constant(c, &n, &c->of_bias[id]->bias, &unchanged);
	qn_repairable *l = c->layer[id];
	if (l != NULL && l->corrects && n.nin == 2 && n.op != QN_OP_matmul) {
		in[2] = add_bias(c, qn_graph_node(c->g, id), l);
		if (in[2] == 0)
			return 0;
		n.nin = 3;
	}
	return qn_graph_add(c->dst, &n);
}

/* The id of a value of g in the copy, whose values may have moved. */
static qn_id
place_of(const copier *c, const qn_id *moved, qn_id id)
{
	return moved != NULL ? moved[c->map[id]] : c->map[id];
}

qn_status
qn_repairables_find(qn_model *m, const qn_repair_opts *o, qn_repairables *out)
{
	const qn_graph *g = qn_model_entry(m);
	copier c = {.m = m,
		    .g = g,
		    .dst = qn_graph_new(m, g->name),
		    .map = QN_NEW(m->scratch, qn_id, g->n),
		    .uses = qn_graph_uses(g, m->scratch),
		    .loops = qn_loops_find(g, m->scratch),
		    .layer = QN_NEW(m->scratch, qn_repairable *, g->n),
		    .weight = QN_NEW(m->scratch, qn_repairable *, g->n),
		    .of_bias = QN_NEW(m->scratch, qn_repairable *, g->n),
		    .o = o};
	const qn_id *moved;

	*out = (qn_repairables){.layer = QN_NEW(m->scratch, qn_repairable, g->n)};
	for (qn_id id = 1; id < g->n; id++) {
		qn_repairable *l = &out->layer[out->n];
		qn_id weight, of_bias;

		if (!find_layer(&c, id, l, &weight, &of_bias))
			continue;
		c.layer[id] = c.weight[weight] = l;
		if (of_bias != 0)
			c.of_bias[of_bias] = l;
		out->n++;
	}
	qn_graph_copy_facts(c.dst, g);
	for (qn_id id = 1; id < g->n; id++) {
		c.map[id] = copy_node(&c, id);
		if (c.map[id] == 0)
			return QN_EINVALID;
	}
	qn_graph_copy_outputs(c.dst, g, c.map);
	out->g = c.dst;
	/* zeros that were added as a bias may stand between the nodes of a loop */
	QN_TRY(qn_loops_gather(&out->g, m->scratch, &moved));
	for (size_t i = 0; i < out->n; i++) {
		qn_repairable *l = &out->layer[i];

		l->x = place_of(&c, moved, l->x);
		l->w = place_of(&c, moved, l->w);
		l->y = place_of(&c, moved, l->y);
	}
	return QN_OK;
}
