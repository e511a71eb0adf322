/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_write_blocks.c - constants quantized in blocks, in an ONNX file being made.
 *
 *   w : tensor<12x64x!quant<i4, {0:1, 1:32}>>     DequantizeLinear(w [12,64], scale [12,2]) {axis = 1, block_size = 32}
 *
 * ONNX has blocks along one axis and a scale for each index of all others, so that scales of blocks along several axes,
 * or of whole axes, are repeated. */
#include "import/onnx_write.h"

qn_onnx_blocks
qn_onnx_out_split(qn_onnx_out *o, const qn_tensor *x)
{
	qn_types *types = &o->m->types;
	const qn_type *t = x->type;
	const qn_elem *e = t->elem;
	int64_t at[QN_MAX_RANK] = {0};
	qn_onnx_blocks b;
	void *scales, *zps;

	b.stored = qn_tensor_view(o->a, qn_type_with_elem(types, t, qn_elem_plain(types, e->plain)),
				  x->data);
	b.scale = qn_tensor_new(o->a, qn_type_plain(types, QN_PLAIN_f32, t->rank, t->dim), &scales);
	b.zp = qn_tensor_new(o->a, qn_type_plain(types, e->plain, t->rank, t->dim), &zps);
	b.has_zp = false;
	for (int64_t i = 0; i < qn_type_count(t); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(types, e, qn_type_param_index(t, at), &scale, &zp);
		qn_store_f64(scales, QN_PLAIN_f32, i, scale);
		qn_store_i64(zps, e->plain, i, zp);
		b.has_zp = b.has_zp || zp != 0;
		for (int32_t k = t->rank - 1; k >= 0 && ++at[k] == t->dim[k]; k--)
			at[k] = 0;
	}
	return b;
}

/* ---- the axis ---- */

/* Elements of one index of the axis and all further ones; below: those of the further ones alone. */
static int64_t
stride_of(const qn_type *t, int32_t axis)
{
	int64_t below = 1;

	for (int32_t k = axis + 1; k < t->rank; k++)
		below *= t->dim[k];
	return below;
}

/* Whether parameters are the same within each `block` along the axis. */
static bool
is_constant(const qn_onnx_blocks *b, int32_t axis, int64_t block)
{
	const qn_type *t = b->scale->type;
	const int64_t below = stride_of(t, axis), n = t->dim[axis];

	for (int64_t i = 0; i < qn_type_count(t); i++) {
		const int64_t k = i / below % n, first = i - k % block * below;

		if (qn_tensor_f64(b->scale, i) != qn_tensor_f64(b->scale, first) ||
		    qn_tensor_i64(b->zp, i) != qn_tensor_i64(b->zp, first))
			return false;
	}
	return true;
}

/* The longest blocks: of the sizes of the type, and of a whole axis that has one. */
static void
choose(const qn_onnx_blocks *b, const qn_elem *e, int32_t *axis, int64_t *block)
{
	const qn_type *t = b->scale->type;

	*axis = 0;
	*block = 1;
	for (int32_t k = 0; k < t->rank; k++)
		for (int32_t j = 0; j <= e->naxis; j++) {
			const int64_t size = j < e->naxis ? e->block[j] : t->dim[k];

			if (size > *block && size <= t->dim[k] && is_constant(b, k, size)) {
				*axis = k;
				*block = size;
			}
		}
}

/* The first of each block. */
static const qn_tensor *
firsts(qn_onnx_out *o, const qn_tensor *x, int32_t axis, int64_t block)
{
	const qn_type *t = x->type;
	const int64_t below = stride_of(t, axis), n = t->dim[axis], each = (n + block - 1) / block;
	int64_t dim[QN_MAX_RANK];
	void *data;

	for (int32_t k = 0; k < t->rank; k++)
		dim[k] = k == axis ? each : t->dim[k];
	qn_tensor *y =
		qn_tensor_new(o->a, qn_type_tensor(&o->m->types, t->elem, t->rank, dim), &data);
	for (int64_t i = 0; i < qn_type_count(y->type); i++) {
		const int64_t from =
			(i / (below * each) * n + i / below % each * block) * below + i % below;

		if (qn_elem_is_float(t->elem))
			qn_store_f64(data, t->elem->plain, i, qn_tensor_f64(x, from));
		else
			qn_store_i64(data, t->elem->plain, i, qn_tensor_i64(x, from));
	}
	return y;
}

const char *
qn_onnx_out_blocks(qn_onnx_out *o, const qn_node *n, const qn_elem *e, const qn_onnx_blocks *b)
{
	const char *base = qn_onnx_out_base(o, n);
	int32_t axis;
	int64_t block;

	choose(b, e, &axis, &block);
	const char *in[3] = {
		qn_onnx_out_tensor(o, qn_onnx_out_named(o, base, "quantized"), b->stored),
		qn_onnx_out_tensor(o, qn_onnx_out_named(o, base, "scale"),
				   firsts(o, b->scale, axis, block)),
		b->has_zp ? qn_onnx_out_tensor(o, qn_onnx_out_named(o, base, "zero_point"),
					       firsts(o, b->zp, axis, block))
			  : NULL};
	const char *y = qn_onnx_out_node(o, "DequantizeLinear", base, 3, in);
	qn_onnx_out_int(o, "axis", axis);
	qn_onnx_out_int(o, "block_size", block);
	return y;
}
