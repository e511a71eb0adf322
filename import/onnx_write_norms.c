/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_norms.c - reductions, and what normalizes by them, as the operators of ONNX.
 *
 *   rms_norm(x, s)     Mul(Div(x, Sqrt(Add(ReduceMean(Mul(x, x)), epsilon))), s)
 *   l2_norm(x)         Div(x, Sqrt(Max(ReduceSum(Mul(x, x)), epsilon))) */
#include "import/onnx_write_op.h"

/* ---- reductions ---- */

/* If all positions of an image whose channels come first are reduced, or the channels, the order of the rest
 * does not change. */
static bool
leaves_order(const qn_onnx_out *o, const qn_node *n)
{
	const qn_attrs_reduce *a = &n->attr->reduce;
	const qn_type *x = qn_onnx_write_type(o, n, 0);
	const int32_t rank = x->rank;
	bool gone[QN_MAX_RANK] = {0}, places = true;

	if (o->order[n->in[0]] != QN_ORDER_FIRST)
		return false;
	for (int32_t i = 0; i < a->axes.n; i++)
		gone[a->axes.v[i] < 0 ? a->axes.v[i] + rank : a->axes.v[i]] = true;
	for (int32_t k = 1; k + 1 < rank; k++)
		places = places && gone[k];
	return places || gone[rank - 1];
}

const char *
qn_onnx_write_reduce(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_reduce *a = &n->attr->reduce;
	const bool channels_first = a->keepdims == 0 && leaves_order(o, n);
	const char *x = qn_onnx_out_value_in(o, n->in[0], channels_first ? QN_ORDER_FIRST : o->now);
	qn_list axes = a->axes;

	for (int32_t i = 0; i < axes.n; i++)
		axes.v[i] = channels_first ? qn_onnx_write_first(o, n, axes.v[i])
					   : qn_onnx_write_axis(o, n, axes.v[i]);
	return qn_onnx_write_reduced(o, n, op, x, &axes, a->keepdims != 0);
}

/* Indices are i64 in ONNX. */
const char *
qn_onnx_write_arg(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y == NULL)
		return NULL;
	qn_onnx_out_int(o, "axis", n->attr->argmax.axis);
	qn_onnx_out_int(o, "keepdims", n->attr->argmax.keepdims);
	qn_onnx_out_int(o, "select_last_index", n->attr->argmax.select_last_index);
	return n->type->elem->plain == QN_PLAIN_i64
		       ? y
		       : qn_onnx_out_cast(o, n->name, y, n->type->elem->plain);
}

const char *
qn_onnx_write_cumsum(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *at = qn_onnx_out_i64s(o, "axis", 1, &n->attr->cumsum.axis);
	const char *y = qn_onnx_write_over(o, n, op, 1, &at);

	if (y != NULL) {
		qn_onnx_out_int(o, "exclusive", n->attr->cumsum.exclusive);
		qn_onnx_out_int(o, "reverse", n->attr->cumsum.reverse);
	}
	return y;
}

const char *
qn_onnx_write_along(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL)
		qn_onnx_out_int(o, "axis", qn_onnx_write_axis(o, n, n->attr->axis.axis));
	return y;
}

/* ---- normalizations ---- */

const char *
qn_onnx_write_layer_norm(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL) {
		qn_onnx_out_int(o, "axis", n->attr->layer_norm.axis);
		qn_onnx_out_real(o, "epsilon", n->attr->layer_norm.epsilon);
	}
	return y;
}

const char *
qn_onnx_write_rms_norm(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_layer_norm *a = &n->attr->layer_norm;
	const int32_t rank = n->type->rank;
	const char *x = qn_onnx_out_value(o, n->in[0]);
	qn_list axes = {0};

	for (int32_t k = (int32_t)(a->axis < 0 ? a->axis + rank : a->axis); k < rank; k++)
		axes.v[axes.n++] = k;
	const char *m =
		qn_onnx_write_reduced(o, n, op, qn_onnx_write_op_2(o, n, "Mul", x, x), &axes, true);
	m = qn_onnx_write_op_2(o, n, "Add", m, qn_onnx_write_f32(o, "epsilon", a->epsilon));
	m = qn_onnx_write_op_2(o, n, "Div", x, qn_onnx_write_op_1(o, n, "Sqrt", m));
	return qn_onnx_write_op_2(o, n, "Mul", m, qn_onnx_out_value(o, n->in[1]));
}

const char *
qn_onnx_write_l2_norm(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_l2_norm *a = &n->attr->l2_norm;
	const qn_list axes = {1, {a->axis}};
	const char *x = qn_onnx_out_value(o, n->in[0]);
	const char *s =
		qn_onnx_write_reduced(o, n, op, qn_onnx_write_op_2(o, n, "Mul", x, x), &axes, true);

	s = qn_onnx_write_op_2(o, n, "Max", s, qn_onnx_write_f32(o, "epsilon", a->epsilon));
	return qn_onnx_write_op_2(o, n, "Div", x, qn_onnx_write_op_1(o, n, "Sqrt", s));
}

/* Over images: the channels come first, all other operands are vectors. */
const char *
qn_onnx_write_by_channel(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *in[5] = {qn_onnx_write_channels_first(o, n, 0)};

	for (uint32_t i = 1; i < n->nin; i++)
		if ((in[i] = qn_onnx_out_value(o, n->in[i])) == NULL)
			return NULL;
	if (in[0] == NULL)
		return NULL;
	const char *y = qn_onnx_out_node(o, op, n->name, n->nin, in);
	if (n->op == QN_OP_batch_norm) {
		qn_onnx_out_real(o, "epsilon", n->attr->batch_norm.epsilon);
	} else if (n->op == QN_OP_instance_norm) {
		qn_onnx_out_real(o, "epsilon", n->attr->instance_norm.epsilon);
	} else {
		qn_onnx_out_int(o, "size", n->attr->lrn.size);
		qn_onnx_out_real(o, "alpha", n->attr->lrn.alpha);
		qn_onnx_out_real(o, "beta", n->attr->lrn.beta);
		qn_onnx_out_real(o, "bias", n->attr->lrn.bias);
	}
	return y;
}

/* They are read as compositions (lib/norms.qir). */
const qn_onnx_row qn_onnx_norm[] = {
	QN_ONNX_WRITE("BatchNormalization", qn_onnx_write_by_channel, 0, FIRST, QN_OP_batch_norm),
	QN_ONNX_WRITE("InstanceNormalization", qn_onnx_write_by_channel, 0, FIRST,
		      QN_OP_instance_norm),
	QN_ONNX_WRITE("LayerNormalization", qn_onnx_write_layer_norm, 17, PLAIN, QN_OP_layer_norm),
	QN_ONNX_WRITE("LRN", qn_onnx_write_by_channel, 0, FIRST, QN_OP_lrn),
	QN_ONNX_WRITE("Softmax", qn_onnx_write_along, 0, ANY, QN_OP_softmax),
	QN_ONNX_WRITE("LogSoftmax", qn_onnx_write_along, 0, ANY, QN_OP_log_softmax),
	{0},
};
