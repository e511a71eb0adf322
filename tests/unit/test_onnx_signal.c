/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_signal.c - windows, Fourier transforms and mel weights of ONNX, with numbers computed by hand.
 *
 *   transform of 1 2 3 4     10, -2 + 2i, -2, -2 - 2i */
#include "tests/unit/onnx_rig.h"

static void
integer(const char *name, int64_t v)
{
	onx_ints64(file, name, "", &v);
}

static void
test_windows(void **state)
{
	static const struct {
		const char *op;
		int periodic, size;
		double want[4];
	} rows[] = {
		{"HannWindow", 1, 4, {0, 0.5, 1, 0.5}},
		{"HannWindow", 0, 3, {0, 1, 0}},
		{"HammingWindow", 1, 4, {4.0 / 46, 25.0 / 46, 1, 25.0 / 46}},
		{"BlackmanWindow", 1, 4, {0, 0.34, 1, 0.34}},
		{"BlackmanWindow", 0, 1, {0}},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1");
		integer("n", rows[i].size);
		onx_int(file, "periodic", rows[i].periodic);
		onx_node(file, rows[i].op, "n", "w");
		onx_node(file, "Mul", "x,w", "y");
		onx_output(file, "y");
		import(17);
		near(rows[i].want, run1(V(1)), rows[i].size, 1e-7);
	}
}

static void
test_transform(void **state)
{
	static const double want[] = {10, 0, -2, 2, -2, 0, -2, -2};

	(void)state;
	for (int onesided = 0; onesided < 2; onesided++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,4,1");
		onx_int(file, "onesided", onesided);
		onx_node(file, "DFT", "x", "y");
		onx_output(file, "y");
		import(20);
		output_is(onesided ? "tensor<1x3x2xf32>" : "tensor<1x4x2xf32>");
		near(want, run1(V(1, 2, 3, 4)), onesided ? 6 : 8, 1e-6);
	}
	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,4,2");
	onx_int(file, "inverse", 1);
	onx_node(file, "DFT", "x", "y");
	onx_output(file, "y");
	import(17);
	GIVES(want, 1e-6, 1, 0, 2, 0, 3, 0, 4, 0);
}

/* Along another axis; cut to two elements, and with a zero behind. */
static void
test_axis_and_length(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "2,2,1");
	integer("axis", 0);
	onx_node(file, "DFT", "x,,axis", "y");
	onx_output(file, "y");
	import(20);
	GIVES(V(1, 2, 3, 5), 1e-6, 4, 0, 7, 0, -2, 0, -3, 0);

	for (int64_t length = 2; length < 4; length++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, length == 2 ? "1,3,1" : "1,2,1");
		integer("n", length);
		onx_node(file, "DFT", "x,n", "y");
		onx_output(file, "y");
		import(17);
		if (length == 2)
			GIVES(V(1, 2, 9), 1e-6, 3, 0, -1, 0);
		else
			GIVES(V(1, 1), 1e-6, 2, 0, 0.5, -0.8660254, 0.5, 0.8660254);
	}
}

static void
test_frames(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1,6");
	integer("step", 2);
	onx_floats(file, "w", "2", (const float[]){1, 2});
	onx_node(file, "STFT", "x,step,w", "y");
	onx_output(file, "y");
	import(17);
	output_is("tensor<1x3x2x2xf32>");
	GIVES(V(1, 2, 3, 4, 5, 6), 1e-6, 5, 0, -3, 0, 11, 0, -5, 0, 17, 0, -7, 0);

	another_file();
	onx_input(file, "x", ONX_FLOAT, "1,2,2");
	integer("step", 1);
	onx_floats(file, "w", "2", (const float[]){1, 2});
	onx_int(file, "onesided", 0);
	onx_node(file, "STFT", "x,step,w", "y");
	onx_output(file, "y");
	import(17);
	GIVES(V(1, 2, 3, 4), 1e-6, 7, 10, -5, -6);
}

/* Corners at 0, 2.3 and 4.7 Hz, where bins are 1 Hz wide. */
static void
test_mel(void **state)
{
	(void)state;
	onx_input(file, "x", ONX_FLOAT, "1");
	integer("mels", 1);
	integer("length", 8);
	integer("rate", 9);
	onx_floats(file, "low", "", (const float[]){0});
	onx_floats(file, "high", "", (const float[]){7});
	onx_node(file, "MelWeightMatrix", "mels,length,rate,low,high", "m");
	onx_node(file, "Mul", "x,m", "y");
	onx_output(file, "y");
	import(17);
	output_is("tensor<5x1xf32>");
	GIVES(V(1), 0, 0, 0.5, 1, 0.5, 0);
}

static void
test_refused(void **state)
{
	static const struct {
		const char *op, *in, *attr, *id, *text;
		int value;
	} rows[] = {
		{"DFT", "x,zero", NULL, "import.attr", "1 or more", 0},
		{"STFT", "x,zero", NULL, "import.input", "step 0", 0},
		{"STFT", "x,one,x", NULL, "import.input", "must be a constant", 0},
		{"HannWindow", "i", NULL, "import.constant", "must be a constant", 0},
		{"HannWindow", "one", "output_datatype", "import.type", "output_datatype is 8", 8},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		another_file();
		onx_input(file, "x", ONX_FLOAT, "1,4,1");
		onx_input(file, "i", ONX_INT64, "");
		integer("zero", 0);
		integer("one", 1);
		onx_int(file, "onesided", 1);
		if (rows[i].attr != NULL)
			onx_int(file, rows[i].attr, rows[i].value);
		onx_node(file, rows[i].op, rows[i].in, "y");
		onx_output(file, "y");
		import_fails(20, rows[i].id, rows[i].text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_windows), TEST(test_transform), TEST(test_axis_and_length),
		TEST(test_frames),  TEST(test_mel),       TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
