/* SPDX-License-Identifier: Apache-2.0 */
/* stream_write.c - the streamed graph: each node once for the border at the begin of the window, and once for the rows
 * from the new ones on.
 *
 *   %c = conv2d %x        25 rows: border 0, 1; kept 2 … 20; new 21, border 22 … 24
 *
 *   %c   = conv2d %x.all[38 …]                rows 21 … 24         what is read of them
 *   %c_1 = conv2d %x.all[0 …]                 rows 0, 1
 *   %c.all = concat %c_1, %c.rows, %c         all 25 rows
 *   return … %c.all[3 … 21] to %c.rows        what the next run keeps */
#include <string.h>

#include "ir/diag.h"
#include "passes/stream.h"

static qn_id
fail(qn_stream *s)
{
	if (s->status == QN_OK)
		s->status = QN_EINVALID;
	return 0;
}

static const char *
derived(const qn_stream *s, const qn_node *n, const char *what)
{
	qn_buf b;

	qn_buf_init(&b, s->m->scratch);
	qn_buff(&b, "%s.%s", n->name, what);
	return qn_buf_str(&b);
}

/* n's type with that many rows. */
static const qn_type *
type_with(const qn_stream *s, const qn_node *n, int32_t axis, int64_t rows)
{
	int64_t dim[QN_MAX_RANK];

	if (n->type->is_tuple)
		return NULL; /* it follows from the operand's */
	for (int32_t i = 0; i < n->type->rank; i++)
		dim[i] = i == axis ? rows : n->type->dim[i];
	return qn_type_with_shape(&s->m->types, n->type, n->type->rank, dim);
}

/* ---- rows of values ---- */

/* Rows [from, to) of a value of the streamed graph; x itself where these are all. */
static qn_id
cut(qn_stream *s, qn_id x, int32_t axis, int64_t from, int64_t to)
{
	const qn_type *t = x != 0 ? qn_graph_node(s->to, x)->type : NULL;
	qn_attrs a = {0};

	if (t == NULL || t->is_tuple || (from == 0 && to == t->dim[axis]))
		return x;
	a.slice.begin.n = a.slice.end.n = t->rank;
	for (int32_t i = 0; i < t->rank; i++) {
		a.slice.begin.v[i] = i == axis ? from : 0;
		a.slice.end.v[i] = i == axis ? to : t->dim[i];
	}
	return qn_graph_op(s->to, QN_OP_slice, NULL, 1, &x, &a, NULL);
}

static qn_id write_rows(qn_stream *s, const qn_node *n, const qn_rows *r, int64_t p, int64_t q);

/* Rows [p, q) of value id of g. */
static qn_id
rows_of(qn_stream *s, qn_id id, int64_t p, int64_t q)
{
	const qn_rows *r = &s->rows[id];
	const int64_t fresh = qn_rows_fresh(r);

	if (r->copied) /* equal ones become one afterwards */
		return write_rows(s, qn_graph_node(s->g, id), r, p, q);
	if (r->first != 0 && q <= r->head)
		return cut(s, r->first, r->axis, p, q);
	if (p >= fresh)
		return cut(s, r->last, r->axis, p - fresh, q - fresh);
	const int64_t begin = r->spans ? 0 : r->tail;
	return cut(s, r->all, r->axis, p - begin, q - begin);
}

/* The parts of a value as one, where it is read as one. */
static void
put_together(qn_stream *s, const qn_node *n, qn_rows *r)
{
	qn_id part[3];
	uint32_t count = 0;
	const qn_attrs axis = {.axis = {.axis = r->axis}};
	const int64_t begin = r->spans ? 0 : r->tail;

	if (r->spans && r->first != 0)
		part[count++] = r->first;
	if (r->kept != 0)
		part[count++] = r->kept;
	if (r->last != 0)
		part[count++] = r->last;
	r->all = count < 2 ? r->last
			   : qn_graph_op(s->to, QN_OP_concat, derived(s, n, "all"), count, part,
					 &axis, type_with(s, n, r->axis, r->n - begin));
	if (count > 1 && r->all == 0)
		(void)fail(s);
}

/* ---- nodes ---- */

/* Rows of a pad or a convolution that read only padding, so that all are equal: those before the windows of a row of its
 * operand, whichever is at hand. */
static qn_id
write_padding(qn_stream *s, const qn_node *n, const qn_rows *r, int64_t rows)
{
	const qn_rows *y = &s->rows[n->in[0]];
	const qn_stretch one = {.q = rows + 1,
				.b = 1,
				.before = (rows - 1) * r->reads.stride + r->reads.reach,
				.after = r->reads.stride - 1};
	qn_node like = *n;
	qn_id *in = QN_NEW(s->m->scratch, qn_id, (size_t)n->nin + 1);
	qn_attrs attrs;

	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = i == 0 ? rows_of(s, n->in[0], y->n - 1, y->n) : s->map[n->in[i]];
	if (in[0] == 0)
		return fail(s);
	qn_stream_attrs(s, n, r->axis, &one, &attrs);
	like.in = in;
	like.attr = &attrs;
	like.type = type_with(s, n, r->axis, rows + 1);
	const qn_id all = qn_graph_add(s->to, &like);
	const qn_id id = all != 0 ? cut(s, all, r->axis, 0, rows) : 0;
	return id != 0 ? id : fail(s);
}

/* Node n for rows [p, q) of its result. */
static qn_id
write_rows(qn_stream *s, const qn_node *n, const qn_rows *r, int64_t p, int64_t q)
{
	qn_node like = *n;
	qn_id *in = QN_NEW(s->m->scratch, qn_id, (size_t)n->nin + 1);
	const int64_t a = p * r->reads.stride - r->reads.before;
	const int64_t b = (q - 1) * r->reads.stride - r->reads.before + r->reads.reach;
	qn_stretch x = {.p = p, .q = q};
	qn_attrs attrs;

	const qn_rows *data = &s->rows[n->in[0]];
	if (data->kind == QN_STREAM_ROWS && qn_reads_padding(r, data->n, p, q))
		return write_padding(s, n, r, q - p);
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_rows *y = &s->rows[n->in[i]];

		if (y->kind != QN_STREAM_ROWS) {
			in[i] = s->map[n->in[i]];
			continue;
		}
		x.a = a > 0 ? a : 0;
		x.b = b < y->n ? b : y->n;
		x.before = x.a - a;
		x.after = b - x.b;
		in[i] = rows_of(s, n->in[i], x.a, x.b);
		if (in[i] == 0)
			return fail(s);
	}
	qn_stream_attrs(s, n, r->axis, &x, &attrs);
	like.in = in;
	like.attr = &attrs;
	like.type = type_with(s, n, r->axis, q - p);
	if (n->op == QN_OP_slice && qn_graph_node(s->to, in[0])->type == like.type)
		return in[0];
	const qn_id id = qn_graph_add(s->to, &like);
	return id != 0 ? id : fail(s);
}

/* A node as it is, of all rows of its operands. */
static qn_id
write_whole(qn_stream *s, const qn_node *n)
{
	qn_node like = *n;
	qn_id *in = QN_NEW(s->m->scratch, qn_id, (size_t)n->nin + 1);

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_rows *y = &s->rows[n->in[i]];

		in[i] = y->kind == QN_STREAM_ROWS ? rows_of(s, n->in[i], 0, y->n)
						  : s->map[n->in[i]];
		if (in[i] == 0)
			return fail(s);
	}
	like.in = in;
	const qn_id id = qn_graph_add(s->to, &like);
	return id != 0 ? id : fail(s);
}

static void
write_node(qn_stream *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);
	qn_rows *r = &s->rows[id];

	if (n->op == QN_OP_input && r->kind != QN_STREAM_ROWS)
		return;
	if (r->kind == QN_STREAM_ROWS) {
		const int64_t fresh = qn_rows_fresh(r);

		if (n->op == QN_OP_input)
			r->last = s->map[id];
		else if (fresh < r->n)
			r->last = write_rows(s, n, r, fresh, r->n);
		if (s->status == QN_OK && r->head > 0)
			r->first = write_rows(s, n, r, 0, r->head);
		if (s->status == QN_OK)
			put_together(s, n, r);
		if (s->status == QN_OK &&
		    r->kept != 0) /* at once: all rows are not needed for long */
			r->next = rows_of(s, id, r->tail + r->shift, fresh + r->shift);
		if (r->kept != 0 && r->next == 0)
			(void)fail(s);
	} else if (r->kind == QN_STREAM_WINDOW && r->reads.reach > 0) {
		s->map[id] = write_rows(s, n, r, 0, 1);
	} else {
		s->map[id] = write_whole(s, n);
	}
}

/* ---- inputs and outputs ---- */

static void
write_inputs(qn_stream *s)
{
	for (size_t k = 0; k < s->g->ninput; k++) {
		const qn_node *n = qn_graph_node(s->g, s->g->input[k]);
		const bool hop = n == qn_stream_input(s);
		qn_node like = *n;

		like.type = hop ? type_with(s, n, s->axis, s->hop) : n->type;
		s->map[s->g->input[k]] = qn_graph_add(s->to, &like);
		if (s->map[s->g->input[k]] == 0)
			(void)fail(s);
	}
	for (qn_id id = 1; id < s->g->n && s->status == QN_OK; id++) {
		const qn_node *n = qn_graph_node(s->g, id);
		qn_rows *r = &s->rows[id];
		const int64_t keep = qn_rows_fresh(r) - r->tail;

		if (r->kind != QN_STREAM_ROWS || keep <= 0)
			continue;
		r->kept = qn_graph_input(s->to, derived(s, n, "rows"),
					 type_with(s, n, r->axis, keep));
		if (r->kept == 0)
			(void)fail(s);
		else
			qn_graph_add_state(s->to, NULL);
	}
}

/* "x.next", or "x.next_1" where an output has this name. */
static const char *
next_name(const qn_stream *s, const qn_node *n)
{
	const char *name = derived(s, n, "next");
	qn_buf b;

	for (uint32_t i = 1, k = 0; k < s->to->noutput; k++) {
		if (strcmp(s->to->output[k].name, name) != 0)
			continue;
		qn_buf_init(&b, s->m->scratch);
		qn_buff(&b, "%s.next_%u", n->name, i++);
		name = qn_buf_str(&b);
		k = UINT32_MAX; /* from the first output again */
	}
	return name;
}

static void
write_outputs(qn_stream *s)
{
	for (size_t k = 0; k < s->g->noutput && s->status == QN_OK; k++) {
		const qn_output *y = &s->g->output[k];
		const qn_rows *r = &s->rows[y->value];
		qn_id id = s->map[y->value];

		if (r->kind == QN_STREAM_ROWS)
			id = rows_of(s, y->value, r->n > r->shift ? r->n - r->shift : 0, r->n);
		if (id == 0)
			(void)fail(s);
		else
			qn_graph_output(s->to, y->name, id);
	}
	for (qn_id id = 1; id < s->g->n && s->status == QN_OK; id++) {
		const qn_rows *r = &s->rows[id];

		if (r->kept == 0)
			continue;
		qn_graph_output(s->to, next_name(s, qn_graph_node(s->g, id)), r->next);
	}
}

qn_status
qn_stream_write(qn_stream *s)
{
	s->to = qn_graph_new_in(s->m, s->g->name, s->m->scratch);
	s->map = QN_NEW(s->m->scratch, qn_id, s->g->n);
	qn_graph_copy_facts(s->to, s->g);
	write_inputs(s);
	for (qn_id id = 1; id < s->g->n && s->status == QN_OK; id++)
		write_node(s, id);
	if (s->status == QN_OK)
		write_outputs(s);
	return s->status;
}
