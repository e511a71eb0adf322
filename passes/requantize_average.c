/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_average.c - averages of quantized values.
 *
 *   quantize(avg_pool(dequantize(x)))   ->  requantize(avg_pool(x))               rounded to a step of x first
 *                                       ->  quantize(global_avg_pool(dequantize(x)))     where the result has finer steps:
 *                                       ->  requantize(conv2d(x, 1))              the sum is rescaled in one step
 *                                       ->  requantize(avg_pool(x)), 16 bits      of windows of unequal size */
#include <string.h>

#include "passes/requantize.h"

/* Whether no channel of the result has much finer steps than the values e that are averaged: then a
 * rounding to these would cost what the result has room for. */
static bool
is_as_coarse(const qn_rw *rw, const qn_elem *result, const qn_elem *e)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	double from, to;
	int64_t zp;

	for (size_t i = 0; i < qn_elem_nparams(e); i++) {
		qn_elem_param(t, e, i, &from, &zp);
		qn_elem_param(t, result, qn_elem_nparams(result) > i ? i : 0, &to, &zp);
		if (to < 0.75 * from)
			return false;
	}
	return true;
}

/* requantize(op(x)), of windows within channels: their integers are averaged under one scale */
static qn_id
average_of_channels(qn_rw *rw, const qn_match *m, qn_id x, const qn_elem *unit)
{
	const qn_elem *e = qn_rw_node(rw, x)->type->elem;
	const qn_node *op = qn_rw_node(rw, m->at[OP]);
	const qn_op kind = op->op;
	const qn_attrs *attr = op->attr;
	qn_id y = qn_rqz_relabel(rw, x, unit);

	y = y != 0 ? qn_rw_add(rw, kind, qn_rw_name(rw, m->at[OP]), 1, &y, attr, NULL) : 0;
	y = qn_rqz_relabel(rw, y, e);
	if (y == 0 || qn_rw_node(rw, y)->type == qn_rw_node(rw, m->root)->type)
		return y;
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL,
			 qn_rw_node(rw, m->root)->type);
}

/* Whether a pool has one window, which is all of each channel. */
static bool
is_global(const qn_rw *rw, qn_id pool, const qn_type *x)
{
	const qn_node *n = qn_rw_node(rw, pool);
	bool all = n->op == QN_OP_avg_pool && x->rank == 4;

	for (int i = 0; all && i < 2; i++)
		all = n->attr->pool.kernel[i] == x->dim[1 + i] && n->type->dim[1 + i] == 1 &&
		      n->attr->pool.dilation[i] == 1;
	for (int i = 0; all && n->attr->pool.padding == QN_PADDING_explicit && i < 4; i++)
		all = n->attr->pool.pad[i] == 0;
	return all;
}

/* quantize(global_avg_pool(x)): its sum is divided and rescaled in one step */
static qn_id
average_of_all(qn_rw *rw, const qn_match *m)
{
	const qn_id x = m->at[X];
	const qn_id y =
		qn_rw_add(rw, QN_OP_global_avg_pool, qn_rw_name(rw, m->at[OP]), 1, &x, NULL, NULL);

	return y != 0 ? qn_rqz_quantize(rw, y, qn_rw_node(rw, m->root)->type->elem,
					qn_rw_name(rw, m->root))
		      : 0;
}

/* How many elements every window averages; 0: not all the same number. */
static int64_t
window_count(const qn_rw *rw, qn_id pool, const qn_type *x)
{
	const qn_node *n = qn_rw_node(rw, pool);
	const bool counted = n->attr->pool.count_include_pad != 0;
	int64_t count = 1;

	for (int i = 0; i < 2; i++) {
		const int64_t *pad = &n->attr->pool.pad[2 * i];
		const int64_t kernel = n->attr->pool.kernel[i];
		const int64_t reach = (n->type->dim[1 + i] - 1) * n->attr->pool.stride[i] +
				      (kernel - 1) * n->attr->pool.dilation[i] + 1;
		const bool padded = n->attr->pool.padding == QN_PADDING_same
					    ? reach > x->dim[1 + i]
					    : n->attr->pool.padding == QN_PADDING_explicit &&
						      (pad[0] > 0 || pad[1] > 0);

		if ((padded && !counted) || reach > x->dim[1 + i] + (padded ? pad[0] + pad[1] : 0))
			return 0;
		count *= kernel;
	}
	return count;
}

enum {
	MOST_ONES = 4096, /* bytes of weights that say no more than their number */
	ONE = 127 /* TFLite's rounding cuts off what is below a unit of the sum, before it halves: units are small */
};

/* ONE for each element of each channel's window, which stands for 1/count; 0: the pool has no such form. */
static qn_id
ones(qn_rw *rw, qn_id pool, const qn_type *x)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, pool);
	const bool plain = n->op == QN_OP_avg_pool && x->rank == 4 && qn_type_count(x) > 0;
	const int64_t count = plain ? window_count(rw, pool, x) : 0;
	qn_elem d = qn_elem_desc(8, true);
	const qn_elem *e;
	void *data;

	if (count == 0 || count > MOST_ONES / x->dim[3])
		return 0;
	const int64_t dim[4] = {x->dim[3], n->attr->pool.kernel[0], n->attr->pool.kernel[1], 1};
	d.qmin = -127;
	d.scale = qn_scale_const(&m->types, 1.0 / (double)(ONE * count));
	d.expressed = x->elem->plain;
	if (qn_elem_make(&m->types, n->name, &d, &e) != QN_OK)
		return 0;
	const qn_type *type = qn_type_tensor(&m->types, e, 4, dim);
	qn_tensor *value = qn_tensor_new(m->arena, type, &data);
	memset(data, ONE, (size_t)(count * x->dim[3]));
	return qn_rw_const(rw, qn_rw_name(rw, pool), value);
}

/* quantize(conv2d(x, ones)): depthwise, so that the sum is rescaled in one step; 0: the pool has no such form */
static qn_id
average_of_windows(qn_rw *rw, const qn_match *m)
{
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;
	const qn_attrs *pool = qn_rw_node(rw, m->at[OP])->attr;
	const char *name = qn_rw_name(rw, m->at[OP]);
	qn_id w = ones(rw, m->at[OP], x), in[2];
	qn_attrs a;

	if (w == 0)
		return 0;
	qn_attrs_default(qn_opinfo_get(QN_OP_conv2d)->attrs, &a);
	memcpy(a.conv2d.stride, pool->pool.stride, sizeof a.conv2d.stride);
	memcpy(a.conv2d.dilation, pool->pool.dilation, sizeof a.conv2d.dilation);
	memcpy(a.conv2d.pad, pool->pool.pad, sizeof a.conv2d.pad);
	a.conv2d.padding = pool->pool.padding;
	a.conv2d.groups = x->dim[3];
	in[0] = m->at[X];
	in[1] = qn_rw_add(rw, QN_OP_dequantize, NULL, 1, &w, NULL, NULL);
	const qn_id y = qn_rw_add(rw, QN_OP_conv2d, name, 2, in, &a, NULL);

	return y != 0 ? qn_rqz_quantize(rw, y, qn_rw_node(rw, m->root)->type->elem,
					qn_rw_name(rw, m->root))
		      : 0;
}

/* Averages are rounded to quantized values of x before the requantize: left out where that is not wanted.
 * Where the result has much finer steps, it gets them. */
qn_id
qn_rqz_average(qn_rw *rw, const qn_match *m)
{
	const qn_rqz *s = qn_rw_user(rw);

	if (s->opts->exact)
		return qn_rw_decline(rw, "averages of quantized values are rounded, and only exact "
					 "rules are enabled");
	if (qn_rqz_skipped(rw, m->at[OP]))
		return qn_rw_decline(rw, "it is to stay in float");
	const qn_elem *e = qn_rqz_operand_elem(rw, m->at[X]);
	if (e == NULL || !qn_rqz_supports(e))
		return qn_rw_decline(rw, "its operand is not a dequantize of 8- or 16-bit values");
	qn_id x = qn_rqz_operand(rw, m->at[X]);
	if (x != 0 && qn_rw_node(rw, m->root)->type->elem->bits <= 8) {
		const qn_elem *unit = qn_rqz_unit_elem(rw, x, e);

		if (unit != NULL && is_as_coarse(rw, qn_rw_node(rw, m->root)->type->elem, e))
			return average_of_channels(rw, m, x, unit);
	}
	const bool fine = !is_as_coarse(rw, qn_rw_node(rw, m->root)->type->elem, e);
	if (fine && is_global(rw, m->at[OP], qn_rw_node(rw, m->at[X])->type))
		return average_of_all(rw, m);
	const bool finer = fine && e->bits <= 8 && e->gran == QN_PER_TENSOR;
	const qn_id windows = finer ? average_of_windows(rw, m) : 0;
	if (windows != 0)
		return windows;
	x = qn_rqz_aligned(rw, x);
	e = x != 0 ? qn_rw_node(rw, x)->type->elem : e;
	if (e->bits <= 8 && (finer || qn_rw_node(rw, m->root)->type->elem->bits > 8))
		x = qn_rqz_stored_as(rw, x, 16, true); /* rounded to finer steps */
	return qn_rqz_narrowed(rw, m, x);
}
