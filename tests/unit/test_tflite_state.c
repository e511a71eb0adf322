/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_state.c - resource variables of TFLite files: states of the graph, first values, order of reads
 * and assignments, what is refused. */
#include "tests/unit/tflite_rig.h"

#define X DIMS(1, 2)

/* A handle to the variable of this name. */
static int
handle(const char *tensor, const char *name)
{
	const int h = tfl_tensor(file, tensor, TFL_RESOURCE, 0, NULL, NULL, 0);
	tfl_op_of *o = tfl_op(file, QN_TFL_VAR_HANDLE, 0, NULL, INTS(h));

	o->option[o->noption++] = (tfl_option){.field = 1, .kind = 's', .text = name};
	return h;
}

static int
floats(const char *name, const float *data)
{
	return tfl_tensor(file, name, TFL_FLOAT32, X, data, data != NULL ? 8 : 0);
}

/* y = x + h, and h becomes y. */
static void
sum(int x, int y, int h)
{
	const int old = floats("old", NULL);

	tfl_op(file, QN_TFL_READ_VARIABLE, INTS(h), INTS(old));
	tfl_op(file, QN_TFL_ADD, INTS(x, old), INTS(y));
	tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(h, y), 0, NULL);
}

static void
test_state(void **state)
{
	(void)state;
	const int x = floats("x", NULL), y = floats("y", NULL);

	sum(x, y, handle("h", "total"));
	import(INTS(x), INTS(y));
	assert_int_equal(rg->g->nstate, 1);
	assert_int_equal(qn_graph_fed(rg->g), 1);
	assert_string_equal(qn_graph_state(rg->g, 0)->name, "total");
	assert_string_equal(rg->g->output[1].name, "total.next");
	assert_ptr_equal(rg->g->output[0].value, rg->g->output[1].value);
	assert_null(rg->g->init[0]);
}

/* CALL_ONCE before the first read, with constants of the file. */
static void
test_first_values(void **state)
{
	static const float first[2] = {1.5f, -2};

	(void)state;
	const int x = floats("x", NULL), y = floats("y", NULL), c = floats("c", first);

	tfl_with(tfl_op(file, QN_TFL_CALL_ONCE, 0, NULL, 0, NULL), 0, 'i', 1);
	sum(x, y, handle("h", "total"));
	(void)tfl_subgraph(file, 0, NULL, 0, NULL);
	const int h = handle("h1", "total");
	tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(h, c), 0, NULL);
	import(INTS(x), INTS(y));
	assert_int_equal(rg->g->nstate, 1);
	assert_non_null(rg->g->init[0]);
	assert_memory_equal(rg->g->init[0]->data, first, sizeof first);
}

/* Quantized: first values that are the zero point are 0; others are float values that quantize to them. */
static void
test_quantized(void **state)
{
	static const int8_t first[2][2] = {{-3, -3}, {7, -128}};
	static const float real_of[2] = {5, -62.5f};

	for (int i = 0; i < 2; i++) {
		tflite_teardown(state);
		tflite_setup(state);
		const int x = tfl_codes(file, "x", TFL_INT8, X, 0.5f, -3, NULL, 0);
		const int y = tfl_codes(file, "y", TFL_INT8, X, 0.5f, -3, NULL, 0);
		const int old = tfl_codes(file, "old", TFL_INT8, X, 0.5f, -3, NULL, 0);
		const int c = tfl_codes(file, "c", TFL_INT8, X, 0.5f, -3, first[i], 2);

		tfl_with(tfl_op(file, QN_TFL_CALL_ONCE, 0, NULL, 0, NULL), 0, 'i', 1);
		const int h = handle("h", "v");
		tfl_op(file, QN_TFL_READ_VARIABLE, INTS(h), INTS(old));
		tfl_op(file, QN_TFL_ADD, INTS(x, old), INTS(y));
		tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(h, x), 0, NULL);
		(void)tfl_subgraph(file, 0, NULL, 0, NULL);
		const int again = handle("h1", "v");
		tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(again, c), 0, NULL);
		import(INTS(x), INTS(y));
		assert_int_equal(rg->m.stage, QN_STAGE_CALIBRATED);
		if (i == 0) {
			assert_null(rg->g->init[0]);
			continue;
		}
		assert_memory_equal(rg->g->init[0]->data, real_of, sizeof real_of);
		const qn_tensor *begin = qn_graph_state_init(rg->g, 0, &rg->arena);
		assert_memory_equal(begin->data, first[1], 2);
	}
}

/* A read after an assignment gets what was assigned; a variable that is assigned first is no state. */
static void
test_order(void **state)
{
	(void)state;
	const int x = floats("x", NULL), a = floats("a", NULL), b = floats("b", NULL),
		  c = floats("c", NULL), y = floats("y", NULL);
	const int h = handle("h", "late"), k = handle("k", "local"), again = handle("h1", "late");

	tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(k, x), 0, NULL);
	tfl_op(file, QN_TFL_READ_VARIABLE, INTS(h), INTS(a));
	tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(h, x), 0, NULL);
	tfl_op(file, QN_TFL_READ_VARIABLE, INTS(again), INTS(b));
	tfl_op(file, QN_TFL_READ_VARIABLE, INTS(k), INTS(c));
	tfl_op(file, QN_TFL_ADD, INTS(a, b), INTS(y));
	import(INTS(x), INTS(y, c));
	assert_int_equal(rg->g->nstate, 1);
	const qn_node *add = qn_graph_node(rg->g, rg->g->output[0].value);
	assert_ptr_equal(qn_graph_node(rg->g, add->in[0]), qn_graph_state(rg->g, 0));
	assert_int_equal(add->in[1], rg->g->input[0]);
	assert_int_equal(rg->g->output[1].value, rg->g->input[0]);
	assert_int_equal(rg->g->output[2].value, rg->g->input[0]);
}

/* A handle is no value of another operator. */
static void
test_handle_read(void **state)
{
	(void)state;
	const int x = floats("x", NULL), y = floats("y", NULL);

	tfl_op(file, QN_TFL_RELU, INTS(handle("h", "total")), INTS(y));
	import_fails(INTS(x), INTS(y), "import.type", "'h'");
}

static void
test_refused(void **state)
{
	static const float two[2] = {1, 2};
	static const struct {
		int index; /* of the subgraph that is called; 0: none is */
		bool computes, variable, wide;
		const char *id, *text;
	} rows[] = {
		{2, false, false, false, "import.file", "subgraph 2 is called, but the file has 2"},
		{-1, false, false, false, "import.file", "subgraph -1 is called"},
		{1, true, false, false, "import.op", "RELU in a subgraph that CALL_ONCE runs"},
		{0, false, true, false, "import.op", "'x' is not the result of a VAR_HANDLE"},
		{0, false, false, true, "import.type", "'total' gets a value of another shape"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		tflite_teardown(state);
		tflite_setup(state);
		const int x = floats("x", NULL), y = floats("y", NULL), c = floats("c", two),
			  r = floats("r", NULL);
		const int wide = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(1, 4), NULL, 0);

		if (rows[i].index != 0)
			tfl_with(tfl_op(file, QN_TFL_CALL_ONCE, 0, NULL, 0, NULL), 0, 'i',
				 rows[i].index);
		const int h = handle("h", "total");
		sum(x, y, rows[i].variable ? x : h);
		if (rows[i].wide) {
			tfl_op(file, QN_TFL_CONCATENATION, INTS(x, y), INTS(wide));
			file->op[file->nop - 1].option[0] =
				(tfl_option){.field = 0, .kind = 'i', .value = 1};
			file->op[file->nop - 1].noption = 1;
			tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(h, wide), 0, NULL);
		}
		if (rows[i].index != 0) {
			(void)tfl_subgraph(file, 0, NULL, 0, NULL);
			const int again = handle("h1", "total");

			if (rows[i].computes)
				tfl_op(file, QN_TFL_RELU, INTS(c), INTS(r));
			tfl_op(file, QN_TFL_ASSIGN_VARIABLE, INTS(again, c), 0, NULL);
		}
		import_fails(INTS(x), INTS(y), rows[i].id, rows[i].text);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_state), T(test_first_values), T(test_quantized),
		T(test_order), T(test_handle_read),  T(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
