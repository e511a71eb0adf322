/* SPDX-License-Identifier: Apache-2.0 */
/* infer_trilu.c - type of trilu, the upper or lower triangle of each matrix [...,M,N]: that of the
 * input. */
#include "ir/infer.h"

const qn_type *
qn_infer_trilu(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_elem *e = qn_infer_same(g, n);
	bool ok = qn_infer_flag(g, n, "upper", n->attr->trilu.upper) && e != NULL;

	(void)declared;
	if (!ok)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 2 && x.rank >= 0) {
		(void)qn_infer_error(g, n, "shape.rank", "%s has no matrices",
				     qn_infer_type_text(g, qn_infer_in(g, n, 0)));
		return NULL;
	}
	return qn_infer_result(g, n, e, &x);
}
