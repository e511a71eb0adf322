/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_blocks.c - weights in blocks of TFLite files: computed in float and in integers, and what is refused. */
#include "passes/passes.h"
#include "tests/unit/tflite_rig.h"

/* 1 -2 3 4, 5 -6 7 -8 | -1 2 -3 -4, -5 6 -7 7 */
static const uint8_t weights[] = {0xe1, 0x43, 0xa5, 0x87, 0x2f, 0xcd, 0x6b, 0x79};

typedef struct layer {
	int x, w, y, scales;
} layer;

/* [1,8] to [1,2]: weights of 4 bits in blocks of so many; codes: activations are quantized. */
static layer
dense(int codes, int block, int nscale, const float *scale)
{
	layer l;

	l.x = codes ? tfl_codes(file, "x", TFL_INT8, DIMS(1, 8), 0.5f, 3, NULL, 0)
		    : tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, 8), NULL, 0);
	l.w = tfl_tensor(file, "w", TFL_INT4, DIMS(2, 8), weights, sizeof weights);
	l.scales = tfl_tensor(file, "s", TFL_FLOAT32, DIMS(2, nscale / 2), scale, 4 * nscale);
	l.y = codes ? tfl_codes(file, "y", TFL_INT8, DIMS(1, 2), 1.0f, -4, NULL, 0)
		    : tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, 2), NULL, 0);
	file->tensor[l.w].block = block;
	file->tensor[l.w].scales = l.scales;
	file->tensor[l.w].zeros = -1;
	tfl_op(file, QN_TFL_FULLY_CONNECTED, INTS(l.x, l.w), INTS(l.y));
	return l;
}

/* Blocks 0.5 and 0.25 of the first row, 1 and 2 of the second. */
static const float four[] = {0.5f, 0.25f, 1.0f, 2.0f};

static void
test_float(void **state)
{
	(void)state;
	layer l = dense(0, 4, 4, four);
	import(INTS(l.x), INTS(l.y));
	GIVES(V(1, 1, 1, 1, 1, 1, 1, 1), 0.5 * 6 - 0.25 * 2, -6 + 2 * 1);
	GIVES(V(0, 0, 2, 0, 0, 0, 0, -1), 3 + 2, -6 - 14);
}

/* Quantized activations: x = (q - 3) / 2. */
static void
test_integers(void **state)
{
	(void)state;
	layer l = dense(1, 4, 4, four);
	import(INTS(l.x), INTS(l.y));
	GIVES(V(3, 3, 7, 3, 3, 3, 3, 1), 5 - 4, -20 - 4);
	assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true}), QN_OK);
	assert_int_equal(qn_legalize(&rg->m), QN_OK);
	no_errors();
	rg->g = qn_model_entry(&rg->m);
	GIVES(V(3, 3, 7, 3, 3, 3, 3, 1), 5 - 4, -20 - 4);
}

/* Zero points are a tensor too; so are scales of another rank, of blocks of the last axis. */
static void
test_zero_points(void **state)
{
	static const int8_t zero[] = {0, 1, 0, -1};

	(void)state;
	layer l = dense(1, 4, 4, four);
	file->tensor[l.scales].rank = 1;
	file->tensor[l.scales].dim[0] = 4;
	file->tensor[l.w].zeros = tfl_tensor(file, "z", TFL_INT8, DIMS(4), zero, sizeof zero);
	import(INTS(l.x), INTS(l.y));
	/* real inputs 0 0 2 0 0 0 0 -1 */
	GIVES(V(3, 3, 7, 3, 3, 3, 3, 1), 6 / 2 + 9 / 4.0 + 0.5 - 4 - 0.75, -6 - 16 - 4);
}

static void
test_refuses(void **state)
{
	(void)state;
	layer l = dense(0, 3, 4, four);
	import_fails(INTS(l.x), INTS(l.y), "import.type", "blocks of 3");
	file->tensor[l.w].block = 4;
	file->tensor[l.w].scales = 99;
	import_fails(INTS(l.x), INTS(l.y), "import.type", "its scales are tensor 99");
	file->tensor[l.w].scales = l.w;
	import_fails(INTS(l.x), INTS(l.y), "import.type", "its scales are tensor");
	file->tensor[l.w].scales = l.x;
	import_fails(INTS(l.x), INTS(l.y), "import.input", "has no data");
	file->tensor[l.w].scales = l.scales;
	file->tensor[l.w].zeros = l.w;
	import_fails(INTS(l.x), INTS(l.y), "import.type", "its zero points are tensor");
}

/* A row of the weights, in blocks or with a scale for each row, in steps of 0.5 around -4. */
static void
rows(int op, bool blocks)
{
	int w, y, i = tfl_tensor(file, "i", TFL_INT32, DIMS(1), NULL, 0);

	if (blocks)
		w = tfl_tensor(file, "w", TFL_INT4, DIMS(2, 8), weights, sizeof weights);
	else
		w = tfl_codes(file, "w", TFL_INT4, DIMS(2, 8), 0.5f, 0, weights, sizeof weights);
	y = tfl_codes(file, "y", TFL_INT8, DIMS(1, 8), 0.5f, -4, NULL, 0);
	file->tensor[w].block = blocks ? 4 : 0;
	file->tensor[w].zeros = -1;
	if (blocks)
		file->tensor[w].scales = tfl_tensor(file, "s", TFL_FLOAT32, DIMS(2, 2), four, 16);
	else
		file->tensor[w].nscale = 2;
	file->tensor[w].scale[1] = 1.0f;
	if (op == QN_TFL_GATHER)
		tfl_op(file, op, INTS(w, i), INTS(y));
	else
		tfl_op(file, op, INTS(i, w), INTS(y));
	import(INTS(i), INTS(y));
	for (int k = 0; k < 2; k++) {
		if (blocks)
			GIVES(V(1), -1 * 2 - 4, 2 * 2 - 4, -3 * 2 - 4, -4 * 2 - 4, -5 * 4 - 4,
			      6 * 4 - 4, -7 * 4 - 4, 7 * 4 - 4);
		else
			GIVES(V(1), -1 * 2 - 4, 2 * 2 - 4, -3 * 2 - 4, -4 * 2 - 4, -5 * 2 - 4,
			      6 * 2 - 4, -7 * 2 - 4, 7 * 2 - 4);
		assert_int_equal(qn_requantize(&rg->m, &(qn_requant_opts){.require_int = true}),
				 QN_OK);
		no_errors();
		rg->g = qn_model_entry(&rg->m);
	}
	for (qn_id id = 1; id < rg->g->n; id++)
		if (qn_graph_node(rg->g, id)->op == QN_OP_const)
			assert_int_equal(qn_graph_node(rg->g, id)->type->elem->bits, 4);
}

static void
test_gather(void **state)
{
	(void)state;
	rows(QN_TFL_GATHER, true);
}

static void
test_gather_rows(void **state)
{
	(void)state;
	rows(QN_TFL_GATHER, false);
}

static void
test_lookup(void **state)
{
	(void)state;
	rows(QN_TFL_EMBEDDING_LOOKUP, true);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_float),  T(test_integers),    T(test_zero_points), T(test_refuses),
		T(test_gather), T(test_gather_rows), T(test_lookup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
