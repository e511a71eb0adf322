/* SPDX-License-Identifier: Apache-2.0 */
/* infer_softmax.c - types of softmax and log_softmax along an axis; -1 is the last one. */
#include "ir/infer.h"

const qn_type *
qn_infer_softmax(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_mix(g, n, declared);
	int64_t axis = n->attr->axis.axis;

	if (e == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank >= 0 && (axis < -(int64_t)x.rank || axis >= x.rank)) {
		(void)qn_infer_error(g, n, "attr.value",
				     "axis is %lld, the input has %d dimensions", (long long)axis,
				     (int)x.rank);
		return NULL;
	}
	return qn_infer_result(g, n, e, &x);
}

const qn_type *
qn_infer_log_softmax(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	return qn_infer_softmax(g, n, declared);
}
