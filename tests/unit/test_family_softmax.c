/* SPDX-License-Identifier: Apache-2.0 */
/* test_family_softmax.c - softmax and log_softmax on u8 and i16 codes: u8 gives i8's codes moved by 128;
 * i16 is compared with real arithmetic. */
#include "tests/unit/run_util.h"

#include <math.h>

enum { ROWS = 40, DEPTH = 7, N = ROWS * DEPTH };

static const char *
matrix(const char *storage, const char *params)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "tensor<%dx%dx!quant.uniform<%s:f32, %s>>", (int)ROWS, (int)DEPTH, storage,
		params);
	return qn_buf_str(&b);
}

static double *
run_op(qn_op op, const char *in, const char *out, const double *x)
{
	fresh_graph();
	output(op1(op, input("x", in), NULL, out));
	return run1(x);
}

static void
test_u8(void **state)
{
	static const struct {
		qn_op op;
		const char *i8, *u8;
	} rows[] = {
		{QN_OP_softmax, "0.00390625:-128", "0.00390625:0"},
		{QN_OP_log_softmax, "0.0625:127", "0.0625:255"},
	};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(rows); k++) {
		double *x = codes(N, -128, 127), *y = QN_NEW(&rg->arena, double, N);

		for (int i = 0; i < N; i++)
			y[i] = x[i] + 128;
		double *want =
			run_op(rows[k].op, matrix("i8", "0.05:3"), matrix("i8", rows[k].i8), x);
		double *have =
			run_op(rows[k].op, matrix("u8", "0.05:131"), matrix("u8", rows[k].u8), y);
		for (int i = 0; i < N; i++)
			want[i] += 128;
		near(want, have, N, 0.0);
	}
}

static void
reference(const double *x, double scale, bool log_form, double out, double *want)
{
	for (int r = 0; r < ROWS; r++) {
		double top = -1e9, sum = 0;

		for (int i = 0; i < DEPTH; i++)
			top = fmax(top, x[r * DEPTH + i] * scale);
		for (int i = 0; i < DEPTH; i++)
			sum += exp(x[r * DEPTH + i] * scale - top);
		for (int i = 0; i < DEPTH; i++) {
			double d = x[r * DEPTH + i] * scale - top;
			double y = (log_form ? d - log(sum) : exp(d) / sum) / out;

			want[r * DEPTH + i] = fmin(fmax(y, -32768), 32767);
		}
	}
}

/* Scales at which rows are flat, usual, and one element takes all. */
static void
test_i16(void **state)
{
	static const char *const scales[] = {"1.0e-5", "2.0e-4", "0.01"};
	double want[N];

	(void)state;
	for (size_t k = 0; k < QN_COUNT(scales); k++) {
		double *x = codes(N, -32768, 32767);
		double scale = (double)(float)strtod(scales[k], NULL);

		x[0] = 32767;
		x[1] = -32768;
		reference(x, scale, false, 0x1p-15, want);
		/* TFLite's table has 2 where e^-10 is 1.49, and sums DEPTH of them; what was quantized here has 0 */
		for (int here = 0; here < 2; here++) {
			rg->m.quantized_here = here != 0;
			near(want,
			     run_op(QN_OP_softmax, matrix("i16", scales[k]),
				    matrix("i16", "3.0517578125e-05"), x),
			     N, here != 0 ? 4.0 : 16.0);
		}
		reference(x, scale, true, 0x1p-11, want);
		near(want,
		     run_op(QN_OP_log_softmax, matrix("i16", scales[k]),
			    matrix("i16", "4.8828125e-04"), x),
		     N, 1.0);
		reference(x, scale, true, 0.0211, want);
		near(want,
		     run_op(QN_OP_log_softmax, matrix("i16", scales[k]), matrix("i16", "0.0211"),
			    x),
		     N, 1.0);
	}
}

/* Results of 8 bits with parameters of their own: within one code of real arithmetic, rows that are flat, usual, and
 * where one element takes all; log_softmax beyond -16 too. */
static void
test_any(void **state)
{
	static const struct {
		const char *in, *out;
		double scale, step, zp;
		bool log_form;
	} rows[] = {
		{"0.001:3", "0.0039:0", 0.001, 0.0039, 0, false},
		{"0.05:131", "0.0011:7", 0.05, 0.0011, 7, false},
		{"1.5:131", "0.004:100", 1.5, 0.004, 100, false},
		{"0.001:3", "0.009:255", 0.001, 0.009, 255, true},
		{"0.05:131", "0.11:250", 0.05, 0.11, 250, true},
		{"1.5:131", "1.6:255", 1.5, 1.6, 255, true},
	};
	double want[N];

	(void)state;
	for (size_t k = 0; k < QN_COUNT(rows); k++) {
		double *x = codes(N, 0, 255);

		reference(x, (double)(float)rows[k].scale, rows[k].log_form, rows[k].step, want);
		for (int i = 0; i < N; i++)
			want[i] = fmin(fmax(rint(want[i]) + rows[k].zp, 0), 255);
		near(want,
		     run_op(rows[k].log_form ? QN_OP_log_softmax : QN_OP_softmax,
			    matrix("u8", rows[k].in), matrix("u8", rows[k].out), x),
		     N, 1.0);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_u8, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_i16, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_any, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
