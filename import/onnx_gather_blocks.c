/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_gather_blocks.c - GatherBlockQuantized (domain com.microsoft): parts of a constant in blocks, as
 * float values.
 *
 *   data [V,K] INT4, indices, scales [V,K/32]     ->    gather(dequantize(data <i4:f32:{0:1, 1:32}, …>), indices)
 *   data [V,K/2] UINT8, two values in each        ->    the same of <u4 …>, zero point 8 unless there are others */
#include "import/onnx_quant.h"

enum { DEFAULT_BLOCK = 128, DEFAULT_BITS = 4 };

/* Values of UINT8 as those of 4 bits, with zero points. */
static bool
unpack_all(qn_onnx *o, qn_id *x, qn_onnx_params *p)
{
	const qn_type *t = qn_onnx_type(o, *x), *s = qn_onnx_type(o, p->scale);

	if (t->rank < 1 || s->rank != t->rank || qn_type_count(t) < 1 || qn_type_count(s) < 1)
		return qn_importer_refuse(&o->im, "import.input",
					  "data and scales need the same number of dimensions") !=
		       0;
	*x = qn_onnx_nibbles(o, *x, 2 * t->dim[t->rank - 1]);
	p->zp = p->zp != 0 ? qn_onnx_nibbles(o, p->zp, s->dim[s->rank - 1])
			   : qn_onnx_middle(o, QN_PLAIN_u4);
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
