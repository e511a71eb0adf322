/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_quant_gather.c - tables in blocks of ONNX files: rows as real numbers, and between quantized values in
 * integers alone. */
#include "tests/unit/onnx_protobuf.h"

#include <math.h>

#include "passes/passes.h"

#define V(...) ((const double[]){__VA_ARGS__})

enum { ROWS = 3, COLUMNS = 20, BLOCK = 16, BLOCKS = 2 };

static const double scales[ROWS * BLOCKS] = {0.5, 0.25, 1, 2, 0.125, 3};

/* Value i of the table, between -8 and 7. */
static int
value(int i)
{
	return (i * 5 + i / 7) % 16 - 8;
}

/* What value i, less its zero point, stands for. */
static double
number(int i, int zero)
{
	return (value(i) + 8 - zero) * scales[i / COLUMNS * BLOCKS + i % COLUMNS / BLOCK];
}

/* The table as INT4 or, two of its values in a byte, as UINT8. */
static void
put_table(int type)
{
	double v[ROWS * COLUMNS];
	int n = 0;

	for (int i = 0; i < ROWS * COLUMNS; i += type == ONNX_U8 ? 2 : 1)
		v[n++] = type == ONNX_U8 ? value(i) + 8 + 16 * (value(i + 1) + 8) : value(i);
	if (type == ONNX_U8)
		onnx_const("w", type, DIMS(ROWS, COLUMNS / 2), v);
	else
		onnx_const("w", type, DIMS(ROWS, COLUMNS), v);
	onnx_const("s", ONNX_FLOAT, DIMS(ROWS, BLOCKS), scales);
}

static void
put_node(const char *in)
{
	onnx_node("com.microsoft", "GatherBlockQuantized", in, "y");
	onnx_int("block_size", BLOCK);
}

/* The result is rows 2 and 0, whose values have these zero points. */
static void
rows_are(const int *zero)
{
	static const int row[2] = {2, 0};
	double want[2 * COLUMNS];

	for (int i = 0; i < 2 * COLUMNS; i++)
		want[i] = number(row[i / COLUMNS] * COLUMNS + i % COLUMNS,
				 zero[row[i / COLUMNS] * BLOCKS + i % COLUMNS / BLOCK]);
	near(want, run1(V(2, -3)), 2 * COLUMNS, 0);
}

static void
test_signed(void **state)
{
	(void)state;
	onnx_begin(21);
	onnx_input("i", ONNX_I32, DIMS(2));
	put_table(ONNX_I4);
	put_node("w i s");
	onnx_output("y");
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_FLOAT);
	rows_are((const int[]){8, 8, 8, 8, 8, 8});
}

static void
test_packed(void **state)
{
	(void)state;
	onnx_begin(21);
	onnx_input("i", ONNX_I32, DIMS(2));
	put_table(ONNX_U8);
	put_node("w i s");
	onnx_output("y");
	onnx_read();
	rows_are((const int[]){8, 8, 8, 8, 8, 8});
}

static void
test_zero_points(void **state)
{
	(void)state;
	onnx_begin(21);
	onnx_input("i", ONNX_I32, DIMS(2));
	put_table(ONNX_U8);
	onnx_const("z", ONNX_U8, DIMS(ROWS, 1), V(0x31, 0x42, 0xf0));
	put_node("w i s z");
	onnx_output("y");
	onnx_read();
	rows_are((const int[]){1, 3, 2, 4, 0, 15});
}

/* The row of a table before a QuantizeLinear stays one of 4 bits. */
static void
in_integers(void)
{
	static double want[COLUMNS];
	const qn_node *table = NULL;

	onnx_output("q");
	onnx_read();
	assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	for (qn_id id = 1; id < rg->g->n; id++)
		if (qn_graph_node(rg->g, id)->op == QN_OP_const)
			table = qn_graph_node(rg->g, id);
	assert_non_null(table);
	assert_int_equal(table->type->elem->bits, 4);
	for (int i = 0; i < COLUMNS; i++)
		want[i] = rint(number(COLUMNS + i, 8) * 4) + 7;
	near(want, run1(V(1)), COLUMNS, 0);
}

static void
put_ends(void)
{
	onnx_begin(21);
	onnx_input("i", ONNX_I32, DIMS(1));
	put_table(ONNX_I4);
	onnx_const("ys", ONNX_FLOAT, NO_DIMS, V(0.25));
	onnx_const("yz", ONNX_I8, NO_DIMS, V(7));
}

static void
test_integers(void **state)
{
	(void)state;
	put_ends();
	put_node("w i s");
	onnx_node("", "QuantizeLinear", "y ys yz", "q");
	in_integers();
}

static void
test_dequantized(void **state)
{
	(void)state;
	put_ends();
	onnx_node("", "DequantizeLinear", "w s", "d");
	onnx_int("axis", 1);
	onnx_int("block_size", BLOCK);
	onnx_node("", "Gather", "d i", "y");
	onnx_node("", "QuantizeLinear", "y ys yz", "q");
	in_integers();
}

static void
test_refused(void **state)
{
	(void)state;
	onnx_begin(21);
	onnx_input("i", ONNX_I32, DIMS(2));
	onnx_input("w", ONNX_U8, DIMS(ROWS, COLUMNS / 2));
	onnx_const("s", ONNX_FLOAT, DIMS(ROWS, BLOCKS), scales);
	put_node("w i s");
	onnx_output("y");
	onnx_fails("import.constant", "must be constants");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_signed, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_packed, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_zero_points, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_integers, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_dequantized, rig_setup, rig_teardown),
		cmocka_unit_test_setup_teardown(test_refused, rig_setup, rig_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
