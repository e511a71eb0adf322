/* SPDX-License-Identifier: Apache-2.0 */
/* legalize_slice.c - an op of two operands of which only a part is used is computed for that part alone.
 *
 *   slice(add(a, b))   ->   add(slice(a), slice(b))       each element depends on those of its place alone
 *
 * The gates of an LSTM are parts of one sum.  Each has parameters of its own, so that requantize has written the sum
 * once for each, and this leaves a quarter of each sum.  The values are the same. */
#include "passes/legalize.h"

/* Whether the op computes each element of a quantized result from the two elements of its place. */
static bool
is_by_element(const qn_graph *g, const qn_node *n)
{
	if (n->op != QN_OP_add && n->op != QN_OP_sub && n->op != QN_OP_mul)
		return false;
	for (uint32_t i = 0; i < 2; i++) {
		const qn_type *t = qn_graph_node(g, n->in[i])->type;

		if (t->is_tuple || !qn_elem_is_quant(t->elem) || t->elem->gran != QN_PER_TENSOR ||
		    !qn_type_same_shape(t, n->type))
			return false;
	}
	return qn_elem_is_quant(n->type->elem) && n->type->elem->gran == QN_PER_TENSOR;
}

qn_id
qn_legalize_slice(qn_rw *rw, const qn_match *m)
{
	const qn_node *slice = qn_rw_node(rw, m->root), *op = qn_rw_node(rw, slice->in[0]);
	const char *name = qn_rw_name(rw, slice->in[0]);
	const qn_type *type = slice->type;
	const qn_attrs *attr = slice->attr, *how = op->attr;
	const qn_op kind = op->op;
	qn_id in[2];

	if (!is_by_element(qn_rw_graph(rw), op) || qn_rw_uses(rw, slice->in[0]) != 1)
		return qn_rw_decline(rw, "its operand is not a sum or product for it alone");
	if (qn_type_count(type) < 0 || qn_type_count(type) >= qn_type_count(op->type))
		return qn_rw_decline(rw, "it leaves all elements");
	in[0] = op->in[0];
	in[1] = op->in[1];
	for (uint32_t i = 0; i < 2; i++) {
		in[i] = qn_rw_add(rw, QN_OP_slice, NULL, 1, &in[i], attr, NULL);
		if (in[i] == 0)
			return 0;
	}
	return qn_rw_add(rw, kind, name, 2, in, how, type);
}
