/* SPDX-License-Identifier: Apache-2.0 */
/* impl_dynamic.c - quantization with a scale that is computed at run time.
 *
 *   dynamic_fake_quant   the definition in floats: q = round(x / s) * s, s = max |x| / 127
 *   dynamic_quantize     the same on quantized values: values, mantissa, exponent 0
 *   dynamic_values, dynamic_mantissa
 *   dynamic_rescale      sums of products of such values with the mantissa and exponent, and a bias, to fixed parameters */
#include <math.h>
#include <string.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

/* ---- in floats ---- */

typedef struct range {
	float scale, least, most, zero;
} range;

static range
range_of(const float *x, int64_t n, bool asymmetric)
{
	float lo = 0, hi = 0;

	for (int64_t i = 0; i < n; i++) {
		lo = x[i] < lo ? x[i] : lo;
		hi = x[i] > hi ? x[i] : hi;
	}
	if (!asymmetric) {
		hi = hi > -lo ? hi : -lo;
		return (range){hi / 127.0F, -127.0F, 127.0F, 0};
	}
	const float scale = (hi - lo) / 255.0F;
	const float zero = scale > 0 ? rintf(-lo / scale) : 0;
	return (range){scale, -zero, 255.0F - zero, zero};
}

static void
fake_quant_real(const qn_eval *e)
{
	const qn_attrs_dynamic *a = &e->n->attr->dynamic;
	const qn_type *type = e->n->type;
	const int64_t count = qn_static_count(type);
	const int64_t n = a->rows == 1 && count > 0 ? type->dim[type->rank - 1] : count;
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t first = 0; first < count; first += n) {
		const range r = range_of(x + first, n, a->asymmetric == 1);

		for (int64_t i = first; i < first + n; i++) {
			float q = r.scale > 0 ? rintf(x[i] / r.scale) : 0;

			q = q < r.least ? r.least : q > r.most ? r.most : q;
			y[i] = q * r.scale;
		}
	}
}

/* ---- on quantized values ---- */

static void *
values_prepare(const qn_graph *g, const qn_node *n, qn_arena *arena)
{
	const qn_attrs_dynamic *a = &n->attr->dynamic;
	const qn_type *x = qn_in_type(g, n, 0);
	qn_dynamic_args *d = QN_NEW(arena, qn_dynamic_args, 1);

	if (!qn_int_check_quantized(g, n, x))
		return NULL;
	*d = (qn_dynamic_args){.rows = 1,
			       .n = (int32_t)qn_static_count(x),
			       .zi = qn_zp_of(g, x),
			       .asymmetric = (int32_t)a->asymmetric};
	if (a->rows == 1) {
		d->rows = (int32_t)qn_dim_product(x, 0, x->rank - 1);
		d->n = (int32_t)x->dim[x->rank - 1];
	}
	return d;
}

QN_CALL_BY_FAMILY(mantissa_quantized, qn_dynamic_mantissa, e->in[0])
QN_CALL_BY_FAMILY(symmetric_quantized, qn_dynamic_values, e->in[0])
QN_CALL_BY_FAMILY(centred_quantized, qn_dynamic_centred, e->in[0])

static void
values_quantized(const qn_eval *e, const void *args)
{
	const qn_dynamic_args *d = args;

	if (d->asymmetric != 0)
		centred_quantized(e, args);
	else
		symmetric_quantized(e, args);
}

static void
quantize_quantized(const qn_eval *e, const void *args)
{
	static qn_quantized_fn *const field[] = {values_quantized, mantissa_quantized};

	if (e->part < QN_COUNT(field))
		field[e->part](e, args);
	else
		memset(e->out, 0, qn_type_bytes(e->n->type->field[e->part]));
}

/* ---- rescaling ---- */

enum { LEAST_SHIFT = -100, MOST_SHIFT = 60 }; /* of a multiplier, before the mantissa's */

typedef struct rescale_call {
	qn_dynamic_rescale_args args; /* of a float result only what says where values are */
	double bias;                  /* scale of the bias */
} rescale_call;

static double
sum_scale(const qn_graph *g, const qn_node *n, int32_t c)
{
	const qn_elem *e = qn_in_type(g, n, 0)->elem;
	double scale;
	int64_t zp;

	qn_elem_param(&g->model->types, e, qn_elem_nparams(e) == 1 ? 0 : (size_t)c, &scale, &zp);
	return scale;
}

static bool
multipliers(const qn_graph *g, const qn_node *n, qn_arena *arena, qn_dynamic_rescale_args *d)
{
	int32_t *mult = QN_NEW(arena, int32_t, (size_t)d->mult_n);
	int8_t *shift = QN_NEW(arena, int8_t, (size_t)d->mult_n);
	const double to = qn_scale_of(g, n->type);

	for (int32_t i = 0; i < d->mult_n; i++) {
		const double M = sum_scale(g, n, i) / to;
		int32_t s = 0;

		if (!(M >= 0x1p-100) || !isfinite(M))
			return qn_int_refuse(g, n, "a multiplier of %g", M) != NULL;
		qn_multiplier_split(M, &mult[i], &s);
		if (s < LEAST_SHIFT || s > MOST_SHIFT)
			return qn_int_refuse(g, n, "a multiplier of %g", M) != NULL;
		shift[i] = (int8_t)s;
	}
	d->mult = mult;
	d->shift = shift;
	return true;
}

/* The bias is in steps of the result divided by 1, 2, 4 … 2^16. */
static bool
fraction_of(const qn_graph *g, const qn_node *n, int32_t *fraction)
{
	enum { MOST = 16 };

	*fraction = 0;
	if (n->nin < 4)
		return true;
	const double from = qn_scale_of(g, qn_in_type(g, n, 3)), to = qn_scale_of(g, n->type);

	while (*fraction <= MOST && !(fabs(ldexp(from, *fraction) / to - 1) < 0x1p-20))
		++*fraction;
	return *fraction <= MOST ||
	       qn_int_refuse(g, n,
			     "a bias in steps of %g; they must be those of the result, %g, divided "
			     "by a power of two up to 2^16",
			     from, to) != NULL;
}

static bool
sums_ok(const qn_graph *g, const qn_node *n)
{
	const qn_elem *e = qn_in_type(g, n, 0)->elem;
	int64_t zp = 0;
	double scale;

	for (size_t i = 0; i < qn_elem_nparams(e) && zp == 0; i++)
		qn_elem_param(&g->model->types, e, i, &scale, &zp);
	if (!e->is_signed || zp != 0 ||
	    (e->bits != 8 && e->bits != 16 && e->bits != 32 && e->bits != 64))
		return qn_int_refuse(g, n,
				     "only signed values of 8, 16, 32 or 64 bits without a "
				     "zero point") != NULL;
	return qn_int_sizes(g, n);
}

static void *
rescale_prepare(const qn_graph *g, const qn_node *n, qn_arena *arena)
{
	const qn_type *x = qn_in_type(g, n, 0), *type = n->type;
	rescale_call *call = QN_NEW(arena, rescale_call, 1);
	qn_dynamic_rescale_args *d = &call->args;
	int64_t lo = 0, hi = 0;

	if (!sums_ok(g, n))
		return NULL;
	d->channels = x->rank > 0 ? (int32_t)x->dim[x->rank - 1] : 1;
	d->rows = (int32_t)qn_static_count(qn_in_type(g, n, 1));
	if (qn_static_count(x) == 0 || d->rows == 0)
		return qn_int_refuse(g, n, "a tensor without elements");
	d->inner = (int32_t)(qn_static_count(x) / d->rows / d->channels);
	d->bits = x->elem->bits;
	d->mult_n = x->elem->gran == QN_PER_AXIS ? d->channels : 1;
	d->mode = g->model->rounding;
	if (n->nin > 3)
		call->bias = qn_scale_of(g, qn_in_type(g, n, 3));
	if (qn_elem_is_float(type->elem))
		return call;
	if (type->elem->gran != QN_PER_TENSOR || !qn_elem_in_family(&g->model->types, type->elem))
		return qn_int_refuse(g, n,
				     "only a result of storage i8, u8 or i16 with one scale "
				     "and a zero point inside it");
	qn_clamp_range(g, n, &lo, &hi);
	if (lo > hi)
		return qn_int_refuse(g, n, "the limits [%lld, %lld] leave no quantized value",
				     (long long)lo, (long long)hi);
	d->lo = (int32_t)lo;
	d->hi = (int32_t)hi;
	d->zo = qn_zp_of(g, type);
	return fraction_of(g, n, &d->fraction) && multipliers(g, n, arena, d) ? call : NULL;
}

static void
rescale_to_float(const qn_eval *e, const rescale_call *call)
{
	const qn_dynamic_rescale_args *d = &call->args;
	const int64_t row = (int64_t)d->inner * d->channels;
	const int32_t *mantissa = e->in[1], *exponent = e->in[2];
	const int32_t *bias = e->n->nin > 3 ? e->in[3] : NULL;
	float *y = e->out;

	for (int64_t i = 0; i < d->rows * row; i++) {
		const int32_t c = (int32_t)(i % d->channels), r = (int32_t)(i / row);
		const double scale =
			ldexp(sum_scale(e->g, e->n, c) * (double)mantissa[r], exponent[r]);

		y[i] = (float)((double)qn_dynamic_load(e->in[0], d->bits, (int32_t)i) * scale +
			       (bias != NULL ? (double)bias[c] * call->bias : 0));
	}
}

#define RESCALE(name, q, o, a, code)                                                               \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_dynamic_rescale_args d = *(const qn_dynamic_rescale_args *)args;                \
                                                                                                   \
		d.exponent = e->in[2];                                                             \
		d.bias = e->n->nin > 3 ? e->in[3] : NULL;                                          \
		qn_dynamic_rescale##q(&d, e->in[0], e->in[1], e->out);                             \
	}

QN_BY_FAMILY_OF(to_quantized, RESCALE, e->n->type)

static void
rescale_run(const qn_eval *e, const void *args)
{
	if (qn_elem_is_float(e->n->type->elem))
		rescale_to_float(e, args);
	else
		to_quantized(e, args);
}

const qn_impl qn_impl_dynamic_fake_quant = {.real = fake_quant_real};
const qn_impl qn_impl_dynamic_quantize = {.quantized = {.prepare = values_prepare,
							.run = quantize_quantized,
							.families = QN_ALL_FAMILIES}};
const qn_impl qn_impl_dynamic_values = {.quantized = {.prepare = values_prepare,
						      .run = values_quantized,
						      .families = QN_ALL_FAMILIES}};
const qn_impl qn_impl_dynamic_mantissa = {.quantized = {.prepare = values_prepare,
							.run = mantissa_quantized,
							.families = QN_ALL_FAMILIES}};
const qn_impl qn_impl_dynamic_rescale = {
	.quantized = {.prepare = rescale_prepare, .run = rescale_run, .families = QN_ALL_FAMILIES}};
