/* SPDX-License-Identifier: Apache-2.0 */
/* infer_classify.c - types of is_nan and is_inf.
 *
 *   is_nan  f32 [4]  ->  bool [4] */
#include "ir/infer.h"

const qn_type *
qn_infer_is_nan(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	(void)declared;
	if (qn_infer_real(g, n) == NULL)
		return NULL;
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	return qn_infer_result(g, n, qn_elem_plain(&g->model->types, QN_PLAIN_bool), &x);
}

const qn_type *
qn_infer_is_inf(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	bool ok = qn_infer_flag(g, n, "detect_negative", n->attr->is_inf.detect_negative);

	ok = qn_infer_flag(g, n, "detect_positive", n->attr->is_inf.detect_positive) && ok;
	return ok ? qn_infer_is_nan(g, n, declared) : NULL;
}
