/* SPDX-License-Identifier: Apache-2.0 */
/* test_runtime_float.c - float forms beside products against references in double that are written another way: one loop over the output,
 * indices by division. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/fixed.h"
#include "runtime/impl_util.h"
#include "runtime/impls.h"

/* Element of an operand of the given dims that stands at position i of [2,3,4,5]. */
static int64_t
broadcast_index(const int64_t *dim, int64_t i)
{
	const int64_t out[4] = {2, 3, 4, 5};
	int64_t index = 0, step = 1;

	for (int k = 3; k >= 0; k--) {
		index += i % out[k] % dim[k] * step;
		step *= dim[k];
		i /= out[k];
	}
	return index;
}

static void
check_broadcast(const char *tx, const char *ty, const int64_t *dx, const int64_t *dy, qn_op kind)
{
	double *x = reals(120), *y = reals(120), want[120];

	fresh_graph();
	qn_id a = input("x", tx), b = input("y", ty);
	output(op2(kind, a, b, NULL, NULL));
	for (int64_t i = 0; i < 120; i++) {
		float u = (float)x[broadcast_index(dx, i)], v = (float)y[broadcast_index(dy, i)];

		want[i] = (double)(kind == QN_OP_mul ? u * v : u + v);
	}
	near(want, run((const double *[]){x, y}), 120, 0.0);
}

static void
test_broadcast(void **state)
{
	const int64_t full[4] = {2, 3, 4, 5}, row[4] = {1, 1, 1, 5}, cross[4] = {2, 1, 4, 1};
	const int64_t mid[4] = {1, 3, 1, 5};

	(void)state;
	for (int i = 0; i < 2; i++) {
		qn_op kind = i == 0 ? QN_OP_add : QN_OP_mul;

		check_broadcast("tensor<2x3x4x5xf32>", "tensor<2x3x4x5xf32>", full, full, kind);
		check_broadcast("tensor<2x3x4x5xf32>", "tensor<5xf32>", full, row, kind);
		check_broadcast("tensor<2x1x4x1xf32>", "tensor<3x1x5xf32>", cross, mid, kind);
	}
	check_broadcast("tensor<2x3x4x5xf32>", "tensor<5xf32>", full, row, QN_OP_bias_add);
}

static void
test_norm(void **state)
{
	double *x = reals(4 * 6), *p = reals(4 * 6), want[24];
	qn_id in[5];

	(void)state;
	for (int i = 0; i < 6; i++)
		p[18 + i] = fabs(p[18 + i]);
	in[0] = input("x", "tensor<1x2x2x6xf32>");
	for (int i = 1; i < 5; i++)
		in[i] = constant(NULL, "tensor<6xf32>", p + (i - 1) * 6);
	qn_attrs a = {.batch_norm = {.epsilon = 1e-3}};
	output(op(QN_OP_batch_norm, 5, in, &a, NULL));
	for (int i = 0; i < 24; i++) {
		int c = i % 6;

		want[i] = (x[i] - p[12 + c]) / sqrt(p[18 + c] + 1e-3) * p[c] + p[6 + c];
	}
	near(want, run1(x), 24, 2e-4);
	/* One exact order: a value whose f32 steps are known. */
	float d = (float)sqrt((double)((float)p[18] + 1e-3f));
	float first = ((float)x[0] - (float)p[12]) / d * (float)p[0] + (float)p[6];
	assert_true((double)first == run1(x)[0]);
}

static void
test_limits(void **state)
{
	const double x[5] = {-2.0, -0.0, 1.5, 7.0, 3.0};
	const double relu[5] = {0, 0, 1.5, 7, 3}, relu6[5] = {0, 0, 1.5, 6, 3};
	const double clip[5] = {-1, 0, 1.5, 2, 2};

	(void)state;
	output(op1(QN_OP_relu, input("x", "tensor<5xf32>"), NULL, NULL));
	near(relu, run1(x), 5, 0.0);
	fresh_graph();
	output(op1(QN_OP_relu6, input("x", "tensor<5xf32>"), NULL, NULL));
	near(relu6, run1(x), 5, 0.0);
	fresh_graph();
	output(op1(QN_OP_clip, input("x", "tensor<5xf32>"),
		   attributes((qn_attrs){.clip = {.min = -1.0, .max = 2.0}}), NULL));
	near(clip, run1(x), 5, 0.0);
}

static double
window(const double *x, int oy, int ox, int c, bool mean)
{
	double sum = 0.0, most = -HUGE_VAL, n = 0.0;

	for (int k = 0; k < 9; k++) {
		int iy = oy * 2 - 1 + k / 3, ix = ox * 2 - 1 + k % 3;

		if (iy < 0 || iy >= 5 || ix < 0 || ix >= 6)
			continue;
		double v = x[(iy * 6 + ix) * 3 + c];
		sum += v;
		most = v > most ? v : most;
		n += 1.0;
	}
	return mean ? sum / n : most;
}

static void
test_pools(void **state)
{
	const qn_attrs *a = attributes((qn_attrs){.pool = {.kernel = {3, 3},
							   .stride = {2, 2},
							   .pad = {1, 1, 1, 1},
							   .dilation = {1, 1}}});
	double *x = reals(90), most[27], mean[27], global[3] = {0, 0, 0};

	(void)state;
	for (int i = 0; i < 27; i++) {
		most[i] = window(x, i / 9, i / 3 % 3, i % 3, false);
		mean[i] = window(x, i / 9, i / 3 % 3, i % 3, true);
	}
	for (int i = 0; i < 90; i++)
		global[i % 3] += x[i] / 30.0;
	output(op1(QN_OP_max_pool, input("x", "tensor<1x5x6x3xf32>"), a, NULL));
	near(most, run1(x), 27, 0.0);
	fresh_graph();
	output(op1(QN_OP_avg_pool, input("x", "tensor<1x5x6x3xf32>"), a, NULL));
	near(mean, run1(x), 27, 1e-6);
	fresh_graph();
	output(op1(QN_OP_global_avg_pool, input("x", "tensor<1x5x6x3xf32>"), NULL, NULL));
	near(global, run1(x), 3, 1e-6);
}

static void
test_softmax(void **state)
{
	double *x = reals(24), want[24];

	(void)state;
	x[5] = 80.0;
	for (int axis = 0; axis < 3; axis++) {
		const int step[3] = {12, 4, 1}, len[3] = {2, 3, 4};

		fresh_graph();
		output(op1(QN_OP_softmax, input("x", "tensor<2x3x4xf32>"),
			   attributes((qn_attrs){.axis = {.axis = axis - (axis == 2 ? 3 : 0)}}),
			   NULL));
		for (int i = 0; i < 24; i++) {
			int first = i - i / step[axis] % len[axis] * step[axis];
			double sum = 0.0;

			for (int k = 0; k < len[axis]; k++)
				sum += exp(x[first + k * step[axis]] - x[i]);
			want[i] = 1.0 / sum;
		}
		near(want, run1(x), 24, 1e-7);
	}
}

static void
test_moves(void **state)
{
	double x[24], y[6] = {100, 101, 102, 103, 104, 105}, want[120];

	(void)state;
	for (int i = 0; i < 24; i++)
		x[i] = i;
	output(op1(QN_OP_transpose, input("x", "tensor<2x3x4xf32>"),
		   attributes((qn_attrs){.perm = {.perm = {3, {2, 0, 1}}}}), NULL));
	for (int i = 0; i < 24; i++)
		want[i] = x[i / 3 % 2 * 12 + i % 3 * 4 + i / 6];
	near(want, run1(x), 24, 0.0);
	fresh_graph();
	qn_id a = input("x", "tensor<2x3x4xf32>"), b = input("y", "tensor<2x3x1xf32>");
	output(op2(QN_OP_concat, b, a, attributes((qn_attrs){.axis = {.axis = -1}}), NULL));
	for (int i = 0; i < 30; i++)
		want[i] = i % 5 == 0 ? y[i / 5] : x[i / 5 * 4 + i % 5 - 1];
	near(want, run((const double *[]){x, y}), 30, 0.0);
	fresh_graph();
	output(op1(QN_OP_pad, input("x", "tensor<2x3x4xf32>"),
		   attributes((qn_attrs){.pad = {.before = {3, {0, 1, 0}},
						 .after = {3, {1, 0, 1}},
						 .value = -2.5,
						 .code = INT32_MIN}}),
		   NULL));
	for (int i = 0; i < 60; i++) {
		int p = i / 20, q = i / 5 % 4, s = i % 5;
		bool inside = p < 2 && q > 0 && s < 4;

		want[i] = inside ? x[p * 12 + (q - 1) * 4 + s] : -2.5;
	}
	near(want, run1(x), 60, 0.0);
	fresh_graph();
	output(op1(QN_OP_flatten,
		   op1(QN_OP_reshape, input("x", "tensor<2x3x4xf32>"),
		       attributes((qn_attrs){.shape = {.shape = {3, {4, 1, -1}}}}), NULL),
		   NULL, NULL));
	near(x, run1(x), 24, 0.0);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_norm),  T(test_broadcast), T(test_limits),
		T(test_pools), T(test_moves),     T(test_softmax),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
