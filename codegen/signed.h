/* SPDX-License-Identifier: Apache-2.0 */
/* signed.h - values of u8 as values of i8, for kernels that know no other. */
#ifndef QN_CODEGEN_SIGNED_H
#define QN_CODEGEN_SIGNED_H

#include "ir/graph.h"

/* A copy of a flat integer graph in which values of u8 are stored as i8, with zero points 128 less,
 * between the inputs and outputs of the graph, which stay; what has another rounding then stays u8
 * too.  g itself when no sum of products reads u8.  The bytes of the outputs are the same. */
qn_status qn_graph_signed(const qn_graph *g, qn_arena *a, const qn_graph **out) QN_MUST_CHECK;

#endif
