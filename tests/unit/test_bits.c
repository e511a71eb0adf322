/* SPDX-License-Identifier: Apache-2.0 */
/* test_bits.c - operations on truth values and on the bits of integers, remainders, is_nan, is_inf. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/math.h"

/* One op on two inputs of one type, the second one broadcast. */
static void
expect(qn_op op, const qn_attrs *attrs, const char *tx, const double *x, const char *ty,
       const double *y, const double *want, int64_t n)
{
	fresh_graph();
	qn_id a = input("x", tx), b = input("y", ty);
	output(op2(op, a, b, attrs, NULL));
	near(want, run((const double *[]){x, y}), n, 0.0);
}

static void
expect1(qn_op op, const qn_attrs *attrs, const char *tx, const double *x, const double *want,
	int64_t n)
{
	fresh_graph();
	output(op1(op, input("x", tx), attrs, NULL));
	near(want, run1(x), n, 0.0);
}

static void
test_logic(void **state)
{
	const double x[4] = {0, 0, 1, 1}, y[4] = {0, 1, 0, 1};

	(void)state;
#define LOGIC(op, ...)                                                                             \
	expect(QN_OP_##op, NULL, "tensor<4xbool>", x, "tensor<4xbool>", y,                         \
	       (double[]){__VA_ARGS__}, 4)
	LOGIC(logical_and, 0, 0, 0, 1);
	LOGIC(logical_or, 0, 1, 1, 1);
	LOGIC(logical_xor, 0, 1, 1, 0);
	expect(QN_OP_logical_or, NULL, "tensor<2x2xbool>", x, "tensor<2x1xbool>", y,
	       (double[]){0, 0, 1, 1}, 4);
	expect1(QN_OP_logical_not, NULL, "tensor<4xbool>", x, (double[]){1, 1, 0, 0}, 4);
}

static void
test_bitwise(void **state)
{
	(void)state;
#define BITS(op, t, a, b, want)                                                                    \
	expect(QN_OP_##op, NULL, "tensor<1x" t ">", (double[]){a}, "tensor<1x" t ">",              \
	       (double[]){b}, (double[]){want}, 1)
	BITS(bitwise_and, "u8", 0xcc, 0xaa, 0x88);
	BITS(bitwise_or, "u16", 0xcc00, 0xaa, 0xccaa);
	BITS(bitwise_xor, "i8", -1, 5, -6);
	BITS(bitwise_and, "i64", -2, 0x1p40 + 3, 0x1p40 + 2);
	BITS(shift_left, "u8", 0x81, 1, 2);
	BITS(shift_left, "u8", 1, 8, 0);
	BITS(shift_left, "u64", 1, 64, 0);
	BITS(shift_left, "i16", 1, 15, -32768);
	BITS(shift_left, "i16", 7, -1, 7);
	BITS(shift_right, "u8", 0x81, 1, 0x40);
	BITS(shift_right, "u32", 0x80000000u, 40, 0);
	BITS(shift_right, "i8", -128, 3, -16);
	BITS(shift_right, "i32", -5, 1, -3);
	BITS(shift_right, "i32", -5, 99, -1);
	expect1(QN_OP_bitwise_not, NULL, "tensor<2xu8>", (double[]){0, 0xf0}, (double[]){255, 15},
		2);
	expect1(QN_OP_bitwise_not, NULL, "tensor<2xi32>", (double[]){0, -6}, (double[]){-1, 5}, 2);
}

static void
test_division(void **state)
{
	const double x[8] = {7, -7, 7, -7, 6, 5, -128, 0}, y[8] = {3, 3, -3, -3, 3, 0, -1, 5};
	qn_attrs fmod_attrs;

	(void)state;
	qn_attrs_default(QN_ATTRS(mod), &fmod_attrs);
	fmod_attrs.mod.fmod = 1;
	expect(QN_OP_mod, NULL, "tensor<8xi8>", x, "tensor<8xi8>", y,
	       (double[]){1, 2, -2, -1, 0, 0, 0, 0}, 8);
	expect(QN_OP_mod, attributes(fmod_attrs), "tensor<8xi64>", x, "tensor<8xi64>", y,
	       (double[]){1, -1, 1, -1, 0, 0, 0, 0}, 8);
	expect(QN_OP_floor_div, NULL, "tensor<8xi8>", x, "tensor<8xi8>", y,
	       (double[]){2, -3, -3, 2, 2, 0, -128, 0}, 8);
	expect(QN_OP_mod, NULL, "tensor<3xu16>", (double[]){65535, 9, 9}, "tensor<3xu16>",
	       (double[]){10, 4, 0}, (double[]){5, 1, 0}, 3);
	expect(QN_OP_mod, NULL, "tensor<4xf32>", (double[]){5.5, -5.5, 5.5, -5.5}, "tensor<4xf32>",
	       (double[]){2, 2, -2, -2}, (double[]){1.5, 0.5, -0.5, -1.5}, 4);
	expect(QN_OP_mod, attributes(fmod_attrs), "tensor<4xf64>", (double[]){5.5, -5.5, 5.5, -5.5},
	       "tensor<4xf64>", (double[]){2, 2, -2, -2}, (double[]){1.5, -1.5, 1.5, -1.5}, 4);
	expect(QN_OP_floor_div, NULL, "tensor<3xf32>", (double[]){5.5, -5.5, -0.5}, "tensor<1xf32>",
	       (double[]){2}, (double[]){2, -3, -1}, 3);
}

/* The remainder is exact: equal to libm's for any two doubles. */
static void
test_fmod(void **state)
{
	(void)state;
	for (int i = 0; i < 20000; i++) {
		double x = ldexp(real(), (int)pick(-1070, 1020));
		double y = ldexp(real(), (int)pick(-1070, 1020));
		double want = fmod(x, y), have = qn_fmod(x, y);

		assert_true(have == want || (want != want && have != have));
		assert_int_equal(signbit(have) != 0, signbit(want) != 0 && want == want);
		double r = qn_floor_mod(x, y);
		assert_true(y == 0.0 || (r >= 0.0) == (y > 0.0) || r == 0.0);
	}
	assert_true(qn_fmod(3.5, HUGE_VAL) == 3.5 && isnan(qn_fmod(HUGE_VAL, 2.0)));
	assert_true(qn_fmod(0x1p-1074, 0x1p-1070) == 0x1p-1074);
}

static void
test_classify(void **state)
{
	const double x[5] = {1, (double)NAN, HUGE_VAL, -HUGE_VAL, 0};
	static const char *const types[] = {"tensor<5xf32>", "tensor<5xf64>", "tensor<5xf16>"};
	qn_attrs a;

	(void)state;
	qn_attrs_default(QN_ATTRS(is_inf), &a);
	for (size_t k = 0; k < QN_COUNT(types); k++) {
		expect1(QN_OP_is_nan, NULL, types[k], x, (double[]){0, 1, 0, 0, 0}, 5);
		a.is_inf.detect_negative = a.is_inf.detect_positive = 1;
		expect1(QN_OP_is_inf, attributes(a), types[k], x, (double[]){0, 0, 1, 1, 0}, 5);
		a.is_inf.detect_negative = 0;
		expect1(QN_OP_is_inf, attributes(a), types[k], x, (double[]){0, 0, 1, 0, 0}, 5);
		a.is_inf.detect_positive = 0;
		expect1(QN_OP_is_inf, attributes(a), types[k], x, (double[]){0, 0, 0, 0, 0}, 5);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_logic), TEST(test_bitwise),  TEST(test_division),
		TEST(test_fmod),  TEST(test_classify),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
