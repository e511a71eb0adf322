/* SPDX-License-Identifier: Apache-2.0 */
/* real_graph.h - random calibrated graphs for the requantizer, and what its rules may change.
 *
 *   seed 17 -> the random integer graph of seed 17 -> each op between dequantize and quantize:
 *   y = add(a, b) on codes      becomes     y = quantize(add(dequantize(a), dequantize(b)))        requantize, moves, tables … likewise */
#ifndef QN_TESTS_REAL_GRAPH_H
#define QN_TESTS_REAL_GRAPH_H

#include "tests/e2e/random_graph.h"

/* Begins b and makes its graph of i8 or i16 codes: calibrated, not requantized.  The same one for the
 * same seed. */
void real_graph_build(builder *b, uint64_t seed, qn_plain code);

/* How many codes the requantized form of value `id` may differ from the value that the graph g
 * gives for equal operands; 0: exactly equal.  after: the op that stands in its place.
 * docs/quantization.md derives the bounds. */
int64_t requantize_bound(const qn_graph *g, qn_id id, qn_op after);

/* The real difference that comes of operands and a result q with several scales being brought to one;
 * 0: they are not. */
double aligned_error(const qn_graph *g, const qn_node *n, const qn_type *q);

/* Two real operands whose comparison may come out differently on codes are not further apart. */
double compare_bound(const qn_graph *g, const qn_node *n);

#endif
