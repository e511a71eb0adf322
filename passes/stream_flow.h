/* SPDX-License-Identifier: Apache-2.0 */
/* stream_flow.h - what the rules of the pass stream share (stream_flow.c, stream_rules.c). */
#ifndef QN_PASSES_STREAM_FLOW_H
#define QN_PASSES_STREAM_FLOW_H

#include "passes/stream.h"

/* The rows of node n in *out, from those of its first operand that has some; false: refused. */
typedef bool qn_flow_fn(qn_stream *s, const qn_node *n, const qn_rows *x, qn_rows *out);

extern qn_flow_fn
	*const qn_flow_rules[QN_NOP]; /* NULL: the op reads all rows for each of its own */

/* Element by element: the rows of all operands that have some, where each has as many. */
qn_flow_fn qn_flow_elementwise;
/* Of windows of rows, and what keeps them (stream_windows.c). */
qn_flow_fn qn_flow_convolution, qn_flow_transposed, qn_flow_resize, qn_flow_pool;

static inline const qn_type *
qn_flow_type(const qn_stream *s, const qn_node *n, uint32_t i)
{
	return qn_graph_node(s->g, n->in[i])->type;
}

/* One value of all rows. */
static inline bool
qn_flow_from_window(qn_rows *out)
{
	*out = (qn_rows){.kind = QN_STREAM_WINDOW};
	return true;
}

/* The rows of x on another axis. */
static inline bool
qn_flow_same(const qn_rows *x, int32_t axis, qn_rows *out)
{
	*out = *x;
	out->copied = false;
	out->axis = axis;
	out->reads = (qn_reads){1, 0, 1};
	return true;
}

/* `rows` rows, each from some of x.  Id: stream.stride. */
bool qn_flow_windows(qn_stream *s, const qn_node *n, const qn_rows *x, qn_reads r, int64_t rows,
		     qn_rows *out);
/* Reports stream.op: why; false. */
bool qn_flow_all_rows(qn_stream *s, const qn_node *n, const char *why);
/* Whether operands beside the first are the same in all runs (stream.operand). */
bool qn_flow_only_data(qn_stream *s, const qn_node *n);
/* Whether operand i of a node whose rows are on `axis` of the result, right-aligned with it, has none of its own
 * (stream.operand). */
bool qn_flow_has_no_rows(qn_stream *s, const qn_node *n, uint32_t i, int32_t axis);

#endif
