/* SPDX-License-Identifier: Apache-2.0 */
/* mel.c - see mel.h. */
#include "runtime/mel.h"

#include "runtime/impl_util.h"
#include "runtime/math.h"

static const double PI = 3.14159265358979323846;

static double
mel_of(double hertz)
{
	return 1127.0 * qn_log1p(hertz / 700.0);
}

/* The first bin of band 0: the microfrontend leaves out the one at `low` and, where that is past the middle between
 * two, the next one. */
static int64_t
first_bin(const qn_node *n, double width)
{
	const double low = n->attr->mfcc.low / width;

	return n->op == QN_OP_log_mel ? (int64_t)(1.5 + low) : (int64_t)low + 1;
}

static void
lay_out_bands(qn_mel *m, const qn_node *n, qn_arena *a)
{
	const qn_attrs_mfcc *at = &n->attr->mfcc; /* that of log_mel begins alike */
	const double width = (double)at->sample_rate / (double)m->fft;
	const double low = mel_of(at->low);
	const double step = (mel_of(at->high) - low) / (double)(m->channels + 1);
	int64_t *bin = QN_NEW(a, int64_t, (size_t)m->channels + 2);
	double *slope = QN_NEW(a, double, (size_t)m->fft);
	int64_t k = first_bin(n, width);

	k = k < m->fft / 2 ? k : m->fft / 2;
	bin[0] = k;
	for (int64_t b = 0; b <= m->channels; b++) {
		const double center = low + step * (double)(b + 1);

		for (; k < m->fft / 2 && mel_of((double)k * width) <= center; k++) {
			const double part = (center - mel_of((double)k * width)) / step;

			slope[k - bin[0]] = part < 1.0 ? part : 1.0;
		}
		bin[b + 1] = k;
	}
	m->bin = bin;
	m->slope = slope;
}

/* Hann's window, from a whole sample or a half one on. */
static const double *
window_of(const qn_mel *m, double from, qn_arena *a)
{
	double *shape = QN_NEW(a, double, (size_t)m->window);

	for (int64_t k = 0; k < m->window; k++)
		shape[k] = 0.5 - 0.5 * qn_cos(2.0 * PI * ((double)k + from) / (double)m->window);
	return shape;
}

qn_mel *
qn_mel_of(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_mfcc *at = &n->attr->mfcc;
	const qn_type *x = qn_in_type(g, n, 0);
	qn_mel *m = QN_NEW(a, qn_mel, 1);

	m->window = at->window;
	m->hop = at->hop;
	m->channels = at->channels;
	m->fft = 1;
	while (m->fft < m->window)
		m->fft *= 2;
	m->samples = x->dim[x->rank - 1];
	m->frames = (m->samples - m->window) / m->hop + 1;
	m->mirror = n->op == QN_OP_log_mel ? m->window - 1 : m->window;
	m->shape = window_of(m, n->op == QN_OP_log_mel ? 0.5 : 0.0, a);
	lay_out_bands(m, n, a);
	return m;
}

const double *
qn_mel_turn(const qn_mel *m, qn_arena *a)
{
	double *turn = QN_NEW(a, double, 2 * (size_t)m->fft);

	for (int64_t k = 0; k < m->fft; k++) {
		const double angle = 2.0 * PI * (double)k / (double)m->fft;

		turn[k] = qn_cos(angle);
		turn[m->fft + k] = qn_sin(angle);
	}
	return turn;
}

/* One half of the outputs of each butterfly: re, im [n] become those of the transform (decimation in frequency,
 * outputs in the order of reversed bits). */
static void
transform(double *re, double *im, int64_t n, const double *turn)
{
	for (int64_t half = n / 2, step = 1; half > 0; half /= 2, step *= 2) {
		for (int64_t i = 0; i < n; i++) {
			if ((i & half) != 0)
				continue;
			const double c = turn[i % half * step], s = turn[n + i % half * step];
			const double p = re[i] - re[i + half], q = im[i] - im[i + half];

			re[i] += re[i + half];
			im[i] += im[i + half];
			re[i + half] = p * c + q * s;
			im[i + half] = q * c - p * s;
		}
	}
}

void
qn_mel_energies(const qn_mel *m, const float *x, double unit, const double *turn, double *work,
		double *energy)
{
	double *re = work, *im = work + m->fft;

	for (int64_t k = 0; k < m->fft; k++) {
		re[k] = k < m->window ? (double)x[k] * unit * m->shape[k] : 0.0;
		im[k] = 0.0;
	}
	transform(re, im, m->fft, turn);
	for (int64_t k = 0; k < m->fft; k++) {
		int64_t at = 0;

		for (int64_t bit = 1, rest = k; bit < m->fft; bit *= 2, rest /= 2)
			at = 2 * at + rest % 2;
		if (at < m->fft / 2)
			energy[at] = re[k] * re[k] + im[k] * im[k];
	}
}
