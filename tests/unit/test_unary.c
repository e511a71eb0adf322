/* SPDX-License-Identifier: Apache-2.0 */
/* test_unary.c - functions of one value: float forms and tables against models that use libm,
 * prelu against 64-bit and real arithmetic. */
#include "tests/unit/run_util.h"
#include "tests/unit/unary_models.h"

#include <math.h>

#include "runtime/impls.h"
#include "runtime/unary.h"

#define Q(shape, params) "tensor<" shape "x!quant.uniform<i8:f32, " params ">>"

static const qn_attrs *
defaults(qn_op kind)
{
	qn_attrs a;

	if (qn_opinfo_get(kind)->attrs->nattr == 0)
		return NULL;
	qn_attrs_default(qn_opinfo_get(kind)->attrs, &a);
	return attributes(a);
}

/* Within two units of the last place of f32 and 1e-15 (where the model cancels), or equal. */
static void
close_f32(qn_op kind, double x, double have, double want)
{
	double bound = fabs(want) * 0x1p-22 + 1e-15;

	if (want != want ? have == have : have != want && !(fabs(have - want) <= bound))
		fail_msg("%s(%g): want %.9g, have %.9g", qn_opinfo_get(kind)->name, x, want, have);
}

static void
test_float(void **state)
{
	enum { N = 400 };
	double x[N];

	(void)state;
	for (int i = 0; i < N; i++)
		x[i] = (double)(float)((i - N / 2) * 0.043);
	for (size_t k = 0; k < QN_COUNT(functions); k++) {
		fresh_graph();
		qn_id in = input("x", "tensor<400xf32>");
		output(op1(functions[k].op, in, defaults(functions[k].op), NULL));
		const double *y = run1(x);
		for (int i = 0; i < N; i++)
			close_f32(functions[k].op, x[i], y[i], (double)(float)functions[k].f(x[i]));
	}
}

static void
test_float_attributes(void **state)
{
	const double x[4] = {-2.0, -0.5, 0.5, 9.0};
	qn_attrs a;

	(void)state;
	a.leaky_relu.alpha = 0.25;
	output(op1(QN_OP_leaky_relu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){-0.5, -0.125, 0.5, 9.0}, run1(x), 4, 0.0);
	fresh_graph();
	a.elu.alpha = 2.0;
	output(op1(QN_OP_elu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){2 * expm1(-2), 2 * expm1(-0.5), 0.5, 9.0}, run1(x), 4, 1e-6);
	fresh_graph();
	a.hard_sigmoid.alpha = 0.25;
	a.hard_sigmoid.beta = 0.375;
	output(op1(QN_OP_hard_sigmoid, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){0.0, 0.25, 0.5, 1.0}, run1(x), 4, 0.0);
	fresh_graph();
	a.selu.alpha = 2.0;
	a.selu.gamma = 0.5;
	output(op1(QN_OP_selu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){expm1(-2), expm1(-0.5), 0.25, 4.5}, run1(x), 4, 1e-6);
	fresh_graph();
	a.celu.alpha = 0.5;
	output(op1(QN_OP_celu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){0.5 * expm1(-4), 0.5 * expm1(-1), 0.5, 9.0}, run1(x), 4, 1e-6);
	fresh_graph();
	a.celu.alpha = -1.0;
	output(op1(QN_OP_celu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){-expm1(2), -expm1(0.5), 0.5, 9.0}, run1(x), 4, 1e-5);
	fresh_graph();
	a.thresholded_relu.alpha = -1.0;
	output(op1(QN_OP_thresholded_relu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){0.0, -0.5, 0.5, 9.0}, run1(x), 4, 0.0);
	fresh_graph();
	a.shrink.lambd = 0.5;
	a.shrink.bias = 0.25;
	output(op1(QN_OP_shrink, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){-1.75, 0.0, 0.0, 8.75}, run1(x), 4, 0.0);
	fresh_graph();
	a.swish.alpha = 2.0;
	output(op1(QN_OP_swish, input("x", "tensor<4xf32>"), attributes(a), NULL));
	near((const double[]){-2 / (1 + exp(4)), -0.5 / (1 + exp(1)), 0.5 / (1 + exp(-1)),
			      9 / (1 + exp(-18))},
	     run1(x), 4, 1e-6);
	fresh_graph();
	a.gelu.approximate = QN_APPROXIMATE_tanh;
	output(op1(QN_OP_gelu, input("x", "tensor<4xf32>"), attributes(a), NULL));
	const double *y = run1(x);
	for (int i = 0; i < 4; i++)
		close_f32(QN_OP_gelu, x[i], y[i], (double)(float)f_gelu_tanh(x[i]));
	/* The two forms of gelu differ by more than that. */
	assert_true(fabs(f_gelu(-2.0) - f_gelu_tanh(-2.0)) > 5e-5);
}

/* Limits where the formulas would give NaN; NaN stays one. */
static void
test_float_limits(void **state)
{
	static const qn_op kinds[] = {QN_OP_silu,    QN_OP_gelu,  QN_OP_hard_swish,
				      QN_OP_mish,    QN_OP_swish, QN_OP_thresholded_relu,
				      QN_OP_softplus};
	const double inf = (double)INFINITY;

	(void)state;
	for (size_t k = 0; k < QN_COUNT(kinds); k++) {
		fresh_graph();
		output(op1(kinds[k], input("x", "tensor<3xf32>"), defaults(kinds[k]), NULL));
		const double *y = run1((const double[]){-inf, inf, (double)NAN});
		assert_true(y[0] == 0.0);
		assert_true(y[1] == inf);
		assert_true(y[2] != y[2]);
	}
}

static void
test_float_pow_prelu(void **state)
{
	const double x[6] = {1, -2, 3, -4, 0.5, -0.25}, e[3] = {2, 3, -1};
	const double power[6] = {1, -8, 1.0 / 3.0, 16, 0.125, -4};
	const double slope[3] = {0.5, 0.25, -2}, leaky[6] = {1, -0.5, 3, -2, 0.5, 0.5};

	(void)state;
	qn_id a = input("x", "tensor<2x3xf32>"), b = input("e", "tensor<3xf32>");
	output(op2(QN_OP_pow, a, b, NULL, NULL));
	near(power, run((const double *[]){x, e}), 6, 1e-7);
	/* The base repeats too. */
	fresh_graph();
	a = input("x", "tensor<3x1xf32>");
	b = input("e", "tensor<2xf32>");
	output(op2(QN_OP_pow, a, b, NULL, NULL));
	near((const double[]){1, 1, 4, -8, 9, 27}, run((const double *[]){x, e}), 6, 1e-5);
	fresh_graph();
	a = input("x", "tensor<2x3xf32>");
	b = constant("s", "tensor<3xf32>", slope);
	output(op2(QN_OP_prelu, a, b, NULL, NULL));
	near(leaky, run1(x), 6, 0.0);
}

/* ---- tables ---- */

/* The code of v: nearest, ties away from zero, limited; NaN is the zero point. */
static double
code(double v, double scale, double zp, double lo)
{
	double q = v / scale;

	q = q != q ? 0.0 : round(q);
	q += zp;
	return q < lo ? lo : q > 127 ? 127 : q;
}

static void
all_codes(double *x)
{
	for (int i = 0; i < 256; i++)
		x[i] = i - 128;
}

/* Every code, for fine and coarse scales; a code off by one only where libm's last bit matters. */
static void
test_tables(void **state)
{
	static const double scale[] = {0.5, 0.0625, 0.03125, 0.25}, zp[] = {3, -128, 0, 50};
	static const char *const in[] = {"0.5:3", "0.0625:-128", "0.03125", "0.25:50"};
	double x[256], want[256];

	(void)state;
	all_codes(x);
	for (size_t k = 0; k < QN_COUNT(functions); k++)
		for (size_t s = 0; s < QN_COUNT(scale); s++) {
			qn_buf t;

			qn_buf_init(&t, &rg->arena);
			qn_buff(&t, "tensor<256x!quant.uniform<i8:f32, %s>>", in[s]);
			fresh_graph();
			qn_id a = input("x", qn_buf_str(&t));
			output(op1(functions[k].op, a, defaults(functions[k].op),
				   "tensor<256x!quant.uniform<i8<-100:127>:f32, 0.0078125:-20>>"));
			for (int i = 0; i < 256; i++)
				want[i] = code(functions[k].f((x[i] - zp[s]) * scale[s]), 0x1p-7,
					       -20, -100);
			near(want, run1(x), 256, 0.0);
		}
}

/* Every function, by its row in ir/ops.def: the float implementation is the definition, and the table the definition
 * rounded. */
static void
test_every_function(void **state)
{
	static const qn_op every[] = {
#define FUNCTION(name, attributes, behaviour, types, value, facts) QN_OP_##name,
#include "ir/ops.def"
	};
	double x[256], want[256];

	(void)state;
	for (size_t k = 0; k < QN_COUNT(every); k++) {
		const qn_node n = {.op = every[k], .attr = defaults(every[k])};

		print_message("%s\n", qn_opinfo_get(n.op)->name);
		all_codes(x);
		fresh_graph();
		output(op1(n.op, input("x", Q("256", "0.0625:-7")), n.attr,
			   Q("256", "0.03125:11")));
		for (int i = 0; i < 256; i++)
			want[i] = code(qn_unary_value(&n, (x[i] + 7) * 0.0625), 0.03125, 11, -128);
		near(want, run1(x), 256, 0.0);
		fresh_graph();
		output(op1(n.op, input("x", "tensor<256xf32>"), n.attr, NULL));
		const double *y = run1(x);
		for (int i = 0; i < 256; i++)
			close_f32(n.op, x[i], y[i], (double)(float)qn_unary_value(&n, x[i]));
	}
}

/* Published codes of TFLite's logistic for scale 0.05; log of what is not positive. */
static void
test_table_vectors(void **state)
{
	const double x[5] = {-50, -1, 0, 1, 50}, y[5] = {-109, -3, 0, 3, 109};

	(void)state;
	output(op1(QN_OP_sigmoid, input("x", Q("5", "0.05")), NULL, Q("5", "0.00390625:-128")));
	near(y, run1(x), 5, 0.0);
	fresh_graph();
	output(op1(QN_OP_log, input("x", Q("5", "0.05")), NULL, Q("5", "0.05:7")));
	/* NaN: the zero point; log 0: the least code; log 0.05 = -2.9957; log 2.5 = 0.9163. */
	near((const double[]){7, 7, -128, -53, 25}, run1(x), 5, 0.0);
}

static double
power_code(double x, const char *type, double exponent_code)
{
	fresh_graph();
	qn_id a = input("x", Q("1", "0.5:-1"));
	qn_id e = constant("e", type, &exponent_code);
	output(op2(QN_OP_pow, a, e, NULL, Q("1", "0.25:-100")));
	return run1(&x)[0];
}

static void
test_pow_codes(void **state)
{
	(void)state;
	assert_true(power_code(5, Q("1", "2.0"), 1) == -64);   /* 3^2 = 9 */
	assert_true(power_code(-7, Q("1", "3.0"), 1) == -128); /* -27 */
	assert_true(power_code(7, Q("1", "0.5"), -1) == -98);  /* 4^-0.5 = 0.5 */
	assert_true(power_code(-7, Q("1", "0.5"), 1) == -100); /* NaN */
	assert_true(power_code(5, Q("1", "1.0:2"), 4) == -100 + 36);
	fresh_graph();
	qn_id a = input("x", Q("4", "0.5"));
	output(op2(QN_OP_pow, a, input("e", Q("1", "0.5")), NULL, Q("4", "0.5")));
	refused("int.unsupported", "only an exponent that is a constant");
	fresh_graph();
	a = input("x", "tensor<4x!quant.uniform<i16:f32, 0.5>>");
	output(op1(QN_OP_silu, a, NULL, Q("4", "0.5")));
	refused("int.unsupported", "silu");
}

/* ---- prelu on codes ---- */

/* M of the default rounding in 64-bit arithmetic: high half with ties up, then ties away from 0. */
static int64_t
times(int64_t x, double M)
{
	int32_t m = 0, s = 0;

	assert_true(qn_multiplier(M, 0, &m, &s));
	assert_true(s <= 0);
	int64_t high = (int64_t)floor(((double)x * (double)m + 0x1p30) / 0x1p31);
	double y = ldexp((double)high, s);
	return (int64_t)round(y);
}

static void
test_prelu_codes(void **state)
{
	double x[256 * 3], want[256 * 3], real_want[256 * 3];
	const double slope[3] = {-128, 20, 127};
	const double sx = (double)0.05f, ss = (double)0.01f, so = (double)0.06f;

	(void)state;
	for (int i = 0; i < 256 * 3; i++) {
		double d = i / 3 - 128 - 10, k = slope[i % 3] - 30;
		double M = d >= 0 ? sx / so : sx * ss / so;
		double y = (double)times((int64_t)(d >= 0 ? d : d * k), M) - 5;

		x[i] = i / 3 - 128;
		want[i] = y < -128 ? -128 : y > 127 ? 127 : y;
		real_want[i] = code(d * sx * (d >= 0 ? 1.0 : k * ss), so, -5, -128);
	}
	qn_id a = input("x", Q("256x3", "0.05:10"));
	qn_id b = constant("s", Q("3", "0.01:30"), slope);
	output(op2(QN_OP_prelu, a, b, NULL, Q("256x3", "0.06:-5")));
	const double *y = run1(x);
	near(want, y, 256 * 3, 0.0);
	near(real_want, y, 256 * 3, 1.0);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_float),           T(test_float_attributes), T(test_float_limits),
		T(test_float_pow_prelu), T(test_tables),           T(test_every_function),
		T(test_table_vectors),   T(test_pow_codes),        T(test_prelu_codes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
