/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_reduce.c - reductions, and what computes indices.
 *
 *   ReduceMean(x) {axes=[2, 3]}   reduce_mean;  the axes are an input from version 18 on (ReduceSum: 13)
 *   ReduceL2(x)                   sqrt(reduce_sum(x * x))
 *   ReduceLogSumExp(x)            m + log(reduce_sum(exp(x - m))), m = reduce_max(x) */
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

/* A stable form; without elements there is no largest one. */
static qn_id
log_sum_exp(qn_onnx *o, qn_id x, const over *r)
{
	qn_importer *im = &o->im;
	bool empty = x == 0 || qn_type_count(qn_onnx_type(o, x)) == 0;
	qn_id most = empty ? 0 : over_axes(o, QN_OP_reduce_max, x, r, true);

	if (r->none)
		return x;
	if (most != 0)
		x = qn_importer_binary(im, QN_OP_sub, x, most);
	x = qn_importer_unary(im, QN_OP_exp, x);
	x = qn_importer_unary(im, QN_OP_log, over_axes(o, QN_OP_reduce_sum, x, r, r->keep));
	if (most != 0 && x != 0) {
		const qn_type *t = qn_onnx_type(o, x);
		most = qn_importer_reshape(im, most, t->rank, t->dim);
		x = qn_importer_binary(im, QN_OP_add, x, most);
	}
	return x;
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

/* What is done to the elements before they are added up, and to the sum. */
typedef enum norm { SUM_L1, SUM_L2, SUM_SQUARE, SUM_LOG, SUM_LOG_EXP } norm;

static void
reduce_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	norm kind = (norm)n->arg;
	over r;

	if (!qn_onnx_need(o, n, 1) || !read_axes(o, n, 18, &r))
		return;
	qn_plain plain = qn_onnx_plain(o, n->in[0]);
	bool exact = kind == SUM_L1 || kind == SUM_SQUARE;
	qn_id x = exact ? n->in[0] : qn_importer_cast(im, n->in[0], QN_PLAIN_f32);
	if (kind == SUM_LOG_EXP) {
		out[0] = qn_importer_cast(im, log_sum_exp(o, x, &r), plain);
		return;
	}
	if (kind == SUM_L1)
		x = qn_importer_unary(im, QN_OP_abs, x);
	else if (kind != SUM_LOG)
		x = qn_importer_binary(im, QN_OP_mul, x, x);
	x = over_axes(o, QN_OP_reduce_sum, x, &r, r.keep);
	if (kind == SUM_L2)
		x = qn_importer_unary(im, QN_OP_sqrt, x);
	else if (kind == SUM_LOG)
		x = qn_importer_unary(im, QN_OP_log, x);
	out[0] = exact ? x : qn_importer_cast(im, x, plain);
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

/* Ones of x's type, as many as it has of every axis but this one. */
static qn_id
ones(qn_onnx *o, qn_id x, int32_t axis)
{
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim[QN_MAX_RANK];
	void *data;

	memcpy(dim, t->dim, (size_t)t->rank * sizeof dim[0]);
	dim[axis] = 1;
	const qn_type *type = qn_type_with_shape(&o->im.m->types, t, t->rank, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *y = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++)
		qn_store_f64(data, type->elem->plain, i, 1);
	return qn_importer_const(&o->im, NULL, y);
}

/* Products of 2, 4, 8 … neighbours: each step multiplies with what lies twice as far away.
 *
 *   a b c d   ->   a ab bc cd   ->   a ab abc abcd */
static void
cumprod(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const bool back = qn_onnx_int(o, n, "reverse", 0) != 0;
	qn_importer *im = &o->im;
	int64_t given;
	int32_t k;

	if (!qn_onnx_need(o, n, 2) || qn_onnx_const_ints(o, n, 1, 1, &given) != 1 ||
	    !qn_onnx_axis(o, given, qn_onnx_type(o, n->in[0])->rank, &k))
		return;
	qn_id y = n->in[0];
	const int64_t all = qn_onnx_type(o, y)->dim[k];
	if (all > 0 && qn_onnx_int(o, n, "exclusive", 0) != 0) {
		const qn_id rest = all == 1 ? 0 : qn_importer_slice(im, y, k, back, all - !back);
		const qn_id one = ones(o, y, k);

		y = all == 1 || one == 0
			    ? one
			    : qn_importer_join(
				      im, 2, back ? (qn_id[]){rest, one} : (qn_id[]){one, rest}, k);
	}
	for (int64_t d = 1; d < all && y != 0; d *= 2) {
		const qn_id low = qn_importer_slice(im, y, k, 0, all - d);
		const qn_id high = qn_importer_slice(im, y, k, d, all);
		const qn_id kept = back ? qn_importer_slice(im, y, k, all - d, all)
					: qn_importer_slice(im, y, k, 0, d);
		const qn_id product = qn_importer_binary(im, QN_OP_mul, low, high);

		y = qn_importer_join(im, 2,
				     back ? (qn_id[]){product, kept} : (qn_id[]){kept, product}, k);
	}
	out[0] = y;
}

const qn_onnx_row qn_onnx_reduce[] = {
	QN_ONNX_BOTH("ReduceMean", 1, reduce, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_mean),
	QN_ONNX_WRITE("ReduceMean", qn_onnx_write_rms_norm, 0, PLAIN, QN_OP_rms_norm),
	QN_ONNX_BOTH("ReduceSum", 1, reduce, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_sum),
	QN_ONNX_WRITE("ReduceSum", qn_onnx_write_l2_norm, 0, PLAIN, QN_OP_l2_norm),
	QN_ONNX_BOTH("ReduceProd", 1, reduce, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_prod),
	QN_ONNX_BOTH("ReduceMax", 1, extreme, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_max),
	QN_ONNX_BOTH("ReduceMin", 1, extreme, qn_onnx_write_reduce, 0, ANY, QN_OP_reduce_min),
	QN_ONNX_READ("", "ReduceL1", 1, reduce_norm, SUM_L1),
	QN_ONNX_READ("", "ReduceL2", 1, reduce_norm, SUM_L2),
	QN_ONNX_READ("", "ReduceSumSquare", 1, reduce_norm, SUM_SQUARE),
	QN_ONNX_READ("", "ReduceLogSum", 1, reduce_norm, SUM_LOG),
	QN_ONNX_READ("", "ReduceLogSumExp", 1, reduce_norm, SUM_LOG_EXP),
	QN_ONNX_BOTH("ArgMax", 1, arg_extreme, qn_onnx_write_arg, 0, PLAIN, QN_OP_argmax),
	QN_ONNX_BOTH("ArgMin", 1, arg_extreme, qn_onnx_write_arg, 0, PLAIN, QN_OP_argmin),
	QN_ONNX_BOTH("CumSum", 1, cumsum, qn_onnx_write_cumsum, 0, PLAIN, QN_OP_cumsum),
	QN_ONNX_READ("", "CumProd", 26, cumprod, 0),
	{0},
};
