/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_attention.h - scaled products of queries, keys and values, which several operators are made of.
 *
 *   s = q k^T * scale      s = cap tanh(s / cap)      s + bias      -inf where keep is false
 *   p = softmax(s)         y = p v */
#ifndef QN_IMPORT_ONNX_ATTENTION_H
#define QN_IMPORT_ONNX_ATTENTION_H

#include "import/onnx.h"

typedef struct qn_onnx_attention {
	qn_id q, k,
		v; /* [batch, heads, steps, size]; k and v have as many heads or a divisor of them */
	double scale;   /* 0: 1 / sqrt(size) */
	double softcap; /* 0: none */
	qn_id bias;     /* added to the scores, 0: none; and which of them count (bool), 0: all */
	qn_id keep;     /* both broadcast to [batch, heads, steps of q, steps of k] */
	qn_id score
		[4]; /* outputs: scores, after the cap, after bias and keep, and softmax of these */
	/* What scores and softmax become, NULL: they stay. */
	qn_id (*change)(qn_onnx *o, const qn_onnx_node *n, const char *body, qn_id x);
} qn_onnx_attention;

/* [batch, steps, heads * size] as [batch, heads, steps, size], and back; 0 after a report. */
qn_id qn_onnx_heads(qn_onnx *o, qn_id x, int64_t heads);
qn_id qn_onnx_unheads(qn_onnx *o, qn_id x);
/* Adds to a->keep what may be seen at the k-th step: those before and offset more.  offset: i64 scalar or such that
 * broadcasts to [batch, 1, 1, 1]. */
void qn_onnx_add_causal_mask(qn_onnx *o, qn_onnx_attention *a, qn_id offset);
void qn_onnx_add_mask(qn_onnx *o, qn_onnx_attention *a, qn_id keep);
/* y [batch, heads, steps of q, size of v]; 0 after a report. */
qn_id qn_onnx_attend(qn_onnx *o, const qn_onnx_node *n, qn_onnx_attention *a);
/* i64 first + step * i as a value of this rank, along an axis. */
qn_id qn_onnx_ramp(qn_onnx *o, int64_t count, int64_t first, int64_t step, int32_t rank,
		   int32_t axis);

#endif
