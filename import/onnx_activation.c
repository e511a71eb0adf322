/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_activation.c - the functions that cells of RNN, GRU and LSTM are given by name.
 *
 *   activations ["LeakyRelu", "Tanh", "Affine"]     x < 0: 0.1 x;  tanh(x);  0.3 x + 0.2
 *   activation_alpha [0.1, 0.3], beta [0.2]         each function takes the next of those that it has
 *
 * Names, parameters and their presets: the description of RNN in ONNX's Operators.md. */
#include "import/onnx_recurrent.h"

#include <string.h>

typedef struct function {
	const char *name;
	qn_op op; /* of the value, or of beta times the value; its own attributes alpha and beta are set */
	bool alpha, beta;
	double presets[2];
} function;

static const function functions[] = {
	{"Sigmoid", QN_OP_sigmoid, false, false, {0, 0}},
	{"Tanh", QN_OP_tanh, false, false, {0, 0}},
	{"Relu", QN_OP_relu, false, false, {0, 0}},
	{"Softsign", QN_OP_softsign, false, false, {0, 0}},
	{"Softplus", QN_OP_softplus, false, false, {0, 0}},
	{"LeakyRelu", QN_OP_leaky_relu, true, false, {0.01, 0}},
	{"ThresholdedRelu", QN_OP_thresholded_relu, true, false, {1, 0}},
	{"Elu", QN_OP_elu, true, false, {1, 0}},
	{"HardSigmoid", QN_OP_hard_sigmoid, true, true, {0.2, 0.5}},
	{"ScaledTanh", QN_OP_tanh, true, true, {1, 1}},
	{"Affine", QN_OP_mul, true, true, {1, 0}},
};

static const function *
function_named(const char *name)
{
	for (size_t i = 0; i < QN_COUNT(functions); i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

/* Alpha (which = 0) or beta (1) of function `at`: those before it take theirs first. */
static double
parameter(qn_onnx *o, const qn_onnx_node *n, const function *f, size_t at, int which)
{
	enum { MOST = 6 }; /* three functions in two directions */
	static const char *const lists[] = {"activation_alpha", "activation_beta"};
	double given[MOST] = {0};
	int32_t count = qn_onnx_floats(o, n, lists[which], MOST, given), k = 0;

	for (size_t i = 0; i < at && i < qn_onnx_count(o, n, "activations"); i++) {
		const function *before = function_named(qn_onnx_text(o, n, "activations", i));
		k += before != NULL && (which == 0 ? before->alpha : before->beta);
	}
	return k < count ? given[k] : f->presets[which];
}

static qn_id
scaled(qn_onnx *o, qn_op op, qn_id x, double factor)
{
	return qn_importer_binary(&o->im, op, x, qn_importer_f32(&o->im, factor));
}

qn_id
qn_onnx_activation(qn_onnx *o, const qn_onnx_node *n, size_t at, const char *standard, qn_id x)
{
	bool given = at < qn_onnx_count(o, n, "activations");
	const char *name = given ? qn_onnx_text(o, n, "activations", at) : standard;
	const function *f = function_named(name);

	if (f == NULL)
		return qn_importer_refuse(&o->im, "import.attr",
					  "the activation '%s' is not supported", name);
	double alpha = parameter(o, n, f, at, 0), beta = parameter(o, n, f, at, 1);
	if (f->op == QN_OP_mul)
		return scaled(o, QN_OP_add, scaled(o, QN_OP_mul, x, alpha), beta);
	if (f->op == QN_OP_tanh && f->alpha) {
		x = qn_importer_unary(&o->im, QN_OP_tanh, scaled(o, QN_OP_mul, x, beta));
		return scaled(o, QN_OP_mul, x, alpha);
	}
	const qn_attr_set_info *set = qn_opinfo_get(f->op)->attrs;
	qn_attrs a = qn_importer_attrs(f->op);
	for (size_t i = 0; i < set->nattr; i++) {
		double *v = (double *)(void *)((char *)&a + set->attr[i].offset);
		*v = strcmp(set->attr[i].name, "beta") == 0 ? beta : alpha;
	}
	return qn_importer_op(&o->im, f->op, 1, &x, &a, NULL);
}
