/* SPDX-License-Identifier: Apache-2.0 */
/* infer_trace.c - type of trace: that of its operand.
 *
 *   trace {key="after conv1"}   <i8:f32, 0.02:-3> [1,28,28,8] -> <i8:f32, 0.02:-3> [1,28,28,8] */
#include "ir/infer.h"

const qn_type *
qn_infer_trace(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const bool ok = qn_infer_key(g, n, n->attr->trace.key);

	(void)declared;
	if (qn_infer_operands(g, n) == QN_OPERANDS_BAD || !ok)
		return NULL;
	return qn_infer_in(g, n, 0);
}
