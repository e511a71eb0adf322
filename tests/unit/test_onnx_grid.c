/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_grid.c - GridSample, AffineGrid and DeformConv of ONNX, with numbers computed by hand.
 *
 *   1 2      in the middle 2.5; at the place (1, 1), a corner of the picture, half the last element along each axis
 *   3 4 */
#include "tests/unit/onnx_rig.h"

static void
picture(float x, float y)
{
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2");
	onx_floats(file, "g", "1,1,1,2", (const float[]){x, y});
}

static void
test_sample(void **state)
{
	static const struct {
		const char *mode, *padding;
		int corners;
		float x, y;
		double want;
	} rows[] = {
		{"linear", "zeros", 0, 0, 0, 2.5},        {"bilinear", "zeros", 0, 1, 1, 1},
		{"linear", "zeros", 1, 1, 1, 4},          {"linear", "border", 0, 1, 1, 4},
		{"linear", "border", 0, -9, 1, 3},        {"linear", "reflection", 0, 2, 0, 2.5},
		{"linear", "reflection", 1, 2, -1, 1.5}, /* 1.5 of 0 … 1, thrown back to 0.5 */
		{"nearest", "zeros", 0, 0, 0, 1},        /* 0.5 becomes 0, the even one */
		{"nearest", "zeros", 0, 2, 0, 0},         {"nearest", "border", 0, 2, 0.5f, 4},
		{"cubic", "zeros", 0, 0, 0, 3.525390625}, /* 0.59375 of two elements along each axis */
		{"bicubic", "border", 0, 0, 0, 2.5},      {"cubic", "reflection", 0, 0, 0, 2.5},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		picture(rows[i].x, rows[i].y);
		onx_string(file, "mode", rows[i].mode);
		onx_string(file, "padding_mode", rows[i].padding);
		onx_int(file, "align_corners", rows[i].corners);
		onx_node(file, "GridSample", "x,g", "y");
		onx_output(file, "y");
		import(20);
		GIVES(V(1, 2, 3, 4), 1e-6, rows[i].want);
	}
	(void)state;
}

/* Places that are computed: the picture is a constant. */
static void
test_computed_places(void **state)
{
	(void)state;
	onx_floats(file, "x", "1,1,2,2", (const float[]){1, 2, 3, 4});
	onx_input(file, "g", ONX_FLOAT, "1,1,2,2");
	onx_node(file, "GridSample", "x,g", "y");
	onx_output(file, "y");
	import(20);
	output_is("tensor<1x1x1x2xf32>");
	GIVES(V(0, 0, 1, 1), 1e-6, 2.5, 1);
}

/* The middle of a cube along two axes, the first of two along the other. */
static void
test_volume(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2,2");
	onx_floats(file, "g", "1,1,1,1,3", (const float[]){0, -0.5f, 0});
	onx_node(file, "GridSample", "x,g", "y");
	onx_output(file, "y");
	import(20);
	GIVES(V(1, 2, 3, 4, 5, 6, 7, 8), 1e-6, 3.5);
}

static void
test_refused(void **state)
{
	(void)state;
	picture(0, 0);
	onx_string(file, "mode", "lanczos");
	onx_node(file, "GridSample", "x,g", "y");
	onx_output(file, "y");
	import_fails(20, "import.attr", "mode is 'lanczos'");

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2");
	onx_floats(file, "g", "1,1,3", (const float[]){0, 0, 0});
	onx_node(file, "GridSample", "x,g", "y");
	onx_output(file, "y");
	import_fails(20, "import.input", "1 to 3 axes");
}

static void
test_affine(void **state)
{
	(void)state;
	for (int corners = 0; corners < 2; corners++) {
		another_file();
		onx_input(file, "theta", ONX_FLOAT, "1,2,3");
		onx_ints64(file, "size", "4", (const int64_t[]){1, 1, 1, 2});
		onx_int(file, "align_corners", corners);
		onx_node(file, "AffineGrid", "theta,size", "y");
		onx_output(file, "y");
		import(20);
		output_is("tensor<1x1x2x2xf32>");
		if (corners)
			GIVES(V(1, 0, 0.25, 0, 2, 1), 1e-6, -0.75, 1, 1.25, 1);
		else
			GIVES(V(1, 0, 0.25, 0, 2, 1), 1e-6, -0.25, 1, 0.75, 1);
	}
	another_file();
	onx_input(file, "theta", ONX_FLOAT, "1,2,3");
	onx_ints64(file, "size", "3", (const int64_t[]){1, 1, 2});
	onx_node(file, "AffineGrid", "theta,size", "y");
	onx_output(file, "y");
	import_fails(20, "import.input", "[N, C, H, W]");
}

/* A kernel 1, 10 over a row: elements half a step further, the last one with what is outside; then times a mask. */
static void
test_deformed(void **state)
{
	(void)state;
	for (int masked = 0; masked < 2; masked++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,1,1,3");
		onx_floats(file, "w", "1,1,1,2", (const float[]){1, 10});
		onx_floats(file, "o", "1,4,1,2", (const float[]){0, 0, 0.5f, 0.5f, 0, 0, 0.5f, 1});
		onx_floats(file, "b", "1", (const float[]){100});
		onx_floats(file, "m", "1,2,1,2", (const float[]){1, 0, 2, 3});
		onx_node(file, "DeformConv", masked ? "x,w,o,b,m" : "x,w,o", "y");
		onx_output(file, "y");
		import(19);
		output_is("tensor<1x1x1x2xf32>");
		if (masked) /* 1 * 2 + 2 * 10 * 4 and 0 * 4 + 3 * 10 * 0 */
			GIVES(V(1, 3, 5), 1e-5, 182, 100);
		else
			GIVES(V(1, 3, 5), 1e-5, 42, 4);
	}
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,1,3");
	onx_floats(file, "w", "1,1,1,2", (const float[]){1, 10});
	onx_floats(file, "o", "1,2,1,2", (const float[]){0, 0, 0, 0});
	onx_node(file, "DeformConv", "x,w,o", "y");
	onx_output(file, "y");
	import_fails(19, "import.input", "4 elements per position");

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,4,4");
	onx_input(file, "w", ONX_FLOAT, "1,1,65536,65536");
	onx_input(file, "o", ONX_FLOAT, "1,2,65536,65536");
	onx_node(file, "DeformConv", "x,w,o", "y");
	onx_output(file, "y");
	import_fails(19, "import.size", "too many elements");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sample),  TEST(test_computed_places), TEST(test_volume),
		TEST(test_refused), TEST(test_affine),          TEST(test_deformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
