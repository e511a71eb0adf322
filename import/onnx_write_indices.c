/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_indices.c - elements by their indices, as the operators of ONNX.
 *
 *   one_hot(i, [off, on]) {depth=4}     OneHot(i, 4, [off, on])
 *   top_k_indices(x) {k=2}                 the second result of TopK(x, [2]), cast to the type of indices */
#include "import/onnx_write_op.h"

const char *
qn_onnx_write_gather(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL)
		qn_onnx_out_int(o, "axis", n->attr->gather.axis);
	return y;
}

const char *
qn_onnx_write_gather_nd(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL)
		qn_onnx_out_int(o, "batch_dims", n->attr->gather_nd.batch_dims);
	return y;
}

const char *
qn_onnx_write_scatter(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const bool elements = n->op == QN_OP_scatter_elements;
	const int32_t how =
		elements ? n->attr->scatter_elements.reduction : n->attr->scatter_nd.reduction;
	const char *y = qn_onnx_write_plain(o, n, op);

	if (y != NULL && elements)
		qn_onnx_out_int(o, "axis", n->attr->scatter_elements.axis);
	if (y != NULL && how != QN_REDUCTION_none)
		qn_onnx_out_text(o, "reduction", qn_enum_table[QN_ENUM_reduction].names[how]);
	return y;
}

const char *
qn_onnx_write_one_hot(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *at = qn_onnx_out_value(o, n->in[0]);

	if (qn_onnx_write_type(o, n, 0)->elem->plain != QN_PLAIN_i64) /* what every runtime takes */
		at = qn_onnx_out_cast(o, n->name, at, QN_PLAIN_i64);
	const char *in[3] = {at, qn_onnx_out_i64s(o, "depth", 1, &n->attr->one_hot.depth),
			     qn_onnx_out_value(o, n->in[1])};

	if (in[0] == NULL || in[2] == NULL)
		return NULL;
	const char *y = qn_onnx_out_node(o, op, n->name, 3, in);
	qn_onnx_out_int(o, "axis", n->attr->one_hot.axis);
	return y;
}

/* The elements; their indices are the second result. */
const char *
qn_onnx_write_top_k(qn_onnx_out *o, const qn_node *n, const char *op)
{
	const char *k = qn_onnx_out_i64s(o, "k", 1, &n->attr->top_k.k);
	const char *y = qn_onnx_write_over(o, n, op, 1, &k);

	if (y != NULL) {
		qn_onnx_out_int(o, "axis", n->attr->top_k.axis);
		qn_onnx_out_int(o, "largest", n->attr->top_k.largest);
	}
	return y;
}

const char *
qn_onnx_write_top_k_indices(qn_onnx_out *o, const qn_node *n, const char *op)
{
	if (qn_onnx_write_top_k(o, n, op) == NULL)
		return NULL;
	const char *y = qn_onnx_out_more(o, n->name);
	return n->type->elem->plain == QN_PLAIN_i64
		       ? y
		       : qn_onnx_out_cast(o, n->name, y, n->type->elem->plain);
}
