/* SPDX-License-Identifier: Apache-2.0 */
/* axes_attrs.c - op(transpose(x)) -> transpose(op'(x)) of ops with axes among their attributes.
 *
 *   T: p = [0,3,1,2], N,H,W,C -> N,C,H,W
 *   softmax(T(x)) {axis=1}            ->  T(softmax(x) {axis=3})                  axis p[1]
 *   pad(T(x)) {before=[0,0,1,2]}      ->  T(pad(x) {before=[0,1,2,0]})
 *   reduce_max(T(x)) {axes=[2,3]}     ->  reduce_max(x) {axes=[1,2]}              what stays is in order
 *
 * A sum of floats keeps the order of its terms: a reduction whose axes would change places
 * stays. */
#include "passes/axes.h"

/* Integer arithmetic exists along the last axis only: a transpose that makes another one the last
 * would be inserted again when the graph is legalized. */
qn_id
qn_ax_softmax(const qn_ax *s)
{
	qn_attrs a = {.axis = s->n->attr->axis};

	QN_AX_DIRECT(s);
	int32_t axis = qn_ax_from_front(a.axis.axis, s->p->n);
	a.axis.axis = s->p->v[axis];
	if (axis == s->p->n - 1 && a.axis.axis != axis)
		return qn_rw_decline(s->rw, "its axis would no longer be the last one");
	return qn_ax_below(s, &a, s->p);
}

static qn_list
permuted(const qn_list *l, const qn_list *p)
{
	qn_list to = {.n = l->n};

	for (int32_t k = 0; k < l->n; k++)
		to.v[p->v[k]] = l->v[k];
	return to;
}

/* Attributes with a number for each axis. */
qn_id
qn_ax_lists(const qn_ax *s)
{
	qn_attrs a;

	QN_AX_DIRECT(s);
	qn_attrs_of(s->n, &a);
	if (s->n->op == QN_OP_pad) {
		a.pad.before = permuted(&a.pad.before, s->p);
		a.pad.after = permuted(&a.pad.after, s->p);
	} else if (s->n->op == QN_OP_slice) {
		a.slice.begin = permuted(&a.slice.begin, s->p);
		a.slice.end = permuted(&a.slice.end, s->p);
		a.slice.step = permuted(&a.slice.step, s->p);
	} else {
		a.tile.repeats = permuted(&a.tile.repeats, s->p);
	}
	return qn_ax_below(s, &a, s->p);
}

qn_id
qn_ax_expand(const qn_ax *s)
{
	qn_attrs a = {.shape = s->n->attr->shape};

	QN_AX_DIRECT(s);
	if (a.shape.shape.n != s->p->n)
		return qn_rw_decline(s->rw, "the result has more dimensions");
	a.shape.shape = permuted(&a.shape.shape, s->p);
	return qn_ax_below(s, &a, s->p);
}

/* The permutation of the axes that an op leaves, of which it takes those in mask away. */
static qn_list
left_over(const qn_list *p, uint32_t mask)
{
	qn_list q = {0};
	uint32_t gone = 0;

	for (int32_t k = 0; k < p->n; k++)
		gone |= (mask >> k & 1) << p->v[k];
	for (int32_t k = 0; k < p->n; k++) {
		int64_t at = p->v[k];

		if ((mask >> k & 1) != 0)
			continue;
		q.v[q.n] = 0;
		for (int64_t i = 0; i < at; i++)
			q.v[q.n] += (gone >> i & 1) == 0;
		q.n++;
	}
	return q;
}

static uint32_t
mask_of(const qn_list *axes, int32_t rank)
{
	uint32_t mask = 0;

	for (int32_t i = 0; i < axes->n; i++)
		mask |= UINT32_C(1) << qn_ax_from_front(axes->v[i], rank);
	return mask;
}

/* The axes of x that stand for those of the mask, ascending; whether they come in the same
 * order. */
static bool
axes_of(const qn_list *p, uint32_t mask, qn_list *axes)
{
	qn_list back = qn_ax_inverse(p);
	int64_t last = -1;
	bool in_order = true;

	*axes = (qn_list){0};
	for (int32_t i = 0; i < p->n; i++) {
		if ((mask >> back.v[i] & 1) == 0)
			continue;
		axes->v[axes->n++] = i;
		in_order = in_order && back.v[i] > last;
		last = back.v[i];
	}
	return in_order;
}

qn_id
qn_ax_reduce(const qn_ax *s)
{
	qn_attrs a = {.reduce = s->n->attr->reduce};
	bool ordered = s->n->op != QN_OP_reduce_max && s->n->op != QN_OP_reduce_min;

	QN_AX_DIRECT(s);
	uint32_t mask = mask_of(&a.reduce.axes, s->p->n);
	if (mask == 0)
		mask = (UINT32_C(1) << s->p->n) - 1;
	qn_list q = a.reduce.keepdims != 0 ? *s->p : left_over(s->p, mask);
	if (!axes_of(s->p, mask, &a.reduce.axes) && ordered)
		return qn_rw_decline(s->rw, "its terms would be summed in another order");
	return qn_ax_below(s, &a, &q);
}

qn_id
qn_ax_argmax(const qn_ax *s)
{
	qn_attrs a = {.argmax = s->n->attr->argmax};

	QN_AX_DIRECT(s);
	int32_t axis = qn_ax_from_front(a.argmax.axis, s->p->n);
	qn_list q = a.argmax.keepdims != 0 ? *s->p : left_over(s->p, UINT32_C(1) << axis);
	a.argmax.axis = s->p->v[axis];
	return qn_ax_below(s, &a, &q);
}

qn_id
qn_ax_squeeze(const qn_ax *s)
{
	const qn_type *from = qn_rw_node(s->rw, s->t)->type;
	qn_attrs a = {.axes = s->n->attr->axes};

	QN_AX_DIRECT(s);
	uint32_t mask = mask_of(&a.axes.axes, s->p->n);
	for (int32_t k = 0; a.axes.axes.n == 0 && k < from->rank; k++)
		mask |= (uint32_t)(from->dim[k] == 1) << k;
	if (mask == 0)
		return s->t;
	qn_list q = left_over(s->p, mask);
	(void)axes_of(s->p, mask, &a.axes.axes);
	return qn_ax_below(s, &a, &q);
}

/* The new dims stand at the same places before the transpose. */
qn_id
qn_ax_expand_dims(const qn_ax *s)
{
	int64_t place[QN_MAX_RANK];
	qn_list q = {.n = s->n->type->rank};
	int32_t k = 0;

	QN_AX_DIRECT(s);
	uint32_t mask = mask_of(&s->n->attr->axes.axes, q.n);
	for (int32_t i = 0; i < q.n; i++)
		if ((mask >> i & 1) == 0)
			place[k++] = i;
	k = 0;
	for (int32_t i = 0; i < q.n; i++)
		q.v[i] = (mask >> i & 1) == 0 ? place[s->p->v[k++]] : i;
	return qn_ax_below(s, NULL, &q);
}

qn_id
qn_ax_gather(const qn_ax *s)
{
	qn_attrs a = {.gather = s->n->attr->gather};
	int32_t rank = qn_rw_node(s->rw, s->n->in[1])->type->rank;

	QN_AX_DIRECT(s);
	int32_t axis = qn_ax_from_front(a.gather.axis, s->p->n);
	if (s->operand != 0 || rank < 0 || rank > 1)
		return qn_rw_decline(s->rw, "the indices have their own axes");
	qn_list q = rank == 1 ? *s->p : left_over(s->p, UINT32_C(1) << axis);
	a.gather.axis = s->p->v[axis];
	return qn_ax_below(s, &a, &q);
}

/* get(split(T(x))) -> T(get(split(x))); parts share the split */
qn_id
qn_ax_part(const qn_ax *s)
{
	const qn_node *split = qn_rw_node(s->rw, s->t);
	qn_attrs a;

	if (split->op != QN_OP_split)
		return qn_rw_decline(s->rw, "it is not a result of a split");
	qn_attrs_of(split, &a);
	a.split.axis = s->p->v[qn_ax_from_front(a.split.axis, s->p->n)];
	qn_id y = qn_rw_add(s->rw, QN_OP_split, qn_rw_name(s->rw, s->t), 1, &s->x, &a, NULL);
	if (y == 0)
		return 0;
	y = qn_rw_add(s->rw, QN_OP_get, qn_rw_name(s->rw, s->root), 1, &y, s->n->attr, NULL);
	return y != 0 ? qn_ax_transpose(s->rw, qn_rw_name(s->rw, s->root), y, s->p) : 0;
}
