/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_hostile.c - ONNX files that ask for more than they are worth: huge results of few bytes, nodes that
 * multiply, data behind links.  Each is an error with a name, in a moment and in little memory. */
#define _POSIX_C_SOURCE 200809L /* symlink */
#include "tests/unit/onnx_hostile_rig.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void
huge(void **state)
{
	static const struct {
		const char *op, *id;
		int64_t n, v[4];
	} rows[] = {
		{"ConstantOfShape", "import.size", 1, {1000000000}},
		{"ConstantOfShape", "import.size", 2, {2000000000, 2000000000}},
		{"ConstantOfShape", "import.input", 1, {INT64_MAX}},
		{"ConstantOfShape", "import.input", 1, {INT64_MIN}},
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		char dims[8];

		(void)teardown(state);
		(void)setup(state);
		(void)snprintf(dims, sizeof dims, "%d", (int)rows[i].n);
		onx_ints64(file, "v", dims, rows[i].v);
		onx_node(file, rows[i].op, "v", "y");
		onx_output(file, "y");
		no_way(rows[i].id);
	}
}

/* A value that nobody could hold is none from the start. */
static void
huge_input(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2000000000,2000000000,2000000000");
	onx_int(file, "axis", 3);
	onx_node(file, "Flatten", "x", "y");
	onx_output(file, "y");
	no_way("import.dim");
}

/* Nor do dims without elements let the others overflow. */
static void
huge_and_empty(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "0,2000000000,2000000000,2000000000");
	onx_int(file, "axis", 1);
	onx_node(file, "Flatten", "x", "y");
	onx_output(file, "y");
	no_way("import.dim");
}

/* Results that take no input, of sizes that nobody has room for. */
static void
huge_from_empty(void **state)
{
	onx_input(file, "x", ONX_FLOAT, "0,1000000,1000000");
	onx_list(file, "axes", 1, (const int64_t[]){0});
	onx_node(file, "ReduceMax", "x", "y");
	onx_output(file, "y");
	no_way("import.size");
	(void)teardown(state);
	(void)setup(state);
	onx_input(file, "x", ONX_FLOAT, "1,2");
	onx_ints64(file, "n", "2", (const int64_t[]){INT64_MAX, 0});
	onx_node(file, "Tile", "x,n", "y");
	onx_output(file, "y");
	no_way("import.size");
}

static void
mask(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "30000,30000");
	onx_node(file, "Dropout", "x", "y,m");
	onx_output(file, "m");
	no_way("import.size");
}

/* Each node doubles nothing, but there are many of them: what they fold to is left alone in the end. */
static void
many_folds(void **state)
{
	const int64_t n = 1000000;

	(void)state;
	onx_ints64(file, "n", "1", &n);
	onx_node(file, "ConstantOfShape", "n", "v0");
	for (int i = 0; i < 200; i++) {
		char in[32], out[16];

		(void)snprintf(in, sizeof in, "v%d,v0", i);
		(void)snprintf(out, sizeof out, "v%d", i + 1);
		onx_node(file, "Add", in, out);
	}
	onx_output(file, "v200");
	assert_int_equal(import_from(NULL), QN_OK);
	assert_true(peak < MOST_MEMORY);
}

/* 2^40 nodes out of forty functions. */
static void
doubling(void **state)
{
	(void)state;
	for (int i = 0; i < 40; i++) {
		char name[16], inner[16];

		(void)snprintf(name, sizeof name, "f%d", i);
		(void)snprintf(inner, sizeof inner, "f%d", i + 1);
		onx_function(file, "mine", name, "a", "b");
		file->domain = i < 39 ? "mine" : NULL;
		onx_node(file, i < 39 ? inner : "Relu", "a", "t");
		file->domain = i < 39 ? "mine" : NULL;
		onx_node(file, i < 39 ? inner : "Relu", "t", "b");
		onx_function_end(file, 13);
	}
	onx_input(file, "x", ONX_FLOAT, "1");
	file->domain = "mine";
	onx_node(file, "f0", "x", "y");
	onx_output(file, "y");
	no_way("import.size");
}

static void
one_name_twice(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_node(file, "Relu", "x", "y");
	onx_output(file, "y");
	onx_output(file, "y");
	no_way("import.output");
}

/* A sparse tensor of values only. */
static void
sparse_without_places(void **state)
{
	(void)state;
	onx_make_tensor(file, "w", ONX_FLOAT, "1", (const float[]){1}, 4);
	file->inner.n = 0;
	onx_field(&file->inner, 1, file->tensor.data, file->tensor.n);
	onx_number(&file->inner, 3, 4);
	onx_field(&file->graph, 15, file->inner.data, file->inner.n);
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	no_way("import.file");
}

/* ---- data beside the file ---- */

/* Data in "made-by-a-test/", behind a link `name` to `target`. */
static qn_status
through_link(const char *target)
{
	FILE *f;

	(void)mkdir("made-by-a-test", 0700);
	(void)unlink("made-by-a-test/link");
	assert_non_null(f = fopen("made-by-a-test/real", "wb"));
	assert_int_equal(fwrite("12345678", 1, 8, f), 8);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(symlink(target, "made-by-a-test/link"), 0);
	onx_external(file, "w", ONX_FLOAT, "2", "link", "0");
	onx_node(file, "Relu", "w", "y");
	onx_output(file, "y");
	qn_status status = import_from("made-by-a-test/");
	(void)unlink("made-by-a-test/link");
	(void)unlink("made-by-a-test/real");
	(void)rmdir("made-by-a-test");
	return status;
}

static void
link_inside(void **state)
{
	(void)state;
	assert_int_equal(through_link("real"), QN_OK);
}

static void
link_outside(void **state)
{
	(void)state;
	assert_int_not_equal(through_link("/etc/hostname"), QN_OK);
	assert_string_equal(rg->diags.item[0].id, "import.external");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(huge),
		TEST(huge_input),
		TEST(huge_and_empty),
		TEST(huge_from_empty),
		TEST(mask),
		TEST(many_folds),
		TEST(doubling),
		TEST(one_name_twice),
		TEST(sparse_without_places),
		TEST(link_inside),
		TEST(link_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
