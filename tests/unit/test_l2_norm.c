/* SPDX-License-Identifier: Apache-2.0 */
/* test_l2_norm.c - l2_norm and rms_norm in both forms and lrn, against real arithmetic, and the root of the integer
 * form against values of its definition. */
#include "tests/unit/run_util.h"

#include <math.h>
#include <stdio.h>

#include "runtime/kernels/l2_norm.h"

/* Elements of [2,5,3] along axis 1. */
static void
normalized(const double *x, double zp, double epsilon, double *y)
{
	for (int i = 0; i < 30; i++) {
		int row = i / 15 * 15 + i % 3;
		double sum = 0;

		for (int k = 0; k < 5; k++)
			sum += (x[row + 3 * k] - zp) * (x[row + 3 * k] - zp);
		y[i] = (x[i] - zp) / sqrt(sum > epsilon ? sum : epsilon);
	}
}

static void
test_real(void **state)
{
	double want[30];

	(void)state;
	for (int round = 0; round < 10; round++) {
		double *x = reals(30);
		qn_attrs a;

		qn_attrs_default(QN_ATTRS(l2_norm), &a);
		a.l2_norm.axis = round % 2 == 0 ? 1 : -2;
		a.l2_norm.epsilon = round < 8 ? 1e-12 : 100;
		for (int k = 0; k < 5; k++)
			x[3 * k] = 0; /* a vector without length */
		normalized(x, 0, a.l2_norm.epsilon, want);
		fresh_graph();
		output(op1(QN_OP_l2_norm, input("x", "tensor<2x5x3xf32>"), &a, NULL));
		near(want, run1(x), 30, 1e-6);
	}
}

/* Within a code of real arithmetic: the root has 19 good bits. */
static void
test_codes(void **state)
{
	double want[30];

	(void)state;
	for (int round = 0; round < 100; round++) {
		bool u8 = round % 2 != 0;
		double *x = u8 ? codes(30, 0, 255) : codes(30, -128, 127);
		double *little = u8 ? codes(30, 6, 8) : codes(30, 6, 8);
		qn_attrs a;

		qn_attrs_default(QN_ATTRS(l2_norm), &a);
		a.l2_norm.axis = 1;
		x = round % 5 == 0 ? little : x;
		normalized(x, 7, 1, want);
		for (int i = 0; i < 30; i++) {
			double q = want[i] * 128;

			q = q < 0 ? -floor(0.5 - q) : floor(q + 0.5);
			want[i] = (q > 127 ? 127 : q) + (u8 ? 128 : 0);
		}
		fresh_graph();
		output(op1(QN_OP_l2_norm,
			   input("x", u8 ? "tensor<2x5x3x!quant.uniform<u8:f32, 0.3:7>>"
					 : "tensor<2x5x3x!quant.uniform<i8:f32, 0.3:7>>"),
			   &a,
			   u8 ? "tensor<2x5x3x!quant.uniform<u8:f32, 0.0078125:128>>"
			      : "tensor<2x5x3x!quant.uniform<i8:f32, 0.0078125>>"));
		near(want, run1(x), 30, 1);
	}
}

static void
test_root(void **state)
{
	(void)state;
	for (int64_t x = 1; x < INT32_MAX; x = x * 3 / 2 + 1) {
		int32_t s = 0, m = qn_inv_sqrt((int32_t)x, &s);
		double want = 1 / sqrt((double)x), have = ldexp((double)m, s - 31);

		assert_true(m > 0);
		assert_true(fabs(have - want) < want * 0x1p-19);
	}
	int32_t s = 5;
	assert_int_equal(qn_inv_sqrt(0, &s), INT32_MAX);
	assert_int_equal(s, 0);
}

static void
test_lrn(void **state)
{
	double want[14];

	(void)state;
	for (int64_t size = 1; size < 9; size++) {
		double *x = reals(14);
		qn_attrs a;

		qn_attrs_default(QN_ATTRS(lrn), &a);
		a.lrn.size = size;
		a.lrn.alpha = 0.5;
		a.lrn.bias = 2;
		for (int i = 0; i < 14; i++) {
			double sum = 0;

			for (int64_t k = i % 7 - (size - 1) / 2; k <= i % 7 + size / 2; k++)
				sum += k >= 0 && k < 7 ? x[i / 7 * 7 + k] * x[i / 7 * 7 + k] : 0;
			want[i] = x[i] / pow(2 + 0.5 / (double)size * sum, 0.75);
		}
		fresh_graph();
		output(op1(QN_OP_lrn, input("x", "tensor<2x7xf32>"), &a, NULL));
		near(want, run1(x), 14, 1e-6);
	}
}

/* x / sqrt(mean of x^2 + epsilon) * scale of [6,5]. */
static void
rms(const double *x, double zp, double s, const double *w, double zw, double sw, double *y)
{
	for (int i = 0; i < 30; i++) {
		double sum = 0;

		for (int k = 0; k < 5; k++)
			sum += (x[i / 5 * 5 + k] - zp) * s * (x[i / 5 * 5 + k] - zp) * s;
		y[i] = (x[i] - zp) * s / sqrt(sum / 5 + 1e-5) * (w[i % 5] - zw) * sw;
	}
}

static void
test_rms(void **state)
{
	static const struct {
		const char *x, *w, *y;
		double zx, sx, zw, sw, zy, sy, least, most;
	} rows[] = {
		{"6x5x!quant.uniform<i8:f32, 0.25:-9>", "5x!quant.uniform<i8:f32, 0.0078125:4>",
		 "6x5x!quant.uniform<i8:f32, 0.03125:3>", -9, 0.25, 4, 0.0078125, 3, 0.03125, -128,
		 127},
		{"6x5x!quant.uniform<u8:f32, 0.25:90>", "5x!quant.uniform<u8:f32, 0.0078125:4>",
		 "6x5x!quant.uniform<u8:f32, 0.03125:130>", 90, 0.25, 4, 0.0078125, 130, 0.03125, 0,
		 255},
		{"6x5x!quant.uniform<i16:f32, 0.0009765625>",
		 "5x!quant.uniform<i16:f32, 0.000030517578125>",
		 "6x5x!quant.uniform<i16:f32, 0.0001220703125>", 0, 0x1p-10, 0, 0x1p-15, 0, 0x1p-13,
		 -32768, 32767},
	};
	double want[30];

	(void)state;
	for (int round = 0; round < 60; round++) {
		size_t r = (size_t)round % QN_COUNT(rows);
		double *x = codes(30, (int64_t)rows[r].least, (int64_t)rows[r].most);
		double *w = codes(5, (int64_t)rows[r].least, (int64_t)rows[r].most);
		char in[80], scale[80], out[80];

		rms(x, rows[r].zx, rows[r].sx, w, rows[r].zw, rows[r].sw, want);
		for (int i = 0; i < 30; i++) {
			double q = floor(want[i] / rows[r].sy + 0.5) + rows[r].zy;

			want[i] = fmin(fmax(q, rows[r].least), rows[r].most);
		}
		(void)snprintf(in, sizeof in, "tensor<%s>", rows[r].x);
		(void)snprintf(scale, sizeof scale, "tensor<%s>", rows[r].w);
		(void)snprintf(out, sizeof out, "tensor<%s>", rows[r].y);
		fresh_graph();
		qn_id xi = input("x", in);
		output(op2(QN_OP_rms_norm, xi, input("w", scale), NULL, out));
		near(want, run((const double *[]){x, w}), 30, 1);
	}
	double *x = reals(30), *w = reals(5);

	rms(x, 0, 1, w, 0, 1, want);
	fresh_graph();
	qn_id xi = input("x", "tensor<6x5xf32>");
	output(op2(QN_OP_rms_norm, xi, input("w", "tensor<5xf32>"), NULL, NULL));
	near(want, run((const double *[]){x, w}), 30, 4e-6);
}

static void
test_refused(void **state)
{
	(void)state;
	output(op1(QN_OP_l2_norm, input("x", "tensor<4x!quant.uniform<i16:f32, 0.1>>"), NULL,
		   "tensor<4x!quant.uniform<i16:f32, 0.0000305175781>>"));
	refused("int.unsupported", "only storage i8 and u8");
}

/* A result of other parameters than 1/128. */
static void
test_any(void **state)
{
	double want[30];

	(void)state;
	for (int round = 0; round < 100; round++) {
		double *x = codes(30, 0, 255), *y;
		const bool fine = round % 2 != 0;
		qn_attrs a;

		qn_attrs_default(QN_ATTRS(l2_norm), &a);
		a.l2_norm.axis = 1;
		normalized(x, 7, 1, want);
		for (int i = 0; i < 30; i++) {
			double q = rint(want[i] / (fine ? 0.003 : 0.4)) + 40;

			want[i] = q < 0 ? 0 : q > 255 ? 255 : q;
		}
		fresh_graph();
		output(op1(QN_OP_l2_norm, input("x", "tensor<2x5x3x!quant.uniform<u8:f32, 0.3:7>>"),
			   &a,
			   fine ? "tensor<2x5x3x!quant.uniform<u8:f32, 0.003:40>>"
				: "tensor<2x5x3x!quant.uniform<u8:f32, 0.4:40>>"));
		y = run1(x);
		near(want, y, 30, 1);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {T(test_real), T(test_codes),   T(test_root),
					   T(test_lrn),  T(test_refused), T(test_rms),
					   T(test_any)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
