/* SPDX-License-Identifier: Apache-2.0 */
/* accumulator.c - bounds of the sums of conv2d and dense, which are of 32 bits, or for i16 of 64, of
 * which the requantize takes 47.
 *
 *   |acc[o]| <= |bias[o]| + sum over k of |w[o, k]| * max |x - zx|
 *
 * This bounds each partial sum too, whatever the order.  With constant weights the figure is
 * exact for the largest inputs; otherwise |w| is the largest that the weights' type holds.  The
 * known rule of thumb K * 255 * 127 < 2^31, K <= 66311 terms, is its worst case. */
#include "runtime/accumulator.h"

#include "ir/diag.h"
#include "runtime/impl_util.h"

/* |v|, at most twice what an accumulator may reach. */
static int64_t
magnitude(int64_t v)
{
	const int64_t most = INT64_C(1) << 48;

	return v < -most || v > most ? most : v < 0 ? -v : v;
}

bool
qn_elem_is_weight(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->is_signed && (e->bits == 8 || e->bits == 4);
}

/* Weights: i8 or i4, all zero points 0, one scale or one per output channel. */
static bool
check_weights(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_in_type(g, n, 1)->elem;

	if (!qn_elem_is_weight(e)) {
		(void)qn_int_refuse(g, n, "only signed weights of 8 bits or 4");
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
	const qn_node *n = qn_graph_node(g, id);

	if (n->op == QN_OP_const)
		return n->value;
	if (n->op == QN_OP_quantize && qn_graph_node(g, n->in[0])->op == QN_OP_const)
		return qn_tensor_quantize(&g->model->types, a, qn_graph_node(g, n->in[0])->value,
					  n->type);
	return NULL;
}

static bool
check_operands(const qn_graph *g, const qn_node *n)
{
	const qn_types *t = &g->model->types;

	if (!qn_int_need_codes(g, n, qn_in_type(g, n, 0)) || !check_weights(g, n))
		return false;
	qn_family f = qn_node_family(g, n);
	int bits = f == QN_FAMILY_s16 ? 64 : 32;
	if (!qn_elem_is_acc(t, n->type->elem, f)) {
		(void)qn_int_refuse(g, n, "only %d-bit accumulators", bits);
		return false;
	}
	if (n->nin > 2 && !qn_elem_is_acc(t, qn_in_type(g, n, 2)->elem, f)) {
		(void)qn_int_refuse(g, n, "only a %d-bit bias with zero point 0", bits);
		return false;
	}
	return true;
}

/* sum of |w| of output channel o: exact where w is known, else the most the type allows. */
static int64_t
weight_sum(const qn_type *type, const qn_tensor *w, int64_t o, int64_t terms)
{
	int64_t sum = 0;

	if (w == NULL)
		return terms * (INT64_C(1) << (type->elem->bits - 1));
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
	int64_t far = qn_code_reach(g, qn_in_type(g, n, 0));
	int64_t worst = 0;
	if (n->nin > 2 && b == NULL) {
		(void)qn_int_refuse(g, n, "only a constant bias");
		return false;
	}
	for (int64_t o = 0; o < wt->dim[0]; o++) {
		int64_t bias = b != NULL ? magnitude(qn_tensor_i64(b, o)) : 0;
		int64_t bound = weight_sum(wt, w, o, terms) * far + bias;

		worst = bound > worst ? bound : worst;
	}
	return qn_accumulator_holds(g, n, terms, worst, "layer or shrink weights and bias");
}

bool
qn_accumulator_holds(const qn_graph *g, const qn_node *n, int64_t terms, int64_t worst,
		     const char *what)
{
	qn_family f = qn_node_family(g, n);

	if (worst <= qn_family_get(f)->limit)
		return true;
	(void)qn_report(g->model->env, QN_EUNSUPPORTED, "int.accumulator", qn_node_place(g, n),
			"%s, node '%s': a sum of %lld terms can reach %lld, above the %s-bit "
			"accumulator's %lld; split the %s",
			qn_opinfo_of(n)->name, n->name, (long long)terms, (long long)worst,
			f == QN_FAMILY_s16 ? "64" : "32", (long long)qn_family_get(f)->limit, what);
	return false;
}
