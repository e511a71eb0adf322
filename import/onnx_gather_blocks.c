/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_gather_blocks.c - GatherBlockQuantized (domain com.microsoft): parts of a constant in blocks, as
 * float values.
 *
 *   data [V,K] INT4, indices, scales [V,K/32]     ->    gather(dequantize(data <i4:f32:{0:1, 1:32}, …>), indices)
 *   data [V,K/2] UINT8, two values in each        ->    the same of <u4 …>, zero point 8 unless there are others */
#include "import/onnx_quant.h"

enum { DEFAULT_BLOCK = 128, DEFAULT_BITS = 4, MIDDLE = 8 };

/* A constant of bytes with two values in each, the first in the low half, whose rows have `last` values. */
static qn_id
unpack(qn_onnx *o, qn_id x, int64_t last)
{
	const qn_tensor *from = qn_importer_known(&o->im, x);
	const qn_type *t = qn_onnx_type(o, x);
	int64_t dim[QN_MAX_RANK];
	void *data;

	if (from == NULL || t->rank < 1 || t->dim[t->rank - 1] != (last + 1) / 2)
		return qn_importer_refuse(&o->im, "import.constant",
					  "data and zero points must be constants with two values "
					  "in a byte along the last dimension");
	const int64_t bytes = t->dim[t->rank - 1];
	for (int32_t i = 0; i < t->rank; i++)
		dim[i] = i == t->rank - 1 ? last : t->dim[i];
	if (!qn_importer_take(&o->im, 2 * (uint64_t)qn_type_count(t)))
		return 0;
	const qn_type *type = qn_type_plain(&o->im.m->types, QN_PLAIN_u4, t->rank, dim);
	qn_tensor *to = qn_tensor_new(o->im.m->arena, type, &data);
	for (int64_t i = 0; i < qn_type_count(type); i++) {
		const int64_t both = qn_tensor_i64(from, i / last * bytes + i % last / 2);

		qn_store_i64(data, QN_PLAIN_u4, i, i % last % 2 == 0 ? both & 15 : both >> 4);
	}
	return qn_importer_const(&o->im, qn_graph_node(o->im.g, x)->name, to);
}

/* The zero point of all values. */
static qn_id
middle(qn_onnx *o)
{
	void *data;
	qn_tensor *z = qn_tensor_new(o->im.m->arena,
				     qn_type_plain(&o->im.m->types, QN_PLAIN_u4, 0, NULL), &data);

	qn_store_i64(data, QN_PLAIN_u4, 0, MIDDLE);
	return qn_importer_const(&o->im, NULL, z);
}

/* Values of UINT8 as those of 4 bits, with zero points. */
static bool
unpack_all(qn_onnx *o, qn_id *x, qn_onnx_params *p)
{
	const qn_type *t = qn_onnx_type(o, *x), *s = qn_onnx_type(o, p->scale);

	if (t->rank < 1 || s->rank != t->rank || qn_type_count(t) < 1 || qn_type_count(s) < 1)
		return qn_importer_refuse(&o->im, "import.input",
					  "data and scales need the same number of dimensions") !=
		       0;
	*x = unpack(o, *x, 2 * t->dim[t->rank - 1]);
	p->zp = p->zp != 0 ? unpack(o, p->zp, s->dim[s->rank - 1]) : middle(o);
	return *x != 0 && p->zp != 0;
}

static void
gather_blocks(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = {.gather = {qn_onnx_int(o, n, "gather_axis", 0)}};
	qn_id x;

	if (!qn_onnx_need(o, n, 3))
		return;
	qn_onnx_params p = {.scale = n->in[2],
			    .zp = qn_onnx_in(n, 3),
			    .axis = qn_onnx_int(o, n, "quantize_axis", 1),
			    .block = qn_onnx_int(o, n, "block_size", DEFAULT_BLOCK)};
	x = n->in[0];
	if (qn_onnx_type(o, x)->elem->plain == QN_PLAIN_u8 &&
	    qn_onnx_int(o, n, "bits", DEFAULT_BITS) == DEFAULT_BITS && !unpack_all(o, &x, &p))
		return;
	if (!qn_onnx_params_known(o, &p) || qn_importer_known(&o->im, x) == NULL) {
		(void)qn_importer_refuse(&o->im, "import.constant",
					 "data, scales and zero points must be constants");
		return;
	}
	const qn_id in[2] = {qn_onnx_dequantize(o, x, &p), n->in[1]};
	if (in[0] != 0)
		out[0] = qn_importer_op(&o->im, QN_OP_gather, 2, in, &a, NULL);
}

const qn_onnx_row qn_onnx_gather_blocks[] = {
	QN_ONNX_READ("com.microsoft", "GatherBlockQuantized", 1, gather_blocks, 0),
	{0},
};
