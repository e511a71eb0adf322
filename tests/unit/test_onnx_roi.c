/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_roi.c - RoiAlign of ONNX, with numbers computed by hand: the picture is 1 2 over 3 4. */
#include "tests/unit/onnx_rig.h"

static void
picture(const float *box, int64_t number)
{
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2");
	onx_floats(file, "box", "1,4", box);
	onx_ints64(file, "of", "1", &number);
}

static void
align(int64_t version)
{
	onx_node(file, "RoiAlign", "x,box,of", "y");
	onx_output(file, "y");
	if (version > 0)
		import(version);
}

static void
test_one_cell(void **state)
{
	static const struct {
		float box[4];
		int version, samples;
		float scale;
		double want;
	} rows[] = {
		{{0, 0, 1, 1}, 16, 1, 1, 1},   /* in the middle of the first element */
		{{0, 0, 2, 2}, 16, 1, 1, 2.5}, /* between all */
		{{0, 0, 2, 2}, 16, 2, 1, 2.5}, /* in the middle of each */
		{{0, 0, 4, 4}, 16, 0, 0.5f, 2.5},
		{{0, 0, 1, 1}, 10, 1, 1, 2.5},           /* at 0.5, without an offset */
		{{0.5f, 0.5f, 0.5f, 0.5f}, 10, 1, 1, 4}, /* of length 1 at least */
		{{5, 5, 6, 6}, 16, 1, 1, 0},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		picture(rows[i].box, 0);
		onx_int(file, "sampling_ratio", rows[i].samples);
		onx_real(file, "spatial_scale", rows[i].scale);
		align(rows[i].version);
		GIVES(V(1, 2, 3, 4), 1e-6, rows[i].want);
	}
}

static void
test_cells(void **state)
{
	(void)state;
	picture((const float[]){0, 0, 2, 1}, 0);
	onx_int(file, "output_height", 1);
	onx_int(file, "output_width", 2);
	align(16);
	output_is("tensor<1x1x1x2xf32>");
	GIVES(V(1, 2, 3, 4), 1e-6, 1, 2);
}

/* Of two pictures the second, then the first. */
static void
test_pictures(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,1,1,1");
	onx_floats(file, "box", "2,4", (const float[]){0, 0, 1, 1, 0, 0, 1, 1});
	onx_ints64(file, "of", "2", (const int64_t[]){1, 0});
	align(16);
	GIVES(V(3, 5), 0, 5, 3);
}

static void
test_refused(void **state)
{
	(void)state;
	picture((const float[]){0, 0, 1, 1}, 1);
	align(0);
	import_fails(16, "import.input", "indices of images");

	picture((const float[]){0, 0, 1, 1}, 0);
	onx_string(file, "mode", "max");
	align(0);
	import_fails(16, "import.attr", "max");

	picture((const float[]){0, 0, 1e12f, 1}, 0);
	align(0);
	import_fails(16, "import.input", "box 0 begins");

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,1,1");
	onx_floats(file, "box", "5,4", (const float[20]){0});
	onx_ints64(file, "of", "5", (const int64_t[5]){0});
	onx_int(file, "output_height", 4096);
	onx_int(file, "sampling_ratio", 4096);
	align(0);
	import_fails(16, "import.size", "2^26");

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,1,2,2");
	onx_input(file, "box", ONX_FLOAT, "1,4");
	onx_ints64(file, "of", "1", (const int64_t[]){0});
	align(0);
	import_fails(16, "import.constant", "must be constants");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_cell),
		TEST(test_cells),
		TEST(test_pictures),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
