/* SPDX-License-Identifier: Apache-2.0 */
/* channels.c - see channels.h. */
#include "runtime/channels.h"

bool
qn_by_channel(const qn_graph *g, const qn_node *n)
{
	bool any = !n->type->is_tuple && n->type->elem->gran != QN_PER_TENSOR;

	for (uint32_t i = 0; i < n->nin; i++)
		any = any || qn_in_type(g, n, i)->elem->gran != QN_PER_TENSOR;
	return any;
}

int32_t
qn_channel_from_end(const qn_type *type)
{
	const qn_elem *e = type->elem;

	return e->gran == QN_PER_AXIS && qn_elem_nparams(e) > 1 ? type->rank - e->axis[0] : 0;
}

static bool
same_axis(const qn_graph *g, const qn_node *n, const qn_type *type, int32_t *from_end)
{
	const int32_t k = qn_channel_from_end(type);

	if (k != 0 && *from_end != 0 && k != *from_end) {
		(void)qn_int_refuse(
			g, n,
			"scales along axis %d and along axis %d of the result, only along one axis",
			(int)(n->type->rank - *from_end), (int)(n->type->rank - k));
		return false;
	}
	*from_end = k != 0 ? k : *from_end;
	return true;
}

bool
qn_channels_get(const qn_graph *g, const qn_node *n, qn_channels *c)
{
	int32_t from_end = 0;

	for (uint32_t i = 0; i < n->nin; i++)
		if (!qn_int_need_channels(g, n, qn_in_type(g, n, i)) ||
		    !same_axis(g, n, qn_in_type(g, n, i), &from_end))
			return false;
	if (!qn_int_need_channels(g, n, n->type) || !same_axis(g, n, n->type, &from_end))
		return false;
	const int32_t axis = n->type->rank - from_end;
	c->count = from_end != 0 ? (int32_t)n->type->dim[axis] : 1;
	c->inner = from_end != 0 ? (int32_t)qn_dim_product(n->type, axis + 1, n->type->rank)
				 : (int32_t)qn_static_count(n->type);
	return true;
}

void
qn_channel_param(const qn_graph *g, const qn_type *type, int32_t i, double *scale, int32_t *zp)
{
	const bool one = qn_elem_nparams(type->elem) == 1;
	int64_t z = 0;

	qn_elem_param(&g->model->types, type->elem, one ? 0 : (size_t)i, scale, &z);
	*zp = (int32_t)z;
}

static bool
differ(const qn_types *t, const qn_elem *e)
{
	const size_t count = qn_elem_nparams(e);
	double scale;
	int64_t first = 0, zp;

	if (e->kind != QN_ELEM_UNIFORM)
		return false;
	qn_elem_param(t, e, 0, &scale, &first);
	zp = first;
	for (size_t i = 1; i < count && zp == first; i++)
		qn_elem_param(t, e, i, &scale, &zp);
	return zp != first;
}

bool
qn_zero_points_differ(const qn_graph *g, const qn_node *n)
{
	return differ(&g->model->types, qn_in_type(g, n, 0)->elem) ||
	       differ(&g->model->types, n->type->elem);
}
