/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_recurrent.h - what cells of RNN, GRU and LSTM are unrolled with: functions by name, lengths of
 * sequences.
 *
 *   lengths [1, 2], steps 2      a0 b0      reversed:      a0 b1      going at step 1:  a's state stays, b's is new
 *                                 . b1                      . b0 */
#ifndef QN_IMPORT_ONNX_RECURRENT_H
#define QN_IMPORT_ONNX_RECURRENT_H

#include "import/onnx.h"

/* Function `at` of the attribute activations, or the standard one, of x; with the parameters that the node gives. */
qn_id qn_onnx_activation(qn_onnx *o, const qn_onnx_node *n, size_t at, const char *standard,
			 qn_id x);

typedef struct qn_lengths {
	int64_t steps, batch;
	const int64_t *of; /* a number of steps for each sequence; NULL: all steps */
} qn_lengths;

/* Reads l->of from constant input i, one length a sequence; false after a report. */
bool qn_onnx_lengths(qn_onnx *o, const qn_onnx_node *n, uint32_t i, qn_lengths *l);
/* Rows [S*B,…] with each sequence reversed; what is after its end stays. */
qn_id qn_onnx_turned(qn_onnx *o, const qn_lengths *l, qn_id x);
/* x [B,H] for the sequences that have a step t, else `other`. */
qn_id qn_onnx_going(qn_onnx *o, const qn_lengths *l, int64_t t, qn_id x, qn_id other);

#endif
