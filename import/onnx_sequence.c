/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_sequence.c - sequences, as lists of values that are known while reading: a tuple node that nothing needs in the
 * end.
 *
 *   s = SplitToSequence(x [6,4]) {axis=0}     six slices [1,4]
 *   y = SequenceAt(s, 2)                      the third one
 *   n = SequenceLength(s)                     6
 *
 * Optional values are there, so that they are the values themselves. */
#include "import/onnx.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

enum { MOST = 255 }; /* values of a tuple */

bool
qn_onnx_is_list(const qn_onnx *o, qn_id x)
{
	return x != 0 && qn_onnx_type(o, x)->is_tuple;
}

bool
qn_onnx_takes_lists(const char *op)
{
	static const char *const others[] = {"Identity", "If", "Loop", "Scan"};

	for (const qn_onnx_row *row = qn_onnx_sequences; row->op != NULL; row++)
		if (strcmp(row->op, op) == 0)
			return true;
	for (size_t i = 0; i < QN_COUNT(others); i++)
		if (strcmp(others[i], op) == 0)
			return true;
	return false;
}

static qn_id
list_of(qn_onnx *o, int64_t n, const qn_id *x)
{
	if (n > MOST)
		return qn_importer_refuse(&o->im, "import.size",
					  "a sequence of %lld values; at most %d are possible",
					  (long long)n, (int)MOST);
	return qn_importer_op_unfolded(&o->im, QN_OP_tuple, (uint32_t)n, x, NULL, NULL);
}

/* Input i, which must be a sequence; NULL after a report. */
static const qn_node *
list_in(qn_onnx *o, const qn_onnx_node *n, uint32_t i)
{
	qn_id x = qn_onnx_in(n, i);

	if (qn_onnx_is_list(o, x) && qn_graph_node(o->im.g, x)->op == QN_OP_tuple)
		return qn_graph_node(o->im.g, x);
	(void)qn_importer_refuse(&o->im, "import.input", "input %u must be a sequence", i);
	return NULL;
}

/* Where input i points to among the places up to `last`, which it is when it is left out; negative ones are counted from
 * the end of `count` values.  False after a report. */
static bool
place(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int64_t count, int64_t last, int64_t *at)
{
	*at = last;
	if (qn_onnx_in(n, i) == 0)
		return true;
	if (qn_onnx_const_ints(o, n, i, 1, at) != 1)
		return false;
	*at += *at < 0 ? count : 0;
	if (*at >= 0 && *at <= last)
		return true;
	(void)qn_importer_refuse(&o->im, "import.input", "position %lld of %lld values",
				 (long long)*at, (long long)count);
	return false;
}

/* ---- making, reading and changing ---- */

static void
construct(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_onnx_is_list(o, n->in[i])) {
			(void)qn_importer_refuse(&o->im, "import.type",
						 "a sequence in a sequence is not supported");
			return;
		}
	if (qn_onnx_need(o, n, n->nin))
		out[0] = list_of(o, n->nin, n->in);
}

static void
at(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_node *s = list_in(o, n, 0);
	int64_t i;

	if (s != NULL && qn_onnx_need(o, n, 2) && place(o, n, 1, s->nin, (int64_t)s->nin - 1, &i))
		out[0] = s->in[i];
}

static void
insert(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_node *s = list_in(o, n, 0);
	qn_id x[MOST + 1];
	int64_t i;

	if (s == NULL || !qn_onnx_need(o, n, 2) || !place(o, n, 2, s->nin, s->nin, &i))
		return;
	for (int64_t k = 0; k < s->nin; k++)
		x[k < i ? k : k + 1] = s->in[k];
	x[i] = n->in[1];
	out[0] = list_of(o, (int64_t)s->nin + 1, x);
}

static void
erase(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_node *s = list_in(o, n, 0);
	qn_id x[MOST + 1] = {0};
	int64_t i;

	if (s == NULL)
		return;
	if (s->nin == 0)
		(void)qn_importer_refuse(&o->im, "import.input", "the sequence is empty");
	if (s->nin == 0 || !place(o, n, 1, s->nin, (int64_t)s->nin - 1, &i))
		return;
	for (int64_t k = 0; k < s->nin; k++)
		if (k != i)
			x[k < i ? k : k - 1] = s->in[k];
	out[0] = list_of(o, (int64_t)s->nin - 1, x);
}

static void
length(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_node *s = list_in(o, n, 0);

	if (s != NULL)
		out[0] = qn_importer_i64(&o->im, s->nin);
}

/* ---- to and from one value ---- */

static void
join(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const qn_node *s = list_in(o, n, 0);
	bool new_axis = qn_onnx_int(o, n, "new_axis", 0) != 0;
	qn_id x[MOST + 1];
	int32_t axis;

	if (s == NULL)
		return;
	if (s->nin == 0) {
		(void)qn_importer_refuse(&o->im, "import.input", "the sequence is empty");
		return;
	}
	int32_t rank = qn_onnx_type(o, s->in[0])->rank + new_axis;
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), rank, &axis))
		return;
	for (uint32_t i = 0; i < s->nin; i++)
		x[i] = new_axis ? qn_importer_expand_dim(&o->im, s->in[i], axis) : s->in[i];
	out[0] = qn_importer_join(&o->im, s->nin, x, axis);
}

/* The lengths of the pieces of an axis of `whole` elements: their number, -1 after a report. */
static int32_t
pieces(qn_onnx *o, const qn_onnx_node *n, int64_t whole, int64_t *size)
{
	int32_t given = qn_onnx_in(n, 1) != 0 ? qn_onnx_const_ints(o, n, 1, MOST, size) : 1;
	bool each = qn_onnx_in(n, 1) == 0 || qn_onnx_type(o, n->in[1])->rank == 0;
	int64_t sum = 0, step = qn_onnx_in(n, 1) == 0 ? 1 : size[0];

	if (given < 0)
		return -1;
	for (int32_t i = 0; i < given; i++)
		sum += size[i] >= 0 && size[i] <= whole ? size[i] : whole + 1;
	if (each ? step < 1 || whole / step >= MOST : sum != whole) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "the pieces do not add up to %lld elements, or are more "
					 "than %d",
					 (long long)whole, (int)MOST);
		return -1;
	}
	if (!each)
		return given;
	given = 0;
	for (int64_t k = 0; k < whole; k += step)
		size[given++] = whole - k < step ? whole - k : step;
	return given;
}

static void
split(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	bool keeps = qn_onnx_int(o, n, "keepdims", 1) != 0 || qn_onnx_in(n, 1) != 0;
	int64_t size[MOST + 1] = {1}, from = 0;
	qn_id x[MOST + 1];
	int32_t axis;

	if (!qn_onnx_need(o, n, 1) || qn_onnx_is_list(o, n->in[0])) {
		(void)qn_importer_refuse(&o->im, "import.type", "it does not split a sequence");
		return;
	}
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), t->rank, &axis))
		return;
	int32_t count = pieces(o, n, t->dim[axis], size);
	for (int32_t i = 0; i < count; i++) {
		x[i] = qn_importer_slice(&o->im, n->in[0], axis, from, from + size[i]);
		from += size[i];
		if (!keeps)
			x[i] = qn_importer_drop_dim(&o->im, x[i], axis);
	}
	if (count >= 0)
		out[0] = list_of(o, count, x);
}

/* ---- a body for each value ---- */

static void
map(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const struct Onnx__GraphProto *body = qn_onnx_graph(o, n, "body");
	const qn_node *s = list_in(o, n, 0);
	qn_id *in = QN_NEW(o->im.scratch, qn_id, n->nin + 1);
	qn_id *y = QN_NEW(o->im.scratch, qn_id, n->nout + 1), x[MOST + 1];

	if (s == NULL || body == NULL ||
	    !qn_importer_take(&o->im, ((uint64_t)n->nout + 1) * s->nin * sizeof(qn_id)))
		return;
	qn_id *all = QN_NEW(o->im.scratch, qn_id, ((size_t)n->nout + 1) * s->nin + 1);
	for (uint32_t k = 0; k < s->nin; k++) {
		if (!qn_importer_step(&o->im))
			return;
		for (uint32_t i = 0; i < n->nin; i++) {
			bool list = qn_onnx_is_list(o, n->in[i]);
			const qn_node *l = list ? qn_graph_node(o->im.g, n->in[i]) : NULL;

			in[i] = l == NULL ? n->in[i] : k < l->nin ? l->in[k] : 0;
		}
		memset(y, 0, n->nout * sizeof y[0]);
		qn_onnx_body(o, body, n->nin, in, n->nout, y);
		for (uint32_t i = 0; i < n->nout; i++)
			all[(size_t)i * s->nin + k] = y[i];
	}
	for (uint32_t i = 0; i < n->nout; i++) {
		bool ok = true;
		for (uint32_t k = 0; k < s->nin; k++) {
			x[k] = all[(size_t)i * s->nin + k];
			ok = ok && x[k] != 0 && !qn_onnx_is_list(o, x[k]);
		}
		out[i] = ok ? list_of(o, s->nin, x) : 0;
	}
}

/* ---- optional values ---- */

static void
optional(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (qn_onnx_in(n, 0) != 0)
		out[0] = n->in[0];
	else
		(void)qn_importer_refuse(&o->im, "import.type",
					 "an empty optional value is not supported");
}

static void
has_element(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	out[0] = qn_importer_cast(&o->im, qn_importer_i64(&o->im, qn_onnx_in(n, 0) != 0),
				  QN_PLAIN_bool);
}

#define SINCE(version, name, fn) QN_ONNX_READ("", name, version, fn, 0)

const qn_onnx_row qn_onnx_sequences[] = {
	SINCE(11, "SequenceConstruct", construct),
	SINCE(11, "SequenceEmpty", construct),
	SINCE(11, "SequenceAt", at),
	SINCE(11, "SequenceInsert", insert),
	SINCE(11, "SequenceErase", erase),
	SINCE(11, "SequenceLength", length),
	SINCE(11, "ConcatFromSequence", join),
	SINCE(11, "SplitToSequence", split),
	SINCE(17, "SequenceMap", map),
	SINCE(15, "Optional", optional),
	SINCE(15, "OptionalHasElement", has_element),
	SINCE(15, "OptionalGetElement", optional),
	{0},
};
