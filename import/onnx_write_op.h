/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_op.h - the functions that write ops as operators of ONNX (onnx_write_*.c), and what they
 * share.  The rows are in the tables of the readers (onnx.h). */
#ifndef QN_IMPORT_ONNX_WRITE_OPS_H
#define QN_IMPORT_ONNX_WRITE_OPS_H

#include "import/onnx_write.h"

/* Each is named by a row. */
qn_onnx_write_fn qn_onnx_write_plain, qn_onnx_write_clip, qn_onnx_write_function,
	qn_onnx_write_gated, qn_onnx_write_squared, qn_onnx_write_rsqrt, qn_onnx_write_clamp,
	qn_onnx_write_negated, qn_onnx_write_remainder_of, qn_onnx_write_floor_div,
	qn_onnx_write_shift, qn_onnx_write_is_inf, qn_onnx_write_cast;
qn_onnx_write_fn qn_onnx_write_conv, qn_onnx_write_conv_transpose, qn_onnx_write_pool,
	qn_onnx_write_global_pool, qn_onnx_write_resize, qn_onnx_write_depth_space,
	qn_onnx_write_dense, qn_onnx_write_matmul;
qn_onnx_write_fn qn_onnx_write_reshape, qn_onnx_write_expand, qn_onnx_write_tile,
	qn_onnx_write_transpose, qn_onnx_write_concat, qn_onnx_write_pad, qn_onnx_write_slice,
	qn_onnx_write_reverse, qn_onnx_write_trilu, qn_onnx_write_split;
qn_onnx_write_fn qn_onnx_write_gather, qn_onnx_write_gather_nd, qn_onnx_write_scatter,
	qn_onnx_write_one_hot, qn_onnx_write_top_k, qn_onnx_write_top_k_indices;
qn_onnx_write_fn qn_onnx_write_reduce, qn_onnx_write_arg, qn_onnx_write_cumsum, qn_onnx_write_along,
	qn_onnx_write_layer_norm, qn_onnx_write_rms_norm, qn_onnx_write_l2_norm,
	qn_onnx_write_by_channel;
qn_onnx_write_fn qn_onnx_write_dynamic;

const qn_type *qn_onnx_write_type(const qn_onnx_out *o, const qn_node *n, uint32_t i);
/* The operator over the node's operands, and over `more` further inputs after them. */
const char *qn_onnx_write_over(qn_onnx_out *o, const qn_node *n, const char *op, size_t more,
			       const char *const *extra);

/* Operators over names; NULL among the operands gives NULL.  Names of results are like the
 * node's. */
const char *qn_onnx_write_op_1(qn_onnx_out *o, const qn_node *n, const char *op, const char *x);
const char *qn_onnx_write_op_2(qn_onnx_out *o, const qn_node *n, const char *op, const char *a,
			       const char *b);
/* A scalar. */
const char *qn_onnx_write_f32(qn_onnx_out *o, const char *base, double v);
/* ReduceMean … over axes, however the operator set takes them. */
const char *qn_onnx_write_reduced(qn_onnx_out *o, const qn_node *n, const char *op, const char *x,
				  const qn_list *axes, bool keepdims);

/* Operand i as N,C,… */
const char *qn_onnx_write_channels_first(qn_onnx_out *o, const qn_node *n, uint32_t i);
/* An axis of the node's first operand where its channels come first. */
int64_t qn_onnx_write_first(const qn_onnx_out *o, const qn_node *n, int64_t axis);
/* An axis of the node's first operand, or numbers one an axis, in the order that is written. */
int64_t qn_onnx_write_axis(const qn_onnx_out *o, const qn_node *n, int64_t axis);
void qn_onnx_write_op_by_axis(const qn_onnx_out *o, const qn_list *from, int64_t *to);

#endif
