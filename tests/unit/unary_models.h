/* SPDX-License-Identifier: Apache-2.0 */
/* unary_models.h - the functions of one value as libm computes them, with default attributes. */
#ifndef TESTS_UNIT_UNARY_MODELS_H
#define TESTS_UNIT_UNARY_MODELS_H

#include <math.h>

#include "ir/graph.h"

typedef struct function {
	qn_op op;
	double (*f)(double);
} function;

static double
f_leaky(double x)
{
	return x < 0 ? (double)0.01f * x : x;
}

static double
f_elu(double x)
{
	return x < 0 ? exp(x) - 1.0 : x;
}

static double
f_sigmoid(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

static double
f_hard_sigmoid(double x)
{
	return fmax(0.0, fmin(1.0, (double)0.2f * x + 0.5));
}

static double
f_hard_swish(double x)
{
	return x * fmax(0.0, fmin(6.0, x + 3.0)) / 6.0;
}

static double
f_silu(double x)
{
	return x / (1.0 + exp(-x));
}

static double
f_gelu(double x)
{
	return 0.5 * x * (1.0 + erf(x / sqrt(2.0)));
}

static double
f_gelu_tanh(double x)
{
	return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

static double
f_rsqrt(double x)
{
	return 1.0 / sqrt(x);
}

static double
f_neg(double x)
{
	return -x;
}

static double
f_square(double x)
{
	return x * x;
}

static double
f_round(double x)
{
	double whole = floor(x + 0.5);

	return whole - x == 0.5 && fmod(whole, 2.0) != 0.0 ? whole - 1.0 : whole;
}

static double
f_sign(double x)
{
	return (x > 0) - (x < 0);
}

static double
f_reciprocal(double x)
{
	return 1.0 / x;
}

static double
f_softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double
f_softsign(double x)
{
	return x / (1.0 + fabs(x));
}

static double
f_selu(double x)
{
	return (double)1.05070098f * (x > 0 ? x : (double)1.67326324f * expm1(x));
}

static double
f_celu(double x)
{
	return fmax(x, 0.0) + fmin(expm1(x), 0.0);
}

static double
f_mish(double x)
{
	return x * tanh(f_softplus(x));
}

static double
f_thresholded_relu(double x)
{
	return x > 1.0 ? x : 0.0;
}

static double
f_shrink(double x)
{
	return fabs(x) > 0.5 ? x : 0.0;
}

static const function functions[] = {
	{QN_OP_leaky_relu, f_leaky},
	{QN_OP_elu, f_elu},
	{QN_OP_sigmoid, f_sigmoid},
	{QN_OP_tanh, tanh},
	{QN_OP_hard_sigmoid, f_hard_sigmoid},
	{QN_OP_hard_swish, f_hard_swish},
	{QN_OP_silu, f_silu},
	{QN_OP_gelu, f_gelu},
	{QN_OP_erf, erf},
	{QN_OP_exp, exp},
	{QN_OP_log, log},
	{QN_OP_sqrt, sqrt},
	{QN_OP_rsqrt, f_rsqrt},
	{QN_OP_abs, fabs},
	{QN_OP_neg, f_neg},
	{QN_OP_square, f_square},
	{QN_OP_ceil, ceil},
	{QN_OP_floor, floor},
	{QN_OP_round, f_round},
	{QN_OP_sign, f_sign},
	{QN_OP_reciprocal, f_reciprocal},
	{QN_OP_sin, sin},
	{QN_OP_cos, cos},
	{QN_OP_tan, tan},
	{QN_OP_asin, asin},
	{QN_OP_acos, acos},
	{QN_OP_atan, atan},
	{QN_OP_sinh, sinh},
	{QN_OP_cosh, cosh},
	{QN_OP_asinh, asinh},
	{QN_OP_acosh, acosh},
	{QN_OP_atanh, atanh},
	{QN_OP_softplus, f_softplus},
	{QN_OP_softsign, f_softsign},
	{QN_OP_selu, f_selu},
	{QN_OP_celu, f_celu},
	{QN_OP_mish, f_mish},
	{QN_OP_thresholded_relu, f_thresholded_relu},
	{QN_OP_shrink, f_shrink},
	{QN_OP_swish, f_silu},
};

#endif
