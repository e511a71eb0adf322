/* SPDX-License-Identifier: Apache-2.0 */
/* test_binary.c - sub, div, minimum, maximum, comparisons, where and cast, in both forms.  Codes are
 * compared with real arithmetic on the dequantized codes: within one code where the kernel rounds
 * twice, exactly where it rounds once or not at all. */
#include "tests/unit/run_util.h"

#include <math.h>

#define Q(shape, params) "tensor<" shape "x!quant.uniform<i8:f32, " params ">>"

/* The code of v: nearest, ties away from zero, limited to i8. */
static double
code(double v, double scale, double zp)
{
	double q = v / scale;

	q = (q < 0 ? -floor(0.5 - q) : floor(q + 0.5)) + zp;
	return q < -128 ? -128 : q > 127 ? 127 : q;
}

static const qn_op comparisons[] = {QN_OP_equal,      QN_OP_not_equal, QN_OP_less,
				    QN_OP_less_equal, QN_OP_greater,   QN_OP_greater_equal};

static bool
holds(qn_op op, double x, double y)
{
	switch ((int)op) {
	case QN_OP_equal:
		return x == y;
	case QN_OP_not_equal:
		return x != y;
	case QN_OP_less:
		return x < y;
	case QN_OP_less_equal:
		return x <= y;
	case QN_OP_greater:
		return x > y;
	default:
		return x >= y;
	}
}

static void
test_real(void **state)
{
	double *x = reals(24), *y = reals(4), want[24];
	const qn_op ops[] = {QN_OP_sub, QN_OP_div, QN_OP_minimum, QN_OP_maximum};

	(void)state;
	x[5] = y[1]; /* one pair of equals */
	for (size_t k = 0; k < QN_COUNT(ops); k++) {
		for (int i = 0; i < 24; i++) {
			float u = (float)x[i], v = (float)y[i % 4];

			want[i] = (double)(k == 0   ? u - v
					   : k == 1 ? u / v
					   : k == 2 ? (v < u ? v : u)
						    : (v > u ? v : u));
		}
		fresh_graph();
		qn_id a = input("x", "tensor<2x3x4xf32>"), b = input("y", "tensor<4xf32>");
		output(op2(ops[k], a, b, NULL, NULL));
		near(want, run((const double *[]){x, y}), 24, 0.0);
	}
	for (size_t k = 0; k < QN_COUNT(comparisons); k++) {
		for (int i = 0; i < 24; i++)
			want[i] = holds(comparisons[k], x[i], y[i % 4]);
		fresh_graph();
		qn_id a = input("x", "tensor<2x3x4xf32>"), b = input("y", "tensor<4xf32>");
		output(op2(comparisons[k], a, b, NULL, NULL));
		near(want, run((const double *[]){x, y}), 24, 0.0);
	}
}

/* NaN equals nothing, differs from everything. */
static void
test_nan(void **state)
{
	const double x = (double)NAN, y = 1.0;

	(void)state;
	for (size_t k = 0; k < QN_COUNT(comparisons); k++) {
		fresh_graph();
		qn_id a = input("x", "tensor<1xf32>"), b = input("y", "tensor<1xf32>");
		output(op2(comparisons[k], a, b, NULL, NULL));
		assert_true(run((const double *[]){&x, &y})[0] ==
			    (comparisons[k] == QN_OP_not_equal ? 1.0 : 0.0));
	}
}

static void
test_sub_div_codes(void **state)
{
	double *x = codes(24, -128, 127), *y = codes(4, -128, 127), diff[24], ratio[24];

	(void)state;
	y[2] = -7; /* real 0 */
	x[2] = 3;
	for (int i = 0; i < 24; i++) {
		double u = (x[i] - 3) * 0.02, v = (y[i % 4] + 7) * 0.05;

		diff[i] = code(u - v, 0.06, -1);
		ratio[i] = i % 4 != 2 ? code(u / v, 0.03, -1) : u > 0 ? 127 : u < 0 ? -128 : -1;
	}
	for (int32_t mode = 0; mode < 3; mode++) {
		rg->m.rounding = mode;
		for (int k = 0; k < 2; k++) {
			fresh_graph();
			qn_id a = input("x", Q("2x3x4", "0.02:3"));
			qn_id b = input("y", Q("4", "0.05:-7"));
			output(op2(k == 0 ? QN_OP_sub : QN_OP_div, a, b, NULL,
				   k == 0 ? Q("2x3x4", "0.06:-1") : Q("2x3x4", "0.03:-1")));
			near(k == 0 ? diff : ratio, run((const double *[]){x, y}), 24, 1.0);
		}
	}
}

/* With scales that are powers of two the quotient is exact, and so is its rounding. */
static void
test_div_exact(void **state)
{
	double x[255], y[255], want[255];

	(void)state;
	for (int d = -128; d < 128; d++) {
		for (int i = 0; i < 255; i++) {
			x[i] = i - 127;
			y[i] = d;
			want[i] = d != 0     ? code(x[i] / d, 0.125, 5)
				  : x[i] > 0 ? 127
				  : x[i] < 0 ? -128
					     : 5;
		}
		fresh_graph();
		qn_id a = input("x", Q("255", "0.25")), b = input("y", Q("255", "0.25"));
		output(op2(QN_OP_div, a, b, NULL, Q("255", "0.125:5")));
		near(want, run((const double *[]){x, y}), 255, 0.0);
	}
	/* A result scale so large that all quotients round to 0. */
	fresh_graph();
	qn_id a = input("x", Q("255", "1.0")), b = input("y", Q("255", "1.0"));
	output(op2(QN_OP_div, a, b, NULL, Q("255", "1.0e9:5")));
	for (int i = 0; i < 255; i++) {
		y[i] = i % 2 ? 100 : -3;
		want[i] = 5;
	}
	near(want, run((const double *[]){x, y}), 255, 0.0);
}

static void
test_minmax_codes(void **state)
{
	double *x = codes(12, -128, 127), *y = codes(3, -128, 127), low[12], high[12];

	(void)state;
	for (int i = 0; i < 12; i++) {
		low[i] = fmin(x[i], y[i / 4]);
		high[i] = fmax(x[i], y[i / 4]);
	}
	for (int k = 0; k < 2; k++) {
		fresh_graph();
		qn_id a = input("x", Q("3x4", "0.02:3")), b = input("y", Q("3x1", "0.02:3"));
		output(op2(k == 0 ? QN_OP_minimum : QN_OP_maximum, a, b, NULL, NULL));
		near(k == 0 ? low : high, run((const double *[]){x, y}), 12, 0.0);
	}
}

/* All pairs of codes; scales that are equal or a power of two apart compare exactly. */
static void
test_compare_codes(void **state)
{
	static const struct {
		const char *x, *y;
		double sx, zx, sy, zy;
	} row[] = {
		{Q("256x1", "0.1:7"), Q("256", "0.1:-20"), 1, 7, 1, -20},
		{Q("256x1", "0.4:7"), Q("256", "0.1:-20"), 4, 7, 1, -20},
		{Q("256x1", "0.01"), Q("256", "0.32:3"), 1, 0, 32, 3},
	};
	enum { N = 65536 };
	double x[256], *want = reals(N);

	(void)state;
	for (int i = 0; i < 256; i++)
		x[i] = i - 128;
	for (size_t r = 0; r < QN_COUNT(row); r++) {
		for (size_t k = 0; k < QN_COUNT(comparisons); k++) {
			for (int i = 0; i < N; i++)
				want[i] =
					holds(comparisons[k], (x[i / 256] - row[r].zx) * row[r].sx,
					      (x[i % 256] - row[r].zy) * row[r].sy);
			fresh_graph();
			qn_id a = input("x", row[r].x), b = input("y", row[r].y);
			output(op2(comparisons[k], a, b, NULL, NULL));
			near(want, run((const double *[]){x, x}), N, 0.0);
		}
	}
}

static void
test_where(void **state)
{
	const double c[2] = {1, 0};
	double *x = codes(6, -100, 100), *y = codes(3, -100, 100), want[6];
	const char *const type[3][2] = {{"tensor<2x3xf32>", "tensor<3xf32>"},
					{Q("2x3", "0.1:3"), Q("3", "0.1:3")},
					{"tensor<2x3xi32>", "tensor<3xi32>"}};

	(void)state;
	for (int i = 0; i < 6; i++)
		want[i] = c[i / 3] != 0 ? x[i] : y[i % 3];
	for (int k = 0; k < 3; k++) {
		fresh_graph();
		qn_id in[3] = {input("c", "tensor<2x1xbool>"), input("x", type[k][0]),
			       input("y", type[k][1])};
		output(op(QN_OP_where, 3, in, NULL, NULL));
		near(want, run((const double *[]){c, x, y}), 6, 0.0);
	}
	/* Every axis apart: the condition repeats along those that x has. */
	double *wide = codes(16, 0, 100), gate[4] = {0, 1, 1, 0}, all[64], none = -1;
	for (int i = 0; i < 64; i++)
		all[i] = gate[(i >> 5 & 1) * 2 + (i >> 1 & 1)] != 0
				 ? wide[(i >> 4 & 1) * 8 + (i >> 3 & 1) * 4 + (i >> 2 & 1) * 2 +
					(i & 1)]
				 : none;
	fresh_graph();
	qn_id in[3] = {input("c", "tensor<2x1x1x1x2x1xbool>"), input("x", "tensor<1x2x2x2x1x2xi8>"),
		       input("y", "tensor<i8>")};
	output(op(QN_OP_where, 3, in, NULL, NULL));
	near(all, run((const double *[]){gate, wide, &none}), 64, 0.0);
}

static void
cast_once(const char *from, const char *to, double x, double want)
{
	fresh_graph();
	output(op1(QN_OP_cast, input("x", from), NULL, to));
	double have = run1(&x)[0];
	if (have != want)
		fail_msg("%g from %s to %s: %g, not %g", x, from, to, have, want);
}

static void
test_cast(void **state)
{
	(void)state;
	cast_once("tensor<1xf32>", "tensor<1xi8>", 1.9, 1);
	cast_once("tensor<1xf32>", "tensor<1xi8>", -1.9, -1);
	cast_once("tensor<1xf32>", "tensor<1xi8>", 300, 127);
	cast_once("tensor<1xf32>", "tensor<1xi8>", -128.75, -128);
	cast_once("tensor<1xf32>", "tensor<1xi8>", -1e30, -128);
	cast_once("tensor<1xf32>", "tensor<1xu8>", -1, 0);
	cast_once("tensor<1xf32>", "tensor<1xu8>", -0.5, 0);
	cast_once("tensor<1xf32>", "tensor<1xi32>", 3e9, 2147483647);
	cast_once("tensor<1xf32>", "tensor<1xi64>", -1e30, -0x1p63);
	cast_once("tensor<1xf32>", "tensor<1xi32>", (double)NAN, 0);
	cast_once("tensor<1xf32>", "tensor<1xbool>", (double)NAN, 1);
	cast_once("tensor<1xf32>", "tensor<1xbool>", -0.0, 0);
	cast_once("tensor<1xf32>", "tensor<1xbool>", 0.25, 1);
	cast_once("tensor<1xf32>", "tensor<1xf32>", 0.25, 0.25);
	cast_once("tensor<1xbool>", "tensor<1xf32>", 1, 1);
	cast_once("tensor<1xi32>", "tensor<1xf32>", 16777217, 16777216);
	cast_once("tensor<1xi32>", "tensor<1xi8>", 300, 44);
	cast_once("tensor<1xi32>", "tensor<1xbool>", 256, 1);
	cast_once("tensor<1xi8>", "tensor<1xu16>", -1, 65535);
	cast_once("tensor<1xi8>", "tensor<1xi64>", -5, -5);
	cast_once("tensor<1xi16>", "tensor<1xi32>", -300, -300);
	cast_once("tensor<1xu8>", "tensor<1xi8>", 200, -56);
	cast_once("tensor<1xi64>", "tensor<1xi16>", -70000, -4464);
	cast_once("tensor<1xi4>", "tensor<1xi8>", -5, -5);
	cast_once("tensor<1xi32>", "tensor<1xi4>", 13, -3);
	cast_once("tensor<1xf32>", "tensor<1xf16>", 0.5, 0.5);
}

static void
test_refusals(void **state)
{
	(void)state;
	qn_id x = input("x", "tensor<4x!quant.uniform<u16:f32, 0.1>>");
	output(op2(QN_OP_less, x, x, NULL, NULL));
	refused("int.unsupported", "less, node 'less_1', only storage i8, u8 and i16");
	fresh_graph();
	x = input("x", Q("4", "1.0e9"));
	output(op2(QN_OP_div, x, input("y", Q("4", "1.0e-9")), NULL, Q("4", "1.0")));
	refused("int.multiplier", "quotient of scales");
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_real),          T(test_nan),          T(test_sub_div_codes),
		T(test_div_exact),     T(test_minmax_codes), T(test_where),
		T(test_compare_codes), T(test_cast),         T(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
