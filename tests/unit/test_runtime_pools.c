/* SPDX-License-Identifier: Apache-2.0 */
/* test_runtime_pools.c - pools and softmax on quantized values. */
#include "tests/unit/run_util.h"

#include "runtime/impl_args.h"
#include "runtime/impls.h"

#define Q(shape, params) "tensor<" shape "x!quant.uniform<i8:f32, " params ">>"

static void
test_pool_codes(void **state)
{
	const double x[6] = {-1, -1, -1, -2, -2, -2}, y[4] = {1, 1, 1, 2};
	const qn_attrs *a = attributes(
		(qn_attrs){.pool = {.kernel = {2, 3}, .stride = {1, 1}, .dilation = {1, 1}}});
	const qn_attrs *b = attributes((qn_attrs){.pool = {.kernel = {2, 2},
							   .stride = {1, 1},
							   .pad = {1, 0, 1, 0},
							   .dilation = {1, 1}}});
	const double corner[4] = {1, 1, 1, 2}, mean[4] = {1, 1, 1, 1};

	(void)state;
	output(op1(QN_OP_avg_pool, input("x", Q("1x2x3x1", "0.1:5")), a, NULL));
	assert_true(run1(x)[0] == -2);
	fresh_graph();
	output(op1(QN_OP_max_pool, input("x", Q("1x2x2x1", "0.1:5")), b, NULL));
	near(corner, run1(y), 4, 0.0);
	fresh_graph();
	output(op1(QN_OP_avg_pool, input("x", Q("1x2x2x1", "0.1:5")), b, NULL));
	near(mean, run1(y), 4, 0.0);
	/* TFLite's Mean: [-1, -2] of equal scales is -1, where the average pool gives -2. */
	fresh_graph();
	output(op1(QN_OP_global_avg_pool, input("x", Q("1x1x2x1", "1.0")), NULL,
		   Q("1x1x1x1", "1.0")));
	assert_true(run1((const double[]){-1, -2})[0] == -1);
	fresh_graph();
	output(op1(QN_OP_global_avg_pool, input("x", Q("1x1x5x1", "0.2:5")), NULL,
		   Q("1x1x1x1", "0.1:-3")));
	assert_true(run1((const double[]){5, 6, 7, 8, 9})[0] == 1);
}

static void
test_softmax_codes(void **state)
{
	static const struct {
		const char *in, *out;
		double x[6], want[6];
		int n;
	} row[] = {
		{Q("1x3", "0.1"), Q("1x3", "3.906250e-03:-128"), {10, 20, 30}, {-105, -65, 42}, 3},
		{Q("1x4", "0.1"), Q("1x4", "3.906250e-03:-128"), {0}, {-64, -64, -64, -64}, 4},
		{Q("1x2", "0.1"), Q("1x2", "3.906250e-03:-128"), {127, -128}, {127, -128}, 2},
		{Q("1x6", "0.05"),
		 Q("1x6", "3.906250e-03:-128"),
		 {5, -3, 8, 8, -40, 100},
		 {-126, -127, -126, -126, -128, 119},
		 6},
		{Q("1x3", "6.250000e-02"),
		 Q("1x3", "3.906250e-03:-128"),
		 {-1, 0, 1},
		 {-48, -43, -37},
		 3},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(row); i++) {
		fresh_graph();
		output(op1(QN_OP_softmax, input("x", row[i].in), NULL, row[i].out));
		near(row[i].want, run1(row[i].x), row[i].n, 0.0);
	}
}

static void
test_softmax_args(void **state)
{
	static const struct {
		const char *in;
		int32_t m, left, diff_min;
	} row[] = {
		{Q("1x3", "0.1"), 1717986918, 23, -248},
		{Q("1x3", "0.05"), 1717986918, 22, -496},
		{Q("1x3", "6.250000e-02"), 1073741824, 23, -248},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(row); i++) {
		fresh_graph();
		qn_id y = op1(QN_OP_softmax, input("x", row[i].in), NULL,
			      Q("1x3", "3.906250e-03:-128"));
		const qn_softmax_args *a =
			qn_int_impl_get(QN_OP_softmax)
				->prepare(rg->g, qn_graph_node(rg->g, y), &rg->arena);

		/* The multiplier of a scale rounded to f32 has 24 bits of it right. */
		assert_true(abs(a->m - row[i].m) < 128);
		assert_int_equal(a->left, row[i].left);
		assert_int_equal(a->diff_min, row[i].diff_min);
		assert_int_equal(a->rows, 1);
		assert_int_equal(a->depth, 3);
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_pool_codes),
		T(test_softmax_codes),
		T(test_softmax_args),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
