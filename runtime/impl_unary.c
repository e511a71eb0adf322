/* SPDX-License-Identifier: Apache-2.0 */
/* impl_unary.c - functions of one value, of pow and of prelu.
 *
 *   f32         y = f(x), computed in double with the functions of runtime/math.h and rounded once
 *   quantized   a table for all values of the storage (lut.h)
 *
 * `table` has the results as a constant.  The functions are in unary_functions.c.  Quantized prelu is
 * TFLite's: one multiplier for what is not negative, another one for products with a slope. */
#include <math.h>

#include "runtime/broadcast.h"
#include "runtime/family.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/lut.h"
#include "runtime/math.h"
#include "runtime/plain.h"
#include "runtime/unary.h"

/* ---- float implementations ---- */

/* A node's function with its second argument. */
typedef struct closure {
	const qn_node *n;
	double exponent; /* pow */
} closure;

static double
value_of(const void *user, double x)
{
	const closure *c = user;

	return c->n->op == QN_OP_pow ? qn_pow(x, c->exponent) : qn_unary_value(c->n, x);
}

/* Where values were quantized by Quern, a function is not infinite where its table is not (lut.h). */
static void
leave_poles(const qn_eval *e, double exponent, int64_t n, float *y)
{
	const qn_node *d = qn_graph_node(e->g, e->n->in[0]);
	const qn_elem *q = d->op == QN_OP_dequantize ? qn_in_type(e->g, d, 0)->elem : NULL;
	const closure c = {e->n, exponent};
	const float *x = e->in[0];

	if (q == NULL || q->gran != QN_PER_TENSOR || q->bits > 16 || !e->g->model->quantized_here)
		return;
	const double scale = qn_scale_of(e->g, qn_in_type(e->g, d, 0));
	const double least = scale * (double)(q->qmin - qn_zp_of(e->g, qn_in_type(e->g, d, 0)));
	for (int64_t i = 0; i < n; i++)
		if (isinf(y[i]))
			y[i] = (float)qn_lut_beside_pole(value_of, &c, (double)x[i], scale,
							 (double)x[i] > least);
}

static void
unary_real(const qn_eval *e)
{
	int64_t n = qn_result_count(e);
	qn_unary_fn *f = qn_unary_of(e->n->op);
	const float *x = e->in[0];
	float *y = e->out;

	for (int64_t i = 0; i < n; i++)
		y[i] = (float)f((double)x[i], e->n->attr);
	leave_poles(e, 1, n, y);
}

static void
pow_real(const qn_eval *e)
{
	const float *x = e->in[0], *y = e->in[1];
	float *z = e->out;
	int64_t at[QN_MAX_RANK] = {0};
	int64_t xo = 0, yo = 0;
	qn_broadcast b;

	if (qn_static_count(e->n->type) == 0)
		return;
	qn_broadcast_make(qn_in_type(e->g, e->n, 0), qn_in_type(e->g, e->n, 1), e->n->type, &b);
	int32_t last = b.rank - 1;
	do {
		for (int64_t i = 0; i < b.dim[last]; i++)
			*z++ = (float)qn_pow((double)x[xo + i * b.xs[last]],
					     (double)y[yo + i * b.ys[last]]);
	} while (qn_broadcast_next(&b, at, &xo, &yo));
	if (qn_static_count(qn_in_type(e->g, e->n, 1)) == 1 &&
	    qn_type_same_shape(qn_in_type(e->g, e->n, 0), e->n->type))
		leave_poles(e, (double)*(const float *)e->in[1], qn_static_count(e->n->type),
			    e->out);
}

static void
prelu_real(const qn_eval *e)
{
	int64_t n = qn_static_count(e->n->type);
	int64_t channels = e->n->type->dim[e->n->type->rank - 1];
	const float *x = e->in[0], *slope = e->in[1];
	float *y = e->out;

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] < 0.0f ? x[i] * slope[i % channels] : x[i];
}

/* ---- tables ---- */

/* pow's exponent: a constant of one element. */
static bool
exponent_of(const qn_graph *g, const qn_node *n, double *exponent)
{
	const qn_node *c = qn_graph_node(g, n->in[1]);

	if (c->op != QN_OP_const || qn_type_count(c->type) != 1 ||
	    c->type->elem->kind != QN_ELEM_UNIFORM || c->type->elem->gran != QN_PER_TENSOR) {
		(void)qn_int_refuse(g, n, "only an exponent that is a constant of one element");
		return false;
	}
	/* as an f32, like the number of the float graph: 200 steps of 0.01f are 2, not just below it, of which a
	 * negative base has no power */
	*exponent = (double)(float)((double)(qn_tensor_i64(c->value, 0) - qn_zp_of(g, c->type)) *
				    qn_scale_of(g, c->type));
	return true;
}

static void *
lut_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *in = qn_in_type(g, n, 0);
	closure c = {n, 1.0};

	if (n->op == QN_OP_pow && !exponent_of(g, n, &c.exponent))
		return NULL;
	if (n->op == QN_OP_pow && qn_static_count(in) != qn_static_count(n->type))
		return qn_int_refuse(g, n, "only an exponent that leaves the shape as it is");
	if (n->op == QN_OP_sigmoid || n->op == QN_OP_tanh) {
		qn_lut *curve = qn_lut_curve(g, n, a);

		if (curve != NULL)
			return curve;
	}
	return qn_lut_prepare(g, n, a, value_of, &c);
}

/* The entries are those of a constant. */
static void *
table_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_node *c = qn_graph_node(g, n->in[1]);
	const qn_family f = qn_node_family(g, n);

	if (f == QN_NFAMILY || f != qn_family_of(n->type->elem))
		return qn_int_refuse(g, n,
				     "only storage i8, u8 or i16, of the input as of the result");
	if (!qn_int_sizes(g, n))
		return NULL;
	if (c->op != QN_OP_const)
		return qn_int_refuse(g, n, "only a table that is a constant");
	return qn_lut_from_entries(n, a, c->value);
}

/* ---- quantized prelu ---- */

static void *
prelu_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_prelu_args *d = QN_NEW(a, qn_prelu_args, 1);
	const qn_type *x = qn_in_type(g, n, 0), *slope = qn_in_type(g, n, 1);

	if (!qn_int_check_quantized(g, n, x) || !qn_int_check_quantized(g, n, slope) ||
	    !qn_int_check_quantized(g, n, n->type))
		return NULL;
	double sx = qn_scale_of(g, x), so = qn_scale_of(g, n->type);
	if (!qn_int_multiplier(g, n, "data scale / result scale", sx / so, &d->m, &d->sh) ||
	    !qn_int_multiplier(g, n, "data scale * slope scale / result scale",
			       sx * qn_scale_of(g, slope) / so, &d->ms, &d->shs))
		return NULL;
	d->rows = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1);
	d->channels = (int32_t)n->type->dim[n->type->rank - 1];
	d->zx = qn_zp_of(g, x);
	d->zs = qn_zp_of(g, slope);
	d->zo = qn_zp_of(g, n->type);
	d->lo = (int32_t)n->type->elem->qmin;
	d->hi = (int32_t)n->type->elem->qmax;
	d->mode = g->model->rounding;
	return d;
}

QN_CALL_BY_FAMILY(prelu_quantized, qn_prelu, e->in[0], e->in[1])

/* ---- the rows ---- */

#define TABLE_OF_VALUES                                                                            \
	.quantized = {.prepare = lut_prepare, .run = qn_lut_run, .families = QN_ALL_FAMILIES}

#define FUNCTION(name, attributes, behaviour, types, value, facts)                                 \
	const qn_impl qn_impl_##name = {                                                           \
		.real = unary_real, .plain = qn_plain_unary, .bundle = true, TABLE_OF_VALUES};
#include "ir/ops.def"

const qn_impl qn_impl_pow = {.real = pow_real, .plain = qn_plain_pow, TABLE_OF_VALUES};
const qn_impl qn_impl_prelu = {
	.real = prelu_real,
	.quantized = {.prepare = prelu_prepare,
		      .run = prelu_quantized,
		      .families = QN_ALL_FAMILIES},
};
const qn_impl qn_impl_table = {
	.quantized = {.prepare = table_prepare, .run = qn_lut_run, .families = QN_ALL_FAMILIES},
};
