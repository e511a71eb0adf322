/* SPDX-License-Identifier: Apache-2.0 */
/* test_family_binary.c - ops of two operands, and bilinear resizing, on u8 and i16 codes against real
 * arithmetic on the dequantized codes: within one code where the kernel rounds twice, exactly where it
 * rounds once or not at all. */
#include "tests/unit/run_util.h"

#include <math.h>

typedef struct family {
	const char *name;
	double lo, hi;
	/* scale and zero point of x, y and the result */
	double scale[3], zp[3];
} family;

static const family families[] = {
	{"u8", 0, 255, {0.05, 0.02, 0.04}, {131, 7, 100}},
	{"i16", -32768, 32767, {3.1e-4, 1.7e-4, 2.9e-4}, {0, 0, 0}},
	{"i16", -32768, 32767, {2.0, 1.0, 0.5}, {0, 0, 0}},
};

enum { N = 24, REPEAT = 4, ROUNDS = 200 };

static const char *
type_text(const family *f, const char *shape, int which)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "tensor<%sx!quant.uniform<%s:f32, %g:%d>>", shape, f->name, f->scale[which],
		(int)f->zp[which]);
	return qn_buf_str(&b);
}

static double
value(const family *f, int which, double code)
{
	return (double)(float)f->scale[which] * (code - f->zp[which]);
}

/* The code of v: nearest, ties away from zero, limited. */
static double
code(const family *f, double v)
{
	double q = v / (double)(float)f->scale[2];

	q = (q < 0 ? -floor(0.5 - q) : floor(q + 0.5)) + f->zp[2];
	return q < f->lo ? f->lo : q > f->hi ? f->hi : q;
}

/* Codes with the ends of the range among them. */
static double *
some_codes(const family *f, int n)
{
	double *v = codes(n, (int64_t)f->lo, (int64_t)f->hi);

	v[pick(0, n - 1)] = f->lo;
	v[pick(0, n - 1)] = f->hi;
	return v;
}

static double
result(const family *f, qn_op op, double a, double b)
{
	double x = value(f, 0, a), y = value(f, 1, b);

	switch ((int)op) {
	case QN_OP_add:
		return code(f, x + y);
	case QN_OP_sub:
		return code(f, x - y);
	case QN_OP_mul:
		return code(f, x * y);
	default: /* div */
		if (b == f->zp[1])
			return a < f->zp[0] ? f->lo : a > f->zp[0] ? f->hi : f->zp[2];
		return code(f, x / y);
	}
}

static void
test_arithmetic(void **state)
{
	static const qn_op ops[] = {QN_OP_add, QN_OP_sub, QN_OP_mul, QN_OP_div};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(families) * QN_COUNT(ops); k++) {
		const family *f = &families[k / QN_COUNT(ops)];
		qn_op op = ops[k % QN_COUNT(ops)];

		fresh_graph();
		qn_id x = input("x", type_text(f, "2x3x4", 0)),
		      y = input("y", type_text(f, "4", 1));
		output(op2(op, x, y, NULL, type_text(f, "2x3x4", 2)));
		for (int round = 0; round < ROUNDS; round++) {
			double *a = some_codes(f, N), *b = some_codes(f, REPEAT), want[N];

			for (int i = 0; i < N; i++)
				want[i] = result(f, op, a[i], b[i % REPEAT]);
			near(want, run((const double *[]){a, b}), N, 1.0);
		}
	}
}

/* A product of i16 whose result has 8 bits. */
static void
test_narrow_product(void **state)
{
	static const family narrow[] = {
		{"i8", -128, 127, {3.1e-4, 1.7e-4, 0.37}, {0, 0, -20}},
		{"u8", 0, 255, {3.1e-4, 1.7e-4, 0.2}, {0, 0, 140}},
	};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(narrow); k++) {
		const family *f = &narrow[k], *wide = &families[1];

		fresh_graph();
		qn_id x = input("x", type_text(wide, "2x3x4", 0)),
		      y = input("y", type_text(wide, "4", 1));
		output(op2(QN_OP_mul, x, y, NULL, type_text(f, "2x3x4", 2)));
		for (int round = 0; round < ROUNDS; round++) {
			double *a = some_codes(wide, N), *b = some_codes(wide, REPEAT), want[N];

			for (int i = 0; i < N; i++)
				want[i] = result(f, QN_OP_mul, a[i], b[i % REPEAT]);
			near(want, run((const double *[]){a, b}), N, 1.0);
		}
	}
}

static void
test_selection(void **state)
{
	(void)state;
	for (size_t k = 0; k < QN_COUNT(families); k++) {
		const family *f = &families[k];
		double *a = some_codes(f, N), *b = some_codes(f, N), want[N];

		for (int max = 0; max < 2; max++) {
			fresh_graph();
			qn_id x = input("x", type_text(f, "24", 0)),
			      y = input("y", type_text(f, "24", 0));
			output(op2(max ? QN_OP_maximum : QN_OP_minimum, x, y, NULL, NULL));
			for (int i = 0; i < N; i++)
				want[i] = (a[i] > b[i]) == (max != 0) ? a[i] : b[i];
			near(want, run((const double *[]){a, b}), N, 0.0);
		}
		fresh_graph();
		qn_id x = input("x", type_text(f, "24", 0)), y = input("y", type_text(f, "24", 0));
		output(op2(QN_OP_less, x, y, NULL, NULL));
		b[3] = a[3];
		for (int i = 0; i < N; i++)
			want[i] = a[i] < b[i];
		near(want, run((const double *[]){a, b}), N, 0.0);
		/* Different scales: codes whose values are well apart. */
		fresh_graph();
		x = input("x", type_text(f, "24", 0));
		y = input("y", type_text(f, "24", 1));
		output(op2(QN_OP_greater, x, y, NULL, NULL));
		double *have = run((const double *[]){a, b});
		for (int i = 0; i < N; i++) {
			double u = value(f, 0, a[i]), v = value(f, 1, b[i]);

			if (fabs(u - v) > f->scale[0])
				assert_true(have[i] == (u > v));
		}
	}
}

static void
test_bilinear(void **state)
{
	(void)state;
	for (size_t k = 0; k < QN_COUNT(families); k++) {
		const family *f = &families[k];
		const qn_attrs at = {
			.resize = {.size = {3, 1}, .mode = QN_COORDINATES_align_corners}};
		double *x = some_codes(f, 4), want[6];

		/* 2x1 pixels of 2 channels to 3x1: the middle one is the mean. */
		fresh_graph();
		output(op1(QN_OP_resize_bilinear, input("x", type_text(f, "1x2x1x2", 0)), &at,
			   NULL));
		for (int c = 0; c < 2; c++) {
			double mean = (x[c] + x[2 + c]) / 2;

			want[c] = x[c];
			want[4 + c] = x[2 + c];
			want[2 + c] = mean < 0 ? -floor(0.5 - mean) : floor(mean + 0.5);
		}
		near(want, run1(x), 6, 0.0);
	}
}

static void
test_refused(void **state)
{
	(void)state;
	qn_id x = input("x", "tensor<4x!quant.uniform<i16:f32, 0.1:3>>");
	output(op2(QN_OP_add, x, x, NULL, "tensor<4x!quant.uniform<i16:f32, 0.1>>"));
	refused("int.unsupported", "zero point 0");
	fresh_graph();
	x = input("x", "tensor<4x!quant.uniform<i16:f32, 0.1>>");
	qn_id y = input("y", "tensor<4x!quant.uniform<i8:f32, 0.1>>");
	output(op2(QN_OP_mul, x, y, NULL, "tensor<4x!quant.uniform<i16:f32, 0.1>>"));
	refused("int.unsupported", "different storage");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_arithmetic, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_narrow_product, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_selection, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_bilinear, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
