/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_dense.c - FULLY_CONNECTED and BATCH_MATMUL.
 *
 *   FULLY_CONNECTED  data of any rank, weights [O,K]    -> reshape [N,K], dense, reshape
 *                    computed weights                   -> reshape [N,K], matmul, add, reshape
 *   BATCH_MATMUL     [...,M,K] by [...,K,N]; adj_x, adj_y: the last two axes are swapped */
#include "import/tflite.h"

/* [N,K] of data with N * K elements; x itself when it is that already. */
static qn_id
as_rows(qn_tfl_op *o, qn_id x, int64_t k)
{
	const qn_type *type = x != 0 ? qn_importer_type(o->im, x) : NULL;
	int64_t count = type != NULL ? qn_type_count(type) : -1;

	if (type == NULL || (type->rank == 2 && type->dim[1] == k))
		return x;
	if (count < 0 || k < 1 || count % k != 0)
		return qn_importer_refuse(o->im, "import.input",
					  "data of %lld elements cannot be split into rows of %lld",
					  (long long)count, (long long)k);
	return qn_importer_reshape(o->im, x, 2, (int64_t[]){count / k, k});
}

/* keep_num_dims: the result has the data's dimensions but the last one. */
static qn_id
with_dims(qn_tfl_op *o, qn_id y)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	const qn_type *type = y != 0 ? qn_importer_type(o->im, y) : NULL;
	int64_t dim[QN_MAX_RANK];

	if (type == NULL || qn_tfl_flag(o, 2, 0) == 0 || x->rank < 1 || x->rank == 2)
		return y;
	for (int32_t i = 0; i < x->rank; i++)
		dim[i] = i + 1 < x->rank ? x->dim[i] : type->dim[1];
	return qn_importer_reshape(o->im, y, x->rank, dim);
}

/* Weights in blocks: the units of the sums follow from their scales, which the requantizer rounds. */
static void
in_blocks(qn_tfl_op *o, qn_id x)
{
	const qn_id bias = o->nin < 3 || o->from[2] == NULL ? 0 : qn_tfl_real(o, 2);

	x = x != 0 ? qn_importer_unary(o->im, QN_OP_dequantize, x) : 0;
	qn_id w = qn_importer_unary(o->im, QN_OP_dequantize, o->in[1]);
	qn_id y = x != 0 && w != 0 ? qn_tfl_product(o, QN_OP_dense, x, w, bias, NULL, false,
						    qn_tfl_flag(o, 0, QN_TFL_ACT_NONE))
				   : 0;
	qn_tfl_set_result(o, 0, with_dims(o, y));
}

/* Weights are constants, maybe after FAKE_QUANT, DEQUANTIZE and moves; others are computed. */
static bool
are_computed(qn_tfl_op *o, qn_id w)
{
	const qn_node *n = qn_graph_node(o->im->g, w);

	while (n->nin == 1)
		n = qn_graph_node(o->im->g, n->in[0]);
	return n->op != QN_OP_const;
}

/* x w^T + bias in float: a dense layer, or a product of two values, which is what converters make of a matmul of matrices. */
static qn_id
product(qn_tfl_op *o, qn_id x, qn_id w, qn_id bias)
{
	const int64_t activation = qn_tfl_flag(o, 0, QN_TFL_ACT_NONE);
	const qn_attrs turn = {.matmul = {0, 1}};
	const qn_id in[2] = {x, w};

	if (x == 0 || w == 0 || !are_computed(o, w))
		return qn_tfl_product(o, QN_OP_dense, x, w, bias, NULL, false, activation);
	qn_id y = qn_importer_op(o->im, QN_OP_matmul, 2, in, &turn, NULL);
	if (y != 0 && bias != 0)
		y = qn_importer_binary(o->im, QN_OP_add, y, bias);
	return qn_tfl_activated(o, y, activation);
}

static void
fully_connected(qn_tfl_op *o)
{
	bool quantized = qn_tfl_is_quantized(o, o->in[0]) && qn_tfl_result_is_quantized(o);
	const qn_type *w = qn_importer_type(o->im, o->in[1]);
	qn_id bias = o->nin < 3 || o->from[2] == NULL ? 0
		     : quantized                      ? o->in[2]
						      : qn_tfl_real(o, 2);

	if (w->rank != 2 || qn_tfl_flag(o, 1, 0) != 0) {
		(void)qn_importer_refuse(o->im, "import.attr",
					 "weights of %d dimensions in format %lld; must be 2 in "
					 "format DEFAULT",
					 (int)w->rank, (long long)qn_tfl_flag(o, 1, 0));
		return;
	}
	qn_id x = as_rows(o, quantized ? o->in[0] : qn_tfl_real(o, 0), w->dim[1]);
	if (quantized && w->elem->gran == QN_SUB_CHANNEL) {
		in_blocks(o, x);
		return;
	}
	qn_id y = quantized ? qn_tfl_product(o, QN_OP_dense, x, o->in[1], bias, NULL,
					     w->elem->gran == QN_PER_TENSOR,
					     qn_tfl_flag(o, 0, QN_TFL_ACT_NONE))
			    : product(o, x, qn_tfl_real(o, 1), bias);
	qn_tfl_set_result(o, 0, with_dims(o, y));
}

static void
batch_matmul(qn_tfl_op *o)
{
	bool quantized = qn_tfl_is_quantized(o, o->in[0]) && qn_tfl_result_is_quantized(o);
	qn_attrs a = {.matmul = {qn_tfl_flag(o, 0, 0), qn_tfl_flag(o, 1, 0)}};
	const qn_elem *to = qn_tfl_result(o, 0);
	qn_id in[2];

	for (uint32_t i = 0; i < 2; i++)
		in[i] = quantized ? o->in[i] : qn_tfl_real(o, i);
	if (in[0] == 0 || in[1] == 0)
		return;
	qn_id y = quantized ? qn_tfl_matmul(o, in[0], in[1], &a)
			    : qn_importer_op(o->im, QN_OP_matmul, 2, in, &a, NULL);
	qn_tfl_set_result(o, 0, quantized ? qn_tfl_requantized(o, 0, y, to->qmin, to->qmax) : y);
}

const qn_tfl_row qn_tfl_dense_rows[] = {
	{QN_TFL_FULLY_CONNECTED, fully_connected, 0, 2, 3, 1, 1},
	{QN_TFL_BATCH_MATMUL, batch_matmul, 0, 2, 2, 1, 0},
	{0},
};
