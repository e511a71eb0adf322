/* SPDX-License-Identifier: Apache-2.0 */
/* inline.h - a graph whose calls are replaced by the nodes of the graphs that they call. */
#ifndef QN_CODEGEN_INLINE_H
#define QN_CODEGEN_INLINE_H

#include "ir/graph.h"

/* g itself when it has no call, tuple or get; else a copy without any, which is not part of the
 * model.  Inputs and outputs are the same; a node of a called graph is named "call.node".  Errors:
 * emit.unsupported for an output that is a tuple and for calls that nest or multiply beyond all
 * measure. */
qn_status qn_graph_inline(const qn_graph *g, qn_arena *a, const qn_graph **out) QN_MUST_CHECK;

#endif
