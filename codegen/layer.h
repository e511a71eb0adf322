/* SPDX-License-Identifier: Apache-2.0 */
/* layer.h - a layer with constant weights as a matrix, for kernels that pack it: what its sums can be,
 * and the multipliers of its channels as such kernels expect them. */
#ifndef QN_CODEGEN_LAYER_H
#define QN_CODEGEN_LAYER_H

#include "codegen/kernel_table.h"

/* Weights [channels, depth], and the bias with the input's zero point. */
typedef struct qn_layer {
	const qn_tensor *w, *bias; /* w is NULL when it varies or has neither 8 nor 4 bits */
	const qn_requantize_args *r;
	int64_t depth;
	int32_t channels, zi, bits; /* bits: of a weight */
	/* The n of qn_layer_scale that a smaller multiplier gets with fewer bits, and a bias moved by a few, where all
	 * results stay what they are, as those of a channel that is almost constant do; 0: it stays. */
	int32_t most;
	const bool *constant; /* by channel; set for packing */
} qn_layer;

/* The fields of a convolution's arguments that packed arguments have under the same names, as initializers. */
#define QN_LAYER_SHAPE(c)                                                                          \
	.batch = (c)->batch, .in_h = (c)->in_h, .in_w = (c)->in_w, .in_c = (c)->in_c,              \
	.out_h = (c)->out_h, .out_w = (c)->out_w, .out_c = (c)->out_c, .k_h = (c)->k_h,            \
	.k_w = (c)->k_w, .stride_h = (c)->stride_h, .stride_w = (c)->stride_w,                     \
	.dil_h = (c)->dil_h, .dil_w = (c)->dil_w, .pad_t = (c)->pad_t, .pad_l = (c)->pad_l,        \
	.zi = (c)->zi, .zo = (c)->zo, .lo = (c)->lo, .hi = (c)->hi

/* most: the field. */
qn_layer qn_layer_of_conv(const qn_step_facts *f, int32_t most);
qn_layer qn_layer_of_dense(const qn_step_facts *f, int32_t most);
/* For packing: knows which channels are constant. */
qn_layer qn_layer_find_constants(qn_layer l, qn_arena *a);

/* Why the layer does not fit: constant weights, multipliers below 0.5 and with an n (qn_layer_scale) of at most
 * that, sums with their bias below the limit, else `too_large`, and of those none that it rounds otherwise. */
const char *qn_layer_differs(const qn_step_facts *f, const qn_layer *l, int64_t limit, int32_t most,
			     const char *too_large);
/* The same with multipliers of 0.5 or more, where the sums that they are for stay below the limit when they are shifted
 * to the left by qn_layer_lefts, both of it. */
const char *qn_layer_differs_up(const qn_step_facts *f, const qn_layer *l, int64_t limit,
				int32_t most, const char *too_large);
/* Kernels made for a processor round twice, as TFLite does, or once, with ties toward plus infinity, in all other
 * modes.  Whether that gives another result than the model's mode for a sum in [lo, hi], rescaled by multiplier i. */
bool qn_layer_ties_differ(const qn_requantize_args *r, int32_t i, int64_t lo, int64_t hi);
/* The reason where it is that. */
extern const char qn_layer_has_ties[];
/* Whether results below the zero point round by a rule of their own: the second ties of rounding twice. */
bool qn_layer_goes_away(const qn_requantize_args *r);
/* The largest sum that the weights of a channel can add, for all inputs of i8. */
int64_t qn_layer_reach(const qn_layer *l, int64_t channel);
/* The largest sum of a channel with its bias, of either sign, that values of 16 bits with zero point 0 add up to; of an
 * operand that a requantize clamps, for those that it gives. */
int64_t qn_layer_largest16(const qn_step_facts *f, const qn_layer *l, int64_t channel);
/* The reason where that is above what 32 bits hold. */
extern const char qn_layer_too_wide[];
/* A weight; 0 beyond the ends and for constant channels. */
int32_t qn_layer_weight(const qn_layer *l, int64_t channel, int64_t k);
/* Bias with the share of the zero point, and multiplier m * 2^(-n - 32) with n in [0, 30], or up to `most`, of a channel;
 * of a constant one those that give its result, of one beyond the end zeros. */
void qn_layer_scale(const qn_layer *l, int64_t channel, int32_t *bias, int32_t *m, int32_t *n);
/* Of a multiplier of 0.5 or more, whose n is 0: by how many bits the sum is shifted to the left before it is multiplied,
 * and its product after it, so that kernels that halve products last halve nothing; else zeros. */
void qn_layer_lefts(const qn_layer *l, int64_t channel, int32_t *first, int32_t *then);

#endif
