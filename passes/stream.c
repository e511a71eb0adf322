/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - makes a network over a hop of rows of one over a window of rows.
 *
 *   graph @main(%x: tensor<1x8x4xf32>) {          graph @main(%x: tensor<1x2x4xf32>, %x.rows: tensor<1x2x4xf32> state)
 *     %c = conv1d %x, %w      kernel 3              %all = concat %x.rows, %x {axis=1}
 *     %m = reduce_max %c {axes=[1]}         ->      %c = conv1d %all, %w                       2 of 6 rows
 *     …                                             %c.all = concat %c.rows, %c …  %m = reduce_max %c.all {axes=[1]}
 *
 * A run computes the rows that a hop brings, and those at the borders of the window, where padding makes them depend on
 * it (stream.h); the others are states.  The first values of states are 0.  After as many hops as make a window, all
 * outputs have the bytes that the network of the window has, at any stage.  Outputs with rows have the last ones only,
 * those of the hop.
 *
 * requires: one graph without states, whose input has a known shape.   leaves: one of the same stage.
 * Ids: stream.option, stream.state, stream.op, stream.stride, stream.operand. */
#include "passes/stream.h"

#include <stdarg.h>

#include "ir/diag.h"
#include "patterns/rewrite.h"

bool
qn_stream_refuse(qn_stream *s, const qn_node *n, const char *id, const char *fmt, ...)
{
	qn_buf b;
	va_list args;

	qn_buf_init(&b, s->m->scratch);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	s->status = qn_report(s->m->env, QN_EUNSUPPORTED, id, qn_node_place(s->g, n),
			      "%s%s cannot stream: %s", qn_opinfo_of(n)->name,
			      qn_node_layers(n, s->m->scratch), qn_buf_str(&b));
	return false;
}

/* ---- what is read ---- */

/* Rows [p, q) of a value are read as one. */
static void
need(qn_stream *s, qn_id id, int64_t p, int64_t q)
{
	while (s->rows[id].copied)
		id = qn_graph_node(s->g, id)->in[0];

	qn_rows *r = &s->rows[id];
	const int64_t border = qn_rows_border(r);

	if (p < border) {
		const int64_t end = q < border ? q : border;

		r->head = r->head > end ? r->head : end;
		r->spans = r->spans || q > border;
	}
	if (q > border) {
		const int64_t begin = p > border ? p : border;

		r->tail = r->tail < begin ? r->tail : begin;
	}
}

/* Rows [p, q) of node n are computed: what it reads of its operands. */
static void
need_operands(qn_stream *s, const qn_node *n, const qn_rows *r, int64_t p, int64_t q)
{
	for (uint32_t i = 0; p < q && i < n->nin; i++) {
		const qn_rows *x = &s->rows[n->in[i]];
		int64_t a = p * r->reads.stride - r->reads.before;
		int64_t b = (q - 1) * r->reads.stride - r->reads.before + r->reads.reach;

		if (r->reads.reach == 0) { /* all of them */
			a = 0;
			b = x->n;
		} else if (qn_reads_padding(r, x->n, p, q)) { /* a row is written all the same */
			a = x->n - 1;
			b = x->n;
		}
		if (x->kind == QN_STREAM_ROWS)
			need(s, n->in[i], a < 0 ? 0 : a, b > x->n ? x->n : b);
	}
}

/* From the outputs back. */
static void
find_needs(qn_stream *s)
{
	for (size_t k = 0; k < s->g->noutput; k++) {
		const qn_rows *r = &s->rows[s->g->output[k].value];

		if (r->kind == QN_STREAM_ROWS)
			need(s, s->g->output[k].value, r->n - r->shift > 0 ? r->n - r->shift : 0,
			     r->n);
	}
	for (qn_id id = s->g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(s->g, id);
		qn_rows *r = &s->rows[id];

		if (r->kind == QN_STREAM_WINDOW)
			need_operands(s, n, r, 0, 1);
		if (r->kind != QN_STREAM_ROWS)
			continue;
		if (r->spans) /* rows from the border on are then read, too */
			need(s, id, 0, r->n);
		need_operands(s, n, r, 0, r->head);
		need_operands(s, n, r, qn_rows_fresh(r), r->n);
	}
}

/* ---- the pass ---- */

static qn_status
refuse_states(const qn_stream *s)
{
	if (s->m->streamed != NULL)
		return qn_report(
			s->m->env, QN_EUNSUPPORTED, "stream.state", s->m->name,
			"the network is streamed already: input '%s' takes hops of %lld of "
			"%lld rows along axis %d; stream the network of the window",
			s->m->streamed->input, (long long)s->m->streamed->hop,
			(long long)s->m->streamed->window, (int)s->m->streamed->axis);
	if (s->g->nstate == 0)
		return QN_OK;
	return qn_report(
		s->m->env, QN_EUNSUPPORTED, "stream.state", s->m->name,
		"the network has the state '%s' already: it takes one step per run, and has no "
		"window to stream",
		qn_graph_state(s->g, 0)->name);
}

qn_status
qn_stream_option(qn_model *m, const char *text)
{
	qn_stream s = {.m = m, .g = qn_model_entry(m), .text = text};

	QN_TRY(refuse_states(&s));
	return qn_stream_read_text(&s);
}

qn_status
qn_stream_model(qn_model *m, const char *text)
{
	qn_stream s = {.m = m, .g = qn_model_entry(m), .text = text};
	qn_graph *swept;

	QN_TRY(refuse_states(&s));
	QN_TRY(qn_stream_read_text(&s));
	QN_TRY(qn_stream_find_window(&s));
	s.loops = qn_loops_find(s.g, m->scratch);
	s.rows = QN_NEW(m->scratch, qn_rows, s.g->n);
	for (qn_id id = 1; id < s.g->n; id++) {
		qn_stream_flow(&s, id);
		const qn_rows *r = &s.rows[id];

		s.rows[id].tail = s.g->input[s.input] == id ? r->n - r->shift : r->n;
	}
	QN_TRY(s.status);
	QN_TRY(qn_stream_window_used(&s));
	find_needs(&s);
	QN_TRY(qn_stream_write(&s));
	const qn_streamed hops = {.input = qn_stream_input(&s)->name,
				  .axis = s.axis,
				  .hop = s.hop,
				  .window = qn_stream_input(&s)->type->dim[s.axis]};
	QN_TRY(qn_rewrite(m, s.to, NULL, 0, NULL, &swept)); /* equal slices become one */
	qn_model_set_graph(m, swept);
	qn_model_streamed(m, &hops);
	return QN_OK;
}
