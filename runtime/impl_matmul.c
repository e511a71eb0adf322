/* SPDX-License-Identifier: Apache-2.0 */
/* impl_matmul.c - matmul: a [..., M, K] times b [..., K, N], leading dims broadcast.
 *
 * Float: y[i, j] = 0 + a[i,0] b[0,j] + a[i,1] b[1,j] + … in f32 and in this order; the sums of a
 * row grow side by side.  Quantized: the accumulators, both zero points subtracted term by term. */
#include "ir/diag.h"
#include "runtime/accumulator.h"
#include "runtime/broadcast.h"
#include "runtime/impl_args.h"
#include "runtime/impl_util.h"
#include "runtime/plain.h"

/* Sizes, and distances in elements. */
typedef struct product {
	qn_broadcast batch; /* of the leading axes; strides are in elements */
	int64_t m, k, n;
	int64_t a_m, a_k, b_k, b_n;
} product;

static product
product_of(const qn_graph *g, const qn_node *n)
{
	const qn_attrs_matmul *t = &n->attr->matmul;
	qn_type a = *qn_in_type(g, n, 0), b = *qn_in_type(g, n, 1), y = *n->type;
	int64_t a_row = a.dim[a.rank - 1], b_row = b.dim[b.rank - 1];
	product p = {.m = y.dim[y.rank - 2], .n = y.dim[y.rank - 1]};

	p.k = a.dim[a.rank - (t->transpose_a != 0 ? 2 : 1)];
	p.a_m = t->transpose_a != 0 ? 1 : a_row;
	p.a_k = t->transpose_a != 0 ? a_row : 1;
	p.b_k = t->transpose_b != 0 ? 1 : b_row;
	p.b_n = t->transpose_b != 0 ? b_row : 1;
	a.rank -= 2;
	b.rank -= 2;
	y.rank -= 2;
	qn_broadcast_make(&a, &b, &y, &p.batch);
	for (int32_t i = 0; i < p.batch.rank; i++) {
		p.batch.xs[i] *= p.m * p.k;
		p.batch.ys[i] *= p.k * p.n;
	}
	return p;
}

static void
multiply(const product *p, const float *a, const float *b, float *y)
{
	for (int64_t i = 0; i < p->m; i++, y += p->n) {
		for (int64_t j = 0; j < p->n; j++)
			y[j] = 0.0f;
		for (int64_t l = 0; l < p->k; l++) {
			float left = a[i * p->a_m + l * p->a_k];
			const float *row = b + l * p->b_k;

			for (int64_t j = 0; j < p->n; j++)
				y[j] += left * row[j * p->b_n];
		}
	}
}

static void
matmul_real(const qn_eval *e)
{
	product p = product_of(e->g, e->n);
	const float *a = e->in[0], *b = e->in[1];
	float *y = e->out;
	int64_t at[QN_MAX_RANK] = {0};
	int64_t ao = 0, bo = 0;
	int32_t last = p.batch.rank - 1;

	if (qn_static_count(e->n->type) == 0)
		return;
	do {
		for (int64_t i = 0; i < p.batch.dim[last]; i++, y += p.m * p.n)
			multiply(&p, a + ao + i * p.batch.xs[last], b + bo + i * p.batch.ys[last],
				 y);
	} while (qn_broadcast_next(&p.batch, at, &ao, &bo));
}

/* Sum of k products; integers wrap around in 64 bits. */
static qn_number
dot(const product *p, qn_plain t, const void *a, int64_t from_a, const void *b, int64_t from_b)
{
	qn_number x[QN_PLAIN_RUN_LENGTH], y[QN_PLAIN_RUN_LENGTH], sum = {.u = 0};
	bool real = qn_number_kind_of(t) == QN_KIND_REAL;

	if (real)
		sum.f = 0.0;
	for (int64_t l = 0, n; l < p->k; l += n) {
		n = p->k - l < QN_PLAIN_RUN_LENGTH ? p->k - l : QN_PLAIN_RUN_LENGTH;
		qn_plain_load(t, a, from_a + l * p->a_k, p->a_k, n, x);
		qn_plain_load(t, b, from_b + l * p->b_k, p->b_k, n, y);
		for (int64_t i = 0; real && i < n; i++)
			sum.f += x[i].f * y[i].f;
		for (int64_t i = 0; !real && i < n; i++)
			sum.u += x[i].u * y[i].u;
	}
	return sum;
}

static void
matmul_plain(const qn_eval *e)
{
	product p = product_of(e->g, e->n);
	qn_plain t = qn_plain_of(e->n->type);
	int64_t at[QN_MAX_RANK] = {0}, ao = 0, bo = 0, to = 0;
	int32_t last = p.batch.rank - 1;

	if (qn_static_count(e->n->type) == 0)
		return;
	do {
		for (int64_t i = 0; i < p.batch.dim[last] * p.m * p.n; i++) {
			int64_t batch = i / (p.m * p.n), row = i / p.n % p.m, column = i % p.n;
			qn_number y =
				dot(&p, t, e->in[0], ao + batch * p.batch.xs[last] + row * p.a_m,
				    e->in[1], bo + batch * p.batch.ys[last] + column * p.b_n);

			qn_plain_store(t, e->out, to++, 1, &y);
		}
	} while (qn_broadcast_next(&p.batch, at, &ao, &bo));
}

/* The largest |q - zero point| in the storage range of the type. */
static int64_t
reach(const qn_graph *g, const qn_type *type)
{
	int64_t zp = qn_zp_of(g, type);
	int64_t above = type->elem->qmax - zp, below = zp - type->elem->qmin;

	return above > below ? above : below;
}

/* Quantized values of one storage, an accumulator as result, and sums that stay inside it. */
static bool
types_ok(const qn_graph *g, const qn_node *n, int64_t terms)
{
	const qn_type *a = qn_in_type(g, n, 0), *b = qn_in_type(g, n, 1);
	qn_family f = qn_family_of(a->elem);

	if (!qn_int_check_quantized(g, n, a))
		return false;
	if (qn_family_of(b->elem) != f || !qn_elem_in_family(&g->model->types, b->elem)) {
		(void)qn_int_refuse(g, n, "operands of different storage types");
		return false;
	}
	if (!qn_elem_is_acc(&g->model->types, n->type->elem, f)) {
		(void)qn_int_refuse(g, n, "only %d-bit accumulators", f == QN_FAMILY_s16 ? 64 : 32);
		return false;
	}
	return qn_accumulator_holds(g, n, terms, terms * reach(g, a) * reach(g, b), "product");
}

static void *
matmul_prepare(const qn_graph *g, const qn_node *n, qn_arena *arena)
{
	product p = product_of(g, n);
	qn_matmul_args *d = QN_NEW(arena, qn_matmul_args, 1);

	if (!types_ok(g, n, p.k))
		return NULL;
	if (p.batch.rank > 3)
		return qn_int_refuse(g, n, "broadcasting over %d separate leading axes, at most 3",
				     (int)p.batch.rank);
	*d = (qn_matmul_args){
		.m = (int32_t)p.m,
		.k = (int32_t)p.k,
		.n = (int32_t)p.n,
		.a_m = (int32_t)p.a_m,
		.a_k = (int32_t)p.a_k,
		.b_k = (int32_t)p.b_k,
		.b_n = (int32_t)p.b_n,
		.za = qn_zp_of(g, qn_in_type(g, n, 0)),
		.zb = qn_zp_of(g, qn_in_type(g, n, 1)),
		.lo = INT32_MIN,
		.hi = INT32_MAX,
		.mode = g->model->rounding,
		.mult_n = 1,
	};
	for (int32_t i = 0; i < 4; i++) {
		int32_t k = i - (3 - p.batch.rank);
		bool real = i < 3 && k >= 0;

		d->dim[i] = real ? (int32_t)p.batch.dim[k] : 1;
		d->as[i] = real ? (int32_t)p.batch.xs[k] : 0;
		d->bs[i] = real ? (int32_t)p.batch.ys[k] : 0;
	}
	return d;
}

#define MATMUL(name, q, o, a, code)                                                                \
	static void name(const qn_eval *e, const void *args)                                       \
	{                                                                                          \
		qn_matmul_acc##o(args, e->in[0], e->in[1], e->out);                                \
	}

QN_BY_FAMILY(matmul_quantized, MATMUL)

const qn_impl qn_impl_matmul = {
	.real = matmul_real,
	.plain = matmul_plain,
	.quantized = {.prepare = matmul_prepare,
		      .run = matmul_quantized,
		      .families = QN_ALL_FAMILIES},
};
