/* SPDX-License-Identifier: Apache-2.0 */
/* accumulator.h - what conv2d and dense check before they sum integer products. */
#ifndef QN_RUNTIME_ACCUMULATOR_H
#define QN_RUNTIME_ACCUMULATOR_H

#include "ir/block_scales.h"
#include "ir/graph.h"

/* True when the integer implementation supports the node's operands and result, and no sum can leave
 * the accumulator. Else reports int.unsupported or int.accumulator with the figure. */
bool qn_accumulator_check(const qn_graph *g, const qn_node *n, qn_arena *a) QN_MUST_CHECK;
/* The largest magnitude of a sum of a layer's accumulator, for any input, from the values of its weights and its
 * bias; -1: the node has no accumulator, or its weights are not constant. */
int64_t qn_accumulator_worst(const qn_graph *g, const qn_node *n, qn_arena *a);
/* Whether a sum of that many terms, at most `worst`, stays inside the accumulator; else reports
 * int.accumulator: split the `what`. */
bool qn_accumulator_holds(const qn_graph *g, const qn_node *n, int64_t terms, int64_t worst,
			  const char *what) QN_MUST_CHECK;

/* Whether the node multiplies by weights in blocks. */
bool qn_has_blocks(const qn_graph *g, const qn_node *n);
/* The largest sum of channel o of constant weights in blocks for data at most `far` from its zero point; it stops
 * adding above 2^48. */
int64_t qn_block_sum_bound(const qn_block_scales *b, const qn_tensor *w, int64_t o, int64_t far);

/* Signed quantized values of 8, 4 or 2 bits, one per byte. */
bool qn_elem_is_weight(const qn_elem *e);

#endif
