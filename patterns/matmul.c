/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c - how matmul is quantized.
 *
 *   matmul(a, const b), i8 all over      ->  b symmetric, with a scale for each column
 *   matmul(a, const b), other storage    ->  reshape, dense with the weights b transposed, reshape
 *   matmul(a, b)                         ->  b as an activation, like a */
#include "patterns/standard.h"
#include "ir/foreign_names.h"

/* The constant as weights [columns, terms] of a dense layer. */
static qn_id
weights_of(qn_quantizing *b, qn_id right, bool transposed)
{
	qn_graph *g = qn_qb_graph(b);
	const qn_node *c = qn_graph_node(g, right);
	const int64_t rows = c->type->dim[0], columns = c->type->dim[1];
	const int64_t shape[2] = {columns, rows};
	qn_arena *a = g->model->arena;
	void *data;

	if (transposed)
		return right;
	const float *from = qn_tensor_as_f32(a, c->value);
	qn_tensor *w =
		qn_tensor_new(a, qn_type_plain(&g->model->types, QN_PLAIN_f32, 2, shape), &data);
	for (int64_t i = 0; i < rows; i++)
		for (int64_t j = 0; j < columns; j++)
			((float *)data)[j * rows + i] = from[i * columns + j];
	const qn_id turned = qn_graph_const(g, c->name, w);
	if (turned != 0)
		qn_model_copy_foreign_names(g->model, qn_graph_node(g, turned), c);
	return turned;
}

static qn_id
reshape(qn_quantizing *b, qn_id x, const char *name, int32_t rank, const int64_t *dim)
{
	qn_attrs attr = {0};

	attr.shape.shape.n = rank;
	for (int32_t i = 0; i < rank; i++)
		attr.shape.shape.v[i] = dim[i];
	return qn_qb_op(b, QN_OP_reshape, name, 1, &x, &attr);
}

/* Whether the product is that of a matrix of rows with one constant matrix. */
static bool
is_layer(const qn_graph *g, const qn_node *root, qn_id right)
{
	const qn_node *c = qn_graph_node(g, right);

	return c->op == QN_OP_const && c->type->rank == 2 && root->attr->matmul.transpose_a == 0 &&
	       qn_type_count(root->type) >= 0;
}

/* The rows of data by the constant.  The product is float until its scale is known: with weights in blocks, and of
 * data that is float, whose scale is computed at run time. */
static qn_id
as_dense(qn_quantizing *b, const qn_node *root, const char *acc, qn_id left, qn_id right)
{
	const qn_type *y = root->type;
	qn_graph *g = qn_qb_graph(b);
	qn_id in[2] = {left, 0};
	int64_t flat[2] = {1, 0};
	qn_blocks blocks;
	qn_id got;

	if (left == 0)
		return 0;
	const qn_type *x = qn_graph_node(g, left)->type;
	const bool is_matrix = x->rank == 2, is_dynamic = qn_type_is_f32(x);
	for (int32_t i = 0; i + 1 < x->rank; i++)
		flat[0] *= x->dim[i];
	flat[1] = x->dim[x->rank - 1];
	if (!is_matrix)
		in[0] = reshape(b, in[0], NULL, 2, flat);
	const qn_id w = weights_of(b, right, root->attr->matmul.transpose_b != 0);
	const bool in_blocks =
		w != 0 && qn_qb_product_blocks(b, qn_graph_node(g, w)->type, &blocks);
	if (in_blocks && !is_dynamic)
		in[0] = qn_qb_dequantize(b, in[0], NULL);
	in[1] = in_blocks ? qn_qb_quantize_blocks(b, w, root->name, "b", &blocks)
			  : qn_qb_quantize_weights(b, w, root->name, "b",
						   qn_qb_opts(b)->per_tensor_weights ? -1 : 0);
	if (is_dynamic || in_blocks) {
		in[1] = qn_qb_dequantize(b, in[1], NULL);
		got = qn_qb_op(b, QN_OP_dense, is_matrix ? root->name : acc, 2, in, NULL);
	} else {
		got = qn_qb_dequantize(b, qn_qb_op(b, QN_OP_dense, acc, 2, in, NULL),
				       is_matrix ? root->name : NULL);
	}
	return got == 0 || is_matrix ? got : reshape(b, got, root->name, y->rank, y->dim);
}

static bool
is_narrow(uint8_t bits)
{
	return bits == 2 || bits == 4;
}

qn_id
qn_quantize_matmul(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	const qn_quant_opts *o = qn_qb_opts(b);
	qn_graph *g = qn_qb_graph(b);
	bool bytes = o->activations == QN_STORAGE_I8 && !is_narrow(o->weight_bits) &&
		     o->weight_block == 0;
	qn_id right = qn_qb_input(b, 1), in[2];
	qn_buf acc;

	(void)user;
	(void)m;
	qn_buf_init(&acc, g->model->scratch);
	qn_buff(&acc, "%s.acc", root->name);
	if (right == 0)
		return 0;
	if (qn_qb_is_dynamic(b, qn_qb_input(b, 0)) && qn_graph_node(g, right)->op == QN_OP_const &&
	    is_layer(g, root, right))
		return as_dense(b, root, qn_buf_str(&acc),
				qn_qb_dynamic(b, qn_qb_input(b, 0), root->name, "a"), right);
	in[0] = qn_qb_quantize(b, qn_qb_input(b, 0), root->name, "a");
	if (in[0] == 0)
		return 0;
	const bool channels = qn_qb_has_channels(b, in[0]); /* none of one axis, or one column */
	if (!bytes && !channels && is_layer(g, root, right))
		return as_dense(b, root, qn_buf_str(&acc), in[0], right);
	const bool weights = (bytes || channels) && qn_graph_node(g, right)->op == QN_OP_const;
	if (weights) {
		int32_t rank = qn_graph_node(g, right)->type->rank;
		int32_t column = rank - (root->attr->matmul.transpose_b != 0 ? 2 : 1);

		in[1] = qn_qb_quantize_weights(b, right, root->name, "b",
					       o->per_tensor_weights ? -1 : column);
	} else {
		in[1] = qn_qb_quantize(b, right, root->name, "b");
	}
	if (channels || (!weights && qn_qb_has_channels(b, in[1])))
		return qn_quantize_real_product(b, root, root->name, in, 0);
	qn_id y = qn_qb_op(b, root->op, qn_buf_str(&acc), 2, in, root->attr);
	return qn_qb_dequantize(b, y, root->name);
}
