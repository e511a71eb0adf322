/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_activation.c - activation functions that a file writes out in smaller ops become one op.
 *
 *   %s = sigmoid %x
 *   %y = mul %x, %s                    ->  %y = silu %x
 *   x * hard_sigmoid(x) {1/6, 1/2}     ->  hard_swish(x)       also x * relu6(x + 3) / 6
 *   x * tanh(softplus(x))              ->  mish(x)
 *   x / 2 * (1 + erf(x / sqrt(2)))     ->  gelu(x)             also the form with tanh
 *
 * Quantized, each of the smaller ops would round once more, and each value between them would have a range of its
 * own. */
#include <math.h>

#include "passes/fuse.h"

enum { ROOT, X, INNER, ARGUMENT, CUBE, FACTOR, HALF, ONE, CUBIC };

static qn_id
to_silu(qn_rw *rw, const qn_match *m)
{
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_silu, NULL);
}

static qn_id
to_mish(qn_rw *rw, const qn_match *m)
{
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_mish, NULL);
}

/* x * hard_sigmoid(x) */
static qn_id
to_hard_swish(qn_rw *rw, const qn_match *m)
{
	const qn_attrs_hard_sigmoid *a = &qn_rw_node(rw, m->at[INNER])->attr->hard_sigmoid;

	if (fabs(a->alpha - 1.0 / 6) > 1e-4 || a->beta != 0.5)
		return qn_rw_decline(rw, "its hard_sigmoid has another slope");
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_hard_swish, NULL);
}

/* x * relu6(x + 3) / 6 */
static qn_id
to_hard_swish_of_relu6(qn_rw *rw, const qn_match *m)
{
	const qn_node *inner = qn_rw_node(rw, m->at[INNER]);

	if (inner->op == QN_OP_clip && (inner->attr->clip.min != 0 || inner->attr->clip.max != 6))
		return qn_rw_decline(rw, "it is not limited to 0..6");
	if (!qn_fuse_is_about(rw, m->at[ONE], 3) ||
	    !qn_fuse_scales_by(rw, m->at[CUBE], m->at[FACTOR], 1.0 / 6))
		return qn_rw_decline(rw, "its constants are not 3 and 1/6");
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_hard_swish, NULL);
}

static qn_id
to_gelu(qn_rw *rw, const qn_match *m)
{
	const qn_attrs a = {.gelu = {QN_APPROXIMATE_none}};

	if (!qn_fuse_scales_by(rw, m->at[ARGUMENT], m->at[FACTOR], sqrt(0.5)) ||
	    !qn_fuse_is_about(rw, m->at[ONE], 1) ||
	    !qn_fuse_scales_by(rw, m->at[INNER], m->at[HALF], 0.5))
		return qn_rw_decline(rw, "its constants are not those of gelu");
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_gelu, &a);
}

static qn_id
to_gelu_of_tanh(qn_rw *rw, const qn_match *m)
{
	const qn_attrs a = {.gelu = {QN_APPROXIMATE_tanh}};
	const qn_node *cube = qn_rw_node(rw, m->at[CUBE]);

	if (cube->op == QN_OP_pow && !qn_fuse_is_about(rw, cube->in[1], 3))
		return qn_rw_decline(rw, "its power is not the third");
	if (!qn_fuse_scales_by(rw, m->at[ARGUMENT], m->at[FACTOR],
			       sqrt(2 / 3.14159265358979323846)) ||
	    !qn_fuse_is_about(rw, m->at[CUBIC], 0.044715) || !qn_fuse_is_about(rw, m->at[ONE], 1) ||
	    !qn_fuse_scales_by(rw, m->at[INNER], m->at[HALF], 0.5))
		return qn_rw_decline(rw, "its constants are not those of gelu");
	return qn_fuse_becomes(rw, m->root, m->at[X], QN_OP_gelu, &a);
}

static const qn_pat any_x = {.kind = QN_PAT_ANY, .slot = X};

/* relu6(x + 3), and that over 6 */
static const qn_pat x_plus_3 = OF(add, QN_NO_SLOT, &any_x, QN_P_CONST(ONE));
static const qn_pat up_to_6 = EITHER(SOME(relu6, INNER, &x_plus_3), SOME(clip, INNER, &x_plus_3));
static const qn_pat gate_of_relu6 = SCALED(CUBE, &up_to_6, FACTOR);
static const qn_pat x_up_to_6 = OF(mul, QN_NO_SLOT, &any_x, &up_to_6);

/* 1 + erf(x / sqrt(2)) */
static const qn_pat erf_argument = SCALED(ARGUMENT, &any_x, FACTOR);
static const qn_pat erf_gate =
	OF(add, QN_NO_SLOT, SOME(erf, QN_NO_SLOT, &erf_argument), QN_P_CONST(ONE));

/* 1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) */
static const qn_pat x_squared =
	EITHER(SOME(mul, QN_NO_SLOT, &any_x, &any_x), SOME(square, QN_NO_SLOT, &any_x));
static const qn_pat x_cubed =
	EITHER(SOME(pow, CUBE, &any_x, QN_P_ANY(QN_NO_SLOT)), SOME(mul, CUBE, &x_squared, &any_x));
static const qn_pat with_cube =
	OF(add, QN_NO_SLOT, &any_x, SOME(mul, QN_NO_SLOT, &x_cubed, QN_P_CONST(CUBIC)));
static const qn_pat tanh_argument = SCALED(ARGUMENT, &with_cube, FACTOR);
static const qn_pat tanh_gate =
	OF(add, QN_NO_SLOT, SOME(tanh, QN_NO_SLOT, &tanh_argument), QN_P_CONST(ONE));

/* x * gate / 2, with the factor at any of its places */
static const qn_pat half_x = SCALED(INNER, &any_x, HALF);
#define HALVED(gate)                                                                               \
	static const qn_pat gate##_of_x = OF(mul, QN_NO_SLOT, &any_x, &gate);                      \
	static const qn_pat half_##gate = SCALED(INNER, &gate, HALF);                              \
	static const qn_pat half_##gate##_of_x = SCALED(INNER, &gate##_of_x, HALF);                \
	static const qn_pat gelu_by_##gate =                                                       \
		EITHER(&half_##gate##_of_x, SOME(mul, QN_NO_SLOT, &half_x, &gate),                 \
		       SOME(mul, QN_NO_SLOT, &any_x, &half_##gate))
HALVED(erf_gate);
HALVED(tanh_gate);

#define BY_X(gate) SOME(mul, ROOT, &any_x, gate)
static const qn_pat softplus_of_x = OF(softplus, QN_NO_SLOT, &any_x);
static const qn_pat x_over_6 = SCALED(CUBE, &x_up_to_6, FACTOR);

static const qn_rule rules[] = {
	{"silu", BY_X(SOME(sigmoid, QN_NO_SLOT, &any_x)), to_silu},
	{"mish", BY_X(SOME(tanh, QN_NO_SLOT, &softplus_of_x)), to_mish},
	{"hard-swish", BY_X(SOME(hard_sigmoid, INNER, &any_x)), to_hard_swish},
	{"hard-swish", BY_X(&gate_of_relu6), to_hard_swish_of_relu6},
	{"hard-swish", &x_over_6, to_hard_swish_of_relu6},
	{"gelu", &gelu_by_erf_gate, to_gelu},
	{"gelu-tanh", &gelu_by_tanh_gate, to_gelu_of_tanh},
};

qn_status
qn_fuse_activations(qn_model *m, const qn_graph *g, qn_graph **out)
{
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}
