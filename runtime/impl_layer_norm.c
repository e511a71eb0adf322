/* SPDX-License-Identifier: Apache-2.0 */
/* impl_layer_norm.c - layer_norm and rms_norm over the last axes, instance_norm over height and width of each
 * image and channel of [N,H,W,C].
 *
 *   y = (x - mean) / sqrt(variance + epsilon) * scale + bias
 *   y = x / sqrt(mean of x^2 + epsilon) * scale                 rms_norm
 *
 * Floats: mean and variance, the mean of squared differences, are each one f32 sum in the order of
 * the elements, divided by their number; every operation rounds to f32.
 * Quantized: kernels/layer_norm.h.in. */
#include <math.h>

#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

typedef struct shape {
	int64_t outer, n, inner; /* n elements, inner apart, are normalized together */
	bool each;               /* scale and bias: one for each of n, else of inner */
	bool centred;            /* the mean is taken off */
	double epsilon;
} shape;

static shape
shape_of(const qn_node *n)
{
	const qn_type *t = n->type;

	if (n->op == QN_OP_instance_norm)
		return (shape){t->dim[0], t->dim[1] * t->dim[2],         t->dim[3], false,
			       true,      n->attr->instance_norm.epsilon};
	int32_t axis = qn_axis_of(t, n->attr->layer_norm.axis);
	return (shape){qn_dim_product(t, 0, axis), qn_dim_product(t, axis, t->rank), 1, true,
		       n->op == QN_OP_layer_norm,  n->attr->layer_norm.epsilon};
}

static void
row_real(const shape *s, const float *x, const float *w, const float *b, float *y)
{
	float mean = 0.0f, variance = 0.0f, deviation;
	int64_t wstep = s->each ? 1 : 0;

	for (int64_t k = 0; s->centred && k < s->n; k++)
		mean += x[k * s->inner];
	mean /= (float)s->n;
	for (int64_t k = 0; k < s->n; k++) {
		float d = x[k * s->inner] - mean;

		variance += d * d;
	}
	variance /= (float)s->n;
	/* A double root of an f32, rounded to f32, is the correctly rounded f32 root. */
	deviation = (float)sqrt((double)(variance + (float)s->epsilon));
	for (int64_t k = 0; k < s->n; k++) {
		float d = x[k * s->inner] - mean;

		/* Equal elements without an epsilon: nothing to divide. */
		d = deviation > 0.0f ? d / deviation : d;
		d *= w[k * wstep];
		y[k * s->inner] = b != NULL ? d + b[k * wstep] : d;
	}
}

static void
norm_real(const qn_eval *e)
{
	shape s = shape_of(e->n);
	const float *x = e->in[0], *w = e->in[1], *b = e->n->nin > 2 ? e->in[2] : NULL;
	float *y = e->out;

	for (int64_t o = 0; o < s.outer; o++)
		for (int64_t i = 0; i < s.inner; i++) {
			int64_t at = o * s.n * s.inner + i, from = s.each ? 0 : i;

			row_real(&s, x + at, w + from, b != NULL ? b + from : NULL, y + at);
		}
}

/* What the kernels of a family have room for (kernels/layer_norm.h.in). */
typedef struct room {
	int64_t terms;      /* elements with one mean, at most */
	double variance;    /* above that of any quantized values: (255 / 2)^2, (65535 / 2)^2 */
	double square;      /* above that of any quantized value less its zero point */
	int32_t normal;     /* bits of the normalized value */
	int32_t drop;       /* bits taken off its product with a quantized value of w */
	int32_t bias;       /* bits by which a quantized value of b is shifted left */
	const char *limits; /* text for `terms` */
} room;

/* i16: n^2 * variance < 2^61. */
static const room rooms[QN_NFAMILY] = {
	[QN_FAMILY_s8] = {(1 << 20) - 1, 0x1p14, 0x1p16, 22, 0, 20, "2^20 - 1"},
	[QN_FAMILY_u8] = {(1 << 20) - 1, 0x1p14, 0x1p16, 22, 0, 20, "2^20 - 1"},
	[QN_FAMILY_s16] = {46340, 0x1p30, 0x1p30, 30, 15, 15, "46340 in storage i16"},
};

/* epsilon in units of the kernel's sums, with as much fraction as there is room for. */
static bool
set_epsilon(const qn_graph *g, const qn_node *n, const shape *s, const room *r, qn_norm_args *d)
{
	double scale = qn_scale_of(g, qn_in_type(g, n, 0));
	double count = (double)s->n;
	double most = count * count * (s->centred ? r->variance : r->square); /* of the radicand */

	double eps = s->epsilon / scale * count / scale * count;

	d->fraction = 46;
	while (d->fraction > 0 && !((most + eps) * ldexp(1.0, d->fraction) < 0x1p61))
		d->fraction -= 2;
	if (!(most + eps < 0x1p61)) {
		(void)qn_int_refuse(g, n, "an epsilon of %g for an input scale of %g", s->epsilon,
				    scale);
		return false;
	}
	int64_t fixed = (int64_t)floor(eps * ldexp(1.0, d->fraction) + 0.5);
	d->eps_high = (int32_t)(fixed >> 31);
	d->eps_low = (int32_t)(fixed & INT32_MAX);
	return true;
}

static void *
norm_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_norm_args *d = QN_NEW(a, qn_norm_args, 1);
	const qn_type *w = qn_in_type(g, n, 1), *b = n->nin > 2 ? qn_in_type(g, n, 2) : w;
	shape s = shape_of(n);

	if (!qn_int_check_quantized(g, n, qn_in_type(g, n, 0)) ||
	    !qn_int_check_quantized(g, n, w) || !qn_int_check_quantized(g, n, b) ||
	    !qn_int_check_quantized(g, n, n->type))
		return NULL;
	const room *r = &rooms[qn_node_family(g, n)];
	if (s.n < 1 || s.n > r->terms)
		return qn_int_refuse(g, n, "%lld elements with one mean, only from 1 to %s",
				     (long long)s.n, r->limits);
	double out = qn_scale_of(g, n->type);
	d->bits = r->normal;
	while (s.n > INT64_C(1) << 2 * (r->normal - d->bits))
		d->bits--;
	if (!set_epsilon(g, n, &s, r, d) ||
	    !qn_int_multiplier(g, n, "scale's scale / result scale",
			       ldexp(qn_scale_of(g, w) / out, 8 + r->drop - d->bits), &d->mw,
			       &d->shw) ||
	    !qn_int_multiplier(g, n, "bias scale / result scale",
			       ldexp(qn_scale_of(g, b) / out, 8 - r->bias), &d->mb, &d->shb))
		return NULL;
	d->outer = (int32_t)s.outer;
	d->n = (int32_t)s.n;
	d->inner = (int32_t)s.inner;
	d->each = s.each ? 1 : 0;
	d->zw = qn_zp_of(g, w);
	d->zb = qn_zp_of(g, b);
	d->zi = s.centred ? 0 : qn_zp_of(g, qn_in_type(g, n, 0));
	d->about_zero = s.centred ? 0 : 1;
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

#define NORM(name, q, o, a, code)                                                                  \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const code *b = e->n->nin > 2 ? e->in[2] : NULL;                                   \
                                                                                                   \
		qn_norm##q(args, e->in[0], e->in[1], b, e->out);                                   \
	}
QN_BY_FAMILY(norm_quantized, NORM)

const qn_impl qn_impl_layer_norm = {
	.real = norm_real,
	.quantized = {.prepare = norm_prepare, .run = norm_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_instance_norm = {
	.real = norm_real,
	.quantized = {.prepare = norm_prepare, .run = norm_quantized, .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_rms_norm = {
	.real = norm_real,
	.quantized = {.prepare = norm_prepare, .run = norm_quantized, .families = QN_ALL_FAMILIES},
};
