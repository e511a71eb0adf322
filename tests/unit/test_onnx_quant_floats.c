/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_quant_floats.c - constants of FLOAT8 and FLOAT4 in ONNX files: only DequantizeLinear reads them, exactly. */
#include "tests/unit/onnx_quant_rig.h"

#include "passes/passes.h"

enum { E4M3FN = 17, E4M3FNUZ = 18, E5M2 = 19, E5M2FNUZ = 20, E2M1 = 23, E8M0 = 24 };

/* y = x * w, w [2,2] of this type with a scale for each column. */
static void
product(int type, const double *bits)
{
	onnx_begin(23);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 2));
	onnx_const("w", type, DIMS(2, 2), bits);
	onnx_const("s", ONNX_FLOAT, DIMS(2), V(0.5, 4));
	onnx_node("", "DequantizeLinear", "w s", "d");
	onnx_int("axis", 1);
	onnx_node("", "MatMul", "x d", "y");
	onnx_output("y");
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
}

static void
test_f8(void **state)
{
	static const struct {
		int type;
		double bits[4], want[4];
	} rows[] = {
		{E4M3FN, {0x38, 0xb8, 0x01, 0x7e}, {0.5, -4, 0x1p-10, 4 * 448}},
		{E4M3FNUZ, {0x40, 0xc0, 0x01, 0x7f}, {0.5, -4, 0x1p-11, 4 * 240}},
		{E5M2, {0x3c, 0xbc, 0x01, 0x7b}, {0.5, -4, 0x1p-17, 4 * 57344}},
		{E5M2FNUZ, {0x40, 0xc0, 0x01, 0x7f}, {0.5, -4, 0x1p-18, 4 * 57344}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		product(rows[i].type, rows[i].bits);
		gives(V(1, 0), 2, rows[i].want);
		gives(V(0, 1), 2, rows[i].want + 2);
		rig_teardown(state);
		rig_setup(state);
	}
}

/* Two values in a byte, blocks of two rows with scales that are powers of two. */
static void
test_f4(void **state)
{
	(void)state;
	onnx_begin(23);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 4));
	onnx_const("w", E2M1, DIMS(4, 2), V(1, 2, 3, 4, 5, 6, 7, 15));
	onnx_const("s", E8M0, DIMS(2, 2), V(127, 128, 126, 120));
	onnx_node("", "DequantizeLinear", "w s", "d");
	onnx_int("axis", 0);
	onnx_int("block_size", 2);
	onnx_node("", "MatMul", "x d", "y");
	onnx_output("y");
	onnx_read();
	gives(V(1, 0, 0, 0), 2, V(0.5, 2));
	gives(V(0, 1, 0, 0), 2, V(1.5, 4));
	gives(V(0, 0, 1, 0), 2, V(1.5, 4.0 / 128));
	gives(V(0, 0, 0, 1), 2, V(3, -6.0 / 128));
}

/* Between quantized activations the weights stay in their storage until requantize. */
static void
test_in_file(void **state)
{
	size_t stored = 0;

	(void)state;
	onnx_begin(23);
	onnx_input("x", ONNX_FLOAT, DIMS(1, 2));
	onnx_const("xs", ONNX_FLOAT, NO_DIMS, V(0.5));
	onnx_const("z", ONNX_I8, NO_DIMS, V(0));
	onnx_const("w", E4M3FN, DIMS(2, 2), V(0x38, 0xb8, 0x3c, 0x40));
	onnx_const("s", ONNX_FLOAT, DIMS(2), V(0.5, 4));
	onnx_node("", "QuantizeLinear", "x xs z", "q");
	onnx_node("", "DequantizeLinear", "q xs z", "dq");
	onnx_node("", "DequantizeLinear", "w s", "d");
	onnx_int("axis", 1);
	onnx_node("", "MatMul", "dq d", "y");
	onnx_node("", "QuantizeLinear", "y xs z", "yq");
	onnx_output("yq");
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
	for (qn_id id = 1; id < rg->g->n; id++)
		stored += qn_graph_node(rg->g, id)->type->elem->small == QN_SMALL_E4M3;
	assert_int_equal(stored, 1);
	assert_int_equal(qn_axes(&rg->m), QN_OK);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	near(V((2 * 0.5 + 3 * 0.75) * 2, (2 * -4 + 3 * 8) * 2), run1(V(4, 6)), 2, 1);
}

static void
test_refused(void **state)
{
	(void)state;
	onnx_begin(23);
	onnx_input("x", ONNX_FLOAT, DIMS(2));
	onnx_const("w", E5M2, DIMS(2), V(0x3c, 0x40));
	onnx_node("", "Add", "x w", "y");
	onnx_output("y");
	onnx_fails("type.storage.float", "only dequantize reads such values");
}

/* Data, by the type of a zero point and by an attribute: refused, and with from_float left as they are. */
static void
test_data(void **state)
{
	static const struct {
		const char *inputs;
		int type, attribute;
		const char *words;
	} rows[] = {
		{"x s z", E4M3FN, 0, "f8E4M3FN are not supported"},
		{"x s z", E2M1, 0, "f4E2M1FN are not supported"},
		{"x s", ONNX_U8, E5M2, "FLOAT8E5M2 are not supported"},
	};

	for (size_t i = 0; i < 2 * QN_COUNT(rows); i++) {
		onnx_begin(23);
		onnx_how.from_float = i % 2 != 0;
		onnx_input("x", ONNX_FLOAT, DIMS(2));
		scale("s", 0.5);
		zero_point("z", rows[i / 2].type, 0);
		onnx_node("", "QuantizeLinear", rows[i / 2].inputs, "q");
		if (rows[i / 2].attribute != 0)
			onnx_int("output_dtype", rows[i / 2].attribute);
		onnx_node("", "DequantizeLinear", "q s", "y");
		onnx_output("y");
		if (onnx_how.from_float) {
			onnx_read();
			gives(V(-3.25, 1000), 2, V(-3.25, 1000));
		} else {
			onnx_fails("import.type", rows[i / 2].words);
		}
		rig_teardown(state);
		rig_setup(state);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_f8, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_f4, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_in_file, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_data, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
