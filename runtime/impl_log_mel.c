/* SPDX-License-Identifier: Apache-2.0 */
/* impl_log_mel.c - log_mel and mfcc, features of sound (docs/sound.md).
 *
 *   level(c)  = sqrt(sum of w(k) |X(k)|^2) of PCM samples    mfcc: sum of w(k) |X(k)|, of samples from -1 to 1
 *   noise(c) += smoothing (level(c) - noise(c))              from 0 or operand 1 on, frame after frame
 *   log_mel   = scale 2^scale_shift ln(max(1, …)) of the level without the noise, after gain control
 *   mfcc(j)   = sqrt(2 / channels) sum of ln(level(c) + log_offset) cos(pi j (c + 1/2) / channels)
 *
 * Floats: in double, each result rounded once to f32.  Quantized: i16 samples of scale 1/32768, as PCM is, and i16
 * results whose scale is the attribute (log_mel.c). */
#include <math.h>

#include "ir/clamp.h"
#include "runtime/impl_util.h"
#include "runtime/log_mel.h"
#include "runtime/math.h"
#include "runtime/mel.h"

enum { PCM = 32768 };
#define NOISE_ONE 65536.0      /* steps of a noise, as the kernel has it */
#define MOST_NOISE 268435455.0 /* 2^28 - 1, likewise */
static const double PI = 3.14159265358979323846;

/* What a run of the float implementation needs. */
typedef struct buffers {
	const qn_mel *mel;
	const double *turn;
	double *work, *energy; /* [2 fft], [fft / 2] */
	double *level, *noise; /* [channels] */
} buffers;

static void *
plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	buffers *b = QN_NEW(a, buffers, 1);
	const qn_mel *m = qn_mel_of(g, n, a);

	(void)room;
	b->mel = m;
	b->turn = qn_mel_turn(m, a);
	b->work = QN_NEW(a, double, 2 * (size_t)m->fft);
	b->energy = QN_NEW(a, double, (size_t)m->fft / 2);
	b->level = QN_NEW(a, double, (size_t)m->channels);
	b->noise = QN_NEW(a, double, (size_t)m->channels);
	return b;
}

/* Sums over the triangles, of energies or of magnitudes. */
static void
sum_bands(const buffers *b, bool magnitudes)
{
	const qn_mel *m = b->mel;
	double rising = 0;

	for (int64_t band = 0; band <= m->channels; band++) {
		double falling = 0, all = 0;

		for (int64_t k = m->bin[band]; k < m->bin[band + 1]; k++) {
			const double e = magnitudes ? sqrt(b->energy[k]) : b->energy[k];

			falling += m->slope[k - m->bin[0]] * e;
			all += (1.0 - m->slope[k - m->bin[0]]) * e;
		}
		if (band > 0)
			b->level[band - 1] = rising + falling;
		rising = all;
	}
}

/* ---- log_mel ---- */

/* Gain control: for the level without noise, and the noise. */
static double
controlled(const qn_attrs_log_mel *a, double level, double noise, double fft)
{
	const double most = ldexp(INT16_MAX, -(int)a->gain_bits);
	const double gain = qn_pow(noise + a->offset, -a->strength);
	const double r = level * (gain < most ? gain : most);

	return fft * (r < 2.0 ? r * r / 4.0 : r - 1.0);
}

static float
log_mel_of(const qn_attrs_log_mel *a, const buffers *b, int64_t c)
{
	const double level = sqrt(b->level[c]), *noise = &b->noise[c];

	b->noise[c] += (c % 2 == 0 ? a->even_smoothing : a->odd_smoothing) * (level - *noise);
	/* as a state holds it: hops give what a whole clip gives */
	b->noise[c] = *noise > 0 ? rint(fmin(*noise, MOST_NOISE) * NOISE_ONE) / NOISE_ONE : 0;
	const double rest = level - *noise, least = level * a->min_signal_remaining;
	double v = rest > least ? rest : least;
	if (a->pcan != 0)
		v = controlled(a, v, *noise, (double)b->mel->fft);
	return v > 1.0 ? (float)(ldexp(a->scale, (int)a->scale_shift) * qn_ln(v)) : 0.0f;
}

/* The nearest integer of 16 bits; NaN: 0. */
static double
whole_of(double v)
{
	return v == v ? qn_clamp_f64(rint(v), INT16_MIN, INT16_MAX) : 0;
}

/* A noise of 28 bits and 16 fractional ones in three rows, [3, channels]: its highest, middle and lowest 16 bits as
 * integers times the scale of the features.  Quantizing such rows changes nothing, so that float and integer
 * graphs go on from the same states. */
static void
noise_before(const buffers *b, const float *row, double scale)
{
	const int64_t n = b->mel->channels;

	for (int64_t c = 0; c < n; c++) {
		int64_t v = 0;

		for (int64_t k = 0; row != NULL && k < QN_NOISE_ROWS; k++) {
			const double part = whole_of((double)row[k * n + c] / scale);

			v = v * 65536 + (int64_t)part + (k > 0 && part < 0 ? 65536 : 0);
		}
		b->noise[c] = v > 0 ? (double)v / NOISE_ONE : 0;
	}
}

static void
noise_after(const buffers *b, float *to, double scale)
{
	const int64_t n = b->mel->channels;

	for (int64_t c = 0; c < n; c++) {
		const uint64_t v = (uint64_t)(b->noise[c] * NOISE_ONE);

		for (int64_t k = 0; k < QN_NOISE_ROWS; k++)
			to[k * n + c] =
				(float)((double)(int16_t)(uint16_t)(v >> (32 - 16 * k)) * scale);
	}
}

static void
log_mel_real(const qn_eval *e)
{
	const buffers *b = e->plan;
	const qn_mel *m = b->mel;
	const int64_t rows = qn_static_count(qn_in_type(e->g, e->n, 0)) / m->samples;
	const int64_t noises = QN_NOISE_ROWS * m->channels;
	const float *noise = e->n->nin > 1 ? e->in[1] : NULL;
	const double scale = (double)(float)e->n->attr->log_mel.scale;
	float *y = e->out;

	for (int64_t r = 0; r < rows; r++) {
		const float *x = (const float *)e->in[0] + r * m->samples;

		noise_before(b, noise != NULL ? noise + r * noises : NULL, scale);
		for (int64_t f = 0; f < m->frames; f++) {
			qn_mel_energies(m, x + f * m->hop, PCM, b->turn, b->work, b->energy);
			sum_bands(b, false);
			for (int64_t c = 0; c < m->channels; c++)
				*y++ = log_mel_of(&e->n->attr->log_mel, b, c);
		}
		if (noise != NULL) {
			noise_after(b, y, scale);
			y += noises;
		}
	}
}

/* ---- mfcc ---- */

static void
mfcc_real(const qn_eval *e)
{
	const qn_attrs_mfcc *a = &e->n->attr->mfcc;
	const buffers *b = e->plan;
	const qn_mel *m = b->mel;
	const int64_t frames = qn_static_count(e->n->type) / a->coefficients;
	const double unit = sqrt(2.0 / (double)m->channels);
	float *y = e->out;

	for (int64_t f = 0; f < frames; f++) {
		const float *x = (const float *)e->in[0] + f / m->frames * m->samples +
				 f % m->frames * m->hop;

		qn_mel_energies(m, x, 1.0, b->turn, b->work, b->energy);
		sum_bands(b, true);
		for (int64_t c = 0; c < m->channels; c++)
			b->noise[c] = qn_ln(b->level[c] + a->log_offset);
		for (int64_t j = 0; j < a->coefficients; j++) {
			double sum = 0;

			for (int64_t c = 0; c < m->channels; c++)
				sum += b->noise[c] * qn_cos(PI * (double)j * ((double)c + 0.5) /
							    (double)m->channels);
			*y++ = (float)(unit * sum);
		}
	}
}

/* ---- integers ---- */

static void
log_mel_quantized(const qn_eval *e, const void *args)
{
	const qn_features_call *d = args;

	qn_log_mel(&d->args, e->in[0], e->n->nin > 1 ? e->in[1] : NULL, d->work, e->out);
}

static void
mfcc_quantized(const qn_eval *e, const void *args)
{
	const qn_features_call *d = args;

	qn_mfcc(&d->args, e->in[0], d->work, e->out);
}

const qn_impl qn_impl_log_mel = {
	.real = log_mel_real,
	.plan = plan,
	.quantized = {.prepare = qn_log_mel_prepare,
		      .run = log_mel_quantized,
		      .families = 1 << QN_FAMILY_s16},
};
const qn_impl qn_impl_mfcc = {
	.real = mfcc_real,
	.plan = plan,
	.quantized = {.prepare = qn_mfcc_prepare,
		      .run = mfcc_quantized,
		      .families = 1 << QN_FAMILY_s16},
};
