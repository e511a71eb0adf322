/* SPDX-License-Identifier: Apache-2.0 */
/* macs.c - see macs.h. */
#include "ir/macs.h"

/* matmul: each result sums K terms.  conv2d_transpose: each input meets one slice of the weights
 * for each output channel of its group (what falls into cut-off edges is counted). */
static uint64_t
product_macs(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_graph_node(g, n->in[0])->type, *w = qn_graph_node(g, n->in[1])->type;
	int64_t in = qn_type_count(x), out = qn_type_count(n->type), weights = qn_type_count(w);

	if (in < 0 || out < 0 || weights < 0)
		return 0;
	if (n->op == QN_OP_matmul)
		return (uint64_t)out *
		       (uint64_t)x->dim[x->rank - (n->attr->matmul.transpose_a != 0 ? 2 : 1)];
	if (w->dim[3] == 0)
		return 0;
	return (uint64_t)in * (uint64_t)(weights / w->dim[3] / n->attr->conv2d_transpose.groups);
}

uint64_t
qn_node_macs(const qn_graph *g, const qn_node *n)
{
	if (qn_opinfo_of(n)->behaviour != QN_ACC)
		return 0;
	if (n->op == QN_OP_matmul || n->op == QN_OP_conv2d_transpose)
		return product_macs(g, n);
	const qn_type *w = qn_graph_node(g, n->in[1])->type;
	int64_t out = qn_type_count(n->type);
	int64_t weights = qn_type_count(w);

	if (out < 0 || weights < 0 || w->rank < 1 || w->dim[0] == 0)
		return 0;
	return (uint64_t)out *
	       (uint64_t)(weights / w->dim[0]); /* each output sums one slice of the weights */
}
