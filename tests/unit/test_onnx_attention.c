/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_attention.c - Attention and RotaryEmbedding of ONNX, with numbers computed by hand.
 *
 *   keys 0 and ln 3, values 4 and 8, query 1:   weights 1/4 and 3/4, result 7 */
#include "tests/unit/onnx_rig.h"

#define LN3 1.0986122886681098f

/* Keys and values of two steps. */
static void
keys(const char *dims)
{
	onx_floats(file, "k", dims, (const float[]){0, LN3});
	onx_floats(file, "v", dims, (const float[]){4, 8});
}

static void
attend(const char *in, const char *out)
{
	onx_node(file, "Attention", in, out);
	onx_output(file, "y");
	import(23);
}

static void
test_plain(void **state)
{
	(void)state;
	onx_input(file, "q", ONX_FLOAT, "1,1,2,1");
	keys("1,1,2,1");
	attend("q,k,v", "y");
	output_is("tensor<1x1x2x1xf32>");
	GIVES(V(1, 0), 1e-5, 7, 6);
}

/* Heads side by side, and a scale: 1/2 twice. */
static void
test_flat(void **state)
{
	(void)state;
	onx_input(file, "q", ONX_FLOAT, "1,1,2");
	onx_floats(file, "k", "1,2,2", (const float[]){0, 0, 2 * LN3, 0});
	onx_floats(file, "v", "1,2,2", (const float[]){4, 1, 8, 3});
	onx_int(file, "q_num_heads", 2);
	onx_int(file, "kv_num_heads", 2);
	onx_real(file, "scale", 0.5f);
	attend("q,k,v", "y");
	output_is("tensor<1x1x2xf32>");
	GIVES(V(1, 1), 1e-5, 7, 2);
}

/* Two heads of queries share one of keys. */
static void
test_shared_heads(void **state)
{
	(void)state;
	onx_input(file, "q", ONX_FLOAT, "1,2,1,1");
	keys("1,1,2,1");
	attend("q,k,v", "y");
	output_is("tensor<1x2x1x1xf32>");
	GIVES(V(1, 0), 1e-5, 7, 6);
}

/* What is masked has no weight; a row of which all is masked is 0, not NaN. */
static void
test_masks(void **state)
{
	static const struct {
		uint8_t keep[2];
		double want;
	} rows[] = {{{1, 1}, 7}, {{1, 0}, 4}, {{0, 1}, 8}, {{0, 0}, 0}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "q", ONX_FLOAT, "1,1,1,1");
		keys("1,1,2,1");
		onx_tensor(file, "m", ONX_BOOL, "1,2", rows[i].keep, 2);
		attend("q,k,v,m", "y");
		GIVES(V(1), 1e-5, rows[i].want);
	}
	another_file();
	onx_input(file, "q", ONX_FLOAT, "1,1,1,1");
	keys("1,1,2,1");
	onx_floats(file, "m", "1,2", (const float[]){LN3, 0});
	attend("q,k,v,m", "y");
	GIVES(V(1), 1e-5, 6);
}

/* The first query sees the past and the first key, the second both. */
static void
test_causal_with_past(void **state)
{
	(void)state;
	onx_input(file, "q", ONX_FLOAT, "1,1,2,1");
	keys("1,1,2,1");
	onx_floats(file, "pk", "1,1,1,1", (const float[]){0});
	onx_floats(file, "pv", "1,1,1,1", (const float[]){2});
	onx_int(file, "is_causal", 1);
	onx_node(file, "Attention", "q,k,v,,pk,pv", "y,nk,nv");
	onx_output(file, "y");
	onx_output(file, "nv");
	import(23);
	assert_ptr_equal(qn_graph_node(rg->g, rg->g->output[1].value)->type,
			 type("tensor<1x1x3x1xf32>"));
	GIVES(V(1, 1), 1e-5, 3, (2 + 4 + 3 * 8) / 5.0);
}

/* Of each batch only some keys count; the last query stands at the last of them. */
static void
test_lengths(void **state)
{
	(void)state;
	onx_input(file, "q", ONX_FLOAT, "2,1,1,1");
	onx_floats(file, "k", "2,1,2,1", (const float[]){0, LN3, 0, LN3});
	onx_floats(file, "v", "2,1,2,1", (const float[]){4, 8, 4, 8});
	onx_ints64(file, "n", "2", (const int64_t[]){1, 2});
	onx_int(file, "is_causal", 1);
	onx_node(file, "Attention", "q,k,v,,,,n", "y");
	onx_output(file, "y");
	import(24);
	GIVES(V(1, 1), 1e-5, 4, 7);
}

/* The scores, then 2 tanh(score / 2), then with the mask. */
static void
test_scores(void **state)
{
	static const double want[][2] = {
		{0, 1.0986122886681098}, {0, 1.0}, {0.5, 0.75}, {0.4378234991, 0.5621765009}};

	(void)state;
	for (int mode = 0; mode < 4; mode++) {
		another_file();
		onx_input(file, "q", ONX_FLOAT, "1,1,1,1");
		keys("1,1,2,1");
		onx_floats(file, "m", "1,2", (const float[]){0.5f, -0.25f});
		onx_int(file, "qk_matmul_output_mode", mode);
		onx_real(file, "softcap", 2);
		onx_node(file, "Attention", "q,k,v,m", "z,,,y");
		onx_output(file, "y");
		import(24);
		near(want[mode], run1(V(1)), 2, 1e-6);
	}
}

static void
test_refused(void **state)
{
	(void)state;
	onx_input(file, "q", ONX_FLOAT, "1,3,1,1");
	onx_floats(file, "k", "1,2,1,1", (const float[]){0, 1});
	onx_node(file, "Attention", "q,k,k", "y");
	onx_output(file, "y");
	import_fails(23, "import.input", "divide each other");

	another_file();
	onx_input(file, "q", ONX_FLOAT, "1,3,4");
	onx_int(file, "q_num_heads", 3);
	onx_int(file, "kv_num_heads", 2);
	onx_node(file, "Attention", "q,q,q", "y");
	onx_output(file, "y");
	import_fails(23, "import.attr", "into 3 heads");
}

/* Scores with their sign changed: weights 3/4 and 1/4; then these twice. */
static void
test_bodies(void **state)
{
	static onx body;

	(void)state;
	for (int probabilities = 0; probabilities < 2; probabilities++) {
		another_file();
		onx_input(file, "q", ONX_FLOAT, "1,1,1,1");
		keys("1,1,2,1");
		onx_begin(&body);
		onx_input(&body, "s", ONX_FLOAT, "1,1,1,2");
		onx_node(&body, "Neg", "s", "t");
		onx_output(&body, "t");
		onx_body(file, "score_mod", &body);
		onx_begin(&body);
		onx_input(&body, "p", ONX_FLOAT, "1,1,1,2");
		onx_node(&body, "Add", "p,p", "r");
		onx_output(&body, "r");
		if (probabilities)
			onx_body(file, "prob_mod", &body);
		file->domain = "ai.onnx.preview";
		onx_node(file, "FlexAttention", "q,k,v", "y");
		onx_output(file, "y");
		import(26);
		GIVES(V(1), 1e-5, probabilities ? 10 : 5);
	}
}

/* Pairs (1, 3) and (2, 4), or (1, 2) and (3, 4), become (a c - b s, b c + a s). */
static void
test_rotary(void **state)
{
	static const double want[][4] = {{-5.5, -3.5, 3.5, 3}, {-3.5, 3, -3.25, 4}};

	(void)state;
	for (int interleaved = 0; interleaved < 2; interleaved++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,1,4");
		onx_floats(file, "c", "2,2", (const float[]){9, 9, 0.5f, 0.25f});
		onx_floats(file, "s", "2,2", (const float[]){9, 9, 2, 1});
		onx_ints64(file, "p", "1,1", (const int64_t[]){1});
		onx_int(file, "interleaved", interleaved);
		onx_node(file, "RotaryEmbedding", "x,c,s,p", "y");
		onx_output(file, "y");
		import(23);
		near(want[interleaved], run1(V(1, 2, 3, 4)), 4, 0);
	}
}

/* Tables with a row for each step, heads side by side, and elements that stay. */
static void
test_rotary_part(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,6");
	onx_floats(file, "c", "1,1,1", (const float[]){0.5f});
	onx_floats(file, "s", "1,1,1", (const float[]){2});
	onx_int(file, "num_heads", 2);
	onx_int(file, "rotary_embedding_dim", 2);
	onx_node(file, "RotaryEmbedding", "x,c,s", "y");
	onx_output(file, "y");
	import(23);
	output_is("tensor<1x1x6xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, -3.5, 3, 3, -8, 10.5, 6);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,5");
	onx_floats(file, "c", "1,1,1", (const float[]){0.5f});
	onx_node(file, "RotaryEmbedding", "x,c,c", "y");
	onx_output(file, "y");
	import_fails(23, "import.input", "num_heads");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_plain),
		TEST(test_flat),
		TEST(test_shared_heads),
		TEST(test_masks),
		TEST(test_causal_with_past),
		TEST(test_lengths),
		TEST(test_scores),
		TEST(test_refused),
		TEST(test_rotary),
		TEST(test_rotary_part),
		TEST(test_bodies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
