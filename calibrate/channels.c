/* SPDX-License-Identifier: Apache-2.0 */
/* channels.c - from the ranges of channels a scale for each and one zero point for all.
 *
 *   [0, 1]  [-0.2, 0.2]  [-4, 50] of i8   ->   the zero point with the least product of the scales
 *
 * With one zero point, windows, pads and depthwise convolutions on such values stay what they are.
 * Each scale is the smallest that holds the channel's range with that zero point. */
#include <math.h>

#include "calibrate/calibrate.h"
#include "ir/diag.h"
#include "runtime/math.h"

/* A finer scale than this part of the coarsest one would be lost in 16 bits, to which channels are
 * aligned before products. */
#define FINEST 0x1p-14

typedef struct ranges {
	const qn_elem *e;
	size_t n;
	double *lo, *hi; /* lo <= 0 <= hi */
} ranges;

/* HUGE_VAL: the zero point leaves no room. */
static double
scale_with(const ranges *r, size_t i, int64_t zp)
{
	const double above = (double)(r->e->qmax - zp), below = (double)(zp - r->e->qmin);
	double scale = 0;

	if (r->hi[i] > 0)
		scale = above > 0 ? r->hi[i] / above : HUGE_VAL;
	if (r->lo[i] < 0)
		scale = fmax(scale, below > 0 ? -r->lo[i] / below : HUGE_VAL);
	return scale;
}

/* The logarithm of the product of the scales. */
static double
cost(const ranges *r, int64_t zp)
{
	double sum = 0;

	for (size_t i = 0; i < r->n; i++) {
		const double scale = scale_with(r, i, zp);

		if (scale > 0) /* not of a channel that is always 0 */
			sum += scale < HUGE_VAL ? qn_ln(scale) : HUGE_VAL;
	}
	return sum;
}

static int64_t
best_zero_point(const ranges *r, bool symmetric)
{
	int64_t best = 0;
	double least = HUGE_VAL;

	for (int64_t zp = r->e->qmin; !symmetric && zp <= r->e->qmax; zp++) {
		const double c = cost(r, zp);

		if (c < least) {
			least = c;
			best = zp;
		}
	}
	return best;
}

/* What a finding holds as a range with 0 in it. */
static void
range_of(const qn_elem *e, const qn_finding *f, double *lo, double *hi)
{
	*lo = fmin(0, f->pair ? (double)(e->qmin - f->zp) * f->scale : f->lo);
	*hi = fmax(0, f->pair ? (double)(e->qmax - f->zp) * f->scale : f->hi);
}

qn_status
qn_channels_bind(const qn_calibration *c, const qn_finding *f, size_t i)
{
	const qn_watch *w = &c->watch[i];
	const size_t n = (size_t)w->sym->len;
	const bool symmetric = w->sym->kind == QN_SYM_SYMMETRIC;
	qn_arena *a = c->m->scratch;
	ranges r = {w->quantize->type->elem, n, QN_NEW(a, double, n), QN_NEW(a, double, n)};
	double *scale = QN_NEW(a, double, n), coarsest = 0;
	int64_t *zp = QN_NEW(a, int64_t, n);

	for (size_t k = 0; k < n; k++)
		range_of(r.e, &f[i + k], &r.lo[k], &r.hi[k]);
	zp[0] = best_zero_point(&r, symmetric);
	for (size_t k = 0; k < n; k++) {
		zp[k] = zp[0];
		scale[k] = scale_with(&r, k, zp[k]);
		coarsest = fmax(coarsest, scale[k]);
	}
	if (!(coarsest >= 0x1p-52)) {
		qn_warn(c->m->env, "calibrate.zero-range", w->quantize->name,
			"all values of $%s are 0; its scales are 1", w->sym->name);
		coarsest = 1 / FINEST;
	}
	for (size_t k = 0; k < n; k++)
		scale[k] = fmax(scale[k], coarsest * FINEST);
	return qn_symbol_bind(&c->m->types, w->quantize->name, w->sym->name, n, scale,
			      symmetric ? NULL : zp);
}
