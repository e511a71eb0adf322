/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_lstm.c - recurrent operators of f32 in small TFLite files, against sums written out
 * below: coupled gates, peepholes, norms, projections, both directions, layouts; and what is refused.
 *
 * LSTMs of codes are in tests/e2e/test_e2e_tflite_lstm.c. */
#include "tests/unit/tflite_rig.h"

#include <math.h>

enum { BATCH = 2, STEPS = 3, INPUTS = 2, AUX = 4, CELLS = 3, MOST = 64 };
enum { GATES = 4, INPUT = 0, FORGET, CELL, OUTPUT };

typedef struct shape {
	const char *name;
	bool coupled, peepholes, norms, projected, biased, time_major;
	float clip, clip_projection;
	int activation;
} shape;

static const shape shapes[] = {
	{"plain", false, false, false, false, false, false, 0, 0, QN_TFL_ACT_TANH},
	{"time major, relu", false, false, false, false, false, true, 0, 0, QN_TFL_ACT_RELU},
	{"coupled", true, false, false, false, false, false, 0.6f, 0, QN_TFL_ACT_TANH},
	{"peepholes", false, true, false, false, false, true, 0, 0, QN_TFL_ACT_TANH},
	{"coupled, peepholes", true, true, false, false, false, false, 0, 0, QN_TFL_ACT_TANH},
	{"projected", false, false, false, true, false, false, 0, 0.3f, QN_TFL_ACT_TANH},
	{"projected, biased", false, true, false, true, true, true, 0.5f, 0, QN_TFL_ACT_TANH},
	{"norms", false, false, true, false, false, false, 0, 0, QN_TFL_ACT_TANH},
	{"all", true, true, true, true, true, true, 0.9f, 0.4f, QN_TFL_ACT_TANH},
};

/* One direction's numbers. */
typedef struct params {
	float w[GATES][CELLS * INPUTS], aux[GATES][CELLS * AUX], r[GATES][CELLS * CELLS];
	float peephole[GATES][CELLS], bias[GATES][CELLS], norm[GATES][CELLS];
	float projection[CELLS * CELLS], projection_bias[CELLS];
} params;

static int
outputs(const shape *s)
{
	return s->projected ? 2 : CELLS;
}

static void
fill(params *p)
{
	float *v = (float *)p;

	for (size_t i = 0; i < sizeof *p / sizeof *v; i++)
		v[i] = (float)real() / 2;
}

/* ---- the sums ---- */

static double
sigmoid(double x)
{
	return 1.0 / (1.0 + exp(-x));
}

static double
active(const shape *s, double x)
{
	return s->activation == QN_TFL_ACT_TANH ? tanh(x) : x < 0 ? 0 : x;
}

static double
dot(const float *w, const double *x, int n)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += (double)w[i] * x[i];
	return sum;
}

static double
limited(double x, float most)
{
	return most > 0 && fabs(x) > (double)most ? copysign((double)most, x) : x;
}

/* All cells of a gate in front of its function; c: what the peephole looks at. */
static void
gate(const shape *s, const params *p, int g, const double *x, const double *aux, const double *h,
     const double *c, double *z)
{
	double mean = 0, var = 0;

	for (int k = 0; k < CELLS; k++) {
		z[k] = dot(p->w[g] + k * INPUTS, x, INPUTS) +
		       dot(p->r[g] + k * outputs(s), h, outputs(s));
		if (aux != NULL)
			z[k] += dot(p->aux[g] + k * AUX, aux, AUX);
		if (s->peepholes && g != CELL)
			z[k] += (double)p->peephole[g][k] * c[k];
		mean += z[k] / CELLS;
	}
	for (int k = 0; k < CELLS; k++)
		var += (z[k] - mean) * (z[k] - mean) / CELLS;
	for (int k = 0; k < CELLS; k++) {
		if (s->norms)
			z[k] = (z[k] - mean) / sqrt(var + 1e-8) * (double)p->norm[g][k];
		z[k] += (double)p->bias[g][k];
	}
}

static void
one_step(const shape *s, const params *p, const double *x, const double *aux, double *h, double *c)
{
	double i[CELLS], f[CELLS], a[CELLS], o[CELLS], m[CELLS];

	gate(s, p, INPUT, x, aux, h, c, i);
	gate(s, p, FORGET, x, aux, h, c, f);
	gate(s, p, CELL, x, aux, h, c, a);
	for (int k = 0; k < CELLS; k++)
		c[k] = limited(sigmoid(f[k]) * c[k] +
				       (s->coupled ? 1 - sigmoid(f[k]) : sigmoid(i[k])) *
					       active(s, a[k]),
			       s->clip);
	gate(s, p, OUTPUT, x, aux, h, c, o);
	for (int k = 0; k < CELLS; k++)
		m[k] = sigmoid(o[k]) * active(s, c[k]);
	for (int k = 0; k < outputs(s); k++)
		h[k] = !s->projected
			       ? m[k]
			       : limited(dot(p->projection + k * CELLS, m, CELLS) +
						 (s->biased ? (double)p->projection_bias[k] : 0.0),
					 s->clip_projection);
}

/* The place of element k of n of step t of sequence b. */
static int
place(bool time_major, int b, int t, int n, int k)
{
	return (time_major ? t * BATCH + b : b * STEPS + t) * n + k;
}

/* Into columns from `first` on of `width`. */
static void
sequence(const shape *s, const params *p, bool back, const double *x, const double *aux, double *y,
	 int first, int width)
{
	for (int b = 0; b < BATCH; b++) {
		double h[CELLS] = {0}, c[CELLS] = {0};

		for (int i = 0; i < STEPS; i++) {
			int t = back ? STEPS - 1 - i : i;

			one_step(s, p, x + place(s->time_major, b, t, INPUTS, 0),
				 aux != NULL ? aux + place(s->time_major, b, t, AUX, 0) : NULL, h,
				 c);
			for (int k = 0; k < outputs(s); k++)
				y[place(s->time_major, b, t, width, first + k)] = h[k];
		}
	}
}

/* ---- files ---- */

static int
real_tensor(const char *name, int rank, const int32_t *dim, const float *data)
{
	int n = 4;

	for (int i = 0; i < rank; i++)
		n *= dim[i];
	return tfl_tensor(file, name, TFL_FLOAT32, rank, dim, data, data != NULL ? n : 0);
}

/* [BATCH,STEPS,n] */
static int
data_tensor(const char *name, bool time_major, int n)
{
	return real_tensor(name, DIMS(time_major ? STEPS : BATCH, time_major ? BATCH : STEPS, n),
			   NULL);
}

static int
variable(int n)
{
	int k = real_tensor("state", DIMS(BATCH, n), NULL);

	file->tensor[k].is_variable = 1;
	return k;
}

/* Inputs of a direction; norms and aux: where theirs begin, 0 for none. */
static void
add_params(const shape *s, const params *p, int weights, int states, int norms, int aux,
	   int32_t *in)
{
	static const int peephole_of[] = {INPUT, FORGET, OUTPUT};

	for (int g = s->coupled ? 1 : 0; g < GATES; g++) {
		in[weights + g] = real_tensor("w", DIMS(CELLS, INPUTS), p->w[g]);
		in[weights + 4 + g] = real_tensor("r", DIMS(CELLS, outputs(s)), p->r[g]);
		in[weights + 11 + g] = real_tensor("b", DIMS(CELLS), p->bias[g]);
		if (s->norms)
			in[norms + g] = real_tensor("n", DIMS(CELLS), p->norm[g]);
		if (aux > 0)
			in[aux + g] = real_tensor("a", DIMS(CELLS, AUX), p->aux[g]);
	}
	for (int k = s->coupled ? 1 : 0; s->peepholes && k < 3; k++)
		in[weights + 8 + k] = real_tensor("p", DIMS(CELLS), p->peephole[peephole_of[k]]);
	if (s->projected)
		in[weights + 15] = real_tensor("P", DIMS(outputs(s), CELLS), p->projection);
	if (s->biased)
		in[weights + 16] = real_tensor("B", DIMS(outputs(s)), p->projection_bias);
	in[states] = variable(outputs(s));
	in[states + 1] = variable(CELLS);
}

static void
none(int32_t *in, int n)
{
	for (int i = 0; i < n; i++)
		in[i] = -1;
}

/* Runs twice: no state is left of the first run. */
static void
gives_each(const double *const *data, int nout, double want[][MOST])
{
	const qn_tensor *x[2];
	qn_interp *in = interp();

	for (size_t i = 0; i < rg->g->ninput; i++)
		x[i] = tensor(qn_graph_node(rg->g, rg->g->input[i])->type, data[i]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(qn_interp_run(in, x, NULL, NULL), QN_OK);
		for (int k = 0; k < nout; k++) {
			const qn_tensor *y = qn_interp_output(in, (size_t)k);

			near(want[k], doubles(y), qn_type_count(y->type), 1e-5);
		}
	}
}

static void
again(const char *name)
{
	print_message("%s\n", name);
	tflite_teardown(NULL);
	tflite_setup(NULL);
}

/* ---- tests ---- */

static void
check_sequence(const shape *s)
{
	params p;
	int32_t in[24];
	double want[1][MOST];

	again(s->name);
	fill(&p);
	none(in, 24);
	int x = in[0] = data_tensor("x", s->time_major, INPUTS);
	int y = data_tensor("y", s->time_major, outputs(s));
	add_params(s, &p, 1, 18, 20, 0, in);
	tfl_op_of *o = tfl_op(file, QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 24, in, INTS(y));
	tfl_with(o, 0, 'b', s->activation);
	tfl_with(o, 1, 'f', (double)s->clip);
	tfl_with(o, 2, 'f', (double)s->clip_projection);
	tfl_with(o, 3, 'b', s->time_major);
	import(INTS(x), INTS(y));
	const double *data = reals(BATCH * STEPS * INPUTS);
	sequence(s, &p, false, data, NULL, want[0], 0, outputs(s));
	gives_each(&data, 1, want);
}

static void
test_lstm(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(shapes); i++)
		check_sequence(&shapes[i]);
}

/* The same, a step per run: the variables keep the state. */
static void
check_steps(const shape *like)
{
	params p;
	int32_t in[24];
	double want[MOST];
	shape s = *like;

	s.time_major = true;
	again(s.name);
	fill(&p);
	none(in, 24);
	int x = in[0] = real_tensor("x", DIMS(BATCH, INPUTS), NULL);
	int y = real_tensor("y", DIMS(BATCH, outputs(&s)), NULL);
	add_params(&s, &p, 1, 18, 20, 0, in);
	tfl_op_of *o = tfl_op(file, QN_TFL_LSTM, 24, in, INTS(y));
	tfl_with(o, 0, 'b', s.activation);
	tfl_with(o, 1, 'f', (double)s.clip);
	tfl_with(o, 2, 'f', (double)s.clip_projection);
	import(INTS(x), INTS(y));
	assert_int_equal(rg->g->nstate, 2);
	const double *data = reals(BATCH * STEPS * INPUTS);
	sequence(&s, &p, false, data, NULL, want, 0, outputs(&s));
	qn_interp *run_of = interp();
	for (int t = 0; t < STEPS; t++) {
		const qn_tensor *now = tensor(qn_graph_node(rg->g, rg->g->input[0])->type,
					      data + t * BATCH * INPUTS);

		assert_int_equal(qn_interp_run(run_of, &now, NULL, NULL), QN_OK);
		near(want + t * BATCH * outputs(&s), doubles(qn_interp_output(run_of, 0)),
		     BATCH * outputs(&s), 1e-5);
	}
}

static void
test_steps(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(shapes); i++)
		check_steps(&shapes[i]);
}

enum { NO_SECOND, SECOND_BACK, SECOND_AUX };

static void
check_ways(const shape *s, bool merged, int second)
{
	int n = outputs(s), columns = second == SECOND_AUX ? AUX : INPUTS, nin = 1, ny = 1;
	int32_t in[48], x[2], y[2];
	double want[2][MOST];
	params p[2];

	again(s->name);
	none(in, 48);
	in[0] = x[0] = data_tensor("x", s->time_major, INPUTS);
	if (second != NO_SECOND)
		in[39] = x[nin++] = data_tensor("x2", s->time_major, columns);
	y[0] = data_tensor("y", s->time_major, merged ? 2 * n : n);
	if (!merged)
		y[ny++] = data_tensor("y2", s->time_major, n);
	for (int k = 0; k < 2; k++) {
		fill(&p[k]);
		add_params(s, &p[k], k == 0 ? 1 : 18, k == 0 ? 35 : 37, 0,
			   second != SECOND_AUX ? 0
			   : k == 0             ? 40
						: 44,
			   in);
	}
	tfl_op_of *o = tfl_op(file, QN_TFL_BIDIRECTIONAL_SEQUENCE_LSTM, 48, in, ny, y);
	tfl_with(o, 0, 'b', s->activation);
	tfl_with(o, 1, 'f', (double)s->clip);
	tfl_with(o, 2, 'f', (double)s->clip_projection);
	tfl_with(o, 3, 'b', merged);
	tfl_with(o, 4, 'b', s->time_major);
	import(nin, x, ny, y);
	const double *data[] = {reals(BATCH * STEPS * INPUTS), reals(BATCH * STEPS * columns)};
	const double *aux = second == SECOND_AUX ? data[1] : NULL;
	sequence(s, &p[0], false, data[0], aux, want[0], 0, merged ? 2 * n : n);
	sequence(s, &p[1], true, data[second == SECOND_BACK ? 1 : 0], aux, want[merged ? 0 : 1],
		 merged ? n : 0, merged ? 2 * n : n);
	gives_each(data, ny, want);
}

static void
test_both_ways(void **state)
{
	(void)state;
	for (size_t i = 0; i < QN_COUNT(shapes); i++)
		if (!shapes[i].norms)
			check_ways(&shapes[i], i % 2 == 0, (int)(i % 3));
	check_ways(&shapes[0], false, SECOND_BACK);
}

/* ---- RNNs ---- */

/* The forget gate's numbers are those of the cells. */
static void
rnn(const params *p, bool back, const double *x, const double *aux, bool time_major, double *y,
    int first, int width)
{
	const shape s = {.name = ""};

	for (int b = 0; b < BATCH; b++) {
		double h[CELLS] = {0}, z[CELLS];

		for (int i = 0; i < STEPS; i++) {
			int t = back ? STEPS - 1 - i : i;

			gate(&s, p, FORGET, x + place(time_major, b, t, INPUTS, 0),
			     aux != NULL ? aux + place(time_major, b, t, AUX, 0) : NULL, h, NULL,
			     z);
			for (int k = 0; k < CELLS; k++)
				y[place(time_major, b, t, width, first + k)] = h[k] = tanh(z[k]);
		}
	}
}

static void
add_rnn(const params *p, int at, int32_t *in)
{
	in[at] = real_tensor("w", DIMS(CELLS, INPUTS), p->w[FORGET]);
	in[at + 1] = real_tensor("r", DIMS(CELLS, CELLS), p->r[FORGET]);
	in[at + 2] = real_tensor("b", DIMS(CELLS), p->bias[FORGET]);
	in[at + 3] = variable(CELLS);
}

static void
test_rnn(void **state)
{
	(void)state;
	for (int time_major = 0; time_major < 2; time_major++) {
		double want[1][MOST];
		int32_t in[5];
		params p;

		again(time_major ? "time major" : "batch first");
		fill(&p);
		int x = in[0] = data_tensor("x", time_major, INPUTS);
		int y = data_tensor("y", time_major, CELLS);
		add_rnn(&p, 1, in);
		tfl_op_of *o = tfl_op(file, QN_TFL_UNIDIRECTIONAL_SEQUENCE_RNN, 5, in, INTS(y));
		tfl_with(tfl_with(o, 0, 'b', time_major), 1, 'b', QN_TFL_ACT_TANH);
		import(INTS(x), INTS(y));
		const double *data = reals(BATCH * STEPS * INPUTS);
		rnn(&p, false, data, NULL, time_major, want[0], 0, CELLS);
		gives_each(&data, 1, want);
	}
}

static void
check_rnn_ways(bool merged, bool time_major, int second, bool taken)
{
	int columns = second == SECOND_AUX ? AUX : INPUTS, nin = 1, ny = 1;
	int width = merged ? 2 * CELLS : CELLS;
	int32_t in[12], x[2], y[2];
	double want[2][MOST];
	params p[2];

	again(merged ? "both ways, merged" : "both ways");
	none(in, 12);
	fill(&p[0]);
	fill(&p[1]);
	in[0] = x[0] = data_tensor("x", time_major, INPUTS);
	add_rnn(&p[0], 1, in);
	add_rnn(&p[1], 5, in);
	if (second != NO_SECOND)
		in[9] = x[nin++] = data_tensor("x2", time_major, columns);
	for (int k = 0; second == SECOND_AUX && k < 2; k++)
		in[10 + k] = real_tensor("a", DIMS(CELLS, AUX), p[k].aux[FORGET]);
	y[0] = data_tensor("y", time_major, width);
	if (!merged)
		y[ny++] = data_tensor("y2", time_major, CELLS);
	tfl_op_of *o = tfl_op(file, QN_TFL_BIDIRECTIONAL_SEQUENCE_RNN, 12, in, ny, y);
	tfl_with(tfl_with(o, 1, 'b', QN_TFL_ACT_TANH), 2, 'b', merged);
	tfl_with(o, 0, 'b', time_major);
	if (!taken) {
		import_fails(nin, x, ny, y, "import.attr", "only with time_major");
		return;
	}
	import(nin, x, ny, y);
	const double *data[] = {reals(BATCH * STEPS * INPUTS), reals(BATCH * STEPS * columns)};
	const double *aux = second == SECOND_AUX ? data[1] : NULL;
	rnn(&p[0], false, data[0], aux, time_major, want[0], 0, width);
	rnn(&p[1], true, data[second == SECOND_BACK ? 1 : 0], aux, time_major, want[merged ? 0 : 1],
	    merged ? CELLS : 0, width);
	gives_each(data, ny, want);
}

static void
test_rnn_both_ways(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		check_rnn_ways(i % 2 != 0, i / 2 != 0, NO_SECOND, true);
		check_rnn_ways(i % 2 != 0, i / 2 != 0, SECOND_BACK, i / 2 != 0);
		check_rnn_ways(i % 2 != 0, i / 2 != 0, SECOND_AUX, true);
	}
}

/* ---- one step, its state an input and an output ---- */

static void
test_basic(void **state)
{
	static const float w[] = {0.5f, -0.25f, 0.75f, 1, -1, 0.5f, 0.125f, 2};
	static const float bias[] = {0.1f, -0.2f, 0.3f, -0.4f};
	const double x = 0.7, h = -0.3, c = 0.9, v[] = {x, h};
	double z[4];

	(void)state;
	int in[] = {real_tensor("x", DIMS(1, 1), NULL), real_tensor("h", DIMS(1, 1), NULL),
		    real_tensor("w", DIMS(4, 2), w), real_tensor("b", DIMS(4), bias),
		    real_tensor("c", DIMS(1, 1), NULL)};
	int out[] = {real_tensor("h2", DIMS(1, 1), NULL), real_tensor("c2", DIMS(1, 1), NULL),
		     real_tensor("both", DIMS(1, 2), NULL), real_tensor("z", DIMS(1, 4), NULL)};
	tfl_op_of *o = tfl_op(file, QN_TFL_LSTM, 5, in, 4, out);
	tfl_with(tfl_with(o, 0, 'b', QN_TFL_ACT_TANH), 3, 'b', 1);
	import(INTS(in[0], in[1], in[4]), 1, out);
	for (int k = 0; k < 4; k++)
		z[k] = dot(w + 2 * k, v, 2) + (double)bias[k];
	double next = sigmoid(z[0]) * tanh(z[1]) + sigmoid(z[2]) * c;
	near(V(sigmoid(z[3]) * tanh(next)), run((const double *[]){&x, &h, &c}), 1, 1e-6);
}

/* ---- refused ---- */

/* Of a sound LSTM one input is another one. */
static void
refuses_input(int which, int32_t other, const char *id, const char *text)
{
	int32_t in[24];
	params p = {0};

	again(text);
	none(in, 24);
	int x = in[0] = data_tensor("x", false, INPUTS);
	int y = data_tensor("y", false, CELLS);
	add_params(&shapes[0], &p, 1, 18, 20, 0, in);
	in[which] = other;
	if (other == -2)
		in[which] = real_tensor("other", DIMS(BATCH, CELLS), p.bias[0]);
	if (other == -3)
		in[which] = variable(CELLS);
	tfl_op_of *o = tfl_op(file, QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, 24, in, INTS(y));
	tfl_with(o, 0, 'b', QN_TFL_ACT_TANH);
	import_fails(INTS(x), INTS(y), id, text);
}

/* Of an LSTM of kernel FULL, whose state has to be a variable. */
static void
test_full_refused(void **state)
{
	int32_t in[24];
	params p = {0};

	(void)state;
	none(in, 24);
	int x = in[0] = real_tensor("x", DIMS(BATCH, INPUTS), NULL);
	int y = real_tensor("y", DIMS(BATCH, CELLS), NULL);
	add_params(&shapes[0], &p, 1, 18, 20, 0, in);
	in[19] = real_tensor("c", DIMS(BATCH, CELLS), p.bias[0]);
	tfl_with(tfl_op(file, QN_TFL_LSTM, 20, in, INTS(y)), 0, 'b', QN_TFL_ACT_TANH);
	import_fails(INTS(x), INTS(y), "import.input", "the state 'c' is not a variable");
}

static void
test_refused(void **state)
{
	(void)state;
	refuses_input(0, -1, "import.input", "is missing");
	refuses_input(1, -1, "import.attr", "all but the input gate");
	refuses_input(7, -1, "import.attr", "all but the input gate");
	refuses_input(13, -1, "import.attr", "all but the input gate");
	refuses_input(21, -2, "import.attr", "all but the input gate");
	refuses_input(18, -2, "import.input", "not a variable");
	refuses_input(6, -3, "import.input", "only a state");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lstm, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_both_ways, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_rnn, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_rnn_both_ways, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_basic, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_steps, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_full_refused, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_refused, tflite_setup, tflite_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
