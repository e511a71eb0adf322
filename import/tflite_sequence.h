/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_sequence.h - what the operators over a sequence share: a loop over its steps, from a state
 * of 0; of one step, whose state lasts from run to run where it is a variable of the file.
 *
 *   qn_tfl_seq s;
 *   if (!qn_tfl_seq_open(o, QN_TFL_STATE(4), time_major, &s))
 *           return;                                       reported
 *   qn_tfl_seq_begin(&s);
 *   qn_id h = qn_tfl_seq_state(&s, 4, cells, e);
 *   qn_id next = f(qn_tfl_seq_now(&s, data), h);
 *   qn_tfl_set_result(o, 0, qn_tfl_seq_end(&s, 1, &next, next)); */
#ifndef QN_IMPORT_TFLITE_SEQUENCE_H
#define QN_IMPORT_TFLITE_SEQUENCE_H

#include "import/importer_steps.h"
#include "import/tflite.h"

#define QN_TFL_STATE(i) (UINT64_C(1) << (i))

typedef struct qn_tfl_seq {
	qn_tfl_op *o;
	int64_t batch, steps;
	bool time_major; /* [steps,batch,…], else [batch,steps,…] */
	bool backward;   /* step k is number steps-1-k of the data and of the result */
	bool single;     /* one step, of data [batch,…] */
	qn_importer_steps loop;
	qn_tfl_tensor *kept[2]; /* the variables that last; NULL: a state begins at 0 in each run */
	uint32_t nstate;
} qn_tfl_seq;

/* Data is input 0.  states: bits of the inputs that are states, which begin at 0: each is a variable
 * or left out, and no other one is a variable.  false after a report. */
bool qn_tfl_seq_open(qn_tfl_op *o, uint64_t states, bool time_major, qn_tfl_seq *s);
/* The same of an operator that is one step, whose states must be variables. */
bool qn_tfl_seq_open_step(qn_tfl_op *o, uint64_t states, qn_tfl_seq *s);
/* Begins the loop over the steps; then: the data of a step, [batch,F], and a state [batch,cells] of elements
 * e, which is that input. */
void qn_tfl_seq_begin(qn_tfl_seq *s);
qn_id qn_tfl_seq_now(qn_tfl_seq *s, qn_id x);
qn_id qn_tfl_seq_state(qn_tfl_seq *s, uint32_t input, int64_t cells, const qn_elem *e);
/* Ends it: the states of the next step, in their order.  The value [batch,F] of all steps, in the data's order;
 * 0 after a report. */
qn_id qn_tfl_seq_end(qn_tfl_seq *s, uint32_t n, const qn_id *next, qn_id x);

/* ---- both directions ---- */

/* A second input is aux where it has weights of its own; else the data of the way back. */
typedef struct qn_tfl_directions {
	qn_id data[2], aux; /* of the way forth and of the way back; 0: no aux */
	bool merged;        /* one result, the two concatenated along the last axis */
	qn_id result[2];
} qn_tfl_directions;

/* merged: the option's field; second and weights: inputs.  false after a report. */
bool qn_tfl_directions_open(qn_tfl_op *o, uint32_t merged, uint32_t second, uint32_t weights,
			    qn_tfl_directions *w);
void qn_tfl_directions_set_results(qn_tfl_op *o, const qn_tfl_directions *w);

/* ---- quantized UNIDIRECTIONAL_SEQUENCE_LSTM and LSTM (tflite_lstm_quantized.c) ---- */

/* single: an LSTM, one step per run. */
void qn_tfl_lstm_quantized(qn_tfl_op *o, bool single);

#endif
