/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_lstm.c - UNIDIRECTIONAL_SEQUENCE_LSTM of f32, step by step.
 *
 *   inputs  0 data, 1..4 weights of input, forget, cell and output gate, 5..8 those of the last
 *           output, 9..11 peepholes, 12..15 biases, 16, 17 projection, 18, 19 state, 20..23 norms
 *
 *   all steps   g = dense(data, [W_i; W_f; W_c; W_o], bias)
 *   each step   z = g_t + dense(h, [R_i; …])    c = sigmoid(z_f) c + sigmoid(z_i) act(z_c)
 *               h = sigmoid(z_o) act(c)
 *
 * The state begins at 0 in each run.  Peepholes, projections, norms and coupled gates are refused. */
#include "import/tflite_sequence.h"

enum { DATA, WEIGHTS, RECURRENT = 5, PEEPHOLES = 9, BIASES = 12, PROJECTION = 16, NORMS = 20 };
enum { MOST_STEPS = 4096 };

typedef struct lstm {
	qn_tfl_op *o;
	int64_t batch, steps, hidden, activation;
	bool time_major;
	double clip;
	qn_id weights; /* of the last output, [4H,H] */
} lstm;

/* Four inputs from `at` on, one behind the other. */
static qn_id
gates(qn_tfl_op *o, uint32_t at)
{
	qn_attrs a = {.axis = {0}};
	qn_id in[4];

	for (uint32_t i = 0; i < 4; i++)
		in[i] = qn_tfl_real(o, at + i);
	return qn_importer_op(o->im, QN_OP_concat, 4, in, &a, NULL);
}

static bool
left_out(const qn_tfl_op *o, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i <= to && i < o->nin; i++)
		if (o->from[i] != NULL)
			return false;
	return true;
}

/* Columns k*H … of z [B,4H]. */
static qn_id
gate(const lstm *l, qn_id z, int64_t k)
{
	qn_attrs a = {0};

	a.slice.begin.n = a.slice.end.n = 2;
	a.slice.end.v[0] = l->batch;
	a.slice.begin.v[1] = k * l->hidden;
	a.slice.end.v[1] = (k + 1) * l->hidden;
	return qn_importer_op(l->o->im, QN_OP_slice, 1, &z, &a, NULL);
}

static qn_id
sigmoid(const lstm *l, qn_id z, int64_t k)
{
	return qn_importer_unary(l->o->im, QN_OP_sigmoid, gate(l, z, k));
}

/* Step t of g, which holds all of them: [B,4H]. */
static qn_id
step_of(const lstm *l, qn_id g, int64_t t)
{
	const qn_type *type = qn_importer_type(l->o->im, g);
	int axis = l->time_major ? 0 : 1;
	qn_attrs a = {0};

	a.slice.begin.n = a.slice.end.n = 3;
	for (int i = 0; i < 3; i++)
		a.slice.end.v[i] = type->dim[i];
	a.slice.begin.v[axis] = t;
	a.slice.end.v[axis] = t + 1;
	return qn_importer_reshape(l->o->im, qn_importer_op(l->o->im, QN_OP_slice, 1, &g, &a, NULL),
				   2, (int64_t[]){l->batch, 4 * l->hidden});
}

/* One step: from h and c (0: all zeros) to the new ones. */
static void
step(const lstm *l, qn_id g, int64_t t, qn_id *h, qn_id *c)
{
	qn_importer *im = l->o->im;
	qn_id z = step_of(l, g, t), kept = 0;
	qn_attrs clip = {.clip = {-l->clip, l->clip}};

	if (*h != 0) {
		z = qn_importer_binary(im, QN_OP_add, z,
				       qn_importer_binary(im, QN_OP_dense, *h, l->weights));
		kept = qn_importer_binary(im, QN_OP_mul, sigmoid(l, z, 1), *c);
	}
	*c = qn_importer_binary(im, QN_OP_mul, sigmoid(l, z, 0),
				qn_tfl_activated(l->o, gate(l, z, 2), l->activation));
	if (kept != 0)
		*c = qn_importer_binary(im, QN_OP_add, kept, *c);
	if (l->clip > 0.0)
		*c = qn_importer_op(im, QN_OP_clip, 1, c, &clip, NULL);
	*h = qn_importer_binary(im, QN_OP_mul, sigmoid(l, z, 3),
				qn_tfl_activated(l->o, *c, l->activation));
}

/* Reads sizes and options; false after a report. */
static bool
open_lstm(qn_tfl_op *o, lstm *l)
{
	const qn_type *x = qn_importer_type(o->im, o->in[DATA]);
	const qn_type *r = o->in[RECURRENT] != 0 ? qn_importer_type(o->im, o->in[RECURRENT]) : NULL;
	bool whole = o->nin >= 20 && left_out(o, PEEPHOLES, BIASES - 1) &&
		     left_out(o, PROJECTION, PROJECTION + 1) && left_out(o, NORMS, o->nin);

	for (uint32_t i = 0; whole && i < 4; i++)
		whole = o->in[WEIGHTS + i] != 0 && o->in[RECURRENT + i] != 0 &&
			o->in[BIASES + i] != 0;
	if (!whole || r == NULL || r->rank != 2 || qn_tfl_on_codes(o))
		return qn_importer_refuse(o->im, "import.attr",
					  "only f32 with four gates and their biases; coupled "
					  "gates, peepholes, projections, norms and codes are not "
					  "taken") != 0;
	*l = (lstm){.o = o, .hidden = r->dim[1], .activation = qn_tfl_flag(o, 0, QN_TFL_ACT_NONE)};
	l->clip = qn_tfl_option_real(o, 1, 0.0);
	l->time_major = qn_tfl_flag(o, 3, 0) != 0;
	if (x->rank != 3 || qn_type_count(x) < 1 || x->dim[l->time_major ? 0 : 1] > MOST_STEPS)
		return qn_importer_refuse(o->im, "import.rank",
					  "data of %d dimensions; must be 3, all known, with at "
					  "most %d steps",
					  (int)x->rank, (int)MOST_STEPS) != 0;
	l->steps = x->dim[l->time_major ? 0 : 1];
	l->batch = x->dim[l->time_major ? 1 : 0];
	return true;
}

static void
sequence_lstm(qn_tfl_op *o)
{
	qn_importer *im = o->im;
	qn_id h = 0, c = 0;
	lstm l = {0};

	if (qn_tfl_on_codes(o)) {
		qn_tfl_lstm_codes(o);
		return;
	}
	if (!open_lstm(o, &l))
		return;
	const qn_type *x = qn_importer_type(im, o->in[DATA]);
	int64_t rows[2] = {l.batch * l.steps, x->dim[2]}, width = 4 * l.hidden;
	qn_id in[3] = {qn_importer_reshape(im, qn_tfl_real(o, DATA), 2, rows), gates(o, WEIGHTS),
		       gates(o, BIASES)};
	qn_id g = qn_importer_op(im, QN_OP_dense, 3, in, NULL, NULL);
	qn_id *part = QN_NEW(im->scratch, qn_id, (size_t)l.steps);
	g = qn_importer_reshape(im, g, 3, (int64_t[]){x->dim[0], x->dim[1], width});
	l.weights = gates(o, RECURRENT);
	if (g == 0 || l.weights == 0)
		return;
	for (int64_t t = 0; t < l.steps; t++) {
		step(&l, g, t, &h, &c);
		part[t] = qn_importer_reshape(im, h, 3,
					      (int64_t[]){l.time_major ? 1 : l.batch,
							  l.time_major ? l.batch : 1, l.hidden});
		if (part[t] == 0)
			return;
	}
	qn_tfl_give(o, 0, qn_tfl_joined(o, l.steps, part, l.time_major ? 0 : 1));
}

const qn_tfl_row qn_tfl_lstm_rows[] = {
	{QN_TFL_UNIDIRECTIONAL_SEQUENCE_LSTM, sequence_lstm, 20, 24, 1, 23},
	{QN_TFL_ADD, NULL, 0, 0, 0, 0},
};
