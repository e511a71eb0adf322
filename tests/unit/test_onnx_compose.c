/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_compose.c - operators of ONNX that are composed of others, with numbers computed by hand. */
#include "tests/unit/onnx_rig.h"

/* One number for each gate, so that a step is h' = tanh(x * w + h * r + b). */
static void
test_rnn(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,1,1");
	onx_floats(file, "w", "1,1,1", (const float[]){0.5f});
	onx_floats(file, "r", "1,1,1", (const float[]){2});
	onx_floats(file, "b", "1,2", (const float[]){0.125f, 0.125f});
	onx_int(file, "hidden_size", 1);
	onx_node(file, "RNN", "x,w,r,b", "y");
	onx_output(file, "y");
	import(14);
	output_is("tensor<2x1x1x1xf32>");
	/* tanh(0.5 * 0.5 + 0.25) = 0.46211716, tanh(-0.5 + 0.25 + 2 * 0.46211716) = 0.58775831 */
	GIVES(V(0.5, -1), 2e-6, 0.46211716, 0.58775831);
}

/* Gates i o f c of weight 1, 2, 3, 4 and no state before: c = s(x) tanh(4 x), h = s(2 x) tanh(c). */
static void
test_lstm(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1");
	onx_floats(file, "w", "1,4,1", (const float[]){1, 2, 3, 4});
	onx_floats(file, "r", "1,4,1", (const float[]){0, 0, 0, 0});
	onx_int(file, "hidden_size", 1);
	onx_node(file, "LSTM", "x,w,r", ",h,c");
	onx_output(file, "h");
	import(14);
	output_is("tensor<1x1x1xf32>");
	/* s(0.25) = 0.56217650, tanh(1) = 0.76159416, c = 0.42815035; s(0.5) = 0.62245933 */
	GIVES(V(0.25), 2e-6, 0.25133312);
}

/* Gates z r h: h' = (1 - z) tanh(x w + (r h) 1) + z h with h = 1, z = r = s(0) = 0.5. */
static void
test_gru(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1");
	onx_floats(file, "w", "1,3,1", (const float[]){0, 0, 1});
	onx_floats(file, "r", "1,3,1", (const float[]){0, 0, 1});
	onx_floats(file, "h0", "1,1,1", (const float[]){1});
	onx_int(file, "hidden_size", 1);
	onx_node(file, "GRU", "x,w,r,,,h0", "y");
	onx_output(file, "y");
	import(14);
	/* 0.5 tanh(0.25 + 0.5) + 0.5, tanh(0.75) = 0.63514895 */
	GIVES(V(0.25), 2e-6, 0.81757448);
}

/* What does not fit the others: one of w, r, b, h0, c0 and p in another shape, or an attribute; and the id and text that
 * say so. */
static const struct {
	int at; /* -1: all shapes are right */
	const char *shape;
	int64_t hidden;
	const char *activation, *id, *text;
} misfits[] = {
	{-1, NULL, 3, NULL, "import.attr", "hidden_size is 3, but r has 2"},
	{0, "1,8,3", 2, NULL, "import.input", "w is [1, 8, 3]; it must be [1, 8, 1]"},
	{1, "1,9,2", 2, NULL, "import.input", "r is [1, 9, 2]; it must be [1, 8, 2]"},
	{2, "1,8", 2, NULL, "import.input", "b is [1, 8]; it must be [1, 16]"},
	{3, "1,1,3", 2, NULL, "import.input", "initial_h is [1, 1, 3]; it must be [1, 1, 2]"},
	{4, "1,1,1", 2, NULL, "import.input", "initial_c is [1, 1, 1]; it must be [1, 1, 2]"},
	{5, "1,2", 2, NULL, "import.input", "p is [1, 2]; it must be [1, 6]"},
	{-1, NULL, 2, "Tanh", "import.attr", "1 activations; 3 are needed"},
};

static void
test_recurrent_refused(void **state)
{
	static const struct {
		const char *name, *shape;
	} operands[] = {{"w", "1,8,1"},  {"r", "1,8,2"},  {"b", "1,16"},
			{"h0", "1,1,2"}, {"c0", "1,1,2"}, {"p", "1,6"}};
	static const float zeros[32];

	(void)state;
	for (size_t i = 0; i < QN_COUNT(misfits); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,1");
		for (int k = 0; k < (int)QN_COUNT(operands); k++)
			onx_floats(file, operands[k].name,
				   k == misfits[i].at ? misfits[i].shape : operands[k].shape,
				   zeros);
		onx_int(file, "hidden_size", misfits[i].hidden);
		if (misfits[i].activation != NULL)
			onx_strings(file, "activations", 1, &misfits[i].activation);
		onx_node(file, "LSTM", "x,w,r,b,,h0,c0,p", "y");
		onx_output(file, "y");
		import_fails(14, misfits[i].id, misfits[i].text);
	}
}

static void
test_einsum(void **state)
{
	(void)state;
	onx_input(file, "a", ONX_FLOAT, "2,2");
	onx_floats(file, "b", "2,2", (const float[]){1, 2, 3, 4});
	onx_string(file, "equation", "ij,jk->ki");
	onx_node(file, "Einsum", "a,b", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 0, 0, 2), 0, 1, 6, 2, 8);
}

/* A length of 4 from 2, with the ends repeated. */
static void
test_resize(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_floats(file, "scales", "1", (const float[]){2});
	onx_string(file, "mode", "linear");
	onx_node(file, "Resize", "x,,scales", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(0, 4), 1e-6, 0, 1, 3, 4);
}

/* Both channels lie in each other's window: x / (1 + 3 / 3 * 5). */
static void
test_local_response(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2,1,1");
	onx_int(file, "size", 3);
	onx_real(file, "alpha", 3);
	onx_real(file, "beta", 1);
	onx_node(file, "LRN", "x", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 2), 1e-6, 1.0 / 6, 2.0 / 6);
}

/* The largest of [1 5; 7 2] and where it stands; and it put back there. */
static void
test_max_places(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,2,4");
	onx_list(file, "kernel_shape", 2, (const int64_t[]){2, 2});
	onx_list(file, "strides", 2, (const int64_t[]){2, 2});
	onx_node(file, "MaxPool", "x", "p,i");
	onx_list(file, "kernel_shape", 2, (const int64_t[]){2, 2});
	onx_list(file, "strides", 2, (const int64_t[]){2, 2});
	onx_node(file, "MaxUnpool", "p,i", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 5, 0, 3, 7, 2, 4, 1), 0, 0, 0, 0, 0, 7, 0, 4, 0);
}

/* One input channel to one output channel, a kernel [1 2] with a hole: x spreads to x, 0, 2 x. */
static void
test_conv_transpose(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,2");
	onx_floats(file, "w", "1,1,2", (const float[]){1, 2});
	onx_list(file, "dilations", 1, (const int64_t[]){2});
	onx_list(file, "strides", 1, (const int64_t[]){2});
	onx_node(file, "ConvTranspose", "x,w", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 10), 0, 1, 0, 12, 0, 20);
}

/* The same along the depth of a volume: x, 0, 2 x; and pads that cut off what is before the second element. */
static void
test_conv_transpose_volume(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,2,1,1");
	onx_floats(file, "w", "1,1,2,1,1", (const float[]){1, 2});
	onx_list(file, "dilations", 3, (const int64_t[]){2, 1, 1});
	onx_list(file, "strides", 3, (const int64_t[]){2, 1, 1});
	onx_node(file, "ConvTranspose", "x,w", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<1x1x5x1x1xf32>");
	GIVES(V(1, 10), 0, 1, 0, 12, 0, 20);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,2,1,1,3");
	onx_floats(file, "w", "2,1,1,1,1", (const float[]){2, 3});
	onx_floats(file, "b", "2", (const float[]){100, 200});
	onx_list(file, "pads", 6, (const int64_t[]){0, 0, 1, 0, 0, 0});
	onx_int(file, "group", 2);
	onx_node(file, "ConvTranspose", "x,w,b", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<1x2x1x1x2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 104, 106, 215, 218);
}

/* Column j of every block is j + 1: its place in the block. */
static void
test_columns_to_image(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,4,4");
	onx_ints64(file, "image", "2", (const int64_t[]){3, 3});
	onx_ints64(file, "block", "2", (const int64_t[]){2, 2});
	onx_node(file, "Col2Im", "x,image,block", "y");
	onx_output(file, "y");
	import(18);
	output_is("tensor<1x1x3x3xf32>");
	GIVES(V(1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4), 0, 1, 3, 2, 4, 10, 6, 3, 7, 4);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,4,5");
	onx_ints64(file, "image", "2", (const int64_t[]){3, 3});
	onx_ints64(file, "block", "2", (const int64_t[]){2, 2});
	onx_node(file, "Col2Im", "x,image,block", "y");
	onx_output(file, "y");
	import_fails(18, "import.input", "[N, C * 4, 4]");
}

/* 3 and 4 over sqrt(12.5), by one operator, with a scale that is written out. */
static void
test_root_mean_square(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_floats(file, "s", "1", (const float[]){2});
	onx_node(file, "RMSNormalization", "x,s", "y");
	onx_output(file, "y");
	import(23);
	assert_int_equal(qn_graph_node(rg->g, rg->g->output[0].value)->op, QN_OP_rms_norm);
	GIVES(V(3, 4), 1e-5, 1.69705627, 2.26274170);
}

static void
test_reverse_sequence(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "3,2"); /* steps, batches */
	onx_ints64(file, "n", "2", (const int64_t[]){2, 3});
	onx_node(file, "ReverseSequence", "x,n", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 2, 3, 4, 5, 6), 0, 3, 6, 1, 4, 5, 2);
}

static void
test_hardmax(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,3");
	onx_int(file, "axis", 0);
	onx_node(file, "Hardmax", "x", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, 9, 3, 4, 5, 3), 0, 0, 1, 1, 1, 0, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rnn),
		TEST(test_lstm),
		TEST(test_gru),
		TEST(test_recurrent_refused),
		TEST(test_einsum),
		TEST(test_resize),
		TEST(test_local_response),
		TEST(test_max_places),
		TEST(test_conv_transpose),
		TEST(test_reverse_sequence),
		TEST(test_hardmax),
		TEST(test_conv_transpose_volume),
		TEST(test_columns_to_image),
		TEST(test_root_mean_square),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
