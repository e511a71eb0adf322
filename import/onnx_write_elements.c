/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_elements.c - operators that work element by element, as those of ONNX.
 *
 *   silu(x)                 Mul(x, Sigmoid(x))
 *   not_equal(a, b)         Not(Equal(a, b))
 *   floor_div(a, b)         Floor(Div(a, b)); of integers Div(Sub(a, Mod(a, b)), b) */
#include <math.h>

#include "import/onnx_write_op.h"

/* ---- functions of one value ---- */

static const char *
limit(qn_onnx_out *o, double v)
{
	return isinf(v) ? NULL : qn_onnx_write_f32(o, "limit", v);
}

const char *
qn_onnx_write_clip(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const bool six = n->op == QN_OP_relu6;
	const double lo = six ? 0 : n->attr->clip.min, hi = six ? 6 : n->attr->clip.max;
	const char *in[2] = {limit(o, lo), limit(o, hi)};

	return qn_onnx_write_over(o, n, op, 2, in);
}

/* Attributes have the names that ONNX gives them; names in place of a default are left out. */
const char *
qn_onnx_write_function(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;
	const char *y = qn_onnx_write_plain(o, n, op);

	for (size_t i = 0; y != NULL && i < set->nattr; i++) {
		const qn_attr_info *info = &set->attr[i];
		const void *v = (const char *)n->attr + info->offset;

		if (info->kind == QN_ATTR_REAL)
			qn_onnx_out_real(o, info->name, *(const double *)v);
		else if (info->kind == QN_ATTR_INT)
			qn_onnx_out_int(o, info->name, *(const int64_t *)v);
		else if (!qn_attr_is_default(set, info, n->attr))
			qn_onnx_out_text(o, info->name, qn_enum_name(info, *(const int32_t *)v));
	}
	return y;
}

/* x * op(x); of swish x * op(alpha * x) */
const char *
qn_onnx_write_gated(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *x = qn_onnx_out_value(o, n->in[0]), *at = x;

	if (n->op == QN_OP_swish)
		at = qn_onnx_write_op_2(o, n, "Mul", x,
					qn_onnx_write_f32(o, "alpha", n->attr->swish.alpha));
	return qn_onnx_write_op_2(o, n, "Mul", x, qn_onnx_write_op_1(o, n, op, at));
}

const char *
qn_onnx_write_squared(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *x = n->op == QN_OP_squared_difference ? qn_onnx_write_plain(o, n, "Sub")
							  : qn_onnx_out_value(o, n->in[0]);

	return qn_onnx_write_op_2(o, n, op, x, x);
}

const char *
qn_onnx_write_rsqrt(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return qn_onnx_write_op_1(o, n, op, qn_onnx_write_plain(o, n, "Sqrt"));
}

/* (limits less the zero point) * scale: the clamp of quantized values as one of float values */
const char *
qn_onnx_write_clamp(qn_onnx_out *o, const qn_node *n, const char *op)
{
	(void)op;
	return qn_onnx_out_limited(o, n, qn_onnx_out_value(o, n->in[0]), n->type->elem,
				   n->attr->clamp.lo, n->attr->clamp.hi);
}

/* ---- two operands ---- */

const char *
qn_onnx_write_negated(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return qn_onnx_write_op_1(o, n, "Not", qn_onnx_write_plain(o, n, op));
}

static bool
is_real(const qn_onnx_out *o, const qn_node *n)
{
	return qn_elem_is_float(qn_onnx_write_type(o, n, 0)->elem);
}

/* For floats ONNX's Mod has the sign of the dividend only; with the divisor's: a - b * floor(a /
 * b). */
const char *
qn_onnx_write_remainder_of(qn_onnx_out *o, const qn_node *n, const char *op)
{
	if (is_real(o, n) && n->attr->mod.fmod == 0) {
		const char *a = qn_onnx_out_value(o, n->in[0]), *b = qn_onnx_out_value(o, n->in[1]);
		const char *whole =
			qn_onnx_write_op_1(o, n, "Floor", qn_onnx_write_plain(o, n, "Div"));

		return qn_onnx_write_op_2(o, n, "Sub", a,
					  qn_onnx_write_op_2(o, n, "Mul", b, whole));
	}
	const char *y = qn_onnx_write_plain(o, n, op);
	if (y != NULL)
		qn_onnx_out_int(o, "fmod", n->attr->mod.fmod);
	return y;
}

/* Div of integers goes toward zero; Mod has the sign of the divisor. */
const char *
qn_onnx_write_floor_div(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *a = qn_onnx_out_value(o, n->in[0]), *b = qn_onnx_out_value(o, n->in[1]);

	if (is_real(o, n))
		return qn_onnx_write_op_1(o, n, "Floor", qn_onnx_write_plain(o, n, op));
	return qn_onnx_write_op_2(
		o, n, op, qn_onnx_write_op_2(o, n, "Sub", a, qn_onnx_write_plain(o, n, "Mod")), b);
}

const char *
qn_onnx_write_shift(qn_onnx_out *o, const qn_node *n, const char *op)
{
	if (qn_plain_table[n->type->elem->plain].is_signed)
		return qn_onnx_out_refuse(o, n, "BitShift takes only unsigned integers");
	const char *y = qn_onnx_write_plain(o, n, op);
	if (y != NULL)
		qn_onnx_out_text(o, "direction", n->op == QN_OP_shift_left ? "LEFT" : "RIGHT");
	return y;
}

/* ---- kinds of numbers ---- */

const char *
qn_onnx_write_is_inf(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL) {
		qn_onnx_out_int(o, "detect_negative", n->attr->is_inf.detect_negative);
		qn_onnx_out_int(o, "detect_positive", n->attr->is_inf.detect_positive);
	}
	return y;
}

const char *
qn_onnx_write_cast(qn_onnx_out *o, const qn_node *n, const char *op)
{
	(void)op;
	return qn_onnx_out_cast(o, n->name, qn_onnx_out_value(o, n->in[0]), n->type->elem->plain);
}
