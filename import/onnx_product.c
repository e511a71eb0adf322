/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_product.c - products of matrices.
 *
 *   MatMul(a, b)                 matmul; a vector is a matrix of one row, or of one column
 *   Gemm(a, b [K,N], c)          dense(a, transpose(b), c) when b is a constant, or computed integers that the kernels of
 *                                dense take as weights, and c a vector */
#include "import/onnx_write_op.h"

/* ---- MatMul ---- */

static void
matmul(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 2))
		return;
	qn_id a = n->in[0], b = n->in[1];
	bool row = qn_onnx_type(o, a)->rank == 1, column = qn_onnx_type(o, b)->rank == 1;
	if (qn_onnx_type(o, a)->rank < 1 || qn_onnx_type(o, b)->rank < 1) {
		(void)qn_importer_refuse(&o->im, "import.rank", "an operand is a scalar");
		return;
	}
	if (row)
		a = qn_importer_expand_dim(&o->im, a, 0);
	if (column)
		b = qn_importer_expand_dim(&o->im, b, 1);
	qn_id y = qn_importer_binary(&o->im, QN_OP_matmul, a, b);
	if (y == 0)
		return;
	int32_t rank = qn_onnx_type(o, y)->rank;
	if (column)
		y = qn_importer_drop_dim(&o->im, y, rank - 1);
	if (row)
		y = qn_importer_drop_dim(&o->im, y, rank - 2);
	out[0] = y;
}

/* ---- Gemm ---- */

/* x * factor; x itself when that is 1. */
static qn_id
times(qn_onnx *o, qn_id x, double factor)
{
	if (factor >= 1 && factor <= 1)
		return x;
	return qn_importer_binary(&o->im, QN_OP_mul, x, qn_importer_f32(&o->im, factor));
}

static qn_id
turned(qn_onnx *o, qn_id x, bool turn)
{
	const int64_t perm[] = {1, 0};

	return turn ? qn_importer_transpose(&o->im, x, perm) : x;
}

/* c as the bias [N] of a dense layer; 0: it is not one. */
static qn_id
as_bias(qn_onnx *o, qn_id c, int64_t columns)
{
	const qn_type *t = c != 0 ? qn_onnx_type(o, c) : NULL;

	if (t == NULL || qn_type_count(t) != columns || t->rank < 1 ||
	    t->dim[t->rank - 1] != columns)
		return 0;
	return t->rank == 1 ? c : qn_importer_reshape(&o->im, c, 1, &columns);
}

/* Whether b [N,K] stands for computed integers of at most 8 bits without a zero point. */
static bool
is_stored_weights(qn_onnx *o, qn_id b)
{
	const qn_node *n = qn_graph_node(o->im.g, b);
	double scale;
	int64_t zp;

	if (n->op != QN_OP_dequantize)
		return false;
	const qn_elem *e = qn_onnx_type(o, n->in[0])->elem;
	if (!e->is_signed || e->bits > 8 || e->gran == QN_SUB_CHANNEL ||
	    (e->gran == QN_PER_AXIS && e->axis[0] != 0))
		return false;
	for (size_t i = 0; i < qn_elem_nparams(e); i++) {
		qn_elem_param(&o->im.m->types, e, i, &scale, &zp);
		if (zp != 0)
			return false;
	}
	return true;
}

static void
gemm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	bool turn_a = qn_onnx_int(o, n, "transA", 0) != 0;
	bool turn_b = qn_onnx_int(o, n, "transB", 0) != 0;

	if (!qn_onnx_need(o, n, 2))
		return;
	if (qn_onnx_type(o, n->in[0])->rank != 2 || qn_onnx_type(o, n->in[1])->rank != 2) {
		(void)qn_importer_refuse(im, "import.rank", "an operand is not a matrix");
		return;
	}
	/* alpha goes to b, where it is folded away if b is a constant; to a if b is computed integers. */
	const double alpha = qn_onnx_float(o, n, "alpha", 1);
	const bool scales_a = turn_b && is_stored_weights(o, n->in[1]) &&
			      qn_importer_known(im, qn_graph_node(im->g, n->in[1])->in[0]) == NULL;
	qn_id a = turned(o, scales_a ? times(o, n->in[0], alpha) : n->in[0], turn_a);
	qn_id b = scales_a ? n->in[1] : times(o, n->in[1], alpha), c = qn_onnx_in(n, 2);
	if (c != 0)
		c = times(o, c, qn_onnx_float(o, n, "beta", 1));
	if (a == 0 || b == 0)
		return;
	if (qn_importer_known(im, b) != NULL || (turn_b && is_stored_weights(o, b))) {
		b = turned(o, b, !turn_b);
		qn_id bias = b != 0 ? as_bias(o, c, qn_onnx_type(o, b)->dim[0]) : 0;
		out[0] = qn_importer_op(im, QN_OP_dense, bias != 0 ? 3 : 2, (qn_id[]){a, b, bias},
					NULL, NULL);
		c = bias != 0 ? 0 : c;
	} else {
		out[0] = qn_importer_binary(im, QN_OP_matmul, a, turned(o, b, turn_b));
	}
	if (c != 0)
		out[0] = qn_importer_binary(im, QN_OP_add, out[0], c);
}

const qn_onnx_row qn_onnx_product[] = {
	QN_ONNX_BOTH("MatMul", 1, matmul, qn_onnx_write_matmul, 0, PLAIN, QN_OP_matmul),
	QN_ONNX_BOTH("Gemm", 1, gemm, qn_onnx_write_dense, 0, PLAIN, QN_OP_dense),
	{0},
};
