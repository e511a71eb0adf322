/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_l2_norm.c - l2_norm of values of 16 bits, which has no kernel, is an rms_norm of them; and what epsilon
 * bounds.
 *
 *   l2_norm(x [2,9])  ->  rms_norm(x, 1/3, 1/3, …) {axis=1, epsilon=0}         of another axis between transposes
 *
 * x / sqrt(sum of x^2) = x / sqrt(mean of x^2) / sqrt(n).  The kernels of neither have an epsilon.  A sum below it is one
 * of zeros alone, whose result is 0, if a step of x is at least sqrt(epsilon).  If not, each result is at most
 * z = x / sqrt(epsilon), of the same sign:
 *
 *   y = l2_norm(x)  ->  minimum(maximum(y, minimum(z, 0)), maximum(z, 0))
 *
 * since |x| / max(length, sqrt(epsilon)) is the smaller one of |x| / length and |x| / sqrt(epsilon).  Where each z is
 * less than half a step, y is clamped to 0. */
#include <math.h>
#include <string.h>

#include "passes/requantize.h"

/* n times 1 / sqrt(n), each the largest value of 16 bits. */
static qn_id
add_scale(qn_rw *rw, int64_t n, qn_plain expressed)
{
	qn_model *m = qn_rw_model(rw);
	qn_elem d = qn_elem_desc(16, true);
	const qn_elem *made = NULL;
	void *data;

	d.expressed = expressed;
	d.scale = qn_scale_const(&m->types, 1 / sqrt((double)n) / INT16_MAX);
	if (qn_elem_make(&m->types, "scale", &d, &made) != QN_OK)
		return 0;
	qn_tensor *to = qn_tensor_new(m->arena, qn_type_tensor(&m->types, made, 1, &n), &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_i64(data, made->plain, i, INT16_MAX);
	return qn_rw_const(rw, "l2_norm.scale", to);
}

/* x with this axis and the last one swapped; x itself if it is the last. */
static qn_id
swapped(qn_rw *rw, qn_id x, int32_t axis)
{
	const qn_type *t = qn_rw_node(rw, x)->type;
	const int32_t last = t->rank - 1;
	qn_attrs a = {0};

	if (axis == last)
		return x;
	a.perm.perm.n = t->rank;
	for (int32_t i = 0; i < t->rank; i++)
		a.perm.perm.v[i] = i == axis ? last : i == last ? axis : i;
	return qn_rw_add(rw, QN_OP_transpose, qn_rw_derived_name(rw, x, "last"), 1, &x, &a, NULL);
}

/* The type with dimensions i and k swapped. */
static const qn_type *
swapped_type(qn_types *t, const qn_type *type, int32_t i, int32_t k)
{
	int64_t dim[QN_MAX_RANK];

	memcpy(dim, type->dim, sizeof(dim[0]) * (size_t)type->rank);
	dim[i] = type->dim[k];
	dim[k] = type->dim[i];
	return qn_type_tensor(t, type->elem, type->rank, dim);
}

/* Whether all values of e over `least` round to 0 as values of `to`. */
static bool
vanishes(const qn_types *t, const qn_elem *e, double least, const qn_elem *to)
{
	double step, to_step;
	int64_t zp, to_zp;

	qn_elem_param(t, e, 0, &step, &zp);
	qn_elem_param(t, to, 0, &to_step, &to_zp);
	return fmax((double)(e->qmax - zp), (double)(zp - e->qmin)) * step / least < to_step / 2;
}

/* The integers of x, of one scale, as values 1 / least times as large, in the parameters of `type`.  place: for errors. */
static qn_id
magnified(qn_rw *rw, const char *place, qn_id x, double least, const qn_type *type)
{
	qn_types *t = &qn_rw_model(rw)->types;
	qn_elem d = *qn_rw_node(rw, x)->type->elem;
	const qn_elem *made = NULL;
	double step;
	int64_t zp;

	qn_elem_param(t, qn_rw_node(rw, x)->type->elem, 0, &step, &zp);
	if (!(qn_round_to(QN_PLAIN_f32, step / least) > 0))
		return qn_rw_decline(rw, "its operand over the root of its epsilon has no scale");
	d.scale = qn_scale_const(t, step / least);
	if (qn_elem_make(t, place, &d, &made) != QN_OK)
		return 0;
	const qn_id labelled = qn_rqz_relabel(rw, x, made);
	return labelled != 0 ? qn_rw_add(rw, QN_OP_requantize, qn_rw_derived_name(rw, x, "most"), 1,
					 &labelled, NULL, type)
			     : 0;
}

/* Whether epsilon bounds more than the length of zeros. */
static bool
is_bounded(const qn_rw *rw, qn_id id, qn_id x)
{
	double step;
	int64_t zp;

	qn_elem_param(&qn_rw_model(rw)->types, qn_rw_node(rw, x)->type->elem, 0, &step, &zp);
	return step * step < qn_rw_node(rw, id)->attr->l2_norm.epsilon;
}

const char *
qn_rqz_l2_norm_name(qn_rw *rw, qn_id id, qn_id x)
{
	return is_bounded(rw, id, x) ? qn_rw_derived_name(rw, id, "unbounded") : qn_rw_name(rw, id);
}

qn_id
qn_rqz_bounded_l2_norm(qn_rw *rw, qn_id id, qn_id x, qn_id y)
{
	const double epsilon = qn_rw_node(rw, id)->attr->l2_norm.epsilon;
	const qn_type *type = y != 0 ? qn_rw_node(rw, y)->type : NULL;
	qn_attrs above = {0}, below = {0};
	double step;
	int64_t zp;

	if (y == 0 || !is_bounded(rw, id, x))
		return y;
	qn_elem_param(&qn_rw_model(rw)->types, type->elem, 0, &step, &zp);
	qn_attrs_default(QN_ATTRS(clamp), &above);
	below = above;
	above.clamp.lo = zp;
	below.clamp.hi = zp;
	if (vanishes(&qn_rw_model(rw)->types, qn_rw_node(rw, x)->type->elem, sqrt(epsilon),
		     type->elem)) {
		above.clamp.hi = zp;
		return qn_rw_add(rw, QN_OP_clamp, qn_rw_name(rw, id), 1, &y, &above, type);
	}
	const qn_id z = magnified(rw, qn_node_place(qn_rw_graph(rw), qn_rw_node(rw, id)), x,
				  sqrt(epsilon), type);
	if (z == 0)
		return 0;
	const qn_id least = qn_rw_add(rw, QN_OP_clamp, NULL, 1, &z, &below, type);
	const qn_id most = qn_rw_add(rw, QN_OP_clamp, NULL, 1, &z, &above, type);
	y = qn_rw_add(rw, QN_OP_maximum, NULL, 2, (const qn_id[]){y, least}, NULL, type);
	return qn_rw_add(rw, QN_OP_minimum, qn_rw_name(rw, id), 2, (const qn_id[]){y, most}, NULL,
			 type);
}

qn_id
qn_rqz_wide_l2_norm(qn_rw *rw, qn_id id, qn_id x, const qn_type *type)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, id);
	const qn_type *xt = qn_rw_node(rw, x)->type;
	const int64_t at = n->attr->l2_norm.axis;
	const int32_t axis = (int32_t)(at < 0 ? at + xt->rank : at), last = xt->rank - 1;
	qn_attrs a = {0};

	if (qn_type_count(xt) < 1)
		return qn_rw_decline(rw, "its operand has no elements");
	a.layer_norm.axis = last;
	a.layer_norm.epsilon = 0;
	qn_id in[2] = {swapped(rw, x, axis), add_scale(rw, xt->dim[axis], type->elem->expressed)};
	if (in[0] == 0 || in[1] == 0)
		return 0;
	qn_id y = qn_rw_add(rw, QN_OP_rms_norm, qn_rqz_l2_norm_name(rw, id, x), 2, in, &a,
			    swapped_type(t, type, axis, last));
	return y != 0 ? swapped(rw, y, axis) : 0;
}
