/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_sequence.h - what the operators over a sequence share: it is written out step by step,
 * from a state of 0.
 *
 *   qn_tfl_seq s;
 *   if (!qn_tfl_seq_open(o, QN_TFL_STATE(4), time_major, &s))
 *           return;                                       reported
 *   qn_id g = qn_tfl_seq_by_step(&s, f(qn_tfl_seq_rows(&s, data)));     all steps at once
 *   for (int64_t k = 0; k < s.steps; k++)
 *           part[k] = f(qn_tfl_seq_at(&s, g, k), state);
 *   qn_tfl_set_result(o, 0, qn_tfl_seq_joined(&s, part)); */
#ifndef QN_IMPORT_TFLITE_SEQUENCE_H
#define QN_IMPORT_TFLITE_SEQUENCE_H

#include "import/tflite.h"

#define QN_TFL_STATE(i) (UINT64_C(1) << (i))

typedef struct qn_tfl_seq {
	qn_tfl_op *o;
	int64_t batch, steps;
	bool time_major; /* [steps,batch,…], else [batch,steps,…] */
	bool backward;   /* step k is number steps-1-k of the data and of the result */
} qn_tfl_seq;

/* Data is input 0.  states: bits of the inputs that are states, which begin at 0: each is a variable
 * or left out, and no other one is a variable.  false after a report. */
bool qn_tfl_seq_open(qn_tfl_op *o, uint64_t states, bool time_major, qn_tfl_seq *s);
/* [.,.,F] as rows [.,F], and back. */
qn_id qn_tfl_seq_rows(const qn_tfl_seq *s, qn_id x);
qn_id qn_tfl_seq_by_step(const qn_tfl_seq *s, qn_id rows);
/* Step k, [batch,F]. */
qn_id qn_tfl_seq_at(const qn_tfl_seq *s, qn_id x, int64_t k);
/* Steps [batch,F] concatenated, in the data's order. */
qn_id qn_tfl_seq_joined(const qn_tfl_seq *s, const qn_id *part);

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

/* ---- quantized UNIDIRECTIONAL_SEQUENCE_LSTM (tflite_lstm_quantized.c) ---- */

void qn_tfl_lstm_quantized(qn_tfl_op *o);

#endif
