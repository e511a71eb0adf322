/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_give.c - the operators of a graph as those of ONNX (onnx_write.h). */
#include <math.h>

#include "import/onnx_write.h"
#include "ir/slice.h"
#include "ir/window.h"

/* Writes node n with operator `op`. */
typedef const char *give_fn(qn_onnx_out *o, const qn_node *n, const char *op);

static const qn_type *
type_at(const qn_onnx_out *o, const qn_node *n, uint32_t i)
{
	return qn_graph_node(o->g, n->in[i])->type;
}

/* The operator over the node's operands and `more` further inputs; NULL after a report. */
static const char *
over(qn_onnx_out *o, const qn_node *n, const char *op, size_t more, const char *const *extra)
{
	const char **in = QN_NEW(o->a, const char *, n->nin + more);

	for (uint32_t i = 0; i < n->nin; i++)
		if ((in[i] = qn_onnx_out_value(o, n->in[i])) == NULL)
			return NULL;
	for (size_t i = 0; i < more; i++)
		in[n->nin + i] = extra[i];
	return qn_onnx_out_node(o, op, n->name, n->nin + more, in);
}

static const char *
plain(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return over(o, n, op, 0, NULL);
}

/* ---- functions of one value ---- */

static const char *
limit(qn_onnx_out *o, double v)
{
	return isinf(v) ? NULL : qn_onnx_out_f32s(o, "limit", 0, 1, &v);
}

static const char *
clip(qn_onnx_out *o, const qn_node *n, const char *op)
{
	bool six = n->op == QN_OP_relu6;
	double lo = six ? 0 : n->attr->clip.min, hi = six ? 6 : n->attr->clip.max;
	const char *in[2] = {limit(o, lo), limit(o, hi)};

	return over(o, n, op, 2, in);
}

static const char *
with_reals(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = plain(o, n, op);

	if (y == NULL)
		return NULL;
	if (n->op == QN_OP_leaky_relu)
		qn_onnx_out_real(o, "alpha", n->attr->leaky_relu.alpha);
	else if (n->op == QN_OP_elu)
		qn_onnx_out_real(o, "alpha", n->attr->elu.alpha);
	else
		qn_onnx_out_real(o, "alpha", n->attr->hard_sigmoid.alpha);
	if (n->op == QN_OP_hard_sigmoid)
		qn_onnx_out_real(o, "beta", n->attr->hard_sigmoid.beta);
	return y;
}

/* x * op(x) */
static const char *
gated(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *in[2] = {qn_onnx_out_value(o, n->in[0]), plain(o, n, op)};

	return in[0] != NULL && in[1] != NULL ? qn_onnx_out_node(o, "Mul", n->name, 2, in) : NULL;
}

static const char *
squared(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *x = qn_onnx_out_value(o, n->in[0]);

	return x != NULL ? qn_onnx_out_node(o, op, n->name, 2, (const char *[]){x, x}) : NULL;
}

/* ---- products and windows: N,C,H,W ---- */

static const char *
channels_last(qn_onnx_out *o, const qn_node *n, const char *x)
{
	int64_t perm[QN_MAX_RANK];
	int32_t rank = n->type->rank;

	for (int32_t k = 0; k < rank; k++)
		perm[k] = k == 0 ? 0 : k + 1 < rank ? k + 1 : 1;
	x = qn_onnx_out_node(o, "Transpose", n->name, 1, &x);
	qn_onnx_out_ints(o, "perm", rank, perm);
	return x;
}

static const char *
channels_first(qn_onnx_out *o, qn_id x)
{
	int64_t perm[QN_MAX_RANK];
	int32_t rank = qn_graph_node(o->g, x)->type->rank;

	for (int32_t k = 0; k < rank; k++)
		perm[k] = k == 0 ? 0 : k == 1 ? rank - 1 : k - 1;
	return qn_onnx_out_permuted(o, x, rank, perm);
}

/* Pads as ONNX has them: all before, then all after. */
static void
window(qn_onnx_out *o, int32_t n, const qn_window *w, const int64_t *stride,
       const int64_t *dilation)
{
	int64_t pads[4];

	for (int32_t i = 0; i < n; i++) {
		pads[i] = w[i].before;
		pads[n + i] = w[i].after;
	}
	qn_onnx_out_ints(o, "pads", 2 * n, pads);
	qn_onnx_out_ints(o, "strides", n, stride);
	qn_onnx_out_ints(o, "dilations", n, dilation);
}

static const char *
conv(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_type *x = type_at(o, n, 0), *k = type_at(o, n, 1);
	const qn_convolving c = qn_convolving_of(n);
	const char *in[3] = {channels_first(o, n->in[0]), channels_first(o, n->in[1]),
			     n->nin == 3 ? qn_onnx_out_value(o, n->in[2]) : NULL};
	qn_window w[3];

	if (in[0] == NULL || in[1] == NULL || (n->nin == 3 && in[2] == NULL))
		return NULL;
	for (int i = 0; i < c.axes; i++)
		(void)qn_window_conv(&c, i, x->dim[1 + i], k->dim[1 + i], &w[i]);
	const char *y = qn_onnx_out_node(o, op, n->name, 3, in);
	window(o, c.axes, w, c.stride, c.dilation);
	qn_onnx_out_int(o, "group", c.groups);
	return channels_last(o, n, y);
}

static const char *
pool(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_pool *a = &n->attr->pool;
	const qn_type *x = type_at(o, n, 0);
	const char *in = channels_first(o, n->in[0]);
	qn_window w[2];

	if (in == NULL)
		return NULL;
	for (int i = 0; i < 2; i++)
		(void)qn_window_resolve(a->padding, x->dim[1 + i], a->kernel[i], a->stride[i],
					a->dilation[i], a->pad + 2 * i, &w[i]);
	const char *y = qn_onnx_out_node(o, op, n->name, 1, &in);
	if (n->op == QN_OP_max_pool || a->dilation[0] != 1 || a->dilation[1] != 1)
		window(o, 2, w, a->stride, a->dilation);
	else {
		qn_onnx_out_ints(
			o, "pads", 4,
			(const int64_t[]){w[0].before, w[1].before, w[0].after, w[1].after});
		qn_onnx_out_ints(o, "strides", 2, a->stride);
	}
	qn_onnx_out_ints(o, "kernel_shape", 2, a->kernel);
	if (a->ceil_mode != 0)
		qn_onnx_out_int(o, "ceil_mode", 1);
	if (n->op == QN_OP_avg_pool && a->count_include_pad != 0)
		qn_onnx_out_int(o, "count_include_pad", 1);
	return channels_last(o, n, y);
}

static const char *
global_pool(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *in = channels_first(o, n->in[0]);

	return in != NULL ? channels_last(o, n, qn_onnx_out_node(o, op, n->name, 1, &in)) : NULL;
}

static const char *
dense(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = plain(o, n, op);

	if (y != NULL)
		qn_onnx_out_int(o, "transB", 1);
	return y;
}

static const char *
matmul(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const int64_t turn[2] = {n->attr->matmul.transpose_a, n->attr->matmul.transpose_b};
	const char *in[2];

	for (uint32_t i = 0; i < 2; i++) {
		int32_t rank = type_at(o, n, i)->rank;
		int64_t perm[QN_MAX_RANK];

		for (int32_t k = 0; k < rank; k++)
			perm[k] = k;
		if (turn[i] != 0) {
			perm[rank - 1] = rank - 2;
			perm[rank - 2] = rank - 1;
		}
		in[i] = turn[i] != 0 ? qn_onnx_out_permuted(o, n->in[i], rank, perm)
				     : qn_onnx_out_value(o, n->in[i]);
		if (in[i] == NULL)
			return NULL;
	}
	return qn_onnx_out_node(o, op, n->name, 2, in);
}

/* ---- axes and shapes ---- */

static const char *
axis(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = plain(o, n, op);

	if (y != NULL)
		qn_onnx_out_int(o, "axis",
				n->op == QN_OP_gather ? n->attr->gather.axis : n->attr->axis.axis);
	return y;
}

/* ReduceSum has its axes as an input, the others as an attribute until operator set 18. */
static const char *
reduce(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_reduce *a = &n->attr->reduce;
	bool input = n->op == QN_OP_reduce_sum || o->version >= 18;
	const char *axes =
		input && a->axes.n > 0 ? qn_onnx_out_i64s(o, "axes", a->axes.n, a->axes.v) : NULL;
	const char *y = over(o, n, op, axes != NULL, &axes);

	if (y == NULL)
		return NULL;
	if (!input && a->axes.n > 0)
		qn_onnx_out_ints(o, "axes", a->axes.n, a->axes.v);
	qn_onnx_out_int(o, "keepdims", a->keepdims);
	return y;
}

static const char *
reshape(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *shape = qn_onnx_out_i64s(o, "shape", n->type->rank, n->type->dim);

	return over(o, n, op, 1, &shape);
}

static const char *
transpose(qn_onnx_out *o, const qn_node *n, const char *op)
{
	(void)op;
	return qn_onnx_out_permuted(o, n->in[0], n->type->rank, n->attr->perm.perm.v);
}

static const char *
pad(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_pad *a = &n->attr->pad;
	int64_t pads[2 * QN_MAX_RANK];
	const char *in[2];

	if (a->mode != QN_PAD_constant)
		return qn_onnx_out_refuse(o, n, "its mode is not constant");
	for (int32_t i = 0; i < a->before.n; i++) {
		pads[i] = a->before.v[i];
		pads[a->before.n + i] = a->after.v[i];
	}
	in[0] = qn_onnx_out_i64s(o, "pads", 2 * a->before.n, pads);
	in[1] = qn_onnx_out_f32s(o, "value", 0, 1, &a->value);
	return over(o, n, op, 2, in);
}

static const char *
slice(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_slice *a = &n->attr->slice;
	int64_t axes[QN_MAX_RANK], step[QN_MAX_RANK];
	const char *in[4];

	for (int32_t i = 0; i < a->begin.n; i++) {
		axes[i] = i;
		step[i] = qn_slice_step(a, i);
	}
	in[0] = qn_onnx_out_i64s(o, "starts", a->begin.n, a->begin.v);
	in[1] = qn_onnx_out_i64s(o, "ends", a->begin.n, a->end.v);
	in[2] = qn_onnx_out_i64s(o, "axes", a->begin.n, axes);
	in[3] = qn_onnx_out_i64s(o, "steps", a->begin.n, step);
	return over(o, n, op, 4, in);
}

static const struct {
	qn_op op;
	const char *name;
	give_fn *give;
} rows[] = {
	{QN_OP_add, "Add", plain},
	{QN_OP_bias_add, "Add", plain},
	{QN_OP_sub, "Sub", plain},
	{QN_OP_mul, "Mul", plain},
	{QN_OP_div, "Div", plain},
	{QN_OP_minimum, "Min", plain},
	{QN_OP_maximum, "Max", plain},
	{QN_OP_where, "Where", plain},
	{QN_OP_less, "Less", plain},
	{QN_OP_less_equal, "LessOrEqual", plain},
	{QN_OP_greater, "Greater", plain},
	{QN_OP_greater_equal, "GreaterOrEqual", plain},
	{QN_OP_equal, "Equal", plain},
	{QN_OP_pow, "Pow", plain},
	{QN_OP_prelu, "PRelu", plain},
	{QN_OP_relu, "Relu", plain},
	{QN_OP_sigmoid, "Sigmoid", plain},
	{QN_OP_tanh, "Tanh", plain},
	{QN_OP_hard_swish, "HardSwish", plain},
	{QN_OP_exp, "Exp", plain},
	{QN_OP_log, "Log", plain},
	{QN_OP_sqrt, "Sqrt", plain},
	{QN_OP_abs, "Abs", plain},
	{QN_OP_neg, "Neg", plain},
	{QN_OP_erf, "Erf", plain},
	{QN_OP_relu6, "Clip", clip},
	{QN_OP_clip, "Clip", clip},
	{QN_OP_leaky_relu, "LeakyRelu", with_reals},
	{QN_OP_elu, "Elu", with_reals},
	{QN_OP_hard_sigmoid, "HardSigmoid", with_reals},
	{QN_OP_silu, "Sigmoid", gated},
	{QN_OP_square, "Mul", squared},
	{QN_OP_conv2d, "Conv", conv},
	{QN_OP_conv1d, "Conv", conv},
	{QN_OP_max_pool, "MaxPool", pool},
	{QN_OP_avg_pool, "AveragePool", pool},
	{QN_OP_global_avg_pool, "GlobalAveragePool", global_pool},
	{QN_OP_dense, "Gemm", dense},
	{QN_OP_matmul, "MatMul", matmul},
	{QN_OP_softmax, "Softmax", axis},
	{QN_OP_log_softmax, "LogSoftmax", axis},
	{QN_OP_concat, "Concat", axis},
	{QN_OP_gather, "Gather", axis},
	{QN_OP_reduce_mean, "ReduceMean", reduce},
	{QN_OP_reduce_sum, "ReduceSum", reduce},
	{QN_OP_reduce_max, "ReduceMax", reduce},
	{QN_OP_reduce_min, "ReduceMin", reduce},
	{QN_OP_reshape, "Reshape", reshape},
	{QN_OP_flatten, "Reshape", reshape},
	{QN_OP_squeeze, "Reshape", reshape},
	{QN_OP_expand_dims, "Reshape", reshape},
	{QN_OP_transpose, "Transpose", transpose},
	{QN_OP_pad, "Pad", pad},
	{QN_OP_slice, "Slice", slice},
};

const char *
qn_onnx_out_op(qn_onnx_out *o, const qn_node *n)
{
	if (n->type->is_tuple || qn_type_count(n->type) < 0)
		return qn_onnx_out_refuse(o, n, "its shape is not known, or it is a tuple");
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (rows[i].op == n->op)
			return rows[i].give(o, n, rows[i].name);
	return qn_onnx_out_refuse(o, n, "there is no row for it in import/onnx_give.c");
}
