/* SPDX-License-Identifier: Apache-2.0 */
/* test_stream.c - streamed networks through the public interface: windows, longer samples and hops as samples, mistakes.
 *
 *   y = the largest sum of two neighbours among 5 rows; a hop of 2 rows */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/formats_fixture.h"

#include "quern/host_ops.h"
#include "quern/measure.h"
#include "quern/stream.h"

static const char text[] = "model \"pairs\" stage float\n"
			   "graph @main(%x: tensor<1x5x1xf32>) {\n"
			   "  %w = const : tensor<1x2x1xf32> splat 1\n"
			   "  %c = conv1d %x, %w\n"
			   "  %y = reduce_max %c {axes=[1]}\n"
			   "  return %y\n"
			   "}\n";

static qn_model *
load(qn_ctx *ctx)
{
	qn_model *m = NULL;

	assert_int_equal(qn_file_add(ctx, "pairs.qir", text, strlen(text)), QN_OK);
	assert_int_equal(qn_load(ctx, "pairs.qir", &m), QN_OK);
	return m;
}

/* Runs n samples of `rows` rows, and looks at the results. */
static void
check_run(qn_ctx *ctx, qn_model *m, int64_t n, int64_t rows, const float *x, size_t results,
	  const float *want)
{
	qn_array *in, *out;
	const int64_t shape[3] = {n, rows, 1};

	assert_int_equal(qn_array_new(ctx, "f32", 3, shape, x, &in), QN_OK);
	assert_int_equal(qn_run(m, 1, &in, 0, 1, &out), QN_OK);
	assert_int_equal(qn_array_dim(out, 0), results);
	assert_memory_equal(qn_array_data(out), want, results * sizeof *want);
	qn_array_free(in);
	qn_array_free(out);
}

/* Two windows, a sample of 8 rows, whose last 5 count, and hops. */
static void
test_samples(void **state)
{
	static const float windows[] = {1, 2, 3, -4, -5, -1, -2, -3, -4, -5};
	static const float pair[] = {5, -3};
	static const float longer[] = {90, 90, 90, 1, 2, 3, -4, -5}, last[] = {5};
	static const float hops[] = {0, 1, 2, 3, -4, -5, 7, 0, 1, 1, 1, 1};
	static const float each[] = {1, 5, 5, 7, 7, 2};

	(void)state;
	for (int threads = 1; threads <= 2; threads++) {
		qn_ctx *ctx = qn_open(&(qn_config){.threads = threads});
		qn_model *m = load(ctx);

		check_run(ctx, m, 2, 5, windows, 2, pair);
		assert_int_equal(qn_stream(m, "axis=1,hop=2"), QN_OK);
		assert_int_equal(qn_model_describe(m).states, 2);
		assert_string_equal(qn_model_input_type(m, 0), "tensor<1x2x1xf32>");
		check_run(ctx, m, 2, 5, windows, 2, pair);
		check_run(ctx, m, 1, 8, longer, 1, last);
		qn_set_sequence(ctx, 3);
		check_run(ctx, m, 6, 2, hops, 6, each);
		qn_close(ctx);
	}
}

/* The state of x holds 1 row, that of the sums 2 of 4. */
static void
test_sizes(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = load(ctx);

	(void)state;
	assert_int_equal(qn_model_describe(m).macs, 8);
	assert_int_equal(qn_stream(m, "x:axis=1,hop=2"), QN_OK);
	assert_int_equal(qn_model_describe(m).macs, 4);
	assert_int_equal(qn_model_describe(m).state_bytes, 3 * sizeof(float));
	qn_close(ctx);
}

static void
check_id(qn_ctx *ctx, qn_status have, qn_status want, const char *id)
{
	assert_int_equal(have, want);
	assert_int_equal(qn_diag_count(ctx), 1);
	assert_string_equal(qn_diag_get(ctx, 0).id, id);
	qn_diag_clear(ctx);
}

/* A mistake leaves the model as it was. */
static void
test_mistakes(void **state)
{
	static const char *const wrong[] = {"",
					    "axis=1",
					    "hop=2",
					    "axis=1,hop=5",
					    "axis=0,hop=2",
					    "axis=1,hop=2,x",
					    "y:axis=1,hop=2"};
	static const float windows[] = {1, 2, 3, -4, -5}, want[] = {5};
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m = load(ctx);

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		check_id(ctx, qn_stream_check(m, wrong[i]), QN_EUSAGE, "stream.option");
		check_id(ctx, qn_stream(m, wrong[i]), QN_EUSAGE, "stream.option");
	}
	assert_int_equal(qn_stream_check(m, "axis=1,hop=2,window=nobody"), QN_OK);
	check_id(ctx, qn_stream(m, "axis=1,hop=2,window=nobody"), QN_EUSAGE, "stream.option");
	check_run(ctx, m, 1, 5, windows, 1, want);
	assert_int_equal(qn_stream(m, "axis=1,hop=2,window=y"), QN_OK);
	check_run(ctx, m, 1, 5, windows, 1, want);
	check_id(ctx, qn_stream_check(m, "axis=1,hop=1"), QN_EUNSUPPORTED, "stream.state");
	check_id(ctx, qn_stream(m, "axis=1,hop=1"), QN_EUNSUPPORTED, "stream.state");
	qn_close(ctx);
}

static void
halve(void *user, const qn_op_call *c, const float *const *in, float *out)
{
	int64_t n = 1;

	(void)user;
	for (int i = 0; i < c->out->rank; i++)
		n *= c->out->shape[i];
	for (int64_t i = 0; i < n; i++)
		out[i] = in[0][i] / 2;
}

/* A custom operator that computes element by element. */
static void
test_custom_op(void **state)
{
	static const char halved[] = "model \"pairs\" stage float\n"
				     "graph @main(%x: tensor<1x5x1xf32>) {\n"
				     "  %w = const : tensor<1x2x1xf32> splat 1\n"
				     "  %c = conv1d %x, %w\n"
				     "  %h = test.halve %c\n"
				     "  %y = reduce_max %h {axes=[1]}\n"
				     "  return %y\n"
				     "}\n";
	static const float windows[] = {1, 2, 3, -4, -5, -1, -2, -3, -4, -5},
			   pair[] = {2.5f, -1.5f};
	const qn_op_desc op = {.size = sizeof op,
			       .name = "test.halve",
			       .min_inputs = 1,
			       .max_inputs = 1,
			       .behaviour = QN_OP_TABLE,
			       .run_float = halve};
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;

	(void)state;
	assert_int_equal(qn_op_register(ctx, &op), QN_OK);
	assert_int_equal(qn_file_add(ctx, "pairs.qir", halved, strlen(halved)), QN_OK);
	assert_int_equal(qn_load(ctx, "pairs.qir", &m), QN_OK);
	assert_int_equal(qn_stream(m, "axis=1,hop=2"), QN_OK);
	assert_int_equal(qn_model_describe(m).macs, 4);
	check_run(ctx, m, 2, 5, windows, 2, pair);
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_mistakes), cmocka_unit_test(test_custom_op)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
