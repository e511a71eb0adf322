/* SPDX-License-Identifier: Apache-2.0 */
/* bins.c - histograms with known edges (bins.h). */
#include "calibrate/bins.h"

#include <math.h>
#include <string.h>

double
qn_bins_edge(const qn_bins *b, size_t i)
{
	return b->lo + (double)i * b->width;
}

/* The bin with edge(i) <= v < edge(i + 1): the quotient may be off by one. */
static void
count_between(qn_bins *b, double v)
{
	double at = (v - b->lo) / b->width;
	size_t last = b->n - 1;
	size_t i = 0;

	if (at > 0)
		i = at < (double)last ? (size_t)at : last;

	if (i > 0 && v < qn_bins_edge(b, i))
		i--;
	else if (i < last && v >= qn_bins_edge(b, i + 1))
		i++;
	b->count[i]++;
}

static void
count_bits(qn_bins *b, float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	uint64_t key = (bits & 0x7fffffffu) >> b->shift;

	if (key / b->n == b->prefix)
		b->count[key % b->n]++;
}

void
qn_bins_add(qn_bins *b, const float *x, size_t n)
{
	if (b->kind == QN_BINS_NONE)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(x[i]))
			continue;
		if (b->kind == QN_BINS_BITS)
			count_bits(b, x[i]);
		else
			count_between(b,
				      b->kind == QN_BINS_SIZES ? fabs((double)x[i]) : (double)x[i]);
	}
}
