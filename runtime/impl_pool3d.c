/* SPDX-License-Identifier: Apache-2.0 */
/* impl_pool3d.c - max_pool3d and avg_pool3d of volumes [b, d, h, w, c], as impl_pool.c does of images. */
#include <math.h>

#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/geometry.h"

static qn_pool3d_args
arguments(const qn_graph *g, const qn_node *n)
{
	const qn_geometry s = qn_geometry_pool(g, n);
	qn_pool3d_args d = {.batch = (int32_t)s.batch, .c = (int32_t)s.in_c};

	for (int i = 0; i < 3; i++) {
		d.in[i] = (int32_t)s.in[i];
		d.out[i] = (int32_t)s.out[i];
		d.k[i] = (int32_t)s.kernel[i];
		d.stride[i] = (int32_t)s.stride[i];
		d.dil[i] = (int32_t)s.dil[i];
		d.pad[i] = (int32_t)s.pad[i];
		d.end[i] = (int32_t)s.end[i];
	}
	return d;
}

static const char *
refuse(const qn_graph *g, const qn_node *n)
{
	const qn_geometry s = qn_geometry_pool(g, n);

	if (!qn_geometry_is_small(&s) || qn_static_count(qn_in_type(g, n, 0)) > INT32_MAX)
		return "windows beyond 2^29 positions, or 2^31 elements";
	return qn_geometry_has_empty(&s) ? "a window is completely in the padding" : NULL;
}

/* One window: its largest elements, or their mean, in y[c]. */
static void
window(const qn_eval *e, const qn_pool3d_args *a, const int32_t *at, const float *x, bool mean,
       float *y)
{
	const qn_simd *simd = qn_simd_of(e);
	int32_t k[3] = {0, 0, 0}, n = 0, all = mean ? qn_pool3d_taps(a, at) : 0;

	for (int32_t c = 0; c < a->c; c++)
		y[c] = mean ? 0.0f : -HUGE_VALF;
	do {
		int64_t place = qn_volume_at(a->in, a->stride, a->dil, a->pad, at, k);

		if (place < 0)
			continue;
		n++;
		if (mean)
			simd->add(y, x + place * a->c, y, a->c);
		else
			simd->larger(x + place * a->c, y, a->c);
	} while (qn_volume_next(a->k, k) != 0);
	for (int32_t c = 0; mean && c < a->c; c++)
		y[c] /= (float)(all > 0 ? all : n);
}

static void
pool(const qn_eval *e, bool mean)
{
	const qn_pool3d_args a = arguments(e->g, e->n);
	const float *x = e->in[0];
	float *y = e->out;

	for (int32_t b = 0; qn_static_count(e->n->type) > 0 && b < a.batch; b++) {
		int32_t at[3] = {0, 0, 0};

		do {
			window(e, &a, at, x, mean, y);
			y += a.c;
		} while (qn_volume_next(a.out, at) != 0);
		x += qn_static_count(qn_in_type(e->g, e->n, 0)) / a.batch;
	}
}

static void
max_pool3d_real(const qn_eval *e)
{
	pool(e, false);
}

static void
avg_pool3d_real(const qn_eval *e)
{
	pool(e, true);
}

static void *
pool3d_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_geometry s = qn_geometry_pool(g, n);
	qn_pool3d_args *d = QN_NEW(a, qn_pool3d_args, 1);

	if (!qn_int_check_quantized(g, n, n->type))
		return NULL;
	if (qn_in_type(g, n, 0)->elem != n->type->elem)
		return qn_int_refuse(g, n, "only equal types in and out");
	if (refuse(g, n) != NULL)
		return qn_int_refuse(g, n, "%s", refuse(g, n));
	if (s.kernel[0] * s.kernel[1] > qn_sum_terms(g, n) / s.kernel[2])
		return qn_int_refuse(g, n, "windows of more than %lld positions",
				     (long long)qn_sum_terms(g, n));
	*d = arguments(g, n);
	d->zi = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	return d;
}

QN_CALL_BY_FAMILY(max_pool3d_codes, qn_max_pool3d, e->in[0])
QN_CALL_BY_FAMILY(avg_pool3d_codes, qn_avg_pool3d, e->in[0])

const qn_impl qn_impl_max_pool3d = {
	.real = max_pool3d_real,
	.refuse = refuse,
	.quantized = {.prepare = pool3d_prepare,
		      .run = max_pool3d_codes,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_avg_pool3d = {
	.real = avg_pool3d_real,
	.refuse = refuse,
	.quantized = {.prepare = pool3d_prepare,
		      .run = avg_pool3d_codes,
		      .families = QN_ALL_FAMILIES},
};
