/* SPDX-License-Identifier: Apache-2.0 */
/* test_kernels_pool_blocks.c - pools of blocks of channels, over vectors and with the DSP extension, on the definitions
 * in C, against the interpreter: graphs of one pool are planned for a target that has them. */
#include "runtime/kernels/pool_dsp.h"
#include "runtime/kernels/vector_pool.h"
#include "tests/unit/layer_rig.h"

static bool
call(const char *name, const qn_step *s, const int8_t *const *x, void *work, int8_t *y)
{
	static const struct {
		const char *name;
		void (*pool)(const qn_pool_args *, const int8_t *, int8_t *);
	} rows[] = {
		{"qn_max_pool_vector", qn_max_pool_vector},
		{"qn_avg_pool_vector", qn_avg_pool_vector},
		{"qn_max_pool_dsp", qn_max_pool_dsp},
		{"qn_avg_pool_dsp", qn_avg_pool_dsp},
	};

	(void)work;
	for (size_t i = 0; i < COUNT(rows); i++)
		if (strcmp(name, rows[i].name) == 0) {
			rows[i].pool(s->args, x[0], y);
			return true;
		}
	return false;
}

/* A pool of at least `channels` channels; the function that it is planned with. */
static const char *
check_pool(builder *b, qn_op op, const char *target, int channels)
{
	qn_attrs a = build_attrs(op);
	const int h = pick(1, 9), w = pick(0, 9) == 0 ? pick(250, 260) : pick(1, 9);

	a.pool.kernel[0] = pick(1, h);
	a.pool.kernel[1] = w > 9 ? w : pick(1, w);
	for (int i = 0; i < 2; i++) {
		a.pool.stride[i] = pick(1, 3);
		a.pool.dilation[i] = pick(0, 9) == 0 && a.pool.kernel[i] == 1 ? 2 : 1;
		a.pool.pad[2 * i] = pick(0, (int)a.pool.kernel[i] - 1);
		a.pool.pad[2 * i + 1] = pick(0, (int)a.pool.kernel[i] - 1);
	}
	qn_id x = build_input(b, "x",
			      build_printf(b, "tensor<%dx%dx%dx%dx!quant.uniform<i8:f32, 0.5:3>>",
					   pick(1, 2), h, w, pick(channels - 2, channels + 29)));
	qn_graph_output(b->g, "y", build_op(b, op, "y", IDS(x), &a, NULL));
	const int end = pick(0, 2);
	return check_step(b, target, end == 1 ? 127 : -128, end == 2 ? -128 : 127, call);
}

static void
check_pools(qn_op op, const char *target, int channels, const char *want)
{
	int reached = 0;

	for (uint64_t round = 1; round <= 200; round++) {
		builder b;

		build_begin(&b, "net", round);
		reached += strcmp(check_pool(&b, op, target, channels), want) == 0;
		build_end(&b);
	}
	assert_true(reached > 130);
}

static void
test_vectors(void **state)
{
	(void)state;
	check_pools(QN_OP_avg_pool, "cortex-m55", 8, "qn_avg_pool_vector");
	check_pools(QN_OP_max_pool, "cortex-m55", 8, "qn_max_pool_vector");
}

static void
test_dsp(void **state)
{
	(void)state;
	check_pools(QN_OP_avg_pool, "cortex-m4", 4, "qn_avg_pool_dsp");
	check_pools(QN_OP_max_pool, "cortex-m4", 8, "qn_max_pool_dsp");
}

/* The portable ones stay for windows with gaps and few channels. */
static void
test_others(void **state)
{
	(void)state;
	for (uint64_t round = 1; round <= 20; round++) {
		builder b;
		qn_attrs a = build_attrs(QN_OP_max_pool);
		const int gaps = pick(0, 1);

		build_begin(&b, "net", round);
		a.pool.kernel[0] = a.pool.kernel[1] = 2;
		a.pool.dilation[0] = a.pool.dilation[1] = 1 + gaps;
		qn_id x = build_input(&b, "x",
				      gaps ? "tensor<1x4x4x16x!quant.uniform<i8:f32, 0.5:3>>"
					   : "tensor<1x4x4x3x!quant.uniform<i8:f32, 0.5:3>>");
		qn_graph_output(b.g, "y", build_op(&b, QN_OP_max_pool, "y", IDS(x), &a, NULL));
		assert_string_equal(check_step(&b, round % 2 == 0 ? "cortex-m4" : "cortex-m55",
					       -128, 127, call),
				    "qn_max_pool_s8");
		build_end(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_dsp),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
