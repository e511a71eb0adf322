/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_bounds.c - numbers in ONNX files at the ends of their ranges: sizes whose products
 * overflow, windows without end, lists with more or other numbers than there are axes. */
#include "tests/unit/onnx_rig.h"

#include <math.h>

/* ---- windows ---- */

/* A window of 2^60 places over a constant: nobody goes through them while the file is read. */
static void
endless_window(void **state)
{
	const int64_t kernel[] = {1 << 30, 1 << 30}, pads[] = {(1 << 30) - 1, (1 << 30) - 1, 0, 0};

	(void)state;
	onx_floats(file, "x", "1,1,1,1", (const float[]){1});
	onx_list(file, "kernel_shape", 2, kernel);
	onx_list(file, "pads", 4, pads);
	onx_node(file, "MaxPool", "x", "y");
	onx_output(file, "y");
	import(13);
	assert_int_not_equal(qn_graph_node(rg->g, rg->g->output[0].value)->op, QN_OP_const);
}

/* A pool's places, with a kernel whose elements cannot be counted. */
static void
kernel_overflow(void **state)
{
	const int64_t kernel[] = {1 << 30, 1 << 30, 1 << 30},
		      pads[] = {1 << 29, 1 << 29, 1 << 29, 1 << 29, 1 << 29, 1 << 29};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2,2");
	onx_list(file, "kernel_shape", 3, kernel);
	onx_list(file, "pads", 6, pads);
	onx_node(file, "MaxPool", "x", "y,z");
	onx_output(file, "z");
	import_fails(13, "import.size", "to compute indices");
}

/* Sizes whose products with steps do not fit 64 bits. */
static void
steps_overflow(void **state)
{
	static const struct {
		const char *op, *x, *w, *in, *pad;
		bool pool;
	} rows[] = {
		{"Conv", "1,1,4", "1,1,1099511627776", "x,w", "SAME_UPPER", false},
		{"Conv", "1,1,1099511627776", "1,1,1", "x,w", "SAME_LOWER", false},
		{"ConvTranspose", "1,1,1099511627776", "1,1,1", "x,w", "SAME_UPPER", false},
		{"ConvTranspose", "1,1,1099511627776", "1,1,1", "x,w", "NOTSET", false},
		{"MaxUnpool", "1,1,1099511627776", "1,1,1099511627776", "x,w", "NOTSET", true},
	};
	const int64_t one = 1, far = 1 << 30;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, rows[i].x);
		onx_input(file, "w", ONX_FLOAT, rows[i].w);
		onx_string(file, "auto_pad", rows[i].pad);
		onx_list(file, "strides", 1, &far);
		if (rows[i].pool)
			onx_list(file, "kernel_shape", 1, &one);
		else
			onx_list(file, "dilations", 1, &far);
		onx_node(file, rows[i].op, rows[i].in, "y");
		onx_output(file, "y");
		import_fails(13, "import.dim", "");
	}
}

/* No channel in as many groups as there are numbers. */
static void
groups_overflow(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,0,4,4");
	onx_input(file, "w", ONX_FLOAT, "0,2147483647,1,1");
	onx_int(file, "group", INT64_MAX);
	onx_node(file, "ConvTranspose", "x,w", "y");
	onx_output(file, "y");
	import_fails(13, "import.attr", "");
}

/* An image of more blocks than can be counted. */
static void
blocks_overflow(void **state)
{
	const int64_t image[] = {1 << 30, 1 << 30, 1 << 30}, block[] = {1, 1, 1};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1");
	onx_ints64(file, "i", "3", image);
	onx_ints64(file, "b", "3", block);
	onx_node(file, "Col2Im", "x,i,b", "y");
	onx_output(file, "y");
	import_fails(18, "import.size", "blocks");
}

/* ---- sizes ---- */

static void
range_beyond(void **state)
{
	const int64_t start = INT64_MAX, limit = INT64_MAX - 4096, step = -1024;

	(void)state;
	onx_ints64(file, "a", "", &start);
	onx_ints64(file, "b", "", &limit);
	onx_ints64(file, "c", "", &step);
	onx_node(file, "Range", "a,b,c", "y");
	onx_output(file, "y");
	import_fails(13, "import.input", "");
}

static void
pads_at_the_end_of_range(void **state)
{
	const int64_t pads[] = {INT64_MIN, INT64_MIN};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "4");
	onx_ints64(file, "p", "2", pads);
	onx_node(file, "Pad", "x,p", "y");
	onx_output(file, "y");
	import_fails(13, "import.input", "");
}

static void
reshape_overflow(void **state)
{
	const int64_t dim[] = {2000000000, 2000000000, 2000000000, 2000000000, -1};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1000000,1000000");
	onx_ints64(file, "s", "5", dim);
	onx_node(file, "Reshape", "x,s", "y");
	onx_output(file, "y");
	import_fails(13, "import.input", "");
}

static void
resize_huge(void **state)
{
	const int64_t size[] = {1, 1, 1, 2000000000};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1,2");
	onx_ints64(file, "s", "4", size);
	onx_node(file, "Resize", "x,,,s", "y");
	onx_output(file, "y");
	import_fails(13, "import.input", "");
}

/* One scale for all axes, which one of them is too long for. */
static void
ratio_overflow(void **state)
{
	const int64_t size[] = {1, 1 << 24};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1099511627776,1");
	onx_ints64(file, "s", "2", size);
	onx_string(file, "keep_aspect_ratio_policy", "not_smaller");
	onx_node(file, "Resize", "x,,,s", "y");
	onx_output(file, "y");
	import_fails(18, "import.input", "scales or sizes");
}

/* ---- axes and limits ---- */

static void
axes_of_nothing(void **state)
{
	const int64_t many[20] = {0};

	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2,3,4");
	onx_list(file, "axes", 20, many);
	onx_node(file, "MeanVarianceNormalization", "x", "y");
	onx_output(file, "y");
	import_fails(13, "import.attr", "axes");
}

static void
axis_named_twice(void **state)
{
	static const char *const ops[] = {"Squeeze", "Unsqueeze"};
	const int64_t twice[] = {0, 0}, ends[] = {0, -1};

	(void)state;
	for (int i = 0; i < 4; i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, i % 2 == 0 ? "1,3,1" : "1");
		onx_ints64(file, "a", "2", i < 2 ? twice : ends);
		onx_node(file, ops[i % 2], "x,a", "y");
		onx_output(file, "y");
		if (i < 2)
			import_fails(13, "import.attr", "twice");
		else
			import(13);
	}
}

static void
no_diagonal(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,2");
	onx_floats(file, "k", "", (const float[]){NAN});
	onx_node(file, "Trilu", "x,k", "y");
	onx_output(file, "y");
	import_fails(14, "import.input", "nan");
}

/* A lower limit of infinity is one: 1 / max(x, inf) = 0. */
static void
infinite_limit(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2");
	onx_floats(file, "low", "", (const float[]){INFINITY});
	onx_node(file, "Clip", "x,low", "c");
	onx_node(file, "Reciprocal", "c", "y");
	onx_output(file, "y");
	import(13);
	GIVES(V(1, -2), 0, 0, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, onnx_setup, onnx_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(endless_window),
		TEST(kernel_overflow),
		TEST(steps_overflow),
		TEST(groups_overflow),
		TEST(blocks_overflow),
		TEST(range_beyond),
		TEST(pads_at_the_end_of_range),
		TEST(reshape_overflow),
		TEST(resize_huge),
		TEST(ratio_overflow),
		TEST(axes_of_nothing),
		TEST(axis_named_twice),
		TEST(no_diagonal),
		TEST(infinite_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
