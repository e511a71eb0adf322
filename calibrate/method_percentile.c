/* SPDX-License-Identifier: Apache-2.0 */
/* method_percentile.c - ranges that leave out a share of the values.
 *
 *   percentile      on the power-of-two grid, right edges, in one pass
 *   percentile_tvm  the value of rank trunc(n * p / 100) of |x|, found by its bits in three passes
 *   percentile_ort  equal bins over the range, cumulative shares, in two passes
 *
 * Sources: tvm.relay.quantize (percentile), onnxruntime.quantization.calibrate
 * (PercentileCalibrater). */
#include "calibrate/method.h"

#include <math.h>
#include <string.h>

static double
edge(const qn_observer *o, int bin)
{
	return ldexp((double)bin, o->exponent);
}

static void
two_sided(const qn_observer *o, double outside, double *lo, double *hi)
{
	enum { H = QN_HIST_HALF };
	double cut = outside / 2 * (double)o->n;
	double below = 0;
	int i = -H;

	/* the first bin with more than the cut up to and including it; its left edge */
	for (; i < H - 1 && below + (double)o->bin[i + H] <= cut; i++)
		below += (double)o->bin[i + H];
	*lo = edge(o, i);
	double above = 0;
	for (i = H - 1; i > -H && above + (double)o->bin[i + H] <= cut; i--)
		above += (double)o->bin[i + H];
	*hi = edge(o, i + 1);
}

static double
one_sided(const qn_observer *o, double outside)
{
	double cut = outside * (double)o->n;
	double above = 0;
	int i = QN_HIST_HALF - 1;

	for (; i > 0; i--) {
		double here = (double)qn_observer_magnitude(o, i);

		if (above + here > cut)
			break;
		above += here;
	}
	return edge(o, i + 1);
}

void
qn_grid_range(const qn_seen *s, double outside, qn_finding *out)
{
	const qn_observer *o = s->o;

	if (s->symmetric) {
		qn_finding_limit(s, one_sided(o, outside), out);
		return;
	}
	two_sided(o, outside, &out->lo, &out->hi);
	out->lo = fmax(out->lo, (double)o->min);
	out->hi = fmin(out->hi, (double)o->max);
}

void
qn_finish_percentile(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	double outside = (100.0 - s->opts->param[0]) / 100.0;

	(void)scratch;
	if (s->o->has_grid)
		qn_grid_range(s, outside, out);
}

/* ---- as TVM: the exact value of a rank ---- */

/* The bin with the value of the rank, and how many values are before it. */
static size_t
rank_bin(const qn_seen *s, const qn_bins *b, uint64_t *below)
{
	uint64_t n = s->o->n;
	double at = trunc((double)n * (s->opts->param[0] / 100));
	uint64_t rank = at < (double)(n - 1) ? (uint64_t)at : n - 1;
	size_t i = 0;

	*below = b->below;
	for (; i + 1 < b->n && *below + b->count[i] <= rank; i++)
		*below += b->count[i];
	return i;
}

/* 11, 10 and 10 of the 31 bits. */
void
qn_plan_percentile_tvm(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out)
{
	out->kind = QN_BINS_BITS;
	out->n = pass == 0 ? 2048 : 1024;
	out->shift = 20 - 10 * (int)pass;
	if (pass > 0 && before != NULL && s->o->n > 0) {
		size_t i = rank_bin(s, before, &out->below);

		out->prefix = (uint32_t)(before->prefix * before->n + i);
	}
}

void
qn_finish_percentile_tvm(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	const qn_bins *b = &s->o->fine;
	uint64_t below;
	uint32_t bits = (uint32_t)(b->prefix * b->n + rank_bin(s, b, &below));
	float t;

	(void)scratch;
	memcpy(&t, &bits, sizeof t);
	qn_finding_limit(s, (double)t, out);
}

/* ---- as ONNX Runtime: cumulative shares of equal bins ---- */

void
qn_plan_percentile_ort(const qn_seen *s, unsigned pass, const qn_bins *before, qn_bins *out)
{
	double reach = qn_observer_reach(s->o);

	(void)before;
	if (pass == 0 || !(reach > 0))
		return;
	out->kind = s->symmetric ? QN_BINS_SIZES : QN_BINS_EDGES;
	out->n = (size_t)s->opts->param[1];
	out->lo = s->symmetric ? 0 : -reach;
	out->width = (s->symmetric ? reach : 2 * reach) / (double)out->n;
}

/* The first bin with at least this share of the values up to and including it. */
static size_t
share_bin(const qn_seen *s, double share)
{
	const qn_bins *b = &s->o->fine;
	uint64_t sum = 0;
	size_t i = 0;

	for (; i + 1 < b->n; i++) {
		sum += b->count[i];
		if ((double)sum / (double)s->o->n >= share)
			break;
	}
	return i;
}

void
qn_finish_percentile_ort(const qn_seen *s, qn_arena *scratch, qn_finding *out)
{
	const qn_bins *b = &s->o->fine;
	double p = s->opts->param[0];
	double cut = (100.0 - p) / 200.0;

	(void)scratch;
	if (b->kind == QN_BINS_NONE)
		return;
	if (s->symmetric) {
		qn_finding_limit(s, qn_bins_edge(b, share_bin(s, p / 100.0) + 1), out);
		return;
	}
	out->lo = fmax(qn_bins_edge(b, share_bin(s, cut)), (double)s->o->min);
	out->hi = fmin(qn_bins_edge(b, share_bin(s, 1.0 - cut) + 1), (double)s->o->max);
}
