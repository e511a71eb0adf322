/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_lstm.c - LSTMs of f32: what the file says, its states and the loop over the steps; a step is @tfl_lstm_step of
 * lib/recurrent_tflite.qir.  Quantized ones are in tflite_lstm_quantized.c.
 *
 *   LSTM, kernel FULL    one step per run, of which variables of the file keep h and c
 *   LSTM, kernel BASIC   one step, state in and state out: W over [data, h], gates i c f o */
#include "import/importer_lib.h"
#include "import/tflite_sequence.h"

enum { GATES = 4, INPUT = 0, FORGET };
enum { KERNEL_BASIC = 1 };
/* Of @tfl_lstm_step: data, aux, h and c; then six times the gates, but three peepholes, and a projection. */
enum { STATES = 4, OPERANDS = STATES + 6 * GATES - 1 + 2 };

/* Where a direction's inputs begin; 0: it has none.  Weights, recurrent, biases, norms and aux are
 * four each in the order of the gates; peepholes those of input, forget and output gate. */
typedef struct places {
	uint32_t weights, recurrent, peepholes, biases, projection, hidden, cell, norms, aux;
} places;

typedef struct lstm {
	qn_tfl_op *o;
	qn_tfl_seq s;
	const places *at;
	int64_t activation;
	double clip, clip_projection;
} lstm;

static bool
is_given(const lstm *l, uint32_t at, uint32_t k)
{
	return at > 0 && at + k < l->o->nin && l->o->from[at + k] != NULL;
}

/* ---- a direction ---- */

/* All gates, or all but the input gate, are there; reports. */
static bool
gates_ok(const lstm *l)
{
	const places *at = l->at;
	const uint32_t first = is_given(l, at->weights, INPUT) ? INPUT : FORGET;
	const bool norms = is_given(l, at->norms, FORGET);
	bool ok = true;

	for (uint32_t k = first; k < GATES; k++)
		ok = ok && is_given(l, at->weights, k) && is_given(l, at->recurrent, k) &&
		     is_given(l, at->biases, k) && is_given(l, at->norms, k) == norms;
	if (first == FORGET)
		ok = ok && !is_given(l, at->recurrent, INPUT) && !is_given(l, at->peepholes, INPUT);
	return ok ||
	       qn_importer_refuse(l->o->im, "import.attr",
				  "weights, biases or norms of some gates are missing; all four "
				  "gates must have them, or all but the input gate") != 0;
}

/* Adds `count` inputs from `at` on, 0 where the file has none. */
static void
add(const lstm *l, uint32_t at, uint32_t count, qn_id **to)
{
	for (uint32_t k = 0; k < count; k++)
		*(*to)++ = is_given(l, at, k) ? qn_tfl_real(l->o, at + k) : 0;
}

/* The operands of @tfl_lstm_step after its data and states. */
static void
add_weights(const lstm *l, qn_id *to)
{
	const places *at = l->at;

	add(l, at->weights, GATES, &to);
	add(l, at->recurrent, GATES, &to);
	add(l, at->aux, GATES, &to);
	add(l, at->peepholes, 3, &to);
	add(l, at->biases, GATES, &to);
	add(l, at->norms, GATES, &to);
	add(l, at->projection, 2, &to);
}

/* h and c after a step; false after a report. */
static bool
step(const lstm *l, const qn_id in[OPERANDS], qn_id next[2])
{
	const qn_lib_attr attr[] = {
		{"activation", qn_item_int(l->activation)},
		{"clip", qn_item_real(l->clip)},
		{"clip_projection", qn_item_real(l->clip_projection)},
	};
	const qn_lib_call call = {.graph = "tfl_lstm_step",
				  .nin = OPERANDS,
				  .nout = 2,
				  .in = in,
				  .nattr = QN_COUNT(attr),
				  .attr = attr};

	return qn_importer_call(l->o->im, &call, next);
}

/* The outputs of all steps; 0 after a report. */
static qn_id
direction(lstm *l, qn_id data, qn_id aux)
{
	qn_importer *im = l->o->im;
	qn_id in[OPERANDS], next[2];

	if (data == 0 || !gates_ok(l))
		return 0;
	const qn_type *r = qn_importer_type(im, l->o->in[l->at->recurrent + FORGET]);
	if (r->rank != 2 || r->dim[0] < 1)
		return qn_importer_refuse(im, "import.rank",
					  "recurrent weights of %d dimensions; must be 2",
					  (int)r->rank);
	const qn_elem *e = qn_importer_type(im, data)->elem;
	add_weights(l, in + STATES);
	qn_tfl_seq_begin(&l->s);
	in[0] = qn_tfl_seq_now(&l->s, data);
	in[1] = qn_tfl_seq_now(&l->s, aux);
	in[2] = qn_tfl_seq_state(&l->s, l->at->hidden, r->dim[1], e);
	in[3] = qn_tfl_seq_state(&l->s, l->at->cell, r->dim[0], e);
	return step(l, in, next) ? qn_tfl_seq_end(&l->s, 2, next, next[0]) : 0;
}

/* The inputs of one direction. */
static const places one = {1, 5, 9, 12, 16, 18, 19, 20, 0};

/* An LSTM with options 0 to 2, those that all have. */
static lstm
lstm_of(qn_tfl_op *o)
{
	return (lstm){.o = o,
		      .at = &one,
		      .activation = qn_tfl_flag(o, 0, QN_TFL_ACT_NONE),
		      .clip = qn_tfl_option_real(o, 1, 0.0),
		      .clip_projection = qn_tfl_option_real(o, 2, 0.0)};
}

/* One over a sequence; NULL in s.o after a report. */
static lstm
open_lstm(qn_tfl_op *o, uint64_t states, bool time_major)
{
	lstm l = lstm_of(o);

	if (!qn_tfl_seq_open(o, states, time_major, &l.s))
		l.s.o = NULL;
	return l;
}

static void
sequence_lstm(qn_tfl_op *o)
{
	if (qn_tfl_result_is_quantized(o)) {
		qn_tfl_lstm_quantized(o, false);
		return;
	}
	lstm l = open_lstm(o, QN_TFL_STATE(one.hidden) | QN_TFL_STATE(one.cell),
			   qn_tfl_flag(o, 3, 0) != 0);
	if (l.s.o != NULL)
		qn_tfl_set_result(o, 0, direction(&l, qn_tfl_real(o, 0), 0));
}

static void
bidirectional_lstm(qn_tfl_op *o)
{
	static const places forth = {1, 5, 9, 12, 16, 35, 36, 0, 40};
	static const places back = {18, 22, 26, 29, 33, 37, 38, 0, 44};
	const uint64_t states = QN_TFL_STATE(forth.hidden) | QN_TFL_STATE(forth.cell) |
				QN_TFL_STATE(back.hidden) | QN_TFL_STATE(back.cell);
	lstm l = open_lstm(o, states, qn_tfl_flag(o, 4, 1) != 0);
	qn_tfl_directions w;

	if (l.s.o == NULL || !qn_tfl_directions_open(o, 3, 39, forth.aux + FORGET, &w))
		return;
	l.at = &forth;
	w.result[0] = direction(&l, w.data[0], w.aux);
	l.at = &back;
	l.s.backward = true;
	w.result[1] = direction(&l, w.data[1], w.aux);
	qn_tfl_directions_set_results(o, &w);
}

/* ---- one step whose state is given, or lasts from run to run ---- */

static void
full_lstm(qn_tfl_op *o)
{
	lstm l = lstm_of(o);

	if (o->nout != 1 || o->nin < one.norms) {
		(void)qn_importer_refuse(o->im, "import.input",
					 "kernel FULL has 20 to 24 inputs and one result, not %u "
					 "and %u",
					 o->nin, o->nout);
		return;
	}
	if (qn_tfl_result_is_quantized(o))
		qn_tfl_lstm_quantized(o, true);
	else if (qn_tfl_activation_ok(o, l.activation, false) &&
		 qn_tfl_seq_open_step(o, QN_TFL_STATE(one.hidden) | QN_TFL_STATE(one.cell), &l.s))
		qn_tfl_set_result(o, 0, direction(&l, qn_tfl_real(o, 0), 0));
}

static void
basic_lstm(qn_tfl_op *o)
{
	qn_importer *im = o->im;
	qn_id in[5], out[4];

	if (o->nin != 5 || o->nout != 4) {
		(void)qn_importer_refuse(im, "import.input",
					 "kernel BASIC has 5 inputs and 4 results, not %u and %u",
					 o->nin, o->nout);
		return;
	}
	for (uint32_t i = 0; i < 5; i++)
		if (o->in[i] == 0 || qn_importer_type(im, o->in[i])->rank != (i == 3 ? 1 : 2) ||
		    qn_tfl_result_is_quantized(o)) {
			(void)qn_importer_refuse(im, "import.input",
						 "kernel BASIC takes five matrices of f32, of "
						 "which input 3 is a vector");
			return;
		}
	for (uint32_t i = 0; i < 5; i++)
		in[i] = qn_tfl_real(o, i);
	if (!qn_importer_call(
		    im, &(qn_lib_call){.graph = "tfl_basic_lstm", .nin = 5, .nout = 4, .in = in},
		    out))
		return;
	for (uint32_t i = 0; i < 4; i++)
		qn_tfl_set_result(o, i, out[i]);
}

static void
lstm_step(qn_tfl_op *o)
{
	if (qn_tfl_flag(o, 3, 0) == KERNEL_BASIC)
		basic_lstm(o);
	else
		full_lstm(o);
}

const qn_tfl_row qn_tfl_lstm_rows[] = {
	{QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, sequence_lstm, 0, 20, 24, 1, 23},
	{QN_TFL_BIDIRECTIONAL_SEQUENCE_LSTM, bidirectional_lstm, 0, 39, 48, 0, 47},
	{QN_TFL_LSTM, lstm_step, 0, 5, 24, 0, 23},
	{0},
};
