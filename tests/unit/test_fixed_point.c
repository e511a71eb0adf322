/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed-point arithmetic on plain integers against numbers computed by hand and, of every width, against
 * definitions in wide integers and doubles. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/impls.h"

static const struct {
	const char *type;
	double lo, hi;
} widths[] = {
	{"tensor<8xi8>", -128, 127},
	{"tensor<8xi16>", -32768, 32767},
	{"tensor<8xi32>", -2147483648.0, 2147483647.0},
	{"tensor<8xi64>", -0x1p52, 0x1p52},
};

static double
divided(const char *t, double x, int64_t exponent)
{
	const double v[8] = {x, x, x, x, x, x, x, x};
	qn_attrs a;

	fresh_graph();
	qn_attrs_default(QN_ATTRS(divide_by_pot), &a);
	a.divide_by_pot.exponent = exponent;
	output(op1(QN_OP_rounding_divide_by_pot, input("x", t), &a, NULL));
	return run((const double *[]){v})[0];
}

static void
test_divide_vectors(void **state)
{
	static const double rows[][3] = {
		{5, 1, 3},
		{-5, 1, -3},
		{6, 2, 2},
		{-6, 2, -2},
		{2, 2, 1},
		{-2, 2, -1},
		{-1, 2, 0},
		{7, 0, 7},
		{-2147483648.0, 31, -1},
		{2147483647.0, 31, 1},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		for (size_t w = 0; w < QN_COUNT(widths); w++)
			if (rows[i][0] >= widths[w].lo && rows[i][0] <= widths[w].hi)
				assert_true(divided(widths[w].type, rows[i][0],
						    (int64_t)rows[i][1]) == rows[i][2]);
}

/* Half away from 0, which round() is. */
static void
test_divide_random(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		const size_t w = (size_t)pick(0, QN_COUNT(widths) - 1);
		const int64_t exponent = pick(0, 31);
		const double x = floor(ldexp(real(), (int)pick(0, 30)) * widths[w].hi / 0x1p31);

		assert_true(divided(widths[w].type, x, exponent) ==
			    round(ldexp(x, (int)-exponent)));
	}
}

static double
summed(const char *t, double x, double y, int64_t lo, int64_t hi)
{
	const double v[8] = {x}, u[8] = {y};
	qn_attrs a;

	fresh_graph();
	qn_attrs_default(QN_ATTRS(saturating_add), &a);
	a.saturating_add.clamp_min = lo;
	a.saturating_add.clamp_max = hi;
	const qn_id in = input("x", t);
	output(op2(QN_OP_saturating_add, in, input("y", t), &a, NULL));
	return run((const double *[]){v, u})[0];
}

static void
test_sums(void **state)
{
	(void)state;
	for (size_t w = 0; w + 1 < QN_COUNT(widths); w++) {
		const char *t = widths[w].type;

		assert_true(summed(t, widths[w].hi, 1, INT64_MIN, INT64_MAX) == widths[w].hi);
		assert_true(summed(t, widths[w].lo, -1, INT64_MIN, INT64_MAX) == widths[w].lo);
		assert_true(summed(t, widths[w].lo, widths[w].lo, -7, INT64_MAX) == -7);
		assert_true(summed(t, 100, 27, -5, 99) == 99);
		assert_true(summed(t, -100, 27, -73, 99) == -73);
	}
	assert_true(summed("tensor<8xi64>", -0x1p63, -1, INT64_MIN, INT64_MAX) == -0x1p63);
	assert_true(summed("tensor<8xi64>", -0x1p63, -0x1p63, -0x1p40, INT64_MAX) == -0x1p40);
	assert_true(summed("tensor<8xi64>", 0x1p62, 0x1p62, -1, (INT64_C(1) << 50) - 1) ==
		    0x1p50 - 1);
	assert_true(summed("tensor<8xi64>", 0x1p40, -0x1p41, INT64_MIN, INT64_MAX) == -0x1p40);
}

static double
multiplied(const char *t, double x, double M, int32_t mode)
{
	const double v[8] = {x};
	int32_t m = 0, s = 0;
	qn_attrs a;

	assert_true(qn_multiplier(M, mode, &m, &s));
	const int64_t m64 = m, s64 = s;
	fresh_graph();
	qn_attrs_default(QN_ATTRS(fixed_multiply), &a);
	a.fixed_multiply.multiplier = (qn_integers){1, &m64};
	a.fixed_multiply.shift = (qn_integers){1, &s64};
	a.fixed_multiply.rounding = mode;
	output(op1(QN_OP_fixed_multiply, input("x", t), &a, NULL));
	return run((const double *[]){v})[0];
}

/* Rounded twice, once with halves up, once with halves away from 0. */
static void
test_multiply_vectors(void **state)
{
	static const struct {
		double x, m, want[3];
	} rows[] = {
		{15, 0.1, {2, 1, 1}},
		{25, 0.1, {3, 2, 2}},
		{-25, 0.1, {-3, -2, -2}},
		{5, 0.5, {3, 3, 3}},
		{-5, 0.5, {-2, -2, -3}},
		{6, 0.25, {2, 2, 2}},
		{-6, 0.25, {-2, -1, -2}},
		{-2, 0.25, {-1, 0, -1}},
		{20, 0.0249, {1, 0, 0}},
		{-1998, 0.3, {-600, -599, -599}},
		{-1970, 0.017, {-34, -33, -33}},
		{12345, 1.5, {18518, 18518, 18518}},
		{-12345, 1.5, {-18517, -18517, -18518}},
		{0x1p20, 0x1p-21, {1, 1, 1}},
		{-0x1p20, 0x1p-21, {-1, 0, -1}},
		{12345678, 0.8 * 0x1p0, {9876542, 9876542, 9876542}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		for (int32_t mode = 0; mode < 3; mode++)
			assert_true(multiplied("tensor<8xi32>", rows[i].x, rows[i].m, mode) ==
				    rows[i].want[mode]);
	assert_true(multiplied("tensor<8xi8>", 100, 2.0, 0) == 127);
	assert_true(multiplied("tensor<8xi8>", -100, 2.0, 0) == -128);
	assert_true(multiplied("tensor<8xi16>", 20000, 2.0, 1) == 32767);
	assert_true(multiplied("tensor<8xi64>", 0x1p40, 0.5, 0) == 0x1p39);
	assert_true(multiplied("tensor<8xi64>", 0x1p60, 0.5, 0) == 0x1p46);
}

#define T(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {T(test_divide_vectors), T(test_divide_random),
					   T(test_sums), T(test_multiply_vectors)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
