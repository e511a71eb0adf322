/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_axes.c - which values have their channels first in the file, as ONNX's convolutions and
 * pools take them, so that transposes stand where a network begins and ends.
 *
 *   input -> conv2d -> relu -> add -> avg_pool -> flatten -> dense
 *   N,H,W,C  [ N,C,H,W: one region                  ]        columns of the weights moved
 *
 * Operators that take either order (element by element, and those whose axes the writer moves
 * along) join their operands and results to regions; a region in which an operator wants its
 * channels first has them first.  What leaves a region for an operator that wants the graph's own
 * order is transposed there, once per value. */
#include "import/onnx_write_op.h"

typedef struct arranger {
	qn_onnx_out *o;
	qn_id *parent; /* of the regions */
	bool *first;   /* by the region's root */
} arranger;

/* ---- orders ---- */

void
qn_onnx_out_order_perm(qn_onnx_layout order, int32_t rank, int64_t *perm)
{
	for (int32_t k = 0; k < rank; k++)
		perm[k] = order == QN_ORDER_PLAIN || k == 0 ? k : k == 1 ? rank - 1 : k - 1;
}

bool
qn_onnx_out_order_is_free(const qn_type *type)
{
	int64_t places = 1;

	for (int32_t k = 1; k + 1 < type->rank; k++)
		places *= type->dim[k];
	return type->rank < 3 || places == 1 || type->dim[type->rank - 1] == 1;
}

static const qn_type *
shape_of(const qn_node *n)
{
	return n->type->is_tuple ? n->type->field[0] : n->type;
}

/* Scales along an axis stay where they are. */
static bool
is_per_tensor(const qn_type *t)
{
	return !qn_elem_is_quant(t->elem) || qn_onnx_out_is_sum(t->elem) ||
	       t->elem->gran == QN_PER_TENSOR;
}

/* ---- regions ---- */

static qn_id
root_of(const arranger *r, qn_id id)
{
	while (r->parent[id] != id)
		id = r->parent[id] = r->parent[r->parent[id]];
	return id;
}

static void
join(arranger *r, qn_id a, qn_id b)
{
	a = root_of(r, a);
	b = root_of(r, b);
	r->parent[a > b ? a : b] = a > b ? b : a;
	r->first[a > b ? b : a] = r->first[a] || r->first[b];
}

static bool
is_cast(const qn_node *n)
{
	return n->op == QN_OP_quantize || n->op == QN_OP_dequantize || n->op == QN_OP_requantize;
}

/* Operand x can be read in the order of a result of this rank. */
static bool
fits(const qn_onnx_out *o, qn_id id, int32_t rank)
{
	const qn_node *x = qn_graph_node(o->g, id);

	if (x->type->is_tuple || qn_type_count(x->type) < 0 || !is_per_tensor(x->type))
		return false;
	return x->type->rank == rank || qn_type_count(x->type) == 1 ||
	       (qn_onnx_out_constant_of(o, id) != 0 && x->type->rank < rank);
}

bool
qn_onnx_out_follows(const qn_onnx_out *o, const qn_node *n)
{
	const int32_t rank = shape_of(n)->rank;
	bool same = false;

	if (n->op == QN_OP_get)
		return qn_onnx_out_follows(o, qn_graph_node(o->g, n->in[0]));
	if ((!is_cast(n) && qn_onnx_out_axis_order(n) < QN_AXES_ANY) || rank < 3 ||
	    !is_per_tensor(shape_of(n)))
		return false;
	for (uint32_t i = 0; i < n->nin; i++) {
		if (!fits(o, n->in[i], rank))
			return false;
		same = same || qn_graph_node(o->g, n->in[i])->type->rank == rank;
	}
	return same;
}

/* o->order says meanwhile which values can be in QN_ORDER_FIRST. */
static void
join_node(arranger *r, qn_id id)
{
	const qn_node *n = qn_graph_node(r->o->g, id);

	if (qn_onnx_out_follows(r->o, n)) {
		for (uint32_t i = 0; i < n->nin; i++)
			if (r->o->order[n->in[i]] == QN_ORDER_FIRST &&
			    shape_of(qn_graph_node(r->o->g, n->in[i]))->rank == shape_of(n)->rank)
				join(r, id, n->in[i]);
		r->o->order[id] = QN_ORDER_FIRST;
	} else if (qn_onnx_out_axis_order(n) == QN_AXES_FIRST) {
		r->o->order[id] = QN_ORDER_FIRST;
		r->first[root_of(r, id)] = true;
		r->first[root_of(r, n->in[0])] = true;
	}
}

/* ---- matrices made of images ---- */

/* Whether the operator's only operand is a matrix of which it takes each element by itself. */
static bool
is_unary(const qn_node *n)
{
	return n->nin == 1 && (is_cast(n) || qn_onnx_out_axis_order(n) == QN_AXES_EACH);
}

/* A dense over constant weights takes its columns in any order. */
static bool
takes_columns(const qn_onnx_out *o, const qn_node *n, uint32_t i)
{
	const qn_id w = n->op == QN_OP_dense && i == 0 && n->in[1] != n->in[0]
				? qn_onnx_out_constant_of(o, n->in[1])
				: 0;
	const qn_elem *e = w != 0 ? qn_graph_node(o->g, w)->type->elem : NULL;

	return e != NULL && (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR ||
			     (e->gran == QN_PER_AXIS && e->axis[0] == 0));
}

/* The reshape of an image in QN_ORDER_FIRST to a matrix of a row each. */
static bool
is_flattening(const qn_onnx_out *o, const qn_node *n)
{
	if (n->op != QN_OP_reshape && n->op != QN_OP_flatten)
		return false;
	const qn_type *x = qn_graph_node(o->g, n->in[0])->type;
	return n->type->rank == 2 && qn_type_count(n->type) > 0 && x->rank >= 3 &&
	       o->order[n->in[0]] == QN_ORDER_FIRST && is_per_tensor(x) &&
	       qn_onnx_out_constant_of(o, n->in[0]) == 0 && x->dim[0] == n->type->dim[0] &&
	       !qn_onnx_out_order_is_free(x);
}

static void
find_flat(qn_onnx_out *o)
{
	const qn_graph *g = o->g;
	bool *open = QN_NEW(o->a, bool, g->n); /* someone wants the columns as they are */

	for (size_t i = 0; i < g->noutput; i++)
		open[g->output[i].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin; i++)
			if (!takes_columns(o, n, i) && (!is_unary(n) || open[id]))
				open[n->in[i]] = true;
	}
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (open[id])
			continue;
		if (is_flattening(o, n))
			o->flat[id] =
				qn_graph_node(g, n->in[0])
					->type->dim[qn_graph_node(g, n->in[0])->type->rank - 1];
		else if (is_unary(n))
			o->flat[id] = o->flat[n->in[0]];
	}
}

/* ---- constants ---- */

static void
find_weights(qn_onnx_out *o)
{
	const qn_graph *g = o->g;

	for (qn_id id = 1; id < g->n; id++)
		o->weights[id] = qn_graph_node(g, id)->op == QN_OP_const;
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; n->op != QN_OP_dequantize && i < n->nin; i++)
			if (i == 0 || qn_opinfo_of(n)->behaviour != QN_ACC)
				o->weights[qn_onnx_out_constant_of(o, n->in[i])] = false;
	}
}

void
qn_onnx_out_arrange(qn_onnx_out *o)
{
	const qn_graph *g = o->g;
	arranger r = {o, QN_NEW(o->a, qn_id, g->n), QN_NEW(o->a, bool, g->n)};

	o->order = QN_NEW(o->a, qn_onnx_layout, g->n);
	o->flat = QN_NEW(o->a, int64_t, g->n);
	o->weights = QN_NEW(o->a, bool, g->n);
	for (qn_id id = 1; id < g->n; id++)
		r.parent[id] = id;
	for (qn_id id = 1; id < g->n; id++)
		join_node(&r, id);
	for (qn_id id = 1; id < g->n; id++)
		if (!r.first[root_of(&r, id)])
			o->order[id] = QN_ORDER_PLAIN;
	find_flat(o);
	find_weights(o);
}
