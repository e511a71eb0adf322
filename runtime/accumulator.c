/* SPDX-License-Identifier: Apache-2.0 */
/* accumulator.c - bounds of the 32-bit sums of conv2d and dense.
 *
 *   |acc[o]| <= |bias[o]| + sum over k of |w[o, k]| * max |x - zx|
 *
 * This bounds each partial sum too, whatever the order.  With constant weights the figure is
 * exact for the largest inputs; otherwise |w| is the largest that the weights' type holds.  The
 * known rule of thumb K * 255 * 127 < 2^31, K <= 66311 terms, is its worst case. */
#include "runtime/accumulator.h"

#include "ir/diag.h"
#include "runtime/form_util.h"

static int64_t
magnitude(int64_t v)
{
	return v < 0 ? -v : v;
}

/* The largest |code - zero point| of a type with one scale. */
static int64_t
reach(const qn_graph *g, const qn_type *type)
{
	int64_t zp = qn_zp_of(g, type);
	int64_t above = type->elem->qmax - zp, below = zp - type->elem->qmin;

	return above > below ? above : below;
}

/* Weights: i8 storage, all zero points 0, one scale or one per output channel. */
static bool
check_weights(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_in_type(g, n, 1)->elem;

	if (!qn_elem_is_i8(&g->model->types, e)) {
		(void)qn_int_refuse(g, n, "only 8-bit signed weights");
		return false;
	}
	if (e->gran == QN_SUB_CHANNEL || (e->gran == QN_PER_AXIS && e->axis[0] != 0)) {
		(void)qn_int_refuse(g, n, "only weights with one scale or one per output channel");
		return false;
	}
	for (size_t i = 0; i < qn_elem_nparams(e); i++) {
		double scale = 0.0;
		int64_t zp = 0;

		qn_elem_param(&g->model->types, e, i, &scale, &zp);
		if (zp == 0)
			continue;
		(void)qn_int_refuse(g, n, "only symmetric weights, zero point %lld is not 0",
				    (long long)zp);
		return false;
	}
	return true;
}

static bool
check_operands(const qn_graph *g, const qn_node *n)
{
	const qn_types *t = &g->model->types;

	if (!qn_int_need_i8(g, n, qn_in_type(g, n, 0)) || !check_weights(g, n))
		return false;
	if (!qn_elem_is_i32(t, n->type->elem)) {
		(void)qn_int_refuse(g, n, "only 32-bit accumulators");
		return false;
	}
	if (n->nin < 3)
		return true;
	if (!qn_elem_is_i32(t, qn_in_type(g, n, 2)->elem)) {
		(void)qn_int_refuse(g, n, "only a 32-bit bias with zero point 0");
		return false;
	}
	if (g->node[n->in[2]].op != QN_OP_const) {
		(void)qn_int_refuse(g, n, "only a constant bias");
		return false;
	}
	return true;
}

/* sum of |w| of output channel o: exact from a constant, else the most the type allows. */
static int64_t
weight_sum(const qn_graph *g, const qn_node *n, int64_t o, int64_t terms)
{
	const qn_node *w = &g->node[n->in[1]];
	int64_t sum = 0;

	if (w->op != QN_OP_const)
		return terms * reach(g, w->type);
	for (int64_t k = 0; k < terms; k++)
		sum += magnitude(qn_tensor_i64(w->value, o * terms + k));
	return sum;
}

bool
qn_accumulator_check(const qn_graph *g, const qn_node *n)
{
	if (!check_operands(g, n))
		return false;
	const qn_type *wt = qn_in_type(g, n, 1);
	int64_t terms = qn_dim_product(wt, 1, wt->rank);
	int64_t far = reach(g, qn_in_type(g, n, 0));
	int64_t worst = 0;
	for (int64_t o = 0; o < wt->dim[0]; o++) {
		int64_t bias = 0;

		if (n->nin > 2)
			bias = magnitude(qn_tensor_i64(g->node[n->in[2]].value, o));
		int64_t bound = weight_sum(g, n, o, terms) * far + bias;
		worst = bound > worst ? bound : worst;
	}
	if (worst <= INT32_MAX)
		return true;
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "int.accumulator", qn_node_place(g, n),
			"%s, node '%s': a sum of %lld terms can reach %lld, beyond the 32-bit "
			"accumulator's 2147483647; split the layer or shrink weights and bias",
			qn_opinfo_get(n->op)->name, n->name, (long long)terms, (long long)worst);
	return false;
}
