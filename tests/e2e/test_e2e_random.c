/* SPDX-License-Identifier: Apache-2.0 */
/* Random integer graphs, emitted, compiled and run, against the interpreter: every step and every
 * output, byte for byte, on inputs that reach the least and the largest code.  In some of the graphs
 * each op has a storage of its own, as recipes give them, or sums of aligned scales; weights have a scale for each
 * block, channel or tensor, and some values one for each channel.  They are emitted for one target after the other.
 *
 * 20 graphs become one program, which is built at -O0 with UBSan and at -O3.  The quick tier takes
 * 60 seeds out of 300; QUERN_FULL=1 takes all, QUERN_SEED=17 takes one, QUERN_SEED=301-900 these.  A
 * failure names the seed and the step. */
#include "tests/e2e/batch.h"

#include "tests/e2e/random_graph.h"

enum { SEEDS = 300 };

static void
add_graph(batch *t, uint64_t seed)
{
	builder b;

	random_graph_build(&b, seed);
	batch_add(t, &b, seed);
	build_end(&b);
}

/* Every op with an integer form stands in one of the graphs; in the quick tier's sample most do. */
static void
check_seen(const bool *seen, bool sample)
{
	/* clang-format off */
	static const qn_op ops[] = {
		QN_OP_conv2d, QN_OP_dense, QN_OP_requantize, QN_OP_add, QN_OP_mul,
		/* view, split, gather, resize */
		QN_OP_squeeze, QN_OP_expand_dims, QN_OP_slice, QN_OP_expand, QN_OP_tile,
		QN_OP_depth_to_space, QN_OP_space_to_depth, QN_OP_gather, QN_OP_resize_nearest,
		QN_OP_resize_bilinear,
		QN_OP_bias_add, QN_OP_clamp, QN_OP_max_pool, QN_OP_avg_pool,
		QN_OP_global_avg_pool, QN_OP_softmax, QN_OP_reshape, QN_OP_flatten,
		QN_OP_transpose, QN_OP_concat, QN_OP_pad, QN_OP_scast, QN_OP_trace, QN_OP_relu, QN_OP_relu6,
		QN_OP_clip, QN_OP_pow, QN_OP_prelu,
		/* A cast stands behind one of the comparisons, which are one kernel. */
		QN_OP_sub, QN_OP_minimum, QN_OP_maximum, QN_OP_div, QN_OP_where, QN_OP_cast,
		QN_OP_squared_difference, QN_OP_logical_and, QN_OP_logical_or, QN_OP_logical_xor, QN_OP_logical_not,
		QN_OP_argmin, QN_OP_cumsum, QN_OP_gather_elements, QN_OP_gather_nd,
		QN_OP_scatter_elements, QN_OP_scatter_nd, QN_OP_one_hot, QN_OP_trilu, QN_OP_reverse, QN_OP_top_k,
		QN_OP_l2_norm, QN_OP_rms_norm, QN_OP_conv3d, QN_OP_max_pool3d, QN_OP_avg_pool3d,
		QN_OP_matmul, QN_OP_conv1d, QN_OP_conv2d_transpose,
		QN_OP_loop, QN_OP_loop_slice, QN_OP_loop_carry, QN_OP_loop_end, QN_OP_loop_stack, QN_OP_loop_last,
	};
	/* clang-format on */
	size_t i, missing = 0;

	for (i = 0; i < QN_COUNT(ops); i++) {
		if (seen[ops[i]])
			continue;
		missing++;
		print_message("no graph holds %s\n", qn_opinfo_get(ops[i])->name);
	}
	assert_true(missing <= (sample ? QN_COUNT(ops) / 8 : 0));
}

static bool
is_set(const char *name, const char *value)
{
	const char *v = getenv(name);

	return v != NULL && strcmp(v, value) == 0;
}

static void
random_graphs(void **state)
{
	uint64_t seed[SEEDS];
	bool seen[QN_NOP] = {false};
	size_t n = 0, i;

	(void)state;
	if (getenv("QUERN_SEED") != NULL) {
		batch_range(add_graph, getenv("QUERN_SEED"), seen);
		return;
	}
	for (i = 0; i < SEEDS; i++) /* one of each five, not always at the same place */
		if (is_set("QUERN_FULL", "1") || i % 5 == i / 5 * 3 % 5)
			seed[n++] = i + 1;
	batch_run(add_graph, seed, n, seen);
	check_seen(seen, !is_set("QUERN_FULL", "1"));
}

/* The same seed gives the same graph: a failure can be run again. */
static void
same_graph(void **state)
{
	uint64_t seed;

	(void)state;
	for (seed = 1; seed <= 10; seed++) {
		builder a, b;

		random_graph_build(&a, seed);
		random_graph_build(&b, seed);
		assert_true(qn_graph_equal(a.g, b.g));
		build_end(&b);
		random_graph_build(&b, seed + 1);
		assert_false(qn_graph_equal(a.g, b.g));
		build_end(&b);
		build_end(&a);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_graph),
		cmocka_unit_test(random_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
