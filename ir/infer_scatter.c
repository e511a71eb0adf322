/* SPDX-License-Identifier: Apache-2.0 */
/* infer_scatter.c - types of scatter_elements and scatter_nd: that of the data, some of whose
 * elements give way to those of the updates.
 *
 *   scatter_elements {axis=1}   x [4,5], indices [3,2], updates [3,2]    y[i, index[i,j]] = u[i,j]
 *   scatter_nd                  x [4,5,6], indices [3,2], updates [3,6]  y[index[i,0], index[i,1]] = u[i] */
#include "ir/infer.h"

/* The updates have this shape. */
static bool
updates_ok(const qn_graph *g, const qn_node *n, const qn_shape *want)
{
	qn_shape u = qn_shape_of(qn_infer_in(g, n, 2));
	bool ok = u.rank == want->rank;

	for (int32_t i = 0; ok && i < u.rank; i++)
		ok = qn_dim_fits(u.dim[i], want->dim[i]);
	return ok || qn_infer_error(g, n, "shape.index",
				    "the updates are %s, which does not match the indices %s",
				    qn_infer_type_text(g, qn_infer_in(g, n, 2)),
				    qn_infer_type_text(g, qn_infer_in(g, n, 1)));
}

const qn_type *
qn_infer_scatter_elements(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	int32_t axis = 0;

	(void)declared;
	if (!qn_infer_indexed(g, n, 1))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), index = qn_shape_of(qn_infer_in(g, n, 1));
	const qn_elem *e = qn_infer_chosen(g, n, 1U | 1U << 2);
	if (!qn_infer_beside(g, n, n->attr->scatter_elements.axis, &x, &index, &axis) ||
	    !updates_ok(g, n, &index) || e == NULL)
		return NULL;
	return qn_infer_result(g, n, e, &x);
}

const qn_type *
qn_infer_scatter_nd(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	int32_t length = 0;

	(void)declared;
	if (!qn_infer_indexed(g, n, 1))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0)), want = qn_shape_of(qn_infer_in(g, n, 1));
	const qn_elem *e = qn_infer_chosen(g, n, 1U | 1U << 2);
	if (!qn_infer_tuples(g, n, &x, &want, 0, &length) || e == NULL ||
	    !qn_infer_result_rank(g, n, want.rank - 1 + x.rank - length))
		return NULL;
	want.rank--;
	for (int32_t i = length; i < x.rank; i++)
		want.dim[want.rank++] = x.dim[i];
	return updates_ok(g, n, &want) ? qn_infer_result(g, n, e, &x) : NULL;
}
