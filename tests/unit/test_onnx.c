/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx.c - ONNX files as graphs: tensors, versions, functions and bodies. */
#include "tests/unit/onnx_rig.h"

#include <stdio.h>

/* ---- tensors ---- */

static void
test_half_is_f32(void **state)
{
	static const uint16_t half[] = {0x3c00, 0xc000, 0x3800};

	(void)state;
	onx_input(file, "x", ONX_FLOAT16, "3");
	onx_tensor(file, "w", ONX_FLOAT16, "3", half, sizeof half);
	onx_node(file, "Mul", "x,w", "y");
	onx_output(file, "y");
	import(13);
	input_is(0, "tensor<3xf32>");
	GIVES(V(1, 2, 3), 0, 1, -4, 1.5);
}

static void
test_nibbles(void **state)
{
	static const uint8_t packed[] = {0x8f, 0x07};

	(void)state;
	onx_tensor(file, "w", ONX_INT4, "3", packed, sizeof packed);
	onx_int(file, "to", ONX_FLOAT);
	onx_node(file, "Cast", "w", "y");
	onx_output(file, "y");
	import(21);
	GIVES(V(0), 0, -1, -8, 7);
}

static void
test_tensor_sizes(void **state)
{
	(void)state;
	onx_tensor(file, "w", ONX_FLOAT, "3", "12345678", 8);
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	import_fails(13, "import.file", "8 bytes; its shape needs 12");
	onx_begin(file);
	onx_tensor(file, "w", ONX_FLOAT, "2147483647,2147483647,2147483647", "1234", 4);
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	import_fails(13, "import.file", "dimension");
}

static void
test_external(void **state)
{
	static const float v[] = {9, 1, 2, 3};
	unsigned char bytes[sizeof v];
	FILE *f = fopen("weights-of-a-test.bin", "wb");

	(void)state;
	assert_non_null(f);
	put_little(bytes, v, sizeof v, 4);
	assert_int_equal(fwrite(bytes, 4, 4, f), 4);
	assert_int_equal(fclose(f), 0);
	onx_external(file, "w", ONX_FLOAT, "3", "weights-of-a-test.bin", "4");
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	qn_status status = import_from("", 13);
	(void)remove("weights-of-a-test.bin");
	no_errors();
	assert_int_equal(status, QN_OK);
	GIVES(V(0), 0, 1, 2, 3);
}

static void
test_external_paths(void **state)
{
	static const char *const paths[] = {"/etc/passwd", "../x", "a/../../x", "", "a\\b"};

	(void)state;
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		onx_begin(file);
		onx_external(file, "w", ONX_FLOAT, "3", paths[i], "0");
		onx_node(file, "Relu", "w", "y");
		onx_output(file, "y");
		assert_int_not_equal(import_from("", 13), QN_OK);
		assert_string_equal(rg->diags.item[0].id, "import.external");
		qn_diags_clear(&rg->env, &rg->diags);
	}
}

/* ---- versions ---- */

static void
test_squeeze_versions(void **state)
{
	const int64_t axis = 1;

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,1,1");
	onx_list(file, "axes", 1, &axis);
	onx_node(file, "Squeeze", "x", "y");
	onx_output(file, "y");
	import(11);
	output_is("tensor<2x1xf32>");
	another_file();
	onx_input(file, "x", ONX_FLOAT, "2,1,1");
	onx_ints64(file, "a", "1", &axis);
	onx_node(file, "Squeeze", "x,a", "y");
	onx_output(file, "y");
	import(13);
	output_is("tensor<2x1xf32>");
}

/* Before version 13 softmax goes over all axes from its axis on. */
static void
test_softmax_versions(void **state)
{
	static const double x[] = {0, 0, 0, 0};

	(void)state;
	for (int64_t version = 12; version <= 13; version++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2,2");
		onx_int(file, "axis", 1);
		onx_node(file, "Softmax", "x", "y");
		onx_output(file, "y");
		import(version);
		double each = version == 12 ? 0.25 : 0.5;
		GIVES(x, 1e-6, each, each, each, each);
	}
}

/* Before version 7 the second operand is laid from an axis on. */
static void
test_old_broadcast(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_floats(file, "b", "2", (const float[]){10, 20});
	onx_int(file, "broadcast", 1);
	onx_int(file, "axis", 0);
	onx_node(file, "Add", "x,b", "y");
	onx_output(file, "y");
	import(6);
	GIVES(V(1, 2, 3, 4), 0, 11, 12, 23, 24);
}

/* ---- functions and bodies ---- */

static void
test_function(void **state)
{
	(void)state;
	onx_function(file, "mine", "Twice", "a", "b");
	onx_refer(file, "alpha", "slope");
	onx_node(file, "LeakyRelu", "a", "h");
	onx_node(file, "Add", "h,h", "b");
	onx_function_end(file, 13);
	onx_input(file, "x", ONX_FLOAT, "2");
	file->domain = "mine";
	onx_real(file, "slope", 0.25f);
	onx_node(file, "Twice", "x", "h");
	onx_node(file, "Twice", "h", "y"); /* its own names, the standard slope */
	file->domain = NULL;
	onx_output(file, "y");
	import(13);
	GIVES(V(1, -4), 1e-6, 4, -0.04);
}

static void
test_function_calls_itself(void **state)
{
	(void)state;
	onx_function(file, "mine", "Again", "a", "b");
	file->domain = "mine";
	onx_node(file, "Again", "a", "b");
	onx_function_end(file, 13);
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Again", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.nesting", "64 deep");
}

static void
test_if_by_shape(void **state)
{
	onx *yes = calloc(1, sizeof *yes), *no = calloc(1, sizeof *no);

	(void)state;
	onx_begin(yes);
	onx_node(yes, "Neg", "x", "r"); /* x of the graph around it */
	onx_output(yes, "r");
	onx_begin(no);
	onx_node(no, "NoSuchThing", "x", "r");
	onx_output(no, "r");
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_ints64(file, "two", "1", (const int64_t[]){2});
	onx_node(file, "Shape", "x", "s");
	onx_node(file, "Equal", "s,two", "c");
	onx_body(file, "then_branch", yes);
	onx_body(file, "else_branch", no);
	onx_node(file, "If", "c", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, -4), 0, -1, 4);
	free(yes);
	free(no);
}

/* A condition of a run: both branches run, and one result is chosen; two of different shapes cannot be. */
static void
test_if_at_run_time(void **state)
{
	onx *yes = calloc(1, sizeof *yes), *no = calloc(1, sizeof *no);

	(void)state;
	for (int same = 1; same >= 0; same--) {
		if (!same)
			another_file();
		onx_begin(yes);
		onx_node(yes, "Neg", "x", "r");
		onx_output(yes, "r");
		onx_begin(no);
		onx_node(no, same ? "Abs" : "ReduceSum", "x", "r");
		onx_output(no, "r");
		onx_input(file, "x", ONX_FLOAT, "2");
		onx_input(file, "c", ONX_BOOL, "1");
		onx_body(file, "then_branch", yes);
		onx_body(file, "else_branch", no);
		onx_node(file, "If", "c", "y");
		onx_output(file, "y");
		if (!same) {
			import_fails(11, "import.type",
				     "depends on a condition that is known at run");
			break;
		}
		import(13);
		near(V(-1, 4), run((const double *[]){V(1, -4), V(1)}), 2, 0);
		near(V(1, 4), run((const double *[]){V(1, -4), V(0)}), 2, 0);
	}
	free(yes);
	free(no);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_half_is_f32),
		TEST(test_nibbles),
		TEST(test_if_at_run_time),
		TEST(test_tensor_sizes),
		TEST(test_external),
		TEST(test_external_paths),
		TEST(test_squeeze_versions),
		TEST(test_softmax_versions),
		TEST(test_old_broadcast),
		TEST(test_function),
		TEST(test_function_calls_itself),
		TEST(test_if_by_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
