/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reduce.c - reductions, and what computes indices.
 *
 *   ReduceMean(x) {axes=[2, 3]}   reduce_mean;  the axes are an input from version 18 on (ReduceSum: 13)
 *
 * Those that are made of others are compositions (lib/reductions.qir). */
#include "import/onnx_write_op.h"

#include <math.h>
#include <string.h>

/* ---- reductions ---- */

typedef struct over {
	int64_t axes[QN_MAX_RANK];
	int32_t n;
	bool keep, none; /* none: no axes means that nothing is reduced */
} over;

static bool
read_axes(qn_onnx *o, const qn_onnx_node *n, int64_t since, over *r)
{
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t axis;

	*r = (over){.keep = qn_onnx_int(o, n, "keepdims", 1) != 0};
	if (n->version >= since && qn_onnx_in(n, 1) != 0)
		r->n = qn_onnx_const_ints(o, n, 1, QN_MAX_RANK, r->axes);
	else if (n->version < since && qn_onnx_has(o, n, "axes"))
		r->n = qn_onnx_ints(o, n, "axes", QN_MAX_RANK, r->axes);
	if (r->n < 0)
		return false;
	for (int32_t i = 0; i < r->n; i++) {
		if (!qn_onnx_axis(o, r->axes[i], t->rank, &axis))
			return false;
		r->axes[i] = axis;
	}
	if (r->n > 0)
		return true;
	r->none = qn_onnx_int(o, n, "noop_with_empty_axes", 0) != 0;
	for (r->n = 0; r->n < t->rank; r->n++)
		r->axes[r->n] = r->n;
	return true;
}

static qn_id
over_axes(qn_onnx *o, qn_op op, qn_id x, const over *r, bool keep)
{
	if (r->none || x == 0 || r->n == 0)
		return x;
	return qn_importer_reduce(&o->im, op, x, r->n, r->axes, keep);
}

/* What is left of axes without elements: the lowest number, or the highest, of the type. */
static qn_id
of_nothing(qn_onnx *o, const qn_type *t, const over *r, double value)
{
	int64_t dim[QN_MAX_RANK];
	int32_t rank = 0;
	void *data;

	for (int32_t i = 0; i < t->rank; i++) {
		bool over_it = false;
		for (int32_t k = 0; k < r->n; k++)
			over_it = over_it || r->axes[k] == i;
		if (!over_it || r->keep)
			dim[rank++] = over_it ? 1 : t->dim[i];
	}
	if (!qn_importer_dims_fit(rank, dim))
		return qn_importer_refuse(&o->im, "import.size",
					  "the result has dimensions of too many elements");
	const qn_type *type = qn_type_with_shape(&o->im.m->types, t, rank, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_f64(data, type->elem->plain, i, value);
	return qn_importer_const(&o->im, NULL, y);
}

static bool
has_empty(const qn_type *t, const over *r)
{
	for (int32_t k = 0; k < r->n; k++)
		if (t->dim[r->axes[k]] == 0)
			return !r->none;
	return false;
}

/* Bool elements have an order, too. */
static void
extreme(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	over r;

	if (!qn_onnx_need(o, n, 1) || !read_axes(o, n, 18, &r))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	bool logic = qn_onnx_plain(o, n->in[0]) == QN_PLAIN_bool;
	if (has_empty(t, &r) && t->elem->kind == QN_ELEM_PLAIN) {
		out[0] = of_nothing(o, t, &r, n->arg == QN_OP_reduce_max ? -HUGE_VAL : HUGE_VAL);
		return;
	}
	qn_id x = logic ? qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32) : n->in[0];
	x = over_axes(o, (qn_op)n->arg, x, &r, r.keep);
	out[0] = logic ? qn_importer_cast(&o->im, x, QN_PLAIN_bool) : x;
}

static void
reduce(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	over r;

	if (qn_onnx_need(o, n, 1) && read_axes(o, n, n->arg == QN_OP_reduce_sum ? 13 : 18, &r))
		out[0] = over_axes(o, (qn_op)n->arg, n->in[0], &r, r.keep);
}

/* ---- indices ---- */

static const qn_type *
with_plain(qn_onnx *o, const qn_type *shape, qn_plain plain)
{
	return qn_type_with_elem(&o->im.m->types, shape, qn_elem_plain(&o->im.m->types, plain));
}

static void
arg_extreme(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int64_t dim[QN_MAX_RANK];
	int32_t axis, rank = 0;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), t->rank, &axis))
		return;
	a.argmax.axis = axis;
	a.argmax.keepdims = qn_onnx_int(o, n, "keepdims", 1) != 0;
	a.argmax.select_last_index = qn_onnx_int(o, n, "select_last_index", 0) != 0;
	for (int32_t i = 0; i < t->rank; i++)
		if (i != axis || a.argmax.keepdims != 0)
			dim[rank++] = i == axis ? 1 : t->dim[i];
	const qn_type *type =
		with_plain(o, qn_type_with_shape(&o->im.m->types, t, rank, dim), QN_PLAIN_i64);
	out[0] = qn_importer_op(&o->im, (qn_op)n->arg, 1, n->in, &a, type);
}

static void
cumsum(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};
	int64_t axis;
	int32_t k;

	if (!qn_onnx_need(o, n, 2) || qn_onnx_const_ints(o, n, 1, 1, &axis) < 0 ||
	    !qn_onnx_axis(o, axis, qn_onnx_type(o, n->in[0])->rank, &k))
		return;
	a.cumsum.axis = k;
	a.cumsum.exclusive = qn_onnx_int(o, n, "exclusive", 0) != 0;
	a.cumsum.reverse = qn_onnx_int(o, n, "reverse", 0) != 0;
	out[0] = qn_importer_op(&o->im, QN_OP_cumsum, 1, n->in, &a, NULL);
}

const qn_onnx_row qn_onnx_reduce[] = {
	QN_ONNX_BOTH("ReduceMean", 1, reduce, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_mean),
	QN_ONNX_WRITE("ReduceMean", qn_onnx_write_rms_norm, 0, PLAIN, QN_OP_rms_norm),
	QN_ONNX_BOTH("ReduceSum", 1, reduce, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_sum),
	QN_ONNX_WRITE("ReduceSum", qn_onnx_write_l2_norm, 0, PLAIN, QN_OP_l2_norm),
	QN_ONNX_BOTH("ReduceProd", 1, reduce, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_prod),
	QN_ONNX_BOTH("ReduceMax", 1, extreme, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_max),
	QN_ONNX_BOTH("ReduceMin", 1, extreme, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_min),
	QN_ONNX_BOTH("ArgMax", 1, arg_extreme, qn_onnx_write_arg, 0, PLAIN, QN_OP_argmax),
	QN_ONNX_BOTH("ArgMin", 1, arg_extreme, qn_onnx_write_arg, 0, PLAIN, QN_OP_argmin),
	QN_ONNX_BOTH("CumSum", 1, cumsum, qn_onnx_write_cumsum, 0, PLAIN, QN_OP_cumsum),
	{0},
};
