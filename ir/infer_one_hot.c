/* SPDX-License-Identifier: Apache-2.0 */
/* infer_one_hot.c - type of one_hot: an axis of `depth` elements for each index, one of them on.
 *
 *   one_hot {depth=4}           indices [2,3], values [2]  ->  [2,3,4] of the values' element
 *   one_hot {depth=4, axis=0}                              ->  [4,2,3] */
#include "ir/infer.h"

const qn_type *
qn_infer_one_hot(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_one_hot *a = &n->attr->one_hot;
	const qn_elem *e = qn_infer_chosen(g, n, 1U << 1);
	qn_shape y = {0};
	int32_t axis = 0;

	(void)declared;
	if (e == NULL || !qn_infer_indexed(g, n, 0) || !qn_infer_vector(g, n, 1, 2) ||
	    !qn_infer_range(g, n, "depth", 1, &a->depth, 1))
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (!qn_infer_result_rank(g, n, x.rank + 1) ||
	    !qn_infer_axis(g, n, a->axis, x.rank + 1, &axis))
		return NULL;
	for (int32_t i = 0; i <= x.rank; i++)
		y.dim[y.rank++] = i == axis ? a->depth : x.dim[i - (i > axis)];
	return qn_infer_result(g, n, e, &y);
}
