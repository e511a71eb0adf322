/* SPDX-License-Identifier: Apache-2.0 */
/* lrn.c - lrn in integers, written out in ops that have integer arithmetic:
 *
 *   x [N,H,W,C]  square  reshape [N*H*W,C]  dense  pow -beta  reshape  mul x
 *
 * The sum over neighbouring channels is a dense layer whose weights are alpha / size on a band and 0 beside it, which its
 * scale for each channel holds exactly; bias is its bias. */
#include "patterns/standard.h"

#include <string.h>

enum { MOST_CHANNELS = 2048 }; /* their square is the number of weights */

int
qn_accept_lrn(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	const qn_node *n = qn_graph_node(g, m->root);
	const qn_attrs_lrn *a = &n->attr->lrn;

	(void)user;
	if (!qn_type_is_f32(n->type) || qn_type_count(n->type) < 1) {
		*reason = "the data is not f32 of a known shape";
		return 0;
	}
	if (n->type->dim[n->type->rank - 1] > MOST_CHANNELS) {
		*reason = "lrn in integers takes at most 2048 channels";
		return 0;
	}
	if (!(a->alpha > 0) || !(a->bias > 0) || !(a->beta >= 0x1p-20 && a->beta <= 0x1p20)) {
		*reason = "lrn in integers takes only alpha, beta and bias above 0";
		return 0;
	}
	return 1;
}

static qn_id
constant(qn_graph *g, const qn_node *root, const char *what, int32_t rank, const int64_t *dim,
	 const float *data)
{
	qn_types *t = &g->model->types;
	qn_buf name;

	qn_buf_init(&name, g->model->scratch);
	qn_buff(&name, "%s.%s", root->name, what);
	return qn_graph_const(
		g, qn_buf_str(&name),
		qn_tensor_of(g->model->arena, qn_type_plain(t, QN_PLAIN_f32, rank, dim), data));
}

/* w[o][k]: alpha / size for the channels k that channel o sums. */
static qn_id
band(qn_graph *g, const qn_node *root, int64_t c)
{
	const qn_attrs_lrn *a = &root->attr->lrn;
	const int64_t dim[2] = {c, c};
	float *w = QN_NEW(g->model->scratch, float, (size_t)(c * c));
	int64_t before = (a->size - 1) / 2;

	for (int64_t o = 0; o < c; o++)
		for (int64_t k = o - before < 0 ? 0 : o - before; k < o - before + a->size && k < c;
		     k++)
			w[o * c + k] = (float)(a->alpha / (double)a->size);
	return constant(g, root, "band", 2, dim, w);
}

/* x quantized with a new symbol, and dequantized. */
static qn_id
fake(qn_quantizing *b, qn_id x, const char *operand)
{
	return qn_qb_dequantize(b, qn_qb_quantize_tensor(b, x, qn_qb_root(b)->name, operand), NULL);
}

/* bias + sum of alpha / size * x^2, as [rows, c]. */
static qn_id
sums(qn_quantizing *b, qn_id squares, int64_t rows, int64_t c)
{
	const qn_node *root = qn_qb_root(b);
	qn_graph *g = qn_qb_graph(b);
	float *bias = QN_NEW(g->model->scratch, float, (size_t)c);
	qn_attrs a = {0};
	qn_id in[3];

	a.shape.shape.n = 2;
	a.shape.shape.v[0] = rows;
	a.shape.shape.v[1] = c;
	in[0] = qn_qb_op(b, QN_OP_reshape, NULL, 1, &squares, &a);
	in[0] = qn_qb_quantize_tensor(b, in[0], root->name, "squares");
	in[1] = qn_qb_quantize_weights(b, band(g, root, c), root->name, "w",
				       qn_qb_opts(b)->per_tensor_weights ? -1 : 0);
	for (int64_t k = 0; k < c; k++)
		bias[k] = (float)root->attr->lrn.bias;
	in[2] = constant(g, root, "bias", 1, &c, bias);
	in[2] = qn_qb_quantize_bias(b, in[2], qn_graph_node(g, in[2])->name, in[0], in[1]);
	return qn_qb_dequantize(b, qn_qb_op(b, QN_OP_dense, NULL, 3, in, NULL), NULL);
}

/* s^-beta: the exponent is the integer -1 of scale beta, which is exact. */
static qn_id
power(qn_quantizing *b, qn_id s)
{
	const qn_node *root = qn_qb_root(b);
	const int64_t one = 1;
	const float e = (float)-root->attr->lrn.beta;
	const qn_elem byte = qn_elem_desc(8, true);
	qn_graph *g = qn_qb_graph(b);
	qn_id in[2] = {fake(b, s, "sum"), constant(g, root, "exponent", 1, &one, &e)};

	in[1] = qn_qb_quantize_fixed(b, in[1], qn_graph_node(g, in[1])->name, &byte, -(double)e, 0);
	in[1] = qn_qb_dequantize(b, in[1], NULL);
	return qn_qb_op(b, QN_OP_pow, NULL, 2, in, NULL);
}

qn_id
qn_quantize_lrn(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	const qn_type *t = root->type;
	int64_t c = t->dim[t->rank - 1];
	qn_attrs shape = {0};
	qn_id x = fake(b, qn_qb_input(b, 0), "x");
	qn_id in[2] = {x, 0};

	(void)user;
	(void)m;
	qn_id y = qn_qb_op(b, QN_OP_square, NULL, 1, &x, NULL);
	y = power(b, sums(b, y, qn_type_count(t) / c, c));
	shape.shape.shape.n = t->rank;
	memcpy(shape.shape.shape.v, t->dim, (size_t)t->rank * sizeof t->dim[0]);
	y = qn_qb_op(b, QN_OP_reshape, NULL, 1, &y, &shape);
	in[1] = fake(b, y, "factor");
	return qn_qb_op(b, QN_OP_mul, root->name, 2, in, NULL);
}
