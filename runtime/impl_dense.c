/* SPDX-License-Identifier: Apache-2.0 */
/* impl_dense.c - fully connected layer: x [… , in], w [out, in], bias [out] -> [… , out].
 *
 * Float: y[b, o] = (0 + x[b,0] w[o,0] + x[b,1] w[o,1] + …) + bias[o], in f32 and in this order.
 * Quantized: the accumulators, to be requantized by the node that follows. */
#include <string.h>

#include "runtime/accumulator.h"
#include "runtime/float_product.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/int_product.h"

typedef struct dense_plan {
	qn_product p;
	bool constant; /* the weights are packed */
} dense_plan;

static void *
dense_make_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	dense_plan *d = QN_NEW(a, dense_plan, 1);
	const float *w = qn_const_f32(g, n, 1, a);
	const float *bias = n->nin > 2 ? qn_const_f32(g, n, 2, a) : NULL;

	qn_product_init(&d->p, qn_simd_get(g->model->env->simd), wt->dim[0], 1, wt->dim[1], a,
			room);
	d->constant = w != NULL && (n->nin < 3 || bias != NULL);
	if (d->constant)
		qn_product_pack(&d->p, w, bias);
	return d;
}

static void
dense_real(const qn_eval *e)
{
	const qn_type *wt = qn_in_type(e->g, e->n, 1);
	int64_t out = wt->dim[0], in = wt->dim[1];
	int64_t batch = qn_dim_product(e->n->type, 0, e->n->type->rank - 1) * e->batches;
	dense_plan *d = e->plan;
	const float *x = e->in[0];
	const float *at[QN_CHUNK_CAPACITY];
	float *y = e->out;

	if (!d->constant)
		qn_product_pack(&d->p, e->in[1], e->n->nin > 2 ? e->in[2] : NULL);
	for (int64_t b = 0; b < batch; b += QN_CHUNK, y += QN_CHUNK * out) {
		int64_t n = batch - b < QN_CHUNK ? batch - b : QN_CHUNK;

		for (int64_t i = 0; i < n; i++)
			at[i] = x + (b + i) * in;
		qn_product_run(&d->p, at, n, 0, y, out);
	}
}

static void *
dense_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	qn_dense_args *d = QN_NEW(a, qn_dense_args, 1);

	if (!qn_accumulator_check(g, n, a))
		return NULL;
	*d = (qn_dense_args){
		.batch = (int32_t)qn_dim_product(n->type, 0, n->type->rank - 1),
		.in = (int32_t)wt->dim[1],
		.out = (int32_t)wt->dim[0],
		.zi = qn_zp_of(g, qn_in_type(g, n, 0)),
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.mode = g->model->rounding,
		.mult_n = 1,
	};
	return d;
}

#define DENSE(name, q, o, a, code)                                                                 \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_dense_args##a d;                                                                \
                                                                                                   \
		memcpy(&d, args, sizeof(d));                                                       \
		d.w = e->in[1];                                                                    \
		d.bias = e->n->nin > 2 ? e->in[2] : NULL;                                          \
		if (d.zw == 0 && d.out >= 4)                                                       \
			qn_dense_by4_acc##o(&d, e->in[0], e->out);                                 \
		else                                                                               \
			qn_dense_acc##o(&d, e->in[0], e->out);                                     \
	}

QN_BY_FAMILY(dense_run, DENSE)

typedef struct quantized_plan {
	qn_int_product p;
	bool is_signed;
	int32_t zero;
	int64_t step;  /* elements of a copied row, for whole pairs */
	int16_t *copy; /* of QN_INT_CHUNK rows */
} quantized_plan;

static void *
quantized_make_plan(const qn_graph *g, const qn_node *n, qn_arena *a, size_t *room)
{
	const qn_type *wt = qn_in_type(g, n, 1);
	const int8_t *w;
	const qn_tensor *bias;

	if (!qn_int_product_constants(g, n, &w, &bias))
		return NULL;
	quantized_plan *d = QN_NEW(a, quantized_plan, 1);
	if (!qn_int_product_init(&d->p, qn_int_simd_get(g->model->env->simd), wt->dim[0], 1,
				 wt->dim[1], false, a, room))
		return NULL;
	qn_int_product_pack(&d->p, w, bias, 0);
	d->is_signed = qn_node_family(g, n) == QN_FAMILY_s8;
	d->zero = qn_zp_of(g, qn_in_type(g, n, 0));
	d->step = 2 * d->p.len;
	d->copy = qn_int_zeros(a, QN_INT_CHUNK * d->step);
	return d;
}

static void
dense_fast(const qn_eval *e, const void *args)
{
	const quantized_plan *d = e->plan;
	const int64_t in = d->p.terms, out = d->p.out;
	const int64_t batch = qn_dim_product(e->n->type, 0, e->n->type->rank - 1) * e->batches;
	const int16_t *at[QN_INT_CHUNK_CAPACITY];
	int32_t *y = e->out;

	(void)args;
	for (int64_t b = 0; b < batch; b += QN_INT_CHUNK, y += QN_INT_CHUNK * out) {
		const int64_t n = batch - b < QN_INT_CHUNK ? batch - b : QN_INT_CHUNK;

		for (int64_t i = 0; i < n; i++) {
			qn_int_widen(d->p.simd, d->is_signed, e->in[0], (b + i) * in, in, d->zero,
				     d->copy + i * d->step);
			at[i] = d->copy + i * d->step;
		}
		qn_int_product_run(&d->p, at, n, y, out);
	}
}

const qn_impl qn_impl_dense = {
	.real = dense_real,
	.plan = dense_make_plan,
	.bundle = true,
	.quantized = {.prepare = dense_prepare,
		      .run = dense_run,
		      .plan = quantized_make_plan,
		      .fast = dense_fast,
		      .families = QN_ALL_FAMILIES},
};
