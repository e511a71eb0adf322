/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_shapes.c - shapes in TFLite files that are an input or that a run computes, and other batches than the
 * file's. */
#include "tests/unit/tflite_rig.h"

/* A shape that a run computes, or that is an input: the file says what the result is, else the caller. */
static void
test_shape_is_input(void **state)
{
	const float weights[] = {2, 3};
	qn_pin pin = {.name = "s", .text = "1,1,4,1"};

	for (int how = 0; how < 3; how++) { /* the file's shape; none: refused, fixed */
		const int32_t open = how == 0 ? 4 : -1;

		(void)tflite_teardown(state);
		(void)tflite_setup(state);
		int s = tfl_tensor(file, "s", TFL_INT32, DIMS(4), NULL, 0);
		int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(1, 1, 2, 1), weights, 8);
		int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 1, 2, 1), NULL, 0);
		int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1, open, 1), NULL, 0);
		tfl_op_of *o = tfl_op(file, QN_TFL_TRANSPOSE_CONV, INTS(s, w, x), INTS(y));

		(void)tfl_with(tfl_with(tfl_with(o, 0, 'b', QN_TFL_PADDING_VALID), 1, 'i', 2), 2,
			       'i', 1);
		if (how == 2) {
			reading.pin = &pin;
			reading.npin = 1;
		}
		if (how == 1) {
			import_fails(INTS(x, s), INTS(y), "import.input", "--input-value");
			continue;
		}
		import(INTS(x, s), INTS(y));
		assert_int_equal(rg->g->ninput, how == 0 ? 2 : 1);
		const double *in[] = {V(1, 10), V(1, 1, 4, 1)};
		const double want[] = {2, 3, 20, 30}, *got = run(in);
		for (int i = 0; i < 4; i++)
			assert_true(got[i] == want[i]);
	}
}

/* A given shape of a result with another batch or other channels than its operands'. */
static void
test_shape_that_is_not(void **state)
{
	const float weights[] = {2, 3};
	static const char *const shapes[] = {"2,1,4,1", "1,1,4,3", "4"};

	for (size_t i = 0; i < QN_COUNT(shapes); i++) {
		qn_pin pin = {.name = "s", .text = shapes[i]};

		(void)tflite_teardown(state);
		(void)tflite_setup(state);
		int s = tfl_tensor(file, "s", TFL_INT32, DIMS(4), NULL, 0);
		int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(1, 1, 2, 1), weights, 8);
		int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 1, 2, 1), NULL, 0);
		int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1, -1, 1), NULL, 0);
		tfl_op_of *o = tfl_op(file, QN_TFL_TRANSPOSE_CONV, INTS(s, w, x), INTS(y));

		(void)tfl_with(tfl_with(tfl_with(o, 0, 'b', QN_TFL_PADDING_VALID), 1, 'i', 2), 2,
			       'i', 1);
		reading.pin = &pin;
		reading.npin = 1;
		import_fails(INTS(x, s), INTS(y), "import.input",
			     "the data has a batch of 1, the weights have 1 channels");
	}
}

static void
test_input_dim(void **state)
{
	(void)state;
	const char *const dim[] = {"x:0:0=2"};
	int x = tfl_tensor(file, "x:0", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 2), NULL, 0);

	tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
	reading.ndim = 1;
	reading.dim = dim;
	import(INTS(x), INTS(y));
	GIVES(V(1, -2, -3, 4), 1, 0, 0, 4);
}

/* A dimension that is open in the file, but for the batch, is named unless an option says how long it is. */
static void
test_open_dimension(void **state)
{
	static const int32_t open[] = {-1, -1, 2};
	const char *const dim[] = {"x:1=3"};

	for (int given = 0; given < 2; given++) {
		(void)tflite_teardown(state);
		(void)tflite_setup(state);
		int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 1, 2), NULL, 0);
		int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 1, 2), NULL, 0);

		file->tensor[x].signature = open;
		tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
		reading.ndim = (size_t)given;
		reading.dim = dim;
		size_t n;
		const uint8_t *bytes = tfl_end(file, INTS(x), INTS(y), &n);
		assert_int_equal(import_bytes(bytes, n), QN_OK);
		assert_int_equal(rg->diags.n, given ? 0 : 1);
		if (given)
			continue;
		assert_string_equal(rg->diags.item[0].id, "import.open");
		assert_non_null(strstr(rg->diags.item[0].message, "--input-dim x:1=N"));
	}
}

/* A shape that is written for a batch of 1 follows another batch. */
static void
test_other_batch(void **state)
{
	(void)state;
	const char *const dim[] = {"x:0=2"};
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 1, 2), NULL, 0);
	int s = tfl_tensor(file, "s", TFL_INT32, DIMS(2), (const int32_t[]){1, 2}, 8);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 2), NULL, 0);

	tfl_op(file, QN_TFL_RESHAPE, INTS(x, s), INTS(y));
	reading.ndim = 1;
	reading.dim = dim;
	import(INTS(x), INTS(y));
	GIVES(V(1, 2, 3, 4), 1, 2, 3, 4);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_shape_is_input), T(test_shape_that_is_not), T(test_input_dim),
		T(test_open_dimension), T(test_other_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
