/* SPDX-License-Identifier: Apache-2.0 */
/* log_mel.c - see log_mel.h.
 *
 *   wide    a quarter of a sine wave · half of the window · falling slopes of the triangles
 *   narrow  first bin of each band · curve of the logarithm · curve of log2(1 - 1/x), or cosines */
#include "runtime/log_mel.h"

#include <math.h>

#include "runtime/impl_util.h"
#include "runtime/math.h"
#include "runtime/mel.h"

enum { LOG_LINES = 128, SHRINK_LINES = 192 }; /* a line of the second is 1/16 wide */

static const double PI = 3.14159265358979323846;
static const double LN2 = 0.69314718055994530942;

size_t
qn_features_work(const void *args)
{
	const qn_features_args *a = args;

	return 8 * (size_t)a->channels + ((size_t)8 << a->bits);
}

static int32_t
fixed(double v, int bits)
{
	const double scaled = floor(ldexp(v, bits) + 0.5);

	return (int32_t)(scaled < INT32_MAX ? scaled : INT32_MAX);
}

/* Samples and results are i16, samples in steps of 1/32768, results of the attribute `scale`. */
static bool
has_types(const qn_graph *g, const qn_node *n)
{
	const qn_type *x = qn_in_type(g, n, 0);

	if (!qn_int_check_quantized(g, n, x))
		return false;
	if (qn_family_of(x->elem) != QN_FAMILY_s16 || qn_scale_of(g, x) != 0x1p-15) {
		(void)qn_int_refuse(g, n, "only of i16 samples with scale 1/32768, which are PCM");
		return false;
	}
	if (!qn_int_check_quantized(g, n, n->type))
		return false;
	if (!qn_has_fixed_output(&g->model->types, n, n->type->elem)) {
		(void)qn_int_refuse(g, n, "only a result of i16 with scale %g",
				    n->attr->mfcc.scale);
		return false;
	}
	return true;
}

static void
fill_wide(qn_features_call *d, const qn_mel *m, qn_arena *a)
{
	const int32_t quarter = (int32_t)(m->fft / 4), half = (int32_t)m->mirror / 2 + 1;
	const int32_t bins = (int32_t)(m->bin[m->channels + 1] - m->bin[0]);
	int32_t *to = QN_NEW(a, int32_t, (size_t)(quarter + 1 + half + bins));

	d->args.wide = to;
	d->args.slope = quarter + 1 + half;
	d->args.wide_n = d->args.slope + bins;
	for (int32_t k = 0; k <= quarter; k++)
		*to++ = fixed(qn_sin(2.0 * PI * k / (double)m->fft), 30);
	for (int32_t k = 0; k < half; k++)
		*to++ = fixed(m->shape[k], 31);
	for (int32_t k = 0; k < bins; k++)
		*to++ = fixed(m->slope[k], 24);
}

/* Bins and the logarithm's curve, and where `more` entries begin. */
static int16_t *
fill_narrow(qn_features_call *d, const qn_mel *m, int32_t more, qn_arena *a)
{
	const int32_t bins = (int32_t)m->channels + 2;
	int16_t *to = QN_NEW(a, int16_t, (size_t)(bins + LOG_LINES + 1 + more));

	d->args.narrow = to;
	d->args.narrow_n = bins + LOG_LINES + 1 + more;
	for (int32_t b = 0; b < bins; b++)
		*to++ = (int16_t)m->bin[b];
	for (int32_t i = 0; i <= LOG_LINES; i++) {
		const double x = (double)i / LOG_LINES;

		*to++ = (int16_t)fixed(qn_log1p(x) / LN2 - x, 16);
	}
	return to;
}

/* factor as scale / 2^down. */
static void
set_scale(qn_features_args *a, double factor)
{
	int exponent;
	const double part = frexp(factor, &exponent);

	a->scale = fixed(part, 31);
	a->down = 31 - exponent;
}

static qn_features_call *
new_call(const qn_graph *g, const qn_node *n, const qn_mel *m, qn_arena *a)
{
	qn_features_call *d = QN_NEW(a, qn_features_call, 1);

	d->args = (qn_features_args){
		.rows = (int32_t)(qn_static_count(qn_in_type(g, n, 0)) / m->samples),
		.samples = (int32_t)m->samples,
		.frames = (int32_t)m->frames,
		.window = (int32_t)m->window,
		.hop = (int32_t)m->hop,
		.mirror = (int32_t)m->mirror,
		.channels = (int32_t)m->channels,
	};
	while ((INT64_C(2) << d->args.bits) < m->fft)
		d->args.bits++;
	d->work = QN_NEW(a, int64_t, qn_features_work(&d->args) / sizeof(int64_t));
	fill_wide(d, m, a);
	return d;
}

void *
qn_log_mel_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_log_mel *at = &n->attr->log_mel;

	if (!has_types(g, n))
		return NULL;
	const qn_mel *m = qn_mel_of(g, n, a);
	qn_features_call *d = new_call(g, n, m, a);
	int16_t *curve = fill_narrow(d, m, at->pcan != 0 ? SHRINK_LINES + 1 : 0, a);

	d->args.smoothing[0] = fixed(at->even_smoothing, 18);
	d->args.smoothing[1] = fixed(at->odd_smoothing, 18);
	d->args.remaining = fixed(at->min_signal_remaining, 18);
	d->args.pcan = (int32_t)at->pcan;
	d->args.strength = fixed(at->strength, 16);
	d->args.offset = fixed(at->offset, 16);
	d->args.most = fixed(qn_ln(INT16_MAX) / LN2 - (double)at->gain_bits, 16);
	set_scale(&d->args, ldexp(LN2, (int)at->scale_shift - 16));
	for (int32_t i = 0; at->pcan != 0 && i <= SHRINK_LINES; i++)
		curve[i] = (int16_t)fixed(qn_log1p(-qn_exp(-LN2 * (1.0 + i / 16.0))) / LN2, 15);
	return d;
}

void *
qn_mfcc_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_mfcc *at = &n->attr->mfcc;

	if (!has_types(g, n))
		return NULL;
	const qn_mel *m = qn_mel_of(g, n, a);
	const int32_t channels = (int32_t)m->channels, coefs = (int32_t)at->coefficients;
	qn_features_call *d = new_call(g, n, m, a);
	int16_t *cosine = fill_narrow(d, m, coefs * channels, a);

	d->args.coefs = coefs;
	d->args.add = fixed(at->log_offset, 31); /* 15 bits of a sample, 16 of a level */
	set_scale(&d->args, sqrt(2.0 / channels) * LN2 / at->scale * 0x1p-16);
	for (int32_t j = 0; j < coefs; j++)
		for (int32_t c = 0; c < channels; c++)
			*cosine++ = (int16_t)fixed(qn_cos(PI * j * (c + 0.5) / channels), 14);
	return d;
}
