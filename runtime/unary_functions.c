/* SPDX-License-Identifier: Apache-2.0 */
/* unary_functions.c - the element-wise functions, in double.
 *
 *   leaky_relu {alpha=0.1}, -2  ->  -0.2      softsign, infinity  ->  1
 *
 * Attributes are rounded to f32, as the frameworks that trained with them did.  Limits at infinity are
 * written where the formula would give NaN.  A row FUNCTION(name, …) of ir/ops.def asks for
 * function_name here. */
#include <math.h>

#include "ir/clamp.h"
#include "runtime/math.h"
#include "runtime/unary.h"

#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define TWO_SQRT_TWO_OVER_PI 0x1.9884533d43651p+0
/* The cubic term of the tanh form of gelu (Hendrycks and Gimpel). */
#define GELU_CUBIC 0.044715

/* One without attributes. */
#define OF_X(name, value)                                                                          \
	static double function_##name(double x, const qn_attrs *a)                                 \
	{                                                                                          \
		(void)a;                                                                           \
		return (value);                                                                    \
	}

OF_X(sigmoid, qn_sigmoid(x))
OF_X(tanh, qn_tanh(x))
OF_X(erf, qn_erf(x))
OF_X(exp, qn_exp(x))
OF_X(log, qn_ln(x))
OF_X(sqrt, sqrt(x))
OF_X(rsqrt, 1.0 / sqrt(x))
OF_X(reciprocal, 1.0 / x)
OF_X(abs, fabs(x))
OF_X(neg, -x)
OF_X(square, x *x)
OF_X(ceil, ceil(x))
OF_X(floor, floor(x))
OF_X(round, rint(x))
OF_X(sin, qn_sin(x))
OF_X(cos, qn_cos(x))
OF_X(tan, qn_tan(x))
OF_X(asin, qn_asin(x))
OF_X(acos, qn_acos(x))
OF_X(atan, qn_atan(x))
OF_X(sinh, qn_sinh(x))
OF_X(cosh, qn_cosh(x))
OF_X(asinh, qn_asinh(x))
OF_X(acosh, qn_acosh(x))
OF_X(atanh, qn_atanh(x))
OF_X(silu, x < -800.0 ? -0.0 : x * qn_sigmoid(x))

/* ---- with attributes, or in several steps ---- */

static double
function_sign(double x, const qn_attrs *a)
{
	(void)a;
	if (x > 0.0)
		return 1.0;
	return x < 0.0 ? -1.0 : x;
}

static double
function_softsign(double x, const qn_attrs *a)
{
	(void)a;
	if (fabs(x) == HUGE_VAL)
		return x < 0.0 ? -1.0 : 1.0;
	return x / (1.0 + fabs(x));
}

static double
function_hard_swish(double x, const qn_attrs *a)
{
	(void)a;
	if (x <= -3.0)
		return -0.0;
	return x >= 3.0 ? x : x * (x + 3.0) / 6.0;
}

static double
function_leaky_relu(double x, const qn_attrs *a)
{
	return x < 0.0 ? x * (double)(float)a->leaky_relu.alpha : x;
}

static double
function_elu(double x, const qn_attrs *a)
{
	return x < 0.0 ? (double)(float)a->elu.alpha * qn_expm1(x) : x;
}

static double
function_hard_sigmoid(double x, const qn_attrs *a)
{
	double y = x * (double)(float)a->hard_sigmoid.alpha + (double)(float)a->hard_sigmoid.beta;

	return qn_clamp_f64(y, 0, 1);
}

static double
function_gelu(double x, const qn_attrs *a)
{
	if (x < -40.0)
		return -0.0;
	if (a->gelu.approximate == QN_APPROXIMATE_none)
		return 0.5 * x * qn_erfc(-x * SQRT_HALF);
	return x * qn_sigmoid(TWO_SQRT_TWO_OVER_PI * (x + GELU_CUBIC * (x * x * x)));
}

static double
function_thresholded_relu(double x, const qn_attrs *a)
{
	return x > (double)(float)a->thresholded_relu.alpha || !(x == x) ? x : 0.0;
}

static double
function_shrink(double x, const qn_attrs *a)
{
	double bias = (double)(float)a->shrink.bias, lambd = (double)(float)a->shrink.lambd;

	if (!(x == x))
		return x;
	return x < -lambd ? x + bias : x > lambd ? x - bias : 0.0;
}

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|) */
static double
function_softplus(double x, const qn_attrs *a)
{
	double rest = qn_log1p(qn_exp(-fabs(x)));

	(void)a;
	return x > 0.0 ? x + rest : rest;
}

static double
function_selu(double x, const qn_attrs *a)
{
	double alpha = (double)(float)a->selu.alpha;

	return (double)(float)a->selu.gamma * (x < 0.0 ? alpha * qn_expm1(x) : x);
}

static double
function_celu(double x, const qn_attrs *a)
{
	double alpha = (double)(float)a->celu.alpha;

	if (!(x == x) || alpha > 0.0)
		return x < 0.0 ? alpha * qn_expm1(x / alpha) : x;
	double low = alpha * qn_expm1(x / alpha);
	return (x > 0.0 ? x : 0.0) + (low < 0.0 ? low : 0.0);
}

static double
function_mish(double x, const qn_attrs *a)
{
	double e = qn_exp(x), n = e * (e + 2.0);

	(void)a;
	if (x > 40.0)
		return x;
	return x < -800.0 ? -0.0 : x * (n / (n + 2.0));
}

static double
function_swish(double x, const qn_attrs *a)
{
	double alpha = (double)(float)a->swish.alpha, u = alpha * x;

	if (alpha >= 0.0 && alpha <= 0.0)
		return 0.5 * x;
	return u < -800.0 ? (x < 0.0 ? -0.0 : 0.0) : x * qn_sigmoid(u);
}

static qn_unary_fn *const functions[QN_NOP] = {
#define FUNCTION(name, attributes, behaviour, types, value, facts) [QN_OP_##name] = function_##name,
#include "ir/ops.def"
};

qn_unary_fn *
qn_unary_of(qn_op op)
{
	return functions[op];
}

double
qn_unary_value(const qn_node *n, double x)
{
	return functions[n->op](x, n->attr);
}
