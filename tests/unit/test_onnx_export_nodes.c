/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_export_nodes.c - the nodes of written ONNX files: how many there are of each operator, their names and
 * operands. */
#include "tests/unit/onnx_export_rig.h"

#include <onnx/onnx.pb-c.h>

static Onnx__ModelProto *
unpacked(void)
{
	const qn_buf b = written();
	Onnx__ModelProto *file = onnx__model_proto__unpack(NULL, b.n, (const uint8_t *)b.data);

	assert_non_null(file);
	return file;
}

static size_t
nodes_of(const Onnx__ModelProto *file, const char *op)
{
	size_t n = 0;

	for (size_t i = 0; i < file->graph->n_node; i++)
		n += strcmp(file->graph->node[i]->op_type, op) == 0;
	return n;
}

static const Onnx__NodeProto *
node_of(const Onnx__ModelProto *file, const char *name)
{
	for (size_t i = 0; i < file->graph->n_node; i++)
		if (strcmp(file->graph->node[i]->name, name) == 0)
			return file->graph->node[i];
	fail_msg("no node '%s'", name);
	return NULL;
}

/* A residual block of a quantized network: transposed where it begins alone, one pair a value, u8 in
 * between, nodes named like the layers. */
static void
test_nodes_quantized(void **state)
{
	(void)state;
	read_text("model \"m\" stage calibrated\n"
		  "graph @main(%x: tensor<1x4x6x2x!quant.uniform<i8:f32, 0.5:-3>>) {\n"
		  "  %w = const : tensor<2x3x3x2x!quant.uniform<i8:f32, 0.25>> rand 1\n"
		  "  %v = const : tensor<2x1x1x2x!quant.uniform<i8:f32, 0.25>> rand 2\n"
		  "  %k = const : tensor<3x12x!quant.uniform<i8:f32, 0.125>> rand 3\n"
		  "  %a.acc = conv2d %x, %w {padding=same}\n"
		  "  %a_1 = requantize %a.acc : tensor<1x4x6x2x!quant.uniform<i8:f32, 8.0:-128>>\n"
		  "  %b.acc = conv2d %a_1, %v\n"
		  "  %b_1 = requantize %b.acc : tensor<1x4x6x2x!quant.uniform<i8:f32, 64.0>>\n"
		  "  %sum = add %a_1, %b_1 : tensor<1x4x6x2x!quant.uniform<i8:f32, 64.0>>\n"
		  "  %pool = max_pool %sum {kernel=[2,2], stride=[2,2]}\n"
		  "  %flat = reshape %pool {shape=[1,12]}\n"
		  "  %y.acc = dense %flat, %k\n"
		  "  %y_1 = requantize %y.acc : tensor<1x3x!quant.uniform<i8:f32, 512.0>>\n"
		  "  return %y_1\n}\n");
	Onnx__ModelProto *file = unpacked();
	assert_int_equal(nodes_of(file, "Transpose"), 1);
	assert_int_equal(nodes_of(file, "Reshape"), 1);
	/* x, a, b, sum, pool, flat, y; the output's storage */
	assert_int_equal(nodes_of(file, "QuantizeLinear"), 8);
	/* each of the seven, the input's storage, three weights */
	assert_int_equal(nodes_of(file, "DequantizeLinear"), 11);
	assert_string_equal(node_of(file, "a")->op_type, "Conv");
	assert_string_equal(node_of(file, "y")->op_type, "Gemm");
	assert_string_equal(node_of(file, "sum")->input[0], "a_dequantized");
	assert_string_equal(node_of(file, "a_dequantized")->input[1], "a_scale");
	for (size_t i = 0; i < file->graph->n_initializer; i++)
		if (strcmp(file->graph->initializer[i]->name, "a_zero_point") == 0)
			assert_int_equal(file->graph->initializer[i]->data_type, 2);
	onnx__model_proto__free_unpacked(file, NULL);
	is_the_same();
}

/* Of a float network that was calibrated: no quantized value twice, a pool between pairs of its own. */
static void
test_nodes_calibrated(void **state)
{
	(void)state;
	read_text("model \"m\" stage calibrated\n"
		  "graph @main(%x: tensor<1x4x4x2xf32>) {\n"
		  "  %in = quantize %x : tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5>>\n"
		  "  %back = dequantize %in\n"
		  "  %again = quantize %back : tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5>>\n"
		  "  %w = const : tensor<2x1x1x2x!quant.uniform<i8:f32, 0.25>> rand 1\n"
		  "  %c.acc = conv2d %again, %w\n"
		  "  %c = dequantize %c.acc\n"
		  "  %r = relu %c\n"
		  "  %p = max_pool %r {kernel=[2,2], stride=[2,2]}\n"
		  "  %one = quantize %p : tensor<1x2x2x2x!quant.uniform<i8:f32, 4.0:-128>>\n"
		  "  %two = quantize %p : tensor<1x2x2x2x!quant.uniform<i8:f32, 4.0:-128>>\n"
		  "  %d.acc = conv2d %one, %w\n"
		  "  %e.acc = conv2d %two, %w {stride=[2,2]}\n"
		  "  %d = dequantize %d.acc\n"
		  "  %e = dequantize %e.acc\n"
		  "  return %d, %e\n}\n");
	Onnx__ModelProto *file = unpacked();
	assert_int_equal(nodes_of(file, "QuantizeLinear"), 3); /* x, relu, pool */
	assert_int_equal(nodes_of(file, "DequantizeLinear"), 4);
	assert_int_equal(nodes_of(file, "Transpose"), 2); /* the input; of the outputs one is 1x1 */
	assert_string_equal(node_of(file, "r_quantized")->input[0], "r");
	assert_string_equal(node_of(file, "p")->input[0], "r_dequantized");
	onnx__model_proto__free_unpacked(file, NULL);
	is_the_same();
}

/* A chain of transposes is one, however long it is. */
static void
test_nodes_many(void **state)
{
	enum { LENGTH = 50001 };
	qn_buf b;

	(void)state;
	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "graph @main(%%x: tensor<1x2x3x4xf32>) {\n"
		    "  %%t0 = transpose %%x {perm=[0,3,1,2]}\n");
	for (int i = 1; i < LENGTH; i++)
		qn_buff(&b, "  %%t%d = transpose %%t%d {perm=[0,%s]}\n", i, i - 1,
			i % 2 == 0 ? "3,1,2" : "2,3,1");
	qn_buff(&b, "  return %%t%d\n}\n", LENGTH - 1);
	read_text(qn_buf_str(&b));
	Onnx__ModelProto *file = unpacked();
	assert_int_equal(nodes_of(file, "Transpose"), 1);
	onnx__model_proto__free_unpacked(file, NULL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_nodes_quantized),
		TEST(test_nodes_calibrated),
		TEST(test_nodes_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
