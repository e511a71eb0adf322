/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_rnn.c - UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN in f32, step by step, and RNN, a step per run;
 * weights of i8 are dequantized.  A step is @tfl_rnn_step of lib/recurrent_tflite.qir. */
#include "import/importer_lib.h"
#include "import/tflite_sequence.h"

/* A direction's weights, recurrent weights, bias and state are consecutive inputs from `at` on.
 * aux: a second data, 0 for none, whose weights are an input too. */
static qn_id
direction(qn_tfl_seq *s, uint32_t at, qn_id data, qn_id aux, uint32_t aux_weights)
{
	qn_tfl_op *o = s->o;
	qn_importer *im = o->im;
	const qn_lib_attr attr = {
		"activation",
		qn_item_int(qn_tfl_flag(o, s->single ? 0 : 1, QN_TFL_ACT_NONE)),
	};
	qn_id in[7], next; /* data, aux, state; weights, recurrent weights, bias; weights of aux */

	for (uint32_t i = 0; i < 3; i++) {
		in[3 + i] = qn_tfl_real(o, at + i);
		if (in[3 + i] == 0)
			return qn_importer_refuse(im, "import.input", "input %u is missing (-1)",
						  at + i);
	}
	in[6] = aux != 0 ? qn_tfl_real(o, aux_weights) : 0;
	const qn_type *r = qn_importer_type(im, in[4]);
	if (r->rank != 2 || r->dim[0] < 1)
		return qn_importer_refuse(im, "import.rank",
					  "recurrent weights of %d dimensions; must be 2",
					  (int)r->rank);
	qn_tfl_seq_begin(s);
	in[2] = qn_tfl_seq_state(s, at + 3, r->dim[0], r->elem);
	in[0] = qn_tfl_seq_now(s, data);
	in[1] = qn_tfl_seq_now(s, aux);
	const qn_lib_call call = {.graph = "tfl_rnn_step",
				  .nin = QN_COUNT(in),
				  .nout = 1,
				  .in = in,
				  .nattr = 1,
				  .attr = &attr};
	return qn_importer_call(im, &call, &next) ? qn_tfl_seq_end(s, 1, &next, next) : 0;
}

static void
sequence_rnn(qn_tfl_op *o)
{
	qn_tfl_seq s;

	if (qn_tfl_seq_open(o, QN_TFL_STATE(4), qn_tfl_flag(o, 0, 0) != 0, &s))
		qn_tfl_set_result(o, 0, direction(&s, 1, qn_tfl_real(o, 0), 0, 0));
}

static void
bidirectional_rnn(qn_tfl_op *o)
{
	qn_tfl_directions w;
	qn_tfl_seq s;

	if (!qn_tfl_seq_open(o, QN_TFL_STATE(4) | QN_TFL_STATE(8), qn_tfl_flag(o, 0, 0) != 0, &s) ||
	    !qn_tfl_directions_open(o, 2, 9, 10, &w))
		return;
	if (w.data[1] != w.data[0] && !s.time_major) {
		(void)qn_importer_refuse(
			o->im, "import.attr",
			"auxiliary data without its own weights, which TFLite reads only with "
			"time_major; transpose the data before it");
		return;
	}
	w.result[0] = direction(&s, 1, w.data[0], w.aux, 10);
	s.backward = true;
	w.result[1] = direction(&s, 5, w.data[1], w.aux, 11);
	qn_tfl_directions_set_results(o, &w);
}

static void
rnn(qn_tfl_op *o)
{
	qn_tfl_seq s;

	if (qn_tfl_seq_open_step(o, QN_TFL_STATE(4), &s))
		qn_tfl_set_result(o, 0, direction(&s, 1, qn_tfl_real(o, 0), 0, 0));
}

const qn_tfl_row qn_tfl_rnn_rows[] = {
	{QN_TFL_RNN, rnn, 0, 5, 5, 1, 2},
	{QN_TFL_UNIDIRECTIONAL_SEQUENCE_RNN, sequence_rnn, 0, 5, 5, 1, 4},
	{QN_TFL_BIDIRECTIONAL_SEQUENCE_RNN, bidirectional_rnn, 0, 12, 12, 0, 11},
	{0},
};
