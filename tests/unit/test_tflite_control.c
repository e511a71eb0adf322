/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_control.c - operators of TFLite files that run subgraphs: IF, CALL, and what is refused of them. */
#include "tests/unit/tflite_control_rig.h"

/* ---- IF ---- */

/* y = relu(x) if the condition is true, else -x.  condition < 0: an input of the graph. */
static void
branches(int condition, int *x, int *c, int *y)
{
	static const uint8_t truth[2] = {0, 1};

	*x = value_of("x", TFL_FLOAT32, DIMS(3));
	*y = value_of("y", TFL_FLOAT32, DIMS(3));
	*c = tfl_tensor(file, "c", TFL_BOOL, SCALAR, condition < 0 ? NULL : &truth[condition],
			condition < 0 ? 0 : 1);
	tfl_with(tfl_with(tfl_op(file, QN_TFL_IF, INTS(*c, *x), INTS(*y)), 0, 'i', 1), 1, 'i', 2);
	for (int i = 0; i < 2; i++) {
		const int in = value_of("in", TFL_FLOAT32, DIMS(3));
		const int out = value_of("out", TFL_FLOAT32, DIMS(3));

		(void)tfl_subgraph(file, INTS(in), INTS(out));
		tfl_op(file, i == 0 ? QN_TFL_RELU : QN_TFL_NEG, INTS(in), INTS(out));
	}
}

static void
test_if_constant(void **state)
{
	static const double want[2][3] = {{1, -2, -3}, {0, 2, 3}};
	int x, c, y;

	for (int k = 0; k < 2; k++) {
		tflite_teardown(state);
		tflite_setup(state);
		branches(k, &x, &c, &y);
		import(INTS(x), INTS(y));
		assert_int_equal(count_of(QN_OP_where), 0);
		gives(V(-1, 2, 3), 3, want[k]);
	}
}

/* The condition is an input: both branches run. */
static void
test_if_at_run_time(void **state)
{
	int x, c, y;

	(void)state;
	branches(-1, &x, &c, &y);
	import(INTS(x, c), INTS(y));
	assert_int_equal(count_of(QN_OP_where), 1);
	near(V(0, 2, 3), run((const double *[]){V(-1, 2, 3), V(1)}), 3, 0);
	near(V(1, -2, -3), run((const double *[]){V(-1, 2, 3), V(0)}), 3, 0);
}

static void
test_call(void **state)
{
	(void)state;
	const int x = value_of("x", TFL_FLOAT32, DIMS(2)), y = value_of("y", TFL_FLOAT32, DIMS(2)),
		  z = value_of("z", TFL_FLOAT32, DIMS(2)),
		  in = value_of("in", TFL_FLOAT32, DIMS(2)),
		  out = value_of("out", TFL_FLOAT32, DIMS(2));

	tfl_with(tfl_op(file, QN_TFL_CALL, INTS(x), INTS(y)), 0, 'i', 1);
	tfl_with(tfl_op(file, QN_TFL_CALL, INTS(y), INTS(z)), 0, 'i', 1);
	(void)tfl_subgraph(file, INTS(in), INTS(out));
	tfl_op(file, QN_TFL_ADD, INTS(in, in), INTS(out));
	import(INTS(x), INTS(z));
	GIVES(V(1, -3), 4, -12);
}

/* Options of operators that are newer lie elsewhere in the file. */
static void
test_composite(void **state)
{
	(void)state;
	const int x = value_of("x", TFL_FLOAT32, DIMS(2)), y = value_of("y", TFL_FLOAT32, DIMS(2)),
		  in = value_of("in", TFL_FLOAT32, DIMS(2)),
		  out = value_of("out", TFL_FLOAT32, DIMS(2));
	tfl_op_of *o = tfl_op(file, QN_TFL_STABLEHLO_COMPOSITE, INTS(x), INTS(y));

	o->option[o->noption++] = (tfl_option){.field = 0, .kind = 's', .text = "odml.twice"};
	tfl_with(o, 1, 'i', 1);
	(void)tfl_subgraph(file, INTS(in), INTS(out));
	tfl_op(file, QN_TFL_ADD, INTS(in, in), INTS(out));
	import(INTS(x), INTS(y));
	GIVES(V(1, -3), 2, -6);
}

/* ---- many of them ---- */

/* Subgraph k runs the next one six times; the last has 60 operators. */
static void
test_many_calls(void **state)
{
	enum { LEVELS = TFL_GRAPHS, CALLS = 6, LAST = 60 };
	int at[LAST + 1];

	(void)state;
	for (int i = 0; i <= LAST; i++)
		at[i] = value_of("v", TFL_FLOAT32, DIMS(1));
	for (int k = 0; k <= LEVELS; k++) {
		const int n = k == LEVELS ? LAST : CALLS;

		if (k > 0)
			(void)tfl_subgraph(file, INTS(at[0]), INTS(at[n]));
		for (int i = 0; i < n; i++)
			if (k == LEVELS)
				tfl_op(file, QN_TFL_NEG, INTS(at[i]), INTS(at[i + 1]));
			else
				tfl_with(tfl_op(file, QN_TFL_CALL, INTS(at[i]), INTS(at[i + 1])), 0,
					 'i', k + 1);
	}
	import_fails(INTS(at[0]), INTS(at[CALLS]), "import.size", "expands to more than");
}

/* ---- what is wrong with subgraphs ---- */

static void
test_refused(void **state)
{
	static const struct {
		int code, index, ncalled; /* the called subgraph calls this one again */
		const char *id, *text;
	} rows[] = {
		{QN_TFL_CALL, 1, 1, "import.nesting", "subgraph 1 runs itself"},
		{QN_TFL_CALL, 2, 0, "import.file", "subgraph 2 is run, but the file has 2"},
		{QN_TFL_CALL, -1, 0, "import.file", "subgraph -1 is run"},
		{QN_TFL_CALL, 0, 0, "import.file", "subgraph 0 is run"},
		{QN_TFL_IF, 1, 0, "import.input", "'x' is not one truth value"},
		{QN_TFL_WHILE, 1, 0, "import.input",
		 "1 inputs and 1 outputs; it is run with 2 and 1"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		tflite_teardown(state);
		tflite_setup(state);
		const int x = value_of("x", TFL_FLOAT32, DIMS(2)),
			  y = value_of("y", TFL_FLOAT32, DIMS(2)),
			  z = value_of("z", TFL_FLOAT32, DIMS(2)),
			  in = value_of("in", TFL_FLOAT32, DIMS(2)),
			  out = value_of("out", TFL_FLOAT32, DIMS(2));
		tfl_op_of *o =
			rows[i].code == QN_TFL_WHILE
				? tfl_op(file, QN_TFL_WHILE, INTS(x, x), INTS(y, z))
				: tfl_op(file, rows[i].code, rows[i].code == QN_TFL_IF ? 2 : 1,
					 (const int32_t[]){x, x}, INTS(y));

		tfl_with(tfl_with(o, 0, 'i', rows[i].index), 1, 'i', rows[i].index);
		(void)tfl_subgraph(file, INTS(in), INTS(out));
		if (rows[i].ncalled > 0)
			tfl_with(tfl_op(file, QN_TFL_CALL, INTS(in), INTS(out)), 0, 'i', 1);
		else
			tfl_op(file, QN_TFL_RELU, INTS(in), INTS(out));
		import_fails(INTS(x), INTS(y), rows[i].id, rows[i].text);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_if_constant), T(test_if_at_run_time), T(test_call),
		T(test_composite),   T(test_refused),        T(test_many_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
