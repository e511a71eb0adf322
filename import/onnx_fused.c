/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_fused.c - operators that ONNX Runtime's optimizer fuses (domain com.microsoft), decomposed again.
 *
 *   FusedConv(x, w, b, z) {activation}        the activation of Conv + z
 *   FusedGemm(x, w, b) {activation}           the same of Gemm
 *
 * Others of them are compositions (lib/attention.qir, lib/norms.qir). */
#include "import/onnx.h"

#include <string.h>

static qn_id
plus(qn_onnx *o, qn_id a, qn_id b)
{
	return a == 0 || b == 0 ? a : qn_importer_binary(&o->im, QN_OP_add, a, b);
}

/* ---- products with an activation ---- */

/* The activation that the node names, its numbers in a list or one by one. */
static qn_id
activated(qn_onnx *o, const qn_onnx_node *n, qn_id x)
{
	static const struct {
		const char *name;
		qn_op op;
		double alpha, beta;
	} rows[] = {{"Relu", QN_OP_relu, 0, 0},
		    {"Tanh", QN_OP_tanh, 0, 0},
		    {"Sigmoid", QN_OP_sigmoid, 0, 0},
		    {"LeakyRelu", QN_OP_leaky_relu, 0.01, 0},
		    {"HardSigmoid", QN_OP_hard_sigmoid, 0.2, 0.5},
		    {"Clip", QN_OP_clip, -3.4e38, 3.4e38}};
	const char *name = qn_onnx_string(o, n, "activation", "");
	double v[2] = {0};
	int32_t given = qn_onnx_floats(o, n, "activation_params", 2, v);

	if (x == 0 || name[0] == '\0')
		return x;
	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_attrs a = {0};

		if (strcmp(rows[i].name, name) != 0)
			continue;
		v[0] = given > 0 ? v[0] : qn_onnx_float(o, n, "activation_alpha", rows[i].alpha);
		v[1] = given > 1 ? v[1] : qn_onnx_float(o, n, "activation_beta", rows[i].beta);
		if (rows[i].op == QN_OP_leaky_relu)
			a.leaky_relu.alpha = v[0];
		if (rows[i].op == QN_OP_hard_sigmoid) {
			a.hard_sigmoid.alpha = v[0];
			a.hard_sigmoid.beta = v[1];
		}
		if (rows[i].op == QN_OP_clip) {
			a.clip.min = v[0];
			a.clip.max = v[1];
		}
		return qn_importer_op(&o->im, rows[i].op, 1, &x, &a, NULL);
	}
	return qn_importer_refuse(&o->im, "import.attr", "the activation '%s' is not supported",
				  name);
}

static void
fused_conv(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id y[1] = {0};

	qn_onnx_run_as(o, n, "Conv", 11, n->nin < 3 ? n->nin : 3, n->in, y);
	out[0] = activated(o, n, plus(o, y[0], qn_onnx_in(n, 3)));
}

static void
fused_gemm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_id y[1] = {0};

	qn_onnx_run_as(o, n, "Gemm", 13, n->nin, n->in, y);
	out[0] = activated(o, n, y[0]);
}

const qn_onnx_row qn_onnx_fuseds[] = {
	QN_ONNX_READ("com.microsoft", "FusedConv", 1, fused_conv, 0),
	QN_ONNX_READ("com.microsoft", "FusedGemm", 1, fused_gemm, 0),
	{0},
};
