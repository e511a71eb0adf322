/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_add.c - add and mul in integers, with operands that broadcast, against real arithmetic. */
#include "tests/unit/kernels_tables.h"

/* Multipliers of an addition: TFLite PrepareGeneralAddOrSub, left shift 20. */
static qn_add_args
add_args(double sx, double sy, double so)
{
	qn_add_args a = {{1, 1, 1, 1},
			 {0, 0, 0, 1},
			 {0, 0, 0, 1},
			 0,
			 0,
			 0,
			 -128,
			 127,
			 20,
			 0,
			 0,
			 0,
			 0,
			 0,
			 0,
			 QN_RQ_DOUBLE,
			 0};
	double twice = 2.0 * (sx > sy ? sx : sy);

	multiplier(sx / twice, &a.mx, &a.shx);
	multiplier(sy / twice, &a.my, &a.shy);
	multiplier(twice / (1048576.0 * so), &a.mo, &a.sho);
	return a;
}

static void
test_add_table(void **state)
{
	static const struct {
		int8_t x, y;
		double sx, sy, so;
		int8_t zx, zy, zo, sub, out;
	} row[] = {
		{10, 20, 0.5, 0.25, 0.5, 0, 0, 0, 0, 20},
		{10, -20, 0.1, 0.05, 0.08, 3, -5, 1, 0, 0},
		{127, 127, 0.1, 0.1, 0.1, 0, 0, 0, 0, 127},
		{-128, -128, 0.02, 0.03, 0.05, -128, -128, -128, 0, -128},
		{10, 20, 0.5, 0.25, 0.5, 0, 0, 0, 1, 0},
		{-128, 127, 0.1, 0.1, 0.1, 0, 0, 0, 1, -128},
	};
	(void)state;

	for (size_t i = 0; i < COUNT(row); i++) {
		qn_add_args a = add_args(row[i].sx, row[i].sy, row[i].so);
		int8_t z;

		a.zx = row[i].zx, a.zy = row[i].zy, a.zo = row[i].zo, a.sub = row[i].sub;
		qn_add_s8(&a, &row[i].x, &row[i].y, &z);
		assert_int_equal(z, row[i].out);
	}
}

/* Every pair of codes is within one of the real result, for each rounding. */
static void
test_add_mul_real(void **state)
{
	qn_add_args a = add_args(0.031, 0.017, 0.045);
	qn_mul_args m = {{1, 1, 1, 1}, {0}, {0}, 9, -20, 3, -128, 127, 0, 0, 0};
	(void)state;

	a.zx = 9, a.zy = -20, a.zo = 3;
	multiplier(0.031 * 0.017 / 0.021, &m.m, &m.sh);
	for (a.mode = QN_RQ_DOUBLE; a.mode <= QN_RQ_EVEN; a.mode++) {
		m.mode = a.mode;
		for (int32_t x = -128; x < 128; x++) {
			for (int32_t y = -128; y < 128; y++) {
				double sum = ((x - 9) * 0.031 + (y + 20) * 0.017) / 0.045 + 3;
				double product = (x - 9) * 0.031 * ((y + 20) * 0.017) / 0.021 + 3;
				double e = sum < -128 || sum > 127 ? 0 : sum - qn_add_one(&a, x, y);
				double f = product < -128 || product > 127
						   ? 0
						   : product - qn_mul_one(&m, x, y);

				assert_true(e > -0.76 && e < 0.76 && f > -0.76 && f < 0.76);
			}
		}
	}
}

static void
test_broadcast(void **state)
{
	(void)state;

	for (int round = 0; round < 200; round++) {
		qn_add_args a = add_args(0.1, 0.2, 0.15);
		qn_mul_args m = {{0}, {0}, {0}, 3, -4, 5, -128, 127, 1717986918, -5, 0};
		int32_t n, nx = 1, ny = 1, at[4] = {0};
		int8_t *x, *y, sum[256], product[256];

		a.zx = 3, a.zy = -4, a.zo = 5, a.mode = m.mode = pick(0, 2);
		for (int i = 3; i >= 0; i--) {
			a.dim[i] = m.dim[i] = pick(1, 4);
			a.xs[i] = m.xs[i] = pick(0, 3) ? nx : 0;
			a.ys[i] = m.ys[i] = pick(0, 3) ? ny : 0;
			nx *= a.xs[i] != 0 ? a.dim[i] : 1, ny *= a.ys[i] != 0 ? a.dim[i] : 1;
		}
		n = qn_count(a.dim, 4);
		x = codes(nx, -128), y = codes(ny, -128);
		qn_add_s8(&a, x, y, sum);
		qn_mul_s8(&m, x, y, product);
		for (int32_t i = 0; i < n; i++, qn_next_index(a.dim, 4, at)) {
			int32_t p = 0, q = 0;

			for (int k = 0; k < 4; k++)
				p += at[k] * a.xs[k], q += at[k] * a.ys[k];
			assert_int_equal(sum[i], qn_add_one(&a, x[p], y[q]));
			assert_int_equal(product[i], code((x[p] - 3) * (y[q] + 4), m.m, m.sh, 5,
							  -128, 127, m.mode));
		}
		if (nx == n) {
			qn_add_s8(&a, x, y, x);
			assert_memory_equal(x, sum, (size_t)n);
		} else if (ny == n) {
			qn_mul_s8(&m, x, y, y);
			assert_memory_equal(y, product, (size_t)n);
		}
		free(x), free(y);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_table),
		cmocka_unit_test(test_add_mul_real),
		cmocka_unit_test(test_broadcast),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
