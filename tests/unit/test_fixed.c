/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point primitives, and the softmax made of them, against tables of known values and against
 * models written differently: division in 64 bits where the primitives shift and mask, floating
 * point for the exponential.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "runtime/fixed.h"
#include "runtime/kernels/softmax.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static uint32_t
next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 32);
}

/* Full-range number, one in eight of them next to a limit or to zero. */
static int32_t
number(uint64_t *seed)
{
	static const int32_t edge[] = {INT32_MIN, INT32_MIN + 1, -1,       0,
				       1,         INT32_MAX - 1, INT32_MAX};
	uint32_t r = next(seed);

	return r % 8 == 0 ? edge[next(seed) % COUNT(edge)] : (int32_t)next(seed);
}

/* floor(p / q) for q > 0 without a shift. */
static int64_t
floor_div(int64_t p, int64_t q)
{
	return p / q - (p % q < 0 ? 1 : 0);
}

/* x / 2^n, ties away from zero, by magnitudes. */
static int64_t
away(int64_t x, int n)
{
	int64_t half = n == 0 ? 0 : INT64_C(1) << (n - 1);
	int64_t magnitude = ((x < 0 ? -x : x) + half) / (INT64_C(1) << n);

	return x < 0 ? -magnitude : magnitude;
}

static int64_t
saturate(int64_t x)
{
	return x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x;
}

/* (m, s) with real = m * 2^(s-31): TFLite QuantizeMultiplier. */
static void
multiplier(double real, int32_t *m, int32_t *s)
{
	int exponent = 0;
	double fraction = real;
	int64_t q;

	while (fraction >= 1.0) {
		fraction /= 2.0;
		exponent++;
	}
	while (fraction > 0.0 && fraction < 0.5) {
		fraction *= 2.0;
		exponent--;
	}
	q = (int64_t)(fraction * 2147483648.0 + 0.5);
	if (q == INT64_C(1) << 31) {
		q /= 2;
		exponent++;
	}
	*m = exponent < -31 ? 0 : (int32_t)q;
	*s = exponent < -31 ? 0 : exponent;
}

static void
test_srdhm_table(void **state)
{
	static const int32_t row[][3] = {
		{1, 1 << 30, 1},
		{-1, 1 << 30, 0},
		{3, 1 << 30, 2},
		{-3, 1 << 30, -1},
		{1 << 30, 1 << 30, 1 << 29},
		{INT32_MIN, INT32_MIN, 2147483647},
		{INT32_MIN, INT32_MAX, -2147483647},
		{INT32_MAX, INT32_MAX, 2147483646},
		{12345678, 1717986918, 9876542},
		{-12345678, 1717986918, -9876542},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(qn_srdhm32(row[i][0], row[i][1]), row[i][2]);
}

static void
test_srdhm_floor(void **state)
{
	uint64_t seed = 1;
	(void)state;

	for (int i = 0; i < 300000; i++) {
		int32_t a = number(&seed), b = number(&seed);
		int64_t p = (int64_t)a * b + (INT64_C(1) << 30);

		assert_int_equal(qn_srdhm32(a, b), saturate(floor_div(p, INT64_C(1) << 31)));
	}
}

static void
test_rdbpot_table(void **state)
{
	static const int32_t row[][3] = {
		{5, 1, 3},   {-5, 1, -3}, {6, 2, 2},           {-6, 2, -2},        {2, 2, 1},
		{-2, 2, -1}, {-1, 2, 0},  {INT32_MIN, 31, -1}, {INT32_MAX, 31, 1}, {7, 0, 7},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++)
		assert_int_equal(qn_rdbpot(row[i][0], row[i][1]), row[i][2]);
}

static void
test_rdbpot_model(void **state)
{
	uint64_t seed = 2;
	(void)state;

	for (int n = 0; n <= 17; n++)
		for (int32_t x = INT16_MIN; x <= INT16_MAX; x++)
			if (qn_rdbpot(x, n) != away(x, n))
				fail_msg("%d / 2^%d gave %d", (int)x, n, (int)qn_rdbpot(x, n));
	for (int i = 0; i < 200000; i++) {
		int32_t x = number(&seed);
		int n = (int)(next(&seed) % 32);

		assert_int_equal(qn_rdbpot(x, n), away(x, n));
	}
}

static void
test_saturation(void **state)
{
	uint64_t seed = 3;
	(void)state;

	for (int i = 0; i < 100000; i++) {
		int32_t a = number(&seed), b = number(&seed);
		int n = (int)(next(&seed) % 32);

		assert_int_equal(qn_satadd32(a, b), saturate((int64_t)a + b));
		assert_int_equal(qn_shl_sat(a, n), saturate((int64_t)a * (INT64_C(1) << n)));
		assert_int_equal(qn_rhs(a, b), away((int64_t)a + b, 1));
	}
	assert_int_equal(qn_satadd32(INT32_MAX, 1), INT32_MAX);
	assert_int_equal(qn_satadd32(INT32_MIN, -1), INT32_MIN);
	assert_int_equal(qn_satadd16(32000, 1000), 32767);
	assert_int_equal(qn_satadd16(-32000, -1000), -32768);
	assert_int_equal(qn_satadd16(-5, 3), -2);
	assert_int_equal(qn_satadd8(100, 100), 127);
	assert_int_equal(qn_satadd8(-100, -100), -128);
	assert_int_equal(qn_satadd8(-5, 3), -2);
	assert_int_equal(qn_clamp32(5, -1, 3), 3);
	assert_int_equal(qn_clamp32(-5, -1, 3), -1);
	assert_int_equal(qn_clamp32(2, -1, 3), 2);
}

static void
test_clz(void **state)
{
	(void)state;

	assert_int_equal(qn_clz32(0), 32);
	for (int i = 0; i < 32; i++) {
		assert_int_equal(qn_clz32(UINT32_C(1) << i), 31 - i);
		assert_int_equal(qn_clz32(UINT32_MAX >> i), i);
	}
}

static void
test_multiplier(void **state)
{
	static const struct {
		double real;
		int32_t m, s;
	} row[] = {
		{0.0, 0, 0},
		{1.0, 1073741824, 1},
		{0.5, 1073741824, 0},
		{0.25, 1073741824, -1},
		{0.75, 1610612736, 0},
		{2.0, 1073741824, 2},
		{0.1, 1717986918, -3},
		{1.0 / 3.0, 1431655765, -1},
		{0.99999999999, 1073741824, 1},
		{1e-12, 0, 0},
		{1.0 / 4294967296.0, 1073741824, -31},
		{0.5 / 4294967296.0, 0, 0},
		{123.456, 2071247978, 7},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++) {
		int32_t m, s;

		multiplier(row[i].real, &m, &s);
		assert_int_equal(m, row[i].m);
		assert_int_equal(s, row[i].s);
	}
}

static void
test_apply_table(void **state)
{
	static const struct {
		int32_t x;
		double real;
		int32_t twice, once, nearest, even;
	} row[] = {
		{15, 0.1, 2, 1, 1, 1},
		{25, 0.1, 3, 2, 2, 2},
		{-25, 0.1, -3, -2, -2, -2},
		{5, 0.5, 3, 3, 3, 2},
		{-5, 0.5, -2, -2, -3, -2},
		{6, 0.25, 2, 2, 2, 2},
		{-6, 0.25, -2, -1, -2, -2},
		{-2, 0.25, -1, 0, -1, 0},
		{20, 0.0249, 1, 0, 0, 0},
		{-1998, 0.3, -600, -599, -599, -599},
		{-1970, 0.017, -34, -33, -33, -33},
		{12345, 1.5, 18518, 18518, 18518, 18518},
		{-12345, 1.5, -18517, -18517, -18518, -18518},
		{1 << 20, 1.0 / 2097152.0, 1, 1, 1, 0},
		{-(1 << 20), 1.0 / 2097152.0, -1, 0, -1, 0},
		{10, 0.25, 3, 3, 3, 2},
		{14, 0.25, 4, 4, 4, 4},
		{-10, 0.25, -3, -2, -3, -2},
		{-14, 0.25, -4, -3, -4, -4},
		{7, 0.5, 4, 4, 4, 4},
		{3, 1.5, 5, 5, 5, 4},
		{5, 1.5, 8, 8, 8, 8},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++) {
		int32_t m, s;

		multiplier(row[i].real, &m, &s);
		assert_int_equal(qn_apply(row[i].x, m, s, QN_RQ_DOUBLE), row[i].twice);
		assert_int_equal(qn_apply(row[i].x, m, s, QN_RQ_SINGLE), row[i].once);
		assert_int_equal(qn_apply(row[i].x, m, s, QN_RQ_NEAREST), row[i].nearest);
		assert_int_equal(qn_apply(row[i].x, m, s, QN_RQ_EVEN), row[i].even);
		if ((m & 0xffff) == 0)
			assert_int_equal(qn_apply64(row[i].x, m, s, QN_RQ_EVEN), row[i].even);
	}
}

/* x / 2^n, ties to even: the even one of the two nearest where both are equally far. */
static int64_t
even_model(int64_t x, int n)
{
	int64_t one = INT64_C(1) << n, below = floor_div(x, one), rest = x - below * one;

	if (rest == one - rest)
		return below % 2 == 0 ? below : below + 1;
	return rest < one - rest ? below : below + 1;
}

/* The formulas as they are written for wide numbers, with a saturated left shift. */
static int64_t
apply_model(int32_t x, int32_t m, int32_t s, int32_t mode)
{
	int left = s > 0 ? s : 0, right = s < 0 ? -s : 0;
	int64_t wide = saturate((int64_t)x * (INT64_C(1) << left)) * m;

	if (mode == QN_RQ_DOUBLE)
		return away(floor_div(wide + (INT64_C(1) << 30), INT64_C(1) << 31), right);
	if (mode == QN_RQ_NEAREST)
		return away(wide, 31 + right);
	if (mode == QN_RQ_EVEN)
		return saturate(even_model((int64_t)x * m, 31 - s));
	wide = (int64_t)x * m + (INT64_C(1) << (30 - s));
	return saturate(floor_div(wide, INT64_C(1) << (31 - s)));
}

static void
test_apply_model(void **state)
{
	uint64_t seed = 4;
	(void)state;

	for (int i = 0; i < 200000; i++) {
		int32_t x = number(&seed);
		int32_t m = (int32_t)((next(&seed) >> 2) | (UINT32_C(1) << 30));
		int32_t s = (int32_t)(next(&seed) % 62) - 31;

		if (i % 2 == 0)
			x = qn_sar32(x, (int32_t)(next(&seed) % 32));
		if (i % 100 == 0)
			m = 0;
		for (int32_t mode = QN_RQ_DOUBLE; mode <= QN_RQ_EVEN; mode++) {
			assert_int_equal(qn_apply(x, m, s, mode), apply_model(x, m, s, mode));
			if (s <= 0)
				assert_int_equal(qn_apply_smaller(x, m, s, mode),
						 apply_model(x, m, s, mode));
		}
	}
}

static void
test_requant_limits(void **state)
{
	(void)state;

	for (int32_t mode = QN_RQ_DOUBLE; mode <= QN_RQ_EVEN; mode++) {
		assert_int_equal(qn_requant(INT32_MAX, INT32_MAX, 30, 127, -128, 127, mode), 127);
		assert_int_equal(qn_requant(INT32_MIN, INT32_MAX, 30, -128, -128, 127, mode), -128);
		assert_int_equal(qn_requant(-1000, 1 << 30, 1, 3, 3, 120, mode), 3);
		assert_int_equal(qn_requant(100, 1 << 30, 1, 3, 3, 120, mode), 103);
		assert_int_equal(qn_requant(1000, 1 << 30, 1, 3, 3, 120, mode), 120);
	}
}

static void
test_rows(void **state)
{
	int8_t image[12] = {0};
	const int8_t *rows[4];
	(void)state;

	qn_rows_at(image, 3, 4, -1, 1, 4, rows);
	assert_null(rows[0]);
	assert_ptr_equal(rows[1], image);
	assert_ptr_equal(rows[3], image + 8);
	qn_rows_at(image, 3, 4, 0, 2, 3, rows);
	assert_ptr_equal(rows[0], image);
	assert_ptr_equal(rows[1], image + 8);
	assert_null(rows[2]);
}

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

/* Equal codes in rows up to far beyond the point where every quotient rounds to nothing. */
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
		cmocka_unit_test(test_srdhm_table),  cmocka_unit_test(test_srdhm_floor),
		cmocka_unit_test(test_rdbpot_table), cmocka_unit_test(test_rdbpot_model),
		cmocka_unit_test(test_saturation),   cmocka_unit_test(test_clz),
		cmocka_unit_test(test_multiplier),   cmocka_unit_test(test_apply_table),
		cmocka_unit_test(test_apply_model),  cmocka_unit_test(test_requant_limits),
		cmocka_unit_test(test_rows),         cmocka_unit_test(test_exp_table),
		cmocka_unit_test(test_exp_model),    cmocka_unit_test(test_softmax_table),
		cmocka_unit_test(test_softmax_real), cmocka_unit_test(test_softmax_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
