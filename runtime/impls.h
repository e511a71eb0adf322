/* SPDX-License-Identifier: Apache-2.0 */
/* impls.h - what a node does to bytes: a float and an integer implementation of each op, in tables
 * made from ir/ops.def.
 *
 * The float implementation is reference code over f32.  The integer one is two halves: `prepare` derives
 * a kernel's argument struct (zero points, multipliers, shapes) from the node's types, `run`
 * passes it to the kernel of runtime/kernels/.  Code generation prints the very same argument
 * struct into the emitted C, so that interpreter and device compute with equal numbers by
 * construction. */
#ifndef QN_RUNTIME_IMPLS_H
#define QN_RUNTIME_IMPLS_H

#include "ir/graph.h"

/* One evaluation: node n of g, types as in the graph.  Data is canonical and aligned as its
 * elements are. */
typedef struct qn_eval {
	const qn_graph *g;
	const qn_node *n;
	const void *const *in; /* n->nin pointers */
	void *out;
	void *plan;    /* what the implementation's plan made; NULL when it has none */
	uint32_t part; /* which field of a tuple `out` is */
	/* 1, or for implementations that support bundles the number of evaluations: input 0 and
	 * `out` hold one after the other, the other inputs are common to all. */
	int64_t batches;
} qn_eval;

typedef void qn_float_fn(const qn_eval *e);

typedef struct qn_int_impl {
	/* The kernel's arguments in arena a, NULL after a report (int.unsupported: "unsupported
	 * in integer arithmetic: OP, node, why"). */
	void *(*prepare)(const qn_graph *g, const qn_node *n, qn_arena *a);
	void (*run)(const qn_eval *e, const void *args);
	/* Packed weights and copies with which the interpreter computes the same bytes faster; NULL:
	 * `run` is used.  With a plan `fast` replaces `run`, and supports qn_eval.batches.  Optional. */
	void *(*plan)(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room);
	void (*fast)(const qn_eval *e, const void *args);
	uint32_t families; /* bit f: it supports values of qn_family f (family.h); 0: only i8 */
} qn_int_impl;

/* NULL: the op has no float implementation. */
qn_float_fn *qn_float_impl(qn_op op);
/* The implementation for elements of plain types, when the op has one and the node's operands are such, not
 * all of them f32 (indices do not count); else NULL. */
qn_float_fn *qn_plain_impl(const qn_graph *g, const qn_node *n);
bool qn_op_is_plain(qn_op op); /* whether it has one */
const qn_int_impl *qn_int_impl_get(qn_op op);
/* The integer implementation of a node: for plain integers that of impl_plain.c, if it has the op; for
 * products with weights in blocks that of block_products.c. */
const qn_int_impl *qn_int_impl_of(const qn_graph *g, const qn_node *n);
extern const qn_int_impl qn_gather_blocks_impl;
const qn_int_impl *qn_blocks_impl(const qn_graph *g, const qn_node *n); /* NULL: not one */
/* The axis, counted from the last one, 1, along which a value has several scales; 0: it has one. */
int32_t qn_channel_from_end(const qn_type *type);
/* Whether n is such arithmetic on plain integers, all of 8 to 64 bits. */
bool qn_node_on_plain(const qn_graph *g, const qn_node *n);
/* … and whether it sums, or takes the greatest, along adjacent axes of such integers (plain_along.c). */
bool qn_node_along_plain(const qn_graph *g, const qn_node *n);
extern const qn_int_impl qn_plain_along_impl;
/* Twice the bytes of a plain integer of 8 to 64 bits, or of a truth value, and 1 for a sign; 0: another type. */
int32_t qn_plain_tag(const qn_type *type);
/* Whether the float implementation may be called with batches > 1. */
bool qn_impl_takes_bundle(qn_op op);
/* Whether input i of the op holds indices: plain integers in both implementations. */
bool qn_impl_takes_indices(qn_op op, uint32_t i);

/* Whether n computes on quantized values: its inputs (or, for constants and graph inputs, its result) are
 * quantized or integer, all of them. */
bool qn_node_on_quantized(const qn_graph *g, const qn_node *n);

/* A positive real as m * 2^(s-31), m in [2^30, 2^31) or 0 (TFLite's QuantizeMultiplier).  mode:
 * QN_RQ_… of runtime/fixed.h. False when M is not finite, negative, or needs a shift above 30 in
 * a mode that has no room for it. */
bool qn_multiplier(double M, int32_t mode, int32_t *m, int32_t *s);

/* A float bound or pad value, quantized as e: clamp(round_half_away((float)v / (float)scale)
 * + zero point) (TFLite's activation range). */
int64_t qn_code_of(const qn_types *t, const qn_elem *e, double v);

/* The range [lo, hi] of quantized values to which a relu, relu6, clip or clamp node limits its type. */
void qn_clamp_range(const qn_graph *g, const qn_node *n, int64_t *lo, int64_t *hi);

#endif
