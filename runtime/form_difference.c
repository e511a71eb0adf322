/* SPDX-License-Identifier: Apache-2.0 */
/* form_difference.c - squared_difference, with broadcasting.
 *
 * Codes: TFLite's SquaredDifference, which brings both operands to the scale T / 2^7, T = 2 max(sx, sy),
 * and the square of their difference to the result's.  T^2 / (2^14 so) must be below 1, as there. */
#include "runtime/elementwise.h"
#include "runtime/family.h"
#include "runtime/form_args.h"
#include "runtime/plain.h"

QN_EACH_RUN(squared_difference, float, (a - b) * (a - b), QN_PLAIN_RUN(float, (a - b) * (a - b)))

static void *
prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_difference_args *d = QN_NEW(a, qn_difference_args, 1);

	if (!qn_int_need_codes(g, n, n->type) || !qn_elementwise_shape(g, n, d->dim, d->xs, d->ys))
		return NULL;
	double sx = qn_scale_of(g, qn_in_type(g, n, 0));
	double sy = qn_scale_of(g, qn_in_type(g, n, 1));
	double twice = 2.0 * (sx > sy ? sx : sy);
	if (!qn_int_multiplier_below_one(g, n, "first scale / T", sx / twice, &d->mx, &d->shx) ||
	    !qn_int_multiplier_below_one(g, n, "second scale / T", sy / twice, &d->my, &d->shy) ||
	    !qn_int_multiplier_below_one(g, n, "T^2 / 2^14 / result scale",
					 twice * twice / (0x1p14 * qn_scale_of(g, n->type)), &d->mo,
					 &d->sho))
		return NULL;
	d->zx = qn_zp_of(g, qn_in_type(g, n, 0));
	d->zy = qn_zp_of(g, qn_in_type(g, n, 1));
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

#define SQUARED(name, q, o, a, code)                                                               \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_squared_difference##q(args, e->in[0], e->in[1], e->out);                        \
	}
QN_BY_FAMILY(squared_codes, SQUARED)

const qn_form qn_form_squared_difference = {
	.real = squared_difference_real,
	.plain = qn_plain_binary,
	.codes = {.prepare = prepare, .run = squared_codes, .families = QN_ALL_FAMILIES},
};
