/* SPDX-License-Identifier: Apache-2.0 */
/* impl_pool.c - max_pool, avg_pool and global_avg_pool of images [b, h, w, c].
 *
 * Padding does not count: an average divides by the number of positions inside the image, or, with
 * count_include_pad, by those inside image and pads, where a pad is the value 0.  Floats are summed row
 * by row in f32 from 0.  Quantized: averages round half away from zero; global_avg_pool is TFLite's
 * Mean, which rescales the sum with a multiplier of scale in / scale out / n. */
#include <math.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/geometry.h"
#include "runtime/plain.h"

typedef void visit_fn(const qn_simd *simd, float *acc, const float *x, int64_t c);

static void
take_larger(const qn_simd *simd, float *acc, const float *x, int64_t c)
{
	simd->larger(x, acc, c);
}

static void
take_sum(const qn_simd *simd, float *acc, const float *x, int64_t c)
{
	simd->add(acc, x, acc, c);
}

/* Visits the positions of a window inside image x, row by row; returns their number. */
static int64_t
walk(const qn_eval *e, const qn_geometry *s, int64_t oy, int64_t ox, const float *x, float *acc,
     visit_fn *visit)
{
	const qn_simd *simd = qn_simd_of(e);
	int64_t count = 0;

	for (int64_t ky = 0; ky < s->kernel[0]; ky++) {
		int64_t iy = oy * s->stride[0] - s->pad[0] + ky * s->dil[0];

		for (int64_t kx = 0; iy >= 0 && iy < s->in[0] && kx < s->kernel[1]; kx++) {
			int64_t ix = ox * s->stride[1] - s->pad[1] + kx * s->dil[1];

			if (ix < 0 || ix >= s->in[1])
				continue;
			visit(simd, acc, x + (iy * s->in[1] + ix) * s->in_c, s->in_c);
			count++;
		}
	}
	return count;
}

/* How many of k positions, step apart from `at` on, lie before `end`. */
static int64_t
taps_along(int64_t at, int64_t step, int64_t k, int64_t end)
{
	int64_t n = at < end ? (end - 1 - at) / step + 1 : 0;

	return n < k ? n : k;
}

/* Taps of the window at (oy, ox) inside image and pads; 0 when pads do not count. */
static int64_t
taps(const qn_geometry *s, int64_t oy, int64_t ox)
{
	const int64_t at[2] = {oy, ox};
	int64_t n = 1;

	for (int i = 0; i < 2; i++)
		n *= s->end[i] == 0 ? 0
				    : taps_along(at[i] * s->stride[i] - s->pad[i], s->dil[i],
						 s->kernel[i], s->end[i]);
	return n;
}

/* All windows, each from `first`; divided by the number of positions if mean. */
static void
pool(const qn_eval *e, float first, visit_fn *visit, bool mean)
{
	qn_geometry s = qn_geometry_pool(e->g, e->n);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t b = 0; b < s.batch; b++, x += s.in[0] * s.in[1] * s.in_c) {
		for (int64_t oy = 0; oy < s.out[0]; oy++) {
			for (int64_t ox = 0; ox < s.out[1]; ox++, y += s.in_c) {
				for (int64_t k = 0; k < s.in_c; k++)
					y[k] = first;
				int64_t inside = walk(e, &s, oy, ox, x, y, visit);
				int64_t n = mean ? taps(&s, oy, ox) : 0;
				for (int64_t k = 0; mean && k < s.in_c; k++)
					y[k] /= (float)(n > 0 ? n : inside);
			}
		}
	}
}

static void
max_pool_real(const qn_eval *e)
{
	pool(e, -HUGE_VALF, take_larger, false);
}

/* The largest element of channel c in the window at (oy, ox) of the image that begins at element
 * `from`. */
static qn_number
largest(const qn_eval *e, const qn_geometry *s, int64_t from, int64_t oy, int64_t ox, int64_t c)
{
	const qn_plain p = qn_plain_of(e->n->type);
	const qn_number_kind kind = qn_number_kind_of(p);
	qn_number best = {.u = 0}, x;
	bool any = false;

	for (int64_t k = 0; k < s->kernel[0] * s->kernel[1]; k++) {
		int64_t iy = oy * s->stride[0] - s->pad[0] + k / s->kernel[1] * s->dil[0];
		int64_t ix = ox * s->stride[1] - s->pad[1] + k % s->kernel[1] * s->dil[1];

		if (iy < 0 || iy >= s->in[0] || ix < 0 || ix >= s->in[1])
			continue;
		qn_plain_load(p, e->in[0], from + (iy * s->in[1] + ix) * s->in_c + c, 1, 1, &x);
		if (!any || qn_number_above(x, best, kind))
			best = x;
		any = true;
	}
	return best;
}

static void
max_pool_plain(const qn_eval *e)
{
	const qn_geometry s = qn_geometry_pool(e->g, e->n);
	int64_t plane = s.out[0] * s.out[1], count = qn_static_count(e->n->type);

	for (int64_t i = 0; i < count; i++) {
		int64_t at = i / s.in_c % plane,
			from = i / s.in_c / plane * s.in[0] * s.in[1] * s.in_c;
		const qn_number y = largest(e, &s, from, at / s.out[1], at % s.out[1], i % s.in_c);

		qn_plain_store(qn_plain_of(e->n->type), e->out, i, 1, &y);
	}
}

static void
avg_pool_real(const qn_eval *e)
{
	pool(e, 0.0f, take_sum, true);
}

static void
global_avg_pool_real(const qn_eval *e)
{
	const qn_type *in = qn_in_type(e->g, e->n, 0);
	int64_t n = in->dim[1] * in->dim[2], c = in->dim[3];
	const float *x = e->in[0];
	const qn_simd *simd = qn_simd_of(e);
	float *y = e->out;

	for (int64_t b = 0; b < in->dim[0]; b++, y += c) {
		for (int64_t k = 0; k < c; k++)
			y[k] = 0.0f;
		for (int64_t i = 0; i < n; i++, x += c)
			take_sum(simd, y, x, c);
		for (int64_t k = 0; k < c; k++)
			y[k] /= (float)n;
	}
}

static const char *
pool_refuse(const qn_graph *g, const qn_node *n)
{
	qn_geometry s = qn_geometry_pool(g, n);

	return qn_geometry_has_empty(&s) ? "a window is completely in the padding" : NULL;
}

static const char *
global_refuse(const qn_graph *g, const qn_node *n)
{
	const qn_type *in = qn_in_type(g, n, 0);

	return in->dim[1] * in->dim[2] == 0 ? "an image without pixels has no mean" : NULL;
}

static void *
pool_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_geometry s = qn_geometry_pool(g, n);
	qn_pool_call *c = QN_NEW(a, qn_pool_call, 1);

	if (!qn_int_check_quantized(g, n, n->type))
		return NULL;
	if (qn_in_type(g, n, 0)->elem != n->type->elem)
		return qn_int_refuse(g, n, "only equal types in and out");
	if (!qn_geometry_is_small(&s) || s.kernel[0] * s.kernel[1] > qn_sum_terms(g, n))
		return qn_int_refuse(g, n, "windows of more than 1024 rows or %lld positions",
				     (long long)qn_sum_terms(g, n));
	if (qn_geometry_has_empty(&s))
		return qn_int_refuse(g, n, "a window is completely in the padding");
	c->args = (qn_pool_args){
		QN_WINDOW_ARGS(&s),
		.c = (int32_t)s.in_c,
		.end_h = (int32_t)s.end[0],
		.end_w = (int32_t)s.end[1],
		.zi = qn_zp_of(g, n->type),
		.lo = (int32_t)n->type->elem->qmin,
		.hi = (int32_t)n->type->elem->qmax,
	};
	c->rows = QN_NEW(a, const void *, (size_t)s.kernel[0]);
	return c;
}

#define MAX_POOL(name, q, o, a, code)                                                              \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_pool_call *c = args;                                                      \
                                                                                                   \
		qn_max_pool##q(&c->args, e->in[0], (const code **)c->rows, e->out);                \
	}

QN_BY_FAMILY(max_pool_quantized, MAX_POOL)

#define AVG_POOL(name, q, o, a, code)                                                              \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		const qn_pool_call *c = args;                                                      \
                                                                                                   \
		qn_avg_pool##q(&c->args, e->in[0], (const code **)c->rows, e->out);                \
	}

QN_BY_FAMILY(avg_pool_quantized, AVG_POOL)

static void *
global_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *in = qn_in_type(g, n, 0);
	qn_mean_args *d = QN_NEW(a, qn_mean_args, 1);

	if (!qn_int_check_quantized(g, n, in) || !qn_int_check_quantized(g, n, n->type))
		return NULL;
	int64_t count = in->dim[1] * in->dim[2];
	if (count == 0 || count > qn_sum_terms(g, n))
		return qn_int_refuse(g, n, "%lld positions, only from 1 to %lld", (long long)count,
				     (long long)qn_sum_terms(g, n));
	if (!qn_int_multiplier(g, n, "input scale / result scale",
			       qn_scale_of(g, in) / qn_scale_of(g, n->type), &d->m, &d->sh))
		return NULL;
	qn_multiplier_divide(count, &d->m, &d->sh);
	d->outer = (int32_t)in->dim[0];
	d->n = (int32_t)count;
	d->inner = (int32_t)in->dim[3];
	d->zi = qn_zp_of(g, in);
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

QN_CALL_BY_FAMILY(global_quantized, qn_mean, e->in[0])

const qn_impl qn_impl_max_pool = {
	.real = max_pool_real,
	.plain = max_pool_plain,
	.refuse = pool_refuse,
	.quantized = {.prepare = pool_prepare,
		      .run = max_pool_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_avg_pool = {
	.real = avg_pool_real,
	.refuse = pool_refuse,
	.quantized = {.prepare = pool_prepare,
		      .run = avg_pool_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_global_avg_pool = {
	.real = global_avg_pool_real,
	.refuse = global_refuse,
	.quantized = {.prepare = global_prepare,
		      .run = global_quantized,
		      .families = QN_ALL_FAMILIES},
};
