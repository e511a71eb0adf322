/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_dims.c - dimensions of ONNX files: open ones and those that the caller gives. */
#include "tests/unit/onnx_rig.h"

static void
test_open_batch(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "N,3");
	onx_input(file, "z", ONX_FLOAT, "?,N");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	import(13);
	input_is(0, "tensor<1x3xf32>");
	input_is(1, "tensor<1x1xf32>");
	assert_string_equal(rg->g->output[0].name, "y");
}

static void
test_given_dims(void **state)
{
	const char *const dims[] = {"width=5", "x:1=7"};

	(void)state;
	how.ndim = 2;
	how.dim = dims;
	onx_input(file, "x", ONX_FLOAT, "N,?,width");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	import(13);
	input_is(0, "tensor<1x7x5xf32>");
}

static void
test_missing_dim(void **state)
{
	const char *const dims[] = {"nothing=5"};

	(void)state;
	how.ndim = 1;
	how.dim = dims;
	onx_input(file, "x", ONX_FLOAT, "N,width");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.dim", "'width'");
	onx_begin(file);
	onx_input(file, "x", ONX_FLOAT, "N,3");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.dim", "nothing=5");
}

/* Numbers that are none, and another batch than the file's. */
static void
test_wrong_dims(void **state)
{
	const struct {
		const char *dim, *text;
	} wrong[] = {{"width=abc", "'width=abc' has no valid length"},
		     {"width=-1", "'width=-1' has no valid length"},
		     {"width=0", "'width=0' has no valid length"},
		     {"width=2147483648", "has no valid length"},
		     {"width=", "has no valid length"},
		     {"width", "expected NAME=N"},
		     {"x:1=5", "not an open dimension"}};

	(void)state;
	how.ndim = 1;
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		how.dim = &wrong[i].dim;
		onx_begin(file);
		onx_input(file, "x", ONX_FLOAT, "1,3");
		onx_node(file, "Relu", "x", "y");
		onx_output(file, "y");
		assert_int_equal(import_from(NULL, 13), QN_EUSAGE);
		assert_int_equal(rg->diags.n, 1);
		assert_non_null(strstr(rg->diags.item[0].message, wrong[i].text));
		qn_diags_clear(&rg->env, &rg->diags);
	}
	how.dim = (const char *const[]){"x:0=16"};
	onx_begin(file);
	onx_input(file, "x", ONX_FLOAT, "1,3");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	import(13);
	input_is(0, "tensor<16x3xf32>");
	output_is("tensor<16x3xf32>");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_open_batch),
		TEST(test_given_dims),
		TEST(test_missing_dim),
		TEST(test_wrong_dims),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
