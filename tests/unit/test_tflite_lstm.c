/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_lstm.c - LSTMs of f32 in small TFLite files, against sums written out in
 * tflite_lstm_rig.h and below: coupled gates, peepholes, norms, projections, both directions, layouts; and what is refused.
 *
 * LSTMs of codes are in tests/e2e/test_e2e_tflite_lstm.c. */
#include "tests/unit/tflite_lstm_rig.h"

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
limited(double x, float most)
{
	return most > 0 && fabs(x) > (double)most ? copysign((double)most, x) : x;
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
		cmocka_unit_test_setup_teardown(test_basic, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_steps, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_full_refused, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_refused, tflite_setup, tflite_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
