/* SPDX-License-Identifier: Apache-2.0 */
/* stream_flow.c - which rows the value of a node has, and which of them only move with the window.
 *
 *   x  49 rows, a hop moves it by 2                          conv2d of 10 rows, stride 2, padding 4 and 5:
 *   border 0 … 0, new from 47 on                             25 rows, a hop moves it by 1; rows 2 to 21 move
 *
 * Each op has a rule: how the rows of its result follow from those of its operands (qn_reads). */
#include "passes/stream_flow.h"

#include <stdarg.h>
#include <string.h>

#include "ir/diag.h"

bool
qn_flow_all_rows(qn_stream *s, const qn_node *n, const char *why)
{
	return qn_stream_refuse(
		s, n, "stream.op",
		"%s; cut the network before it (--cut NAME), or compute it and what follows "
		"from the whole window in each run: --stream …,window=%s",
		why, n->name);
}

/* Reports stream.operand: why; false. */
static bool QN_PRINTF(3, 4) refuse_operand(qn_stream *s, const qn_node *n, const char *fmt, ...)
{
	qn_buf b;
	va_list args;

	qn_buf_init(&b, s->m->scratch);
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	return qn_stream_refuse(s, n, "stream.operand",
				"%s; compute it and what follows from the whole window in each "
				"run: --stream …,window=%s",
				qn_buf_str(&b), n->name);
}

static int64_t
common_multiple(int64_t a, int64_t b)
{
	int64_t x = a, y = b;

	while (y != 0) {
		const int64_t rest = x % y;

		x = y;
		y = rest;
	}
	return a / x * b;
}

/* The smallest hop that fits all strides, given the one that the first of them asks for: tried until none asks for more,
 * or the hop is longer than the window. */
static int64_t
fitting_hop(const qn_stream *s, int64_t first)
{
	const int64_t window = qn_stream_input(s)->type->dim[s->axis];
	qn_stream t = *s;

	t.trial = true;
	for (t.hop = t.needs = first; t.needs > 0 && t.hop <= window;) {
		const qn_diag_mark mark = qn_diag_mark_now(s->m->env);

		t.needs = 0;
		t.rows = QN_NEW(s->m->scratch, qn_rows, s->g->n);
		for (qn_id id = 1; id < s->g->n && t.needs == 0; id++)
			qn_stream_flow(&t, id);
		qn_diag_forget(s->m->env, mark);
		if (t.needs > 0)
			t.hop = common_multiple(t.hop, t.needs);
	}
	return t.hop;
}

/* The stride of a node does not fit the hop. */
static bool
refuse_stride(qn_stream *s, const qn_node *n, int64_t stride, int64_t shift)
{
	s->needs = s->hop / shift * stride;
	if (s->trial)
		return false;
	return qn_stream_refuse(s, n, "stream.stride",
				"it has a stride of %lld rows, and a hop moves its operand "
				"by %lld: make the hop "
				"a multiple of %lld",
				(long long)stride, (long long)shift,
				(long long)fitting_hop(s, s->needs));
}

bool
qn_flow_windows(qn_stream *s, const qn_node *n, const qn_rows *x, qn_reads r, int64_t rows,
		qn_rows *out)
{
	const int64_t from = x->lo + r.before, room = x->hi + r.before - r.reach;

	*out = (qn_rows){.kind = rows == 1 ? QN_STREAM_WINDOW : QN_STREAM_ROWS,
			 .axis = x->axis,
			 .n = rows,
			 .reads = r};
	if (rows == 1)
		return true;
	if (x->shift % r.stride != 0)
		return refuse_stride(s, n, r.stride, x->shift);
	out->shift = x->shift / r.stride;
	out->lo = from > 0 ? (from + r.stride - 1) / r.stride : 0;
	out->hi = room >= 0 ? room / r.stride + 1 : 0;
	out->hi = out->hi < rows ? out->hi : rows;
	if (x->lo == x->hi || out->hi <= out->lo)
		out->lo = out->hi = 0;
	return true;
}

/* ---- operands ---- */

bool
qn_flow_only_data(qn_stream *s, const qn_node *n)
{
	for (uint32_t i = 1; i < n->nin; i++)
		if (s->rows[n->in[i]].kind != QN_STREAM_FIXED)
			return refuse_operand(s, n, "its operand '%s' changes from run to run",
					      qn_graph_node(s->g, n->in[i])->name);
	return s->rows[n->in[0]].kind == QN_STREAM_ROWS ||
	       qn_flow_all_rows(s, n, "its rows do not follow from its first operand");
}

/* The first input beside the one with rows that value id follows from; NULL: there is none. */
static const qn_node *
other_input(const qn_stream *s, qn_id id)
{
	bool *mark = QN_NEW(s->m->scratch, bool, s->g->n);
	const qn_node *found = NULL;

	mark[id] = true;
	for (; id > 0; id--) {
		const qn_node *n = qn_graph_node(s->g, id);

		for (uint32_t i = 0; mark[id] && i < n->nin; i++)
			mark[n->in[i]] = true;
		if (mark[id] && n->op == QN_OP_input && n != qn_stream_input(s))
			found = n;
	}
	return found;
}

bool
qn_flow_has_no_rows(qn_stream *s, const qn_node *n, uint32_t i, int32_t axis)
{
	const qn_node *x = qn_graph_node(s->g, n->in[i]);
	const int32_t at = axis - (n->type->rank - x->type->rank);

	if (s->rows[n->in[i]].kind == QN_STREAM_WINDOW) {
		const qn_node *other = other_input(s, n->in[i]);

		if (other != NULL && other != x)
			return refuse_operand(s, n,
					      "'%s' follows from the input '%s' (to fix that: "
					      "--input-value %s=FILE.npy), so that all rows change "
					      "with each hop",
					      x->name, other->name, other->name);
		if (other != NULL)
			return refuse_operand(s, n,
					      "'%s' is another input (to fix it: --input-value "
					      "%s=FILE.npy), so that all rows change with each hop",
					      x->name, x->name);
		return refuse_operand(
			s, n,
			"'%s' follows from the whole window, so that all rows change with each hop",
			x->name);
	}
	if (at < 0 || x->type->dim[at] == 1)
		return true;
	return refuse_operand(
		s, n,
		"the constant '%s' has %lld rows of its own, which do not move with the window",
		x->name, (long long)x->type->dim[at]);
}

bool
qn_flow_elementwise(qn_stream *s, const qn_node *n, const qn_rows *first, qn_rows *out)
{
	*out = (qn_rows){.n = 0};
	(void)first;
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_rows *x = &s->rows[n->in[i]];
		const int32_t axis = x->axis + n->type->rank - qn_flow_type(s, n, i)->rank;

		if (x->kind != QN_STREAM_ROWS)
			continue;
		if (out->n == 0) {
			(void)qn_flow_same(x, axis, out);
			continue;
		}
		if (out->axis != axis || out->n != x->n || out->shift != x->shift)
			return refuse_operand(s, n, "a hop moves its operands in different ways");
		out->lo = out->lo > x->lo ? out->lo : x->lo;
		out->hi = out->hi < x->hi ? out->hi : x->hi;
	}
	if (out->hi <= out->lo)
		out->lo = out->hi = 0;
	for (uint32_t i = 0; i < n->nin; i++)
		if (s->rows[n->in[i]].kind != QN_STREAM_ROWS &&
		    !qn_flow_has_no_rows(s, n, i, out->axis))
			return false;
	return true;
}

/* What the operands are; *data: the first with rows, NULL: none has. */
static qn_stream_kind
kind_of(const qn_stream *s, const qn_node *n, const qn_rows **data)
{
	qn_stream_kind kind = n->op == QN_OP_input ? QN_STREAM_WINDOW : QN_STREAM_FIXED;

	*data = NULL;
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_rows *x = &s->rows[n->in[i]];

		kind = x->kind > kind ? x->kind : kind;
		if (x->kind == QN_STREAM_ROWS && *data == NULL)
			*data = x;
	}
	return kind;
}

/* Custom operators with a table compute element by element. */
static qn_flow_fn *
rule_of(const qn_node *n)
{
	if (n->op == QN_OP_custom && qn_opinfo_of(n)->behaviour == QN_LUT)
		return qn_flow_elementwise;
	return qn_flow_rules[n->op];
}

/* A node with rows among its operands. */
static bool
follow(qn_stream *s, qn_id id, const qn_rows *x, qn_rows *out)
{
	const qn_node *n = qn_graph_node(s->g, id);
	const qn_elem *e = n->type->is_tuple ? NULL : n->type->elem;

	if (!n->type->is_tuple && qn_type_count(n->type) < 0)
		return qn_flow_all_rows(s, n, "its shape is not known");
	if (s->loops.n > 0 && s->loops.with[id] != 0)
		return qn_flow_all_rows(s, n, "it is in a loop");
	if (rule_of(n) == NULL)
		return qn_flow_all_rows(s, n, "it is not known which rows it computes from which");
	if (!rule_of(n)(s, n, x, out))
		return false;
	out->copied = n->op == QN_OP_dequantize && out->kind == QN_STREAM_ROWS;
	if (out->kind == QN_STREAM_ROWS && e != NULL && qn_elem_is_quant(e) &&
	    e->gran != QN_PER_TENSOR && (e->gran != QN_PER_AXIS || e->axis[0] == out->axis))
		return qn_flow_all_rows(s, n, "each of its rows has a scale of its own");
	return true;
}

/* Whether the option says that the node is computed from the whole window. */
static bool
is_from_window(qn_stream *s, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < s->nwindow; i++)
		if (qn_stream_is_named(s->window[i], name))
			found = s->window_used[i] = true;
	return found;
}

void
qn_stream_flow(qn_stream *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);
	qn_rows *out = &s->rows[id];
	const qn_rows *x;
	const qn_stream_kind kind = kind_of(s, n, &x);

	out->kind = kind;
	if (n == qn_stream_input(s))
		*out = (qn_rows){.kind = QN_STREAM_ROWS,
				 .axis = s->axis,
				 .n = n->type->dim[s->axis],
				 .shift = s->hop,
				 .hi = n->type->dim[s->axis]};
	else if (kind == QN_STREAM_REFUSED || x == NULL)
		return;
	else if (is_from_window(s, n->name))
		(void)qn_flow_from_window(out);
	else if (!follow(s, id, x, out))
		*out = (qn_rows){.kind = QN_STREAM_REFUSED};
}
