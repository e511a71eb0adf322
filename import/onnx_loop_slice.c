/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_loop_slice.c - what a step of a loop reads of a value from outside, where the number of the step says which.
 *
 *   Gather(x, i)            loop_slice x                      the number of the step is i
 *   Gather(x, 9 - i)        loop_slice x, from its end
 *   Slice(x, i + 1, i + 4)  concat of three loop_slices, of x without its first element, its first two and three */
#include "import/importer_steps.h"
#include "import/onnx.h"

enum {
	MOST_INDEX = 1 << 30,
	MOST_CHAIN = 32, /* nodes that an index follows from, one after the other */
	MOST_WINDOW = 64 /* elements that a step reads at once */
};

/* factor * number of the step + offset */
typedef struct line {
	int64_t factor, offset;
} line;

static bool
in_range(const line *l)
{
	return l->factor >= -MOST_INDEX && l->factor <= MOST_INDEX && l->offset >= -MOST_INDEX &&
	       l->offset <= MOST_INDEX;
}

/* Of two lines; false: the result is none. */
static bool
combine(qn_op op, const line *a, const line *b, line *out)
{
	const int64_t sign = op == QN_OP_sub ? -1 : 1;

	if (op != QN_OP_mul)
		*out = (line){a->factor + sign * b->factor, a->offset + sign * b->offset};
	else if (a->factor == 0)
		*out = (line){a->offset * b->factor, a->offset * b->offset};
	else if (b->factor == 0)
		*out = (line){a->factor * b->offset, a->offset * b->offset};
	else
		return false;
	return in_range(out);
}

static bool
keeps_integer(const qn_node *n)
{
	return n->op == QN_OP_reshape || n->op == QN_OP_squeeze || n->op == QN_OP_expand_dims ||
	       n->op == QN_OP_flatten ||
	       (n->op == QN_OP_cast &&
		(n->type->elem->plain == QN_PLAIN_i32 || n->type->elem->plain == QN_PLAIN_i64));
}

/* What an integer is in each step; false: none of these. */
static bool
line_of(qn_onnx *o, qn_id id, int depth, line *out)
{
	const qn_node *n = qn_graph_node(o->im.g, id);
	const qn_tensor *known = qn_importer_known(&o->im, id);
	line a, b = {0, 0};

	if (qn_type_count(n->type) != 1 || qn_elem_is_float(n->type->elem) || depth == MOST_CHAIN)
		return false;
	*out = (line){1, 0};
	if (id == o->im.loop)
		return true;
	if (known != NULL) {
		*out = (line){0, qn_tensor_i64(known, 0)};
		return in_range(out);
	}
	if (keeps_integer(n))
		return line_of(o, n->in[0], depth + 1, out);
	if (n->op == QN_OP_neg)
		return line_of(o, n->in[0], depth + 1, &a) && combine(QN_OP_sub, &b, &a, out);
	return (n->op == QN_OP_add || n->op == QN_OP_sub || n->op == QN_OP_mul) &&
	       line_of(o, n->in[0], depth + 1, &a) && line_of(o, n->in[1], depth + 1, &b) &&
	       combine(n->op, &a, &b, out);
}

/* x at this index of the axis, which the result does not have; 0: the steps do not read consecutive elements. */
static qn_id
at_line(qn_onnx *o, qn_id x, int32_t axis, line l)
{
	const int64_t steps = qn_graph_node(o->im.g, o->im.loop)->attr->loop.count;
	const int64_t dim = qn_onnx_type(o, x)->dim[axis];
	int64_t first = l.offset, last = l.offset + l.factor * (steps - 1);
	qn_importer_steps s = {.im = &o->im, .count = steps, .number = o->im.loop};

	if (first < 0 && last < 0) {
		first += dim;
		last += dim;
	}
	const int64_t low = first < last ? first : last, high = first < last ? last : first;
	if ((l.factor != 1 && l.factor != -1) || low < 0 || high >= dim)
		return 0;
	const qn_id all =
		low > 0 || high + 1 < dim ? qn_importer_slice(&o->im, x, axis, low, high + 1) : x;
	return qn_importer_steps_slice(&s, all, axis, l.factor < 0);
}

static bool
from_outside(const qn_onnx *o, qn_id x)
{
	return o->im.loop != 0 && x < o->im.loop;
}

qn_id
qn_onnx_step_gather(qn_onnx *o, const qn_onnx_node *n, int64_t axis)
{
	const qn_type *x = qn_onnx_type(o, n->in[0]), *index = qn_onnx_type(o, n->in[1]);
	line l;

	if (!from_outside(o, n->in[0]) || index->rank > 1 || axis >= x->rank || axis < -x->rank ||
	    !line_of(o, n->in[1], 0, &l))
		return 0;
	const int32_t at = (int32_t)(axis < 0 ? axis + x->rank : axis);
	const qn_id y = at_line(o, n->in[0], at, l);
	return y != 0 && index->rank == 1 ? qn_importer_expand_dim(&o->im, y, at) : y;
}

/* Whether an index counts from the end in all steps: after -1 comes 0, which is the first element. */
static bool
is_from_end(const qn_onnx *o, const line *l)
{
	const int64_t steps = qn_graph_node(o->im.g, o->im.loop)->attr->loop.count;

	return l->offset < 0 && l->offset + l->factor * (steps - 1) < 0;
}

/* Elements from, from + 1 … of each step, n of them. */
static qn_id
window_at(qn_onnx *o, qn_id x, int32_t axis, line from, int64_t n)
{
	qn_id part[MOST_WINDOW];

	for (int64_t k = 0; k < n; k++, from.offset++) {
		const qn_id y = at_line(o, x, axis, from);

		if (y == 0)
			return 0;
		part[k] = qn_importer_expand_dim(&o->im, y, axis);
	}
	return n == 1 ? part[0] : qn_importer_join(&o->im, n, part, axis);
}

/* Limits of a Slice that all have one element; false: others, or a step that is not 1. */
static bool
limits_of(qn_onnx *o, const qn_onnx_node *n, int32_t *axis, line *from, line *to)
{
	const qn_type *x = qn_onnx_type(o, n->in[0]);
	int64_t v[3] = {0, 0, 1};

	for (uint32_t i = 3; i < 5; i++) {
		const qn_tensor *c =
			qn_onnx_in(n, i) != 0 ? qn_importer_known(&o->im, n->in[i]) : NULL;

		if (qn_onnx_in(n, i) != 0 && (c == NULL || qn_type_count(c->type) != 1))
			return false;
		v[i - 2] = c != NULL ? qn_tensor_i64(c, 0) : v[i - 2];
	}
	if (v[1] < -x->rank || v[1] >= x->rank || v[2] != 1)
		return false;
	*axis = (int32_t)(v[1] < 0 ? v[1] + x->rank : v[1]);
	return line_of(o, n->in[1], 0, from) && line_of(o, n->in[2], 0, to) && from->factor != 0 &&
	       from->factor == to->factor;
}

bool
qn_onnx_step_part(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int32_t axis = 0;
	line from, to;

	if (n->version < 10 || qn_onnx_in(n, 1) == 0 || qn_onnx_in(n, 2) == 0 ||
	    !from_outside(o, n->in[0]) || n->in[1] < o->im.loop ||
	    qn_importer_known(&o->im, n->in[1]) != NULL)
		return false;
	if (limits_of(o, n, &axis, &from, &to)) {
		const int64_t width = to.offset - from.offset;

		if (width > 0 && width <= MOST_WINDOW && (from.offset >= 0 || is_from_end(o, &to)))
			*out = window_at(o, n->in[0], axis, from, width);
	}
	if (*out == 0) { /* the steps are read one by one then */
		o->unsliced = true;
		*out = n->in[0];
	}
	return true;
}
