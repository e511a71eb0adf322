/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_svdf.c - SVDF and RNN, a step per run, against sums written out below: floats, and the integers of TFLite
 * over many runs; what is refused. */
#include "tests/unit/tflite_rig.h"

#include <math.h>

enum { BATCH = 2, INPUTS = 5, UNITS = 3, MOST_RANK = 2, MOST_MEMORY = 4, RUNS = 30 };
enum { MOST_FILTERS = UNITS * MOST_RANK, MOST_STATE = BATCH * MOST_FILTERS * MOST_MEMORY };

typedef struct shape {
	int rank, memory;
	bool biased, relu;
} shape;

static const shape shapes[] = {
	{1, 1, true, false}, {1, 4, false, true}, {2, 3, true, true}, {2, 4, true, false}};

/* Runs the graph for RUNS steps of x, its states going from run to run; all results. */
static double *
run_all(const double *x, int64_t each, int64_t results)
{
	double *y = qn_arena_alloc(&rg->arena, (size_t)(RUNS * results), sizeof *y);
	qn_interp *in = interp();

	for (int t = 0; t < RUNS; t++) {
		const qn_tensor *now =
			tensor(qn_graph_node(rg->g, rg->g->input[0])->type, x + t * each);

		assert_int_equal(qn_interp_run(in, &now, NULL, NULL), QN_OK);
		memcpy(y + t * results, doubles(qn_interp_output(in, 0)),
		       (size_t)results * sizeof *y);
	}
	no_errors();
	return y;
}

static void
finish(const shape *s, int x, int feature, int time, int bias, int state, int y)
{
	tfl_op_of *o = tfl_op(file, QN_TFL_SVDF,
			      INTS(x, feature, time, s->biased ? bias : -1, state), INTS(y));

	file->tensor[state].is_variable = 1;
	tfl_with(o, 0, 'i', s->rank);
	tfl_with(o, 1, 'b', s->relu ? QN_TFL_ACT_RELU : QN_TFL_ACT_NONE);
	import(INTS(x), INTS(y));
	assert_int_equal(rg->g->nstate, 1);
}

/* ---- floats ---- */

static void
shift(double *state, const shape *s, int at, double now)
{
	memmove(state + at * s->memory, state + at * s->memory + 1,
		(size_t)(s->memory - 1) * sizeof *state);
	state[(at + 1) * s->memory - 1] = now;
}

static double
unit_of(const double *state, const shape *s, int b, int u, const double *time)
{
	const int filters = UNITS * s->rank, each = s->rank * s->memory;
	double sum = 0;

	for (int k = 0; k < each; k++)
		sum += state[b * filters * s->memory + u * each + k] * time[u * each + k];
	return sum;
}

static void
test_float(void **state)
{
	for (size_t i = 0; i < QN_COUNT(shapes); i++) {
		const shape *s = &shapes[i];
		const int f = UNITS * s->rank, m = s->memory;
		float w[MOST_FILTERS * INPUTS], v[MOST_FILTERS * MOST_MEMORY], b[UNITS];
		double memory[MOST_STATE] = {0}, time[MOST_FILTERS * MOST_MEMORY];

		tflite_teardown(state);
		tflite_setup(state);
		for (int k = 0; k < f * INPUTS; k++)
			w[k] = (float)real();
		for (int k = 0; k < f * m; k++)
			time[k] = (double)(v[k] = (float)real());
		for (int k = 0; k < UNITS; k++)
			b[k] = (float)real();
		finish(s, tfl_tensor(file, "x", TFL_FLOAT32, DIMS(BATCH, INPUTS), NULL, 0),
		       tfl_tensor(file, "w", TFL_FLOAT32, DIMS(f, INPUTS), w, 4 * f * INPUTS),
		       tfl_tensor(file, "v", TFL_FLOAT32, DIMS(f, m), v, 4 * f * m),
		       tfl_tensor(file, "b", TFL_FLOAT32, DIMS(UNITS), b, 4 * UNITS),
		       tfl_tensor(file, "h", TFL_FLOAT32, DIMS(BATCH, f * m), NULL, 0),
		       tfl_tensor(file, "y", TFL_FLOAT32, DIMS(BATCH, UNITS), NULL, 0));
		const double *x = reals(RUNS * BATCH * INPUTS);
		const double *have = run_all(x, BATCH * INPUTS, BATCH * UNITS);
		for (int t = 0; t < RUNS * BATCH; t++) {
			for (int k = 0; k < f; k++) {
				double now = 0;

				for (int j = 0; j < INPUTS; j++)
					now += x[t * INPUTS + j] * (double)w[k * INPUTS + j];
				shift(memory, s, t % BATCH * f + k, now);
			}
			for (int u = 0; u < UNITS; u++) {
				double y = unit_of(memory, s, t % BATCH, u, time) +
					   (s->biased ? (double)b[u] : 0);

				y = s->relu && y < 0 ? 0 : y;
				near(&y, &have[t * UNITS + u], 1, 1e-4);
			}
		}
	}
}

static void
test_rnn(void **state)
{
	float w[UNITS * INPUTS], r[UNITS * UNITS], b[UNITS];
	double h[UNITS] = {0}, next[UNITS];

	(void)state;
	for (int k = 0; k < UNITS * INPUTS; k++)
		w[k] = (float)real() / 2;
	for (int k = 0; k < UNITS * UNITS; k++)
		r[k] = (float)real() / 4;
	for (int k = 0; k < UNITS; k++)
		b[k] = (float)real();
	const int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, INPUTS), NULL, 0);
	const int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, UNITS), NULL, 0);
	const int s = tfl_tensor(file, "h", TFL_FLOAT32, DIMS(1, UNITS), NULL, 0);
	file->tensor[s].is_variable = 1;
	tfl_with(
		tfl_op(file, QN_TFL_RNN,
		       INTS(x, tfl_tensor(file, "w", TFL_FLOAT32, DIMS(UNITS, INPUTS), w, sizeof w),
			    tfl_tensor(file, "r", TFL_FLOAT32, DIMS(UNITS, UNITS), r, sizeof r),
			    tfl_tensor(file, "b", TFL_FLOAT32, DIMS(UNITS), b, sizeof b), s),
		       INTS(y)),
		0, 'b', QN_TFL_ACT_TANH);
	import(INTS(x), INTS(y));
	const double *in = reals(RUNS * INPUTS), *have = run_all(in, INPUTS, UNITS);
	for (int t = 0; t < RUNS; t++) {
		for (int u = 0; u < UNITS; u++) {
			next[u] = (double)b[u];
			for (int k = 0; k < INPUTS; k++)
				next[u] += in[t * INPUTS + k] * (double)w[u * INPUTS + k];
			for (int k = 0; k < UNITS; k++)
				next[u] += h[k] * (double)r[u * UNITS + k];
			next[u] = tanh(next[u]);
		}
		memcpy(h, next, sizeof h);
		near(h, have + t * UNITS, UNITS, 1e-4);
	}
}

/* ---- integers ---- */

/* TFLite's product with the f32 a b / c: the high half of a doubled product with 31 bits of it, rounded, then a shift
 * rounded with halves away from 0. */
static int64_t
rescaled(int64_t x, float a, float b, float c)
{
	int exponent;
	const double part = frexp((double)(a * b / c), &exponent);
	int64_t q = llround(part * 2147483648.0);

	if (q == INT64_C(1) << 31) {
		q /= 2;
		exponent++;
	}
	x *= exponent > 0 ? INT64_C(1) << exponent : 1;
	const int64_t product = x * q;
	x = (product + (product >= 0 ? INT64_C(1) << 30 : 1 - (INT64_C(1) << 30))) /
	    (INT64_C(1) << 31);
	const int down = exponent > 0 ? 0 : -exponent;
	const int64_t rest = x & ((INT64_C(1) << down) - 1);
	const int64_t half = (((INT64_C(1) << down) - 1) >> 1) + (x < 0);
	return (x >> down) + (rest > half);
}

static int64_t
limited(int64_t x, int64_t least, int64_t most)
{
	return x < least ? least : x > most ? most : x;
}

/* Weights of time and memory of i16, or of i8 with a zero point of the memory. */
static void
quantized(const shape *s, const float *scale, bool bytes)
{
	const int f = UNITS * s->rank, m = s->memory, type = bytes ? TFL_INT8 : TFL_INT16;
	const int64_t zx = pick(-128, 127), zy = s->relu ? -128 : pick(-128, 127);
	const int64_t zh = bytes ? pick(-128, 127) : 0, most = bytes ? INT8_MAX : INT16_MAX;
	int8_t w[MOST_FILTERS * INPUTS], short_time[MOST_FILTERS * MOST_MEMORY];
	int16_t v[MOST_FILTERS * MOST_MEMORY];
	int32_t b[UNITS];
	double memory[MOST_STATE] = {0}, time[MOST_FILTERS * MOST_MEMORY];

	for (int k = 0; k < f * INPUTS; k++)
		w[k] = (int8_t)pick(-127, 127);
	for (int k = 0; k < f * m; k++) {
		time[k] = v[k] = (int16_t)(bytes ? pick(-127, 127) : pick(-3000, 3000));
		short_time[k] = (int8_t)v[k];
	}
	for (int k = 0; k < UNITS; k++)
		b[k] = (int32_t)(bytes ? pick(-9000, 9000) : pick(-2000000, 2000000));
	finish(s, tfl_codes(file, "x", TFL_INT8, DIMS(BATCH, INPUTS), scale[0], zx, NULL, 0),
	       tfl_codes(file, "w", TFL_INT8, DIMS(f, INPUTS), scale[1], 0, w, f * INPUTS),
	       tfl_codes(file, "v", type, DIMS(f, m), scale[2], 0,
			 bytes ? (const void *)short_time : v, (bytes ? 1 : 2) * f * m),
	       tfl_codes(file, "b", TFL_INT32, DIMS(UNITS), scale[2] * scale[3], 0, b, 4 * UNITS),
	       tfl_codes(file, "h", type, DIMS(BATCH, f * m), scale[3], zh, NULL, 0),
	       tfl_codes(file, "y", TFL_INT8, DIMS(BATCH, UNITS), scale[4], zy, NULL, 0));
	const double *x = codes(RUNS * BATCH * INPUTS, -128, 127);
	const double *have = run_all(x, BATCH * INPUTS, BATCH * UNITS);
	for (int t = 0; t < RUNS * BATCH; t++) {
		for (int k = 0; k < f; k++) {
			int64_t now = 0;

			for (int j = 0; j < INPUTS; j++)
				now += ((int64_t)x[t * INPUTS + j] - zx) * w[k * INPUTS + j];
			now = rescaled(now, scale[0], scale[1], scale[3]) + zh;
			shift(memory, s, t % BATCH * f + k,
			      (double)(limited(now, -most - 1, most) - zh));
		}
		for (int u = 0; u < UNITS; u++) {
			int64_t sum = (int64_t)unit_of(memory, s, t % BATCH, u, time) +
				      (s->biased ? b[u] : 0);
			const double y = (double)limited(
				rescaled(sum, scale[3], scale[2], scale[4]) + zy, -128, 127);

			near(&y, &have[t * UNITS + u], 1, 0);
		}
	}
}

static void
test_quantized(void **state)
{
	const float scales[2][3][5] = {/* data, features, time, state, result */
				       {{0.03f, 0.011f, 0.0007f, 0.0009f, 0.045f},
					{0.5f, 0.02f, 0.00003f, 0.00031f, 0.0007f},
					{0.0071f, 0.0093f, 0.0004f, 0.0171f, 0.21f}},
				       {{0.03f, 0.011f, 0.007f, 0.11f, 0.045f},
					{0.5f, 0.02f, 0.0003f, 0.31f, 0.07f},
					{0.0071f, 0.0093f, 0.004f, 0.0071f, 0.021f}}};

	for (size_t i = 0; i < 2 * QN_COUNT(shapes) * QN_COUNT(scales[0]); i++) {
		const size_t k = i / 2;

		tflite_teardown(state);
		tflite_setup(state);
		quantized(&shapes[k % QN_COUNT(shapes)], scales[i % 2][k / QN_COUNT(shapes)],
			  i % 2 != 0);
	}
}

/* ---- what is refused ---- */

static void
test_refused(void **state)
{
	static const struct {
		int rank, states, time;
		bool variable;
		const char *id, *text;
	} rows[] = {
		{0, 12, 2, true, "import.attr", "rank 0; it must divide the 6 filters"},
		{4, 12, 2, true, "import.attr", "rank 4"},
		{2, 13, 2, true, "import.input", "the shape of the state"},
		{1, 12, 2, true, "import.input", "the shape of the result"},
		{2, 12, 2, false, "import.input", "must be a variable of the file"},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		static const float w[64];

		tflite_teardown(state);
		tflite_setup(state);
		const int x = tfl_tensor(file, "x", TFL_FLOAT32, DIMS(1, INPUTS), NULL, 0);
		const int y = tfl_tensor(file, "y", TFL_FLOAT32, DIMS(1, UNITS), NULL, 0);
		const int h = tfl_tensor(file, "h", TFL_FLOAT32, DIMS(1, rows[i].states),
					 rows[i].variable ? NULL : w, rows[i].variable ? 0 : 48);
		const int f = tfl_tensor(file, "w", TFL_FLOAT32, DIMS(6, INPUTS), w, 120);
		const int v = tfl_tensor(file, "v", TFL_FLOAT32, DIMS(6, rows[i].time), w,
					 24 * rows[i].time);

		file->tensor[h].is_variable = rows[i].variable;
		tfl_with(tfl_op(file, QN_TFL_SVDF, INTS(x, f, v, -1, h), INTS(y)), 0, 'i',
			 rows[i].rank);
		import_fails(INTS(x), INTS(y), rows[i].id, rows[i].text);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, tflite_setup, tflite_teardown)
	const struct CMUnitTest tests[] = {T(test_float), T(test_rnn), T(test_quantized),
					   T(test_refused)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
