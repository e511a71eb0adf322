/* SPDX-License-Identifier: Apache-2.0 */
/* test_difference.c - squared_difference: codes of 8 bits against TFLite's arithmetic in 64 bits, all
 * storage types against real numbers, reals and integers. */
#include "tests/unit/run_util.h"

#include <math.h>
#include <stdio.h>

static int64_t
floor_div(int64_t p, int64_t q)
{
	return p / q - (p % q != 0 && (p < 0) != (q < 0));
}

/* gemmlowp: the high half of 2ab, rounded, then a rounding shift that goes away from 0. */
static int64_t
scaled(int64_t x, double M)
{
	int e;
	int64_t m = (int64_t)round(ldexp(frexp(M, &e), 31)), p;

	if (m == INT64_C(1) << 31) {
		m /= 2;
		e++;
	}
	p = x * m;
	p = (p + (p >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30))) / (INT64_C(1) << 31);
	int64_t half = INT64_C(1) << -e;
	return p < 0 ? -floor_div(-2 * p + half, 2 * half) : floor_div(2 * p + half, 2 * half);
}

static void
test_tflite(void **state)
{
	static const struct {
		double sx, sy, so;
		int64_t zx, zy, zo;
	} rows[] = {{0.25, 0.25, 0.5, 0, 0, 0},
		    {(double)0.05f, (double)0.11f, (double)0.3f, 3, -7, -128},
		    {(double)0.9f, (double)0.001f, (double)7.7f, -128, 127, 5},
		    {(double)0.02f, (double)0.02f, (double)0.004f, 10, 10, -100}};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(rows); k++) {
		double *x = codes(600, -128, 127), *y = codes(6, -128, 127), want[600];
		double sx = rows[k].sx, sy = rows[k].sy, twice = 2 * fmax(sx, sy);
		char t[3][100];

		for (int i = 0; i < 600; i++) {
			int64_t u = scaled(((int64_t)x[i] - rows[k].zx) * 128, sx / twice);
			int64_t v = scaled(((int64_t)y[i % 6] - rows[k].zy) * 128, sy / twice);
			int64_t z = scaled((u - v) * (u - v), twice * twice / (16384 * rows[k].so));

			want[i] = fmax(-128, fmin(127, (double)(z + rows[k].zo)));
		}
		snprintf(t[0], 100, "tensor<100x6x!quant.uniform<i8:f32, %.17g:%d>>", sx,
			 (int)rows[k].zx);
		snprintf(t[1], 100, "tensor<6x!quant.uniform<i8:f32, %.17g:%d>>", sy,
			 (int)rows[k].zy);
		snprintf(t[2], 100, "tensor<100x6x!quant.uniform<i8:f32, %.17g:%d>>", rows[k].so,
			 (int)rows[k].zo);
		fresh_graph();
		qn_id a = input("x", t[0]), b = input("y", t[1]);
		output(op2(QN_OP_squared_difference, a, b, NULL, t[2]));
		near(want, run((const double *[]){x, y}), 600, 0.0);
	}
}

/* Within one code of the real square, and half a step of the headroom. */
static void
test_storage(void **state)
{
	static const struct {
		const char *x, *y, *out;
		int64_t lo, hi;
		double zx, zy, zo, least, most;
	} rows[] = {
		{"tensor<400x!quant.uniform<u8:f32, 0.125:100>>",
		 "tensor<1x!quant.uniform<u8:f32, 0.0625:30>>",
		 "tensor<400x!quant.uniform<u8:f32, 4.0:7>>", 0, 255, 100, 30, 7, 0, 255},
		{"tensor<400x!quant.uniform<i16:f32, 0.125>>",
		 "tensor<1x!quant.uniform<i16:f32, 0.0625>>",
		 "tensor<400x!quant.uniform<i16:f32, 4096.0>>", -32768, 32767, 0, 0, 0, -32768,
		 32767},
	};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(rows); k++) {
		double *x = codes(400, rows[k].lo, rows[k].hi),
		       *y = codes(1, rows[k].lo, rows[k].hi);
		double want[400], step = k == 0 ? 4 : 4096;

		for (int i = 0; i < 400; i++) {
			double d = (x[i] - rows[k].zx) * 0.125 - (y[0] - rows[k].zy) * 0.0625;

			want[i] = rint(d * d / step) + rows[k].zo;
			want[i] = fmax(rows[k].least, fmin(rows[k].most, want[i]));
		}
		fresh_graph();
		qn_id a = input("x", rows[k].x), b = input("y", rows[k].y);
		output(op2(QN_OP_squared_difference, a, b, NULL, rows[k].out));
		/* 15 bits of a multiplier: 2^-15 of the largest result */
		near(want, run((const double *[]){x, y}), 400, 2.0);
	}
}

static void
test_plain(void **state)
{
	const double x[3] = {3, -1.5, 100}, y[1] = {0.5}, reals_want[3] = {6.25, 4, 9900.25};
	const double i[3] = {3, -7, 100}, j[1] = {-2}, want[3] = {25, 25, -92};

	(void)state;
	qn_id a = input("x", "tensor<3xf32>"), b = input("y", "tensor<1xf32>");
	output(op2(QN_OP_squared_difference, a, b, NULL, NULL));
	near(reals_want, run((const double *[]){x, y}), 3, 0.0);
	fresh_graph();
	a = input("x", "tensor<3xi8>");
	b = input("y", "tensor<1xi8>");
	output(op2(QN_OP_squared_difference, a, b, NULL, NULL));
	near(want, run((const double *[]){i, j}), 3, 0.0); /* 102^2 = 10404 = -92 in 8 bits */
}

/* The result's scale must leave a multiplier below 1. */
static void
test_refused(void **state)
{
	(void)state;
	qn_id x = input("x", "tensor<3x!quant.uniform<i8:f32, 1.0>>");
	output(op2(QN_OP_squared_difference, x, x, NULL,
		   "tensor<3x!quant.uniform<i8:f32, 0.0001>>"));
	refused("int.multiplier", "T^2 / 2^14 / result scale");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_tflite),
		TEST(test_storage),
		TEST(test_plain),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
