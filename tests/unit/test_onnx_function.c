/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_function.c - operators that ONNX defines by others, with numbers computed by hand. */
#include "tests/unit/onnx_rig.h"

/* Scores of three classes, twice; the right ones are the last and the first. */
static void
test_likelihood(void **state)
{
	static const struct {
		const char *in, *reduction;
		int ignored; /* -1: none */
		double want[2];
		int n;
	} rows[] = {
		{"x,t", "none", -1, {-3, -4}, 2}, {"x,t", "sum", -1, {-7}, 1},
		{"x,t", "mean", -1, {-3.5}, 1},   {"x,t,w", "none", -1, {-6, -2}, 2},
		{"x,t,w", "mean", -1, {-3.2}, 1}, {"x,t", "none", 0, {-3, 0}, 2},
		{"x,t", "mean", 0, {-3}, 1},      {"x,t,w", "mean", 0, {-3}, 1},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "2,3");
		onx_ints64(file, "t", "2", (const int64_t[]){2, 0});
		onx_floats(file, "w", "3", (const float[]){0.5f, 9, 2});
		onx_string(file, "reduction", rows[i].reduction);
		if (rows[i].ignored >= 0)
			onx_int(file, "ignore_index", rows[i].ignored);
		onx_node(file, "NegativeLogLikelihoodLoss", rows[i].in, "y");
		onx_output(file, "y");
		import(13);
		near(rows[i].want, run1(V(1, 2, 3, 4, 5, 6)), rows[i].n, 1e-6);
	}
}

static void
test_cross_entropy(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_ints64(file, "t", "2", (const int64_t[]){1, 0});
	onx_node(file, "SoftmaxCrossEntropyLoss", "x,t", "y,l");
	onx_output(file, "y");
	onx_output(file, "l");
	import(13);
	/* -ln(3/4) and ln 2 */
	GIVES(V(0, 1.0986122886681098, 0, 0), 1e-6, (0.2876820724517809 + 0.6931471805599453) / 2);
	assert_ptr_equal(qn_graph_node(rg->g, rg->g->output[1].value)->type,
			 type("tensor<2x2xf32>"));
}

static void
test_center(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "3,2");
	onx_ints64(file, "shape", "2", (const int64_t[]){1, 5});
	onx_node(file, "CenterCropPad", "x,shape", "y");
	onx_output(file, "y");
	import(18);
	output_is("tensor<1x5xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 0, 3, 4, 0, 0);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "4,3");
	onx_ints64(file, "shape", "1", (const int64_t[]){1});
	onx_list(file, "axes", 1, (const int64_t[]){-1});
	onx_node(file, "CenterCropPad", "x,shape", "y");
	onx_output(file, "y");
	import(18);
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), 0, 2, 5, 8, 11);
}

/* Two steps written from step 2 of 3 on, which is 2 and 0 in a ring; from step 1 on. */
static void
test_cache(void **state)
{
	(void)state;
	for (int64_t from = 1; from < 3; from++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,3,1");
		onx_floats(file, "u", "1,2,1", (const float[]){8, 9});
		onx_ints64(file, "at", "1", &from);
		onx_string(file, "mode", from == 2 ? "circular" : "linear");
		onx_node(file, "TensorScatter", "x,u,at", "y");
		onx_output(file, "y");
		import(24);
		if (from == 2)
			GIVES(V(1, 2, 3), 0, 9, 2, 8);
		else
			GIVES(V(1, 2, 3), 0, 1, 8, 9);
	}
}

static void
test_bits(void **state)
{
	(void)state;
	onx_tensor(file, "c", ONX_INT8, "2", (const int8_t[]){-1, 5}, 2);
	onx_int(file, "to", ONX_UINT8);
	onx_node(file, "BitCast", "c", "b");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "b", "f");
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Add", "x,f", "y");
	onx_output(file, "y");
	import(26);
	GIVES(V(0, 0), 0, 255, 5);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_int(file, "to", 6);
	onx_node(file, "BitCast", "x", "y");
	onx_output(file, "y");
	import_fails(26, "import.type", "bits of f32 as INT32");
}

/* Each step is 10 x + the x before. */
static void
test_causal(void **state)
{
	(void)state;
	for (int past = 0; past < 2; past++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,3");
		onx_floats(file, "w", "1,1,2", (const float[]){1, 10});
		onx_floats(file, "b", "1", (const float[]){100});
		onx_floats(file, "p", "1,1,1", (const float[]){7});
		onx_node(file, "CausalConvWithState", past ? "x,w,b,p" : "x,w", "y,s");
		onx_output(file, "y");
		onx_output(file, "s");
		import(27);
		assert_ptr_equal(qn_graph_node(rg->g, rg->g->output[1].value)->type,
				 type("tensor<1x1x1xf32>"));
		if (past)
			GIVES(V(1, 2, 3), 0, 117, 121, 132);
		else
			GIVES(V(1, 2, 3), 0, 10, 21, 32);
	}
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,1");
	onx_floats(file, "w", "1,1,1", (const float[]){1});
	onx_string(file, "activation", "silu");
	onx_node(file, "CausalConvWithState", "x,w", "y");
	onx_output(file, "y");
	import(27);
	GIVES(V(1), 1e-6, 0.7310585786300049);
}

static void
test_gated(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1");
	onx_floats(file, "b", "1", (const float[]){3});
	onx_real(file, "alpha", 2);
	onx_node(file, "SwiGLU", "x,b", "y");
	onx_output(file, "y");
	assert_int_equal(import_from(NULL, 28), QN_OK);
	qn_diags_clear(&rg->env,
		       &rg->diags); /* a warning: the operator set is newer than what is known */
	GIVES(V(1), 1e-6, 2.642391233933647);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *op, *in, *text;
	} rows[] = {
		{"NegativeLogLikelihoodLoss", "x,x", "targets [N, …]"},
		{"CenterCropPad", "x,one", "1 lengths for 2 axes"},
		{"TensorScatter", "x,y3", "an update must have the dimensions"},
		{"CausalConvWithState", "x,x", "[C, 1, k]"},
		{"CausalConvWithState", "c,w,,c", "must be [N, C, 1]"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "2,3");
		onx_floats(file, "y3", "3", (const float[]){0, 0, 0});
		onx_input(file, "c", ONX_FLOAT, "1,2,3");
		onx_floats(file, "w", "2,1,2", (const float[4]){0});
		onx_ints64(file, "one", "1", (const int64_t[]){1});
		onx_node(file, rows[i].op, rows[i].in, "y");
		onx_output(file, "y");
		import_fails(27, "import.input", rows[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_likelihood), TEST(test_cross_entropy), TEST(test_center),
		TEST(test_cache),      TEST(test_bits),          TEST(test_causal),
		TEST(test_gated),      TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
