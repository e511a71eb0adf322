/* SPDX-License-Identifier: Apache-2.0 */
/* couple.c - which operands of an op must have the parameters of its result.
 *
 *   reshape, transpose, max_pool, slice …     the operand            (behaviour SAME)
 *   concat, minimum, maximum, where …         all data operands      (behaviour JOIN)
 *   relu, relu6, clip                         none: a clamp has a range of its own
 *   gather from a table of several scales     none: what is gathered gets one
 *   add, sub                                  both, by option */
#include "passes/solver.h"
#include "runtime/impls.h"

static bool
is_clamp(qn_op op)
{
	return op == QN_OP_relu || op == QN_OP_relu6 || op == QN_OP_clip || op == QN_OP_clamp;
}

static bool
is_note(qn_op op)
{
	return op == QN_OP_stats || op == QN_OP_stats_ref || op == QN_OP_coupled_ref;
}

static bool
has_scales(const qn_graph *g, const qn_node *x)
{
	return x->op == QN_OP_dequantize &&
	       qn_graph_node(g, x->in[0])->type->elem->gran != QN_PER_TENSOR;
}

bool
qn_couples(const qn_graph *g, const qn_node *n, uint32_t i, bool sums)
{
	const qn_type *x = qn_graph_node(g, n->in[i])->type;
	const qn_behaviour b = qn_opinfo_of(n)->behaviour;

	if (x->is_tuple || n->type->is_tuple || !qn_elem_is_float(x->elem) ||
	    !qn_elem_is_float(n->type->elem) || qn_impl_takes_indices(n->op, i))
		return false;
	if (n->op == QN_OP_gather && has_scales(g, qn_graph_node(g, n->in[0])))
		return false;
	if (is_note(n->op) || b == QN_JOIN)
		return true;
	if (b == QN_SAME)
		return i == 0 && !is_clamp(n->op);
	return sums && (n->op == QN_OP_add || n->op == QN_OP_sub);
}
