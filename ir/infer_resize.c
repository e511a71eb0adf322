/* SPDX-License-Identifier: Apache-2.0 */
/* infer_resize.c - types of resize_nearest and resize_bilinear.
 *
 *   resize_nearest {size=[4,6]}   [1,2,3,8] -> [1,4,6,8] */
#include "ir/infer.h"

const qn_type *
qn_infer_resize_nearest(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	static const int32_t to[QN_MAX_RANK] = {0, -1, -1, 3, -1, -1, -1, -1};
	const int64_t *size = n->attr->resize.size;
	const qn_elem *e = qn_infer_same(g, n);
	bool ok = e != NULL && qn_infer_rank(g, n, 0, 4);

	(void)declared;
	ok = qn_infer_range(g, n, "size", 2, size, 1) && ok;
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 0)
		x = (qn_shape){4, {QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC, QN_DYNAMIC}};
	if (x.dim[1] == 0 || x.dim[2] == 0) {
		(void)qn_infer_error(g, n, "shape.resize", "an image without pixels");
		return NULL;
	}
	x.dim[1] = size[0];
	x.dim[2] = size[1];
	e = qn_infer_mapped_axis(g, n, e, to);
	return e != NULL ? qn_infer_result(g, n, e, &x) : NULL;
}

const qn_type *
qn_infer_resize_bilinear(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_resize_nearest(g, n, declared);
}
