/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_slice.c - Concat, Split and Slice.
 *
 *   Slice(x, [-3], [9], [1]) limits are counted from the end, and cut to the dim
 *   Split(x) {num_outputs=2} as many pieces, the last one may be shorter */
#include "import/onnx_write_op.h"

static void
concat(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {0};

	if (!qn_onnx_need(o, n, n->nin > 0 ? n->nin : 1))
		return;
	a.axis.axis = qn_onnx_int(o, n, "axis", 1);
	out[0] = qn_importer_op(&o->im, QN_OP_concat, n->nin, n->in, &a, NULL);
}

/* The lengths of the pieces; false after a report. */
static bool
lengths(qn_onnx *o, const qn_onnx_node *n, int64_t whole, int64_t *size)
{
	int64_t pieces = n->nout, sum = 0;
	int32_t given = n->version < 13
				? (qn_onnx_has(o, n, "split")
					   ? qn_onnx_ints(o, n, "split", (int32_t)pieces, size)
					   : -1)
			: qn_onnx_in(n, 1) != 0 ? qn_onnx_const_ints(o, n, 1, (int32_t)pieces, size)
						: -1;

	if (given < 0 && qn_onnx_in(n, 1) != 0)
		return false;
	int64_t each = pieces > 0 ? (whole + pieces - 1) / pieces : 0;
	for (int64_t i = 0; i < pieces; i++) {
		if (given < 0)
			size[i] = i * each > whole          ? 0
				  : whole - i * each < each ? whole - i * each
							    : each;
		sum += size[i] >= 0 && size[i] <= whole ? size[i] : whole + 1;
	}
	if (sum == whole && (given < 0 || given == pieces))
		return true;
	(void)qn_importer_refuse(&o->im, "import.attr", "%lld pieces do not add up to %lld",
				 (long long)pieces, (long long)whole);
	return false;
}

static void
split(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t *size = QN_NEW(o->im.scratch, int64_t, n->nout + 1), at = 0;
	int32_t axis;

	if (!qn_onnx_need(o, n, 1) || n->nout > INT32_MAX)
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (!qn_onnx_axis(o, qn_onnx_int(o, n, "axis", 0), t->rank, &axis) ||
	    !lengths(o, n, t->dim[axis], size))
		return;
	for (uint32_t i = 0; i < n->nout; i++) {
		out[i] = qn_importer_slice(&o->im, n->in[0], axis, at, at + size[i]);
		at += size[i];
	}
}

static int64_t
limited(int64_t v, int64_t dim, int64_t least, int64_t most)
{
	if (v < 0)
		v = v < -dim ? -1 - dim : v + dim;
	return v < least ? least : v > most ? most : v;
}

typedef struct cut {
	int64_t start[QN_MAX_RANK], end[QN_MAX_RANK], axes[QN_MAX_RANK], step[QN_MAX_RANK];
	int32_t n;
} cut;

static bool
read_cut(qn_onnx *o, const qn_onnx_node *n, cut *c)
{
	c->n = qn_onnx_list(o, n, "starts", 1, 10, c->start);
	int32_t ends = qn_onnx_list(o, n, "ends", 2, 10, c->end);
	int32_t axes = qn_onnx_list(o, n, "axes", 3, 10, c->axes);
	int32_t steps = n->version < 10 ? -1 : qn_onnx_list(o, n, "", 4, 10, c->step);

	if (c->n == -2 || ends == -2 || axes == -2 || steps == -2)
		return false;
	for (int32_t i = 0; i < c->n; i++) {
		c->axes[i] = axes == -1 ? i : c->axes[i];
		c->step[i] = steps == -1 ? 1 : c->step[i];
	}
	if (c->n >= 0 && ends == c->n && (axes == -1 || axes == c->n) &&
	    (steps == -1 || steps == c->n))
		return true;
	(void)qn_importer_refuse(&o->im, "import.input",
				 "starts, ends, axes and steps must have the same length");
	return false;
}

static qn_id
cut_axis(qn_onnx *o, qn_id x, int32_t axis, int64_t start, int64_t end, int64_t step)
{
	qn_attrs a = {0};

	if (x == 0)
		return 0;
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim = t->dim[axis];
	start = limited(start, dim, step > 0 ? 0 : -1, step > 0 ? dim : dim - 1);
	end = limited(end, dim, step > 0 ? 0 : -1, step > 0 ? dim : dim - 1);
	if (step == 1)
		return qn_importer_slice(&o->im, x, axis, start, end > start ? end : start);
	a.slice.begin.n = a.slice.end.n = a.slice.step.n = t->rank;
	for (int32_t i = 0; i < t->rank; i++) {
		a.slice.end.v[i] = t->dim[i];
		a.slice.step.v[i] = 1;
	}
	bool none = step < 0 && start <= end;
	a.slice.begin.v[axis] = none ? 0 : start;
	a.slice.end.v[axis] = none ? 0 : end < 0 ? -dim - 1 : end; /* -1: before the first one */
	a.slice.step.v[axis] = none              ? 1
			       : step < -dim - 1 ? -dim - 1
			       : step > dim + 1  ? dim + 1
						 : step;
	return qn_importer_op(&o->im, QN_OP_slice, 1, &x, &a, NULL);
}

static void
slice(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id y = qn_onnx_need(o, n, 1) ? n->in[0] : 0;
	int32_t axis;
	cut c;

	if (y == 0 || qn_onnx_step_part(o, n, out) || !read_cut(o, n, &c))
		return;
	for (int32_t i = 0; i < c.n; i++) {
		if (!qn_onnx_axis(o, c.axes[i], qn_onnx_type(o, n->in[0])->rank, &axis))
			return;
		if (c.step[i] == 0) {
			(void)qn_importer_refuse(&o->im, "import.input", "a step is 0");
			return;
		}
		y = cut_axis(o, y, axis, c.start[i], c.end[i], c.step[i]);
	}
	out[0] = y;
}

const qn_onnx_row qn_onnx_slices[] = {
	QN_ONNX_BOTH("Concat", 1, concat, qn_onnx_write_concat, 0, ANY, QN_OP_concat),
	QN_ONNX_BOTH("Split", 1, split, qn_onnx_write_split, 0, ANY, QN_OP_split),
	QN_ONNX_BOTH("Slice", 1, slice, qn_onnx_write_slice, 0, ANY, QN_OP_slice),
	QN_ONNX_WRITE("Slice", qn_onnx_write_reverse, 0, PLAIN, QN_OP_reverse),
	{0},
};
