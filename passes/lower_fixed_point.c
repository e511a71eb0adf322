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
#include "passes/fixed_point_nodes.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/channels.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

enum { ROOT };

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
	x = qn_fp_limited_sum(rw, x, qn_fp_numbers(rw, p, d->channels, zi, axis, rank), INT64_MIN,
			      INT64_MAX);
	return qn_fp_rescaled(rw, root, x,
			      &(qn_fp_rescale){.axis = axis,
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
	qn_id x = qn_fp_widened(rw, n->in[0], in->bits == 64 ? QN_PLAIN_i64 : QN_PLAIN_i32);
	if (qn_zero_points_differ(qn_rw_graph(rw), n))
		return lower_by_channel(rw, m->root, x, axis, args);
	const qn_requantize_args *d = args;
	if (d->zi != 0) {
		const int64_t zi = -(int64_t)d->zi;

		x = qn_fp_limited_sum(rw, x, qn_fp_numbers(rw, QN_PLAIN_i32, 1, &zi, -1, 0),
				      INT64_MIN, INT64_MAX);
	}
	return qn_fp_rescaled(rw, m->root, x,
			      &(qn_fp_rescale){.axis = d->mult_n > 1 ? axis : -1,
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
	qn_id x = qn_fp_minus(rw, qn_fp_widened(rw, n->in[0], QN_PLAIN_i32), d->zx);
	qn_id y = qn_fp_minus(rw, qn_fp_widened(rw, n->in[1], QN_PLAIN_i32), d->zy);
	x = qn_fp_shifted(rw, x, a - least);
	if (d->sub != 0)
		y = qn_fp_with_number(rw, QN_OP_mul, y, -(INT64_C(1) << (b - least)));
	else
		y = qn_fp_shifted(rw, y, b - least);
	const int64_t unit = INT64_C(1) << by;
	x = qn_fp_limited_sum(rw, x, y, (d->lo - d->zo) * unit, (d->hi - d->zo) * unit);
	x = qn_fp_divided(rw, x, by);
	return qn_fp_stored_as(rw, root,
			       d->zo != 0 ? qn_fp_with_number(rw, QN_OP_add, x, d->zo) : x);
}

static qn_id
finished(qn_rw *rw, qn_id root, qn_id x, int32_t mult, int32_t shift, int32_t zo, int32_t lo,
	 int32_t hi, int32_t mode)
{
	const int8_t s = (int8_t)shift;

	return qn_fp_rescaled(rw, root, x,
			      &(qn_fp_rescale){.axis = -1,
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
	qn_id x = qn_fp_shifted(
		rw, qn_fp_minus(rw, qn_fp_widened(rw, n->in[0], QN_PLAIN_i32), d->zx), d->left);
	qn_id y = qn_fp_shifted(
		rw, qn_fp_minus(rw, qn_fp_widened(rw, n->in[1], QN_PLAIN_i32), d->zy), d->left);
	qn_id in[2] = {qn_fp_by_one(rw, x, d->mx, d->shx, d->mode),
		       qn_fp_by_one(rw, y, d->my, d->shy, d->mode)};

	x = qn_rw_add(rw, d->sub != 0 ? QN_OP_sub : QN_OP_add, NULL, 2, in, NULL, NULL);
	return finished(rw, root, x, d->mo, d->sho, d->zo, d->lo, d->hi, d->mode);
}

static qn_id
aligned_term(qn_rw *rw, qn_id x, int32_t zp, int32_t mult, int32_t shift)
{
	x = qn_fp_with_number(rw, QN_OP_mul,
			      qn_fp_minus(rw, qn_fp_widened(rw, x, QN_PLAIN_i32), zp), mult);
	return shift < 0 ? qn_fp_divided(rw, x, -shift) : qn_fp_shifted(rw, x, shift);
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
	qn_id in[2] = {qn_fp_minus(rw, qn_fp_widened(rw, n->in[0], QN_PLAIN_i32), d->zx),
		       qn_fp_minus(rw, qn_fp_widened(rw, n->in[1], QN_PLAIN_i32), d->zy)};
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
	qn_id in[3] = {
		qn_fp_minus(rw, qn_fp_widened(rw, n->in[0], p), qn_zp_of(g, qn_in_type(g, n, 0))),
		qn_fp_minus(rw, qn_fp_widened(rw, n->in[1], p), zw)};
	if (n->nin > 2)
		in[2] = qn_fp_widened(rw, n->in[2], p);
	return qn_fp_stored_as(rw, m->root,
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
