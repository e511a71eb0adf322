/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_norm.c - normalizations that a file writes out in smaller ops become one op.
 *
 *   %m = reduce_mean %x {axes=[2], keepdims=1}
 *   %c = sub %x, %m
 *   %v = reduce_mean(square(%c)) {axes=[2], keepdims=1}      also pow(c, 2), mul(c, c), squared_difference(x, m)
 *   %y = div %c, sqrt(add(%v, epsilon))                      also mul with rsqrt, or one over sqrt
 *   %s = mul %y, scale                            ->  %y = layer_norm %x, scale, bias {axis=2}
 *   %z = add %s, bias
 *
 *   x * rsqrt(mean(x^2) + epsilon) * scale        ->  rms_norm(x, scale)
 *   x * r + (bias - m * r), r = rsqrt(…) * scale  ->  layer_norm(x, scale, bias)       as Keras writes it
 *
 * Over other axes than the last ones, between transposes, which `axes` moves into those around convolutions.
 *
 * Quantized, a square or a variance has so wide a range that the small ones are lost; the kernels of these ops keep
 * them in their accumulators. */
#include <math.h>

#include "ir/reduce.h"
#include "passes/fuse.h"

enum {
	ROOT,
	X,
	MEAN,
	CENTRED,
	SQUARE,
	VARIANCE,
	EPSILON,
	ROOT_OF,
	POWER,
	ONE,
	SCALE,
	BIAS,
	NORM,
	BACK
};

static bool
is_real(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_const && qn_type_is_f32(n->type) && qn_type_count(n->type) > 0;
}

/* The axes from k to the last one. */
static uint32_t
axes_from(int32_t rank, int32_t k)
{
	return (UINT32_C(1) << rank) - (UINT32_C(1) << k);
}

static bool
is_in(uint32_t axes, int32_t k)
{
	return (axes >> k & 1) != 0;
}

/* The axes over which a mean that keeps them goes; 0: it does not, or its operand's shape is not known.  Axes of one
 * element do not count: with them the axes are the last ones, if they can be. */
static uint32_t
axes_of(const qn_rw *rw, qn_id mean)
{
	const qn_node *n = qn_rw_node(rw, mean);
	const qn_type *x = qn_rw_node(rw, n->in[0])->type;

	if (x->rank < 1 || qn_type_count(x) < 1 || n->attr->reduce.keepdims == 0)
		return 0;
	const uint32_t axes = qn_reduce_mask(&n->attr->reduce.axes, x->rank);
	uint32_t ones = 0;
	for (int32_t k = 0; k < x->rank; k++)
		ones |= x->dim[k] == 1 ? UINT32_C(1) << k : 0;
	for (int32_t k = x->rank; --k >= 0;)
		if (is_in(axes, k) && ((axes ^ axes_from(x->rank, k)) & ~ones) == 0)
			return axes_from(x->rank, k);
	return axes & ~ones;
}

/* The square and the root of the match are these, not other powers, and its epsilon is one number, not negative. */
static bool
has_constants(const qn_rw *rw, const qn_match *m)
{
	const qn_node *square = qn_rw_node(rw, m->at[SQUARE]);
	const qn_node *root = qn_rw_node(rw, m->at[ROOT_OF]);
	const qn_node *epsilon = qn_rw_node(rw, m->at[EPSILON]);
	const bool divides = qn_rw_node(rw, m->root)->op == QN_OP_div;

	if (!is_real(rw, m->at[EPSILON]) || qn_type_count(epsilon->type) != 1 ||
	    !(qn_tensor_f64(epsilon->value, 0) >= 0) || isinf(qn_tensor_f64(epsilon->value, 0)))
		return false;
	return (m->at[ONE] == 0 || qn_fuse_is_number(rw, m->at[ONE], 1, 0)) &&
	       (square->op != QN_OP_pow || qn_fuse_is_number(rw, square->in[1], 2, 0)) &&
	       (root->op != QN_OP_pow ||
		qn_fuse_is_number(rw, root->in[1], divides ? 0.5 : -0.5, 0));
}

/* The constant, or `fill` where it is 0, for each element of x along these axes; 0: it is not of this shape. */
static qn_id
spread(qn_rw *rw, const char *name, qn_id constant, float fill, const qn_type *x, uint32_t axes)
{
	qn_model *m = qn_rw_model(rw);
	const qn_tensor *v = constant != 0 ? qn_rw_node(rw, constant)->value : NULL;
	const int64_t given = v != NULL ? qn_type_count(v->type) : 1;
	int64_t dim[QN_MAX_RANK];
	int32_t rank = 0;
	void *data;

	for (int32_t k = 0; k < x->rank; k++)
		if (is_in(axes, k))
			dim[rank++] = x->dim[k];
	const qn_type *type = qn_type_plain(&m->types, QN_PLAIN_f32, rank, dim);
	const int64_t n = qn_type_count(type);
	if (constant != 0 && (!is_real(rw, constant) || (given != 1 && given != n)))
		return 0;
	/* axes of its own, others of one element: the order of the elements is that of x */
	for (int32_t k = 1; given != 1 && k <= x->rank; k++) {
		const int64_t own = k <= v->type->rank ? v->type->dim[v->type->rank - k] : 1;

		if (own != (is_in(axes, x->rank - k) ? x->dim[x->rank - k] : 1))
			return 0;
	}
	qn_tensor *out = qn_tensor_new(m->arena, type, &data);
	for (int64_t i = 0; i < n; i++)
		qn_store_f64(data, QN_PLAIN_f32, i,
			     v != NULL ? qn_tensor_f64(v, given == 1 ? 0 : i) : (double)fill);
	return qn_rw_const(rw, name, out);
}

/* Puts these axes of `rank` last, in their order; `back` undoes that.  Returns how many others are before them. */
static int32_t
axes_last(uint32_t axes, int32_t rank, qn_attrs *there, qn_attrs *back)
{
	int32_t n = 0, first;

	for (int32_t k = 0; k < rank; k++)
		if (!is_in(axes, k))
			there->perm.perm.v[n++] = k;
	first = n;
	for (int32_t k = 0; k < rank; k++)
		if (is_in(axes, k))
			there->perm.perm.v[n++] = k;
	there->perm.perm.n = back->perm.perm.n = rank;
	for (int32_t k = 0; k < rank; k++)
		back->perm.perm.v[there->perm.perm.v[k]] = k;
	return first;
}

/* The op along these axes of its data, by parameters for them; between transposes if they are not the last ones. */
static qn_id
along(qn_rw *rw, const qn_match *m, qn_op op, qn_id *in, uint32_t axes, double epsilon)
{
	const int32_t rank = qn_rw_node(rw, in[0])->type->rank;
	const uint32_t nin = op == QN_OP_layer_norm ? 3 : 2;
	const char *name = qn_rw_name(rw, m->root);
	qn_attrs there = {0}, back = {0}, a;

	qn_attrs_default(QN_ATTRS(layer_norm), &a);
	a.layer_norm.axis = axes_last(axes, rank, &there, &back);
	a.layer_norm.epsilon = epsilon;
	if (axes == axes_from(rank, (int32_t)a.layer_norm.axis))
		return qn_rw_add(rw, op, name, nin, in, &a, NULL);
	in[0] = qn_rw_add(rw, QN_OP_transpose, qn_rw_derived_name(rw, m->root, "last"), 1, in,
			  &there, NULL);
	if (in[0] == 0)
		return 0;
	const qn_id y =
		qn_rw_add(rw, op, qn_rw_derived_name(rw, m->root, "norm"), nin, in, &a, NULL);
	return y != 0 ? qn_rw_add(rw, QN_OP_transpose, name, 1, &y, &back, NULL) : 0;
}

/* The normalization of the match, by these constants (0: none); 0: they do not fit. */
static qn_id
normalize(qn_rw *rw, const qn_match *m, qn_op op, qn_id scale, qn_id bias)
{
	const qn_type *x = qn_rw_node(rw, m->at[X])->type;
	const uint32_t axes = axes_of(rw, m->at[VARIANCE]);

	if (axes == 0 || (op == QN_OP_layer_norm && axes_of(rw, m->at[MEAN]) != axes))
		return qn_rw_decline(rw, "its means do not keep the axes, or are over other ones");
	if (!has_constants(rw, m) || !qn_type_is_f32(x) || qn_rw_node(rw, m->root)->type != x)
		return qn_rw_decline(rw, "it is not (x - mean) / sqrt(variance + epsilon)");
	qn_id in[3] = {m->at[X],
		       spread(rw, qn_rw_derived_name(rw, m->root, "scale"), scale, 1, x, axes),
		       op == QN_OP_layer_norm ? spread(rw, qn_rw_derived_name(rw, m->root, "bias"),
						       bias, 0, x, axes)
					      : 1};
	if (in[1] == 0 || in[2] == 0)
		return qn_rw_decline(rw, "its scale or bias is not along the normalized axes");
	return along(rw, m, op, in, axes, qn_tensor_f64(qn_rw_node(rw, m->at[EPSILON])->value, 0));
}

static qn_id
to_layer_norm(qn_rw *rw, const qn_match *m)
{
	return normalize(rw, m, QN_OP_layer_norm, 0, 0);
}

static qn_id
to_affine_layer_norm(qn_rw *rw, const qn_match *m)
{
	return normalize(rw, m, QN_OP_layer_norm, m->at[SCALE], m->at[BIAS]);
}

static qn_id
to_rms_norm(qn_rw *rw, const qn_match *m)
{
	return normalize(rw, m, QN_OP_rms_norm, 0, 0);
}

/* Operand `own` of a normalization, times or plus a constant. */
static qn_id
combined(qn_rw *rw, const qn_match *m, const char *name, qn_id own, qn_id constant)
{
	qn_model *model = qn_rw_model(rw);
	const bool sums = qn_rw_node(rw, m->root)->op == QN_OP_add;
	const qn_tensor *a = qn_rw_node(rw, own)->value, *b = qn_rw_node(rw, constant)->value;
	void *data;
	qn_tensor *out = qn_tensor_new(model->arena, a->type, &data);

	for (int64_t i = 0; i < qn_type_count(a->type); i++) {
		const double x = qn_tensor_f64(a, i), y = qn_tensor_f64(b, i);

		qn_store_f64(data, QN_PLAIN_f32, i, sums ? x + y : x * y);
	}
	return qn_rw_const(rw, qn_rw_derived_name(rw, m->root, name), out);
}

/* The axes that are normalized after the transpose, 0: none, in their order; without it before. */
static uint32_t
normalized_axes(const qn_rw *rw, const qn_node *norm, qn_id back)
{
	const qn_list *p = back != 0 ? &qn_rw_node(rw, back)->attr->perm.perm : NULL;
	const int32_t rank = norm->type->rank;
	const int64_t at = norm->attr->layer_norm.axis, first = at < 0 ? at + rank : at;
	uint32_t axes = 0;

	for (int64_t k = 0, last = -1; k < rank; k++) {
		const int64_t from = p != NULL ? p->v[k] : k;

		if (from < first)
			continue;
		if (from < last)
			return 0;
		last = from;
		axes |= UINT32_C(1) << k;
	}
	return axes;
}

/* norm(x, scale, bias), or a transpose of it, times or plus a constant */
static qn_id
take_in(qn_rw *rw, const qn_match *m)
{
	const qn_node norm = *qn_rw_node(rw, m->at[NORM]);
	const bool sums = qn_rw_node(rw, m->root)->op == QN_OP_add;
	const qn_id back = m->at[BACK];
	const qn_type *type = back != 0 ? qn_rw_node(rw, back)->type : norm.type;

	if (qn_rw_uses(rw, m->at[NORM]) != 1 || (back != 0 && qn_rw_uses(rw, back) != 1) ||
	    qn_rw_node(rw, m->root)->type != type || qn_type_count(type) < 1 ||
	    (sums && norm.nin < 3))
		return qn_rw_decline(rw, "the normalization is used elsewhere too, has no bias, or "
					 "another shape");
	for (uint32_t i = 1; i < norm.nin; i++)
		if (!is_real(rw, norm.in[i]))
			return qn_rw_decline(rw, "its parameters are not f32 constants");
	const uint32_t axes = normalized_axes(rw, &norm, back);
	const qn_id constant = axes != 0 ? spread(rw, NULL, m->at[SCALE], 0, type, axes) : 0;
	if (constant == 0)
		return qn_rw_decline(rw, "the constant is not along the normalized axes");
	qn_id in[3] = {norm.in[0], norm.in[1], norm.nin == 3 ? norm.in[2] : 0};
	for (uint32_t i = sums ? 2 : 1; i < QN_COUNT(in) && in[i] != 0; i++)
		if ((in[i] = combined(rw, m, i == 1 ? "scale" : "bias", in[i], constant)) == 0)
			return 0;
	const qn_id y = qn_rw_add(rw, norm.op, qn_rw_name(rw, back != 0 ? m->at[NORM] : m->root),
				  norm.nin, in, norm.attr, NULL);
	return y != 0 && back != 0 ? qn_rw_add(rw, QN_OP_transpose, qn_rw_name(rw, m->root), 1, &y,
					       qn_rw_node(rw, back)->attr, NULL)
				   : y;
}

static const qn_pat any_x = {.kind = QN_PAT_ANY, .slot = X};
static const qn_pat mean_of_x = OF(reduce_mean, MEAN, &any_x);
static const qn_pat centred = OF(sub, CENTRED, &any_x, &mean_of_x);
#define SQUARED(what)                                                                              \
	SOME(pow, SQUARE, what, QN_P_ANY(QN_NO_SLOT)), SOME(mul, SQUARE, what, what),              \
		SOME(square, SQUARE, what)
static const qn_pat x_squared = EITHER(SQUARED(&any_x));
static const qn_pat deviation_squared =
	EITHER(SQUARED(&centred), SOME(squared_difference, SQUARE, &any_x, &mean_of_x));

/* For each of the two: mean + epsilon, its root, 1 / root, and a value over it. */
#define OVER_ROOT(value, square)                                                                   \
	static const qn_pat square##_mean = OF(reduce_mean, VARIANCE, &square);                    \
	static const qn_pat square##_sum =                                                         \
		OF(add, QN_NO_SLOT, &square##_mean, QN_P_CONST(EPSILON));                          \
	static const qn_pat square##_sqrt = OF(sqrt, ROOT_OF, &square##_sum);                      \
	static const qn_pat square##_pow = OF(pow, ROOT_OF, &square##_sum, QN_P_CONST(POWER));     \
	static const qn_pat square##_root = EITHER(&square##_sqrt, &square##_pow);                 \
	static const qn_pat square##_reciprocal =                                                  \
		EITHER(SOME(rsqrt, ROOT_OF, &square##_sum), &square##_pow,                         \
		       SOME(reciprocal, QN_NO_SLOT, &square##_sqrt),                               \
		       SOME(div, QN_NO_SLOT, QN_P_CONST(ONE), &square##_sqrt));                    \
	static const qn_pat over_##square = EITHER(SOME(mul, ROOT, &value, &square##_reciprocal),  \
						   SOME(div, ROOT, &value, &square##_root))
OVER_ROOT(any_x, x_squared);
OVER_ROOT(centred, deviation_squared);

/* x * r + (bias - mean * r), r = scale / root */
static const qn_pat scaled_root =
	OF(mul, QN_NO_SLOT, &deviation_squared_reciprocal, QN_P_CONST(SCALE));
static const qn_pat scaled_x = OF(mul, QN_NO_SLOT, &any_x, &scaled_root);
static const qn_pat scaled_mean = OF(mul, QN_NO_SLOT, &mean_of_x, &scaled_root);
static const qn_pat bias_less_mean = OF(sub, QN_NO_SLOT, QN_P_CONST(BIAS), &scaled_mean);

static const qn_pat a_layer_norm =
	EITHER(QN_P_OPN(layer_norm, NORM), SOME(transpose, BACK, QN_P_OPN(layer_norm, NORM)));
static const qn_pat a_norm = EITHER(&a_layer_norm, QN_P_OPN(rms_norm, NORM),
				    SOME(transpose, BACK, QN_P_OPN(rms_norm, NORM)));

static const qn_rule rules[] = {
	{"layer-norm", &over_deviation_squared, to_layer_norm},
	{"layer-norm", SOME(add, ROOT, &scaled_x, &bias_less_mean), to_affine_layer_norm},
	{"rms-norm", &over_x_squared, to_rms_norm},
	{"norm-scale", SOME(mul, ROOT, &a_norm, QN_P_CONST(SCALE)), take_in},
	{"norm-bias", SOME(add, ROOT, &a_layer_norm, QN_P_CONST(SCALE)), take_in},
};

qn_status
qn_fuse_norms(qn_model *m, const qn_graph *g, qn_graph **out)
{
	return qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, out);
}
