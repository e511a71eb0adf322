/* SPDX-License-Identifier: Apache-2.0 */
/* infer_log_mel.c - types of log_mel and mfcc, features of sound: samples along the last axis become frames.
 *
 *   log_mel {window=480, hop=320, channels=40}   [1,16000] -> [1,49,40]
 *   mfcc {coefficients=10}                       [16000] -> [49,10]
 *   log_mel %x, %noise {…}                       [1,16000], [1,3,40] -> [1,52,40], the noise after the frames last */
#include "ir/infer.h"

enum {
	LEAST_WINDOW = 16,
	MOST_WINDOW = 2048,
	MOST_CHANNELS = 256,
	MOST_RATE = 384000,
	MOST_HOP = 1 << 20
};

static bool
is_between(const qn_graph *g, const qn_node *n, const char *attr, double v, double least,
	   double most)
{
	return (v >= least && v <= most) ||
	       qn_infer_error(g, n, "attr.value", "%s is %g, must be %g to %g", attr, v, least,
			      most);
}

static bool
is_within(const qn_graph *g, const qn_node *n, const char *attr, int64_t v, int64_t least,
	  int64_t most)
{
	return (v >= least && v <= most) ||
	       qn_infer_error(g, n, "attr.value", "%s is %lld, must be %lld to %lld", attr,
			      (long long)v, (long long)least, (long long)most);
}

/* Members that both sets begin with. */
static bool
check_frames(const qn_graph *g, const qn_node *n, const qn_attrs_mfcc *a)
{
	const double half = (double)a->sample_rate / 2;
	bool ok = is_within(g, n, "sample_rate", a->sample_rate, 1000, MOST_RATE);

	ok = is_within(g, n, "window", a->window, LEAST_WINDOW, MOST_WINDOW) && ok;
	ok = is_within(g, n, "hop", a->hop, 1, MOST_HOP) && ok;
	ok = is_within(g, n, "channels", a->channels, 1, MOST_CHANNELS) && ok;
	ok = is_between(g, n, "low", a->low, 0, half) && ok;
	ok = is_between(g, n, "high", a->high, 0, half) && ok;
	ok = is_between(g, n, "scale", a->scale, 0x1p-20, 0x1p10) && ok;
	if (ok && !(a->low < a->high))
		ok = qn_infer_error(g, n, "attr.value", "low is %g, must be below high, %g", a->low,
				    a->high);
	return ok;
}

/* Operand 1, if there is one, has the data's shape with rows of channels for its samples, and the result's element. */
static bool
check_noise(const qn_graph *g, const qn_node *n, const qn_elem *e, int64_t channels)
{
	if (n->nin < 2)
		return true;
	const qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	const qn_type *t = qn_infer_in(g, n, 1);
	const qn_shape noise = qn_shape_of(t);
	bool ok = noise.rank < 0 || x.rank < 0 || noise.rank == x.rank + 1;

	for (int32_t i = 0; ok && noise.rank > 0 && i < noise.rank; i++)
		ok = qn_dim_fits(noise.dim[i], i == noise.rank - 1   ? channels
					       : i == noise.rank - 2 ? QN_NOISE_ROWS
					       : x.rank < 0          ? QN_DYNAMIC
								     : x.dim[i]);
	if (!ok)
		return qn_infer_error(
			g, n, "shape.channels",
			"the noise is %s; it must be [%d, %lld], after the dimensions "
			"of the data before its samples",
			qn_infer_type_text(g, t), (int)QN_NOISE_ROWS, (long long)channels);
	return t->elem == e ||
	       qn_infer_error(g, n, "type.mismatch", "the noise is %s, but the result is of %s",
			      qn_infer_type_text(g, t), qn_infer_elem_text(g, e));
}

static const qn_type *
frames_of(const qn_graph *g, const qn_node *n, const qn_elem *e, const qn_attrs_mfcc *a,
	  int64_t each)
{
	qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));

	if (x.rank == 0) {
		(void)qn_infer_error(g, n, "shape.rank", "the data is a scalar and has no samples");
		return NULL;
	}
	if (x.rank > 0) {
		const int64_t samples = x.dim[x.rank - 1];

		if (!qn_infer_result_rank(g, n, x.rank + 1))
			return NULL;
		if (samples != QN_DYNAMIC && samples < a->window) {
			(void)qn_infer_error(g, n, "shape.window",
					     "%lld samples, a window has %lld", (long long)samples,
					     (long long)a->window);
			return NULL;
		}
		if (samples != QN_DYNAMIC)
			x.dim[x.rank - 1] = (samples - a->window) / a->hop + 1 +
					    (n->nin > 1 ? QN_NOISE_ROWS : 0);
		x.dim[x.rank++] = each;
	}
	return qn_infer_result(g, n, e, &x);
}

const qn_type *
qn_infer_log_mel(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_log_mel *a = &n->attr->log_mel;
	const qn_elem *e = qn_infer_mix(g, n, declared);
	bool ok = check_frames(g, n, &n->attr->mfcc) && e != NULL;

	ok = is_between(g, n, "even_smoothing", a->even_smoothing, 0, 1) && ok;
	ok = is_between(g, n, "odd_smoothing", a->odd_smoothing, 0, 1) && ok;
	ok = is_between(g, n, "min_signal_remaining", a->min_signal_remaining, 0, 1) && ok;
	ok = qn_infer_flag(g, n, "pcan", a->pcan) && ok;
	ok = is_between(g, n, "strength", a->strength, 0, 2) && ok;
	ok = is_between(g, n, "offset", a->offset, 1, INT16_MAX) && ok;
	ok = is_within(g, n, "gain_bits", a->gain_bits, 0, 30) && ok;
	ok = is_within(g, n, "scale_shift", a->scale_shift, 0, 10) && ok;
	ok = ok && check_noise(g, n, e, a->channels);
	return ok ? frames_of(g, n, e, &n->attr->mfcc, a->channels) : NULL;
}

const qn_type *
qn_infer_mfcc(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_mfcc *a = &n->attr->mfcc;
	const qn_elem *e = qn_infer_mix(g, n, declared);
	bool ok = check_frames(g, n, a) && e != NULL;

	ok = is_within(g, n, "coefficients", a->coefficients, 1, a->channels) && ok;
	ok = is_between(g, n, "log_offset", a->log_offset, 1e-6, 1) && ok;
	return ok ? frames_of(g, n, e, a, a->coefficients) : NULL;
}
