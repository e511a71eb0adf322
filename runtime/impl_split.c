/* SPDX-License-Identifier: Apache-2.0 */
/* impl_split.c - depth_to_space, space_to_depth, split: results that are views of the input
 * (view.h), of which a dim was split.
 *
 *   depth_to_space, b = block, C = channels of the result
 *     dcr   y[h * b + i][w * b + j][c] = x[h][w][(i * b + j) * C + c]      (TFLite, ONNX)
 *     crd   y[h * b + i][w * b + j][c] = x[h][w][(c * b + i) * b + j]      (ONNX)
 *   space_to_depth is the inverse of dcr. */
#include "runtime/view.h"

static void
depth_to_space_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const int64_t *x = qn_in_type(g, n, 0)->dim;
	int64_t b = n->attr->depth_to_space.block, c = n->type->dim[3];
	bool crd = n->attr->depth_to_space.mode == QN_DEPTH_crd;

	(void)part;
	qn_view_add(v, x[0] * x[1], x[2] * x[3]); /* images and rows lie one after the other */
	qn_view_add(v, b, crd ? b : b * c);
	qn_view_add(v, x[2], x[3]);
	qn_view_add(v, b, crd ? 1 : c);
	qn_view_add(v, c, crd ? b * b : 1);
}

static void
space_to_depth_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const int64_t *x = qn_in_type(g, n, 0)->dim;
	int64_t b = n->attr->space_to_depth.block;

	(void)part;
	qn_view_add(v, x[0] * x[1] / b, b * x[2] * x[3]);
	qn_view_add(v, x[2] / b, b * x[3]);
	qn_view_add(v, b, x[2] * x[3]);
	qn_view_add(v, b * x[3], 1);
}

static void
split_view(const qn_graph *g, const qn_node *n, uint32_t part, qn_view *v)
{
	const qn_attrs_split *a = &n->attr->split;
	const qn_type *in = qn_in_type(g, n, 0);
	int32_t axis = qn_axis_of(in, a->axis);
	int64_t inner = qn_dim_product(in, axis + 1, in->rank);

	for (uint32_t k = 0; k < part; k++)
		v->start += a->sizes.v[k] * inner;
	qn_view_add(v, qn_dim_product(in, 0, axis), in->dim[axis] * inner);
	qn_view_add(v, a->sizes.v[part] * inner, 1);
}

QN_VIEW_IMPL(depth_to_space)
QN_VIEW_IMPL(space_to_depth)
QN_VIEW_IMPL(split)
