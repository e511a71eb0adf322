/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.h - what a file writes out in smaller ops becomes one op, in a float graph: steps of the pass `clean`.
 * The values stay the same up to the rounding of f32. */
#ifndef QN_PASSES_FUSE_H
#define QN_PASSES_FUSE_H

#include <math.h>

#include "patterns/rewrite.h"

/* sigmoid, silu and softplus in exponentials (fuse_sigmoid.c); before the others, which are made of them. */
qn_status qn_fuse_sigmoids(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* silu, hard_swish, mish and gelu (fuse_activation.c). */
qn_status qn_fuse_activations(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* prelu with constant slopes (fuse_prelu.c). */
qn_status qn_fuse_prelus(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* layer_norm and rms_norm with constant scales and biases, between transposes if they are not over the last axes
 * (fuse_norm.c). */
qn_status qn_fuse_norms(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* l2_norm, and rms_norm of the last axis (fuse_l2_norm.c). */
qn_status qn_fuse_l2_norms(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* The square root of a sum of two squares, in other ops (fuse_magnitude.c). */
qn_status qn_fuse_magnitudes(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* Whether a value is a constant of one f32 number, at most that far off. */
static inline bool
qn_fuse_is_number(const qn_rw *rw, qn_id id, double want, double off)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_const && qn_type_is_f32(n->type) && qn_type_count(n->type) == 1 &&
	       fabs(qn_tensor_f64(n->value, 0) - want) <= off;
}

/* The same of f32 constants and of those that were stored as f16, whose steps are 2^-11; multiples of 0.5 are exact in
 * both. */
static inline bool
qn_fuse_is_about(const qn_rw *rw, qn_id id, double want)
{
	const bool exact = floor(2 * want) == 2 * want;

	return qn_fuse_is_number(rw, id, want, exact ? 0 : ldexp(fabs(want), -11));
}

/* Whether node id multiplies by `want`: by its constant operand, or one over it where it divides. */
static inline bool
qn_fuse_scales_by(const qn_rw *rw, qn_id id, qn_id constant, double want)
{
	return qn_fuse_is_about(rw, constant,
				qn_rw_node(rw, id)->op == QN_OP_div ? 1 / want : want);
}

/* op(x) in place of the root, which has the type of x; 0: declined. */
static inline qn_id
qn_fuse_becomes(qn_rw *rw, qn_id root, qn_id x, qn_op op, const qn_attrs *attr)
{
	const qn_type *t = qn_rw_node(rw, x)->type;

	if (t != qn_rw_node(rw, root)->type || !qn_type_is_f32(t))
		return qn_rw_decline(rw, "it is not f32 of the operand's shape");
	return qn_rw_add(rw, op, qn_rw_name(rw, root), 1, &x, attr, NULL);
}

/* Initializers of parts of patterns, which get names: nested macros would double in length with each level. */
#define OF(op_, slot_, ...)                                                                        \
	{                                                                                          \
		.kind = QN_PAT_OP, .slot = (slot_), .op = QN_OP_##op_,                             \
		.narg = QN_P_ARGS(__VA_ARGS__)                                                     \
	}
#define EITHER(...)                                                                                \
	{                                                                                          \
		.kind = QN_PAT_ALT, .slot = QN_NO_SLOT, .narg = QN_P_ARGS(__VA_ARGS__)             \
	}
#define SOME(op, slot, ...) (&(const qn_pat)OF(op, slot, __VA_ARGS__))
/* what * constant, or what / constant */
#define SCALED(slot, what, constant)                                                               \
	EITHER(SOME(mul, slot, what, QN_P_CONST(constant)),                                        \
	       SOME(div, slot, what, QN_P_CONST(constant)))

#endif
