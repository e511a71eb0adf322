/* SPDX-License-Identifier: Apache-2.0 */
/* test_family_unary.c - functions of one value on u8 and i16 codes against real arithmetic: u8 exactly,
 * i16 within what lines between points leave. */
#include "tests/unit/run_util.h"

#include <math.h>

typedef struct curve {
	qn_op op;
	double (*f)(double);
	double in, out; /* scales of i16 codes */
	double bound;   /* codes */
} curve;

static double
sigmoid(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

static double
square(double x)
{
	return x * x;
}

static double
silu(double x)
{
	return x * sigmoid(x);
}

static double
logarithm(double x)
{
	return x < 0 ? 0.0 : log(x);
}

static double
root(double x)
{
	return x < 0 ? 0.0 : sqrt(x);
}

static double
inverse_root(double x)
{
	return x < 0 ? 0.0 : 1.0 / sqrt(x);
}

static double
inverse(double x)
{
	return 1.0 / x;
}

static double
sign_of(double x)
{
	return x < 0 ? -1.0 : x > 0 ? 1.0 : 0.0;
}

/* A line leaves half a step at most, the points' rounding and its own another half each; TFLite's sigmoid and
 * tanh what theirs do. */
static const curve curves[] = {
	{QN_OP_sigmoid, sigmoid, 8.0 / 32768, 0x1p-15, 4.0},
	{QN_OP_tanh, tanh, 4.0 / 32768, 0x1p-15, 8.0},
	{QN_OP_sigmoid, sigmoid, 8.0 / 32768, 1.0 / 30000, 1.5},
	{QN_OP_square, square, 2.0 / 32768, 4.0 / 32768, 1.5},
	{QN_OP_silu, silu, 6.0 / 32768, 6.0 / 32768, 1.5},
	{QN_OP_silu, silu, 60.0 / 32768, 60.0 / 32768, 1.5},
	{QN_OP_exp, exp, 1.0 / 32768, 2.8 / 32768, 1.5},
	{QN_OP_exp, exp, 8.0 / 32768, 2.8 / 32768, 1.5}, /* most results are out of range */
	{QN_OP_neg, NULL, 1.0 / 32768, 1.0 / 32768, 1.0},
	{QN_OP_log, logarithm, 1000.0 / 32767, 6.91 / 32767, 1.5},
	{QN_OP_sqrt, root, 1000.0 / 32767, 31.7 / 32767, 1.5},
	{QN_OP_rsqrt, inverse_root, 1000.0 / 32767, 1.0 / 32767, 1.5},
	{QN_OP_reciprocal, inverse, 1000.0 / 32767, 1.0 / 32767, 1.5},
	{QN_OP_sin, sin, 10.0 / 32768, 1.0 / 32767, 1.5},
	{QN_OP_erf, erf, 10.0 / 32768, 1.0 / 32767, 1.5},
	{QN_OP_sign, sign_of, 1.0 / 32768, 1.0 / 32767, 0.5},
	{QN_OP_floor, floor, 0.5 / 32768, 1.0 / 32767, 0.5},
};

static const char *
element(const char *storage, double scale, int zp)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "tensor<65536x!quant.uniform<%s:f32, %g:%d>>", storage, scale, zp);
	return qn_buf_str(&b);
}

static double
limited(double q, double lo, double hi)
{
	return q < lo ? lo : q > hi ? hi : q;
}

/* All codes there are. */
static void
test_i16(void **state)
{
	(void)state;
	double *x = QN_NEW(&rg->arena, double, 65536), *want = QN_NEW(&rg->arena, double, 65536);
	for (size_t k = 0; k < QN_COUNT(curves); k++) {
		const curve *c = &curves[k];
		double in = (double)(float)c->in, out = (double)(float)c->out;

		fresh_graph();
		output(op1(c->op, input("x", element("i16", c->in, 0)), NULL,
			   element("i16", c->out, 0)));
		for (int i = 0; i < 65536; i++) {
			x[i] = i - 32768;
			double y = c->f != NULL ? c->f(x[i] * in) : -x[i] * in;

			want[i] = limited(y / out, -32768, 32767);
		}
		near(want, run1(x), 65536, c->bound);
	}
}

/* exp far beyond the largest code: steep, yet it stays there. */
static void
test_saturation(void **state)
{
	(void)state;
	double *x = QN_NEW(&rg->arena, double, 65536);
	output(op1(QN_OP_exp, input("x", element("i16", 0.19, 0)), NULL, element("i16", 0.05, 0)));
	for (int i = 0; i < 65536; i++)
		x[i] = i - 32768;
	const double *y = run1(x);
	for (int i = 32768 + 128; i < 65536; i++)
		assert_true(y[i] == 32767);
	for (int i = 0; i < 32768 - 256; i++)
		assert_true(y[i] == 0);
}

static void
test_u8(void **state)
{
	(void)state;
	double *x = QN_NEW(&rg->arena, double, 65536), *want = QN_NEW(&rg->arena, double, 65536);
	output(op1(QN_OP_silu, input("x", element("u8", 0.0625, 100)), NULL,
		   element("u8", 0.03125, 9)));
	for (int i = 0; i < 65536; i++) {
		x[i] = i % 256;
		double q = silu((x[i] - 100) * 0.0625) / 0.03125;

		want[i] = limited((q < 0 ? -floor(0.5 - q) : floor(q + 0.5)) + 9, 0, 255);
	}
	near(want, run1(x), 65536, 0.0);
}

/* The published table of sigmoid(i / 24) at 0.16, at some places, through what it gives: at input i * 512
 * in 1/12288, the entry in 0.15, rounded. */
static void
test_sigmoid_table(void **state)
{
	static const int entries[][2] = {{0, 32768},   {1, 33451},   {4, 35493},
					 {28, 49975},  {62, 60935},  {116, 65019},
					 {172, 65497}, {200, 65520}, {254, 65534}};
	double *x = QN_NEW(&rg->arena, double, 65536);

	(void)state;
	/* 1/4096: three times the code is the input. */
	output(op1(QN_OP_sigmoid, input("x", element("i16", 0x1p-12, 0)), NULL,
		   element("i16", 0x1p-15, 0)));
	for (int i = 0; i < 65536; i++)
		x[i] = i - 32768;
	const double *y = run1(x);
	for (size_t k = 0; k < QN_COUNT(entries); k++) {
		int at = entries[k][0] * 512;

		if (at % 3 == 0 && at / 3 < 32768)
			assert_true(y[32768 + at / 3] == floor(entries[k][1] / 2.0 + 0.5));
	}
	/* Beyond the table's 10.7 it is the largest code; both functions are symmetric. */
	fresh_graph();
	output(op1(QN_OP_sigmoid, input("x", element("i16", 0x1p-10, 0)), NULL,
		   element("i16", 0x1p-15, 0)));
	y = run1(x);
	assert_true(y[65535] == 32767 && y[0] == 1);
	assert_true(y[32768] == 16384);
	for (int i = 1; i < 32768; i++)
		assert_true(fabs(y[32768 + i] + y[32768 - i] - 32768) <= 1);
}

static void
test_prelu(void **state)
{
	double x[4] = {-32768, -100, 7, 32767}, s[4] = {16384, -32768, 5, 9}, want[4];

	(void)state;
	qn_id a = input("x", "tensor<1x4x!quant.uniform<i16:f32, 0.5>>");
	qn_id b = input("s", "tensor<4x!quant.uniform<i16:f32, 0.25>>");
	output(op2(QN_OP_prelu, a, b, NULL, "tensor<1x4x!quant.uniform<i16:f32, 2048.0>>"));
	for (int i = 0; i < 4; i++) {
		double q = (x[i] < 0 ? x[i] * 0.5 * s[i] * 0.25 : x[i] * 0.5) / 2048.0;

		want[i] = limited(q, -32768, 32767);
	}
	near(want, run((const double *[]){x, s}), 4, 0.75);
}

/* A table's entries are found and stored by one storage type. */
static void
test_table_storage(void **state)
{
#define T(n, storage, scale) "tensor<" n "x!quant.uniform<" storage ":f32, " scale ">>"
	static const struct {
		const char *x, *entries, *y;
	} row[] = {
		{T("4", "i8", "0.1"), T("256", "i16", "0.5"), T("4", "i16", "0.5")},
		{T("4", "u8", "0.1"), T("256", "i8", "0.5"), T("4", "i8", "0.5")},
		{T("4", "i16", "0.1"), T("513", "i8", "0.5"), T("4", "i8", "0.5")},
		{T("4", "u16", "0.1"), T("513", "u16", "0.5"), T("4", "u16", "0.5")},
	};
	static const double entry[513];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(row); i++) {
		fresh_graph();
		qn_id x = input("x", row[i].x);
		output(op2(QN_OP_table, x, constant("t", row[i].entries, entry), NULL, row[i].y));
		refused("int.unsupported",
			"only storage i8, u8 or i16, of the input as of the result");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_i16, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_saturation, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_u8, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_sigmoid_table, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_table_storage, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_prelu, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
