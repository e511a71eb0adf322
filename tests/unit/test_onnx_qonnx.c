/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_qonnx.c - Quant, BipolarQuant and Trunc of QONNX: values, types, and the integer program of a small network. */
#include "tests/unit/onnx_rig.h"

#include "passes/passes.h"

static const char *const general = "qonnx.custom_op.general";

static void
scalar(const char *name, float v)
{
	onx_floats(file, name, "", &v);
}

/* x -> op with inputs `in` -> y */
static void
one(const char *domain, const char *op, const char *in)
{
	file->domain = domain;
	onx_node(file, op, in, "y");
	file->domain = NULL;
	onx_output(file, "y");
}

static void
quant_of(float scale, float zp, float bits, int64_t is_signed, int64_t narrow)
{
	another_file();
	onx_input(file, "x", ONX_FLOAT, "6");
	scalar("s", scale);
	scalar("z", zp);
	scalar("b", bits);
	onx_int(file, "signed", is_signed);
	onx_int(file, "narrow", narrow);
	one(general, "Quant", "x,s,z,b");
}

static const qn_type *
type_of_quantize(void)
{
	for (qn_id id = 1; id < rg->g->n; id++)
		if (qn_graph_node(rg->g, id)->op == QN_OP_quantize)
			return qn_graph_node(rg->g, id)->type;
	return NULL;
}

static void
test_values(void **state)
{
	(void)state;
	quant_of(0.5f, 0, 4, 1, 0);
	import(13);
	assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
	assert_ptr_equal(type_of_quantize(), type("tensor<6x!quant.uniform<i8<-8:7>:f32, 0.5>>"));
	GIVES(V(0.2, 0.25, 0.75, -9, 9, -0.3), 0, 0, 0, 1, -4, 3.5, -0.5);
	quant_of(0.5f, 0, 4, 1, 1);
	import(13);
	GIVES(V(0.2, 0.25, 0.75, -9, 9, -0.3), 0, 0, 0, 1, -3.5, 3.5, -0.5);
	quant_of(0.25f, 2, 2, 0, 0);
	import(13);
	assert_ptr_equal(type_of_quantize(), type("tensor<6x!quant.uniform<u8<0:3>:f32, 0.25:2>>"));
	GIVES(V(0, 0.25, 0.75, -9, 9, -0.3), 0, 0, 0.25, 0.25, -0.5, 0.25, -0.25);
	quant_of(0.25f, 0, 12, 1, 0);
	import(13);
	assert_ptr_equal(type_of_quantize(),
			 type("tensor<6x!quant.uniform<i16<-2048:2047>:f32, 0.25>>"));
}

/* Both domains and names; rounding to the nearest with halves away from 0; the words in lower case. */
static void
test_domains(void **state)
{
	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "4");
	scalar("s", 1);
	scalar("z", 0);
	scalar("b", 8);
	onx_string(file, "rounding_mode", "half_up");
	one("onnx.brevitas", "Quant", "x,s,z,b");
	import(13);
	GIVES(V(2.5, -2.5, 1.5, 0.4), 0, 3, -3, 2, 0);
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2");
	scalar("s", 0.5f);
	scalar("z", 0);
	scalar("b", 4);
	one(general, "IntQuant", "x,s,z,b");
	import(13);
	GIVES(V(0.75, -9), 0, 1, -4);
}

/* Weights: codes of the file's bits, a scale for each channel, all roundings; biases in 32 bits. */
static void
test_weights(void **state)
{
	static const struct {
		const char *mode;
		double want[6];
	} rows[] = {
		{"ROUND", {2, -2, 1, -2, 6, 1}},     {"FLOOR", {2, -3, 1, -2, 5, 1}},
		{"CEIL", {3, -2, 2, -1, 6, 2}},      {"UP", {3, -3, 2, -2, 6, 2}},
		{"DOWN", {2, -2, 1, -1, 5, 1}},      {"HALF_UP", {3, -3, 1, -2, 6, 1}},
		{"HALF_DOWN", {2, -2, 1, -2, 5, 1}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_floats(file, "w", "2,3", (const float[]){2.5f, -2.5f, 1.1f, -3.2f, 11, 2.8f});
		onx_floats(file, "s", "2,1", (const float[]){1, 2});
		scalar("z", 0);
		scalar("b", 4);
		onx_input(file, "x", ONX_FLOAT, "2,3");
		onx_string(file, "rounding_mode", rows[i].mode);
		file->domain = general;
		onx_node(file, "Quant", "w,s,z,b", "v");
		file->domain = NULL;
		onx_node(file, "Mul", "x,v", "y");
		onx_output(file, "y");
		import(13);
		assert_int_equal(rg->m.stage, QN_STAGE_FLOAT); /* weights alone */
		double want[6];
		for (int k = 0; k < 6; k++)
			want[k] = rows[i].want[k] * (k < 3 ? 1 : 2);
		near(want, run1(V(1, 1, 1, 1, 1, 1)), 6, 0);
	}
}

static void
test_bipolar(void **state)
{
	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "4");
	scalar("s", 0.5f);
	one(general, "BipolarQuant", "x,s");
	import(13);
	assert_ptr_equal(type_of_quantize(), type("tensor<4x!quant.uniform<i8<-1:1>:f32, 0.5>>"));
	GIVES(V(2, 0, -0.01, -7), 0, 0.5, 0.5, -0.5, -0.5);
}

/* Quantized values of 8 bits, scale 0.5, lose 2: of version 1 the scale stays, and nothing is limited; of version 2 it
 * is 2, and the range that of so many bits. */
static void
test_trunc(void **state)
{
	static const struct {
		const char *mode;
		double want[6];
	} rows[] = {
		{"FLOOR", {1, 1, 2, -1, -2, 31}},
		{"CEIL", {1, 2, 2, 0, -1, 32}},
		{"ROUND", {1, 2, 2, 0, -1, 32}},
	};
	/* 4, 7, 8, -1, -5, 127 */
	const double x[] = {2, 3.5, 4, -0.5, -2.5, 63.5};

	(void)state;
	for (int version = 1; version < 3; version++)
		for (size_t i = 0; i < QN_COUNT(rows); i++) {
			another_file();
			onx_input(file, "x", ONX_FLOAT, "6");
			scalar("s", 0.5f);
			scalar("z", 0);
			scalar("b", 8);
			scalar("t", 2);
			scalar("c", 6);
			onx_string(file, "rounding_mode", rows[i].mode);
			one(general, "Trunc", version == 1 ? "x,s,z,b,c" : "x,s,z,b,t,c");
			import(13);
			double want[6];
			for (int k = 0; k < 6; k++) {
				const bool limited = version == 2 && rows[i].want[k] > 31;
				want[k] =
					(limited ? 31 : rows[i].want[k]) * (version == 1 ? 0.5 : 2);
			}
			near(want, run1(x), 6, 0);
		}
}

/* What Quant made has its results: of 8 bits without a sign that lose 4, 0 to 15. */
static void
test_trunc_after_quant(void **state)
{
	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "4");
	scalar("s", 0.5f);
	scalar("z", 0);
	scalar("b", 8);
	scalar("c", 4);
	onx_int(file, "signed", 0);
	file->domain = general;
	onx_node(file, "Quant", "x,s,z,b", "q");
	onx_node(file, "Trunc", "q,s,z,b,c", "y");
	file->domain = NULL;
	onx_output(file, "y");
	import(13);
	GIVES(V(127.5, 60, 7.9, -3), 0, 7.5, 3.5, 0.5, 0);
}

/* One bit with a sign is -1 and 1. */
static void
test_one_bit(void **state)
{
	(void)state;
	quant_of(0.5f, 0, 1, 1, 0);
	import(13);
	assert_ptr_equal(type_of_quantize(), type("tensor<6x!quant.uniform<i8<-1:1>:f32, 0.5>>"));
	GIVES(V(0.2, 0.25, 0, -9, 9, -0.01), 0, 0.5, 0.5, 0.5, -0.5, 0.5, -0.5);
	quant_of(0.5f, 1, 1, 1, 0);
	import_fails(13, "import.input", "one bit with a sign and a zero point of 1");
}

/* With from_float values stay and weights are rounded. */
static void
test_from_float(void **state)
{
	(void)state;
	quant_of(0.5f, 0, 4, 1, 0);
	how.from_float = true;
	import(13);
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	GIVES(V(0.2, 0.25, 0.75, -9, 9, -0.3), 1e-6, 0.2, 0.25, 0.75, -9, 9, -0.3);
}

static void
test_refused(void **state)
{
	static const struct {
		float zp, bits;
		int64_t is_signed;
		const char *mode, *id, *text;
	} rows[] = {
		{0, 0, 1, "ROUND", "import.input", "0.0 bits"},
		{0, 2.5f, 1, "ROUND", "import.input", "2.5 bits"},
		{0.5f, 8, 1, "ROUND", "import.input", "zero point of 0.5"},
		{0, 20, 1, "ROUND", "import.input", "20 bits"},
		{0, 16, 0, "ROUND", "import.input", "without a sign"},
		{0, 8, 1, "FLOOR", "import.attr", "rounding_mode FLOOR"},
		{0, 8, 1, "SOME", "import.attr", "'SOME'"},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "6");
		scalar("s", 0.5f);
		scalar("z", rows[i].zp);
		scalar("b", rows[i].bits);
		onx_int(file, "signed", rows[i].is_signed);
		onx_string(file, "rounding_mode", rows[i].mode);
		one(general, "Quant", "x,s,z,b");
		import_fails(13, rows[i].id, rows[i].text);
	}
	another_file();
	onx_input(file, "x", ONX_FLOAT, "6");
	onx_input(file, "s", ONX_FLOAT, "");
	scalar("z", 0);
	scalar("b", 8);
	one(general, "Quant", "x,s,z,b");
	import_fails(13, "import.constant", "must be constants");
}

/* A layer as Brevitas exports it becomes integers, whose results are those of the real graph. */
static void
test_integer_program(void **state)
{
	(void)state;
	another_file();
	onx_input(file, "x", ONX_FLOAT, "16,2");
	scalar("sx", 0.25f);
	scalar("sy", 0.5f);
	scalar("z", 0);
	scalar("b8", 8);
	scalar("b4", 4);
	scalar("b32", 32);
	onx_floats(file, "sw", "2,1", (const float[]){0.5f, 0.25f});
	onx_floats(file, "w", "2,2", (const float[]){0.5f, -1, 0.75f, 1.25f});
	onx_floats(file, "sb", "2", (const float[]){0.125f, 0.0625f});
	onx_floats(file, "c", "2", (const float[]){1, -0.5f});
	file->domain = general;
	onx_node(file, "Quant", "x,sx,z,b8", "xq");
	onx_int(file, "narrow", 1);
	onx_node(file, "Quant", "w,sw,z,b4", "wq");
	onx_node(file, "Quant", "c,sb,z,b32", "cq");
	file->domain = NULL;
	onx_int(file, "transB", 1);
	onx_node(file, "Gemm", "xq,wq,cq", "h");
	onx_node(file, "Relu", "h", "r");
	file->domain = general;
	onx_int(file, "signed", 0);
	onx_node(file, "Quant", "r,sy,z,b4", "y");
	file->domain = NULL;
	onx_output(file, "y");
	import(13);
	double x[32];
	for (int i = 0; i < 32; i++)
		x[i] = (i * 7 % 19 - 9) * 0.25;
	double real[32];
	memcpy(real, run1(x), sizeof real);
	rg->m.scratch = &rg->arena;
	assert_int_equal(qn_axes(&rg->m), QN_OK);
	assert_int_equal(qn_requantize(&rg->m, NULL), QN_OK);
	const qn_status legal = qn_legalize(&rg->m);
	no_errors();
	assert_int_equal(legal, QN_OK);
	assert_int_equal(rg->m.stage, QN_STAGE_INTEGER);
	rg->g = qn_model_entry(&rg->m);
	for (int i = 0; i < 32; i++) /* codes of the input, and of the result, in steps of 0.5 */
		x[i] *= 4;
	const double *codes = run1(x);
	for (int i = 0; i < 32; i++)
		assert_true(codes[i] * 0.5 == real[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_values),          TEST(test_domains),    TEST(test_weights),
		TEST(test_bipolar),         TEST(test_trunc),      TEST(test_trunc_after_quant),
		TEST(test_one_bit),         TEST(test_from_float), TEST(test_refused),
		TEST(test_integer_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
