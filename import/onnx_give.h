/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_give.h - what the writers of operators share (onnx_give*.c).
 *
 *   {QN_OP_relu, "Relu", qn_onnx_give_plain, 0, QN_TAKES_ANY}   relu(x) is Relu(x), in the lowest operator set that is written, and in either order of axes
 *   {QN_OP_gelu, "Gelu", gelu, 20, QN_TAKES_ANY}                Gelu is there since operator set 20 */
#ifndef QN_IMPORT_ONNX_GIVE_H
#define QN_IMPORT_ONNX_GIVE_H

#include "import/onnx_write.h"

/* Writes node n with operator `op`; the name of its result, NULL after a report. */
typedef const char *qn_onnx_give_fn(qn_onnx_out *o, const qn_node *n, const char *op);

typedef struct qn_onnx_give_row {
	qn_op op;
	const char *name;
	qn_onnx_give_fn *give;
	int64_t since; /* operator set, 0: the lowest */
	qn_onnx_takes takes;
} qn_onnx_give_row;

/* The families; the last row has no function. */
extern const qn_onnx_give_row qn_onnx_give_elements[], qn_onnx_give_windows[], qn_onnx_give_moves[],
	qn_onnx_give_places[], qn_onnx_give_norms[];

const qn_type *qn_onnx_give_type(const qn_onnx_out *o, const qn_node *n, uint32_t i);
/* The operator over the node's operands, and over `more` further inputs behind them. */
const char *qn_onnx_give_over(qn_onnx_out *o, const qn_node *n, const char *op, size_t more,
			      const char *const *extra);
qn_onnx_give_fn qn_onnx_give_plain;

/* Operators over names; NULL among the operands gives NULL.  Names of results are like the
 * node's. */
const char *qn_onnx_give_1(qn_onnx_out *o, const qn_node *n, const char *op, const char *x);
const char *qn_onnx_give_2(qn_onnx_out *o, const qn_node *n, const char *op, const char *a,
			   const char *b);
/* A scalar. */
const char *qn_onnx_give_f32(qn_onnx_out *o, const char *base, double v);
/* ReduceMean … over axes, however the operator set takes them. */
const char *qn_onnx_give_reduced(qn_onnx_out *o, const qn_node *n, const char *op, const char *x,
				 const qn_list *axes, bool keepdims);

/* Operand i as N,C,… */
const char *qn_onnx_give_channels_first(qn_onnx_out *o, const qn_node *n, uint32_t i);
/* An axis of the node's first operand where its channels come first. */
int64_t qn_onnx_give_first(const qn_onnx_out *o, const qn_node *n, int64_t axis);
/* An axis of the node's first operand, or numbers one an axis, in the order that is written. */
int64_t qn_onnx_give_axis(const qn_onnx_out *o, const qn_node *n, int64_t axis);
void qn_onnx_give_by_axis(const qn_onnx_out *o, const qn_list *from, int64_t *to);

#endif
