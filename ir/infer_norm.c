/* SPDX-License-Identifier: Apache-2.0 */
/* infer_norm.c - type of batch_norm: x [...,C], gamma, beta, mean, variance [C]  ->  x's type. */
#include "ir/infer.h"

const qn_type *
qn_infer_batch_norm(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	qn_operands kind = qn_infer_operands(g, n);
	double epsilon = n->attr->batch_norm.epsilon;
	bool ok = kind == QN_OPERANDS_FLOAT;

	(void)declared;
	if (kind == QN_OPERANDS_CODES)
		(void)qn_infer_refuse(g, n, "unsupported.quantized",
				      "batch_norm has no integer implementation; dequantize its "
				      "inputs or fold it into the node before it");
	/* Not a finite number >= 0. */
	if (!(epsilon >= 0 && epsilon - epsilon == 0))
		ok = qn_infer_error(g, n, "attr.value",
				    "epsilon is %g, must be finite and not negative", epsilon);
	if (!ok)
		return NULL;
	const qn_elem *e = qn_infer_float(g, n);
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank == 0)
		ok = qn_infer_error(g, n, "shape.rank", "the data is a scalar and has no channels");
	int64_t channels = x.rank > 0 ? x.dim[x.rank - 1] : QN_DYNAMIC;
	for (uint32_t i = 1; x.rank != 0 && i < n->nin; i++)
		ok = qn_infer_vector(g, n, i, channels) && ok;
	return ok && e != NULL ? qn_infer_result(g, n, e, &x) : NULL;
}
