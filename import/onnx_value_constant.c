/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_value_constant.c - the constants of a graph in an ONNX file: in its storage and order of axes. */
#include "import/onnx_write.h"

static bool
is_quantized(const qn_node *n)
{
	return !n->type->is_tuple && qn_elem_is_quant(n->type->elem);
}

const qn_tensor *
qn_onnx_out_moved(qn_onnx_out *o, const qn_tensor *x, const int64_t *perm)
{
	const qn_type *t = x->type;
	int64_t dim[QN_MAX_RANK], at[QN_MAX_RANK] = {0}, step[QN_MAX_RANK];
	const qn_elem *e = t->elem, *to = e;
	int32_t axis = 0;
	void *data;

	for (int32_t k = 0; k < t->rank; k++) {
		dim[k] = t->dim[perm[k]];
		step[k] = 1;
		for (int64_t j = perm[k] + 1; j < t->rank; j++)
			step[k] *= t->dim[j];
		if (qn_elem_is_quant(e) && e->gran == QN_PER_AXIS && e->axis[0] == perm[k])
			axis = k;
	}
	qn_elem d = *e;
	d.axis = &axis;
	if (qn_elem_is_quant(e) && e->gran == QN_PER_AXIS &&
	    qn_elem_make(&o->m->types, "export", &d, &to) != QN_OK)
		return x;
	qn_tensor *y = qn_tensor_new(o->a, qn_type_tensor(&o->m->types, to, t->rank, dim), &data);
	for (int64_t i = 0; i < qn_type_count(t); i++) {
		int64_t from = 0;

		for (int32_t k = 0; k < t->rank; k++)
			from += at[k] * step[k];
		if (qn_elem_is_float(e))
			qn_store_f64(data, e->plain, i, qn_tensor_f64(x, from));
		else
			qn_store_i64(data, e->plain, i, qn_tensor_i64(x, from));
		for (int32_t k = t->rank - 1; k >= 0 && ++at[k] == dim[k]; k--)
			at[k] = 0;
	}
	return y;
}

qn_id
qn_onnx_out_constant_of(const qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	if (n->op == QN_OP_dequantize)
		return qn_onnx_out_is_sum(qn_graph_node(o->g, n->in[0])->type->elem)
			       ? 0
			       : qn_onnx_out_constant_of(o, n->in[0]);
	return n->op == QN_OP_const ? id : 0;
}

const qn_tensor *
qn_onnx_out_in_storage(qn_onnx_out *o, const qn_tensor *x, const qn_elem *to)
{
	const qn_elem *e = x->type->elem;
	void *data;

	if (e == to)
		return x;
	qn_tensor *y = qn_tensor_new(o->a, qn_type_with_elem(&o->m->types, x->type, to), &data);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		qn_store_i64(data, to->plain, i, qn_tensor_i64(x, i) - e->qmin + to->qmin);
	return y;
}

/* Sums of 64 bits, which no DequantizeLinear takes, as f32. */
static const qn_tensor *
narrowed(qn_onnx_out *o, const qn_tensor *x)
{
	qn_types *types = &o->m->types;

	if (!qn_onnx_out_is_sum(x->type->elem) || x->type->elem->bits <= 32)
		return x;
	return qn_tensor_dequantize(
		types, o->a, x,
		qn_type_with_elem(types, x->type, qn_elem_plain(types, QN_PLAIN_f32)));
}

/* The same bytes under other dims. */
static const qn_tensor *
shaped(qn_onnx_out *o, const qn_tensor *x, int32_t rank, const int64_t *dim)
{
	return qn_tensor_view(o->a, qn_type_tensor(&o->m->types, x->type->elem, rank, dim),
			      x->data);
}

static const qn_tensor *
widened(qn_onnx_out *o, const qn_tensor *x, int32_t rank)
{
	const int32_t more = rank - x->type->rank;
	int64_t dim[QN_MAX_RANK];

	for (int32_t k = 0; k < rank; k++)
		dim[k] = k < more ? 1 : x->type->dim[k - more];
	return more <= 0 ? x : shaped(o, x, rank, dim);
}

const qn_tensor *
qn_onnx_out_turned(qn_onnx_out *o, const qn_tensor *x, int64_t first)
{
	static const int64_t perm[] = {0, 2, 1};
	const int64_t *dim = x->type->dim;
	const int64_t three[] = {dim[0], first, dim[1] / first};

	return shaped(o, qn_onnx_out_moved(o, shaped(o, x, 3, three), perm), 2, dim);
}

/* x as it stands in the file. */
static const qn_tensor *
in_file_order(qn_onnx_out *o, const qn_tensor *x, const qn_onnx_held *how, int32_t rank)
{
	if (how->channels != 0)
		x = qn_onnx_out_turned(o, x, x->type->dim[1] / how->channels);
	x = widened(o, x, rank);
	return how->perm != NULL ? qn_onnx_out_moved(o, x, how->perm) : x;
}

static const char *
constant_of_blocks(qn_onnx_out *o, const qn_node *c, const qn_onnx_held *how, int32_t rank)
{
	qn_onnx_blocks b = qn_onnx_out_split(o, c->value);

	b.stored = in_file_order(o, b.stored, how, rank);
	b.scale = in_file_order(o, b.scale, how, rank);
	b.zp = in_file_order(o, b.zp, how, rank);
	return qn_onnx_out_blocks(o, c, c->type->elem, &b);
}

const char *
qn_onnx_out_constant(qn_onnx_out *o, qn_id id, qn_onnx_held how, int32_t rank)
{
	const qn_node *c = qn_graph_node(o->g, id);
	const char *base = qn_onnx_out_base(o, c);
	const qn_tensor *x = narrowed(o, c->value);
	/* other float types are read as f32 */
	const bool other = x != c->value || (qn_elem_is_float(x->type->elem) &&
					     x->type->elem->plain != QN_PLAIN_f32);
	const bool blocks = is_quantized(c) && c->type->elem->gran == QN_SUB_CHANNEL &&
			    qn_onnx_out_has_storage(c->type->elem);
	qn_onnx_held *held = &o->held[o->origin[id]];

	if (is_quantized(c) && x == c->value)
		x = qn_onnx_out_in_storage(o, x, qn_onnx_out_elem(o, c));
	if (held->tensor == 0 && !other && rank <= x->type->rank)
		*held = (qn_onnx_held){qn_onnx_out_tensors(o) + 1, how.perm, how.channels};
	if (blocks)
		return constant_of_blocks(o, c, &how, rank);
	x = in_file_order(o, x, &how, rank);
	if (!qn_elem_is_quant(x->type->elem))
		return qn_onnx_out_tensor(o, base, x);
	const char *y = qn_onnx_out_tensor(o, qn_onnx_out_named(o, base, "quantized"), x);
	return qn_onnx_out_convert(o, c, x->type->elem, "DequantizeLinear", base, y);
}

const char *
qn_onnx_out_columns(qn_onnx_out *o, qn_id id, int64_t channels)
{
	return qn_onnx_out_constant(o, qn_onnx_out_constant_of(o, id),
				    (qn_onnx_held){.channels = channels}, 2);
}
