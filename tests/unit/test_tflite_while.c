/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_while.c - WHILE of TFLite files, read as a loop or step by step.
 *
 *   WHILE (time, h, xs, ys):  LESS (time, 3) | GATHER (xs, time), h = h / 2 + x, ys[time] = h
 *
 * Values are compared with the same recurrence in plain C; loops are compared with what unrolling gives. */
#include "tests/unit/tflite_control_rig.h"

static int
integer(const char *name, const int32_t *value)
{
	return tfl_tensor(file, name, TFL_INT32, SCALAR, value, 4);
}

static int
vector(const char *name, int n, const float *value)
{
	return tfl_tensor(file, name, TFL_FLOAT32, DIMS(n), value, 4 * n);
}

typedef struct recurrence {
	int code; /* of the condition, of time and limit */
	int32_t start, step, limit;
	bool is_sub;    /* SUB (time, -step) */
	bool also_time; /* the time, as a float, is added to x: no loop */
	int as_loop;    /* steps of the loop; 0: it is unrolled */
} recurrence;

static const float half[1] = {0.5f};

/* time, h, xs, ys; the values live until the file is written. */
static void
write_loop(const recurrence *r, int *xs, int *h, int *last, int *all)
{
	static int32_t start, step, limit, zero;
	const int time = integer("t0", &start), lim = integer("limit", &limit);
	const int one = integer("step", &step), none = integer("zero", &zero);
	const int ys = value_of("ys0", TFL_FLOAT32, DIMS(STEPS, CELLS));
	static const float zeros[STEPS * CELLS];
	const int half_of = vector("half", 1, half);

	start = r->start;
	step = r->is_sub ? -r->step : r->step;
	limit = r->limit;
	file->tensor[ys].data = zeros;
	file->tensor[ys].nbyte = sizeof zeros;
	*xs = value_of("xs", TFL_FLOAT32, DIMS(STEPS, CELLS));
	*h = value_of("h", TFL_FLOAT32, DIMS(CELLS));
	*last = value_of("last", TFL_FLOAT32, DIMS(CELLS));
	*all = value_of("all", TFL_FLOAT32, DIMS(STEPS, CELLS));
	const int end = value_of("end", TFL_INT32, SCALAR);
	const int same = value_of("same", TFL_FLOAT32, DIMS(STEPS, CELLS));
	tfl_with(tfl_with(tfl_op(file, QN_TFL_WHILE, INTS(time, *h, *xs, ys),
				 INTS(end, *last, same, *all)),
			  0, 'i', 1),
		 1, 'i', 2);

	const int t = value_of("t", TFL_INT32, SCALAR),
		  hh = value_of("hh", TFL_FLOAT32, DIMS(CELLS));
	const int x = value_of("xx", TFL_FLOAT32, DIMS(STEPS, CELLS));
	const int y = value_of("yy", TFL_FLOAT32, DIMS(STEPS, CELLS));
	const int goes = value_of("goes", TFL_BOOL, SCALAR);
	(void)tfl_subgraph(file, INTS(t, hh, x, y), INTS(goes));
	tfl_op(file, r->code, INTS(t, lim), INTS(goes));

	const int next = value_of("next", TFL_INT32, SCALAR);
	const int now = value_of("now", TFL_FLOAT32, DIMS(CELLS));
	const int smaller = value_of("smaller", TFL_FLOAT32, DIMS(CELLS));
	const int sum = value_of("sum", TFL_FLOAT32, DIMS(CELLS));
	const int row = value_of("row", TFL_FLOAT32, DIMS(1, CELLS));
	const int place = value_of("place", TFL_INT32, DIMS(2));
	const int put = value_of("put", TFL_FLOAT32, DIMS(STEPS, CELLS));
	static const int32_t shape[2] = {1, CELLS};
	const int row_shape = tfl_tensor(file, "shape", TFL_INT32, DIMS(2), shape, 8);
	(void)tfl_subgraph(file, INTS(t, hh, x, y), INTS(next, sum, x, put));
	tfl_op(file, r->is_sub ? QN_TFL_SUB : QN_TFL_ADD, INTS(t, one), INTS(next));
	tfl_op(file, QN_TFL_GATHER, INTS(x, t), INTS(now));
	tfl_op(file, QN_TFL_MUL, INTS(hh, half_of), INTS(smaller));
	if (r->also_time) {
		const int real = value_of("real", TFL_FLOAT32, SCALAR);
		const int later = value_of("later", TFL_FLOAT32, DIMS(CELLS));

		tfl_op(file, QN_TFL_CAST, INTS(t), INTS(real));
		tfl_op(file, QN_TFL_ADD, INTS(now, real), INTS(later));
		tfl_op(file, QN_TFL_ADD, INTS(smaller, later), INTS(sum));
	} else {
		tfl_op(file, QN_TFL_ADD, INTS(smaller, now), INTS(sum));
	}
	tfl_op(file, QN_TFL_RESHAPE, INTS(sum, row_shape), INTS(row));
	tfl_with(tfl_with(tfl_op(file, QN_TFL_PACK, INTS(t, none), INTS(place)), 0, 'i', 2), 1, 'i',
		 0);
	tfl_op(file, QN_TFL_DYNAMIC_UPDATE_SLICE, INTS(y, row, place), INTS(put));
}

/* The same in plain C. */
static void
recur(const recurrence *r, const double *xs, double *h, double *all)
{
	int32_t t = r->start;

	for (int k = 0; k < STEPS; k++, t += r->step)
		for (int i = 0; i < CELLS; i++) {
			h[i] = 0.5 * h[i] + xs[t * CELLS + i] + (r->also_time ? t : 0);
			all[t * CELLS + i] = h[i];
		}
}

static void
test_while(void **state)
{
	static const recurrence rows[] = {
		{QN_TFL_LESS, 0, 1, STEPS, false, false, STEPS},
		{QN_TFL_LESS_EQUAL, 0, 1, STEPS - 1, false, false, STEPS},
		{QN_TFL_NOT_EQUAL, 0, 1, STEPS, false, false, STEPS},
		{QN_TFL_GREATER, STEPS - 1, -1, -1, false, false, STEPS},
		{QN_TFL_GREATER_EQUAL, STEPS - 1, -1, 0, true, false, STEPS},
		{QN_TFL_LESS, 0, 1, STEPS, false, true, 0},
	};
	const double xs[STEPS * CELLS] = {1, -2, 0.5, 3, -4, 8};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		double h[CELLS] = {4, -6}, all[STEPS * CELLS] = {0};
		int x, h0, last, ys;

		tflite_teardown(state);
		tflite_setup(state);
		write_loop(&rows[i], &x, &h0, &last, &ys);
		import(INTS(x, h0), INTS(last, ys));
		assert_int_equal(count_of(QN_OP_loop), rows[i].as_loop > 0 ? 1 : 0);
		assert_int_equal(count_of(QN_OP_mul), rows[i].as_loop > 0 ? 1 : STEPS);
		recur(&rows[i], xs, h, all);
		near(h, run((const double *[]){xs, V(4, -6)}), CELLS, 0);
		tflite_teardown(state);
		tflite_setup(state);
		write_loop(&rows[i], &x, &h0, &last, &ys);
		import(INTS(x, h0), INTS(ys, last));
		near(all, run((const double *[]){xs, V(4, -6)}), STEPS * CELLS, 0);
	}
}

/* Loops that are not read, and why. */
static void
test_while_refused(void **state)
{
	static const struct {
		recurrence r;
		const char *id, *text;
	} rows[] = {
		{{QN_TFL_LESS, 0, 1, INT32_MAX, false, false, 0},
		 "import.size",
		 "2147483647 steps"},
		{{QN_TFL_LESS, 0, 1, 4097, false, false, 0},
		 "import.size",
		 "4097 steps; at most 4096"},
		{{QN_TFL_LESS, 0, 0, 1, false, false, 0}, "import.constant", "does not end"},
		{{QN_TFL_NOT_EQUAL, 0, 2, 3, false, false, 0}, "import.constant", "does not end"},
		{{QN_TFL_LESS, 0, 1, STEPS + 1, false, false, 0}, "shape.index", "index 0 is 3"},
		{{QN_TFL_LESS, 0, 0, 1, false, true, 0}, "import.constant", "does not end"},
	};
	int x, h, last, ys;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		tflite_teardown(state);
		tflite_setup(state);
		write_loop(&rows[i].r, &x, &h, &last, &ys);
		import_fails(INTS(x, h), INTS(last, ys), rows[i].id, rows[i].text);
	}
}

/* No step at all: the results are the inputs. */
static void
test_while_without_steps(void **state)
{
	const recurrence r = {QN_TFL_LESS, 0, 1, 0, false, false, 0};
	int x, h, last, ys;

	(void)state;
	write_loop(&r, &x, &h, &last, &ys);
	import(INTS(x, h), INTS(last, ys));
	near(V(4, -6), run((const double *[]){V(1, 1, 1, 1, 1, 1), V(4, -6)}), CELLS, 0);
}

/* h is halved until it is below 1: the number of steps depends on data. */
static void
test_while_of_data(void **state)
{
	static const float one[1] = {1};
	const int h = value_of("h", TFL_FLOAT32, DIMS(1)), y = value_of("y", TFL_FLOAT32, DIMS(1)),
		  in = value_of("in", TFL_FLOAT32, DIMS(1)),
		  out = value_of("out", TFL_FLOAT32, DIMS(1)),
		  goes = value_of("goes", TFL_BOOL, DIMS(1)), c = vector("c", 1, one),
		  d = vector("d", 1, half);

	(void)state;
	tfl_with(tfl_with(tfl_op(file, QN_TFL_WHILE, INTS(h), INTS(y)), 0, 'i', 1), 1, 'i', 2);
	(void)tfl_subgraph(file, INTS(in), INTS(goes));
	tfl_op(file, QN_TFL_GREATER, INTS(in, c), INTS(goes));
	(void)tfl_subgraph(file, INTS(in), INTS(out));
	tfl_op(file, QN_TFL_MUL, INTS(in, d), INTS(out));
	import_fails(INTS(h), INTS(y), "import.constant", "condition 'goes' depends on data");
}

/* Loops in loops: their steps multiply, and so do the nodes of subgraphs that run others twice. */
static void
test_multiplied(void **state)
{
	static const int32_t zero, one = 1, many = 100;

	(void)state;
	const int x = value_of("x", TFL_FLOAT32, DIMS(2)), y = value_of("y", TFL_FLOAT32, DIMS(2));
	const int t0 = integer("t0", &zero), step = integer("step", &one),
		  most = integer("most", &many);
	const int end[2] = {value_of("end", TFL_INT32, SCALAR),
			    value_of("end1", TFL_INT32, SCALAR)};
	const int t = value_of("t", TFL_INT32, SCALAR), next = value_of("next", TFL_INT32, SCALAR);
	const int in = value_of("in", TFL_FLOAT32, DIMS(2)),
		  out = value_of("out", TFL_FLOAT32, DIMS(2));
	const int real = value_of("real", TFL_FLOAT32, SCALAR);
	const int goes = value_of("goes", TFL_BOOL, SCALAR);

	tfl_with(tfl_with(tfl_op(file, QN_TFL_WHILE, INTS(t0, x), INTS(end[0], y)), 0, 'i', 1), 1,
		 'i', 2);
	(void)tfl_subgraph(file, INTS(t, in), INTS(goes));
	tfl_op(file, QN_TFL_LESS, INTS(t, most), INTS(goes));
	(void)tfl_subgraph(file, INTS(t, in), INTS(next, out));
	tfl_op(file, QN_TFL_ADD, INTS(t, step), INTS(next));
	tfl_with(tfl_with(tfl_op(file, QN_TFL_WHILE, INTS(t0, in), INTS(end[1], out)), 0, 'i', 1),
		 1, 'i', 3);
	(void)tfl_subgraph(file, INTS(t, in), INTS(next, out));
	tfl_op(file, QN_TFL_ADD, INTS(t, step), INTS(next));
	tfl_op(file, QN_TFL_CAST, INTS(t), INTS(real));
	tfl_op(file, QN_TFL_ADD, INTS(in, real), INTS(out));
	import_fails(INTS(x), INTS(y), "import.size", "more than 4096 steps in total");
}

/* n loops one after the other, of 100 steps each that add the number of the step, so that they are written out; the output
 * of the last one. */
static int
write_whiles(int n, int x)
{
	static const int32_t zero, one = 1, many = 100;
	const int t0 = integer("t0", &zero), step = integer("step", &one),
		  most = integer("most", &many);
	int y = x;

	for (int i = 0; i < n; i++) {
		const int end = value_of("end", TFL_INT32, SCALAR);
		const int from = y;

		y = value_of("y", TFL_FLOAT32, DIMS(2));
		tfl_with(tfl_with(tfl_op(file, QN_TFL_WHILE, INTS(t0, from), INTS(end, y)), 0, 'i',
				  1),
			 1, 'i', 2);
	}
	const int t = value_of("t", TFL_INT32, SCALAR), next = value_of("next", TFL_INT32, SCALAR);
	const int in = value_of("in", TFL_FLOAT32, DIMS(2)),
		  out = value_of("out", TFL_FLOAT32, DIMS(2));
	const int real = value_of("real", TFL_FLOAT32, SCALAR);
	const int goes = value_of("goes", TFL_BOOL, SCALAR);
	(void)tfl_subgraph(file, INTS(t, in), INTS(goes));
	tfl_op(file, QN_TFL_LESS, INTS(t, most), INTS(goes));
	(void)tfl_subgraph(file, INTS(t, in), INTS(next, out));
	tfl_op(file, QN_TFL_ADD, INTS(t, step), INTS(next));
	tfl_op(file, QN_TFL_CAST, INTS(t), INTS(real));
	tfl_op(file, QN_TFL_ADD, INTS(in, real), INTS(out));
	return y;
}

/* Steps of all loops that are written out count together. */
static void
test_many_whiles(void **state)
{
	enum { FITS = 40, SUM = 99 * 100 / 2 };
	int x = value_of("x", TFL_FLOAT32, DIMS(2)), y = write_whiles(FITS, x);

	import(INTS(x), INTS(y));
	assert_int_equal(count_of(QN_OP_loop), 0);
	near(V(FITS * SUM + 1, FITS * SUM - 2), run((const double *[]){V(1, -2)}), 2, 0);
	tflite_teardown(state);
	tflite_setup(state);
	x = value_of("x", TFL_FLOAT32, DIMS(2));
	y = write_whiles(FITS + 1, x);
	import_fails(INTS(x), INTS(y), "import.size", "more than 4096 steps in total");
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {
		T(test_while),         T(test_while_refused), T(test_while_without_steps),
		T(test_while_of_data), T(test_multiplied),    T(test_many_whiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
