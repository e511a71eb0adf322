/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_give_elements.c - operators that work element by element, as those of ONNX.
 *
 *   silu(x)                 Mul(x, Sigmoid(x))
 *   not_equal(a, b)         Not(Equal(a, b))
 *   floor_div(a, b)         Floor(Div(a, b)); of integers Div(Sub(a, Mod(a, b)), b) */
#include <math.h>

#include "import/onnx_give.h"

/* ---- functions of one value ---- */

static const char *
limit(qn_onnx_out *o, double v)
{
	return isinf(v) ? NULL : qn_onnx_give_f32(o, "limit", v);
}

static const char *
clip(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const bool six = n->op == QN_OP_relu6;
	const double lo = six ? 0 : n->attr->clip.min, hi = six ? 6 : n->attr->clip.max;
	const char *in[2] = {limit(o, lo), limit(o, hi)};

	return qn_onnx_give_over(o, n, op, 2, in);
}

/* Every attribute is a real number of the name that ONNX gives it. */
static const char *
with_reals(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attr_set_info *set = qn_opinfo_of(n)->attrs;
	const char *y = qn_onnx_give_plain(o, n, op);

	for (size_t i = 0; y != NULL && i < set->nattr; i++)
		qn_onnx_out_real(o, set->attr[i].name,
				 *(const double *)(const void *)((const char *)n->attr +
								 set->attr[i].offset));
	return y;
}

static const char *
gelu(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_give_plain(o, n, op);

	if (y != NULL && n->attr->gelu.approximate == QN_APPROXIMATE_tanh)
		qn_onnx_out_text(o, "approximate", "tanh");
	return y;
}

/* x * op(x); of swish x * op(alpha * x) */
static const char *
gated(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *x = qn_onnx_out_value(o, n->in[0]), *at = x;

	if (n->op == QN_OP_swish)
		at = qn_onnx_give_2(o, n, "Mul", x,
				    qn_onnx_give_f32(o, "alpha", n->attr->swish.alpha));
	return qn_onnx_give_2(o, n, "Mul", x, qn_onnx_give_1(o, n, op, at));
}

static const char *
squared(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *x = n->op == QN_OP_squared_difference ? qn_onnx_give_plain(o, n, "Sub")
							  : qn_onnx_out_value(o, n->in[0]);

	return qn_onnx_give_2(o, n, op, x, x);
}

static const char *
rsqrt(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return qn_onnx_give_1(o, n, op, qn_onnx_give_plain(o, n, "Sqrt"));
}

/* (code limits less the zero point) * scale: the clamp of codes as one of real numbers */
static const char *
clamp(qn_onnx_out *o, const qn_node *n, const char *op)
{
	(void)op;
	return qn_onnx_out_limited(o, n, qn_onnx_out_value(o, n->in[0]), n->type->elem,
				   n->attr->clamp.lo, n->attr->clamp.hi);
}

/* ---- two operands ---- */

static const char *
negated(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return qn_onnx_give_1(o, n, "Not", qn_onnx_give_plain(o, n, op));
}

static bool
is_real(const qn_onnx_out *o, const qn_node *n)
{
	return qn_elem_is_float(qn_onnx_give_type(o, n, 0)->elem);
}

/* ONNX divides real numbers with the dividend's sign alone; with the divisor's: a - b * floor(a /
 * b). */
static const char *
remainder_of(qn_onnx_out *o, const qn_node *n, const char *op)
{
	if (is_real(o, n) && n->attr->mod.fmod == 0) {
		const char *a = qn_onnx_out_value(o, n->in[0]), *b = qn_onnx_out_value(o, n->in[1]);
		const char *whole = qn_onnx_give_1(o, n, "Floor", qn_onnx_give_plain(o, n, "Div"));

		return qn_onnx_give_2(o, n, "Sub", a, qn_onnx_give_2(o, n, "Mul", b, whole));
	}
	const char *y = qn_onnx_give_plain(o, n, op);
	if (y != NULL)
		qn_onnx_out_int(o, "fmod", n->attr->mod.fmod);
	return y;
}

/* Div of integers goes toward zero; Mod has the sign of the divisor. */
static const char *
floor_div(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *a = qn_onnx_out_value(o, n->in[0]), *b = qn_onnx_out_value(o, n->in[1]);

	if (is_real(o, n))
		return qn_onnx_give_1(o, n, "Floor", qn_onnx_give_plain(o, n, op));
	return qn_onnx_give_2(o, n, op,
			      qn_onnx_give_2(o, n, "Sub", a, qn_onnx_give_plain(o, n, "Mod")), b);
}

static const char *
shift(qn_onnx_out *o, const qn_node *n, const char *op)
{
	if (qn_plain_table[n->type->elem->plain].is_signed)
		return qn_onnx_out_refuse(o, n, "BitShift takes only unsigned integers");
	const char *y = qn_onnx_give_plain(o, n, op);
	if (y != NULL)
		qn_onnx_out_text(o, "direction", n->op == QN_OP_shift_left ? "LEFT" : "RIGHT");
	return y;
}

/* ---- kinds of numbers ---- */

static const char *
is_inf(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_give_plain(o, n, op);

	if (y != NULL) {
		qn_onnx_out_int(o, "detect_negative", n->attr->is_inf.detect_negative);
		qn_onnx_out_int(o, "detect_positive", n->attr->is_inf.detect_positive);
	}
	return y;
}

static const char *
cast(qn_onnx_out *o, const qn_node *n, const char *op)
{
	(void)op;
	return qn_onnx_out_cast(o, n->name, qn_onnx_out_value(o, n->in[0]), n->type->elem->plain);
}

const qn_onnx_give_row qn_onnx_give_elements[] = {
	{QN_OP_add, "Add", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_bias_add, "Add", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_sub, "Sub", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_mul, "Mul", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_div, "Div", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_minimum, "Min", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_maximum, "Max", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_where, "Where", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_less, "Less", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_less_equal, "LessOrEqual", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_greater, "Greater", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_greater_equal, "GreaterOrEqual", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_equal, "Equal", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_not_equal, "Equal", negated, 0, QN_TAKES_ANY},
	{QN_OP_squared_difference, "Mul", squared, 0, QN_TAKES_ANY},
	{QN_OP_mod, "Mod", remainder_of, 0, QN_TAKES_ANY},
	{QN_OP_floor_div, "Div", floor_div, 0, QN_TAKES_ANY},
	{QN_OP_logical_and, "And", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_logical_or, "Or", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_logical_xor, "Xor", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_logical_not, "Not", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_bitwise_and, "BitwiseAnd", qn_onnx_give_plain, 18, QN_TAKES_ANY},
	{QN_OP_bitwise_or, "BitwiseOr", qn_onnx_give_plain, 18, QN_TAKES_ANY},
	{QN_OP_bitwise_xor, "BitwiseXor", qn_onnx_give_plain, 18, QN_TAKES_ANY},
	{QN_OP_bitwise_not, "BitwiseNot", qn_onnx_give_plain, 18, QN_TAKES_ANY},
	{QN_OP_shift_left, "BitShift", shift, 0, QN_TAKES_ANY},
	{QN_OP_shift_right, "BitShift", shift, 0, QN_TAKES_ANY},
	{QN_OP_is_nan, "IsNaN", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_is_inf, "IsInf", is_inf, 0, QN_TAKES_ANY},
	{QN_OP_cast, "Cast", cast, 0, QN_TAKES_ANY},
	{QN_OP_pow, "Pow", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_prelu, "PRelu", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_relu, "Relu", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_relu6, "Clip", clip, 0, QN_TAKES_ANY},
	{QN_OP_clip, "Clip", clip, 0, QN_TAKES_ANY},
	{QN_OP_clamp, "Clip", clamp, 0, QN_TAKES_ANY},
	{QN_OP_leaky_relu, "LeakyRelu", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_elu, "Elu", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_selu, "Selu", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_celu, "Celu", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_hard_sigmoid, "HardSigmoid", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_thresholded_relu, "ThresholdedRelu", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_shrink, "Shrink", with_reals, 0, QN_TAKES_ANY},
	{QN_OP_sigmoid, "Sigmoid", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_tanh, "Tanh", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_hard_swish, "HardSwish", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_silu, "Sigmoid", gated, 0, QN_TAKES_ANY},
	{QN_OP_swish, "Sigmoid", gated, 0, QN_TAKES_ANY},
	{QN_OP_gelu, "Gelu", gelu, 20, QN_TAKES_ANY},
	{QN_OP_mish, "Mish", qn_onnx_give_plain, 18, QN_TAKES_ANY},
	{QN_OP_softplus, "Softplus", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_softsign, "Softsign", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_erf, "Erf", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_exp, "Exp", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_log, "Log", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_sqrt, "Sqrt", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_rsqrt, "Reciprocal", rsqrt, 0, QN_TAKES_ANY},
	{QN_OP_abs, "Abs", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_neg, "Neg", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_ceil, "Ceil", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_floor, "Floor", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_round, "Round", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_sign, "Sign", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_reciprocal, "Reciprocal", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_sin, "Sin", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_cos, "Cos", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_tan, "Tan", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_asin, "Asin", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_acos, "Acos", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_atan, "Atan", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_sinh, "Sinh", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_cosh, "Cosh", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_asinh, "Asinh", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_acosh, "Acosh", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_atanh, "Atanh", qn_onnx_give_plain, 0, QN_TAKES_ANY},
	{QN_OP_square, "Mul", squared, 0, QN_TAKES_ANY},
	{0},
};
