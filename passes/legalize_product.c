/* SPDX-License-Identifier: Apache-2.0 */
/* legalize_product.c - a product with a constant matrix is a dense layer, which has faster kernels.
 *
 *   matmul(x [M,K], const [K,N])                    ->  dense(x, const [N,K])
 *   requantize(matmul(x [B,M,K], const [K,N]))      ->  reshape(requantize(dense(reshape(x), const [N,K])))
 *
 * The sums are the same, and so are the bytes. */
#include <string.h>

#include "passes/legalize.h"

enum { ROOT, PRODUCT };

/* The element type of the matrix with its axes swapped; NULL after a report. */
static const qn_elem *
turned_elem(qn_rw *rw, const char *name, const qn_elem *e)
{
	qn_elem d = *e;
	int32_t first = 0;
	const qn_elem *turned = NULL;

	if (e->gran == QN_PER_TENSOR)
		return e;
	d.axis = &first;
	const qn_status status = qn_elem_make(&qn_rw_model(rw)->types, name, &d, &turned);
	if (status != QN_OK)
		qn_rw_fail(rw, status);
	return turned;
}

/* What was made of a constant or a product: several requantizes can read one. */
static qn_id
made_of(const qn_rw *rw, qn_id id)
{
	const qn_id *made = qn_map_get(qn_rw_user(rw), &id, sizeof id);

	return made != NULL ? *made : 0;
}

static qn_id
note(qn_rw *rw, qn_id id, qn_id made)
{
	qn_id *value = QN_NEW(qn_rw_model(rw)->scratch, qn_id, 1);

	*value = made;
	if (made != 0)
		qn_map_put(qn_rw_user(rw), &id, sizeof id, value);
	return made;
}

/* The constant [K,N] as weights [N,K]; 0 after an error. */
static qn_id
turned(qn_rw *rw, qn_id id)
{
	const qn_node *c = qn_rw_node(rw, id);
	const int64_t rows = c->type->dim[0], columns = c->type->dim[1];
	const qn_elem *e = turned_elem(rw, c->name, c->type->elem);
	qn_model *m = qn_rw_model(rw);
	void *data;

	if (e == NULL || made_of(rw, id) != 0)
		return made_of(rw, id);
	const size_t each = qn_elem_bytes(e);
	qn_tensor *w = qn_tensor_new(
		m->arena, qn_type_tensor(&m->types, e, 2, (const int64_t[]){columns, rows}), &data);
	const char *from = c->value->data;
	char *to = data;
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			memcpy(to + (size_t)(j * rows + i) * each,
			       from + (size_t)(i * columns + j) * each, each);
	return note(rw, id, qn_rw_const(rw, qn_rw_name(rw, id), w));
}

/* Whether a matmul has rows of data of 8 bits and a constant matrix with a scale, or one for each column. */
static bool
is_layer(const qn_rw *rw, const qn_node *n)
{
	const qn_type *x = qn_rw_node(rw, n->in[0])->type;
	const qn_node *c = qn_rw_node(rw, n->in[1]);
	const qn_elem *e = c->type->elem;

	return n->op == QN_OP_matmul && c->op == QN_OP_const && c->type->rank == 2 &&
	       qn_elem_is_quant(e) && e->bits == 8 && e->zp == 0 && e->gran != QN_SUB_CHANNEL &&
	       n->attr->matmul.transpose_a == 0 && x->rank >= 2 && qn_type_count(x) > 0 &&
	       qn_type_count(n->type) > 0 && qn_elem_is_quant(x->elem) &&
	       x->elem->gran == QN_PER_TENSOR;
}

/* dense in place of the product, of x as rows. */
static qn_id
as_dense(qn_rw *rw, qn_id product, const char *name)
{
	const qn_node *n = qn_rw_node(rw, product);
	const qn_type *x = qn_rw_node(rw, n->in[0])->type;
	const int64_t terms = x->dim[x->rank - 1], rows[2] = {qn_type_count(x) / terms, terms};
	qn_id in[2] = {n->in[0], n->in[1]};

	if (made_of(rw, product) != 0)
		return made_of(rw, product);
	if (n->attr->matmul.transpose_b == 0)
		in[1] = turned(rw, in[1]);
	if (x->rank != 2)
		in[0] = qn_rw_reshape(rw, NULL, in[0], 2, rows);
	if (in[0] == 0 || in[1] == 0)
		return 0;
	return note(rw, product, qn_rw_add(rw, QN_OP_dense, name, 2, in, NULL, NULL));
}

qn_id
qn_legalize_matmul(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);

	if (!is_layer(rw, n) || n->type->rank != 2)
		return qn_rw_decline(rw, "it is not a matrix times a constant matrix of 8 bits");
	return as_dense(rw, m->root, qn_rw_name(rw, m->root));
}

qn_id
qn_legalize_stacked_matmul(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_type *y = n->type;

	if (!is_layer(rw, qn_rw_node(rw, m->at[PRODUCT])) || y->elem->gran != QN_PER_TENSOR)
		return qn_rw_decline(rw, "it is not that of matrices times a constant matrix of 8 "
					 "bits");
	const qn_id sums = as_dense(rw, m->at[PRODUCT], qn_rw_name(rw, m->at[PRODUCT]));
	if (sums == 0)
		return 0;
	n = qn_rw_node(rw, m->root);
	const qn_type *t = qn_rw_node(rw, sums)->type;
	const qn_id rows =
		qn_rw_add(rw, QN_OP_requantize, NULL, 1, &sums, n->attr,
			  qn_type_tensor(&qn_rw_model(rw)->types, y->elem, t->rank, t->dim));
	return rows != 0 ? qn_rw_reshape(rw, qn_rw_name(rw, m->root), rows, y->rank, y->dim) : 0;
}
