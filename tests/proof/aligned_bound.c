/* SPDX-License-Identifier: Apache-2.0 */
/* aligned_bound.c - what it costs to bring values with a scale for each channel to one scale of 16 bits.
 *
 *   step       at most 2^-14 (1 + 2^-7) of the largest value of any channel, for it is a power of two
 *   operand    off by a multiplier's rounding, 3/4 of a step
 *   result     the same, before a second rounding to the steps of its channel (docs/quantization.md) */
#include "tests/proof/real_graph.h"

#include <math.h>

#include "passes/requantize.h"

#define ROUNDING 0.75 /* of a step: a multiplier in mode double */

static double
reach_of(const qn_graph *g, const qn_elem *e)
{
	double reach = 0, s;
	int64_t z;

	for (size_t i = 0; i < qn_elem_nparams(e); i++) {
		qn_elem_param(&g->model->types, e, i, &s, &z);
		reach = fmax(reach, s * fmax((double)(e->qmax - z), (double)(z - e->qmin)));
	}
	return reach;
}

/* The rounding of one operand or of the result, as a real number; 0: it has one scale. */
static double
rounding(const qn_graph *g, const qn_elem *e)
{
	return qn_rqz_has_channels(e) ? ROUNDING * reach_of(g, e) * 0x1.02p-14 : 0;
}

static const qn_elem *
operand(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_node *x = i < n->nin ? qn_graph_node(g, n->in[i]) : NULL;

	return x != NULL && x->op == QN_OP_dequantize ? qn_graph_node(g, x->in[0])->type->elem
						      : NULL;
}

/* What errors a and b of the first two operands become. */
static double
spread(const qn_graph *g, const qn_node *n, double a, double b)
{
	const qn_elem *x = operand(g, n, 0), *y = operand(g, n, 1);
	const double ra = x != NULL ? reach_of(g, x) : 0, rb = y != NULL ? reach_of(g, y) : 0;

	if (qn_opinfo_of(n)->behaviour == QN_ACC)
		return (double)qn_type_count(qn_graph_node(g, n->in[1])->type) *
		       (a * rb + b * ra + a * b);
	if (n->op == QN_OP_mul)
		return a * rb + b * ra + a * b;
	return a + b;
}

double
aligned_error(const qn_graph *g, const qn_node *n, const qn_type *q)
{
	double e[2] = {0, 0};

	if (!qn_rqz_needs_one_scale(g, n, q))
		return 0;
	for (uint32_t i = 0; i < n->nin && i < 2; i++)
		if (operand(g, n, i) != NULL &&
		    (i == 0 || qn_opinfo_of(n)->behaviour != QN_ACC || n->op == QN_OP_matmul))
			e[i] = rounding(g, operand(g, n, i));
	return spread(g, n, e[0], e[1]) + rounding(g, q->elem);
}
