/* SPDX-License-Identifier: Apache-2.0 */
/* widen_choose.c - which layers are tried together (driver/widen.h). */
#include <math.h>
#include <string.h>

#include "driver/widen.h"
#include "runtime/math.h"

double
qn_widen_gain(double before, double after)
{
	return after > 0 ? 10 * (qn_ln(before / after) / qn_ln(10)) : (double)INFINITY;
}

double
qn_widen_least_gain(const qn_wide_layers *all, const bool *in)
{
	size_t units = 0;
	bool others = false;

	for (size_t k = 0; k < all->n; k++) {
		units += in[k] && all->layer[k].product;
		others = others || (in[k] && !all->layer[k].product);
	}
	return (double)(units + others) * QN_WIDEN_LEAST_GAIN;
}

void
qn_widen_noisiest(const qn_wide_layers *all, qn_arena *a, bool *in)
{
	bool *so_far = QN_NEW(a, bool, all->n + 1);
	double sum = 0, most = 0;

	for (size_t k = 0; k < all->n; k++)
		sum += all->layer[k].noise;
	/* noise as large as the outputs clips: that of all together is less than the sum */
	const double total = fmax(sum, all->noise), floor = fmax(total / 1e6, all->constants);
	double left = total;

	for (size_t k = 0; k < all->n; k++) {
		const qn_wide_layer *l = &all->layer[k];

		left = left - l->noise > floor ? left - l->noise : floor;
		so_far[k] = true;
		const double more = qn_widen_gain(total, left) - qn_widen_least_gain(all, so_far);
		if (more <= most)
			continue;
		most = more;
		memcpy(in, so_far, all->n * sizeof *in);
	}
}

void
qn_widen_without_weights(const qn_wide_layers *all, bool *in)
{
	for (size_t k = 0; k < all->n; k++)
		in[k] = !all->layer[k].product && !all->layer[k].wide;
}
