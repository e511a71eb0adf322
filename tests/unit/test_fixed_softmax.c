/* SPDX-License-Identifier: Apache-2.0 */
/* test_fixed_softmax.c - e^x and softmax in fixed-point arithmetic, against tables of known values and models in floating
 * point. */
#include "tests/unit/fixed_numbers.h"

static void
test_exp_table(void **state)
{
	/* The rows with -2^k - 1 need the factor of exp(-2^(k-26)) and no other. */
	static const int32_t row[][2] = {
		{0, INT32_MAX},
		{-1, 2147483124},
		{-(1 << 24), 1672462419},
		{-(1 << 26), 790015308},
		{-(1 << 24) - 1, 1672461539},
		{-(1 << 25) - 1, 1302514356},
		{-(1 << 26) - 1, 790014891},
		{-(1 << 27) - 1, 290630237},
		{-(1 << 28) - 1, 39332525},
		{-(1 << 29) - 1, 720401},
		{-(1 << 30) - 1, 242},
		{-123456789, 341177383},
		{-285212672, 30632218},
		{INT32_MIN, 0},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(qn_exp_neg(row[i][0]), row[i][1]);
	assert_int_equal(qn_one_over_one_plus(0), 2147483647);
	assert_int_equal(qn_one_over_one_plus(1 << 30), 1431655762);
	assert_int_equal(qn_one_over_one_plus(INT32_MAX), 1073741820);
}

/* exp(x) for -32 <= x <= 0: series at x / 4096, squared twelve times. */
static double
exp_model(double x)
{
	double t = x / 4096.0, y = 1.0 + t * (1.0 + t / 2.0 * (1.0 + t / 3.0 * (1.0 + t / 4.0)));

	for (int i = 0; i < 12; i++)
		y *= y;
	return y;
}

static void
test_exp_model(void **state)
{
	uint64_t seed = 5;
	(void)state;

	for (int i = 0; i < 100000; i++) {
		int32_t a = -(int32_t)(next(&seed) >> 1 >> next(&seed) % 31);
		double error =
			(double)qn_exp_neg(a) / 2147483648.0 - exp_model((double)a / 67108864.0);

		assert_true(qn_exp_neg(a) >= 0);
		assert_true(error < 1e-6 && error > -1e-6);
	}
	for (int i = 0; i < 100000; i++) {
		int32_t a = (int32_t)(next(&seed) >> 1);
		double error = (double)qn_one_over_one_plus(a) / 2147483648.0 -
			       1.0 / (1.0 + (double)a / 2147483648.0);

		assert_true(error < 1e-8 && error > -1e-8);
	}
}

/* Multiplier and bound of a softmax: TFLite PreprocessSoftmaxScaling, five integer bits. */
static qn_softmax_args
softmax_args(int32_t rows, int32_t depth, double scale)
{
	qn_softmax_args a = {rows, depth, 0, 0, 0};

	multiplier(scale * 67108864.0, &a.m, &a.left);
	a.diff_min = -(int32_t)((INT64_C(31) << 26) >> a.left);
	return a;
}

static void
test_softmax_table(void **state)
{
	static const struct {
		int32_t n;
		double scale;
		int8_t in[10], out[10];
	} row[] = {
		{3, 0.1, {10, 20, 30}, {-105, -65, 42}},
		{4, 0.3, {0}, {-64, -64, -64, -64}},
		{2, 0.1, {127, -128}, {127, -128}},
		{6, 0.05, {5, -3, 8, 8, -40, 100}, {-126, -127, -126, -126, -128, 119}},
		{3, 0.0625, {-1, 0, 1}, {-48, -43, -37}},
		{10,
		 0.1,
		 {7, 7, 7, 7, 7, 7, 7, 7, 7, 7},
		 {-102, -102, -102, -102, -102, -102, -102, -102, -102, -102}},
	};
	(void)state;

	assert_int_equal(softmax_args(1, 1, 0.1).m, 1717986918);
	assert_int_equal(softmax_args(1, 1, 0.1).left, 23);
	assert_int_equal(softmax_args(1, 1, 0.1).diff_min, -248);
	assert_int_equal(softmax_args(1, 1, 0.05).diff_min, -496);
	for (size_t i = 0; i < COUNT(row); i++) {
		qn_softmax_args a = softmax_args(1, row[i].n, row[i].scale);
		int8_t y[10];

		qn_softmax_s8(&a, row[i].in, y);
		assert_memory_equal(y, row[i].out, (size_t)row[i].n);
	}
}

static void
test_softmax_real(void **state)
{
	static const double scale[] = {0.004, 0.02, 0.0625, 0.1, 0.37, 1.0};
	uint64_t seed = 6;
	(void)state;

	for (int round = 0; round < 600; round++) {
		double s = scale[round % 6];
		qn_softmax_args a = softmax_args(2, (int32_t)(next(&seed) % 40) + 1, s);
		int8_t x[80], y[80];

		for (int32_t i = 0; i < 2 * a.depth; i++)
			x[i] = (int8_t)(next(&seed) % 256 - 128);

		qn_softmax_s8(&a, x, y);
		for (int32_t i = 0; i < 2 * a.depth; i++) {
			const int8_t *row = x + i / a.depth * a.depth;
			double sum = 0.0, e;

			for (int32_t k = 0; k < a.depth; k++)
				sum += row[k] > x[i] ? 1.0 / exp_model(s * (x[i] - row[k]))
						     : exp_model(s * (row[k] - x[i]));
			e = qn_clamp32((int32_t)(256.0 / sum + 0.5) - 128, -128, 127) - y[i];
			assert_true(e >= -1.0 && e <= 1.0);
		}
		qn_softmax_s8(&a, x, x);
		assert_memory_equal(x, y, (size_t)(2 * a.depth));
	}
}

/* Equal quantized values in rows up to far beyond the point where every quotient rounds to nothing. */
static void
test_softmax_long(void **state)
{
	static const int32_t depth[] = {1,   2,   100,  255,  256,  511,
					512, 513, 4096, 8192, 8193, 20000};
	(void)state;

	for (size_t i = 0; i < COUNT(depth); i++) {
		qn_softmax_args a = softmax_args(1, depth[i], 0.1);
		static int8_t x[20000];
		int32_t n = depth[i], want = 256 / n + (256 % n * 2 > n ? 1 : 0) - 128;

		memset(x, 5, sizeof x);
		qn_softmax_s8(&a, x, x);
		for (int32_t k = 0; k < depth[i]; k++)
			assert_int_equal(x[k], qn_clamp32(want, -128, 127));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exp_table),     cmocka_unit_test(test_exp_model),
		cmocka_unit_test(test_softmax_table), cmocka_unit_test(test_softmax_real),
		cmocka_unit_test(test_softmax_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
