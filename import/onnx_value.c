/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_value.c - the values of a graph under their names in an ONNX file: float or quantized, in
 * the graph's order of axes or with the channels first.
 *
 *   relu1_quantized (u8)  ->  DequantizeLinear  ->  relu1_dequantized
 *   image (i8, an input)  ->  Transpose  ->  DequantizeLinear  ->  QuantizeLinear  ->  image_quantized (u8)
 *
 * Each name is made when it is first needed, and once.  Quantized activations of 8 bits are u8
 * in the file, whatever their storage in the graph is (the same values, zero points 128 higher),
 * as the integer kernels for x86 want them; inputs, outputs and bits that are taken as another
 * type keep it. */
#include "import/onnx_write.h"

static bool
is_quantized(const qn_node *n)
{
	return !n->type->is_tuple && qn_elem_is_quant(n->type->elem);
}

const char *
qn_onnx_out_base(const qn_onnx_out *o, const qn_node *n)
{
	const char *base = o->base[qn_graph_find(o->g, n->name)];

	return base != NULL ? base : n->name;
}

const qn_elem *
qn_onnx_out_elem(const qn_onnx_out *o, const qn_node *n)
{
	const qn_elem *e = n->type->elem, *to;
	qn_elem u8 = *e;

	if (e->kind != QN_ELEM_UNIFORM || e->plain != QN_PLAIN_i8 || e->bits != 8 ||
	    e->gran != QN_PER_TENSOR || o->weights[qn_graph_find(o->g, n->name)])
		return e;
	u8.plain = QN_PLAIN_u8;
	u8.is_signed = false;
	u8.qmin += 128;
	u8.qmax += 128;
	u8.zp += 128;
	return qn_elem_make(&o->m->types, n->name, &u8, &to) == QN_OK ? to : e;
}

/* ---- order ---- */

/* Value `from`, whose axes are those of `type` in the order `have`, with them in the order `perm`
 * (both over the axes of `type`). */
static const char *
reordered(qn_onnx_out *o, const char *base, const char *from, const qn_type *type,
	  qn_onnx_layout have, const int64_t *perm)
{
	int64_t now[QN_MAX_RANK], at[QN_MAX_RANK], dim[QN_MAX_RANK], rel[QN_MAX_RANK], last = -1;
	bool same = true, free = true;

	qn_onnx_out_order_perm(have, type->rank, now);
	for (int32_t k = 0; k < type->rank; k++)
		at[now[k]] = k;
	for (int32_t k = 0; k < type->rank; k++) {
		rel[k] = at[perm[k]];
		dim[k] = type->dim[perm[k]];
		same = same && rel[k] == k;
		free = free && (dim[k] == 1 || rel[k] > last);
		last = dim[k] == 1 ? last : rel[k];
	}
	if (same || from == NULL)
		return from;
	const char *in[2] = {from, free ? qn_onnx_out_i64s(o, "shape", type->rank, dim) : NULL};
	const char *y = qn_onnx_out_node(o, free ? "Reshape" : "Transpose",
					 qn_onnx_out_named(o, base, "transposed"), 2, in);
	if (!free)
		qn_onnx_out_ints(o, "perm", type->rank, rel);
	return y;
}

/* ---- quantized values ---- */

/* Whether the quantized value can be reordered as it is: its scales do not lie along an axis. */
static bool
is_movable(const qn_node *n)
{
	return is_quantized(n) && !qn_onnx_out_is_sum(n->type->elem) &&
	       n->type->elem->gran == QN_PER_TENSOR;
}

static const char *quantized_in(qn_onnx_out *o, qn_id id, qn_onnx_layout order);

/* Float values (or plain integers), or quantized ones, with their axes in another order; through
 * any transposes before them. */
static const char *
in_axes(qn_onnx_out *o, qn_id id, const int64_t *perm, bool quantized)
{
	const qn_node *n = qn_graph_node(o->g, id);
	int64_t now[QN_MAX_RANK] = {0}, next[QN_MAX_RANK] = {0};

	for (int32_t k = 0; k < n->type->rank; k++)
		now[k] = perm[k];
	while (n->op == QN_OP_transpose && (is_movable(n) || !quantized || !is_quantized(n))) {
		for (int32_t k = 0; k < n->type->rank; k++)
			next[k] = n->attr->perm.perm.v[now[k]];
		for (int32_t k = 0; k < n->type->rank; k++)
			now[k] = next[k];
		n = qn_graph_node(o->g, id = n->in[0]);
	}
	const qn_onnx_layout order = o->order[id];
	return reordered(o, qn_onnx_out_base(o, n),
			 quantized ? quantized_in(o, id, order)
				   : qn_onnx_out_value_in(o, id, order),
			 n->type, order, now);
}

/* Quantized in the storage of the graph -> in that of the file. */
static const char *
from_raw(qn_onnx_out *o, const qn_node *n, const char *raw)
{
	const qn_elem *e = n->type->elem, *to = qn_onnx_out_elem(o, n);
	const char *base = qn_onnx_out_base(o, n);

	if (to == e || raw == NULL)
		return raw;
	raw = qn_onnx_out_convert(o, n, e, "DequantizeLinear", qn_onnx_out_named(o, base, "float"),
				  raw);
	return qn_onnx_out_convert(o, n, to, "QuantizeLinear",
				   qn_onnx_out_named(o, base, "quantized"), raw);
}

static const char *
quantized_in(qn_onnx_out *o, qn_id id, qn_onnx_layout order)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char **to = &o->quantized[order][id];
	int64_t perm[QN_MAX_RANK];

	if (*to != NULL)
		return *to;
	qn_onnx_out_order_perm(order, n->type->rank, perm);
	if (n->op == QN_OP_transpose)
		*to = in_axes(o, id, perm, true);
	else if (n->op == QN_OP_const)
		*to = qn_onnx_out_tensor(
			o, qn_onnx_out_named(o, qn_onnx_out_base(o, n), "quantized"),
			qn_onnx_out_moved(
				o, qn_onnx_out_in_storage(o, n->value, qn_onnx_out_elem(o, n)),
				perm));
	else if (o->raw[id] != NULL)
		*to = from_raw(o, n,
			       reordered(o, qn_onnx_out_base(o, n), o->raw[id], n->type,
					 QN_ORDER_PLAIN, perm));
	else if (order != o->order[id])
		*to = in_axes(o, id, perm, true);
	return *to;
}

const char *
qn_onnx_out_stored(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char *base = qn_onnx_out_base(o, n);

	if (!is_quantized(n))
		return qn_onnx_out_value_in(o, id, QN_ORDER_PLAIN);
	if (qn_onnx_out_is_sum(n->type->elem) || o->raw[id] != NULL)
		return o->raw[id];
	if (n->op == QN_OP_const)
		o->raw[id] =
			qn_onnx_out_tensor(o, qn_onnx_out_named(o, base, "quantized"), n->value);
	else if (qn_onnx_out_elem(o, n) == n->type->elem)
		o->raw[id] = quantized_in(o, id, QN_ORDER_PLAIN);
	else
		o->raw[id] = qn_onnx_out_convert(o, n, n->type->elem, "QuantizeLinear",
						 qn_onnx_out_named(o, base, "stored"),
						 qn_onnx_out_value_in(o, id, QN_ORDER_PLAIN));
	return o->raw[id];
}

/* ---- float values ---- */

static const char *
float_in(qn_onnx_out *o, qn_id id, qn_onnx_layout order)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const qn_id from = qn_onnx_out_constant_of(o, id);
	const int32_t rank =
		order == QN_ORDER_FIRST && n->type->rank < o->rank ? o->rank : n->type->rank;
	int64_t perm[QN_MAX_RANK];

	qn_onnx_out_order_perm(order, rank, perm);
	if (from != 0)
		return qn_onnx_out_constant(
			o, from,
			(qn_onnx_held){.perm = order == QN_ORDER_PLAIN
						       ? NULL
						       : qn_arena_copy(o->a, perm, sizeof perm)},
			rank);
	if (n->op == QN_OP_dequantize)
		return qn_onnx_out_value_in(o, n->in[0], order);
	if (is_movable(n))
		return qn_onnx_out_convert(
			o, n, qn_onnx_out_elem(o, n), "DequantizeLinear",
			qn_onnx_out_named(o, qn_onnx_out_base(o, n), "dequantized"),
			quantized_in(o, id, order));
	if (is_quantized(n) && !qn_onnx_out_is_sum(n->type->elem) && order == QN_ORDER_PLAIN)
		return qn_onnx_out_convert(
			o, n, n->type->elem, "DequantizeLinear",
			qn_onnx_out_named(o, qn_onnx_out_base(o, n), "dequantized"),
			quantized_in(o, id, order));
	if (n->op == QN_OP_transpose || order != o->order[id])
		return in_axes(o, id, perm, false);
	return NULL; /* an operator that was refused */
}

const char *
qn_onnx_out_value_in(qn_onnx_out *o, qn_id id, qn_onnx_layout order)
{
	const qn_node *n = qn_graph_node(o->g, id);
	/* a constant that is broadcast over images, made as wide as these */
	const bool broadcast = order == QN_ORDER_FIRST && !n->type->is_tuple &&
			       n->type->rank < o->rank && qn_type_count(n->type) != 1 &&
			       qn_onnx_out_constant_of(o, id) != 0;

	if (broadcast)
		return float_in(o, id, order);
	if (n->type->is_tuple || n->type->rank < 3)
		order = QN_ORDER_PLAIN;
	if (o->real[order][id] == NULL)
		o->real[order][id] = float_in(o, id, order);
	return o->real[order][id];
}

const char *
qn_onnx_out_value(qn_onnx_out *o, qn_id id)
{
	return qn_onnx_out_value_in(o, id, o->now);
}

const char *
qn_onnx_out_permuted(qn_onnx_out *o, qn_id id, int32_t rank, const int64_t *perm)
{
	const qn_id from = qn_onnx_out_constant_of(o, id);

	if (from == 0)
		return in_axes(o, id, perm, false);
	return qn_onnx_out_constant(
		o, from,
		(qn_onnx_held){.perm = qn_arena_copy(o->a, perm, (size_t)rank * sizeof *perm)},
		rank);
}
