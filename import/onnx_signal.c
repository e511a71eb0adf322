/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_signal.c - operators of signals, as tables that are made while reading and products with them.
 *
 *   HannWindow(8)             [0, 0.146, 0.5, …]
 *   DFT(x [.., n, c])         x as [.., n * c] times a matrix [n * c, 2 * k] of cosines and sines
 *   STFT(x [b, l, c], step)   frames by a constant gather, then the same matrix, its rows times the window
 *   MelWeightMatrix           triangles over the bins of a spectrum */
#include "import/onnx.h"

#include <math.h>
#include <string.h>

#define TWO_PI 6.283185307179586476925286766559

/* A constant of this shape, to be filled; NULL after a report. */
static void *
table(qn_onnx *o, qn_plain plain, int32_t rank, const int64_t *dim, qn_tensor **x)
{
	void *data;

	if (!qn_importer_dims_fit(rank, dim)) {
		(void)qn_importer_refuse(&o->im, "import.size", "a table of too many elements");
		return NULL;
	}
	const qn_type *type = qn_type_plain(&o->im.m->types, plain, rank, dim);
	if (!qn_importer_take_type(&o->im, type))
		return NULL;
	*x = qn_tensor_new(o->im.m->arena, type, &data);
	return data;
}

/* f(first + i * step) in double precision for i < n; NULL after a report. */
static const qn_tensor *
function(qn_onnx *o, qn_op f, int64_t n, double first, double step)
{
	qn_tensor *x;
	void *data = table(o, QN_PLAIN_f64, 1, &n, &x);

	for (int64_t i = 0; data != NULL && i < n; i++)
		qn_store_f64(data, QN_PLAIN_f64, i, first + (double)i * step);
	if (data == NULL)
		return NULL;
	qn_id y = qn_importer_unary(&o->im, f, qn_importer_const(&o->im, NULL, x));
	const qn_tensor *v = qn_importer_known(&o->im, y);
	if (v == NULL && y != 0)
		(void)qn_importer_refuse(&o->im, "import.size", "a table of %lld elements",
					 (long long)n);
	return v;
}

/* ---- windows ---- */

/* Hann, Hamming (25/46), Blackman: a - b cos(t) + c cos(2 t). */
static const double windows[][3] = {{0.5, 0.5, 0}, {25.0 / 46, 21.0 / 46, 0}, {0.42, 0.5, 0.08}};

/* The type of attribute output_datatype; false after a report. */
static bool
result_type(qn_onnx *o, const qn_onnx_node *n, qn_plain *plain)
{
	int64_t number = qn_onnx_int(o, n, "output_datatype", 1);

	if (qn_onnx_data_type(number, plain))
		return true;
	(void)qn_importer_refuse(&o->im, "import.type", "output_datatype is %lld",
				 (long long)number);
	return false;
}

static void
window(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const double *k = windows[n->arg];
	bool periodic = qn_onnx_int(o, n, "periodic", 1) != 0;
	int64_t size;
	qn_plain plain;
	qn_tensor *x;

	if (!qn_onnx_need(o, n, 1) || qn_onnx_const_ints(o, n, 0, 1, &size) != 1 ||
	    !result_type(o, n, &plain))
		return;
	int64_t around = periodic || size < 2 ? size : size - 1;
	void *data = table(o, QN_PLAIN_f32, 1, &size, &x);
	const qn_tensor *c = data != NULL && around > 0
				     ? function(o, QN_OP_cos, around, 0, TWO_PI / (double)around)
				     : NULL;
	for (int64_t i = 0; c != NULL && i < size; i++)
		qn_store_f64(data, QN_PLAIN_f32, i,
			     k[0] - k[1] * qn_tensor_f64(c, i % around) +
				     k[2] * qn_tensor_f64(c, 2 * i % around));
	if (data != NULL && (c != NULL || size == 0))
		out[0] = qn_importer_cast(&o->im, qn_importer_const(&o->im, o->im.node, x), plain);
}

/* ---- Fourier transforms ---- */

typedef struct spectrum {
	int64_t n, parts;     /* elements that are given, 1: real, 2: complex */
	int64_t length, bins; /* of the transform, and of its result that are wanted */
	bool inverse;
	bool half; /* of an inverse: the first half of a spectrum whose values are real, which are the result */
	const qn_tensor *window; /* [n], NULL: ones */
} spectrum;

/* [n * parts, 2 * bins] */
static qn_id
matrix(qn_onnx *o, const spectrum *s)
{
	int64_t dim[] = {s->n * s->parts, 2 * s->bins};
	double step = TWO_PI / (double)s->length, sign = s->inverse ? 1 : -1;
	qn_tensor *x;
	void *data = table(o, QN_PLAIN_f32, 2, dim, &x);
	const qn_tensor *c = data != NULL ? function(o, QN_OP_cos, s->length, 0, step) : NULL;
	const qn_tensor *d = c != NULL ? function(o, QN_OP_sin, s->length, 0, step) : NULL;

	if (d == NULL)
		return 0;
	for (int64_t t = 0; t < s->n; t++) {
		double w = s->window != NULL ? qn_tensor_f64(s->window, t) : 1;

		w = s->inverse ? w / (double)s->length : w;
		for (int64_t k = 0; k < s->bins; k++) {
			int64_t at = t * k % s->length, row = t * s->parts * dim[1] + 2 * k;
			double re = w * qn_tensor_f64(c, at), im = sign * w * qn_tensor_f64(d, at);

			qn_store_f64(data, QN_PLAIN_f32, row, re);
			qn_store_f64(data, QN_PLAIN_f32, row + 1, im);
			if (s->parts == 2) { /* the second part is times the imaginary unit */
				qn_store_f64(data, QN_PLAIN_f32, row + dim[1], -im);
				qn_store_f64(data, QN_PLAIN_f32, row + dim[1] + 1, re);
			}
		}
	}
	return qn_importer_const(&o->im, NULL, x);
}

/* [n * parts, bins]: the other half of the spectrum is the conjugate, so that all but the first and a middle bin count twice. */
static qn_id
half_matrix(qn_onnx *o, const spectrum *s)
{
	int64_t dim[] = {s->n * s->parts, s->bins};
	double step = TWO_PI / (double)s->length;
	qn_tensor *x;
	void *data = table(o, QN_PLAIN_f32, 2, dim, &x);
	const qn_tensor *c = data != NULL ? function(o, QN_OP_cos, s->length, 0, step) : NULL;
	const qn_tensor *d = c != NULL ? function(o, QN_OP_sin, s->length, 0, step) : NULL;

	if (d == NULL)
		return 0;
	for (int64_t k = 0; k < s->n; k++) {
		const double w = (k == 0 || 2 * k == s->length ? 1 : 2) / (double)s->length;

		for (int64_t t = 0; t < s->bins; t++) {
			int64_t at = t * k % s->length, row = k * s->parts * dim[1] + t;

			qn_store_f64(data, QN_PLAIN_f32, row, w * qn_tensor_f64(c, at));
			if (s->parts == 2)
				qn_store_f64(data, QN_PLAIN_f32, row + dim[1],
					     -w * qn_tensor_f64(d, at));
		}
	}
	return qn_importer_const(&o->im, NULL, x);
}

/* x [rows, n, parts] as [rows, bins, 2], of half a spectrum as [rows, bins, 1]. */
static qn_id
transform(qn_onnx *o, qn_id x, int64_t rows, const spectrum *s)
{
	qn_importer *im = &o->im;

	if (s->length > 1 << 20 || rows * s->n * s->parts == 0)
		return qn_importer_refuse(im, "import.size", "%lld rows of length %lld",
					  (long long)rows, (long long)s->length);
	x = qn_importer_reshape(im, x, 2, (int64_t[]){rows, s->n * s->parts});
	x = x != 0 ? qn_importer_binary(im, QN_OP_matmul, x,
					s->half ? half_matrix(o, s) : matrix(o, s))
		   : 0;
	return qn_importer_reshape(im, x, 3, (int64_t[]){rows, s->bins, s->half ? 1 : 2});
}

/* A constant of one integer, dflt when it is left out; false after a report. */
static bool
one_int(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int64_t dflt, int64_t *v)
{
	*v = dflt;
	return qn_onnx_in(n, i) == 0 || qn_onnx_const_ints(o, n, i, 1, v) == 1;
}

/* Whether real or complex values can be transformed so; reported. */
static bool
spectrum_ok(qn_onnx *o, spectrum *s, bool onesided)
{
	const char *why = s->parts != 1 && s->parts != 2 ? "the last dimension must be 1 or 2"
			  : s->length < 1                ? "the length must be 1 or more"
			  : onesided && s->parts == 2 && !s->inverse
				  ? "onesided is only for real-valued signals, and for the inverse"
				  : NULL;

	s->half = onesided && s->inverse;
	s->bins = onesided && !s->inverse ? s->length / 2 + 1 : s->length;
	if (why != NULL)
		(void)qn_importer_refuse(&o->im, "import.attr", "%s", why);
	return why == NULL;
}

static void
dft(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	bool old = n->version < 20, onesided = qn_onnx_int(o, n, "onesided", 0) != 0;
	int64_t perm[QN_MAX_RANK], dim[QN_MAX_RANK], given;
	int32_t axis;

	if (!qn_onnx_need(o, n, 1))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	int32_t last = t->rank - 2;
	if (!one_int(o, n, 2, -2, &given) ||
	    !qn_onnx_axis(o, old ? qn_onnx_int(o, n, "axis", 1) : given, t->rank, &axis))
		return;
	spectrum s = {.inverse = qn_onnx_int(o, n, "inverse", 0) != 0};
	if (last < 0 || axis > last) {
		(void)qn_importer_refuse(&o->im, "import.attr",
					 "the last axis holds real and imaginary parts");
		return;
	}
	s.parts = t->dim[t->rank - 1];
	int64_t whole = onesided && s.inverse ? 2 * (t->dim[axis] - 1) : t->dim[axis];
	if (!one_int(o, n, 1, whole, &s.length) || !spectrum_ok(o, &s, onesided))
		return;
	whole = s.half ? s.length / 2 + 1 : s.length;
	s.n = t->dim[axis] < whole ? t->dim[axis] : whole; /* zeros after it add nothing */
	qn_id x = qn_importer_slice(&o->im, n->in[0], axis, 0, s.n);
	for (int32_t i = 0; i < t->rank; i++)
		perm[i] = i == axis ? last : i == last ? axis : i;
	x = qn_importer_transpose(&o->im, x, perm);
	if (x == 0)
		return;
	memcpy(dim, qn_onnx_type(o, x)->dim, (size_t)t->rank * sizeof dim[0]);
	dim[last] = s.bins;
	dim[last + 1] = s.half ? 1 : 2;
	int64_t count = qn_type_count(qn_onnx_type(o, x));
	x = transform(o, x, s.n > 0 ? count / s.n / s.parts : 0, &s);
	x = qn_importer_reshape(&o->im, x, t->rank, dim);
	out[0] = qn_importer_transpose(&o->im, x, perm);
}

/* x [b, l, parts] as frames [b, frames, n, parts]. */
static qn_id
frames_of(qn_onnx *o, qn_id x, int64_t frames, int64_t step, int64_t n)
{
	int64_t dim[] = {frames, n};
	qn_attrs a = {0};
	qn_tensor *at;
	void *data = table(o, QN_PLAIN_i64, 2, dim, &at);

	for (int64_t i = 0; data != NULL && i < frames * n; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, i / n * step + i % n);
	a.gather.axis = 1;
	return data == NULL ? 0
			    : qn_importer_op(&o->im, QN_OP_gather, 2,
					     (qn_id[]){x, qn_importer_const(&o->im, NULL, at)}, &a,
					     NULL);
}

static void
stft(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	spectrum s = {.parts = 1};
	qn_id w = qn_onnx_in(n, 2);
	int64_t step;

	if (!qn_onnx_need(o, n, 2) || !one_int(o, n, 1, 0, &step))
		return;
	const qn_type *t = qn_onnx_type(o, n->in[0]);
	if (t->rank != 2 && t->rank != 3) {
		(void)qn_importer_refuse(&o->im, "import.rank",
					 "the signal must be [batch, length, 1 or 2]");
		return;
	}
	s.parts = t->rank == 3 ? t->dim[2] : 1;
	s.n = w != 0 ? qn_type_count(qn_onnx_type(o, w)) : t->dim[1];
	if (!one_int(o, n, 3, s.n, &s.length) ||
	    !spectrum_ok(o, &s, qn_onnx_int(o, n, "onesided", 1) != 0))
		return;
	s.n = s.n < s.length ? s.n : s.length;
	s.window = qn_importer_known(&o->im, w);
	if (step < 1 || s.length > t->dim[1] || (w != 0 && s.window == NULL)) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"step %lld, frames of %lld in a signal of %lld; the window "
			"must be a constant",
			(long long)step, (long long)s.length, (long long)t->dim[1]);
		return;
	}
	int64_t batch = t->dim[0], frames = 1 + (t->dim[1] - s.length) / step;
	qn_id x = frames_of(o, n->in[0], frames, step, s.n);
	x = x != 0 ? transform(o, x, batch * frames, &s) : 0;
	out[0] = qn_importer_reshape(&o->im, x, 4, (int64_t[]){batch, frames, s.bins, 2});
}

/* ---- MelWeightMatrix ---- */

/* Where the triangles have their corners: equally far on the mel scale 2595 log10(1 + f / 700), as bins.  False after a
 * report. */
static bool
corners(qn_onnx *o, int64_t count, const double *edge, double scale, int64_t bins, int64_t *bin)
{
	const double ln10 = 2.302585092994045684017991454684, per = 2595 / ln10;
	const qn_tensor *mel =
		function(o, QN_OP_log, 2, 1 + edge[0] / 700, (edge[1] - edge[0]) / 700);

	if (mel == NULL)
		return false;
	double low = per * qn_tensor_f64(mel, 0), high = per * qn_tensor_f64(mel, 1);
	const qn_tensor *f =
		function(o, QN_OP_exp, count, low / per, (high - low) / (double)count / per);
	for (int64_t i = 0; f != NULL && i < count; i++) {
		double at = floor(scale * 700 * (qn_tensor_f64(f, i) - 1));

		if (!(at >= 0 && at < (double)bins)) {
			(void)qn_importer_refuse(&o->im, "import.input",
						 "the edges lie outside the spectrum");
			return false;
		}
		bin[i] = (int64_t)at;
	}
	return f != NULL;
}

static void
mel_weights(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t mels, length, rate;
	double edge[2];
	qn_plain plain;
	qn_tensor *x;

	if (!qn_onnx_need(o, n, 5) || !one_int(o, n, 0, 0, &mels) ||
	    !one_int(o, n, 1, 0, &length) || !one_int(o, n, 2, 0, &rate) ||
	    !qn_onnx_const_real(o, n, 3, 0, &edge[0]) ||
	    !qn_onnx_const_real(o, n, 4, 0, &edge[1]) || !result_type(o, n, &plain))
		return;
	if (mels < 1 || mels > 1 << 16 || length < 1 || length > 1 << 24 || rate < 1) {
		(void)qn_importer_refuse(&o->im, "import.input", "%lld bins of %lld at %lld Hz",
					 (long long)mels, (long long)length, (long long)rate);
		return;
	}
	int64_t dim[] = {length / 2 + 1, mels};
	int64_t *bin = QN_NEW(o->im.scratch, int64_t, (size_t)mels + 2);
	void *data = table(o, QN_PLAIN_f32, 2, dim, &x);
	if (data == NULL ||
	    !corners(o, mels + 2, edge, (double)(length + 1) / (double)rate, dim[0], bin))
		return;
	for (int64_t i = 0; i < mels; i++) {
		double up = (double)(bin[i + 1] - bin[i]), down = (double)(bin[i + 2] - bin[i + 1]);

		if (bin[i + 1] == bin[i])
			qn_store_f64(data, QN_PLAIN_f32, bin[i] * mels + i, 1);
		for (int64_t k = bin[i]; up > 0 && k <= bin[i + 1]; k++)
			qn_store_f64(data, QN_PLAIN_f32, k * mels + i, (double)(k - bin[i]) / up);
		for (int64_t k = bin[i + 1]; k < bin[i + 2]; k++)
			qn_store_f64(data, QN_PLAIN_f32, k * mels + i,
				     (double)(bin[i + 2] - k) / down);
	}
	out[0] = qn_importer_cast(&o->im, qn_importer_const(&o->im, o->im.node, x), plain);
}

const qn_onnx_row qn_onnx_signals[] = {
	QN_ONNX_READ("", "HannWindow", 17, window, 0),
	QN_ONNX_READ("", "HammingWindow", 17, window, 1),
	QN_ONNX_READ("", "BlackmanWindow", 17, window, 2),
	QN_ONNX_READ("", "DFT", 17, dft, 0),
	QN_ONNX_READ("", "STFT", 17, stft, 0),
	QN_ONNX_READ("", "MelWeightMatrix", 17, mel_weights, 0),
	{0},
};
