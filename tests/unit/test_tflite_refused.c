/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_refused.c - what is refused in TFLite files, and any bytes. */
#include "tests/unit/tflite_rig.h"

#include "runtime/impl_args.h"
#include "runtime/impls.h"

/* More scales than indices, or an axis that could be several, is no slip of a converter. */
static void
test_axis_refused(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2, 2, 2), 0.5f, 0, NULL, 0);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 2, 2, 2), 1.0f, 0, NULL, 0);

	file->tensor[x].nscale = 2;
	file->tensor[x].scale[1] = 0.5f;
	file->tensor[x].axis = 7;
	(void)tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
	import_fails(INTS(x), INTS(y), "import.type", "2 scales and 2 zero points for axis 7");
	file->tensor[x].nscale = 1;
	file->tensor[x].scale[0] = -0.5f;
	import_fails(INTS(x), INTS(y), "type.scale.range", "f.tflite: tensor 'x'");
}

static void
test_refuses_dims(void **state)
{
	(void)state;
	const char *const dim[] = {"z:0=2", "x:1=2", "x:0=", "batch=2"};
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(2), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(2), NULL, 0);
	size_t n;

	tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
	reading.ndim = 4;
	reading.dim = dim;
	const uint8_t *bytes = tfl_end(file, INTS(x), INTS(y), &n);
	assert_int_equal(import_bytes(bytes, n), QN_EUSAGE);
	assert_int_equal(rg->diags.n, 4);
	for (size_t i = 0; i < 4; i++)
		assert_string_equal(rg->diags.item[i].id, "import.dim");
}

static void
test_refuses_by_name(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);
	int z = tfl_tensor(file, "z", TFL_FLOAT32, DIMS(1), NULL, 0);
	int u = tfl_tensor(file, "u", TFL_FLOAT32, DIMS(1), NULL, 0);
	size_t n;

	tfl_op(file, QN_TFL_LSH_PROJECTION, INTS(x), INTS(y));
	tfl_op(file, QN_TFL_RELU, INTS(y), INTS(z));
	tfl_op(file, QN_TFL_SKIP_GRAM, INTS(x), INTS(u));
	file->subgraphs = 2;
	const uint8_t *bytes = tfl_end(file, INTS(x), INTS(z, u), &n);
	assert_int_equal(import_bytes(bytes, n), QN_EUNSUPPORTED);
	/* two operators; nothing about the RELU between them, nor about another subgraph, which they may run */
	assert_int_equal(rg->diags.n, 3);
	assert_non_null(strstr(rg->diags.item[0].place, "LSH_PROJECTION"));
	assert_non_null(strstr(rg->diags.item[1].place, "SKIP_GRAM"));
	assert_string_equal(rg->diags.item[2].id, "import.behind");
	assert_non_null(strstr(rg->diags.item[2].message, "1 node after"));
	assert_non_null(strstr(rg->diags.item[2].message, "'z'"));
}

/* Other signatures: TFLite runs subgraph 0 unless told another one. */
static void
test_reads_the_first_subgraph(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);
	size_t n;

	tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
	file->subgraphs = 2;
	const uint8_t *bytes = tfl_end(file, INTS(x), INTS(y), &n);
	assert_int_equal(import_bytes(bytes, n), QN_OK);
	assert_int_equal(rg->diags.n, 1);
	assert_string_equal(rg->diags.item[0].id, "import.signature");
	assert_int_equal(rg->diags.item[0].severity, QN_WARNING);
	assert_non_null(strstr(rg->diags.item[0].message, "subgraph 0 of 2"));
	assert_non_null(strstr(rg->diags.item[0].message, "are 1 ("));
	qn_diags_clear(&rg->env, &rg->diags);
	GIVES(V(-2), 0);
}

static void
test_refuses_once(void **state)
{
	(void)state;
	size_t n;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);
	int z = tfl_tensor(file, "z", TFL_FLOAT32, DIMS(1), NULL, 0);

	tfl_op(file, QN_TFL_RANDOM_UNIFORM, INTS(x), INTS(y));
	tfl_op(file, QN_TFL_RANDOM_UNIFORM, INTS(y), INTS(z));
	const uint8_t *bytes = tfl_end(file, INTS(x), INTS(z), &n);
	assert_int_equal(import_bytes(bytes, n), QN_EUNSUPPORTED);
	assert_int_equal(rg->diags.n, 1);
	assert_non_null(strstr(rg->diags.item[0].place, "'y'"));
	assert_non_null(strstr(rg->diags.item[0].message, "2 nodes"));
	assert_non_null(strstr(rg->diags.item[0].message, "random numbers"));
}

static void
test_refuses_custom(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);

	tfl_op(file, QN_TFL_CUSTOM, INTS(x), INTS(y));
	file->custom = "TFLite_Detection";
	import_fails(INTS(x), INTS(y), "import.op", "TFLite_Detection");
	file->custom = "FlexErf";
	import_fails(INTS(x), INTS(y), "import.op", "SELECT_TF_OPS");
	file->custom = "edgetpu-custom-op";
	import_fails(INTS(x), INTS(y), "import.op", "the file that edgetpu_compiler read");
	file->custom = "ethos-u";
	import_fails(INTS(x), INTS(y), "import.op", "the file that Vela read");
}

/* A model that ends before an operator ends at all values that it reads, as boxes and scores: not constants, nor inputs. */
static void
test_cut_before(void **state)
{
	(void)state;
	static const float anchors[] = {1};
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1), NULL, 0);
	int box = tfl_tensor(file, "box", TFL_FLOAT32, DIMS(1), NULL, 0);
	int score = tfl_tensor(file, "score", TFL_FLOAT32, DIMS(1), NULL, 0);
	int a = tfl_tensor(file, "a", TFL_FLOAT32, DIMS(1), anchors, 4);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);

	tfl_op(file, QN_TFL_RELU, INTS(x), INTS(box));
	tfl_op(file, QN_TFL_TANH, INTS(x), INTS(score));
	tfl_op(file, QN_TFL_CUSTOM, INTS(box, score, a, x, box), INTS(y));
	file->custom = "TFLite_Detection";
	import_fails(INTS(x), INTS(y), "import.op", "(--cut box --cut score)");
}

static void
test_refuses_types(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_STRING, DIMS(1), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);

	tfl_op(file, QN_TFL_RELU, INTS(x), INTS(y));
	import_fails(INTS(x), INTS(y), "import.type", "tensor 'x'");
}

static void
test_refuses_state(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1), NULL, 0);
	int s = tfl_tensor(file, "s", TFL_FLOAT32, DIMS(1), NULL, 0);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1), NULL, 0);

	file->tensor[s].is_variable = 1;
	tfl_op(file, QN_TFL_ADD, INTS(x, s), INTS(y));
	import_fails(INTS(x), INTS(y), "import.op", "tensor 's'");
}

static void
test_refuses_short_data(void **state)
{
	(void)state;
	int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(4), NULL, 0);
	int w = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(4), (const float[]){1, 2, 3}, 12);
	int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(4), NULL, 0);

	tfl_op(file, QN_TFL_ADD, INTS(x, w), INTS(y));
	import_fails(INTS(x), INTS(y), "import.file", "12 bytes");
}

/* Any byte of a good file changed, and any length: an error or a model, never more. */
static void
test_any_bytes(void **state)
{
	(void)state;
	int x = tfl_codes(file, "x", TFL_INT8, DIMS(1, 2), 0.5f, 0, NULL, 0);
	int w = tfl_codes(file, "w", TFL_INT8, DIMS(1, 2), 0.5f, 0, (const int8_t[]){3, -4}, 2);
	int y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 1), 0.5f, 0, NULL, 0);
	size_t n;

	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(x, w), INTS(y));
	uint8_t *bytes = malloc(TFL_BYTES);
	memcpy(bytes, tfl_end(file, INTS(x), INTS(y), &n), TFL_BYTES);
	for (size_t i = 0; i < 3 * n; i++) {
		size_t size = i < n ? i : n;
		uint8_t *copy = malloc(size + 1);

		memcpy(copy, bytes, size);
		if (i >= n)
			copy[i % n] = i < 2 * n ? 0xff : (uint8_t)(copy[i % n] ^ 4);
		tflite_teardown(NULL);
		tflite_setup(NULL);
		bool ok = import_bytes(copy, size) == QN_OK;
		assert_true(ok || rg->diags.n > 0);
		qn_arena_release(&rg->arena); /* before the bytes */
		free(copy);
	}
	free(bytes);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_axis_refused),    T(test_refuses_dims),
		T(test_refuses_by_name), T(test_reads_the_first_subgraph),
		T(test_refuses_once),    T(test_refuses_custom),
		T(test_cut_before),      T(test_refuses_types),
		T(test_refuses_state),   T(test_refuses_short_data),
		T(test_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
