/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_sequence.h - what the operators over a sequence share: it is written out step by step,
 * from a state of 0.
 *
 *   qn_tfl_seq s;
 *   if (!qn_tfl_seq_open(o, 0, time_major, &s))
 *           return;                                       reported
 *   qn_id g = qn_tfl_seq_by_step(&s, f(qn_tfl_seq_rows(&s, data)));     all steps at once
 *   for (int64_t k = 0; k < s.steps; k++)
 *           part[k] = f(qn_tfl_seq_at(&s, g, k), state);
 *   qn_tfl_give(o, 0, qn_tfl_seq_joined(&s, part)); */
#ifndef QN_IMPORT_TFLITE_SEQUENCE_H
#define QN_IMPORT_TFLITE_SEQUENCE_H

#include "import/tflite.h"

typedef struct qn_tfl_seq {
	qn_tfl_op *o;
	int64_t batch, steps;
	bool time_major; /* [steps,batch,…], else [batch,steps,…] */
	bool backward;   /* step k is number steps-1-k of the data and of the result */
} qn_tfl_seq;

/* Data is input i; false after a report. */
bool qn_tfl_seq_open(qn_tfl_op *o, uint32_t i, bool time_major, qn_tfl_seq *s);
/* Whether input i, a state, begins at 0: a variable, or left out; reports. */
bool qn_tfl_seq_state_ok(qn_tfl_op *o, uint32_t i);
/* [.,.,F] as rows [.,F], and back. */
qn_id qn_tfl_seq_rows(const qn_tfl_seq *s, qn_id x);
qn_id qn_tfl_seq_by_step(const qn_tfl_seq *s, qn_id rows);
/* Step k, [batch,F]. */
qn_id qn_tfl_seq_at(const qn_tfl_seq *s, qn_id x, int64_t k);
/* Steps [batch,F] behind each other, in the data's order. */
qn_id qn_tfl_seq_joined(const qn_tfl_seq *s, const qn_id *part);

/* ---- UNIDIRECTIONAL_SEQUENCE_LSTM of codes (tflite_lstm_codes.c) ---- */

void qn_tfl_lstm_codes(qn_tfl_op *o);

#endif
