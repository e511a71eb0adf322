/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_fused.c - what ONNX Runtime's optimizer makes of several operators, with numbers computed by hand. */
#include "tests/unit/onnx_rig.h"

#define LN3 1.0986122886681098

static void
fused(const char *op, const char *in, const char *out)
{
	file->domain = "com.microsoft";
	onx_node(file, op, in, out);
	onx_output(file, "y");
}

static void
test_gelu(void **state)
{
	static const struct {
		const char *op, *in;
		double want;
	} rows[] = {{"Gelu", "x", 0.3457312306},
		    {"BiasGelu", "x,b", 0.8413447461},
		    {"FastGelu", "x,b", 0.8411919906},
		    {"QuickGelu", "x", 0.3112296656}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1");
		onx_floats(file, "b", "1", (const float[]){0.5f});
		onx_real(file, "alpha", 1);
		fused(rows[i].op, rows[i].in, "y");
		import(17);
		GIVES(V(0.5), 1e-6, rows[i].want);
	}
}

/* The sum is 1 and 3, or 3 and 4. */
static void
test_norms(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "s", "1,2", (const float[]){0, 1});
	onx_floats(file, "g", "2", (const float[]){2, 3});
	onx_floats(file, "b", "2", (const float[]){10, 20});
	onx_floats(file, "c", "2", (const float[]){1, 1});
	fused("SkipLayerNormalization", "x,s,g,b,c", "y,,,z");
	onx_output(file, "z");
	import(17);
	GIVES(V(0, 1), 1e-5, 8, 23);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "s", "1,2", (const float[]){0, 1});
	onx_floats(file, "g", "2", (const float[]){1, 2});
	fused("SkipSimplifiedLayerNormalization", "x,s,g", "y");
	import(17);
	GIVES(V(3, 3), 1e-5, 0.84852814, 2.26274170);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "g", "2", (const float[]){1, 2});
	onx_node(file, "SimplifiedLayerNormalization", "x,g", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(3, 4), 1e-5, 0.84852814, 2.26274170);
}

/* 2 x - 3, then what is added, then the activation. */
static void
test_conv(void **state)
{
	static const struct {
		const char *in, *activation;
		float params[2];
		int n;
		double want[2];
	} rows[] = {{"x,w,b", "Relu", {0}, 0, {0, 1}},
		    {"x,w,b,z", "Relu", {0}, 0, {4, 0}},
		    {"x,w,b", "LeakyRelu", {0.5f}, 1, {-0.5, 1}},
		    {"x,w,b", "Clip", {-0.25f, 0.75f}, 2, {-0.25, 0.75}},
		    {"x,w,b", "HardSigmoid", {0.125f, 0.25f}, 2, {0.125, 0.375}}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,2");
		onx_floats(file, "w", "1,1,1", (const float[]){2});
		onx_floats(file, "b", "1", (const float[]){-3});
		onx_floats(file, "z", "1,1,2", (const float[]){5, -5});
		onx_string(file, "activation", rows[i].activation);
		if (rows[i].n > 0)
			onx_reals(file, "activation_params", rows[i].n, rows[i].params);
		fused("FusedConv", rows[i].in, "y");
		import(17);
		near(rows[i].want, run1(V(1, 2)), 2, 1e-6);
	}
}

static void
test_products(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "w", "2,2", (const float[]){3, 4, 5, 6});
	onx_int(file, "transB", 1);
	onx_real(file, "alpha", 0.5f);
	fused("FusedMatMul", "x,w", "y");
	import(17);
	GIVES(V(1, 2), 0, 5.5, 8.5);

	/* two batches, which are the second dimension of each operand */
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2,2,1");
	onx_floats(file, "w", "2,2,1", (const float[]){1, 2, 3, 4});
	onx_int(file, "transBatchA", 1);
	onx_int(file, "transBatchB", 1);
	onx_int(file, "transB", 1);
	fused("FusedMatMul", "x,w", "y");
	import(17);
	GIVES(V(1, 2, 3, 4), 0, 1, 3, 3, 9, 4, 8, 8, 16);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "w", "2,2", (const float[]){3, 4, 5, -6});
	onx_floats(file, "b", "2", (const float[]){1, 2});
	onx_string(file, "activation", "LeakyRelu");
	onx_real(file, "activation_alpha", 0.5f);
	fused("FusedGemm", "x,w,b", "y");
	import(17);
	GIVES(V(1, 2), 0, 14, -3);
}

/* The activations that ONNX Runtime fuses into Gemm, with their numbers, or without. */
static void
test_gemm(void **state)
{
	static const struct {
		const char *activation, *number[2];
		float value[2];
		double want[2]; /* of -1 and 0.5 */
	} rows[] = {
		{"Elu", {"activation_alpha"}, {0.5f}, {-0.31606028, 0.5}},
		{"Elu", {NULL}, {0}, {-0.63212056, 0.5}},
		{"Selu", {"activation_alpha", "activation_gamma"}, {0.5f, 2}, {-0.63212056, 1}},
		{"Selu", {NULL}, {0}, {-1.11133074, 0.52535051}},
		{"Softplus", {NULL}, {0}, {0.31326169, 0.97407698}},
		{"Softsign", {NULL}, {0}, {-0.5, 0.33333333}},
		{"ThresholdedRelu", {"activation_alpha"}, {0.25f}, {0, 0.5}},
		{"ThresholdedRelu", {NULL}, {0}, {0, 0}},
		{"HardSigmoid", {"activation_alpha", "activation_beta"}, {0.5f, 0.75f}, {0.25, 1}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2");
		onx_floats(file, "w", "2,2", (const float[]){1, 0, 0, 1});
		onx_string(file, "activation", rows[i].activation);
		for (int k = 0; k < 2; k++)
			if (rows[i].number[k] != NULL)
				onx_real(file, rows[i].number[k], rows[i].value[k]);
		fused("FusedGemm", "x,w", "y");
		import(17);
		near(rows[i].want, run1(V(-1, 0.5)), 2, 1e-6);
	}
}

/* Keys 0 and ln 3, values 4 and 8. */
static void
test_heads(void **state)
{
	static const struct {
		const char *in;
		double want;
	} rows[] = {
		{"q,k,v", 7}, {"q,k,v,b", 12}, {"q,k,v,,m", 4}, {"q,k,v,,n", 4}, {"q,k,v,,,a", 6}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "q", ONX_FLOAT, "1,1,1");
		onx_floats(file, "k", "1,2,1", (const float[]){0, (float)LN3});
		onx_floats(file, "v", "1,2,1", (const float[]){4, 8});
		onx_floats(file, "b", "3", (const float[]){0, 1, 5});
		onx_floats(file, "a", "1,1,1,2", (const float[]){(float)LN3, 0});
		onx_ints64(file, "m", "1,2", (const int64_t[]){1, 0});
		onx_ints64(file, "n", "1", (const int64_t[]){1});
		onx_int(file, "num_heads", 1);
		fused("MultiHeadAttention", rows[i].in, "y");
		import(17);
		GIVES(V(1), 1e-5, rows[i].want);
	}
}

/* Queries, keys and values are the input itself, 0 and ln 3. */
static void
test_packed(void **state)
{
	(void)state;
	for (int causal = 0; causal < 2; causal++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2,1");
		onx_floats(file, "w", "1,3", (const float[]){1, 1, 1});
		onx_int(file, "num_heads", 1);
		onx_int(file, "unidirectional", causal);
		fused("Attention", "x,w", "y");
		import(17);
		GIVES(V(0, LN3), 1e-5, causal ? 0 : LN3 / 2, 0.8456663206);
	}
}

static void
test_refused(void **state)
{
	static const struct {
		const char *op, *in, *attr, *id, *text;
	} rows[] = {{"FusedConv", "x,w", "activation", "import.attr", "'Softmax' is not supported"},
		    {"MultiHeadAttention", "x,x,x", "mode", "import.attr", "into 0 heads"},
		    {"MultiHeadAttention", "x4,x,x", "mode", "import.input", "packed queries"},
		    {"Attention", "x,one,,,x", "mode", "import.input", "a past"}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,2");
		onx_input(file, "x4", ONX_FLOAT, "1,1,1,2");
		onx_floats(file, "w", "1,1,1", (const float[]){2});
		onx_floats(file, "one", "2,3", (const float[]){1, 1, 1, 1, 1, 1});
		onx_string(file, rows[i].attr, "Softmax");
		fused(rows[i].op, rows[i].in, "y");
		import_fails(17, rows[i].id, rows[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_gelu), TEST(test_norms), TEST(test_conv),   TEST(test_products),
		TEST(test_gemm), TEST(test_heads), TEST(test_packed), TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
