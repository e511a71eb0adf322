/* SPDX-License-Identifier: Apache-2.0 */
/* lower_fixed_point.c - rescaling arithmetic as operations on plain integers, with the bytes of the kernels.
 *
 *   requantize(acc)   ->  scast  fixed_multiply  saturating_add {the zero point; the limits}  cast  scast
 *   add(x, y)         ->  (x - zx) << 20  fixed_multiply, y likewise;  add  fixed_multiply  saturating_add
 *     scales that are powers of 2, of which the result's is the largest:
 *                     ->  (x - zx) << a  saturating_add  rounding_divide_by_pot  + zo
 *   mul(x, y)         ->  (x - zx) * (y - zy)  fixed_multiply  saturating_add
 *   dense(x, w, b)    ->  integer_dense(x - zx, w, b)                 the accumulator
 *
 * Multipliers, shifts and zero points are those that the kernels are called with.  Products of other ops
 * keep their kernels and give accumulators.  Sums and products with a scale for each channel, and weights in
 * blocks, stay as they are.
 *
 * requires: an integer graph.   leaves: an integer graph with the same bytes. */
#include <math.h>

#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/channels.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

enum { ROOT };

/* What follows a sum or product: apply(v, mult, shift) + zo, limited; one of each, or one along axis. */
typedef struct rescale {
	int32_t axis; /* -1: one multiplier */
	int32_t n;
	const int32_t *mult;
	const int8_t *shift;
	int32_t nzo;
	const int32_t *zo;
	int64_t lo, hi;
	int32_t mode;
} rescale;

/* ---- nodes ---- */

static const qn_type *
plain_like(qn_rw *rw, const qn_type *shape, qn_plain p)
{
	qn_types *t = &qn_rw_model(rw)->types;

	return qn_type_with_elem(t, shape, qn_elem_plain(t, p));
}

/* A constant of n numbers: a scalar, or a vector along `axis` of a value of this rank. */
static qn_id
numbers(qn_rw *rw, qn_plain p, int32_t n, const int64_t *v, int32_t axis, int32_t rank)
{
	qn_model *m = qn_rw_model(rw);
	int64_t dim[QN_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
	void *data;

	dim[0] = n;
	qn_tensor *c = qn_tensor_new(
		m->arena, qn_type_plain(&m->types, p, axis < 0 ? 0 : rank - axis, dim), &data);
	for (int32_t i = 0; i < n; i++)
		qn_store_i64(data, p, i, v[i]);
	return qn_rw_const(rw, NULL, c);
}

static qn_id
with_number(qn_rw *rw, qn_op op, qn_id x, int64_t v)
{
	qn_id in[2] = {x, numbers(rw, qn_rw_node(rw, x)->type->elem->plain, 1, &v, -1, 0)};

	return qn_rw_add(rw, op, NULL, 2, in, NULL, NULL);
}

static qn_id
minus(qn_rw *rw, qn_id x, int64_t zp)
{
	return zp != 0 ? with_number(rw, QN_OP_sub, x, zp) : x;
}

static qn_id
shifted(qn_rw *rw, qn_id x, int64_t bits)
{
	return bits != 0 ? with_number(rw, QN_OP_shift_left, x, bits) : x;
}

static qn_id
divided(qn_rw *rw, qn_id x, int64_t exponent)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(divide_by_pot), &a);
	a.divide_by_pot.exponent = exponent;
	return exponent != 0 ? qn_rw_add(rw, QN_OP_rounding_divide_by_pot, NULL, 1, &x, &a, NULL)
			     : x;
}

/* A constant's quantized values as integers of another width. */
static qn_id
constant_as(qn_rw *rw, const qn_node *n, qn_plain p)
{
	void *data;
	qn_tensor *c = qn_tensor_new(qn_rw_model(rw)->arena, plain_like(rw, n->type, p), &data);

	for (int64_t i = 0; i < qn_type_count(n->type); i++)
		qn_store_i64(data, p, i, qn_tensor_i64(n->value, i));
	return qn_rw_const(rw, NULL, c);
}

/* Quantized values as plain integers of p. */
static qn_id
widened(qn_rw *rw, qn_id x, qn_plain p)
{
	const qn_node *n = qn_rw_node(rw, x);
	const qn_type *stored = plain_like(rw, n->type, n->type->elem->plain);

	if (n->op == QN_OP_const)
		return constant_as(rw, n, p);
	if (n->op == QN_OP_scast && qn_rw_node(rw, n->in[0])->type == stored)
		x = n->in[0];
	else
		x = qn_rw_add(rw, QN_OP_scast, NULL, 1, &x, NULL, stored);
	if (stored->elem->plain == p)
		return x;
	return qn_rw_add(rw, QN_OP_cast, NULL, 1, &x, NULL, plain_like(rw, stored, p));
}

/* Plain integers that are quantized values of the type, under the root's name. */
static qn_id
stored_as(qn_rw *rw, qn_id root, qn_id x)
{
	const qn_type *type = qn_rw_node(rw, root)->type;
	const qn_type *stored = plain_like(rw, type, type->elem->plain);

	if (qn_rw_node(rw, x)->type != stored)
		x = qn_rw_add(rw, QN_OP_cast, NULL, 1, &x, NULL, stored);
	return qn_rw_add(rw, QN_OP_scast, qn_rw_name(rw, root), 1, &x, NULL, type);
}

static qn_id
multiplied(qn_rw *rw, qn_id x, int32_t axis, int32_t n, const int32_t *mult, const int8_t *shift,
	   int32_t mode)
{
	qn_arena *tmp = qn_rw_model(rw)->scratch;
	int64_t *m = QN_NEW(tmp, int64_t, (size_t)n);
	int64_t *s = QN_NEW(tmp, int64_t, (size_t)n);
	qn_attrs a;

	for (int32_t i = 0; i < n; i++) {
		m[i] = mult[i];
		s[i] = shift[i];
	}
	qn_attrs_default(QN_ATTRS(fixed_multiply), &a);
	a.fixed_multiply = (qn_attrs_fixed_multiply){.multiplier = {(size_t)n, m},
						     .shift = {(size_t)n, s},
						     .axis = axis,
						     .rounding = mode};
	return qn_rw_add(rw, QN_OP_fixed_multiply, NULL, 1, &x, &a, NULL);
}

static qn_id
by_one(qn_rw *rw, qn_id x, int32_t mult, int32_t shift, int32_t mode)
{
	const int8_t s = (int8_t)shift;

	return multiplied(rw, x, -1, 1, &mult, &s, mode);
}

static qn_id
limited_sum(qn_rw *rw, qn_id x, qn_id y, int64_t lo, int64_t hi)
{
	qn_id in[2] = {x, y};
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(saturating_add), &a);
	a.saturating_add = (qn_attrs_saturating_add){lo, hi};
	return qn_rw_add(rw, QN_OP_saturating_add, NULL, 2, in, &a, NULL);
}

/* The rescaled values, stored as the root's type. */
static qn_id
rescaled(qn_rw *rw, qn_id root, qn_id x, const rescale *r)
{
	const qn_type *type = qn_rw_node(rw, root)->type;
	const qn_plain p = qn_rw_node(rw, x)->type->elem->plain;
	int64_t *zo = QN_NEW(qn_rw_model(rw)->scratch, int64_t, (size_t)r->nzo);

	for (int32_t i = 0; i < r->nzo; i++)
		zo[i] = r->zo[i];
	x = multiplied(rw, x, r->axis, r->n, r->mult, r->shift, r->mode);
	const qn_id z = numbers(rw, p, r->nzo, zo, r->nzo > 1 ? r->axis : -1, type->rank);
	return stored_as(rw, root, limited_sum(rw, x, z, r->lo, r->hi));
}

/* ---- what the kernels are called with ---- */

static bool
is_uniform(const qn_rw *rw, qn_id x)
{
	const qn_type *t = qn_rw_node(rw, x)->type;

	return !t->is_tuple && t->elem->kind == QN_ELEM_UNIFORM && t->elem->gran != QN_SUB_CHANNEL;
}

static const void *
arguments(qn_rw *rw, qn_id root)
{
	const qn_node *n = qn_rw_node(rw, root);
	const void *args =
		qn_int_impl_get(n->op)->prepare(qn_rw_graph(rw), n, qn_rw_model(rw)->scratch);

	if (args == NULL)
		qn_rw_fail(rw, QN_EUNSUPPORTED);
	return args;
}

/* ---- requantize ---- */

static qn_id
lower_by_channel(qn_rw *rw, qn_id root, qn_id x, int32_t axis, const qn_requantize_axis_args *d)
{
	qn_arena *tmp = qn_rw_model(rw)->scratch;
	const int32_t rank = qn_rw_node(rw, root)->type->rank;
	const qn_plain p = qn_rw_node(rw, x)->type->elem->plain;
	int64_t *zi = QN_NEW(tmp, int64_t, (size_t)d->channels);
	int32_t *zo = QN_NEW(tmp, int32_t, (size_t)d->channels);

	for (int32_t i = 0; i < d->channels; i++) {
		zi[i] = -d->zero[2 * i];
		zo[i] = d->zero[2 * i + 1];
	}
	x = limited_sum(rw, x, numbers(rw, p, d->channels, zi, axis, rank), INT64_MIN, INT64_MAX);
	return rescaled(rw, root, x,
			&(rescale){.axis = axis,
				   .n = d->channels,
				   .mult = d->mult,
				   .shift = d->shift,
				   .nzo = d->channels,
				   .zo = zo,
				   .lo = d->lo,
				   .hi = d->hi,
				   .mode = d->mode});
}

static qn_id
lower_requantize(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	if (!is_uniform(rw, n->in[0]) || !is_uniform(rw, m->root))
		return qn_rw_decline(rw, "its values are in blocks");
	if (n->attr->requantize.align != 0)
		return qn_rw_decline(rw, "it brings channels to one scale by fixed-point numbers");
	const void *args = arguments(rw, m->root);
	if (args == NULL)
		return 0;
	const qn_elem *in = qn_rw_node(rw, n->in[0])->type->elem, *out = n->type->elem;
	const int32_t axis = in->gran == QN_PER_AXIS    ? in->axis[0]
			     : out->gran == QN_PER_AXIS ? out->axis[0]
							: -1;
	qn_id x = widened(rw, n->in[0], in->bits == 64 ? QN_PLAIN_i64 : QN_PLAIN_i32);
	if (qn_zero_points_differ(qn_rw_graph(rw), n))
		return lower_by_channel(rw, m->root, x, axis, args);
	const qn_requantize_args *d = args;
	if (d->zi != 0) {
		const int64_t zi = -(int64_t)d->zi;

		x = limited_sum(rw, x, numbers(rw, QN_PLAIN_i32, 1, &zi, -1, 0), INT64_MIN,
				INT64_MAX);
	}
	return rescaled(rw, m->root, x,
			&(rescale){.axis = d->mult_n > 1 ? axis : -1,
				   .n = d->mult_n,
				   .mult = d->mult,
				   .shift = d->shift,
				   .nzo = 1,
				   .zo = &d->zo,
				   .lo = d->lo,
				   .hi = d->hi,
				   .mode = d->mode});
}

/* ---- sums ---- */

/* The exponent of a power of 2. */
static bool
is_power(double s, int32_t *exponent)
{
	int e;
	const bool is = frexp(s, &e) == 0.5;

	*exponent = e - 1;
	return is;
}

/* Sums of scales 2^a and 2^b in a scale 2^c of at least both: exact, and rounded once, ties away from 0,
 * which is what the kernel's two roundings come to. */
static qn_id
lower_power_sum(qn_rw *rw, qn_id root, const qn_add_args *d)
{
	const qn_graph *g = qn_rw_graph(rw);
	const qn_node *n = qn_rw_node(rw, root);
	const bool wide = d->left < 20; /* 16 bits */
	int32_t a, b, c;

	if (!is_power(qn_scale_of(g, qn_in_type(g, n, 0)), &a) ||
	    !is_power(qn_scale_of(g, qn_in_type(g, n, 1)), &b) ||
	    !is_power(qn_scale_of(g, n->type), &c))
		return 0;
	const int32_t least = a < b ? a : b, most = a > b ? a : b, by = c - least;
	if (c < most || by > (wide ? 12 : 18) ||
	    (d->mode != QN_RQ_DOUBLE && d->mode != QN_RQ_NEAREST))
		return 0;
	qn_id x = minus(rw, widened(rw, n->in[0], QN_PLAIN_i32), d->zx);
	qn_id y = minus(rw, widened(rw, n->in[1], QN_PLAIN_i32), d->zy);
	x = shifted(rw, x, a - least);
	if (d->sub != 0)
		y = with_number(rw, QN_OP_mul, y, -(INT64_C(1) << (b - least)));
	else
		y = shifted(rw, y, b - least);
	const int64_t unit = INT64_C(1) << by;
	x = limited_sum(rw, x, y, (d->lo - d->zo) * unit, (d->hi - d->zo) * unit);
	x = divided(rw, x, by);
	return stored_as(rw, root, d->zo != 0 ? with_number(rw, QN_OP_add, x, d->zo) : x);
}

static qn_id
finished(qn_rw *rw, qn_id root, qn_id x, int32_t mult, int32_t shift, int32_t zo, int32_t lo,
	 int32_t hi, int32_t mode)
{
	const int8_t s = (int8_t)shift;

	return rescaled(rw, root, x,
			&(rescale){.axis = -1,
				   .n = 1,
				   .mult = &mult,
				   .shift = &s,
				   .nzo = 1,
				   .zo = &zo,
				   .lo = lo,
				   .hi = hi,
				   .mode = mode});
}

static qn_id
lower_scaled_sum(qn_rw *rw, qn_id root, const qn_add_args *d)
{
	const qn_node *n = qn_rw_node(rw, root);
	const qn_id by_powers = lower_power_sum(rw, root, d);

	if (by_powers != 0)
		return by_powers;
	qn_id x = shifted(rw, minus(rw, widened(rw, n->in[0], QN_PLAIN_i32), d->zx), d->left);
	qn_id y = shifted(rw, minus(rw, widened(rw, n->in[1], QN_PLAIN_i32), d->zy), d->left);
	qn_id in[2] = {by_one(rw, x, d->mx, d->shx, d->mode),
		       by_one(rw, y, d->my, d->shy, d->mode)};

	x = qn_rw_add(rw, d->sub != 0 ? QN_OP_sub : QN_OP_add, NULL, 2, in, NULL, NULL);
	return finished(rw, root, x, d->mo, d->sho, d->zo, d->lo, d->hi, d->mode);
}

static qn_id
aligned_term(qn_rw *rw, qn_id x, int32_t zp, int32_t mult, int32_t shift)
{
	x = with_number(rw, QN_OP_mul, minus(rw, widened(rw, x, QN_PLAIN_i32), zp), mult);
	return shift < 0 ? divided(rw, x, -shift) : shifted(rw, x, shift);
}

static qn_id
lower_aligned_sum(qn_rw *rw, qn_id root, const qn_add_aligned_args *d)
{
	const qn_node *n = qn_rw_node(rw, root);
	qn_id in[2] = {aligned_term(rw, n->in[0], d->zx, d->mx, d->shx),
		       aligned_term(rw, n->in[1], d->zy, d->my, d->shy)};
	const qn_id x = qn_rw_add(rw, QN_OP_add, NULL, 2, in, NULL, NULL);

	return finished(rw, root, x, d->m, d->sh, d->zo, d->lo, d->hi, d->mode);
}

/* Quantized operands and result with one scale each. */
static bool
is_pair(const qn_rw *rw, const qn_node *n, qn_id root)
{
	return is_uniform(rw, n->in[0]) && is_uniform(rw, n->in[1]) && is_uniform(rw, root) &&
	       !qn_by_channel(qn_rw_graph(rw), n);
}

static qn_id
lower_sum(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	if (!is_pair(rw, n, m->root))
		return qn_rw_decline(rw, "its values are plain, or have a scale per channel");
	const void *args = arguments(rw, m->root);
	if (args == NULL)
		return 0;
	return n->attr->sum.align != 0 ? lower_aligned_sum(rw, m->root, args)
				       : lower_scaled_sum(rw, m->root, args);
}

/* ---- products ---- */

static qn_id
lower_mul(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	if (!is_pair(rw, n, m->root))
		return qn_rw_decline(rw, "its values are plain, or have a scale per channel");
	const qn_mul_args *d = arguments(rw, m->root);
	if (d == NULL)
		return 0;
	qn_id in[2] = {minus(rw, widened(rw, n->in[0], QN_PLAIN_i32), d->zx),
		       minus(rw, widened(rw, n->in[1], QN_PLAIN_i32), d->zy)};
	const qn_id x = qn_rw_add(rw, QN_OP_mul, NULL, 2, in, NULL, NULL);

	return finished(rw, m->root, x, d->m, d->sh, d->zo, d->lo, d->hi, d->mode);
}

static qn_id
lower_dense(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_graph *g = qn_rw_graph(rw);

	for (uint32_t i = 0; i < n->nin; i++)
		if (!is_uniform(rw, n->in[i]))
			return qn_rw_decline(rw, "its weights are in blocks");
	const qn_plain p = n->type->elem->bits == 64 ? QN_PLAIN_i64 : QN_PLAIN_i32;
	const int32_t zw = qn_in_type(g, n, 1)->elem->gran == QN_PER_TENSOR
				   ? qn_zp_of(g, qn_in_type(g, n, 1))
				   : 0;
	qn_id in[3] = {minus(rw, widened(rw, n->in[0], p), qn_zp_of(g, qn_in_type(g, n, 0))),
		       minus(rw, widened(rw, n->in[1], p), zw)};
	if (n->nin > 2)
		in[2] = widened(rw, n->in[2], p);
	return stored_as(rw, m->root,
			 qn_rw_add(rw, QN_OP_integer_dense, NULL, n->nin, in, NULL, NULL));
}

static const qn_rule rules[] = {
	{"lower-requantize", QN_P_OPN(requantize, ROOT), lower_requantize},
	{"lower-sum", QN_P_OPN(add, ROOT), lower_sum},
	{"lower-sum", QN_P_OPN(sub, ROOT), lower_sum},
	{"lower-sum", QN_P_OPN(bias_add, ROOT), lower_sum},
	{"lower-mul", QN_P_OPN(mul, ROOT), lower_mul},
	{"lower-dense", QN_P_OPN(dense, ROOT), lower_dense},
};

qn_status
qn_lower_fixed_point(qn_model *m)
{
	qn_graph *g = qn_model_entry(m);

	if (m->stage != QN_STAGE_INTEGER)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "lower-fixed-point takes an integer graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_rewrite(m, g, rules, QN_COUNT(rules), NULL, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
