/* SPDX-License-Identifier: Apache-2.0 */
/* infer_cumsum.c - type of cumsum: sums of all elements up to each one along an axis, in the shape
 * of the input.
 *
 *   cumsum {axis=0}   [1 2 3] -> [1 3 6]    exclusive [0 1 3]    reverse [6 5 3] */
#include "ir/infer.h"

const qn_type *
qn_infer_cumsum(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_cumsum *a = &n->attr->cumsum;
	const qn_elem *e = qn_infer_numbers(g, n, declared);
	bool ok = qn_infer_flag(g, n, "exclusive", a->exclusive) && e != NULL;
	int32_t axis = 0;

	ok = qn_infer_flag(g, n, "reverse", a->reverse) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank >= 0 && !qn_infer_axis(g, n, a->axis, x.rank, &axis))
		return NULL;
	return qn_infer_result(g, n, e, &x);
}
