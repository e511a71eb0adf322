/* SPDX-License-Identifier: Apache-2.0 */
/* impl_elementwise.c - add, sub, mul and bias_add (an add of a vector along the last axis), with
 * broadcasting.
 *
 * Quantized (TFLite reference kernels): add brings both operands to the scale T / 2^headroom,
 * T = 2 max(sx, sy), adds, and brings the sum to the result's scale; with the attribute `align` the
 * scales are small integers times powers of two, by which values are multiplied and added exactly.
 * mul multiplies the differences from the zero points and rescales once.  Where operands or result
 * have a scale and a zero point for each channel, each channel is computed so with its own. */
#include "runtime/elementwise.h"

#include <math.h>
#include <string.h>

#include "runtime/align.h"
#include "runtime/broadcast.h"
#include "runtime/channels.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/plain.h"

QN_EACH_RUN(add, float, a + b, simd->add(x, y, out, n))
QN_EACH_RUN(sub, float, a - b, simd->sub(x, y, out, n))
QN_EACH_RUN(mul, float, a *b, simd->mul(x, y, out, n))

bool
qn_int_broadcast(const qn_graph *g, const qn_node *n, int32_t dim[4], int32_t xs[4], int32_t ys[4])
{
	qn_broadcast b;

	qn_broadcast_make(qn_in_type(g, n, 0), qn_in_type(g, n, 1), n->type, &b);
	if (b.rank > 4) {
		(void)qn_int_refuse(g, n, "broadcasting over %d separate axes, at most 4",
				    (int)b.rank);
		return false;
	}
	for (int32_t i = 0; i < 4; i++) {
		int32_t k = i - (4 - b.rank);

		dim[i] = k < 0 ? 1 : (int32_t)b.dim[k];
		xs[i] = k < 0 ? 0 : (int32_t)b.xs[k];
		ys[i] = k < 0 ? 0 : (int32_t)b.ys[k];
	}
	return true;
}

bool
qn_elementwise_shape(const qn_graph *g, const qn_node *n, int32_t dim[4], int32_t xs[4],
		     int32_t ys[4])
{
	return qn_int_check_quantized(g, n, qn_in_type(g, n, 0)) &&
	       qn_int_check_quantized(g, n, qn_in_type(g, n, 1)) && qn_int_sizes(g, n) &&
	       qn_int_broadcast(g, n, dim, xs, ys);
}

/* A product of i16 may be one of 8 bits, as the output of TFLite Micro's LSTM is. */
static bool
result_ok(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = n->type->elem;

	return (n->op == QN_OP_mul && qn_node_family(g, n) == QN_FAMILY_s16 &&
		qn_elem_in_family(&g->model->types, e) && e->gran == QN_PER_TENSOR) ||
	       qn_int_check_quantized(g, n, n->type);
}

bool
qn_two_params_get(const qn_graph *g, const qn_node *n, int32_t dim[4], int32_t xs[4], int32_t ys[4],
		  qn_two_params *p)
{
	const qn_type *x = qn_in_type(g, n, 0), *y = qn_in_type(g, n, 1);

	if (!result_ok(g, n) || !qn_elementwise_shape(g, n, dim, xs, ys))
		return false;
	p->sx = qn_scale_of(g, x);
	p->sy = qn_scale_of(g, y);
	p->so = qn_scale_of(g, n->type);
	p->zx = qn_zp_of(g, x);
	p->zy = qn_zp_of(g, y);
	p->zo = qn_zp_of(g, n->type);
	p->lo = (int32_t)n->type->elem->qmin;
	p->hi = (int32_t)n->type->elem->qmax;
	return true;
}

int32_t
qn_headroom(const qn_graph *g, const qn_node *n)
{
	return qn_node_family(g, n) == QN_FAMILY_s16 ? 15 : 20;
}

/* The sum S of the aligned operands stands for the float value S * 2^-fraction. */
static void *
aligned_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_add_aligned_args *d = QN_NEW(a, qn_add_aligned_args, 1);
	qn_two_params p;

	const int32_t bits = (int32_t)n->attr->sum.align;

	if (!QN_TWO_PARAMS_SET(g, n, d, p) || !qn_need_fixed(g, n, 1, p.sx, bits) ||
	    !qn_need_fixed(g, n, 2, p.sy, bits))
		return NULL;
	const qn_align to = qn_align_scales(p.sx, p.sy, bits, qn_node_family(g, n));
	if (!qn_int_multiplier(g, n, "2^-fraction / result scale", ldexp(1.0, -to.fraction) / p.so,
			       &d->m, &d->sh))
		return NULL;
	d->mx = to.mantissa[0];
	d->shx = to.shift[0];
	d->my = n->op == QN_OP_sub ? -to.mantissa[1] : to.mantissa[1];
	d->shy = to.shift[1];
	d->mode = g->model->rounding;
	return d;
}

/* The multipliers of one pair of quantized values. */
static bool
sum_multipliers(const qn_graph *g, const qn_node *n, const qn_two_params *p, qn_add_args *d)
{
	const double twice = 2.0 * (p->sx > p->sy ? p->sx : p->sy);

	d->left = qn_headroom(g, n);
	return qn_int_multiplier_below_one(g, n, "first scale / T", p->sx / twice, &d->mx,
					   &d->shx) &&
	       qn_int_multiplier_below_one(g, n, "second scale / T", p->sy / twice, &d->my,
					   &d->shy) &&
	       qn_int_multiplier_below_one(g, n, "T / 2^headroom / result scale",
					   twice / ((double)(1 << d->left) * p->so), &d->mo,
					   &d->sho);
}

static void *
scaled_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_add_args *d = QN_NEW(a, qn_add_args, 1);
	qn_two_params p;

	if (!QN_TWO_PARAMS_SET(g, n, d, p) || !sum_multipliers(g, n, &p, d))
		return NULL;
	d->mode = g->model->rounding;
	d->sub = n->op == QN_OP_sub;
	return d;
}

/* Scales and zero points of channel i. */
static qn_two_params
channel_quantized(const qn_graph *g, const qn_node *n, int32_t i)
{
	qn_two_params p = {0};

	qn_channel_param(g, qn_in_type(g, n, 0), i, &p.sx, &p.zx);
	qn_channel_param(g, qn_in_type(g, n, 1), i, &p.sy, &p.zy);
	qn_channel_param(g, n->type, i, &p.so, &p.zo);
	return p;
}

static void *
axis_sum_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	enum { FIELDS = 9 };
	qn_add_axis_args *d = QN_NEW(a, qn_add_axis_args, 1);
	qn_channels c;

	if (n->attr->sum.align != 0)
		return qn_int_refuse(g, n, "aligned sums have one scale per tensor");
	if (!qn_channels_get(g, n, &c) || !qn_int_broadcast(g, n, d->dim, d->xs, d->ys))
		return NULL;
	int32_t *table = QN_NEW(a, int32_t, (size_t)c.count * FIELDS);
	for (int32_t i = 0; i < c.count; i++) {
		const qn_two_params p = channel_quantized(g, n, i);
		qn_add_args one;

		if (!sum_multipliers(g, n, &p, &one))
			return NULL;
		memcpy(table + (size_t)i * FIELDS,
		       (const int32_t[FIELDS]){p.zx, p.zy, p.zo, one.mx, one.shx, one.my, one.shy,
					       one.mo, one.sho},
		       FIELDS * sizeof *table);
	}
	d->channels = c.count;
	d->inner = c.inner;
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->left = qn_headroom(g, n);
	d->mode = g->model->rounding;
	d->sub = n->op == QN_OP_sub;
	d->table = table;
	return d;
}

static void *
sum_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (qn_by_channel(g, n))
		return axis_sum_prepare(g, n, a);
	return n->attr->sum.align != 0 ? aligned_prepare(g, n, a) : scaled_prepare(g, n, a);
}

#define SUM(name, q, o, a, code)                                                                   \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		if (qn_by_channel(e->g, e->n))                                                     \
			qn_add_axis##q(args, e->in[0], e->in[1], e->out);                          \
		else if (e->n->attr->sum.align != 0)                                               \
			qn_add_aligned##q(args, e->in[0], e->in[1], e->out);                       \
		else                                                                               \
			qn_add##q(args, e->in[0], e->in[1], e->out);                               \
	}
QN_BY_FAMILY(sum_quantized, SUM)

static bool
mul_multiplier(const qn_graph *g, const qn_node *n, const qn_two_params *p, int32_t *m, int32_t *sh)
{
	return qn_int_multiplier(g, n, "product of scales / result scale", p->sx * p->sy / p->so, m,
				 sh);
}

static void *
axis_mul_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	enum { FIELDS = 5 };
	qn_mul_axis_args *d = QN_NEW(a, qn_mul_axis_args, 1);
	qn_channels c;

	if (!qn_channels_get(g, n, &c) || !qn_int_broadcast(g, n, d->dim, d->xs, d->ys))
		return NULL;
	int32_t *table = QN_NEW(a, int32_t, (size_t)c.count * FIELDS);
	for (int32_t i = 0; i < c.count; i++) {
		const qn_two_params p = channel_quantized(g, n, i);
		int32_t *row = table + (size_t)i * FIELDS;

		row[0] = p.zx;
		row[1] = p.zy;
		row[2] = p.zo;
		if (!mul_multiplier(g, n, &p, &row[3], &row[4]))
			return NULL;
	}
	d->channels = c.count;
	d->inner = c.inner;
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	d->table = table;
	return d;
}

static void *
mul_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (qn_by_channel(g, n))
		return axis_mul_prepare(g, n, a);
	qn_mul_args *d = QN_NEW(a, qn_mul_args, 1);
	qn_two_params p;

	if (!QN_TWO_PARAMS_SET(g, n, d, p) || !mul_multiplier(g, n, &p, &d->m, &d->sh))
		return NULL;
	d->mode = g->model->rounding;
	return d;
}

QN_CALL_BY_FAMILY(mul_quantized, qn_mul, e->in[0], e->in[1])
QN_CALL_BY_FAMILY(mul_axis_quantized, qn_mul_axis, e->in[0], e->in[1])

static void
mul_of_quantized(const qn_eval *e, const void *args)
{
	qn_family from = qn_node_family(e->g, e->n), to = qn_family_of(e->n->type->elem);

	if (qn_by_channel(e->g, e->n))
		mul_axis_quantized(e, args);
	else if (from == to)
		mul_quantized(e, args);
	else if (to == QN_FAMILY_u8)
		qn_mul_from_s16_u8(args, e->in[0], e->in[1], e->out);
	else
		qn_mul_from_s16_s8(args, e->in[0], e->in[1], e->out);
}

const qn_impl qn_impl_add = {
	.real = add_real,
	.plain = qn_plain_binary,
	.quantized = {.prepare = sum_prepare, .run = sum_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_bias_add = {
	.real = add_real,
	.quantized = {.prepare = sum_prepare, .run = sum_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_sub = {
	.real = sub_real,
	.plain = qn_plain_binary,
	.quantized = {.prepare = sum_prepare, .run = sum_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_mul = {
	.real = mul_real,
	.plain = qn_plain_binary,
	.quantized = {.prepare = mul_prepare, .run = mul_of_quantized, .families = QN_ALL_FAMILIES},
};
