/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_sigmoid.c - sigmoid and softplus that a file writes out in exponentials become one op.
 *
 *   1 / (1 + exp(-x))              ->  sigmoid(x)      also (1 + tanh(x / 2)) / 2, exp(x) / (1 + exp(x))
 *   x / (1 + exp(-x))              ->  silu(x)
 *   log(1 + exp(x))                ->  softplus(x)
 *
 * Exponentials have so wide a range that, quantized, all results but those of its far end are one number: 1 / (1 + 0). */
#include "passes/fuse.h"

enum { ROOT, X, ONE, NUMERATOR, MINUS, HALF, HALVED };

/* What is in this slot, if the match has it, is the number. */
static bool
is_number(const qn_rw *rw, const qn_match *m, int slot, double want)
{
	return m->at[slot] == 0 || qn_fuse_is_number(rw, m->at[slot], want, 0);
}

static qn_id
by_exponential(qn_rw *rw, const qn_match *m, qn_op op)
{
	if (!is_number(rw, m, ONE, 1) || !is_number(rw, m, NUMERATOR, 1) ||
	    !is_number(rw, m, MINUS, -1))
		return qn_rw_decline(rw, "its constants are not 1");
	return qn_fuse_becomes(rw, m->root, m->at[X], op, NULL);
}

static qn_id
to_sigmoid(qn_rw *rw, const qn_match *m)
{
	return by_exponential(rw, m, QN_OP_sigmoid);
}

static qn_id
to_silu(qn_rw *rw, const qn_match *m)
{
	return by_exponential(rw, m, QN_OP_silu);
}

static qn_id
to_softplus(qn_rw *rw, const qn_match *m)
{
	return by_exponential(rw, m, QN_OP_softplus);
}

static qn_id
to_sigmoid_of_tanh(qn_rw *rw, const qn_match *m)
{
	if (!is_number(rw, m, ONE, 1) || !qn_fuse_scales_by(rw, m->root, m->at[NUMERATOR], 0.5) ||
	    !qn_fuse_scales_by(rw, m->at[HALVED], m->at[HALF], 0.5))
		return qn_rw_decline(rw, "its constants are not 1 and 1/2");
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_sigmoid, NULL);
}

static const qn_pat any_x = {.kind = QN_PAT_ANY, .slot = X};
static const qn_pat minus_x =
	EITHER(SOME(neg, QN_NO_SLOT, &any_x), SOME(mul, QN_NO_SLOT, &any_x, QN_P_CONST(MINUS)));
static const qn_pat rising = OF(exp, QN_NO_SLOT, &any_x);
static const qn_pat falling = OF(exp, QN_NO_SLOT, &minus_x);
static const qn_pat rising_plus_1 = OF(add, QN_NO_SLOT, &rising, QN_P_CONST(ONE));
static const qn_pat falling_plus_1 = OF(add, QN_NO_SLOT, &falling, QN_P_CONST(ONE));

static const qn_pat half_x = SCALED(HALVED, &any_x, HALF);
static const qn_pat tanh_plus_1 =
	OF(add, QN_NO_SLOT, SOME(tanh, QN_NO_SLOT, &half_x), QN_P_CONST(ONE));
static const qn_pat half_tanh_plus_1 = SCALED(ROOT, &tanh_plus_1, NUMERATOR);

static const qn_rule rules[] = {
	{"sigmoid", SOME(div, ROOT, QN_P_CONST(NUMERATOR), &falling_plus_1), to_sigmoid},
	{"sigmoid", SOME(reciprocal, ROOT, &falling_plus_1), to_sigmoid},
	{"sigmoid", SOME(div, ROOT, &rising, &rising_plus_1), to_sigmoid},
	{"sigmoid", &half_tanh_plus_1, to_sigmoid_of_tanh},
	{"silu", SOME(div, ROOT, &any_x, &falling_plus_1), to_silu},
	{"softplus", SOME(log, ROOT, &rising_plus_1), to_softplus},
};

qn_status
qn_fuse_sigmoids(qn_model *m, const qn_graph *g, qn_graph **out)
{
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}
