/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_prelu.c - PRelu, x where it is not negative, else x times a slope.
 *
 *   slopes along the channels     prelu
 *   one constant slope            leaky_relu
 *   other slopes                  add(maximum(x, 0), mul(minimum(x, 0), slope)) */
#include "import/onnx_quant.h"

static bool
is_float(const qn_onnx *o, qn_id x)
{
	return qn_elem_is_float(qn_onnx_type(o, x)->elem);
}

/* How many elements a slope has along the channels (axis 1) of a value, 0 when it lies otherwise. */
static int64_t
along_channels(const qn_type *x, const qn_type *slope, bool by_vector)
{
	int32_t lead = x->rank - slope->rank; /* axis 0 of slope lies along this one of x */

	if (qn_type_count(slope) == 1)
		return 0;
	if (by_vector)
		return slope->rank == 1 && x->rank >= 2 ? slope->dim[0] : 0;
	for (int32_t i = 0; i < slope->rank; i++)
		if (lead + i != 1 && slope->dim[i] != 1)
			return 0;
	return lead >= 0 && lead <= 1 ? slope->dim[1 - lead] : 0;
}

/* The only slope, a constant as it is or dequantized: whether it is one. */
static bool
one_slope(const qn_importer *im, qn_id slope, double *alpha)
{
	const qn_node *n = qn_graph_node(im->g, slope);
	const qn_tensor *v = qn_importer_known(im, slope);
	double scale = 1;
	int64_t zp = 0;

	if (v != NULL && qn_type_count(v->type) == 1 && qn_type_is_f32(v->type)) {
		*alpha = qn_tensor_f64(v, 0);
		return true;
	}
	v = n->op == QN_OP_dequantize ? qn_importer_known(im, n->in[0]) : NULL;
	if (v == NULL || qn_type_count(v->type) != 1 || v->type->elem->gran == QN_SUB_CHANNEL)
		return false;
	qn_elem_param(&im->m->types, v->type->elem, 0, &scale, &zp);
	*alpha = (double)(qn_tensor_i64(v, 0) - zp) * scale;
	return true;
}

/* Before operator set 7 a vector is a slope for each channel. */
void
qn_onnx_prelu(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;

	if (!qn_onnx_need(o, n, 2))
		return;
	qn_id x = n->in[0], slope = n->in[1];
	int64_t channels =
		along_channels(qn_onnx_type(o, x), qn_onnx_type(o, slope), n->version < 7);
	if (channels > 0 && qn_onnx_type(o, x)->dim[1] == channels && is_float(o, x)) {
		qn_id in[] = {qn_importer_channels_last(im, x),
			      qn_importer_reshape(im, slope, 1, &channels)};
		out[0] = qn_importer_channels_first(
			im, qn_importer_op(im, QN_OP_prelu, 2, in, NULL, NULL));
		return;
	}
	double alpha;
	if (is_float(o, x) && qn_onnx_type(o, slope)->rank <= qn_onnx_type(o, x)->rank &&
	    one_slope(im, slope, &alpha)) {
		const qn_attrs a = {.leaky_relu.alpha = alpha};

		out[0] = qn_importer_op(im, QN_OP_leaky_relu, 1, &x, &a, NULL);
		return;
	}
	qn_id zero = qn_importer_cast(im, qn_importer_f32(im, 0), qn_onnx_plain(o, x));
	qn_id above = qn_importer_binary(im, QN_OP_maximum, x, zero);
	qn_id below = qn_importer_binary(im, QN_OP_minimum, x, zero);
	out[0] = qn_importer_binary(im, QN_OP_add, above,
				    qn_importer_binary(im, QN_OP_mul, below, slope));
}
