/* SPDX-License-Identifier: Apache-2.0 */
/* repair_moments.c - means of products of what a layer's weights are multiplied with, over patches of the samples that fit:
 * all, or as many as the work allows, evenly spread. */
#include "calibrate/repair_impl.h"

static const double most_work = 2e9;         /* multiplications for the moments of a layer */
static const double most_elements = 1 << 24; /* of second moments: 128 MiB */

bool
qn_moments_fit(const qn_product *p)
{
	return (double)p->taps * (double)p->taps * (double)p->w.groups <= most_elements;
}

qn_moments *
qn_moments_new(const qn_product *p, qn_arena *a)
{
	qn_moments *s = QN_NEW(a, qn_moments, 1);
	const size_t taps = (size_t)p->taps, groups = (size_t)p->w.groups;

	*s = (qn_moments){.taps = taps,
			  .groups = groups,
			  .first = QN_NEW(a, double, taps *groups + taps),
			  .second = QN_NEW(a, double, taps *taps *groups)};
	return s;
}

/* Whether the patches at a position are taken, when the whole work is that many times what is allowed. */
static bool
is_chosen(uint64_t position, double times)
{
	const uint64_t scattered = position * UINT64_C(0x9E3779B97F4A7C15) >> 32;

	return times <= 1 || (double)scattered * times < 4294967296.0;
}

static void
add_patch(qn_moments *s, const double *x, size_t group)
{
	const size_t n = s->taps;
	double *first = s->first + group * n, *second = s->second + group * n * n;

	for (size_t i = 0; i < n; i++) {
		double *row = second + i * n;
		const double f = x[i];

		first[i] += f;
		for (size_t j = i; f != 0 && j < n; j++)
			row[j] += f * x[j];
	}
}

void
qn_moments_add(qn_moments *s, const qn_product *p, const double *x, size_t batch, size_t all)
{
	const double one = (double)s->taps * (double)s->taps / 2 * (double)s->groups;
	const double times = one * (double)p->positions * (double)all / most_work;
	double *patch = s->first + s->taps * s->groups;

	for (int64_t at = 0; at < p->positions; at++) {
		if (!is_chosen(batch * (uint64_t)p->positions + (uint64_t)at, times))
			continue;
		for (size_t g = 0; g < s->groups; g++) {
			qn_product_patch(p, x, at, (int64_t)g, patch);
			add_patch(s, patch, g);
		}
		s->n++;
	}
}

void
qn_moments_finish(qn_moments *s, bool centred)
{
	const size_t n = s->taps;
	const double count = s->n > 0 ? (double)s->n : 1;

	for (size_t i = 0; i < n * s->groups; i++)
		s->first[i] /= count;
	for (size_t g = 0; g < s->groups; g++) {
		const double *mean = s->first + g * n;
		double *h = s->second + g * n * n;

		for (size_t i = 0; i < n; i++)
			for (size_t j = i; j < n; j++) {
				h[i * n + j] =
					h[i * n + j] / count - (centred ? mean[i] * mean[j] : 0);
				h[j * n + i] = h[i * n + j];
			}
	}
}
