/* SPDX-License-Identifier: Apache-2.0 */
/* fuse.h - what a file writes out in smaller ops becomes one op, in a float graph: steps of the pass `clean`.
 * The values stay the same up to the rounding of f32. */
#ifndef QN_PASSES_FUSE_H
#define QN_PASSES_FUSE_H

#include "patterns/pattern.h"

/* silu, hard_swish, mish and gelu (fuse_activation.c). */
qn_status qn_fuse_activations(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* layer_norm and rms_norm over the last axes, with constant scales and biases (fuse_norm.c). */
qn_status qn_fuse_norms(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

/* The square root of a sum of two squares, in other ops (fuse_magnitude.c). */
qn_status qn_fuse_magnitudes(qn_model *m, const qn_graph *g, qn_graph **out) QN_MUST_CHECK;

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

#endif
