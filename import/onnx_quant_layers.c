/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quant_layers.c - layers of ONNX Runtime whose weights are stored as integers: those of float layers, with the
 * numbers that the integers stand for.
 *
 *   QAttention(x, w, b, xs, ws, mask, xz, wz)          Attention(x, w, b, mask)            x as in MatMulIntegerToFloat
 *   DynamicQuantizeLSTM(x, w, r, …, ws, wz, rs, rz)    LSTM(x, w', r', …)                  w [D,I,4H] there, [D,4H,I] here
 *   QEmbedLayerNormalization(words, …, tables, …)      EmbedLayerNormalization(words, …)
 *
 * ONNX Runtime rounds an LSTM's data and state to 256 steps of the range that they have at run time; here they have
 * the ranges that samples give them. */
#include "import/onnx_quant.h"

#define RUNTIME "com.microsoft"

/* The node as this operator of ONNX Runtime's, which is a composition. */
static void
run_composition(qn_onnx *o, const qn_onnx_node *n, const char *op, uint32_t nin, const qn_id *in,
		qn_id *out)
{
	const qn_lib_operator *c = qn_onnx_composition(o, RUNTIME, op, 1);
	qn_onnx_node as = *n;

	as.op = op;
	as.version = 1;
	as.nin = nin;
	as.in = in;
	qn_onnx_compose(o, &as, c, out);
}

static void
attention(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 5))
		return;
	const qn_onnx_params data = {.scale = n->in[3], .zp = qn_onnx_in(n, 6), .axis = -1};
	const qn_onnx_params weights = {.scale = n->in[4], .zp = qn_onnx_in(n, 7), .axis = -1};
	const qn_id x = qn_onnx_product_data(o, n->in[0], &data);
	const qn_id w = qn_onnx_dequantize(o, n->in[1], &weights);
	const qn_id in[] = {x, w, n->in[2], qn_onnx_in(n, 5), qn_onnx_in(n, 8)};

	if (x != 0 && w != 0)
		run_composition(o, n, "Attention", QN_COUNT(in), in, out);
}

/* Scales or zero points [D] or [D, 4H] as [D, 1, 1] or [D, 1, 4H]; 0: none, or reported. */
static qn_id
along_gates(qn_onnx *o, qn_id x)
{
	const qn_type *t = x != 0 ? qn_onnx_type(o, x) : NULL;

	if (t == NULL || t->rank < 1 || t->rank > 2)
		return x;
	return qn_importer_reshape(&o->im, x, 3,
				   (int64_t[]){t->dim[0], 1, t->rank == 2 ? t->dim[1] : 1});
}

/* Weights as LSTM has them. */
static qn_id
gate_weights(qn_onnx *o, qn_id w, qn_id scale, qn_id zp)
{
	qn_importer *im = &o->im;

	if (qn_onnx_type(o, w)->rank != 3)
		return qn_importer_refuse(&o->im, "import.rank",
					  "the weights must be [directions, inputs, 4 * hidden]");
	qn_id x = qn_importer_cast(im, w, QN_PLAIN_f32);
	if (zp != 0)
		x = qn_importer_binary(im, QN_OP_sub, x,
				       qn_importer_cast(im, along_gates(o, zp), QN_PLAIN_f32));
	x = qn_importer_binary(im, QN_OP_mul, x, along_gates(o, scale));
	return x != 0 ? qn_importer_transpose(im, x, (int64_t[]){0, 2, 1}) : 0;
}

static void
lstm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	enum { X, W, R, B, LENGTHS, H, C, PEEPHOLES, COUNT };
	qn_id in[COUNT];

	if (!qn_onnx_need(o, n, 3))
		return;
	if (qn_onnx_in(n, 8) == 0 || qn_onnx_in(n, 10) == 0) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "the scales of the weights are missing, inputs 9 and 11");
		return;
	}
	for (uint32_t i = 0; i < COUNT; i++)
		in[i] = qn_onnx_in(n, i);
	in[W] = gate_weights(o, in[W], n->in[8], n->in[9]);
	in[R] = in[W] != 0 ? gate_weights(o, in[R], n->in[10], qn_onnx_in(n, 11)) : 0;
	if (in[R] != 0)
		qn_onnx_run_as(o, n, "LSTM", 14, COUNT, in, out);
}

static void
embedding(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	enum { WORDS, SEGMENTS, TABLE, TABLES = 5, MASK = TABLE + TABLES, COUNT };
	qn_id in[COUNT];

	if (!qn_onnx_need(o, n, MASK + 1))
		return;
	in[WORDS] = n->in[WORDS];
	in[SEGMENTS] = n->in[SEGMENTS];
	in[MASK] = n->in[MASK];
	for (uint32_t i = TABLE; i < TABLE + TABLES; i++) {
		const qn_onnx_params p = {.scale = qn_onnx_in(n, i + TABLES + 1),
					  .zp = qn_onnx_in(n, i + 2 * TABLES + 1),
					  .axis = -1};

		in[i] = n->in[i] != 0 && p.scale != 0 ? qn_onnx_dequantize(o, n->in[i], &p)
						      : n->in[i];
		if (n->in[i] != 0 && in[i] == 0)
			return;
	}
	run_composition(o, n, "EmbedLayerNormalization", COUNT, in, out);
}

const qn_onnx_row qn_onnx_quant_layers[] = {
	QN_ONNX_READ(RUNTIME, "QAttention", 1, attention, 0),
	QN_ONNX_READ(RUNTIME, "DynamicQuantizeLSTM", 1, lstm, 0),
	QN_ONNX_READ(RUNTIME, "QEmbedLayerNormalization", 1, embedding, 0),
	{0},
};
