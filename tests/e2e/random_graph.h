/* SPDX-License-Identifier: Apache-2.0 */
/* random_graph.h - a seeded random integer graph, the same one for the same seed on every machine.
 *
 *   seed 17 -> x [5x7x3] -> conv2d {dilation=[2,1]} -> requantize -> max_pool -> mul -> softmax */
#ifndef QN_TESTS_RANDOM_GRAPH_H
#define QN_TESTS_RANDOM_GRAPH_H

#include "tests/e2e/build.h"

/* Begins b (build_begin) with a model named r<seed> and fills its graph: at least 5 ops, 1 or 2
 * inputs, one or more outputs. */
void random_graph_build(builder *b, uint64_t seed);
/* The same with all activations of this storage, and sums as TFLite has them. */
void random_graph_build_of(builder *b, uint64_t seed, qn_plain code);
/* … and without loops. */
void random_graph_build_flat(builder *b, uint64_t seed, qn_plain code);

/* A float graph of the same structure: what a network is before it is quantized (random_float.c). */
void random_float_build(builder *b, uint64_t seed);
/* Which nodes its outputs need. */
bool *random_graph_needed(builder *b);

/* An integer graph from a fuzzer's bytes: what is near the end of them shapes the end of the graph.  The
 * graph may have fewer ops. */
void random_graph_build_bytes(builder *b, const uint8_t *byte, size_t n);

#endif
