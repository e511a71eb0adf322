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

/* The largest |code - zero point| of a type with one scale: of any byte, also where the type holds
 * fewer codes, as nothing keeps a caller from passing others. */
static int64_t
reach(const qn_graph *g, const qn_type *type)
{
	int64_t zp = qn_zp_of(g, type);
	int64_t above = INT8_MAX - zp, below = zp - INT8_MIN;

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

/* The codes of a constant, or of a constant that is quantized; else NULL. */
static const qn_tensor *
known_codes(const qn_graph *g, qn_id id, qn_arena *a)
{
	const qn_node *n = &g->node[id];

	if (n->op == QN_OP_const)
		return n->value;
	if (n->op == QN_OP_quantize && g->node[n->in[0]].op == QN_OP_const)
		return qn_tensor_quantize(&g->model->types, a, g->node[n->in[0]].value, n->type);
	return NULL;
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
	if (n->nin > 2 && !qn_elem_is_i32(t, qn_in_type(g, n, 2)->elem)) {
		(void)qn_int_refuse(g, n, "only a 32-bit bias with zero point 0");
		return false;
	}
	return true;
}

/* sum of |w| of output channel o: exact where w is known, else the most the type allows. */
static int64_t
weight_sum(const qn_graph *g, const qn_type *type, const qn_tensor *w, int64_t o, int64_t terms)
{
	int64_t sum = 0;

	if (w == NULL)
		return terms * reach(g, type);
	for (int64_t k = 0; k < terms; k++)
		sum += magnitude(qn_tensor_i64(w, o * terms + k));
	return sum;
}

bool
qn_accumulator_check(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (!check_operands(g, n))
		return false;
	const qn_type *wt = qn_in_type(g, n, 1);
	const qn_tensor *w = known_codes(g, n->in[1], a);
	const qn_tensor *b = n->nin > 2 ? known_codes(g, n->in[2], a) : NULL;
	int64_t terms = qn_dim_product(wt, 1, wt->rank);
	int64_t far = reach(g, qn_in_type(g, n, 0));
	int64_t worst = 0;
	if (n->nin > 2 && b == NULL) {
		(void)qn_int_refuse(g, n, "only a constant bias");
		return false;
	}
	for (int64_t o = 0; o < wt->dim[0]; o++) {
		int64_t bias = b != NULL ? magnitude(qn_tensor_i64(b, o)) : 0;
		int64_t bound = weight_sum(g, wt, w, o, terms) * far + bias;

		worst = bound > worst ? bound : worst;
	}
	if (worst <= INT32_MAX)
		return true;
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "int.accumulator", qn_node_place(g, n),
			"%s, node '%s': a sum of %lld terms can reach %lld, beyond the 32-bit "
			"accumulator's 2147483647; split the layer or shrink weights and bias",
			qn_opinfo_of(n)->name, n->name, (long long)terms, (long long)worst);
	return false;
}
