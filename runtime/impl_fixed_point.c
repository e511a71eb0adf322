/* SPDX-License-Identifier: Apache-2.0 */
/* impl_fixed_point.c - fixed-point arithmetic on plain integers: the steps of a rescaling, each for
 * itself, with the functions of fixed.h. */
#include "runtime/elementwise.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"

/* As in plain.h: twice the bytes of an element, and 1 for the sign. */
static int32_t
tag(const qn_graph *g, const qn_node *n)
{
	return (int32_t)(2 * qn_elem_bytes(qn_in_type(g, n, 0)->elem)) + 1;
}

static void *
divide_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_divide_pot_args *d = QN_NEW(a, qn_divide_pot_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	*d = (qn_divide_pot_args){.n = (int32_t)qn_static_count(n->type),
				  .type = tag(g, n),
				  .exponent = (int32_t)n->attr->divide_by_pot.exponent};
	return d;
}

static void
divide_run(const qn_eval *e, const void *args)
{
	qn_divide_pot(args, e->in[0], e->out);
}

static void
halves(int64_t v, int32_t *high, int32_t *low)
{
	const uint32_t bits = (uint32_t)(uint64_t)v;

	memcpy(low, &bits, sizeof *low);
	*high = (int32_t)((v - (int64_t)bits) / (INT64_C(1) << 32));
}

static void *
add_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_saturating_add *at = &n->attr->saturating_add;
	const qn_elem *e = n->type->elem;
	qn_saturating_add_args *d = QN_NEW(a, qn_saturating_add_args, 1);

	if (!qn_int_sizes(g, n) || !qn_int_broadcast(g, n, d->dim, d->xs, d->ys))
		return NULL;
	d->type = tag(g, n);
	halves(at->clamp_min < e->qmin ? e->qmin : at->clamp_min, &d->lo_high, &d->lo_low);
	halves(at->clamp_max > e->qmax ? e->qmax : at->clamp_max, &d->hi_high, &d->hi_low);
	return d;
}

static void
add_run(const qn_eval *e, const void *args)
{
	qn_saturating_add(args, e->in[0], e->in[1], e->out);
}

static void *
multiply_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_attrs_fixed_multiply *at = &n->attr->fixed_multiply;
	const size_t many = at->multiplier.n;
	qn_fixed_multiply_args *d = QN_NEW(a, qn_fixed_multiply_args, 1);
	int32_t *mult = QN_NEW(a, int32_t, many);
	int8_t *shift = QN_NEW(a, int8_t, many);

	if (!qn_int_sizes(g, n))
		return NULL;
	for (size_t i = 0; i < many; i++) {
		mult[i] = (int32_t)at->multiplier.v[i];
		shift[i] = (int8_t)at->shift.v[i];
	}
	*d = (qn_fixed_multiply_args){.outer = 1,
				      .channels = (int32_t)many,
				      .inner = (int32_t)qn_static_count(n->type),
				      .type = tag(g, n),
				      .mode = at->rounding,
				      .mult_n = (int32_t)many,
				      .mult = mult,
				      .shift = shift};
	if (at->axis >= 0) {
		d->outer = (int32_t)qn_dim_product(n->type, 0, (int32_t)at->axis);
		d->inner = (int32_t)qn_dim_product(n->type, (int32_t)at->axis + 1, n->type->rank);
	}
	return d;
}

static void
multiply_run(const qn_eval *e, const void *args)
{
	qn_fixed_multiply(args, e->in[0], e->out);
}

static void *
dense_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *w = qn_in_type(g, n, 1);
	qn_integer_dense_args *d = QN_NEW(a, qn_integer_dense_args, 1);

	if (!qn_int_sizes(g, n))
		return NULL;
	*d = (qn_integer_dense_args){.batch =
					     (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1),
				     .in = (int32_t)w->dim[1],
				     .out = (int32_t)w->dim[0],
				     .type = tag(g, n),
				     .has_bias = n->nin > 2};
	return d;
}

static void
dense_run(const qn_eval *e, const void *args)
{
	/* without a bias, any pointer: has_bias is 0 */
	qn_integer_dense(args, e->in[0], e->in[1], e->in[e->n->nin - 1], e->out);
}

const qn_impl qn_impl_rounding_divide_by_pot = {
	.quantized = {.prepare = divide_prepare, .run = divide_run, .families = QN_ALL_FAMILIES}};
const qn_impl qn_impl_saturating_add = {
	.quantized = {.prepare = add_prepare, .run = add_run, .families = QN_ALL_FAMILIES}};
const qn_impl qn_impl_fixed_multiply = {.quantized = {.prepare = multiply_prepare,
						      .run = multiply_run,
						      .families = QN_ALL_FAMILIES}};
const qn_impl qn_impl_integer_dense = {
	.quantized = {.prepare = dense_prepare, .run = dense_run, .families = QN_ALL_FAMILIES}};
