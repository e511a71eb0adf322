/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_l2_norm.c - vectors over their length, which a file writes out in smaller ops, become l2_norm.
 *
 *   %n = sqrt(reduce_sum(mul(%x, %x)) {axes=[1], keepdims=1})
 *   %y = div %x, expand(clip(%n) {min=1e-12})          ->  %y = l2_norm %x {axis=1, epsilon=1e-24}      torch's normalize
 *
 *   the length, or its square, may have a lower bound (clip, maximum) or a small number added; a product with its
 *   reciprocal is a division
 *   x / sqrt(sum + epsilon) of the last axis           ->  rms_norm(x, 1 / sqrt(n))
 *
 * Quantized, a sum of squares has so wide a range that short vectors have none of it; the kernel keeps it in its
 * accumulator. */
#include <math.h>

#include "ir/reduce.h"
#include "passes/fuse.h"

enum { ROOT, X, SQUARE, SUM, ROOT_OF, POWER, ONE, LENGTH_BOUND, SUM_BOUND, LIMIT };

/* What is added to a length is taken for its lower bound if it is at most this. */
static const double small = 1e-6;
/* Of vectors of zeros, whose length has no bound: they stay 0. */
static const double unbounded = 1e-30;

/* The number that bounds a value; false: it is not bounded by one. */
static bool
bound_of(const qn_rw *rw, const qn_match *m, qn_id bound, double *least)
{
	const qn_node *n = qn_rw_node(rw, bound);
	const qn_node *limit = m->at[LIMIT] != 0 ? qn_rw_node(rw, m->at[LIMIT]) : NULL;

	if (n->op == QN_OP_clip) {
		*least = n->attr->clip.min;
		return n->attr->clip.max >= HUGE_VAL && *least >= 0 && *least < 1;
	}
	if (limit == NULL || !qn_type_is_f32(limit->type) || qn_type_count(limit->type) != 1)
		return false;
	*least = qn_tensor_f64(limit->value, 0);
	return *least >= 0 && *least < 1;
}

/* The epsilon of the match; *added: it is added to the sum; false: it has none. */
static bool
epsilon_of(const qn_rw *rw, const qn_match *m, double *epsilon, bool *added)
{
	const qn_id length = m->at[LENGTH_BOUND], sum = m->at[SUM_BOUND];
	double least = 0;

	*added = false;
	*epsilon = unbounded;
	if (length == 0 && sum == 0)
		return true;
	if (length != 0 && sum != 0)
		return false; /* a bound for each: which one holds depends on the data */
	if (!bound_of(rw, m, length != 0 ? length : sum, &least))
		return false;
	*added = qn_rw_node(rw, length != 0 ? length : sum)->op == QN_OP_add;
	*epsilon = fmax(unbounded, length != 0 ? least * least : least);
	return !*added || length == 0 || least <= small;
}

/* The square and the roots of the match are these, not other powers. */
static bool
has_powers(const qn_rw *rw, const qn_match *m)
{
	const qn_node *square = qn_rw_node(rw, m->at[SQUARE]);
	const qn_node *root = qn_rw_node(rw, m->at[ROOT_OF]);

	return (m->at[ONE] == 0 || qn_fuse_is_number(rw, m->at[ONE], 1, 0)) &&
	       (square->op != QN_OP_pow || qn_fuse_is_number(rw, square->in[1], 2, 0)) &&
	       (root->op != QN_OP_pow || qn_fuse_is_number(rw, root->in[1], 0.5, 0));
}

/* The one axis that the sum is over, and keeps; -1: it is another sum. */
static int32_t
axis_of(const qn_rw *rw, const qn_match *m)
{
	const qn_node *sum = qn_rw_node(rw, m->at[SUM]);
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;

	if (x->rank < 1 || qn_type_count(x) < 1 || sum->attr->reduce.keepdims == 0)
		return -1;
	const uint32_t mask = qn_reduce_mask(&sum->attr->reduce.axes, x->rank);
	for (int32_t k = 0; k < x->rank; k++)
		if (mask == UINT32_C(1) << k)
			return k;
	return -1;
}

/* x / sqrt(n) / sqrt(mean + epsilon / n) */
static qn_id
by_mean(qn_rw *rw, const qn_match *m, double epsilon)
{
	qn_model *model = qn_rw_model(rw);
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;
	const int64_t n = x->dim[x->rank - 1];
	void *data;
	qn_tensor *scale = qn_tensor_new(model->arena,
					 qn_type_plain(&model->types, QN_PLAIN_f32, 1, &n), &data);
	qn_attrs a;

	for (int64_t i = 0; i < n; i++)
		qn_store_f64(data, QN_PLAIN_f32, i, 1 / sqrt((double)n));
	const qn_id in[2] = {m->at[X],
			     qn_rw_const(rw, qn_rw_derived_name(rw, m->root, "scale"), scale)};
	qn_attrs_default(QN_ATTRS(layer_norm), &a);
	a.layer_norm.axis = x->rank - 1;
	a.layer_norm.epsilon = epsilon / (double)n;
	return in[1] != 0 ? qn_rw_add(rw, QN_OP_rms_norm, qn_rw_name(rw, m->root), 2, in, &a, NULL)
			  : 0;
}

static qn_id
to_l2_norm(qn_rw *rw, const qn_match *m)
{
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;
	const int32_t axis = axis_of(rw, m);
	double epsilon;
	bool added;
	qn_attrs a;

	if (axis < 0)
		return qn_rw_decline(rw, "its sum is not over one axis");
	if (!has_powers(rw, m) || !epsilon_of(rw, m, &epsilon, &added) || !qn_type_is_f32(x) ||
	    qn_rw_node(rw, m->root)->type != x)
		return qn_rw_decline(rw, "it is not x / max(length, epsilon)");
	if (added && m->at[LENGTH_BOUND] == 0 && axis == x->rank - 1)
		return by_mean(rw, m, epsilon);
	if (added && m->at[LENGTH_BOUND] == 0 && epsilon > small * small)
		return qn_rw_decline(rw, "what is added to its sum is not small");
	qn_attrs_default(QN_ATTRS(l2_norm), &a);
	a.l2_norm.axis = axis;
	a.l2_norm.epsilon = epsilon;
	return qn_rw_add(rw, QN_OP_l2_norm, qn_rw_name(rw, m->root), 1, &m->at[X], &a, NULL);
}

static const qn_pat any_x = {.kind = QN_PAT_ANY, .slot = X};
static const qn_pat squared =
	EITHER(SOME(pow, SQUARE, &any_x, QN_P_ANY(QN_NO_SLOT)), SOME(mul, SQUARE, &any_x, &any_x),
	       SOME(square, SQUARE, &any_x));
static const qn_pat sum = OF(reduce_sum, SUM, &squared);
#define BOUNDED(what, slot)                                                                        \
	what, SOME(clip, slot, what), SOME(maximum, slot, what, QN_P_CONST(LIMIT)),                \
		SOME(add, slot, what, QN_P_CONST(LIMIT))
static const qn_pat bounded_sum = EITHER(BOUNDED(&sum, SUM_BOUND));
static const qn_pat length = EITHER(SOME(sqrt, ROOT_OF, &bounded_sum),
				    SOME(pow, ROOT_OF, &bounded_sum, QN_P_CONST(POWER)));
static const qn_pat bounded_length = EITHER(BOUNDED(&length, LENGTH_BOUND));
static const qn_pat divisor = EITHER(&bounded_length, SOME(expand, QN_NO_SLOT, &bounded_length));
static const qn_pat inverse =
	EITHER(SOME(rsqrt, ROOT_OF, &bounded_sum), SOME(reciprocal, QN_NO_SLOT, &bounded_length),
	       SOME(div, QN_NO_SLOT, QN_P_CONST(ONE), &bounded_length));
static const qn_pat factor = EITHER(&inverse, SOME(expand, QN_NO_SLOT, &inverse));

static const qn_rule rules[] = {
	{"l2-norm", SOME(div, ROOT, &any_x, &divisor), to_l2_norm},
	{"l2-norm", SOME(mul, ROOT, &any_x, &factor), to_l2_norm},
};

qn_status
qn_fuse_l2_norms(qn_model *m, const qn_graph *g, qn_graph **out)
{
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}
