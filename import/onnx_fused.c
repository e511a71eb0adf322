/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_fused.c - operators that ONNX Runtime's optimizer fuses (domain com.microsoft), decomposed again.
 *
 *   FusedConv(x, w, b, z) {activation}        the activation of Conv + z
 *   FusedGemm(x, w, b) {activation}           the same of Gemm
 *
 * Others of them are compositions (lib/attention.qir, lib/norms.qir). */
#include "import/onnx.h"

#include <stddef.h>
#include <string.h>

static qn_id
plus(qn_onnx *o, qn_id a, qn_id b)
{
	return a == 0 || b == 0 ? a : qn_importer_binary(&o->im, QN_OP_add, a, b);
}

/* ---- products with an activation ---- */

/* A number of an activation: the attribute that has it, and where it goes. */
typedef struct number {
	const char *name;
	double value; /* without the attribute */
	size_t at;
} number;

#define NUMBER(name, value, at)                                                                    \
	{                                                                                          \
		"activation_" name, value, offsetof(qn_attrs, at)                                  \
	}

static const struct {
	const char *name;
	qn_op op;
	number number[2]; /* name NULL: none */
} activations[] = {
	{"Relu", QN_OP_relu, {{0}}},
	{"Tanh", QN_OP_tanh, {{0}}},
	{"Sigmoid", QN_OP_sigmoid, {{0}}},
	{"Softplus", QN_OP_softplus, {{0}}},
	{"Softsign", QN_OP_softsign, {{0}}},
	{"LeakyRelu", QN_OP_leaky_relu, {NUMBER("alpha", 0.01, leaky_relu.alpha)}},
	{"Elu", QN_OP_elu, {NUMBER("alpha", 1, elu.alpha)}},
	{"ThresholdedRelu", QN_OP_thresholded_relu, {NUMBER("alpha", 1, thresholded_relu.alpha)}},
	{"Selu",
	 QN_OP_selu,
	 {NUMBER("alpha", 1.67326319217681884765625, selu.alpha),
	  NUMBER("gamma", 1.05070102214813232421875, selu.gamma)}},
	{"HardSigmoid",
	 QN_OP_hard_sigmoid,
	 {NUMBER("alpha", 0.2, hard_sigmoid.alpha), NUMBER("beta", 0.5, hard_sigmoid.beta)}},
	{"Clip",
	 QN_OP_clip,
	 {NUMBER("alpha", -3.4e38, clip.min), NUMBER("beta", 3.4e38, clip.max)}},
};

/* The activation that the node names, its numbers in a list or one by one. */
static qn_id
activated(qn_onnx *o, const qn_onnx_node *n, qn_id x)
{
	const char *name = qn_onnx_string(o, n, "activation", "");
	double v[2] = {0};
	int32_t given = qn_onnx_floats(o, n, "activation_params", 2, v);

	if (x == 0 || name[0] == '\0')
		return x;
	for (size_t i = 0; i < QN_COUNT(activations); i++) {
		const number *given_by = activations[i].number;
		qn_attrs a = {0};

		if (strcmp(activations[i].name, name) != 0)
			continue;
		for (int k = 0; k < 2 && given_by[k].name != NULL; k++)
			*(double *)((char *)&a + given_by[k].at) =
				given > k
					? v[k]
					: qn_onnx_float(o, n, given_by[k].name, given_by[k].value);
		return qn_importer_op(&o->im, activations[i].op, 1, &x, &a, NULL);
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
