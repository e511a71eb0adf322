/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_attend.c - see onnx_attention.h.  Several heads of queries that share a head of keys are stored one
 * after the other, so that keys and values are not copied:
 *
 *   q [1,8,5,16]  k [1,2,7,16]      q as [1,2,20,16], scores [1,2,20,7] as [1,8,5,7] */
#include "import/onnx_attention.h"

#include <math.h>

qn_id
qn_onnx_ramp(qn_onnx *o, int64_t count, int64_t first, int64_t step, int32_t rank, int32_t axis)
{
	int64_t dim[QN_MAX_RANK];
	void *data;

	for (int32_t i = 0; i < rank; i++)
		dim[i] = i == axis ? count : 1;
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_i64, rank, dim);
	if (!qn_importer_take_type(&o->im, type))
		return 0;
	qn_tensor *x = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < count; i++)
		qn_store_i64(data, QN_PLAIN_i64, i, first + i * step);
	return qn_importer_const(&o->im, NULL, x);
}

/* ---- heads ---- */

qn_id
qn_onnx_heads(qn_onnx *o, qn_id x, int64_t heads)
{
	static const int64_t perm[] = {0, 2, 1, 3};

	if (x == 0)
		return 0;
	const qn_type *t = qn_onnx_type(o, x);
	if (t->rank != 3 || heads < 1 || t->dim[2] % heads != 0)
		return qn_importer_refuse(&o->im, "import.attr",
					  "a value of %d dimensions, the last of %lld, cannot be "
					  "split into %lld heads (expected 3 dimensions)",
					  (int)t->rank,
					  (long long)(t->rank > 0 ? t->dim[t->rank - 1] : 1),
					  (long long)heads);
	int64_t dim[] = {t->dim[0], t->dim[1], heads, t->dim[2] / heads};
	return qn_importer_transpose(&o->im, qn_importer_reshape(&o->im, x, 4, dim), perm);
}

qn_id
qn_onnx_unheads(qn_onnx *o, qn_id x)
{
	static const int64_t perm[] = {0, 2, 1, 3};

	if (x == 0)
		return 0;
	const int64_t *d = qn_onnx_type(o, x)->dim;
	int64_t dim[] = {d[0], d[2], d[1] * d[3]};
	return qn_importer_reshape(&o->im, qn_importer_transpose(&o->im, x, perm), 3, dim);
}

/* ---- which scores count ---- */

void
qn_onnx_add_mask(qn_onnx *o, qn_onnx_attention *a, qn_id keep)
{
	a->keep =
		a->keep == 0 ? keep : qn_importer_binary(&o->im, QN_OP_logical_and, a->keep, keep);
}

void
qn_onnx_add_causal_mask(qn_onnx *o, qn_onnx_attention *a, qn_id offset)
{
	if (a->q == 0 || a->k == 0)
		return;
	int64_t rows = qn_onnx_type(o, a->q)->dim[2], columns = qn_onnx_type(o, a->k)->dim[2];
	qn_id column = qn_onnx_ramp(o, columns, 0, 1, 2, 1);
	qn_id row = qn_onnx_ramp(o, rows, 0, 1, 2, 0);
	qn_id behind = qn_importer_binary(&o->im, QN_OP_sub, column, row);

	qn_onnx_add_mask(o, a, qn_importer_binary(&o->im, QN_OP_less_equal, behind, offset));
}

/* Whether no element of a constant is 0. */
static bool
all_set(const qn_onnx *o, qn_id x)
{
	const qn_tensor *v = qn_importer_known(&o->im, x);
	int64_t n = v != NULL ? qn_type_count(v->type) : -1;

	for (int64_t i = 0; i < n; i++)
		if (qn_tensor_i64(v, i) == 0)
			return false;
	return n >= 0;
}

/* p with zeros in rows of which nothing counts: their softmax is that of infinities alone. */
static qn_id
without_dead_rows(qn_onnx *o, const qn_onnx_attention *a, qn_id p)
{
	qn_importer *im = &o->im;
	qn_id low = qn_importer_f32(im, -(double)INFINITY), bias = a->bias;
	const int64_t last[] = {0, 1, 2, 3, 4, 5, 6, 7};

	if (a->keep == 0 && bias == 0)
		return p;
	if (bias == 0)
		bias = qn_importer_f32(im, 0);
	if (a->keep != 0)
		bias = qn_importer_op(im, QN_OP_where, 3, (qn_id[]){a->keep, bias, low}, NULL,
				      NULL);
	if (bias == 0 || p == 0)
		return 0;
	int32_t rank = qn_onnx_type(o, bias)->rank;
	if (rank > 0)
		bias = qn_importer_reduce(im, QN_OP_reduce_max, bias, 1, last + rank - 1, true);
	qn_id alive = qn_importer_binary(im, QN_OP_greater, bias, low);
	if (all_set(o, alive))
		return p;
	return qn_importer_op(im, QN_OP_where, 3, (qn_id[]){alive, p, qn_importer_f32(im, 0)}, NULL,
			      NULL);
}

/* ---- the products ---- */

static bool
shapes_ok(qn_onnx *o, const qn_onnx_attention *a)
{
	const qn_type *q = qn_onnx_type(o, a->q), *k = qn_onnx_type(o, a->k),
		      *v = qn_onnx_type(o, a->v);
	bool ok = q->rank == 4 && k->rank == 4 && v->rank == 4;

	ok = ok && k->dim[1] > 0 && q->dim[1] % k->dim[1] == 0 && k->dim[1] == v->dim[1];
	ok = ok && q->dim[0] == k->dim[0] && k->dim[0] == v->dim[0];
	ok = ok && q->dim[3] == k->dim[3] && k->dim[2] == v->dim[2] && q->dim[3] > 0;
	if (!ok)
		(void)qn_importer_refuse(&o->im, "import.input",
					 "queries, keys and values must be [batch, heads, steps, "
					 "size], with numbers of heads that divide each other");
	return ok;
}

/* [batch, heads, steps, n] with the heads of k, or back with those of q. */
static qn_id
regroup(qn_onnx *o, qn_id x, int64_t heads)
{
	if (x == 0)
		return 0;
	const int64_t *d = qn_onnx_type(o, x)->dim;
	int64_t dim[] = {d[0], heads, d[1] * d[2] / heads, d[3]};

	return d[1] == heads ? x : qn_importer_reshape(&o->im, x, 4, dim);
}

static qn_id
product(qn_onnx *o, qn_id a, qn_id b, bool turned)
{
	qn_attrs t = qn_importer_attrs(QN_OP_matmul);

	t.matmul.transpose_b = turned;
	return qn_importer_op(&o->im, QN_OP_matmul, 2, (qn_id[]){a, b}, &t, NULL);
}

static qn_id
capped(qn_onnx *o, qn_id s, double cap)
{
	qn_importer *im = &o->im;

	s = qn_importer_binary(im, QN_OP_mul, s, qn_importer_f32(im, 1 / cap));
	s = qn_importer_unary(im, QN_OP_tanh, s);
	return qn_importer_binary(im, QN_OP_mul, s, qn_importer_f32(im, cap));
}

qn_id
qn_onnx_attend(qn_onnx *o, const qn_onnx_node *n, qn_onnx_attention *a)
{
	qn_importer *im = &o->im;
	qn_attrs last = qn_importer_attrs(QN_OP_softmax);

	if (a->q == 0 || a->k == 0 || a->v == 0 || !shapes_ok(o, a))
		return 0;
	int64_t heads = qn_onnx_type(o, a->q)->dim[1], shared = qn_onnx_type(o, a->k)->dim[1];
	double size = (double)qn_onnx_type(o, a->q)->dim[3];
	double scale = a->scale > 0 || a->scale < 0 ? a->scale : 1 / sqrt(size);
	qn_id q = scale < 1 || scale > 1
			  ? qn_importer_binary(im, QN_OP_mul, a->q, qn_importer_f32(im, scale))
			  : a->q;
	qn_id s = regroup(o, product(o, regroup(o, q, shared), a->k, true), heads);
	a->score[0] = s;
	if (a->softcap > 0)
		s = capped(o, s, a->softcap);
	a->score[1] = s;
	if (a->bias != 0)
		s = qn_importer_binary(im, QN_OP_add, s, a->bias);
	if (a->keep != 0 && !all_set(o, a->keep))
		s = qn_importer_op(im, QN_OP_where, 3,
				   (qn_id[]){a->keep, s, qn_importer_f32(im, -(double)INFINITY)},
				   NULL, NULL);
	a->score[2] = s;
	if (a->change != NULL)
		s = a->change(o, n, "score_mod", s);
	last.axis.axis = 3;
	qn_id p = s != 0 ? qn_importer_op(im, QN_OP_softmax, 1, &s, &last, NULL) : 0;
	p = without_dead_rows(o, a, p);
	a->score[3] = p;
	if (a->change != NULL)
		p = a->change(o, n, "prob_mod", p);
	return regroup(o, product(o, regroup(o, p, shared), a->v, false), heads);
}
