/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_runtime_layers.c - layers of ONNX Runtime's language models and quantizers.  What is wanted is what
 * ONNX Runtime 1.30 gave for the same numbers. */
#include "tests/unit/onnx_rig.h"

#include <math.h>

enum { MOST = 256 };

/* Element i of the constants and of the data: ((i * by) mod 17 - 8) / of. */
static const float *
spread(size_t n, size_t by, float of)
{
	static float v[MOST];

	for (size_t i = 0; i < n; i++)
		v[i] = ((float)(i * by % 17) - 8) / of;
	return v;
}

static const double *
data(size_t n, size_t by)
{
	static double v[MOST];
	const float *x = spread(n, by, 8);

	for (size_t i = 0; i < n; i++)
		v[i] = (double)x[i];
	return v;
}

static void
spreads(const char *name, const char *dims, size_t by, float of)
{
	onx_floats(file, name, dims, spread(onx_count(dims), by, of));
}

/* (i * by) mod `mod` + first, as bytes. */
static void
bytes(const char *name, int elem, const char *dims, size_t by, size_t mod, int first)
{
	uint8_t v[MOST];

	for (size_t i = 0; i < onx_count(dims); i++)
		v[i] = (uint8_t)((int)(i * by % mod) + first);
	onx_tensor(file, name, elem, dims, v, onx_count(dims));
}

static void
number(const char *name, float v)
{
	onx_floats(file, name, "", &v);
}

static void
layer(const char *op, const char *in, const char *out)
{
	file->domain = "com.microsoft";
	onx_node(file, op, in, out);
	file->domain = NULL;
}

/* Two heads of queries and one of keys, of 16 elements each, in one input [1, steps, 64]; y [1, steps, 2]. */
static void
grouped(const char *in, int64_t steps, int64_t past)
{
	qn_buf dims;

	onx_int(file, "num_heads", 2);
	onx_int(file, "kv_num_heads", 1);
	layer("GroupQueryAttention", in, "a");
	onx_node(file, "MatMul", "a,o", "y");
	onx_output(file, "y");
	qn_buf_init(&dims, &rg->arena);
	qn_buff(&dims, "1,%d,64", (int)steps);
	onx_input(file, "x", ONX_FLOAT, qn_buf_str(&dims));
	spreads("o", "32,2", 3, 8);
	qn_buf_init(&dims, &rg->arena);
	qn_buff(&dims, "1,1,%d,16", (int)past);
	if (past > 0) {
		spreads("pk", qn_buf_str(&dims), 7, 8);
		spreads("pv", qn_buf_str(&dims), 11, 8);
	}
	onx_tensor(file, "n", ONX_INT32, "1", (const int32_t[]){(int32_t)(past + steps - 1)}, 4);
	onx_tensor(file, "t", ONX_INT32, "", (const int32_t[]){(int32_t)(past + steps)}, 4);
	spreads("c", "8,8", 3, 8);
	spreads("s", "8,8", 13, 8);
	onx_ints64(file, "p", "1,2", (const int64_t[]){1, 2});
	import(17);
}

static void
test_grouped_attention(void **state)
{
	(void)state;
	grouped("x,,,,,n,t", 2, 0);
	GIVES(data(128, 5), 2e-6, 1.593750, 0.2343750, -0.02340013, 0.6453239);

	another_file();
	onx_int(file, "do_rotary", 1);
	onx_real(file, "softcap", 5);
	grouped("x,,,pk,pv,n,t,c,s", 1, 3);
	GIVES(data(64, 5), 2e-6, 0.7716433, 0.2525006);

	another_file();
	onx_int(file, "do_rotary", 1);
	onx_int(file, "rotary_interleaved", 1);
	onx_real(file, "scale", 1);
	grouped("x,,,pk,pv,n,t,c,s", 1, 3);
	GIVES(data(64, 5), 2e-6, -0.2942253, -2.742598);

	another_file();
	onx_int(file, "do_rotary", 1);
	onx_int(file, "local_window_size", 2);
	grouped("x,,,pk,pv,n,t,c,s", 2, 2);
	GIVES(data(128, 5), 2e-6, -0.007151484, 1.835090, 0.3482035, 1.055925);

	another_file();
	onx_int(file, "do_rotary", 1);
	grouped("x,,,pk,pv,n,t,c,s,p", 2, 1);
	GIVES(data(128, 5), 2e-6, -0.9327466, -0.8650646, -0.3726627, 0.1857076);
}

/* A step after one row of a past of 4, of which there are `total` keys at most; out: its results. */
static void
grouped_in_4(int32_t total, const char *out)
{
	onx_input(file, "x", ONX_FLOAT, "1,1,64");
	onx_int(file, "num_heads", 2);
	onx_int(file, "kv_num_heads", 1);
	onx_int(file, "local_window_size", 2);
	layer("GroupQueryAttention", "x,,,pk,pv,n,t", out);
	spreads("o", "32,2", 3, 8);
	spreads("pk", "1,1,4,16", 7, 8);
	spreads("pv", "1,1,4,16", 11, 8);
	onx_tensor(file, "n", ONX_INT32, "1", (const int32_t[]){1}, 4);
	if (total > 0)
		onx_tensor(file, "t", ONX_INT32, "", &total, 4);
	else
		onx_input(file, "t", ONX_INT32, "");
}

/* A past that is larger than what it holds: rows after the valid ones are masked, whether the new row is written into
 * it or follows it. */
static void
test_grouped_attention_part_of_past(void **state)
{
	double want[2];

	(void)state;
	onx_int(file, "local_window_size", 2);
	grouped("x,,,pk,pv,n,t", 1, 1);
	memcpy(want, run1(data(64, 5)), sizeof want);
	for (int32_t total = 2; total <= 5; total++) {
		another_file();
		grouped_in_4(total, "a");
		onx_node(file, "MatMul", "a,o", "y");
		onx_output(file, "y");
		import(17);
		near(want, run1(data(64, 5)), 2, 1e-6);
	}
}

/* present is the past with the new row in its place. */
static void
test_grouped_attention_shared_past(void **state)
{
	double want[64];

	(void)state;
	grouped_in_4(4, "a,k,v");
	onx_output(file, "k");
	import(17);
	output_is("tensor<1x1x4x16xf32>");
	memcpy(want, data(64, 7), sizeof want);
	memcpy(want + 16, data(64, 5) + 32, 16 * sizeof *want);
	near(want, run1(data(64, 5)), 64, 0);
}

/* Whether the new row is written into the past follows from the declared rows of present where the number of keys is
 * not known before the run. */
static void
test_grouped_attention_declared(void **state)
{
	static const char *const dims[] = {"P=4"};
	static const struct {
		int32_t total;
		const char *declared, *type;
	} rows[] = {
		{0, "1,1,4,16", "tensor<1x1x4x16xf32>"}, {0, "1,1,P,16", "tensor<1x1x4x16xf32>"},
		{0, "1,1,5,16", "tensor<1x1x5x16xf32>"}, {0, "1,1,?,16", "tensor<1x1x5x16xf32>"},
		{0, "4", "tensor<1x1x5x16xf32>"},        {0, NULL, "tensor<1x1x5x16xf32>"},
		{4, "1,1,5,16", "tensor<1x1x4x16xf32>"}, {3, NULL, "tensor<1x1x4x16xf32>"},
		{5, "1,1,4,16", "tensor<1x1x5x16xf32>"},
	};
	enum { VALUE_INFO = 13 }; /* of GraphProto */

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		how = (qn_import_how){.dim = dims, .ndim = 1};
		grouped_in_4(rows[i].total, "a,k,v");
		onx_input(file, "p", ONX_FLOAT, "P");
		onx_value_info(file, VALUE_INFO, "k", ONX_FLOAT, rows[i].declared);
		onx_node(file, "Identity", "k", "y");
		onx_output(file, "y");
		onx_output(file, "p");
		import(17);
		output_is(rows[i].type);
	}
}

static void
test_quantized_attention(void **state)
{
	const uint8_t zero = 128;
	const int8_t three = 3;

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2,8");
	number("xs", 1.0f / 64);
	onx_tensor(file, "xz", ONX_UINT8, "", &zero, 1);
	onx_node(file, "QuantizeLinear", "x,xs,xz", "q");
	bytes("w", ONX_INT8, "8,24", 29, 201, -100);
	spreads("b", "24", 3, 32);
	number("ws", 0.01f);
	onx_tensor(file, "wz", ONX_INT8, "", &three, 1);
	onx_tensor(file, "m", ONX_INT32, "1", (const int32_t[]){1}, 4);
	onx_int(file, "num_heads", 2);
	layer("QAttention", "q,w,b,xs,ws,m,xz,wz", "y");
	onx_output(file, "y");
	import(17);
	GIVES(data(16, 5), 2e-6, 0.4312500, -0.3325000, 0.1887500, -1.802500, -0.2762500, 1.501250,
	      2.022500, 0.002499998, 0.4312500, -0.3325000, 0.1887500, -1.802500, -0.2762500,
	      1.501250, 2.022500, 0.002499998);
}

/* ONNX Runtime rounds x and h to 8 bits at run time. */
static void
test_quantized_lstm(void **state)
{
	static const double want[2][4] = {{0.06736561, 0.01487587, 0.01392708, -0.1297752},
					  {0.1679391, 0.07051390, 0.07051262, -0.07963743}};

	(void)state;
	for (int each = 0; each < 2; each++) {
		const char *dims = each ? "1,8" : "1";
		float scale[8];

		another_file();
		onx_input(file, "x", ONX_FLOAT, "2,1,2");
		bytes("w", ONX_INT8, "1,2,8", 29, 201, -100);
		bytes("r", ONX_INT8, "1,2,8", 53, 201, -100);
		spreads("b", "1,16", 3, 8);
		for (int i = 0; i < 8; i++)
			scale[i] = fabsf(spread(8, 5, 8)[i]) / 50 + 0.005f;
		scale[0] = each ? scale[0] : 0.01f;
		onx_floats(file, "s", dims, scale);
		bytes("z", ONX_INT8, dims, 0, 1, 0);
		onx_int(file, "hidden_size", 2);
		layer("DynamicQuantizeLSTM", "x,w,r,b,,,,,s,z,s,z", "y");
		onx_output(file, "y");
		import(17);
		near(want[each], run1(V(0.5, -1, 1, 0.25)), 4, 0.004);
	}
}

static void
test_embedding(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1");
	onx_tensor(file, "i", ONX_INT32, "1,2", (const int32_t[]){3, 1}, 8);
	onx_tensor(file, "p", ONX_INT32, "1,2", (const int32_t[]){2, 0}, 8);
	spreads("w", "4,4", 5, 8);
	spreads("at", "3,4", 7, 8);
	spreads("g", "4", 3, 8);
	spreads("b", "4", 11, 8);
	onx_real(file, "epsilon", 1e-5f);
	layer("EmbedLayerNormalization", "i,,w,at,,g,b,,p", "e,,s");
	onx_node(file, "Add", "e,x", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(0), 2e-6, -0.8719638, -0.5052489, -0.02290043, 1.016005, -0.002762139, 0.2109806,
	      -0.7555250, 0.9015884);
}

static void
test_quantized_embedding(void **state)
{
	static const struct {
		const char *name, *dims, *scale;
		size_t by;
		float step;
	} tables[] = {{"w", "4,4", "ws", 37, 0.01f},
		      {"p", "3,4", "ps", 53, 0.02f},
		      {"s", "2,4", "ss", 71, 0.005f},
		      {"g", "4", "gs", 91, 0.01f},
		      {"b", "4", "bs", 23, 0.002f}};
	const uint8_t zero = 120;

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1");
	onx_tensor(file, "i", ONX_INT32, "1,2", (const int32_t[]){3, 1}, 8);
	onx_tensor(file, "j", ONX_INT32, "1,2", (const int32_t[]){1, 0}, 8);
	onx_tensor(file, "m", ONX_INT32, "1,2", (const int32_t[]){1, 1}, 8);
	for (size_t i = 0; i < QN_COUNT(tables); i++) {
		bytes(tables[i].name, ONX_UINT8, tables[i].dims, tables[i].by, 251, 0);
		number(tables[i].scale, tables[i].step);
	}
	onx_tensor(file, "z", ONX_UINT8, "", &zero, 1);
	onx_real(file, "epsilon", 1e-5f);
	layer("QEmbedLayerNormalization", "i,j,w,p,s,g,b,m,ws,ps,ss,gs,bs,z,z,z,z,z", "e,n");
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "n", "f");
	onx_node(file, "Add", "e,x", "d");
	onx_node(file, "Add", "d,f", "y"); /* two words count */
	onx_output(file, "y");
	import(17);
	GIVES(V(-2), 2e-6, 1.404491, -0.2952755, -0.3645200, -1.445001, -1.989749, 0.1807762,
	      -0.008309156, 0.2812784);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *op, *in, *id, *text;
	} rows[] = {
		{"GroupQueryAttention", "x,,,,,n,n,,,,,x", "import.input", "sinks"},
		{"GroupQueryAttention", "odd,,,,,n,n", "import.input", "63 packed elements"},
		{"GroupQueryAttention", "x,,,,,two,n", "import.input", "for each of 1 batches"},
		{"QAttention", "x,x,x", "import.input", "it takes 5 at least"},
		{"DynamicQuantizeLSTM", "x,w,w", "import.input", "the scales of the weights"},
		{"DynamicQuantizeLSTM", "x,n,n,,,,,,n,,n,", "import.rank", "the weights must be"},
		{"EmbedLayerNormalization", "n,,w,w,,w,w", "import.rank", "words must be"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,64");
		onx_input(file, "odd", ONX_FLOAT, "1,1,63");
		onx_tensor(file, "n", ONX_INT32, "1", (const int32_t[]){0}, 4);
		onx_tensor(file, "two", ONX_INT32, "2", (const int32_t[]){0, 0}, 8);
		spreads("w", "1,4,4", 3, 8);
		onx_int(file, "num_heads", 2);
		onx_int(file, "kv_num_heads", 1);
		layer(rows[i].op, rows[i].in, "y");
		onx_output(file, "y");
		import_fails(17, rows[i].id, rows[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_grouped_attention),
		TEST(test_grouped_attention_part_of_past),
		TEST(test_grouped_attention_shared_past),
		TEST(test_grouped_attention_declared),
		TEST(test_quantized_attention),
		TEST(test_quantized_lstm),
		TEST(test_embedding),
		TEST(test_quantized_embedding),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
