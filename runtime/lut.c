/* SPDX-License-Identifier: Apache-2.0 */
/* lut.c - see lut.h. */
#include "runtime/lut.h"

#include <math.h>

enum { CODES = 256 };

/* The code of y; halves go away from 0. */
static int8_t
nearest(double y, double scale, int32_t zp, const qn_elem *e)
{
	double q = y / scale;
	double whole = trunc(q);

	if (!(q == q))
		whole = 0.0;
	else if (fabs(q - whole) >= 0.5) /* not for infinities: their difference is NaN */
		whole += q < 0.0 ? -1.0 : 1.0;
	whole += (double)zp;
	if (whole < (double)e->qmin)
		return (int8_t)e->qmin;
	return (int8_t)(whole > (double)e->qmax ? (double)e->qmax : whole);
}

qn_lut_args *
qn_lut_prepare(const qn_graph *g, const qn_node *n, qn_arena *a, qn_lut_fn *f, const void *user)
{
	const qn_type *in = qn_in_type(g, n, 0);
	qn_lut_args *d = QN_NEW(a, qn_lut_args, 1);
	int8_t *lut = QN_NEW(a, int8_t, CODES);

	if (!qn_int_need_i8(g, n, in) || !qn_int_need_i8(g, n, n->type))
		return NULL;
	for (int32_t i = 0; i < CODES; i++) {
		int32_t code = i < CODES / 2 ? i : i - CODES;
		double x = qn_scale_of(g, in) * (double)(code - qn_zp_of(g, in));

		lut[i] = nearest(f(user, x), qn_scale_of(g, n->type), qn_zp_of(g, n->type),
				 n->type->elem);
	}
	*d = (qn_lut_args){.n = (int32_t)qn_static_count(n->type), .lut = lut};
	return d;
}
