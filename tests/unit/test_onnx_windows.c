/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_windows.c - ONNX operators that move a window or stretch an image, with numbers computed by hand.
 *
 *   ConvTranspose [1 10 100] by [1 2 3], stride 2:  1 2 3
 *                                                       10 20 30
 *                                                              100 200 300
 *                                                   1 2 13 20 130 200 300 */
#include "tests/unit/onnx_rig.h"

/* ---- ConvTranspose ---- */

/* A row of three by the kernel above with the attributes that stand ready. */
static void
spread(const char *auto_pad)
{
	onx_input(file, "x", ONX_FLOAT, "1,1,3");
	onx_floats(file, "w", "1,1,3", (const float[]){1, 2, 3});
	onx_list(file, "strides", 1, (const int64_t[]){2});
	if (auto_pad != NULL)
		onx_string(file, "auto_pad", auto_pad);
	onx_node(file, "ConvTranspose", "x,w", "y");
	onx_output(file, "y");
	import(11);
}

#define SPREAD V(1, 10, 100)

static void
test_transpose_pads(void **state)
{
	(void)state;
	onx_list(file, "pads", 2, (const int64_t[]){1, 1});
	spread(NULL);
	output_is("tensor<1x1x5xf32>");
	GIVES(SPREAD, 0, 2, 13, 20, 130, 200);

	another_file();
	onx_list(file, "pads", 2, (const int64_t[]){2, 0});
	spread(NULL);
	GIVES(SPREAD, 0, 13, 20, 130, 200, 300);

	another_file(); /* one more at the end, which is a number of the kernel, not a zero */
	onx_list(file, "pads", 2, (const int64_t[]){1, 1});
	onx_list(file, "output_padding", 1, (const int64_t[]){1});
	spread(NULL);
	output_is("tensor<1x1x6xf32>");
	GIVES(SPREAD, 0, 2, 13, 20, 130, 200, 300);
}

/* SAME: 3 * 2 elements of 7, so that one goes. */
static void
test_transpose_auto_pad(void **state)
{
	(void)state;
	spread("SAME_UPPER");
	GIVES(SPREAD, 0, 1, 2, 13, 20, 130, 200);
	another_file();
	spread("SAME_LOWER");
	GIVES(SPREAD, 0, 2, 13, 20, 130, 200, 300);
	another_file();
	spread("VALID");
	output_is("tensor<1x1x7xf32>");
	GIVES(SPREAD, 0, 1, 2, 13, 20, 130, 200, 300);
}

static void
test_transpose_output_shape(void **state)
{
	(void)state;
	onx_list(file, "output_shape", 1, (const int64_t[]){5});
	spread(NULL);
	GIVES(SPREAD, 0, 2, 13, 20, 130, 200);
	another_file(); /* of an odd number of elements too many, most go in front */
	onx_list(file, "output_shape", 1, (const int64_t[]){6});
	spread(NULL);
	GIVES(SPREAD, 0, 2, 13, 20, 130, 200, 300);
	another_file();
	onx_list(file, "output_shape", 1, (const int64_t[]){8});
	spread(NULL);
	output_is("tensor<1x1x8xf32>");
	GIVES(SPREAD, 0, 1, 2, 13, 20, 130, 200, 300, 0);
}

/* Each channel by kernels of its own: 1 12 20 is [1 10] by [1 2]. */
static void
test_transpose_groups(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2,1,2");
	onx_floats(file, "w", "2,2,1,2", (const float[]){1, 2, 3, 4, 5, 6, 7, 8});
	onx_floats(file, "b", "4", (const float[]){0, 1, 2, 3});
	onx_int(file, "group", 2);
	onx_node(file, "ConvTranspose", "x,w,b", "y");
	onx_output(file, "y");
	import(11);
	output_is("tensor<1x4x1x3xf32>");
	GIVES(V(1, 10, 2, 20), 0, 1, 12, 20, 4, 35, 41, 12, 114, 122, 17, 159, 163);
}

/* Both channels add to one: [1 10] by [1 2] and [2 20] by [5 6]. */
static void
test_transpose_channels(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,2,1,2");
	onx_floats(file, "w", "2,1,1,2", (const float[]){1, 2, 5, 6});
	onx_node(file, "ConvTranspose", "x,w", "y");
	onx_output(file, "y");
	import(11);
	GIVES(V(1, 10, 2, 20), 0, 11, 124, 140);
}

/* Rows of the kernel two apart: 1 2, 10 20, 3 4, 30 40; then without the first row and the last column. */
static void
test_transpose_dilations(void **state)
{
	for (int cut = 0; cut < 2; cut++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,2,1");
		onx_floats(file, "w", "1,1,2,2", (const float[]){1, 2, 3, 4});
		onx_list(file, "dilations", 2, (const int64_t[]){2, 1});
		onx_list(file, "pads", 4, (const int64_t[]){cut, 0, 0, cut});
		onx_node(file, "ConvTranspose", "x,w", "y");
		onx_output(file, "y");
		import(11);
		if (cut == 0)
			GIVES(V(1, 10), 0, 1, 2, 10, 20, 3, 4, 30, 40);
		else
			GIVES(V(1, 10), 0, 10, 3, 30);
	}
	(void)state;
}

static void
test_transpose_refused(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1,1,1,1");
	onx_floats(file, "w", "1,1,1,1,1,1", (const float[]){1});
	onx_node(file, "ConvTranspose", "x,w", "y");
	onx_output(file, "y");
	import_fails(11, "import.rank", "3 to 5 are supported");
}

/* ---- LpPool ---- */

/* Over a row of four with the attributes that stand ready. */
static void
lp_pool(int64_t version, int64_t kernel)
{
	onx_input(file, "x", ONX_FLOAT, "1,1,4");
	onx_list(file, "kernel_shape", 1, &kernel);
	onx_node(file, "LpPool", "x", "y");
	onx_output(file, "y");
	import(version);
}

static void
test_lp_pool(void **state)
{
	(void)state;
	lp_pool(11, 2);
	output_is("tensor<1x1x3xf32>");
	GIVES(V(3, -4, 0, 12), 1e-5, 5, 4, 12);
	another_file();
	onx_int(file, "p", 1);
	lp_pool(11, 2);
	GIVES(V(3, -4, 0, 12), 1e-5, 7, 4, 12);
	another_file(); /* 27 + 64 + 125 = 216 */
	onx_int(file, "p", 3);
	lp_pool(11, 3);
	GIVES(V(3, -4, 5, 0), 1e-4, 6, 5.738793548);
	another_file();
	onx_list(file, "pads", 2, (const int64_t[]){1, 0});
	lp_pool(11, 2);
	GIVES(V(3, -4, 0, 12), 1e-5, 3, 5, 4, 12);
	another_file();
	onx_real(file, "p", 1);
	lp_pool(1, 2);
	GIVES(V(3, -4, 0, 12), 1e-5, 7, 4, 12);
}

static void
test_lp_pool_steps(void **state)
{
	(void)state;
	onx_list(file, "dilations", 1, (const int64_t[]){2});
	lp_pool(18, 2);
	GIVES(V(3, 9, -4, 12), 1e-5, 5, 15);
	another_file(); /* 3 -4 0, and the 12 with the zero before it */
	onx_list(file, "strides", 1, (const int64_t[]){2});
	onx_int(file, "ceil_mode", 1);
	lp_pool(18, 3);
	output_is("tensor<1x1x2xf32>");
	GIVES(V(3, -4, 0, 12), 1e-5, 5, 12);
	another_file(); /* a third window would start in the pads behind: it is none */
	onx_list(file, "strides", 1, (const int64_t[]){2});
	onx_list(file, "pads", 2, (const int64_t[]){0, 2});
	onx_int(file, "ceil_mode", 1);
	lp_pool(18, 3);
	output_is("tensor<1x1x2xf32>");
	GIVES(V(3, -4, 0, 12), 1e-5, 5, 12);
}

static void
test_global_lp_pool(void **state)
{
	for (int64_t p = 1; p <= 2; p++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,2,2,2");
		if (p != 2) /* which it is when nothing is said */
			onx_int(file, "p", p);
		onx_node(file, "GlobalLpPool", "x", "y");
		onx_output(file, "y");
		import(11);
		output_is("tensor<1x2x1x1xf32>");
		if (p == 1)
			GIVES(V(1, -2, 2, 4, -1, -1, 1, 1), 1e-5, 9, 4);
		else
			GIVES(V(1, -2, 2, 4, -1, -1, 1, 1), 1e-5, 5, 2);
	}
	(void)state;
}

/* ---- images made larger ---- */

/* Places count in the 4 x 4 that the windows make; the 5 x 5 that is asked for has zeros behind. */
static void
test_max_unpool(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2");
	onx_ints64(file, "i", "1,1,2,2", (const int64_t[]){5, 7, 13, 15});
	onx_ints64(file, "s", "4", (const int64_t[]){1, 1, 5, 5});
	onx_list(file, "kernel_shape", 2, (const int64_t[]){2, 2});
	onx_list(file, "strides", 2, (const int64_t[]){2, 2});
	onx_node(file, "MaxUnpool", "x,i,s", "y");
	onx_output(file, "y");
	import(11);
	output_is("tensor<1x1x5x5xf32>");
	GIVES(V(5, 6, 7, 8), 0, 0, 0, 0, 0, 0, 0, 5, 0, 6, 0, 0, 0, 0, 0, 0, 0, 7, 0, 8, 0, 0, 0, 0,
	      0, 0);
}

/* Version 7 has the scales as an attribute, 9 as an input. */
static void
test_upsample(void **state)
{
	static const float scales[] = {1, 1, 2, 3};

	for (int64_t version = 7; version <= 9; version += 2) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,2,2");
		if (version == 7)
			onx_reals(file, "scales", 4, scales);
		else
			onx_floats(file, "s", "4", scales);
		onx_node(file, "Upsample", version == 7 ? "x" : "x,s", "y");
		onx_output(file, "y");
		import(version);
		output_is("tensor<1x1x4x6xf32>");
		GIVES(V(1, 2, 3, 4), 0, 1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 3, 3,
		      3, 4, 4, 4);
	}
	(void)state;
}

/* Element i lies at i / 2; the last has no neighbour behind it. */
static void
test_upsample_linear(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,1,2");
	onx_floats(file, "s", "4", (const float[]){1, 1, 1, 2});
	onx_string(file, "mode", "linear");
	onx_node(file, "Upsample", "x,s", "y");
	onx_output(file, "y");
	import(9);
	GIVES(V(1, 3), 1e-6, 1, 2, 3, 3);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_transpose_pads),     TEST(test_transpose_auto_pad),
		TEST(test_transpose_groups),   TEST(test_transpose_output_shape),
		TEST(test_transpose_channels), TEST(test_transpose_dilations),
		TEST(test_transpose_refused),  TEST(test_lp_pool),
		TEST(test_lp_pool_steps),      TEST(test_global_lp_pool),
		TEST(test_max_unpool),         TEST(test_upsample),
		TEST(test_upsample_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
