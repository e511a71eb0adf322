/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fixed-point primitives against tables of known values and against models written differently:
 * division in 64 bits where the primitives shift and mask.
 */
#include "tests/unit/fixed_numbers.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_srdhm_table),  cmocka_unit_test(test_srdhm_floor),
		cmocka_unit_test(test_rdbpot_table), cmocka_unit_test(test_rdbpot_model),
		cmocka_unit_test(test_saturation),   cmocka_unit_test(test_clz),
		cmocka_unit_test(test_multiplier),   cmocka_unit_test(test_apply_table),
		cmocka_unit_test(test_apply_model),  cmocka_unit_test(test_requant_limits),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
