/* SPDX-License-Identifier: Apache-2.0 */
/* channel_flow.c - what each op does to channels and to ranges: a row for each op, and what its
 * attributes must be for the row to hold. */
#include "passes/channels.h"

#include "ir/window.h"
#include "runtime/family.h"
#include "runtime/impl_util.h"
#include "runtime/geometry.h"

typedef bool fits_fn(const qn_graph *g, const qn_node *n);

static int32_t
last(const qn_type *t)
{
	return t->rank - 1;
}

static const qn_type *
operand(const qn_graph *g, const qn_node *n)
{
	return qn_graph_node(g, n->in[0])->type;
}

static bool
pads_no_channel(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_pad *a = &n->attr->pad;
	const int32_t k = last(operand(g, n));

	return a->before.n == k + 1 && a->before.v[k] == 0 && a->after.v[k] == 0;
}

static bool
keeps_last(const qn_graph *g, const qn_node *n)
{
	const int32_t k = last(operand(g, n));

	return n->attr->perm.perm.n == k + 1 && n->attr->perm.perm.v[k] == k;
}

static bool
cuts_no_channel(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = operand(g, n);
	const int32_t k = last(x);
	const qn_attrs_slice *a = &n->attr->slice;

	return n->type->dim[k] == x->dim[k] && (k >= a->step.n || a->step.v[k] == 1);
}

static bool
reduces_no_channel(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = operand(g, n);

	for (int32_t i = 0; i < n->attr->reduce.axes.n; i++)
		if (qn_axis_of(x, n->attr->reduce.axes.v[i]) == last(x))
			return false;
	return n->attr->reduce.axes.n > 0;
}

/* One scale for all elements: of regrouped values the axis of several would be another one. */
static bool
has_one_scale(const qn_graph *g, const qn_node *n)
{
	const qn_elem *x = operand(g, n)->elem, *y = n->type->elem;

	return (x->kind == QN_ELEM_PLAIN || x->gran == QN_PER_TENSOR) &&
	       (y->kind == QN_ELEM_PLAIN || y->gran == QN_PER_TENSOR);
}

static bool
has_constant_slope(const qn_graph *g, const qn_node *n)
{
	return qn_graph_node(g, n->in[1])->op == QN_OP_const;
}

static const struct row {
	qn_flow flow;
	qn_growth growth;
	fits_fn *fits; /* NULL: always */
} rows[QN_NOP] = {
	[QN_OP_requantize] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_clamp] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_max_pool] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_avg_pool] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_max_pool3d] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_avg_pool3d] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_global_avg_pool] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_reduce_mean] = {QN_FLOW_SAME, QN_GROWS, reduces_no_channel},
	[QN_OP_reduce_sum] = {QN_FLOW_SAME, QN_GROWS, reduces_no_channel},
	[QN_OP_reduce_max] = {QN_FLOW_SAME, QN_GROWS, reduces_no_channel},
	[QN_OP_reduce_min] = {QN_FLOW_SAME, QN_GROWS, reduces_no_channel},
	[QN_OP_resize_nearest] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_resize_bilinear] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_minimum] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_maximum] = {QN_FLOW_SAME, QN_GROWS, NULL},
	[QN_OP_add] = {QN_FLOW_SAME, QN_CORNERS, NULL},
	[QN_OP_bias_add] = {QN_FLOW_SAME, QN_CORNERS, NULL},
	[QN_OP_sub] = {QN_FLOW_SAME, QN_CORNERS, NULL},
	[QN_OP_mul] = {QN_FLOW_SAME, QN_CORNERS, NULL},
	[QN_OP_sigmoid] = {QN_FLOW_SAME, QN_OF_EACH, NULL},
	[QN_OP_tanh] = {QN_FLOW_SAME, QN_OF_EACH, NULL},
	[QN_OP_prelu] = {QN_FLOW_SAME, QN_OF_EACH, has_constant_slope},
	[QN_OP_pad] = {QN_FLOW_SAME, QN_GROWS, pads_no_channel},
	[QN_OP_transpose] = {QN_FLOW_SAME, QN_GROWS, keeps_last},
	[QN_OP_slice] = {QN_FLOW_SAME, QN_GROWS, cuts_no_channel},
	[QN_OP_reshape] = {QN_FLOW_REGROUP, QN_GROWS, has_one_scale},
	[QN_OP_flatten] = {QN_FLOW_REGROUP, QN_GROWS, has_one_scale},
	[QN_OP_squeeze] = {QN_FLOW_REGROUP, QN_GROWS, has_one_scale},
	[QN_OP_expand_dims] = {QN_FLOW_REGROUP, QN_GROWS, has_one_scale},
	[QN_OP_concat] = {QN_FLOW_CONCAT, QN_GROWS, NULL},
	[QN_OP_dense] = {QN_FLOW_LAYER, QN_GROWS_UNKNOWN, NULL},
	[QN_OP_conv1d] = {QN_FLOW_LAYER, QN_GROWS_UNKNOWN, NULL},
	[QN_OP_conv2d] = {QN_FLOW_LAYER, QN_GROWS_UNKNOWN, NULL},
	[QN_OP_conv3d] = {QN_FLOW_LAYER, QN_GROWS_UNKNOWN, NULL},
};

qn_flow
qn_flow_of(const qn_graph *g, const qn_node *n, qn_growth *growth)
{
	static const struct row of_each = {QN_FLOW_SAME, QN_OF_EACH, NULL};
	const struct row *r = &rows[n->op];

	if (n->op != QN_OP_custom && n->nin == 1 && qn_opinfo_of(n)->behaviour == QN_LUT)
		r = &of_each;
	*growth = r->growth;
	return r->fits == NULL || r->fits(g, n) ? r->flow : QN_FLOW_OTHER;
}

qn_interval
qn_storage_interval(const qn_elem *e)
{
	const int bits = qn_plain_table[e->plain].bits < 63 ? qn_plain_table[e->plain].bits : 63;

	if (qn_plain_table[e->plain].is_signed)
		return (qn_interval){-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1};
	return (qn_interval){0, (int64_t)((UINT64_C(1) << bits) - 1)};
}

/* Whether no sum leaves the accumulator, whatever the input and in whatever order it is made. */
static bool
holds(const qn_summing *l, int64_t limit)
{
	const int64_t up = l->most - l->zero, down = l->zero - l->least;
	const int64_t far = up > down ? up : down;

	for (int64_t o = 0; o < l->out; o++) {
		const int64_t bias = l->bias != NULL ? qn_tensor_i64(l->bias, o) : 0;
		int64_t worst = bias < 0 ? -bias : bias;

		if (bias < -limit || bias > limit)
			return false;
		for (int64_t k = 0; k < l->terms && worst <= limit; k++) {
			const int64_t w = qn_tensor_i64(l->w, o * l->terms + k);

			worst += (w < 0 ? -w : w) * far;
		}
		if (worst > limit)
			return false;
	}
	return true;
}

static const qn_tensor *
constant(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op == QN_OP_const && !qn_elem_is_float(n->type->elem) ? n->value : NULL;
}

bool
qn_summing_of(const qn_graph *g, const qn_node *n, qn_summing *out)
{
	const qn_type *x = operand(g, n);
	const qn_family f = x->is_tuple ? QN_NFAMILY : qn_family_of(x->elem);
	double scale;

	if (f == QN_NFAMILY || x->elem->kind != QN_ELEM_UNIFORM || x->elem->gran != QN_PER_TENSOR ||
	    qn_type_count(n->type) < 1 || qn_type_count(x) < 1 || constant(g, n->in[1]) == NULL ||
	    (n->nin > 2 && constant(g, n->in[2]) == NULL) ||
	    n->type->elem->plain != (f == QN_FAMILY_s16 ? QN_PLAIN_i64 : QN_PLAIN_i32))
		return false;
	const qn_type *w = qn_graph_node(g, n->in[1])->type;
	const qn_interval range = qn_storage_interval(x->elem);
	if (w->elem->kind != QN_ELEM_UNIFORM || w->elem->gran == QN_SUB_CHANNEL ||
	    (w->elem->gran == QN_PER_AXIS && w->elem->axis[0] != 0))
		return false;
	*out = (qn_summing){.w = constant(g, n->in[1]),
			    .bias = n->nin > 2 ? constant(g, n->in[2]) : NULL,
			    .out = w->dim[0],
			    .depth = w->dim[w->rank - 1],
			    .terms = qn_dim_product(w, 1, w->rank),
			    .groups = 1,
			    .least = range.lo,
			    .most = range.hi};
	qn_elem_param(&g->model->types, x->elem, 0, &scale, &out->zero);
	if (n->op != QN_OP_dense) {
		const qn_geometry s = qn_geometry_conv(g, n);

		out->groups = s.groups;
		out->padded = qn_geometry_is_padded(&s);
	}
	return holds(out, qn_family_get(f)->limit);
}
