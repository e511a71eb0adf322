/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_lstm.c - LSTMs of f32, step by step; quantized ones are in tflite_lstm_quantized.c.
 *
 *   each step   z = dense(x, [W_i; W_f; W_c; W_o], bias) + dense(h, [R_i; …])
 *               c = sigmoid(z_f) c + sigmoid(z_i) act(z_c)
 *               h = sigmoid(z_o) act(c)
 *
 * Coupled gates: no W_i, sigmoid(z_i) is 1 - sigmoid(z_f).  Peepholes: z_i and z_f get p c of the
 * old cell, z_o of the new one.  Norms: z becomes norm(z) n + bias.  Projection: h = dense(h, P, b).
 *
 *   LSTM, kernel FULL    one step per run, of which variables of the file keep h and c
 *   LSTM, kernel BASIC   one step, state in and state out: W over [data, h], gates i c f o */
#include "import/tflite_sequence.h"

enum { GATES = 4, INPUT = 0, FORGET, CELL, OUTPUT };
enum { KERNEL_BASIC = 1 };

/* Where a direction's inputs begin; 0: it has none.  Weights, recurrent, biases, norms and aux are
 * four each in the order of the gates; peepholes those of input, forget and output gate. */
typedef struct places {
	uint32_t weights, recurrent, peepholes, biases, projection, hidden, cell, norms, aux;
} places;

typedef struct lstm {
	qn_tfl_op *o;
	qn_tfl_seq s;
	const places *at;
	int64_t cells, activation;
	double clip, clip_projection;
	uint32_t first; /* gate: FORGET where gates are coupled */
	bool norms;
	qn_id weights; /* of the last output, [gates * cells,.] */
} lstm;

static bool
is_given(const lstm *l, uint32_t at, uint32_t k)
{
	return at > 0 && at + k < l->o->nin && l->o->from[at + k] != NULL;
}

/* ---- gates ---- */

/* The inputs of all gates from `at` on, concatenated. */
static qn_id
gates(const lstm *l, uint32_t at)
{
	qn_attrs a = {.axis = {0}};
	qn_id in[GATES];

	for (uint32_t k = l->first; k < GATES; k++)
		in[k] = qn_tfl_real(l->o, at + k);
	return qn_importer_op(l->o->im, QN_OP_concat, GATES - l->first, in + l->first, &a, NULL);
}

/* What gate k's function takes; c: the cell that its peephole looks at, 0 where it is all 0. */
static qn_id
gate(const lstm *l, qn_id z, uint32_t k, qn_id c)
{
	qn_importer *im = l->o->im;
	qn_attrs norm = {.layer_norm = {-1, 1e-8}};
	uint32_t peephole = l->at->peepholes + (k == OUTPUT ? 2 : k);
	int64_t at = (int64_t)(k - l->first) * l->cells;

	z = qn_importer_slice(im, z, 1, at, at + l->cells);
	if (k != CELL && c != 0 && is_given(l, peephole, 0))
		z = qn_importer_binary(
			im, QN_OP_add, z,
			qn_importer_binary(im, QN_OP_mul, c, qn_tfl_real(l->o, peephole)));
	if (!l->norms)
		return z;
	qn_id in[3] = {z, qn_tfl_real(l->o, l->at->norms + k),
		       qn_tfl_real(l->o, l->at->biases + k)};
	return qn_importer_op(im, QN_OP_layer_norm, 3, in, &norm, NULL);
}

static qn_id
sigmoid(const lstm *l, qn_id z, uint32_t k, qn_id c)
{
	return qn_importer_unary(l->o->im, QN_OP_sigmoid, gate(l, z, k, c));
}

static qn_id
clipped(const lstm *l, qn_id x, double most)
{
	qn_attrs a = {.clip = {-most, most}};

	return most > 0.0 ? qn_importer_op(l->o->im, QN_OP_clip, 1, &x, &a, NULL) : x;
}

/* The output of a step, through the projection. */
static qn_id
projected(const lstm *l, qn_id h)
{
	uint32_t at = l->at->projection;

	if (!is_given(l, at, 0))
		return h;
	qn_id in[3] = {h, qn_tfl_real(l->o, at)};
	if (is_given(l, at, 1))
		in[2] = qn_tfl_real(l->o, at + 1);
	return clipped(
		l,
		qn_importer_op(l->o->im, QN_OP_dense, is_given(l, at, 1) ? 3 : 2, in, NULL, NULL),
		l->clip_projection);
}

/* One step: from h and c to the new ones. */
static void
step(const lstm *l, qn_id z, qn_id *h, qn_id *c)
{
	qn_importer *im = l->o->im;
	qn_id in;

	z = qn_importer_binary(im, QN_OP_add, z,
			       qn_importer_binary(im, QN_OP_dense, *h, l->weights));
	const qn_id forget = sigmoid(l, z, FORGET, *c);
	in = l->first == FORGET
		     ? qn_importer_binary(im, QN_OP_sub, qn_importer_f32(im, 1.0), forget)
		     : sigmoid(l, z, INPUT, *c);
	in = qn_importer_binary(im, QN_OP_mul, in,
				qn_tfl_activated(l->o, gate(l, z, CELL, 0), l->activation));
	in = qn_importer_binary(im, QN_OP_add, qn_importer_binary(im, QN_OP_mul, forget, *c), in);
	*c = clipped(l, in, l->clip);
	*h = qn_tfl_activated(l->o, *c, l->activation);
	*h = projected(l, qn_importer_binary(im, QN_OP_mul, sigmoid(l, z, OUTPUT, *c), *h));
}

/* ---- a direction ---- */

/* All gates, or all but the input gate, are there; reports. */
static bool
gates_ok(lstm *l)
{
	const places *at = l->at;
	bool ok = true;

	l->first = is_given(l, at->weights, INPUT) ? INPUT : FORGET;
	l->norms = is_given(l, at->norms, FORGET);
	for (uint32_t k = l->first; k < GATES; k++)
		ok = ok && is_given(l, at->weights, k) && is_given(l, at->recurrent, k) &&
		     is_given(l, at->biases, k) && is_given(l, at->norms, k) == l->norms;
	if (l->first == FORGET)
		ok = ok && !is_given(l, at->recurrent, INPUT) && !is_given(l, at->peepholes, INPUT);
	return ok ||
	       qn_importer_refuse(l->o->im, "import.attr",
				  "weights, biases or norms of some gates are missing; all four "
				  "gates must have them, or all but the input gate") != 0;
}

/* The product of the weights from `at` on and the data x of a step, with aux (0: none) concatenated. */
static qn_id
projection_of(const lstm *l, qn_id x, qn_id aux)
{
	qn_importer *im = l->o->im;
	qn_attrs a = {.axis = {1}};
	qn_id w = gates(l, l->at->weights);

	if (aux != 0) {
		qn_id rows[2] = {x, aux};
		qn_id both[2] = {w, gates(l, l->at->aux)};

		x = qn_importer_op(im, QN_OP_concat, 2, rows, &a, NULL);
		w = qn_importer_op(im, QN_OP_concat, 2, both, &a, NULL);
	}
	qn_id in[3] = {x, w};
	if (!l->norms)
		in[2] = gates(l, l->at->biases);
	return qn_importer_op(im, QN_OP_dense, l->norms ? 2 : 3, in, NULL, NULL);
}

/* Gates and recurrent weights; NULL after a report, else the type of those of a gate. */
static const qn_type *
open_gates(lstm *l)
{
	qn_importer *im = l->o->im;

	if (!gates_ok(l))
		return NULL;
	const qn_type *r = qn_importer_type(im, l->o->in[l->at->recurrent + FORGET]);
	if (r->rank != 2 || r->dim[0] < 1) {
		(void)qn_importer_refuse(im, "import.rank",
					 "recurrent weights of %d dimensions; must be 2",
					 (int)r->rank);
		return NULL;
	}
	l->cells = r->dim[0];
	l->weights = gates(l, l->at->recurrent);
	return r;
}

/* The outputs of all steps; 0 after a report. */
static qn_id
direction(lstm *l, qn_id data, qn_id aux)
{
	qn_importer *im = l->o->im;
	const qn_type *r = data != 0 ? open_gates(l) : NULL;

	if (r == NULL)
		return 0;
	const qn_elem *e = qn_importer_type(im, data)->elem;
	qn_tfl_seq_begin(&l->s);
	const qn_id x = qn_tfl_seq_now(&l->s, data);
	const qn_id z = projection_of(l, x, aux != 0 ? qn_tfl_seq_now(&l->s, aux) : 0);
	qn_id h = qn_tfl_seq_state(&l->s, l->at->hidden, r->dim[1], e);
	qn_id c = qn_tfl_seq_state(&l->s, l->at->cell, l->cells, e);
	step(l, z, &h, &c);
	return qn_tfl_seq_end(&l->s, 2, (qn_id[]){h, c}, h);
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
	qn_attrs a = {.axis = {1}};
	qn_id part[GATES], in[3];

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
	int64_t cells = qn_importer_type(im, o->in[4])->dim[1];
	in[0] = qn_importer_op(im, QN_OP_concat, 2, (qn_id[]){qn_tfl_real(o, 0), qn_tfl_real(o, 1)},
			       &a, NULL);
	in[1] = qn_tfl_real(o, 2);
	in[2] = qn_tfl_real(o, 3);
	qn_id z = qn_importer_op(im, QN_OP_dense, 3, in, NULL, NULL);
	for (int64_t k = 0; k < GATES; k++) /* input, cell, forget, output */
		part[k] =
			qn_importer_unary(im, k == 1 ? QN_OP_tanh : QN_OP_sigmoid,
					  qn_importer_slice(im, z, 1, k * cells, (k + 1) * cells));
	qn_id c = qn_importer_binary(im, QN_OP_mul, part[2], qn_tfl_real(o, 4));
	c = qn_importer_binary(im, QN_OP_add, qn_importer_binary(im, QN_OP_mul, part[0], part[1]),
			       c);
	qn_tfl_set_result(
		o, 0,
		qn_importer_binary(im, QN_OP_mul, part[3], qn_importer_unary(im, QN_OP_tanh, c)));
	qn_tfl_set_result(o, 1, c);
	qn_tfl_set_result(o, 2, in[0]);
	qn_tfl_set_result(o, 3, z);
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
