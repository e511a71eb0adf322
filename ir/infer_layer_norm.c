/* SPDX-License-Identifier: Apache-2.0 */
/* infer_layer_norm.c - types of layer_norm, rms_norm and instance_norm: that of the data.
 *
 *   layer_norm {axis=-1}    x [N,T,C], scale [C], bias [C]
 *   layer_norm {axis=1}     x [N,T,C], scale [T,C], bias [T,C]
 *   instance_norm           x [N,H,W,C], scale [C], bias [C] */
#include "ir/infer.h"

bool
qn_infer_epsilon(const qn_graph *g, const qn_node *n, double epsilon)
{
	/* Finite and >= 0. */
	return (epsilon >= 0 && epsilon - epsilon == 0) ||
	       qn_infer_error(g, n, "attr.value", "epsilon is %g, must be finite and not negative",
			      epsilon);
}

/* Input i has the dims of x from `axis` on. */
static bool
tail_ok(const qn_graph *g, const qn_node *n, uint32_t i, const qn_shape *x, int32_t axis)
{
	const qn_type *t = qn_infer_in(g, n, i);

	if (!qn_infer_rank(g, n, i, x->rank - axis))
		return false;
	for (int32_t k = 0; t->rank >= 0 && k < t->rank; k++)
		if (!qn_dim_fits(t->dim[k], x->dim[axis + k]))
			return qn_infer_error(g, n, "shape.channels",
					      "input %u ('%s') is %s, the data has %lld elements "
					      "along axis %d",
					      i, qn_graph_node(g, n->in[i])->name,
					      qn_infer_type_text(g, t), (long long)x->dim[axis + k],
					      (int)(axis + k));
	return true;
}

const qn_type *
qn_infer_layer_norm(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_layer_norm *a = &n->attr->layer_norm;
	const qn_elem *e = qn_infer_mix(g, n, declared);
	bool ok = qn_infer_epsilon(g, n, a->epsilon) && e != NULL;

	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 0)
		return qn_infer_result(g, n, e, &x);
	if (a->axis < -(int64_t)x.rank || a->axis >= x.rank) {
		(void)qn_infer_error(g, n, "attr.value",
				     "axis is %lld, the input has %d dimensions",
				     (long long)a->axis, (int)x.rank);
		return NULL;
	}
	int32_t axis = (int32_t)(a->axis < 0 ? a->axis + x.rank : a->axis);
	for (uint32_t i = 1; i < n->nin; i++)
		ok = tail_ok(g, n, i, &x, axis) && ok;
	return ok ? qn_infer_result(g, n, e, &x) : NULL;
}

const qn_type *
qn_infer_instance_norm(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_mix(g, n, declared);
	bool ok = qn_infer_epsilon(g, n, n->attr->instance_norm.epsilon) && e != NULL;

	if (!ok || !qn_infer_rank(g, n, 0, 4))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	for (uint32_t i = 1; i < n->nin; i++)
		ok = qn_infer_vector(g, n, i, x.rank == 4 ? x.dim[3] : QN_DYNAMIC) && ok;
	return ok ? qn_infer_result(g, n, e, &x) : NULL;
}

const qn_type *
qn_infer_rms_norm(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_layer_norm(g, n, declared);
}
