/* SPDX-License-Identifier: Apache-2.0 */
/* unary_functions.c - the functions of one value, in double.
 *
 *   leaky_relu {alpha=0.1}, -2  ->  -0.2      softsign, infinity  ->  1
 *
 * Attributes are rounded to f32, as the frameworks that trained with them did.  Limits at infinity are
 * written where the formula would give NaN. */
#include <math.h>

#include "runtime/math.h"
#include "runtime/unary.h"

#define SQRT_HALF 0x1.6a09e667f3bcdp-1
#define TWO_SQRT_TWO_OVER_PI 0x1.9884533d43651p+0
/* The cubic term of the tanh form of gelu (Hendrycks and Gimpel). */
#define GELU_CUBIC 0.044715

static double
leaky_relu(double x, const qn_attrs *a)
{
	return x < 0.0 ? x * (double)(float)a->leaky_relu.alpha : x;
}

static double
elu(double x, const qn_attrs *a)
{
	return x < 0.0 ? (double)(float)a->elu.alpha * qn_expm1(x) : x;
}

static double
sigmoid(double x, const qn_attrs *a)
{
	(void)a;
	return qn_sigmoid(x);
}

static double
hyperbolic(double x, const qn_attrs *a)
{
	(void)a;
	return qn_tanh(x);
}

static double
hard_sigmoid(double x, const qn_attrs *a)
{
	double y = x * (double)(float)a->hard_sigmoid.alpha + (double)(float)a->hard_sigmoid.beta;

	return y < 0.0 ? 0.0 : y > 1.0 ? 1.0 : y;
}

static double
hard_swish(double x, const qn_attrs *a)
{
	(void)a;
	return x <= -3.0 ? -0.0 : x >= 3.0 ? x : x * (x + 3.0) / 6.0;
}

static double
silu(double x, const qn_attrs *a)
{
	(void)a;
	return x < -800.0 ? -0.0 : x * qn_sigmoid(x);
}

/* x/2 (1 + erf(x / sqrt 2)); tanh form: x/2 (1 + tanh u) = x sigmoid(2u). */
static double
gelu(double x, const qn_attrs *a)
{
	if (x < -40.0)
		return -0.0;
	if (a->gelu.approximate == QN_APPROXIMATE_none)
		return 0.5 * x * qn_erfc(-x * SQRT_HALF);
	return x * qn_sigmoid(TWO_SQRT_TWO_OVER_PI * (x + GELU_CUBIC * (x * x * x)));
}

static double
error_function(double x, const qn_attrs *a)
{
	(void)a;
	return qn_erf(x);
}

static double
exponential(double x, const qn_attrs *a)
{
	(void)a;
	return qn_exp(x);
}

static double
logarithm(double x, const qn_attrs *a)
{
	(void)a;
	return qn_ln(x);
}

static double
root(double x, const qn_attrs *a)
{
	(void)a;
	return sqrt(x);
}

static double
inverse_root(double x, const qn_attrs *a)
{
	(void)a;
	return 1.0 / sqrt(x);
}

static double
magnitude(double x, const qn_attrs *a)
{
	(void)a;
	return fabs(x);
}

static double
negative(double x, const qn_attrs *a)
{
	(void)a;
	return -x;
}

static double
square(double x, const qn_attrs *a)
{
	(void)a;
	return x * x;
}

/* ---- steps ---- */

static double
ceiling(double x, const qn_attrs *a)
{
	(void)a;
	return ceil(x);
}

static double
floored(double x, const qn_attrs *a)
{
	(void)a;
	return floor(x);
}

/* Halves go to the even one. */
static double
rounded(double x, const qn_attrs *a)
{
	(void)a;
	return rint(x);
}

static double
sign(double x, const qn_attrs *a)
{
	(void)a;
	return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}

static double
thresholded_relu(double x, const qn_attrs *a)
{
	return x > (double)(float)a->thresholded_relu.alpha || !(x == x) ? x : 0.0;
}

static double
shrink(double x, const qn_attrs *a)
{
	double bias = (double)(float)a->shrink.bias, lambd = (double)(float)a->shrink.lambd;

	if (!(x == x))
		return x;
	return x < -lambd ? x + bias : x > lambd ? x - bias : 0.0;
}

/* ---- curves ---- */

static double
inverse(double x, const qn_attrs *a)
{
	(void)a;
	return 1.0 / x;
}

/* A function of runtime/math.h. */
#define OWN(name)                                                                                  \
	static double own_##name(double x, const qn_attrs *a)                                      \
	{                                                                                          \
		(void)a;                                                                           \
		return qn_##name(x);                                                               \
	}

OWN(sin)
OWN(cos)
OWN(tan)
OWN(asin)
OWN(acos)
OWN(atan)
OWN(sinh)
OWN(cosh)
OWN(asinh)
OWN(acosh)
OWN(atanh)

/* log(1 + e^x) = max(x, 0) + log(1 + e^-|x|) */
static double
softplus(double x, const qn_attrs *a)
{
	double rest = qn_log1p(qn_exp(-fabs(x)));

	(void)a;
	return x > 0.0 ? x + rest : rest;
}

static double
softsign(double x, const qn_attrs *a)
{
	(void)a;
	return fabs(x) == HUGE_VAL ? (x < 0.0 ? -1.0 : 1.0) : x / (1.0 + fabs(x));
}

static double
selu(double x, const qn_attrs *a)
{
	double alpha = (double)(float)a->selu.alpha;

	return (double)(float)a->selu.gamma * (x < 0.0 ? alpha * qn_expm1(x) : x);
}

/* max(x, 0) + min(alpha (e^(x / alpha) - 1), 0) */
static double
celu(double x, const qn_attrs *a)
{
	double alpha = (double)(float)a->celu.alpha;

	if (!(x == x) || alpha > 0.0)
		return x < 0.0 ? alpha * qn_expm1(x / alpha) : x;
	double low = alpha * qn_expm1(x / alpha);
	return (x > 0.0 ? x : 0.0) + (low < 0.0 ? low : 0.0);
}

/* x tanh(log(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2) */
static double
mish(double x, const qn_attrs *a)
{
	double e = qn_exp(x), n = e * (e + 2.0);

	(void)a;
	if (x > 40.0)
		return x;
	return x < -800.0 ? -0.0 : x * (n / (n + 2.0));
}

static double
swish(double x, const qn_attrs *a)
{
	double alpha = (double)(float)a->swish.alpha, u = alpha * x;

	if (alpha >= 0.0 && alpha <= 0.0)
		return 0.5 * x;
	return u < -800.0 ? (x < 0.0 ? -0.0 : 0.0) : x * qn_sigmoid(u);
}

static qn_unary_fn *const functions[QN_NOP] = {
	[QN_OP_leaky_relu] = leaky_relu,
	[QN_OP_elu] = elu,
	[QN_OP_sigmoid] = sigmoid,
	[QN_OP_tanh] = hyperbolic,
	[QN_OP_hard_sigmoid] = hard_sigmoid,
	[QN_OP_hard_swish] = hard_swish,
	[QN_OP_silu] = silu,
	[QN_OP_gelu] = gelu,
	[QN_OP_erf] = error_function,
	[QN_OP_exp] = exponential,
	[QN_OP_log] = logarithm,
	[QN_OP_sqrt] = root,
	[QN_OP_rsqrt] = inverse_root,
	[QN_OP_abs] = magnitude,
	[QN_OP_neg] = negative,
	[QN_OP_square] = square,
	[QN_OP_ceil] = ceiling,
	[QN_OP_floor] = floored,
	[QN_OP_round] = rounded,
	[QN_OP_sign] = sign,
	[QN_OP_reciprocal] = inverse,
	[QN_OP_sin] = own_sin,
	[QN_OP_cos] = own_cos,
	[QN_OP_tan] = own_tan,
	[QN_OP_asin] = own_asin,
	[QN_OP_acos] = own_acos,
	[QN_OP_atan] = own_atan,
	[QN_OP_sinh] = own_sinh,
	[QN_OP_cosh] = own_cosh,
	[QN_OP_asinh] = own_asinh,
	[QN_OP_acosh] = own_acosh,
	[QN_OP_atanh] = own_atanh,
	[QN_OP_softplus] = softplus,
	[QN_OP_softsign] = softsign,
	[QN_OP_selu] = selu,
	[QN_OP_celu] = celu,
	[QN_OP_mish] = mish,
	[QN_OP_thresholded_relu] = thresholded_relu,
	[QN_OP_shrink] = shrink,
	[QN_OP_swish] = swish,
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
