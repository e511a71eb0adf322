/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_classify.c - quantized values are finite numbers, whatever they stand for.
 *
 *   is_nan(dequantize(q)), is_inf(…)    ->  false
 *   where(false, x, y)                  ->  y, where it has the type of the result
 *
 * Attention as PyTorch exports it replaces the NaN of rows that a mask leaves empty so. */
#include "passes/requantize_gaps.h"

qn_id
qn_rqz_classify(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_id x = n->in[0];
	void *data;

	if (qn_rw_node(rw, x)->op != QN_OP_dequantize || qn_type_count(n->type) < 0)
		return qn_rw_decline(rw, "its values are not quantized, or how many is not known");
	/* A new tensor is of zeros. */
	const qn_tensor *none = qn_tensor_new(qn_rw_model(rw)->arena, n->type, &data);
	return qn_rw_const(rw, qn_rw_name(rw, m->root), none);
}

qn_id
qn_rqz_where_never(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	const qn_node *condition = qn_rw_node(rw, n->in[0]);
	if (condition->op != QN_OP_const || !is_all_zero(condition->value) ||
	    qn_rw_node(rw, n->in[2])->type != n->type)
		return qn_rw_decline(rw, "its condition is not false, or it repeats values");
	return n->in[2];
}
