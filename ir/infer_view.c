/* SPDX-License-Identifier: Apache-2.0 */
/* infer_view.c - types of the ops that show the elements of their input in another order, fewer of
 * them, or some of them several times.
 *
 *   squeeze {axes=[0,-1]}    [1,3,1] -> [3]         expand_dims {axes=[0,2]}   [3] -> [1,3,1]
 *   expand_dims_like {axes=[1]}   [5], a tensor of rank 3 -> [1,5,1]
 *   slice {begin=[0,-1], end=[2,-9], step=[1,-1]}   [4,3] -> [2,3]
 *   expand {shape=[2,-1]}    [3] with rank 2: [1,3] -> [2,3]
 *   tile {repeats=[2,1]}     [2,3] -> [4,3]
 *   reverse {axes=[1]}       [2,3] -> [2,3]
 *
 * A quantized axis goes along where an op leaves it as it is. */
#include "ir/infer.h"
#include "ir/slice.h"

const qn_elem *
qn_infer_mapped_axis(const qn_graph *g, const qn_node *n, const qn_elem *e, const int32_t *to)
{
	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	if (e->gran == QN_SUB_CHANNEL) {
		(void)qn_infer_refuse(g, n, "unsupported.subchannel",
				      "%s does not support operands quantized in blocks: %s",
				      qn_opinfo_of(n)->name, qn_infer_elem_text(g, e));
		return NULL;
	}
	if (to[e->axis[0]] >= 0)
		return qn_infer_move_axis(g, n, e, to[e->axis[0]]);
	(void)qn_infer_error(g, n, "type.axis.merged",
			     "the scales are along axis %d, which %s does not leave as it is",
			     (int)e->axis[0], qn_opinfo_of(n)->name);
	return NULL;
}

bool
qn_infer_axis(const qn_graph *g, const qn_node *n, int64_t axis, int32_t rank, int32_t *out)
{
	if (axis < -(int64_t)rank || axis >= rank)
		return qn_infer_error(g, n, "attr.value", "axis %lld, the input has %d dimensions",
				      (long long)axis, (int)rank);
	*out = (int32_t)(axis < 0 ? axis + rank : axis);
	return true;
}

/* Input 0 has a known number of dims. */
static bool
ranked(const qn_graph *g, const qn_node *n, qn_shape *x)
{
	*x = qn_shape_of(qn_infer_in(g, n, 0));
	return x->rank >= 0 ||
	       qn_infer_refuse(g, n, "shape.rank",
			       "%s needs an input of known rank, this one is %s",
			       qn_opinfo_of(n)->name, qn_infer_type_text(g, qn_infer_in(g, n, 0)));
}

/* The attribute's list has one number for each dim of the input. */
static bool
one_each(const qn_graph *g, const qn_node *n, const char *attr, const qn_list *l, int32_t rank)
{
	return l->n == rank ||
	       qn_infer_error(g, n, "attr.value", "%s has %d numbers, the input %d dimensions",
			      attr, (int)l->n, (int)rank);
}

/* The axes of the attribute as bits, in an array of rank dims, none twice. */
static bool
axis_bits(const qn_graph *g, const qn_node *n, int32_t rank, uint32_t *bits)
{
	const qn_list *axes = &n->attr->axes.axes;
	int32_t axis = 0;

	*bits = 0;
	for (int32_t i = 0; i < axes->n; i++) {
		if (!qn_infer_axis(g, n, axes->v[i], rank, &axis))
			return false;
		if ((*bits >> axis & 1U) != 0)
			return qn_infer_error(g, n, "attr.value", "axis %d is named twice",
					      (int)axis);
		*bits |= 1U << axis;
	}
	return true;
}

/* No axes: all of length 1. */
const qn_type *
qn_infer_squeeze(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_same(g, n);
	int32_t to[QN_MAX_RANK];
	qn_shape x, y = {0};
	uint32_t bits = 0;

	(void)declared;
	if (e == NULL || !ranked(g, n, &x) || !axis_bits(g, n, x.rank, &bits))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++) {
		bool named = (bits >> i & 1U) != 0;

		to[i] = -1;
		if (named && !qn_dim_fits(x.dim[i], 1)) {
			(void)qn_infer_error(g, n, "shape.squeeze", "dimension %d is %lld, not 1",
					     (int)i, (long long)x.dim[i]);
			return NULL;
		}
		if (named || (n->attr->axes.axes.n == 0 && x.dim[i] == 1))
			continue;
		to[i] = y.rank;
		y.dim[y.rank++] = x.dim[i];
	}
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

/* Axes are those of the result. */
const qn_type *
qn_infer_expand_dims(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_same(g, n);
	int32_t to[QN_MAX_RANK], k = 0;
	qn_shape x, y = {0};
	uint32_t bits = 0;

	(void)declared;
	if (e == NULL || !ranked(g, n, &x))
		return NULL;
	y.rank = x.rank + n->attr->axes.axes.n;
	if (y.rank > QN_MAX_RANK) {
		(void)qn_infer_error(g, n, "shape.rank",
				     "the result has %d dims, at most %d are "
				     "possible",
				     (int)y.rank, (int)QN_MAX_RANK);
		return NULL;
	}
	if (!axis_bits(g, n, y.rank, &bits))
		return NULL;
	for (int32_t i = 0; i < y.rank; i++) {
		if ((bits >> i & 1U) != 0) {
			y.dim[i] = 1;
			continue;
		}
		to[k] = i;
		y.dim[i] = x.dim[k++];
	}
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

/* Axis i of input 0 at axes[i], in ascending order, within a shape of rank `rank`; -1: no rank is known. */
static bool
places_ok(const qn_graph *g, const qn_node *n, int32_t from, int32_t rank)
{
	const qn_list *axes = &n->attr->axes.axes;

	if (!one_each(g, n, "axes", axes, from))
		return false;
	for (int32_t i = 0; i < axes->n; i++)
		if (axes->v[i] < 0 || (i > 0 && axes->v[i] <= axes->v[i - 1]) ||
		    axes->v[i] >= (rank >= 0 ? rank : QN_MAX_RANK))
			return qn_infer_error(g, n, "attr.value",
					      "axes[%d] is %lld; axes ascend from 0 to the rank of "
					      "input 1 less 1",
					      (int)i, (long long)axes->v[i]);
	return true;
}

const qn_type *
qn_infer_expand_dims_like(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_type *like = qn_infer_in(g, n, 1);
	const qn_elem *e = qn_infer_in(g, n, 0)->elem;
	qn_shape x, y = {.rank = like->rank};

	(void)declared;
	if (!ranked(g, n, &x) || !places_ok(g, n, x.rank, y.rank))
		return NULL;
	for (int32_t i = 0; i < y.rank; i++)
		y.dim[i] = 1;
	for (int32_t i = 0; i < x.rank && y.rank >= 0; i++)
		y.dim[n->attr->axes.axes.v[i]] = x.dim[i];
	return qn_infer_result(g, n, e, &y);
}

static bool
steps_ok(const qn_graph *g, const qn_node *n, int32_t rank)
{
	const qn_attrs_slice *a = &n->attr->slice;
	bool ok = one_each(g, n, "begin", &a->begin, rank);

	ok = one_each(g, n, "end", &a->end, rank) && ok;
	ok = (a->step.n == 0 || one_each(g, n, "step", &a->step, rank)) && ok;
	for (int32_t i = 0; i < a->step.n; i++)
		if (a->step.v[i] == 0 || a->step.v[i] > INT32_MAX || a->step.v[i] < -INT32_MAX)
			ok = qn_infer_error(g, n, "attr.value",
					    "step is %lld, must not be 0 and must be in "
					    "-2147483647..2147483647",
					    (long long)a->step.v[i]);
	return ok;
}

const qn_type *
qn_infer_slice(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_slice *a = &n->attr->slice;
	const qn_elem *e = qn_infer_same(g, n);
	int32_t to[QN_MAX_RANK];
	qn_shape x, y;

	(void)declared;
	if (e == NULL || !ranked(g, n, &x) || !steps_ok(g, n, x.rank))
		return NULL;
	y = x;
	for (int32_t i = 0; i < x.rank; i++) {
		int64_t first = 0, step = qn_slice_step(a, i);

		to[i] = -1;
		if (x.dim[i] == QN_DYNAMIC)
			continue;
		qn_slice_resolve(x.dim[i], a->begin.v[i], a->end.v[i], step, &first, &y.dim[i]);
		if (first == 0 && step == 1 && y.dim[i] == x.dim[i])
			to[i] = i;
	}
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

/* Shapes are aligned at their last axis; -1 leaves a dim as it is. */
const qn_type *
qn_infer_expand(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_list *shape = &n->attr->shape.shape;
	const qn_elem *e = qn_infer_same(g, n);
	qn_shape x, y = {.rank = shape->n};
	int32_t to[QN_MAX_RANK];

	(void)declared;
	if (e == NULL || !ranked(g, n, &x))
		return NULL;
	if (shape->n < x.rank) {
		(void)qn_infer_error(g, n, "shape.broadcast",
				     "the shape has %d dimensions, the input has %d", (int)shape->n,
				     (int)x.rank);
		return NULL;
	}
	for (int32_t i = 0; i < y.rank; i++) {
		int32_t k = i - (y.rank - x.rank);

		y.dim[i] = shape->v[i];
		if (y.dim[i] < -1 || y.dim[i] > QN_MAX_COUNT || (y.dim[i] == -1 && k < 0)) {
			(void)qn_infer_error(g, n, "attr.value", "shape has a dimension of %lld",
					     (long long)shape->v[i]);
			return NULL;
		}
		if (k < 0)
			continue;
		if (y.dim[i] == -1)
			y.dim[i] = x.dim[k];
		if (x.dim[k] != 1 && !qn_dim_fits(x.dim[k], y.dim[i])) {
			(void)qn_infer_error(g, n, "shape.broadcast",
					     "dimension %d of %s cannot be repeated to %lld",
					     (int)k, qn_infer_type_text(g, qn_infer_in(g, n, 0)),
					     (long long)y.dim[i]);
			return NULL;
		}
		to[k] = x.dim[k] == y.dim[i] ? i : -1;
	}
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_tile(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_list *repeats = &n->attr->tile.repeats;
	const qn_elem *e = qn_infer_same(g, n);
	int32_t to[QN_MAX_RANK];
	qn_shape x;

	(void)declared;
	if (e == NULL || !ranked(g, n, &x) || !one_each(g, n, "repeats", repeats, x.rank) ||
	    !qn_infer_range(g, n, "repeats", repeats->n, repeats->v, 1))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++) {
		to[i] = repeats->v[i] == 1 ? i : -1;
		/* Both factors are below 2^41 and 2^31; above 2^40 it is refused in any case. */
		if (x.dim[i] != QN_DYNAMIC && x.dim[i] > QN_MAX_COUNT / repeats->v[i])
			x.dim[i] = QN_MAX_COUNT + 1;
		else if (x.dim[i] != QN_DYNAMIC)
			x.dim[i] *= repeats->v[i];
	}
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &x) : NULL;
}

const qn_type *
qn_infer_reverse(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_same(g, n);
	int32_t to[QN_MAX_RANK];
	uint32_t bits = 0;
	qn_shape x;

	(void)declared;
	if (e == NULL || !ranked(g, n, &x) || !axis_bits(g, n, x.rank, &bits))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++)
		to[i] = (bits >> i & 1U) != 0 ? -1 : i;
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &x) : NULL;
}
