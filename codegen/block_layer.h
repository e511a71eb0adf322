/* SPDX-License-Identifier: Apache-2.0 */
/* block_layer.h - a layer with constant weights in blocks that follow each other in a row of weights, for kernels that
 * pack it (layer.h). */
#ifndef QN_CODEGEN_BLOCK_LAYER_H
#define QN_CODEGEN_BLOCK_LAYER_H

#include "codegen/layer.h"
#include "runtime/impl_args.h"

typedef struct qn_block_layer {
	qn_layer l; /* its constant channels are not looked for */
	const int16_t *
		mantissa; /* [channels, blocks]; below 0 where l.w has the weights -1 - w (block_layer.c) */
	const int16_t *offset; /* the same, of zero points; NULL: none */
	int32_t blocks;
	const int32_t *length; /* [blocks]: weights of each */
} qn_block_layer;

/* What a kernel takes: blocks of at most that many weights, each but the last a multiple of `multiple`;
 * multipliers below 0.5 with at most so large an n (qn_layer_scale); sums, with their bias, below `sum`. */
typedef struct qn_block_limits {
	int32_t block, multiple, shift;
	int64_t sum;
	bool offsets;  /* zero points of blocks */
	uint32_t bits; /* bit n: weights of n bits */
} qn_block_limits;

/* A number of 16 bits of a block; 0 beyond the last channel. */
typedef int32_t qn_block_number(const qn_block_layer *b, int32_t channel, int32_t block);

/* The layer of a step with weights of 8 bits, 4 or 2; NULL, and why in *why, if its blocks are not consecutive. */
qn_block_layer *qn_block_layer_of(const qn_step_facts *f, qn_arena *a, const char **why);
/* Why the layer is outside of the limits, has sums of 64 bits or one that it rounds otherwise; NULL: it is as said. */
const char *qn_block_layer_differs(const qn_step_facts *f, const qn_block_layer *b,
				   const qn_block_limits *limits);
/* The bias with the share of the input's zero point; *reach: the largest sum that i8 values add. */
int64_t qn_block_layer_bias(const qn_block_layer *b, int32_t channel, int64_t *reach);
/* Why blocks are longer than `most`, or do not begin at such multiples. */
const char *qn_block_lengths_differ(const qn_block_layer *b, int32_t most, int32_t multiple);
qn_block_number qn_block_mantissa, qn_block_offset;
const qn_conv2d_blocks_args *qn_block_conv_args(const qn_step_facts *f);

#endif
