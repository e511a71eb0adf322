/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_prelu.c - parametric relus that a file writes out in smaller ops become one op.
 *
 *   relu(x) + a * -relu(-x)       ->  prelu(x, a)      as Keras and MTCNN have it
 *   relu(x) + a * relu(-x)        ->  prelu(x, -a)
 *   relu(x) - a * relu(-x)        ->  prelu(x, a)
 *   relu(x) + a * (x - |x|)       ->  prelu(x, 2 a)    as MobileFaceNet has it
 *
 * Of x both halves would be quantized by themselves: a convolution whose result has two readers gives accumulators,
 * and has no kernel that is made for a processor. */
#include "passes/fuse.h"

enum { ROOT, X, SLOPE };

/* The constant times a power of two, as a vector along the channels of x; 0: it is none. */
static qn_id
slopes(qn_rw *rw, const qn_match *m, double times)
{
	qn_model *model = qn_rw_model(rw);
	const qn_node *a = qn_rw_node(rw, m->at[SLOPE]);
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;
	const int64_t channels = x->rank > 0 ? x->dim[x->rank - 1] : 0;
	const int64_t n = qn_type_count(a->type);
	void *data;

	if (!qn_type_is_f32(a->type) || channels < 1 || (n != 1 && n != channels) ||
	    (n > 1 && a->type->dim[a->type->rank - 1] != channels) || a->type->rank > x->rank)
		return 0;
	qn_tensor *v = qn_tensor_new(
		model->arena, qn_type_plain(&model->types, QN_PLAIN_f32, 1, &channels), &data);
	for (int64_t i = 0; i < channels; i++)
		((float *)data)[i] = (float)(times * qn_tensor_f64(a->value, n == 1 ? 0 : i));
	return qn_rw_const(rw, qn_rw_name(rw, m->at[SLOPE]), v);
}

static qn_id
to_prelu(qn_rw *rw, const qn_match *m, double times)
{
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;

	if (x != qn_rw_node(rw, m->root)->type || !qn_type_is_f32(x))
		return qn_rw_decline(rw, "it is not f32 of the operand's shape");
	const qn_id in[2] = {m->at[X], slopes(rw, m, times)};
	if (in[1] == 0)
		return qn_rw_decline(rw, "its slopes are not one for each channel");
	return qn_rw_add(rw, QN_OP_prelu, qn_rw_name(rw, m->root), 2, in, NULL, NULL);
}

static qn_id
as_it_is(qn_rw *rw, const qn_match *m)
{
	return to_prelu(rw, m, 1);
}

static qn_id
negated(qn_rw *rw, const qn_match *m)
{
	return to_prelu(rw, m, -1);
}

static qn_id
doubled(qn_rw *rw, const qn_match *m)
{
	return to_prelu(rw, m, 2);
}

static const qn_pat any_x = {.kind = QN_PAT_ANY, .slot = X};
static const qn_pat upper = OF(relu, QN_NO_SLOT, &any_x);
static const qn_pat lower = OF(relu, QN_NO_SLOT, SOME(neg, QN_NO_SLOT, &any_x)); /* of -x */
static const qn_pat minus_lower = OF(neg, QN_NO_SLOT, &lower);
static const qn_pat twice_lower = OF(sub, QN_NO_SLOT, &any_x, SOME(abs, QN_NO_SLOT, &any_x));

#define SLOPED(part) SOME(mul, QN_NO_SLOT, QN_P_CONST(SLOPE), part)

static const qn_rule rules[] = {
	{"prelu", SOME(add, ROOT, &upper, SLOPED(&minus_lower)), as_it_is},
	{"prelu", SOME(add, ROOT, &upper, SLOPED(&lower)), negated},
	{"prelu", SOME(sub, ROOT, &upper, SLOPED(&lower)), as_it_is},
	{"prelu", SOME(add, ROOT, &upper, SLOPED(&twice_lower)), doubled},
};

qn_status
qn_fuse_prelus(qn_model *m, const qn_graph *g, qn_graph **out)
{
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}
