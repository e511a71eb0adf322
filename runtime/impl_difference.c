/* SPDX-License-Identifier: Apache-2.0 */
/* impl_difference.c - squared_difference, with broadcasting.
 *
 * Quantized: TFLite's SquaredDifference, which brings both operands to the scale T / 2^7, T = 2 max(sx, sy),
 * and the square of their difference to the result's.  T^2 / (2^14 so) must be below 1, as there. */
#include "runtime/elementwise.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/plain.h"

QN_EACH_RUN(squared_difference, float, (a - b) * (a - b), QN_PLAIN_RUN(float, (a - b) * (a - b)))

static void *
prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_difference_args *d = QN_NEW(a, qn_difference_args, 1);
	qn_two_params p;

	if (!QN_TWO_PARAMS_SET(g, n, d, p))
		return NULL;
	double twice = 2.0 * (p.sx > p.sy ? p.sx : p.sy);
	if (!qn_int_multiplier_below_one(g, n, "first scale / T", p.sx / twice, &d->mx, &d->shx) ||
	    !qn_int_multiplier_below_one(g, n, "second scale / T", p.sy / twice, &d->my, &d->shy) ||
	    !qn_int_multiplier_below_one(g, n, "T^2 / 2^14 / result scale",
					 twice * twice / (0x1p14 * p.so), &d->mo, &d->sho))
		return NULL;
	d->mode = g->model->rounding;
	return d;
}

QN_CALL_BY_FAMILY(squared_quantized, qn_squared_difference, e->in[0], e->in[1])

const qn_impl qn_impl_squared_difference = {
	.real = squared_difference_real,
	.plain = qn_plain_binary,
	.quantized = {.prepare = prepare, .run = squared_quantized, .families = QN_ALL_FAMILIES},
};
