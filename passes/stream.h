/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - what the parts of the pass stream share.
 *
 *   rows of a value in the window      0 … head … lo                     hi - shift … hi … n
 *                                      [ border |  moves with the window  |   new   | border ]
 *   in a run of the streamed graph     computed          kept                  computed
 *
 * A hop moves the window by `shift` rows of the value.  Row i of [lo, hi - shift) then is what row i + shift was in the
 * run before.  Rows below lo and from hi on also depend on where the window ends (padding): they are computed again in
 * each run, and so are the rows of [hi - shift, hi), which the hop brings. */
#ifndef QN_PASSES_STREAM_H
#define QN_PASSES_STREAM_H

#include "ir/loops.h"
#include "passes/passes.h"

typedef enum qn_stream_kind {
	QN_STREAM_FIXED,  /* the same in all runs: constants and what follows from them */
	QN_STREAM_ROWS,   /* has rows, which move with the window */
	QN_STREAM_WINDOW, /* follows from the whole window, and is computed from it in each run */
	QN_STREAM_REFUSED /* reported */
} qn_stream_kind;

/* Row i of a node's result follows from rows i * stride - before, and reach - 1 after it, of its operands. */
typedef struct qn_reads {
	int64_t stride, before, reach;
} qn_reads;

typedef struct qn_rows {
	qn_stream_kind kind;
	int32_t axis;
	int64_t n, shift, lo, hi; /* as above; lo == hi: none moves with the window */
	qn_reads reads;
	/* a dequantize: each reader has one of the rows that it reads, so that rows are kept, put together and cut as they
	 * are stored, and operators stay beside their casts, where passes look for them */
	bool copied;
	/* rows [0, head), head <= lo, and [tail, n) are read by others; spans: some nodes read both as one */
	int64_t head, tail;
	bool spans;
	/* in the streamed graph: rows [0, head), [tail, fresh), [fresh, n), and all of [tail, n) or of [0, n) as one;
	 * 0: there is none */
	qn_id first, kept, last, all;
	qn_id next; /* what the next run keeps */
} qn_rows;

typedef struct qn_stream {
	qn_model *m;
	const qn_graph *g;
	const char *text; /* the option */
	/* nodes that are computed from the whole window, and which of them have been; none: where rows end */
	const char **window;
	bool *window_used;
	size_t nwindow, window_cap;
	size_t input; /* index */
	int32_t axis;
	int64_t hop;
	bool trial; /* of another hop: strides are not reported */
	int64_t needs; /* of which the first stride that does not fit wants the hop to be a multiple; 0: none */
	qn_loops loops;
	qn_rows *rows; /* by value of g */
	qn_status status;
	qn_graph *to; /* the streamed graph */
	qn_id *map;   /* values of g without rows -> its values */
} qn_stream;

/* The input that takes hops. */
static inline const qn_node *
qn_stream_input(const qn_stream *s)
{
	return qn_graph_node(s->g, s->g->input[s->input]);
}

/* Whether a run computes all rows that are read: what moves with the window is not more than a hop brings. */
static inline bool
qn_rows_are_new(const qn_rows *r)
{
	return r->hi - r->lo <= r->shift;
}

/* Rows [0, border) are computed in each run; and the first row of those that the hop brings. */
static inline int64_t
qn_rows_border(const qn_rows *r)
{
	return qn_rows_are_new(r) ? 0 : r->lo;
}

static inline int64_t
qn_rows_fresh(const qn_rows *r)
{
	const int64_t begin = qn_rows_are_new(r) ? r->tail : r->hi - r->shift;

	return begin > r->tail ? begin : r->tail;
}

/* Whether rows [p, q), which read some of `rows` rows, read only padding before or after them. */
static inline bool
qn_reads_padding(const qn_rows *r, int64_t rows, int64_t p, int64_t q)
{
	const qn_reads *x = &r->reads;

	return x->reach > 0 && p < q &&
	       ((q - 1) * x->stride - x->before + x->reach <= 0 ||
		p * x->stride - x->before >= rows);
}

/* Reads "[INPUT:]axis=A,hop=H[,window=NODE…]" (stream_text.c).  Id: stream.option. */
qn_status qn_stream_read_text(qn_stream *s) QN_MUST_CHECK;
/* Whether window=GIVEN means a node: by its name, or that which it has before or after it is quantized, when the sums of a
 * layer are a node of their own, NAME.acc. */
bool qn_stream_is_named(const char *given, const char *node);
/* Whether the graph has the nodes `window`; after qn_stream_flow, whether each of them had rows to compute from.  Id:
 * stream.option. */
qn_status qn_stream_find_window(qn_stream *s) QN_MUST_CHECK;
qn_status qn_stream_window_used(const qn_stream *s) QN_MUST_CHECK;

/* Which rows node id has, from those of its operands (stream_flow.c).  Ids: stream.op, stream.stride,
 * stream.operand. */
void qn_stream_flow(qn_stream *s, qn_id id);

/* Reports that a node cannot stream, and returns false; its value is QN_STREAM_REFUSED. */
bool qn_stream_refuse(qn_stream *s, const qn_node *n, const char *id, const char *fmt, ...)
	QN_PRINTF(4, 5);

/* Some rows that a node computes in a run. */
typedef struct qn_stretch {
	int64_t p, q;          /* rows of the result */
	int64_t a, b;          /* of the operand */
	int64_t before, after; /* that windows reach beyond them: padding */
} qn_stretch;
/* The attributes of node n for such a stretch of the rows on axis `rows` of its result (stream_attrs.c). */
void qn_stream_attrs(const qn_stream *s, const qn_node *n, int32_t rows, const qn_stretch *x,
		     qn_attrs *out);

/* The streamed graph, s->to (stream_write.c). */
qn_status qn_stream_write(qn_stream *s) QN_MUST_CHECK;

#endif
