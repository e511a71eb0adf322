/* SPDX-License-Identifier: Apache-2.0 */
/* impl_binary.c - minimum, maximum, div and the comparisons, with broadcasting.
 *
 * Quantized: minimum and maximum choose between values of equal parameters.  div rounds the exact
 * quotient once; division by 0 saturates.  A comparison brings both sides to the scale T / 2^20, T
 * = 2 max(sx, sy), as TFLite's Add does; with equal parameters, or scales that are a power of two
 * apart, it is exact.  With the attribute `bits` T is 1 and 20 is bits, as in TFLite's
 * comparisons. */
#include "runtime/elementwise.h"

#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/plain.h"

#define RUN(name, T, value) QN_EACH_RUN(name, T, value, QN_PLAIN_RUN(T, value))

QN_EACH_RUN(minimum, float, a < b ? a : b, simd->minimum(x, y, out, n))
QN_EACH_RUN(maximum, float, a > b ? a : b, simd->maximum(x, y, out, n))
RUN(div, float, a / b)
RUN(equal, uint8_t, a <= b && a >= b)
RUN(not_equal, uint8_t, !(a <= b && a >= b))
RUN(less, uint8_t, a < b)
RUN(less_equal, uint8_t, a <= b)
RUN(greater, uint8_t, a > b)
RUN(greater_equal, uint8_t, a >= b)

static void *
minmax_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_minmax_args *d = QN_NEW(a, qn_minmax_args, 1);

	if (!qn_elementwise_shape(g, n, d->dim, d->xs, d->ys))
		return NULL;
	d->max = n->op == QN_OP_maximum;
	return d;
}

QN_CALL_BY_FAMILY(minmax_quantized, qn_minmax, e->in[0], e->in[1])

static void *
div_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_div_args *d = QN_NEW(a, qn_div_args, 1);
	qn_two_params p;

	if (!QN_TWO_PARAMS_SET(g, n, d, p))
		return NULL;
	if (!qn_int_multiplier(g, n, "quotient of scales / result scale", p.sx / (p.sy * p.so),
			       &d->m, &d->sh))
		return NULL;
	return d;
}

QN_CALL_BY_FAMILY(div_quantized, qn_div, e->in[0], e->in[1])

/* Results for x < y, x = y and x > y. */
static const struct {
	qn_op op;
	int32_t less, same, more;
} outcomes[] = {
	{QN_OP_equal, 0, 1, 0},      {QN_OP_not_equal, 1, 0, 1}, {QN_OP_less, 1, 0, 0},
	{QN_OP_less_equal, 1, 1, 0}, {QN_OP_greater, 0, 0, 1},   {QN_OP_greater_equal, 0, 1, 1},
};

static void *
compare_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_compare_args *d = QN_NEW(a, qn_compare_args, 1);

	if (!qn_elementwise_shape(g, n, d->dim, d->xs, d->ys))
		return NULL;
	double sx = qn_scale_of(g, qn_in_type(g, n, 0));
	double sy = qn_scale_of(g, qn_in_type(g, n, 1));
	int32_t bits = (int32_t)n->attr->compare.bits;
	double unit = bits > 0 ? 1.0 : 2.0 * (sx > sy ? sx : sy);
	if (!qn_int_multiplier_below_one(g, n, "first scale / T", sx / unit, &d->mx, &d->shx) ||
	    !qn_int_multiplier_below_one(g, n, "second scale / T", sy / unit, &d->my, &d->shy))
		return NULL;
	d->zx = qn_zp_of(g, qn_in_type(g, n, 0));
	d->zy = qn_zp_of(g, qn_in_type(g, n, 1));
	d->left = bits > 0 ? bits : qn_headroom(g, n);
	d->mode = g->model->rounding;
	for (size_t i = 0; i < QN_COUNT(outcomes); i++) {
		if (outcomes[i].op != n->op)
			continue;
		d->less = outcomes[i].less;
		d->same = outcomes[i].same;
		d->more = outcomes[i].more;
	}
	return d;
}

QN_CALL_BY_FAMILY(compare_quantized, qn_compare, e->in[0], e->in[1])

#define IMPL(name, kind)                                                                           \
	const qn_impl qn_impl_##name = {                                                           \
		.real = name##_real,                                                               \
		.plain = qn_plain_binary,                                                          \
		.quantized = {.prepare = kind##_prepare,                                           \
			      .run = kind##_quantized,                                             \
			      .families = QN_ALL_FAMILIES},                                        \
	};

IMPL(minimum, minmax)
IMPL(maximum, minmax)
IMPL(div, div)
IMPL(equal, compare)
IMPL(not_equal, compare)
IMPL(less, compare)
IMPL(less_equal, compare)
IMPL(greater, compare)
IMPL(greater_equal, compare)
