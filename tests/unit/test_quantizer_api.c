/* SPDX-License-Identifier: Apache-2.0 */
/* test_quantizer_api.c - quantizer patterns of a host: a standard one rebuilt through the public
 * header, and some of its own. */
#include "tests/unit/quantizer_rig.h"

#include <stdio.h>

/* ---- conv2d_bias through the public header ---- */

static int
takes_weights(void *user, const qn_graph *g, const qn_match *m, const char **why)
{
	++*(int *)user;
	if (strcmp(qn_value(g, qn_match_get(m, "w")).op, "const") == 0)
		return 1;
	*why = "the weights are computed";
	return 0;
}

static qn_id
conv_bias(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_graph *before = qn_quantizing_before(q);
	const qn_match *inside = qn_quantizing_match(q);
	qn_id c = qn_match_get(inside, "c") != 0 ? qn_match_get(inside, "c")
						 : qn_match_get(inside, "d");
	const char *name = qn_value(before, c).name;
	const qn_quantizing_info *o = qn_quantizing_options(q);
	qn_id b = qn_match_get(m, "b");
	char acc[64];
	qn_id in[3];

	(void)user;
	assert_int_equal(qn_match_root(m), 0);
	assert_int_equal(qn_quantizing_value(q, qn_match_get(inside, "x")), qn_match_get(m, "x"));
	(void)snprintf(acc, sizeof acc, "%s.acc", name);
	in[0] = qn_quantize_activation(q, qn_match_get(m, "x"), name, "x");
	in[1] = qn_quantize_weights(q, qn_match_get(m, "w"), name, "w",
				    o->per_tensor_weights ? -1 : 0);
	in[2] = qn_quantize_bias(q, b, qn_value(qn_quantizing_graph(q), b).name, in[0], in[1]);
	return qn_dequantize(q, qn_quantizing_op(q, c, acc, 3, in),
			     qn_value(before, qn_match_root(inside)).name);
}

static const char conv_bias_text[] = "bias_add(c=conv2d(x, w), b) | d=conv2d(x, w, b)";

static void
test_standard_again(void **state)
{
	static const char *const passes[] = {"partition", "partition,quantize"};
	static text want, got;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		qn_ctx *ctx = qn_open(NULL);
		int asked = 0;
		qn_quantizer mine = {sizeof(qn_quantizer), "conv2d_bias", conv_bias_text, NULL,
				     takes_weights,        conv_bias,     NULL,           &asked};
		qn_compile_opts o = {.passes = passes[i % 2], .scheme = i < 2 ? QN_TFLITE : QN_RFC};
		qn_model *a = two_layers(ctx);
		qn_model *b = two_layers(ctx);

		assert_int_equal(qn_compile(a, &o), QN_OK);
		o.quantizers = &mine;
		o.nquantizers = 1;
		assert_int_equal(qn_compile(b, &o), QN_OK);
		assert_int_equal(asked, 2);
		print_to(a, &want);
		print_to(b, &got);
		assert_string_equal(got.s, want.s);
		assert_non_null(strstr(got.s, i % 2 ? "$c.w*$c.x" : "pattern \"conv2d_bias\""));
		qn_close(ctx);
	}
}

/* ---- a pattern of the host's own ---- */

static void
test_own(void **state)
{
	static text got;
	qn_ctx *ctx = qn_open(NULL);
	qn_pattern *made;
	qn_model *m = scaled_model(ctx);

	(void)state;
	assert_int_equal(qn_pattern_parse(ctx, scaled_text, &made), QN_OK);
	qn_quantizer mine = {.name = "host.sum", .pattern = made, .quantize = scaled_sum};
	qn_compile_opts o = {
		.passes = "partition", .quantizers = &mine, .nquantizers = 1, .no_standard = 1};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &got);
	assert_non_null(strstr(got.s, "pattern \"host.sum\""));
	o.passes = "quantize";
	assert_int_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &got);
	assert_non_null(strstr(got.s, "u6:f32, $sum.x:$sum.x"));
	assert_non_null(strstr(got.s, ":3>"));
	qn_array *calib = ramp(ctx, 2, (int64_t[]){8, 4});
	o = (qn_compile_opts){.passes = "calibrate,bind", .calib = &calib, .ncalib = 1};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_int_equal(qn_diag_count(ctx), 2);
	/* the list is missing, and each sample is larger than the one before */
	assert_string_equal(qn_diag_get(ctx, 0).id, "calibrate.unregistered");
	assert_string_equal(qn_diag_get(ctx, 1).id, "data.few");
	qn_close(ctx);
}

/* A form of one node stands for the layers of its composite, as one of several does. */
static void
test_one_node(void **state)
{
	static text got;
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	qn_pattern *made;

	(void)state;
	assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<1x4xf32>");
	qn_id first = qn_add_op(g, "relu", "first", 1, &x, NULL, NULL);
	qn_id second = qn_add_op(g, "tanh", "second", 1, &first, NULL, NULL);
	assert_int_equal(qn_add_output(g, "out", second), QN_OK);
	assert_int_equal(qn_pattern_parse(ctx, "tanh(relu(x))", &made), QN_OK);
	qn_quantizer mine = {.name = "host.half", .pattern = made, .quantize = half_of};
	qn_compile_opts o = {.passes = "partition,quantize",
			     .quantizers = &mine,
			     .nquantizers = 1,
			     .no_standard = 1};
	assert_int_equal(qn_compile(m, &o), QN_OK);
	print_to(m, &got);
	const char from[] = " from [\"first\", \"second\"]", *made_of = strstr(got.s, "= relu6 ");
	assert_non_null(made_of);
	made_of = strstr(made_of, " from [");
	if (made_of == NULL || strncmp(made_of, from, strlen(from)) != 0)
		fail_msg("%s", got.s);
	qn_close(ctx);
}

/* What a callback reads of its match is that of the composite, in values of the graph under
 * construction; what is computed inside, or in the graph of a function, has none there. */
static qn_id
reads_match(void *user, qn_quantizing *q, const qn_match *m)
{
	const qn_match *inside = qn_quantizing_match(q);
	qn_id x = qn_match_get(m, "x");
	char *names = user;
	size_t i = 0;

	for (; qn_match_binding(inside, i).name != NULL; i++) {
		const qn_binding in = qn_match_binding(inside, i), out = qn_match_binding(m, i);
		const int own = in.graph == qn_quantizing_before(q);

		strcat(strcat(names, in.name), own ? " " : "' ");
		assert_string_equal(out.name, in.name);
		assert_ptr_equal(out.graph, qn_quantizing_graph(q));
		assert_int_equal(out.value, own ? qn_quantizing_value(q, in.value) : 0);
		assert_int_equal(out.value != 0, own && strchr("xyk", in.name[0]) != NULL);
	}
	assert_null(qn_match_binding(m, i).name);
	assert_int_equal(qn_match_root(m), 0);
	return qn_add_op(qn_quantizing_graph(q), "relu6", NULL, 1, &x, NULL, NULL);
}

static void
test_match_outside(void **state)
{
	static const char *const rows[][2] = {
		{"s=add(x, p=mul(y, k=const))", "x y k p s "},
		{"s=add(x, *)", "x s "},
		{"add(*, p=mul(x, const))", "x p "},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m = scaled_model(ctx);
		char names[100] = "";
		qn_quantizer mine = {.name = "host.sum",
				     .text = rows[i][0],
				     .quantize = reads_match,
				     .user = names};
		qn_compile_opts o = {.passes = "partition,quantize",
				     .quantizers = &mine,
				     .nquantizers = 1,
				     .no_standard = 1};

		assert_int_equal(qn_compile(m, &o), QN_OK);
		assert_string_equal(names, rows[i][1]);
		qn_close(ctx);
	}
}

/* Bytes that say what they stand for keep their parameters through 64 moves and no more. */
static void
test_moves(void **state)
{
	(void)state;
	for (int n = 62; n < 67; n++) {
		static text got;
		qn_ctx *ctx = qn_open(NULL);
		qn_compile_opts o = {.passes = "partition,quantize"};
		const float half = 0.5F;
		qn_array *k;
		qn_model *m;

		assert_int_equal(qn_model_new(ctx, "net", &m), QN_OK);
		assert_int_equal(qn_array_new(ctx, "f32", 0, NULL, &half, &k), QN_OK);
		qn_graph *g = qn_model_main(m);
		qn_id x = qn_add_input(g, "x", "tensor<1x4xu8>");
		qn_id step = qn_add_const(g, "step", k);
		x = qn_add_op(g, "cast", NULL, 1, &x, NULL, "tensor<1x4xf32>");
		x = qn_add_op(g, "div", NULL, 2, (qn_id[]){x, step}, NULL, NULL);
		for (int i = 0; i < n; i++)
			x = qn_add_op(g, "relu", NULL, 1, &x, NULL, NULL);
		x = qn_add_op(g, "sigmoid", "s", 1, &x, NULL, NULL);
		assert_int_equal(qn_add_output(g, "out", x), QN_OK);
		assert_int_equal(qn_compile(m, &o), QN_OK);
		print_to(m, &got);
		assert_int_equal(strstr(got.s, "$s.x") == NULL, n <= 64);
		qn_close(ctx);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_standard_again), cmocka_unit_test(test_own),
		cmocka_unit_test(test_one_node),       cmocka_unit_test(test_match_outside),
		cmocka_unit_test(test_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
