/* SPDX-License-Identifier: Apache-2.0 */
/* test_tflite_rnn.c - RNNs of TFLite files, in one direction and both, against sums written down once more. */
#include "tests/unit/tflite_lstm_rig.h"

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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_rnn, tflite_setup, tflite_teardown),
		cmocka_unit_test_setup_teardown(test_rnn_both_ways, tflite_setup, tflite_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
