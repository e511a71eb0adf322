/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_quant.c - QuantizeLinear and DequantizeLinear of ONNX files: their parameters become types, and the layers
 * between them integer without samples. */
#include "tests/unit/onnx_quant_rig.h"

#include <math.h>

#include "passes/passes.h"
#include "runtime/fixed.h"

static const char *
text(const char *fmt, const char *a, const char *b, const char *c)
{
	qn_buf buf;

	qn_buf_init(&buf, &rg->arena);
	for (; *fmt != '\0'; fmt++)
		if (*fmt == '1' || *fmt == '2' || *fmt == '3')
			qn_buf_puts(&buf, *fmt == '1' ? a : *fmt == '2' ? b : c);
		else
			qn_buff(&buf, "%c", *fmt);
	return qn_buf_str(&buf);
}

/* "name = dequantize(quantize(x))" */
static void
quantize_pair(const char *x, const char *s, const char *z, const char *name)
{
	const char *q = text("1_q", name, NULL, NULL);

	onnx_node("", "QuantizeLinear", text("1 2 3", x, s, z), q);
	onnx_node("", "DequantizeLinear", text("1 2 3", q, s, z), name);
}

/* Conv, Relu, GlobalAveragePool and Gemm between pairs, weights and biases behind a dequantize. */
static void
qdq_network(void)
{
	double w[36], d[6];

	for (int i = 0; i < 36; i++)
		w[i] = (i * 37) % 255 - 127;
	for (int i = 0; i < 6; i++)
		d[i] = (i * 50) % 255;
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 4, 4, 4));
	scale("s", 0.05);
	zero_point("z", ONNX_U8, 128);
	scale("s2", 0.75);
	zero_point("z2", ONNX_U8, 0);
	scale("s3", 0.5);
	onnx_const("w", ONNX_I8, DIMS(3, 4, 3, 1), w);
	onnx_const("ws", ONNX_FLOAT, DIMS(3), V(0.02, 0.01, 0.03));
	onnx_const("b", ONNX_I32, DIMS(3), V(500, -700, 90));
	onnx_const("bs", ONNX_FLOAT, DIMS(3), V(0.05 * 0.02, 0.05 * 0.01, 0.05 * 0.03));
	onnx_const("d", ONNX_U8, DIMS(2, 3), d);
	scale("ds", 0.01);
	onnx_const("db", ONNX_FLOAT, DIMS(2), V(0.25, -0.5));
	quantize_pair("x", "s", "z", "xd");
	onnx_node("", "DequantizeLinear", "w ws", "wd");
	onnx_int("axis", 0);
	onnx_node("", "DequantizeLinear", "b bs", "bd");
	onnx_int("axis", 0);
	onnx_node("", "Conv", "xd wd bd", "c");
	onnx_ints("pads", 4, (const int64_t[]){1, 0, 1, 0});
	onnx_node("", "Relu", "c", "r");
	quantize_pair("r", "s2", "z2", "rd");
	onnx_node("", "GlobalAveragePool", "rd", "g");
	quantize_pair("g", "s3", "z2", "gd");
	onnx_node("", "Flatten", "gd", "f");
	onnx_node("", "DequantizeLinear", "d ds z", "dd");
	onnx_node("", "Gemm", "f dd db", "y0");
	onnx_int("transB", 1);
	quantize_pair("y0", "s2", "z", "y");
	onnx_output("y");
}

static void
test_network(void **state)
{
	const qn_graph *before;
	double x[64], *want, *have;

	(void)state;
	qdq_network();
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
	assert_int_equal(rg->m.rounding, QN_RQ_EVEN);
	for (int i = 0; i < 64; i++)
		x[i] = (double)pick(-128, 127) * 0.05;
	want = run1(x);
	before = rg->g;
	assert_int_equal(qn_axes(&rg->m), QN_OK);
	qn_status status = qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true});
	no_errors();
	assert_int_equal(status, QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	assert_int_equal(qn_model_verify(&rg->m), QN_OK);
	rg->g = qn_model_entry(&rg->m);
	assert_int_equal(count(QN_OP_dequantize), 0);
	assert_int_equal(qn_graph_node(rg->g, rg->g->input[0])->type->elem->plain, QN_PLAIN_u8);
	assert_true(before != rg->g);
	for (int i = 0; i < 64; i++)
		x[i] = rint(x[i] / 0.05) + 128;
	have = run1(x);
	for (int i = 0; i < 2; i++)
		have[i] = (have[i] - 128) * 0.75;
	near(want, have, 2, 0.76);
}

static void
test_from_float(void **state)
{
	(void)state;
	qdq_network();
	onnx_how.from_float = true;
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	assert_int_equal(count(QN_OP_quantize), 0);
	assert_int_equal(count(QN_OP_conv2d), 1);
}

/* Only weights in codes: a float model. */
static void
test_weights_alone(void **state)
{
	(void)state;
	onnx_begin(21);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 4));
	onnx_const("w", ONNX_I4, DIMS(4, 2), V(1, -8, 7, 2, 3, -4, 5, 6));
	onnx_const("ws", ONNX_FLOAT, DIMS(2, 2), V(0.5, 1, 2, 0.25));
	onnx_node("", "DequantizeLinear", "w ws", "wd");
	onnx_int("axis", 0);
	onnx_int("block_size", 2);
	onnx_node("", "MatMul", "x wd", "y");
	onnx_output("y");
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	gives(V(1, 1, 1, 1), 2, V(4 + 16, -6 + 0.5));
}

static void
test_types(void **state)
{
	(void)state;
	onnx_begin(21);
	onnx_input("x", ONNX_FLOAT, DIMS(2, 3));
	onnx_const("s", ONNX_FLOAT, DIMS(2), V(0.5, 2));
	onnx_const("z", ONNX_I8, DIMS(2), V(3, -1));
	onnx_const("bs", ONNX_FLOAT, DIMS(2, 2), V(1, 2, 0.5, 4));
	onnx_node("", "QuantizeLinear", "x s z", "q");
	onnx_int("axis", -2);
	onnx_node("", "DequantizeLinear", "q s z", "y");
	onnx_int("axis", 0);
	onnx_node("", "QuantizeLinear", "y bs", "b");
	onnx_int("axis", 1);
	onnx_int("block_size", 2);
	onnx_int("output_dtype", ONNX_I4);
	onnx_node("", "DequantizeLinear", "b bs", "v");
	onnx_int("axis", 1);
	onnx_int("block_size", 2);
	onnx_output("v");
	onnx_read();
	/* 1.25 / 0.5 and 0.75 / 0.5 round to 2; blocks of row 0: {1, 1}, {3.5}, of row 1: {100, -4}, {6} */
	gives(V(1.25, 0.75, 3.5, 100, -5, 6), 6, V(1, 1, 4, 3.5, -4, 8));
}

static void
test_refused(void **state)
{
	(void)state;
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(2, 3));
	onnx_const("s", ONNX_FLOAT, DIMS(4), V(1, 1, 1, 1));
	onnx_node("", "QuantizeLinear", "x s", "y");
	onnx_output("y");
	onnx_fails("import.input", "there are 4 scales, and axis 1 of the value [2,3]");
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	onnx_begin(21);
	onnx_const("q", ONNX_I8, DIMS(2, 3), V(1, 2, 3, 4, 5, 6));
	onnx_const("s", ONNX_FLOAT, DIMS(1, 3), V(1, 1, 1));
	onnx_node("", "DequantizeLinear", "q s", "y");
	onnx_output("y");
	onnx_fails("import.input", "the scales [1,3] do not match the blocks of 0 (block_size) "
				   "along axis 1 of the value [2,3]");
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	onnx_begin(13);
	onnx_const("q", ONNX_I8, DIMS(2, 3), V(1, 2, 3, 4, 5, 6));
	onnx_const("s", ONNX_FLOAT, DIMS(3), V(1, 1, 1));
	onnx_const("z", ONNX_I8, DIMS(2), V(1, 1));
	onnx_node("", "DequantizeLinear", "q s z", "y");
	onnx_output("y");
	onnx_fails("import.input", "there are 2 zero points and 3 scales");
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	onnx_begin(13);
	onnx_input("x", ONNX_U8, DIMS(2, 3));
	scale("s", 1);
	zero_point("z", ONNX_I8, 1);
	scale("t", -1);
	onnx_node("", "DequantizeLinear", "x s z", "d");
	onnx_node("", "QuantizeLinear", "d s z", "y");
	onnx_output("y");
	onnx_fails("import.type", "zero point is i8");
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(2, 3));
	scale("s", HUGE_VAL);
	onnx_node("", "QuantizeLinear", "x s", "y");
	onnx_output("y");
	onnx_fails("import.input",
		   "a scale is infinite or NaN, so that no value can be computed with it: "
		   "element 0 is inf");
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(2, 3));
	scale("t", -1);
	onnx_node("", "QuantizeLinear", "x t", "y");
	onnx_output("y");
	assert_int_not_equal(onnx_try(), QN_OK);
	assert_string_equal(rg->diags.item[0].id, "type.scale.range");
	assert_string_equal(rg->diags.item[0].place,
			    "f.onnx: node 'y' (QuantizeLinear, version 13)");
	(void)rig_teardown(NULL), (void)rig_setup(NULL);
	onnx_begin(13);
	onnx_input("x", ONNX_FLOAT, DIMS(2, 3));
	scale("s", 0.5);
	zero_point("z", ONNX_U8, 3);
	onnx_const("w", ONNX_I8, DIMS(3, 1), V(1, 2, 3));
	onnx_node("", "QuantizeLinear", "x s z", "q");
	onnx_node("", "MatMulInteger", "q w z", "y");
	onnx_output("y");
	onnx_how.from_float = true;
	onnx_fails("import.op", "QuantizeLinear that made input 0 was removed");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_network), TEST(test_from_float), TEST(test_weights_alone),
		TEST(test_types),   TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
