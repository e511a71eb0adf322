/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_moves.c - ops that move values with a scale for each channel move their integers, where the
 * channels stay together.
 *
 *   quantize {axis 2}(transpose(y))          ->  scast(transpose(scast(quantize {axis 1}(y))))
 *   quantize {axis 2}(reshape(y))            ->  the same, if the axis has the same position among the elements
 *   quantize {axis 1}(concat {axis 1}(y, z)) ->  scast(concat(scast(quantize(y)), scast(quantize(z))))    each with its channels
 *
 * Else the values are aligned to one scale before (requantize_aligned.c). */
#include "passes/requantize.h"

enum { MOST_MOVES = 64 }; /* on all paths from a value */

/* The root's type, and what its channels are of the operands. */
typedef struct channels_move {
	qn_rw *rw;
	const qn_type *type;
	const qn_elem *plain;
	const char *name;
	int32_t axis;
} channels_move;

static bool
is_listed(const qn_list *l, int32_t axis, int32_t rank)
{
	for (int32_t i = 0; i < l->n; i++)
		if ((l->v[i] < 0 ? l->v[i] + rank : l->v[i]) == axis)
			return true;
	return false;
}

/* The axis of operand x of the move n on which the channels of its result are, whole and in order; -1: none. */
static int32_t
axis_of_operand(const qn_node *n, const qn_type *x, int32_t axis)
{
	const qn_type *y = n->type;
	const int32_t same = axis - (y->rank - x->rank);
	const bool whole = same >= 0 && x->dim[same] == y->dim[axis];

	if (qn_op_keeps_bytes(n->op))
		return qn_type_same_axis(y, axis, x);
	switch ((int)n->op) {
	case QN_OP_transpose:
		return (int32_t)n->attr->perm.perm.v[axis];
	case QN_OP_slice: {
		const qn_list *step = &n->attr->slice.step;

		return whole && (step->n <= axis || step->v[axis] == 1) ? same : -1;
	}
	case QN_OP_reverse:
		return is_listed(&n->attr->axes.axes, axis, x->rank) ? -1 : same;
	case QN_OP_pad:
		return whole && n->attr->pad.mode != QN_PAD_constant ? same : -1;
	case QN_OP_resize_nearest:
		return axis == 3 ? 3 : -1;
	case QN_OP_tile:
	case QN_OP_expand:
	case QN_OP_where:
		return whole ? same : -1;
	default:
		return -1;
	}
}

const qn_elem *
qn_rqz_along_axis(qn_model *m, const qn_elem *e, int32_t axis, size_t count, const double *scale,
		  const int64_t *zp)
{
	const qn_elem *made = NULL;
	qn_elem d = *e;
	const qn_params *vec = NULL;

	if (qn_params_intern(&m->types, "channels", NULL, count, 1, NULL, scale, zp, &vec) != QN_OK)
		return NULL;
	d.scale = qn_scale_vec(&m->types, vec);
	d.axis = &axis;
	return qn_elem_make(&m->types, "channels", &d, &made) == QN_OK ? made : NULL;
}

/* The root's parameters from channel `first` on, along axis `axis` of a value with `count` of them. */
static const qn_elem *
part_of(const channels_move *c, int32_t axis, int64_t first, int64_t count)
{
	qn_model *m = qn_rw_model(c->rw);
	const qn_elem *e = c->type->elem;
	double *scale = QN_NEW(m->scratch, double, (size_t)count);
	int64_t *zp = QN_NEW(m->scratch, int64_t, (size_t)count);

	for (int64_t i = 0; i < count; i++)
		qn_elem_param(&m->types, e, (size_t)(first + i), &scale[i], &zp[i]);
	return qn_rqz_along_axis(m, e, axis, (size_t)count, scale, zp);
}

/* The integers of x, quantized to e. */
static qn_id
integers(const channels_move *c, qn_id x, const qn_elem *e)
{
	qn_types *t = &qn_rw_model(c->rw)->types;
	const qn_id q = e != NULL ? qn_rqz_quantize(c->rw, x, e, c->name) : 0;

	return q == 0 ? 0
		      : qn_rw_add(c->rw, QN_OP_scast, NULL, 1, &q, NULL,
				  qn_type_with_elem(t, qn_rw_node(c->rw, q)->type, c->plain));
}

static bool
is_near(const qn_rw *rw, qn_id id, int *budget)
{
	const qn_node *n = qn_rw_node(rw, id);

	if (n->nin == 0 || !qn_rqz_moves(qn_rw_graph(rw), n))
		return true;
	if (--*budget < 0)
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		if (!qn_rqz_is_index(n, i) && !is_near(rw, n->in[i], budget))
			return false;
	return true;
}

bool
qn_rqz_is_near(const qn_rw *rw, qn_id id)
{
	int budget = MOST_MOVES;

	return is_near(rw, id, &budget);
}

/* Fills `part` with the parameters of each operand; false: the channels do not stay together. */
static bool
parts(const channels_move *c, const qn_node *n, const qn_elem **part)
{
	int64_t first = 0;

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *x = qn_rw_node(c->rw, n->in[i])->type;
		int32_t axis = -1;

		if (qn_rqz_is_index(n, i) || x->is_tuple || !qn_elem_is_float(x->elem))
			continue;
		if (qn_type_count(x) < 0)
			return false;
		if (n->op == QN_OP_concat)
			axis = c->axis;
		else if (x->rank >= 1)
			axis = axis_of_operand(n, x, c->axis);
		if (axis < 0)
			return false;
		const bool joined = x->dim[axis] != c->type->dim[c->axis];
		part[i] = part_of(c, axis, joined ? first : 0, x->dim[axis]);
		first += x->dim[axis];
		if (part[i] == NULL)
			return false;
	}
	return true;
}

qn_id
qn_rqz_move_channels(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->at[OP]);
	qn_types *t = &qn_rw_model(rw)->types;
	channels_move c = {.rw = rw, .type = qn_rw_node(rw, m->root)->type};
	const uint32_t nin = n->nin;
	const qn_op op = n->op;
	const qn_attrs *attr = n->attr;
	qn_arena *scratch = qn_rw_model(rw)->scratch;
	const qn_elem **part = QN_NEW(scratch, const qn_elem *, nin);

	if (!qn_rqz_has_channels(c.type->elem) || qn_type_count(c.type) < 0 ||
	    (c.plain = qn_rqz_plain_elem(t, c.type->elem)) == NULL)
		return qn_rw_decline(rw, "one scale, or not integers of 8 or 16 bits");
	c.axis = c.type->elem->axis[0];
	c.name = qn_rw_name(rw, m->root);
	if (!qn_rqz_is_near(rw, m->at[OP]) || !qn_rqz_ends(rw, m->at[OP]) || !parts(&c, n, part))
		return qn_rw_decline(rw, "its channels do not stay together, or no quantized "
					 "values are at the other end of the chain");
	qn_id *in = qn_arena_copy(scratch, n->in, nin * sizeof *in);
	for (uint32_t i = 0; i < nin; i++)
		if (part[i] != NULL && (in[i] = integers(&c, in[i], part[i])) == 0)
			return 0;
	qn_id y = qn_rw_add(rw, op, NULL, nin, in, attr, NULL);
	return y == 0 ? 0
		      : qn_rw_add(rw, QN_OP_scast, qn_rw_name(rw, m->at[OP]), 1, &y, NULL, c.type);
}
