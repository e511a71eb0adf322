/* SPDX-License-Identifier: Apache-2.0 */
/* float_causes.c - what keeps a node in float whatever ranges its operands and its result have: the first nodes of
 * the list, of which the others follow.
 *
 *   scatter_elements 's' {reduction=add}      no integer arithmetic
 *   conv2d(x, dequantize(w)), w computed      kernels take constant weights */
#include "passes/float_left.h"
#include "passes/requantize.h"
#include "runtime/impls.h"

const qn_node *
qn_left_in_blocks(const qn_graph *g, const qn_node *n)
{
	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);

		while (x->nin == 1 && x->op != QN_OP_dequantize && qn_rqz_moves(g, x))
			x = qn_graph_node(g, x->in[0]);
		const qn_node *q = x->op == QN_OP_dequantize ? qn_graph_node(g, x->in[0]) : NULL;

		if (q != NULL && q->type->elem->gran == QN_SUB_CHANNEL)
			return q;
	}
	return NULL;
}

/* Whether weights follow from a constant alone. */
static bool
is_constant(const qn_graph *g, const qn_node *w)
{
	while (w->nin == 1)
		w = qn_graph_node(g, w->in[0]);
	return w->op == QN_OP_const;
}

/* Sums add what input channels give, which must have one scale: that of weights lies along the first axis, of output
 * channels. */
const char *
qn_left_weights(const qn_graph *g, const qn_node *n)
{
	int32_t axis = 0;

	if (n->op != QN_OP_conv1d && n->op != QN_OP_conv2d && n->op != QN_OP_conv3d &&
	    n->op != QN_OP_dense && n->op != QN_OP_conv2d_transpose)
		return NULL;
	const qn_node *w = qn_graph_node(g, n->in[1]);
	if (!is_constant(g, w))
		return "its weights are computed, and its integer arithmetic takes constant "
		       "weights, or computed ones that are quantized to i8 with zero point 0; "
		       "write it as a MatMul of the windows and the weights, or end the model "
		       "before it (--cut)";
	for (; w->op == QN_OP_transpose; w = qn_graph_node(g, w->in[0]))
		axis = (int32_t)w->attr->perm.perm.v[axis];
	if (w->op != QN_OP_dequantize)
		return NULL;
	const qn_elem *e = qn_graph_node(g, w->in[0])->type->elem;
	return e->gran != QN_PER_AXIS || e->axis[0] == axis
		       ? NULL
		       : "its weights have a scale for each input channel, or for each place of "
			 "the window, which sums of integers cannot have; quantize them with one "
			 "for each output channel, or recalibrate the model: --from-float --calib "
			 "SAMPLES";
}

bool
qn_left_is_cause(const qn_graph *g, const qn_node *n)
{
	return (n->facts != NULL && n->facts->note != NULL) || qn_rqz_joins_sums(n) ||
	       (qn_int_impl_get(n->op) == NULL && qn_opinfo_of(n)->behaviour == QN_NONE) ||
	       (!qn_rqz_moves(g, n) && qn_left_in_blocks(g, n) != NULL) ||
	       qn_left_weights(g, n) != NULL;
}
