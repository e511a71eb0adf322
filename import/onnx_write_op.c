/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_op.c - finds how an operator of a graph is written as those of ONNX, and what the
 * writers share. */
#include "import/onnx_write_op.h"

#include <string.h>

#include "ir/diag.h"

/* Refused with its loop, once. */
static const char part_of_loop[] = "a part of a loop";

/* What is never written as an operator, and why. */
static const struct {
	qn_op op;
	const char *why;
} others[] = {
	{QN_OP_input, "an input of the file"},
	{QN_OP_const, "an initializer of the file"},
	{QN_OP_quantize, "QuantizeLinear; for constants, an initializer with the quantized values"},
	{QN_OP_dequantize, "DequantizeLinear before each use, as for all quantized values"},
	{QN_OP_requantize, "DequantizeLinear and QuantizeLinear, Clip between them for its limits"},
	{QN_OP_scast, "the same value; accumulators, which are floats in the file, are refused"},
	{QN_OP_tuple, "its fields"},
	{QN_OP_get, "a result of Split or TopK, or a field"},
	{QN_OP_call,
	 "refused: graphs that call composites are written before partition or after quantize"},
	{QN_OP_table, "refused: a function of quantized values; those of ONNX take float values"},
	{QN_OP_custom, "refused: ONNX has no custom operators"},
	{QN_OP_loop, "refused: write its steps one by one, with --inline-bodies"},
	{QN_OP_loop_carry, part_of_loop},
	{QN_OP_loop_end, part_of_loop},
	{QN_OP_loop_slice, part_of_loop},
	{QN_OP_loop_stack, part_of_loop},
	{QN_OP_loop_last, part_of_loop},
};

/* A message says itself that the node is refused. */
static const char *
reason_of(const char *why)
{
	static const char refused[] = "refused: ";
	const size_t n = sizeof refused - 1;

	return strncmp(why, refused, n) == 0 ? why + n : why;
}

/* Of an op without a row. */
static const char no_operator[] = "ONNX has no operator for it";

qn_onnx_export_row
qn_onnx_out_how(qn_op op)
{
	const qn_onnx_row *r = qn_onnx_written(op);

	for (size_t i = 0; i < QN_COUNT(others); i++)
		if (others[i].op == op)
			return (qn_onnx_export_row){.why = others[i].why};
	if (r == NULL)
		return (qn_onnx_export_row){.why = no_operator};
	return (qn_onnx_export_row){.name = r->op};
}

int64_t
qn_onnx_out_since(const qn_node *n)
{
	static const int64_t reductions[] = {0, 16, 16, 18, 18};
	const qn_onnx_row *r = qn_onnx_written(n->op);
	int64_t since = r != NULL ? r->since : 0;

	if (n->op == QN_OP_scatter_elements)
		since = reductions[n->attr->scatter_elements.reduction];
	else if (n->op == QN_OP_scatter_nd)
		since = reductions[n->attr->scatter_nd.reduction];
	else if (n->op == QN_OP_pad && n->attr->pad.mode == QN_PAD_wrap)
		since = 19;
	else if (n->op == QN_OP_avg_pool &&
		 (n->attr->pool.dilation[0] != 1 || n->attr->pool.dilation[1] != 1))
		since = 19;
	else if (n->op == QN_OP_avg_pool3d &&
		 (n->attr->pool3d.dilation[0] != 1 || n->attr->pool3d.dilation[1] != 1 ||
		  n->attr->pool3d.dilation[2] != 1))
		since = 19;
	return since;
}

qn_onnx_axis_order
qn_onnx_out_axis_order(const qn_node *n)
{
	const qn_onnx_row *r = qn_onnx_written(n->op);
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;

	if (n->op == QN_OP_pad && n->attr->pad.mode == QN_PAD_symmetric)
		return QN_AXES_PLAIN; /* slices and concatenations of the axes one by one */
	if (set == QN_ATTRS(reduce) && n->attr->reduce.keepdims == 0)
		return QN_AXES_PLAIN; /* the result has other axes */
	return r != NULL ? r->takes : QN_AXES_PLAIN;
}

const char *
qn_onnx_out_refuse(qn_onnx_out *o, const qn_node *n, const char *why)
{
	(void)qn_report(o->m->env, QN_EUNSUPPORTED, "export.op", qn_node_place(o->g, n),
			"%s '%s' cannot be written to ONNX: %s", qn_opinfo_of(n)->name, n->name,
			why);
	o->problems++;
	return NULL;
}

const char *
qn_onnx_out_op(qn_onnx_out *o, const qn_node *n)
{
	const qn_onnx_row *r = qn_onnx_written(n->op);

	for (size_t i = 0; i < QN_COUNT(others); i++) {
		if (others[i].op != n->op)
			continue;
		if (others[i].why != part_of_loop)
			return qn_onnx_out_refuse(o, n, reason_of(others[i].why));
		o->problems++;
		return NULL;
	}
	if (!n->type->is_tuple && qn_type_count(n->type) < 0)
		return qn_onnx_out_refuse(o, n, "its shape is not known");
	return r != NULL ? r->write(o, n, r->op) : qn_onnx_out_refuse(o, n, no_operator);
}

/* ---- what the writers share ---- */

const qn_type *
qn_onnx_write_type(const qn_onnx_out *o, const qn_node *n, uint32_t i)
{
	return qn_graph_node(o->g, n->in[i])->type;
}

const char *
qn_onnx_write_over(qn_onnx_out *o, const qn_node *n, const char *op, size_t more,
		   const char *const *extra)
{
	const char **in = QN_NEW(o->a, const char *, n->nin + more);

	for (uint32_t i = 0; i < n->nin; i++)
		if ((in[i] = qn_onnx_out_value(o, n->in[i])) == NULL)
			return NULL;
	for (size_t i = 0; i < more; i++)
		in[n->nin + i] = extra[i];
	return qn_onnx_out_node(o, op, n->name, n->nin + more, in);
}

const char *
qn_onnx_write_plain(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return qn_onnx_write_over(o, n, op, 0, NULL);
}

const char *
qn_onnx_write_op_1(qn_onnx_out *o, const qn_node *n, const char *op, const char *x)
{
	return x != NULL ? qn_onnx_out_node(o, op, n->name, 1, &x) : NULL;
}

const char *
qn_onnx_write_op_2(qn_onnx_out *o, const qn_node *n, const char *op, const char *a, const char *b)
{
	const char *in[2] = {a, b};

	return a != NULL && b != NULL ? qn_onnx_out_node(o, op, n->name, 2, in) : NULL;
}

const char *
qn_onnx_write_f32(qn_onnx_out *o, const char *base, double v)
{
	return qn_onnx_out_number(o, base, QN_PLAIN_f32, v);
}

/* ReduceSum has its axes as an input, the others as an attribute until operator set 18. */
const char *
qn_onnx_write_reduced(qn_onnx_out *o, const qn_node *n, const char *op, const char *x,
		      const qn_list *axes, bool keepdims)
{
	const bool input = strcmp(op, "ReduceSum") == 0 || o->version >= 18;
	const char *in[2] = {x, NULL};

	if (x == NULL)
		return NULL;
	if (input && axes->n > 0)
		in[1] = qn_onnx_out_i64s(o, "axes", axes->n, axes->v);
	const char *y = qn_onnx_out_node(o, op, n->name, 2, in);
	if (!input && axes->n > 0)
		qn_onnx_out_ints(o, "axes", axes->n, axes->v);
	qn_onnx_out_int(o, "keepdims", keepdims);
	return y;
}

/* ---- the order of axes ---- */

const char *
qn_onnx_write_channels_first(qn_onnx_out *o, const qn_node *n, uint32_t i)
{
	return qn_onnx_out_value_in(o, n->in[i], QN_ORDER_FIRST);
}

int64_t
qn_onnx_write_first(const qn_onnx_out *o, const qn_node *n, int64_t axis)
{
	const int32_t rank = qn_onnx_write_type(o, n, 0)->rank;

	axis += axis < 0 ? rank : 0;
	return axis == 0 ? 0 : axis + 1 == rank ? 1 : axis + 1;
}

int64_t
qn_onnx_write_axis(const qn_onnx_out *o, const qn_node *n, int64_t axis)
{
	return o->now == QN_ORDER_FIRST ? qn_onnx_write_first(o, n, axis) : axis;
}

void
qn_onnx_write_op_by_axis(const qn_onnx_out *o, const qn_list *from, int64_t *to)
{
	int64_t perm[QN_MAX_RANK];

	qn_onnx_out_order_perm(o->now, from->n, perm);
	for (int32_t k = 0; k < from->n; k++)
		to[k] = from->v[perm[k]];
}
