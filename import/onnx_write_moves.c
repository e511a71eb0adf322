/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_moves.c - operators that move elements or change the shape, as those of ONNX.
 *
 *   flatten(x)              Reshape(x, [dims of the result])
 *   reverse(x) {axes=[1]}   Slice(x, [-1], [-2^63 + 1], [1], [-1]) */
#include <string.h>

#include "import/onnx_write_op.h"
#include "ir/slice.h"

#define LOWEST (INT64_MIN + 1) /* an end before every element */

/* A list after the operand: Reshape, Expand, Tile. */
static const char *
with_list(qn_onnx_out *o, const qn_node *n, const char *op, const char *base, int32_t count,
	  const int64_t *v)
{
	const char *list = qn_onnx_out_i64s(o, base, count, v);

	return qn_onnx_write_over(o, n, op, 1, &list);
}

/* A dimension of 0 is one, not a copy of the operand's.  An image whose channels come first is
 * read so where these are the same elements, or where only weights whose columns are moved take the
 * result. */
const char *
qn_onnx_write_reshape(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_onnx_layout order =
		o->flat[o->id] != 0 || qn_onnx_out_order_is_free(qn_onnx_write_type(o, n, 0))
			? o->order[n->in[0]]
			: QN_ORDER_PLAIN;
	const char *shape = qn_onnx_out_i64s(o, "shape", n->type->rank, n->type->dim);
	const char *y =
		qn_onnx_write_op_2(o, n, op, qn_onnx_out_value_in(o, n->in[0], order), shape);

	if (y != NULL && qn_type_count(n->type) == 0)
		qn_onnx_out_int(o, "allowzero", 1);
	return y;
}

const char *
qn_onnx_write_expand(qn_onnx_out *o, const qn_node *n, const char *op)
{
	return with_list(o, n, op, "shape", n->type->rank, n->type->dim);
}

const char *
qn_onnx_write_tile(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_list *r = &n->attr->tile.repeats;

	return with_list(o, n, op, "repeats", r->n, r->v);
}

const char *
qn_onnx_write_transpose(qn_onnx_out *o, const qn_node *n, const char *op)
{
	(void)op;
	return qn_onnx_out_permuted(o, n->in[0], n->type->rank, n->attr->perm.perm.v);
}

const char *
qn_onnx_write_concat(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL)
		qn_onnx_out_int(o, "axis", qn_onnx_write_axis(o, n, n->attr->axis.axis));
	return y;
}

/* ---- more or fewer elements ---- */

/* x from `start` down to before `end` along axis k. */
static const char *
backwards(qn_onnx_out *o, const qn_node *n, const char *x, int64_t k, int64_t start, int64_t end)
{
	const int64_t back = -1;
	const char *in[5] = {
		x,
		qn_onnx_out_i64s(o, "starts", 1, &start),
		qn_onnx_out_i64s(o, "ends", 1, &end),
		qn_onnx_out_i64s(o, "axes", 1, &k),
		qn_onnx_out_i64s(o, "steps", 1, &back),
	};

	return qn_onnx_out_node(o, "Slice", n->name, 5, in);
}

/* symmetric: the elements mirrored outside the outermost one, for each axis the pieces of a
 * concatenation. */
static const char *
mirrored(qn_onnx_out *o, const qn_node *n)
{
	const qn_attrs_pad *a = &n->attr->pad;
	const int64_t *dim = qn_onnx_write_type(o, n, 0)->dim;
	const char *x = qn_onnx_out_value(o, n->in[0]);

	for (int32_t k = 0; x != NULL && k < a->before.n; k++) {
		const int64_t before = a->before.v[k], rest = dim[k] - 1 - a->after.v[k];
		const char *part[3];
		size_t parts = 0;

		if (before > 0)
			part[parts++] = backwards(o, n, x, k, before - 1, LOWEST);
		part[parts++] = x;
		if (a->after.v[k] > 0)
			part[parts++] = backwards(o, n, x, k, -1, rest < 0 ? LOWEST : rest);
		if (parts == 1)
			continue;
		x = qn_onnx_out_node(o, "Concat", n->name, parts, part);
		qn_onnx_out_int(o, "axis", k);
	}
	return x;
}

const char *
qn_onnx_write_pad(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_pad *a = &n->attr->pad;
	const qn_elem *e = n->type->elem;
	int64_t pads[2 * QN_MAX_RANK];
	const char *in[2] = {NULL, NULL};

	if (a->mode == QN_PAD_symmetric)
		return mirrored(o, n);
	qn_onnx_write_op_by_axis(o, &a->before, pads);
	qn_onnx_write_op_by_axis(o, &a->after, pads + a->before.n);
	in[0] = qn_onnx_out_i64s(o, "pads", 2 * a->before.n, pads);
	if (a->mode == QN_PAD_constant)
		in[1] = qn_elem_is_quant(e) ? qn_onnx_write_f32(o, "value", a->value)
					    : qn_onnx_out_number(o, "value", e->plain, a->value);
	const char *y = qn_onnx_write_over(o, n, op, 2, in);
	if (y != NULL && a->mode != QN_PAD_constant)
		qn_onnx_out_text(o, "mode", qn_enum_table[QN_ENUM_pad_mode].names[a->mode]);
	return y;
}

const char *
qn_onnx_write_slice(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_slice *a = &n->attr->slice;
	int64_t axes[QN_MAX_RANK], step[QN_MAX_RANK];
	const char *in[4];

	for (int32_t i = 0; i < a->begin.n; i++) {
		axes[i] = qn_onnx_write_axis(o, n, i);
		step[i] = qn_slice_step(a, i);
	}
	in[0] = qn_onnx_out_i64s(o, "starts", a->begin.n, a->begin.v);
	in[1] = qn_onnx_out_i64s(o, "ends", a->begin.n, a->end.v);
	in[2] = qn_onnx_out_i64s(o, "axes", a->begin.n, axes);
	in[3] = qn_onnx_out_i64s(o, "steps", a->begin.n, step);
	return qn_onnx_write_over(o, n, op, 4, in);
}

const char *
qn_onnx_write_reverse(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_list *axes = &n->attr->axes.axes;
	int64_t start[QN_MAX_RANK], end[QN_MAX_RANK];
	const char *in[4];

	for (int32_t i = 0; i < axes->n; i++) {
		start[i] = -1;
		end[i] = LOWEST;
	}
	in[0] = qn_onnx_out_i64s(o, "starts", axes->n, start);
	in[1] = qn_onnx_out_i64s(o, "ends", axes->n, end);
	in[2] = qn_onnx_out_i64s(o, "axes", axes->n, axes->v);
	in[3] = qn_onnx_out_i64s(o, "steps", axes->n, start);
	return qn_onnx_write_over(o, n, op, 4, in);
}

const char *
qn_onnx_write_trilu(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *k = qn_onnx_out_number(o, "k", QN_PLAIN_i64, (double)n->attr->trilu.k);
	const char *y = qn_onnx_write_over(o, n, op, 1, &k);

	if (y != NULL)
		qn_onnx_out_int(o, "upper", n->attr->trilu.upper);
	return y;
}

/* ---- tuples ---- */

const char *
qn_onnx_write_split(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const qn_attrs_split *a = &n->attr->split;
	const char *sizes = qn_onnx_out_i64s(o, "sizes", a->sizes.n, a->sizes.v);
	const char *y = qn_onnx_write_over(o, n, op, 1, &sizes);

	if (y != NULL)
		qn_onnx_out_int(o, "axis", qn_onnx_write_axis(o, n, a->axis));
	return y;
}
