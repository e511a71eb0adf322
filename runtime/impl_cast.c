/* SPDX-License-Identifier: Apache-2.0 */
/* impl_cast.c - quantize, dequantize, requantize, scast: between float and quantized values,
 * and between parameters.
 *
 *   quantize    1.26 -> 13 of scale 0.1               half to even or away, then zero point, then clamp
 *   requantize  13 of scale 0.1 -> 26 of 0.05         one multiplier, or one per index of an axis
 *   scast       the bytes under another type
 *
 * quantize and dequantize take every float and storage type and granularity; requantize returns
 * quantized values of a family. */
#include "runtime/align.h"
#include "runtime/channels.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/int_rescale.h"

enum { MOST_SHIFT_64 = 7 }; /* of a multiplier for 64-bit accumulators */

static void
quantize_real(const qn_eval *e)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	const qn_tensor x = {.type = in, .data = e->in[0], .bytes = qn_type_bytes(in)};

	if (e->n->attr->quantize.ties == QN_TIES_away)
		qn_quantize_away_into(&e->g->model->types, &x, e->n->type, e->out);
	else
		qn_quantize_into(&e->g->model->types, &x, e->n->type, e->out);
}

static const char *
quantize_refuse(const qn_graph *g, const qn_node *n)
{
	(void)g;
	return n->type->elem->kind == QN_ELEM_UNIFORM ? NULL : "the result's type has no scale";
}

static void *
dequantize_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	if (qn_in_type(g, n, 0)->elem->kind != QN_ELEM_UNIFORM)
		return qn_int_refuse(g, n, "the input's type has no scale");
	return QN_NEW(a, char, 1);
}

static void
dequantize_run(const qn_eval *e, const void *args)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	const qn_tensor x = {.type = in, .data = e->in[0], .bytes = qn_type_bytes(in)};

	(void)args;
	qn_dequantize_into(&e->g->model->types, &x, e->n->type->elem->plain, e->out);
}

/* The channel axis of both sides, -1 when there is none; refuses blocks and different axes. */
static bool
channel_axis(const qn_graph *g, const qn_node *n, int32_t *axis)
{
	const qn_elem *in = qn_in_type(g, n, 0)->elem, *out = n->type->elem;

	*axis = -1;
	if (in->gran == QN_SUB_CHANNEL || out->gran == QN_SUB_CHANNEL) {
		(void)qn_int_refuse(g, n, "only one scale per tensor or per index of an axis");
		return false;
	}
	if (in->gran == QN_PER_AXIS)
		*axis = in->axis[0];
	if (*axis >= 0 && qn_elem_nparams(out) == 1) /* one channel is none, along any axis */
		return true;
	if (out->gran == QN_PER_AXIS) {
		if (*axis >= 0 && *axis != out->axis[0] && qn_elem_nparams(in) > 1) {
			(void)qn_int_refuse(g, n, "channels along axis %d in and %d out",
					    (int)*axis, (int)out->axis[0]);
			return false;
		}
		*axis = out->axis[0];
	}
	return true;
}

static int32_t
first_zp(const qn_graph *g, const qn_type *type)
{
	double scale;
	int32_t zp;

	qn_channel_param(g, type, 0, &scale, &zp);
	return zp;
}

/* Multipliers scale in / scale out, one or one per channel. */
static bool
multipliers(const qn_graph *g, const qn_node *n, qn_arena *a, qn_requantize_args *d)
{
	const qn_types *t = &g->model->types;
	const qn_elem *in = qn_in_type(g, n, 0)->elem, *out = n->type->elem;
	int32_t *mult = QN_NEW(a, int32_t, (size_t)d->mult_n);
	int8_t *shift = QN_NEW(a, int8_t, (size_t)d->mult_n);

	for (int32_t i = 0; i < d->mult_n; i++) {
		double from = 1.0, to = 1.0;
		int64_t zp = 0;
		int32_t s = 0;

		qn_elem_param(t, in, qn_elem_nparams(in) > 1 ? (size_t)i : 0, &from, &zp);
		qn_elem_param(t, out, qn_elem_nparams(out) > 1 ? (size_t)i : 0, &to, &zp);
		if (!qn_int_multiplier(g, n, "input scale / result scale", from / to, &mult[i], &s))
			return false;
		if (in->bits == 64 && s > MOST_SHIFT_64)
			return qn_int_refuse(g, n,
					     "a multiplier of %g, only below 2^%d for 64-bit "
					     "accumulators",
					     from / to, (int)MOST_SHIFT_64) != NULL;
		shift[i] = (int8_t)s;
	}
	d->mult = mult;
	d->shift = shift;
	return true;
}

static bool
is_accumulator(const qn_types *t, const qn_elem *e)
{
	return qn_elem_is_acc(t, e, QN_FAMILY_s8) || qn_elem_is_acc(t, e, QN_FAMILY_s16);
}

/* Quantized values or accumulators in, quantized values out. */
static bool
requantize_types(const qn_graph *g, const qn_node *n)
{
	const qn_types *t = &g->model->types;
	const qn_elem *in = qn_in_type(g, n, 0)->elem, *out = n->type->elem;

	if (in->kind == QN_ELEM_UNIFORM && in->gran == QN_SUB_CHANNEL) {
		(void)qn_int_refuse(g, n,
				    "values in blocks along several axes are only read from "
				    "constants, by dense, matmul, convolutions and gather; "
				    "dequantize and recalibrate the model: --from-float --calib "
				    "SAMPLES");
		return false;
	}
	if (!qn_elem_is_shifted(t, out)) {
		(void)qn_int_refuse(g, n,
				    "only a result of storage i8, u8 or i16 with zero points "
				    "inside it");
		return false;
	}
	if (in->kind != QN_ELEM_UNIFORM || (!qn_elem_is_shifted(t, in) && !is_accumulator(t, in))) {
		(void)qn_int_refuse(
			g, n, "only storage i8, u8 or i16, or accumulators with zero point 0");
		return false;
	}
	return qn_int_sizes(g, n);
}

static qn_requantize_args *
one_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *type = n->type;
	qn_requantize_args *d = QN_NEW(a, qn_requantize_args, 1);
	int64_t lo = 0, hi = 0;
	int32_t axis = -1;

	if (!requantize_types(g, n) || !channel_axis(g, n, &axis))
		return NULL;
	qn_clamp_range(g, n, &lo, &hi);
	if (lo > hi)
		return qn_int_refuse(g, n, "the limits [%lld, %lld] leave no quantized value",
				     (long long)lo, (long long)hi);
	d->zi = first_zp(g, qn_in_type(g, n, 0));
	d->zo = first_zp(g, type);
	d->outer = d->channels = d->mult_n = 1;
	d->inner = (int32_t)qn_static_count(type);
	if (axis >= 0) {
		d->outer = (int32_t)qn_dim_product(type, 0, axis);
		d->channels = d->mult_n = (int32_t)type->dim[axis];
		d->inner = (int32_t)qn_dim_product(type, axis + 1, type->rank);
	}
	d->lo = (int32_t)lo;
	d->hi = (int32_t)hi;
	d->mode = g->model->rounding;
	return multipliers(g, n, a, d) ? d : NULL;
}

/* The same with a table of zero points. */
static void *
axis_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, const qn_requantize_args *one)
{
	qn_requantize_axis_args *d = QN_NEW(a, qn_requantize_axis_args, 1);
	int32_t *zero = QN_NEW(a, int32_t, 2 * (size_t)one->channels);
	double scale;

	for (int32_t i = 0; i < one->channels; i++) {
		qn_channel_param(g, qn_in_type(g, n, 0), i, &scale, &zero[2 * i]);
		qn_channel_param(g, n->type, i, &scale, &zero[2 * i + 1]);
	}
	*d = (qn_requantize_axis_args){
		.outer = one->outer,
		.channels = one->channels,
		.inner = one->inner,
		.lo = one->lo,
		.hi = one->hi,
		.mode = one->mode,
		.zero = zero,
		.mult = one->mult,
		.shift = one->shift,
	};
	return d;
}

static void *
requantize_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_requantize_args *d = one_prepare(g, n, a);

	if (n->attr->requantize.align != 0)
		return d != NULL ? qn_requantize_aligned_prepare(g, n, a, d) : NULL;
	return d != NULL && qn_zero_points_differ(g, n) ? axis_prepare(g, n, a, d) : d;
}

#define REQUANTIZE(name, kernel)                                                                   \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		kernel(args, e->in[0], e->out);                                                    \
	}
#define FROM_32(name, q, o, a, code) REQUANTIZE(name, qn_requantize_s32##q)
#define FROM_64(name, q, o, a, code) REQUANTIZE(name, qn_requantize_s64##q)
#define FROM_CODES(name, q, o, a, code) REQUANTIZE(name, qn_requantize##q)
#define AXIS_FROM_32(name, q, o, a, code) REQUANTIZE(name, qn_requantize_axis_s32##q)
#define AXIS_FROM_64(name, q, o, a, code) REQUANTIZE(name, qn_requantize_axis_s64##q)
#define AXIS_FROM_CODES(name, q, o, a, code) REQUANTIZE(name, qn_requantize_axis##q)

QN_BY_FAMILY_OF(from_32, FROM_32, e->n->type)
QN_BY_FAMILY_OF(from_64, FROM_64, e->n->type)
QN_BY_FAMILY(from_quantized, FROM_CODES)
QN_BY_FAMILY_OF(axis_from_32, AXIS_FROM_32, e->n->type)
QN_BY_FAMILY_OF(axis_from_64, AXIS_FROM_64, e->n->type)
QN_BY_FAMILY(axis_from_quantized, AXIS_FROM_CODES)
#define ALIGNED(name, q, o, a, code) REQUANTIZE(name, qn_requantize_aligned##q)
QN_BY_FAMILY(aligned_quantized, ALIGNED)
#define BETWEEN(from, to)                                                                          \
	REQUANTIZE(from##_##to, qn_requantize_from_##from##_##to)                                  \
	REQUANTIZE(axis_##from##_##to, qn_requantize_axis_from_##from##_##to)                      \
	REQUANTIZE(aligned_##from##_##to, qn_requantize_aligned_from_##from##_##to)
BETWEEN(s8, u8)
BETWEEN(s8, s16)
BETWEEN(u8, s8)
BETWEEN(u8, s16)
BETWEEN(s16, s8)
BETWEEN(s16, u8)

/* Sums of 32 and 64 bits, and values from the row's family to the column's; sums are never aligned. */
typedef struct kernels {
	qn_quantized_fn *sums, *wide_sums, *quantized[QN_NFAMILY][QN_NFAMILY];
} kernels;

enum { WITH_ONE, BY_AXIS, ALIGNED_SCALES };

static void
requantize_run(const qn_eval *e, const void *args)
{
	static const kernels by[] = {
		{from_32,
		 from_64,
		 {{from_quantized, s8_u8, s8_s16},
		  {u8_s8, from_quantized, u8_s16},
		  {s16_s8, s16_u8, from_quantized}}},
		{axis_from_32,
		 axis_from_64,
		 {{axis_from_quantized, axis_s8_u8, axis_s8_s16},
		  {axis_u8_s8, axis_from_quantized, axis_u8_s16},
		  {axis_s16_s8, axis_s16_u8, axis_from_quantized}}},
		{NULL,
		 NULL,
		 {{aligned_quantized, aligned_s8_u8, aligned_s8_s16},
		  {aligned_u8_s8, aligned_quantized, aligned_u8_s16},
		  {aligned_s16_s8, aligned_s16_u8, aligned_quantized}}},
	};
	const qn_elem *in = qn_in_type(e->g, e->n, 0)->elem;
	const kernels *k = &by[e->n->attr->requantize.align != 0   ? ALIGNED_SCALES
			       : qn_zero_points_differ(e->g, e->n) ? BY_AXIS
								   : WITH_ONE];

	/* NOLINTBEGIN(clang-analyzer-core.CallAndMessage): align.c refuses sums */
	if (in->bits == 64)
		k->wide_sums(e, args);
	else if (in->bits == 32)
		k->sums(e, args);
	/* NOLINTEND(clang-analyzer-core.CallAndMessage) */
	else
		k->quantized[qn_family_of(in)][qn_family_of(e->n->type->elem)](e, args);
}

static void *
requantize_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	const bool sums = qn_in_type(g, n, 0)->elem->bits == 32 && !qn_zero_points_differ(g, n);
	/* Of one run, room is 0. */
	const qn_requantize_args *r = sums && *room > 0 ? one_prepare(g, n, a) : NULL;

	return r != NULL ? qn_int_rescale_make(g, n, r, a) : NULL;
}

static void
requantize_fast(const qn_eval *e, const void *args)
{
	(void)args;
	qn_int_rescale_run(e->plan, e);
}

static void *
scast_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_copy_args *d = QN_NEW(a, qn_copy_args, 1);
	size_t in = qn_type_bytes(qn_in_type(g, n, 0)), out = qn_type_bytes(n->type);

	if (in != out)
		return qn_int_refuse(g, n, "%zu bytes in and %zu out", in, out);
	if (!qn_int_sizes(g, n))
		return NULL;
	d->n = (int32_t)out;
	return d;
}

static void
scast_run(const qn_eval *e, const void *args)
{
	const qn_copy_args *d = args;

	qn_copy(e->in[0], d->n, e->out);
}

const qn_impl qn_impl_quantize = {.real = quantize_real, .refuse = quantize_refuse};
const qn_impl qn_impl_dequantize = {
	.quantized = {.prepare = dequantize_prepare, .run = dequantize_run},
};
const qn_impl qn_impl_requantize = {
	.quantized = {.prepare = requantize_prepare,
		      .run = requantize_run,
		      .plan = requantize_plan,
		      .fast = requantize_fast,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_scast = {
	.quantized = {.prepare = scast_prepare, .run = scast_run, .families = QN_ALL_FAMILIES}};
