/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_dynamic.c - values whose scale is computed at run time, as the operators of ONNX.
 *
 *   asymmetric, whole        DequantizeLinear(DynamicQuantizeLinear(x))
 *   symmetric, or of rows    Mul(Round(Div(x, s)), s), s = Div(ReduceMax(Abs(x)), 127)
 *   asymmetric, of rows      the same, limited to -zero and 255 - zero; s = (hi - lo) / 255, zero = Round(-lo / s) */
#include "import/onnx_write_op.h"

/* Where all is 0 the scale is 0; quotients stay numbers then. */
#define LEAST_SCALE 0x1p-126

static const char *
standard(qn_onnx_out *o, const qn_node *n, const char *op, const char *x)
{
	const char *in[3] = {qn_onnx_out_node(o, op, n->name, 1, &x)};

	in[1] = qn_onnx_out_more(o, "scale");
	in[2] = qn_onnx_out_more(o, "zero_point");
	return qn_onnx_out_node(o, "DequantizeLinear", n->name, QN_COUNT(in), in);
}

/* The largest or smallest element of x, or with rows of each row. */
static const char *
end_of(qn_onnx_out *o, const qn_node *n, const char *op, const char *x)
{
	const qn_list last = {1, {n->type->rank - 1}}, all = {0};

	return qn_onnx_write_reduced(o, n, op, x, n->attr->dynamic.rows != 0 ? &last : &all, true);
}

static const char *
scale_of(qn_onnx_out *o, const qn_node *n, const char *width, double steps)
{
	const char *s =
		qn_onnx_write_op_2(o, n, "Div", width, qn_onnx_write_f32(o, "steps", steps));

	return qn_onnx_write_op_2(o, n, "Max", s, qn_onnx_write_f32(o, "least", LEAST_SCALE));
}

static const char *
in_steps(qn_onnx_out *o, const qn_node *n, const char *x, const char *scale)
{
	return qn_onnx_write_op_1(o, n, "Round", qn_onnx_write_op_2(o, n, "Div", x, scale));
}

const char *
qn_onnx_write_dynamic(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_dynamic *a = &n->attr->dynamic;
	const char *x = qn_onnx_out_value(o, n->in[0]);

	if (x == NULL)
		return NULL;
	if (a->asymmetric != 0 && a->rows == 0)
		return standard(o, n, op, x);
	if (a->asymmetric == 0) {
		const char *m = end_of(o, n, "ReduceMax", qn_onnx_write_op_1(o, n, "Abs", x));
		const char *s = scale_of(o, n, m, 127);

		return qn_onnx_write_op_2(o, n, "Mul", in_steps(o, n, x, s), s);
	}
	const char *none = qn_onnx_write_f32(o, "none", 0);
	const char *hi = qn_onnx_write_op_2(o, n, "Max", end_of(o, n, "ReduceMax", x), none);
	const char *lo = qn_onnx_write_op_2(o, n, "Min", end_of(o, n, "ReduceMin", x), none);
	const char *s = scale_of(o, n, qn_onnx_write_op_2(o, n, "Sub", hi, lo), 255);
	const char *least = in_steps(o, n, lo, s);
	const char *most =
		qn_onnx_write_op_2(o, n, "Add", least, qn_onnx_write_f32(o, "steps", 255));
	const char *q = qn_onnx_write_op_2(o, n, "Max", in_steps(o, n, x, s), least);

	return qn_onnx_write_op_2(o, n, "Mul", qn_onnx_write_op_2(o, n, "Min", q, most), s);
}
