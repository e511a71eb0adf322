/* SPDX-License-Identifier: Apache-2.0 */
/* axes_sink.c - op(transpose(x)) -> transpose(op'(x)), by op.
 *
 *   T: p = [0,3,1,2], N,H,W,C -> N,C,H,W
 *   concat(T(x), T(y)) {axis=1}       ->  T(concat(x, y) {axis=3})                axis p[1]
 *   add(T(x), const [C,1,1])          ->  T(add(x, const [1,1,1,C]))
 *   mul(T(x), gate [N,C,1,1])         ->  T(mul(x, reshape(gate)))                the other way round of a transpose of dims of 1 costs nothing
 */
#include "passes/axes.h"

qn_id
qn_ax_put(const qn_ax *s, qn_id y, const qn_list *p)
{
	return y != 0 ? qn_ax_transpose(s->rw, qn_rw_name(s->rw, s->t), y, p) : 0;
}

/* e with its axis k at p[k]; NULL: quantized in blocks. */
static const qn_elem *
elem_before(qn_types *t, const qn_elem *e, const qn_list *p)
{
	qn_elem moved = *e;
	const qn_elem *out = NULL;
	int32_t axis;

	if (!qn_elem_is_quant(e) || e->gran == QN_PER_TENSOR)
		return e;
	axis = (int32_t)p->v[e->axis[0]];
	moved.axis = &axis;
	return e->gran == QN_PER_AXIS && qn_elem_make(t, "", &moved, &out) == QN_OK ? out : NULL;
}

/* The type that transposed by p is `type`; NULL: it cannot be. */
static const qn_type *
type_before(qn_types *t, const qn_type *type, const qn_list *p)
{
	int64_t dim[QN_MAX_RANK];

	if (type->rank != p->n)
		return NULL;
	for (int32_t k = 0; k < p->n; k++)
		dim[p->v[k]] = type->dim[k];
	const qn_elem *e = elem_before(t, type->elem, p);
	return e != NULL ? qn_type_tensor(t, e, type->rank, dim) : NULL;
}

qn_id
qn_ax_op(const qn_ax *s, const qn_id *in, const qn_attrs *attr, const qn_list *p)
{
	const qn_type *type = type_before(&qn_rw_model(s->rw)->types, s->n->type, p);

	if (type == NULL)
		return qn_rw_decline(s->rw,
				     "the result's type cannot have its axes in another order");
	return qn_rw_add(s->rw, s->n->op, qn_rw_name(s->rw, s->root), s->n->nin, in,
			 attr != NULL ? attr : s->n->attr, type);
}

qn_id
qn_ax_below(const qn_ax *s, const qn_attrs *attr, const qn_list *p)
{
	qn_id *in = qn_arena_copy(qn_rw_model(s->rw)->scratch, s->n->in, s->n->nin * sizeof *in);

	in[s->operand] = s->x;
	return qn_ax_put(s, qn_ax_op(s, in, attr, p), p);
}

/* Also relu(reshape(T(x))) -> reshape(T(relu(x))). */
qn_id
qn_ax_unary(const qn_ax *s)
{
	const qn_type *t = s->n->type;

	if (!qn_ax_is_reshaped(s))
		return qn_ax_below(s, NULL, s->p);
	if (qn_rw_node(s->rw, s->t)->op == QN_OP_split || qn_type_count(t) < 0 ||
	    (qn_elem_is_quant(t->elem) && t->elem->gran != QN_PER_TENSOR))
		return qn_rw_decline(s->rw, "its elements cannot be grouped differently");
	const qn_type *type = qn_type_with_elem(&qn_rw_model(s->rw)->types,
						qn_rw_node(s->rw, s->x)->type, t->elem);
	qn_id y =
		qn_rw_add(s->rw, s->n->op, qn_rw_name(s->rw, s->root), 1, &s->x, s->n->attr, type);
	y = y != 0 ? qn_ax_transpose(s->rw, NULL, y, s->p) : 0;
	return y != 0 ? qn_ax_as(s->rw, qn_rw_name(s->rw, s->t), y, t->rank, t->dim) : 0;
}

/* One scale for the whole tensor, whatever the order of its elements is. */
qn_id
qn_ax_whole(const qn_ax *s)
{
	return s->n->attr->dynamic.rows == 0 ? qn_ax_unary(s)
					     : qn_rw_decline(s->rw, "its scales are those of rows");
}

/* ---- several operands ---- */

/* Operand i before the transpose; 0: it would need a transpose of its own. */
static qn_id
other(const qn_ax *s, uint32_t i)
{
	const qn_node *n = qn_rw_node(s->rw, s->n->in[i]);
	qn_list back = qn_ax_inverse(s->p);
	int64_t dim[QN_MAX_RANK];
	int32_t more = s->p->n - n->type->rank;

	if (n->op == QN_OP_transpose && more == 0 &&
	    qn_attrs_equal(QN_ATTRS(perm), n->attr, qn_rw_node(s->rw, s->t)->attr))
		return n->in[0];
	if (more < 0 || n->type->rank < 0 || qn_type_count(n->type) < 0)
		return 0;
	for (int32_t k = 0; k < s->p->n; k++)
		dim[k] = k < more ? 1 : n->type->dim[k - more];
	const qn_type wide = {.elem = n->type->elem, .rank = s->p->n, .dim = dim};
	bool per_axis = qn_elem_is_quant(wide.elem) && wide.elem->gran != QN_PER_TENSOR;
	if (qn_type_count(n->type) == 1)
		return s->n->in[i];
	if (!qn_ax_is_const(s->rw, s->n->in[i]) &&
	    (per_axis || !qn_ax_is_free(&wide, &back) ||
	     qn_ax_is_free(qn_rw_node(s->rw, s->x)->type, s->p)))
		return 0;
	if (per_axis && more > 0)
		return 0;
	const char *name = qn_rw_name(s->rw, s->n->in[i]);
	qn_id y = qn_ax_as(s->rw, name, s->n->in[i], s->p->n, dim);
	return y != 0 ? qn_ax_transpose(s->rw, name, y, &back) : 0;
}

/* All operands before the transpose; NULL: some cannot be. */
static qn_id *
others(const qn_ax *s)
{
	qn_id *in = QN_NEW(qn_rw_model(s->rw)->scratch, qn_id, s->n->nin);

	for (uint32_t i = 0; i < s->n->nin; i++) {
		in[i] = i == s->operand ? s->x : other(s, i);
		if (in[i] == 0) {
			(void)qn_rw_decline(s->rw, "another operand would need a transpose");
			return NULL;
		}
	}
	return in;
}

qn_id
qn_ax_broadcast(const qn_ax *s)
{
	qn_id *in;

	QN_AX_DIRECT(s);
	if (s->n->type->rank != s->p->n)
		return qn_rw_decline(s->rw, "the result has more dimensions");
	if ((in = others(s)) == NULL)
		return 0;
	return qn_ax_put(s, qn_ax_op(s, in, NULL, s->p), s->p);
}

qn_id
qn_ax_concat(const qn_ax *s)
{
	qn_attrs a = {.axis = s->n->attr->axis};
	qn_id *in;

	QN_AX_DIRECT(s);
	a.axis.axis = s->p->v[qn_ax_from_front(a.axis.axis, s->p->n)];
	if ((in = others(s)) == NULL)
		return 0;
	return qn_ax_put(s, qn_ax_op(s, in, &a, s->p), s->p);
}

/* Ops with vectors along the last axis, which must stay the last one. */
qn_id
qn_ax_last(const qn_ax *s)
{
	QN_AX_DIRECT(s);
	if (s->operand != 0 || s->p->n == 0 || s->p->v[s->p->n - 1] != s->p->n - 1)
		return qn_rw_decline(s->rw, "the channels would not be last");
	return qn_ax_below(s, NULL, s->p);
}

qn_id
qn_ax_layer_norm(const qn_ax *s)
{
	QN_AX_DIRECT(s);
	for (int32_t k = qn_ax_from_front(s->n->attr->layer_norm.axis, s->p->n); k < s->p->n; k++)
		if (s->operand != 0 || s->p->v[k] != k)
			return qn_rw_decline(s->rw, "the axes of the mean would change");
	return qn_ax_below(s, NULL, s->p);
}
