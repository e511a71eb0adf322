/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_saturation.c - from_float keeps what a QuantizeLinear of the file did beside rounding: a Relu or Clip
 * that an exporter left to its saturation. */
#include "tests/unit/onnx_rig.h"

/* x -> [DequantizeLinear] -> Mul(-1 …) -> `between` -> QuantizeLinear(u8, scale 0.5, zp) -> DequantizeLinear -> y */
static void
network(int type, const char *between, uint8_t zp)
{
	const bool stored = type != ONX_FLOAT;

	another_file();
	onx_input(file, "x", type, "1,4");
	onx_floats(file, "s", "", &(const float){0.5F});
	onx_tensor(file, "zi", ONX_INT8, "", &(const int8_t){-10}, 1);
	onx_tensor(file, "z", ONX_UINT8, "", &zp, 1);
	onx_floats(file, "w", "4", (const float[]){1, -1, 2, 100});
	if (stored)
		onx_node(file, "DequantizeLinear", "x,s,zi", "d");
	onx_node(file, "Mul", stored ? "d,w" : "x,w", "m");
	if (between != NULL)
		onx_node(file, between, "m", "r");
	onx_node(file, "QuantizeLinear", between != NULL ? "r,s,z" : "m,s,z", "q");
	onx_node(file, "DequantizeLinear", "q,s,z", "y");
	onx_output(file, "y");
	how.from_float = true;
}

static size_t
clips(void)
{
	size_t n = 0;

	for (qn_id id = 1; id < rg->g->n; id++)
		n += qn_graph_node(rg->g, id)->op == QN_OP_clip;
	return n;
}

static void
test_range_ends_at_0(void **state)
{
	(void)state;
	network(ONX_FLOAT, NULL, 0);
	import(13);
	assert_int_equal(clips(), 1);
	GIVES(V(3, 3, -2, 4), 0, 3, 0, 0, 127.5);
	network(ONX_FLOAT, NULL, 255);
	import(13);
	GIVES(V(3, 3, -2, -4), 0, 0, -3, -4, -127.5);
}

static void
test_nothing_to_keep(void **state)
{
	static const char *const never_negative[] = {"Relu", "Sigmoid", "Abs"};

	(void)state;
	network(ONX_FLOAT, NULL, 100); /* 0 is inside */
	import(13);
	assert_int_equal(clips(), 0);
	GIVES(V(3, 3, -2, 4), 0, 3, -3, -4, 400);
	for (size_t i = 0; i < QN_COUNT(never_negative); i++) {
		network(ONX_FLOAT, never_negative[i], 0);
		import(13);
		assert_int_equal(clips(), 0);
	}
}

/* An input that is only dequantized becomes an input of float values; as it is in the file it stays where
 * something else reads it. */
static void
test_quantized_input(void **state)
{
	(void)state;
	network(ONX_INT8, NULL, 0);
	import(13);
	assert_int_equal(qn_graph_node(rg->g, rg->g->input[0])->type->elem->plain, QN_PLAIN_f32);
	GIVES(V(3, 3, -2, 1), 0, 3, 0, 0, 100);
	network(ONX_INT8, NULL, 0);
	onx_node(file, "Transpose", "x", "t");
	onx_node(file, "DequantizeLinear", "t,s,zi", "u");
	onx_output(file, "u");
	import(13);
	assert_int_equal(qn_graph_node(rg->g, rg->g->input[0])->type->elem->plain, QN_PLAIN_f32);
	network(ONX_INT8, NULL, 0);
	onx_node(file, "Neg", "x", "other");
	onx_output(file, "other");
	import(13);
	assert_int_equal(qn_graph_node(rg->g, rg->g->input[0])->type->elem->plain, QN_PLAIN_i8);
	GIVES(V(-4, -4, -14, -8), 0, 3, 0, 0, 100);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, onnx_setup, onnx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_range_ends_at_0),
		TEST(test_nothing_to_keep),
		TEST(test_quantized_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
