/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_saturation.c - what a QuantizeLinear that is left out did beside rounding (from_float).
 *
 *   Conv -> QuantizeLinear(u8, zero point 0, scale 0.1)     clip(Conv, 0, 25.5)
 *
 * Exporters and ONNX Runtime's quantizer drop a Relu or Clip before a QuantizeLinear whose lowest (highest)
 * value stands for 0: the saturation does the same.  Where the range of the quantized values ends at 0, it is
 * part of the network and is kept; where 0 is inside, it follows from the calibration of the file, which
 * from_float is to forget. */
#include "import/onnx_quant.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

enum { MOST_NAMES = 64 }; /* that are looked for between an input and its DequantizeLinear */

typedef enum reader {
	OTHER,
	DEQUANTIZES,
	MOVES /* operand 0; its result is of the same type */
} reader;

static reader
reader_of(const Onnx__NodeProto *n, size_t operand)
{
	static const char *const moves[] = {"Reshape", "Transpose", "Flatten",
					    "Squeeze", "Unsqueeze", "Identity"};

	for (size_t i = 0; i < n->n_attribute; i++)
		if (n->attribute[i]->g != NULL)
			return OTHER; /* a body may read it, too */
	if (n->op_type == NULL)
		return OTHER;
	if (strcmp(n->op_type, "DequantizeLinear") == 0 || strncmp(n->op_type, "QLinear", 7) == 0)
		return DEQUANTIZES;
	for (size_t i = 0; i < QN_COUNT(moves); i++)
		if (operand == 0 && n->n_output > 0 && strcmp(n->op_type, moves[i]) == 0)
			return MOVES;
	return OTHER;
}

static bool
is_output(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_output; i++)
		if (g->output[i]->name != NULL && strcmp(g->output[i]->name, name) == 0)
			return true;
	return false;
}

/* Whether all that read `name` dequantize it; what only moves it is added to names[]. */
static bool
only_dequantized(const Onnx__GraphProto *g, const char *name, const char **names, size_t *n)
{
	bool any = false;

	for (size_t i = 0; i < g->n_node; i++) {
		const Onnx__NodeProto *p = g->node[i];

		for (size_t k = 0; k < p->n_input; k++) {
			if (p->input[k] == NULL || strcmp(p->input[k], name) != 0)
				continue;
			const reader r = reader_of(p, k);
			if (r == OTHER || (r == MOVES && *n == MOST_NAMES))
				return false;
			if (r == MOVES)
				names[(*n)++] = p->output[0];
			any = true;
		}
	}
	return any && !is_output(g, name);
}

bool
qn_onnx_is_dequantized(const Onnx__GraphProto *g, const char *name)
{
	const char *names[MOST_NAMES] = {name};
	size_t n = 1;

	for (size_t i = 0; i < n; i++)
		if (names[i] == NULL || !only_dequantized(g, names[i], names, &n))
			return false;
	return true;
}

enum { MOST_NODES = 32 }; /* looked back over for a node that is never negative */

typedef enum sign {
	ANY,
	NEVER_NEGATIVE,
	AS_OPERANDS, /* never negative if no operand is */
} sign;

static sign
sign_of(const qn_node *n)
{
	static const struct {
		qn_op op;
		sign sign;
	} rows[] = {
		{QN_OP_relu, NEVER_NEGATIVE},
		{QN_OP_relu6, NEVER_NEGATIVE},
		{QN_OP_sigmoid, NEVER_NEGATIVE},
		{QN_OP_softmax, NEVER_NEGATIVE},
		{QN_OP_exp, NEVER_NEGATIVE},
		{QN_OP_abs, NEVER_NEGATIVE},
		{QN_OP_sqrt, NEVER_NEGATIVE},
		{QN_OP_max_pool, AS_OPERANDS},
		{QN_OP_avg_pool, AS_OPERANDS},
		{QN_OP_global_avg_pool, AS_OPERANDS},
		{QN_OP_reshape, AS_OPERANDS},
		{QN_OP_flatten, AS_OPERANDS},
		{QN_OP_transpose, AS_OPERANDS},
		{QN_OP_squeeze, AS_OPERANDS},
		{QN_OP_slice, AS_OPERANDS},
		{QN_OP_concat, AS_OPERANDS},
		{QN_OP_resize_nearest, AS_OPERANDS},
		{QN_OP_resize_bilinear, AS_OPERANDS},
		{QN_OP_expand_dims, AS_OPERANDS},
		{QN_OP_reduce_mean, AS_OPERANDS},
		{QN_OP_reduce_max, AS_OPERANDS},
		{QN_OP_add, AS_OPERANDS},
		{QN_OP_mul, AS_OPERANDS},
	};

	if (n->op == QN_OP_clip)
		return n->attr->clip.min >= 0 ? NEVER_NEGATIVE : ANY;
	if (n->op == QN_OP_pad)
		return n->attr->pad.value >= 0 ? AS_OPERANDS : ANY;
	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (rows[i].op == n->op)
			return rows[i].sign;
	return ANY;
}

/* Whether value x is never negative, by at most *left nodes. */
static bool
never_negative(const qn_graph *g, qn_id x, int *left)
{
	const qn_node *n = qn_graph_node(g, x);
	const sign s = sign_of(n);

	if (s != AS_OPERANDS || --*left < 0)
		return s == NEVER_NEGATIVE;
	for (uint32_t i = 0; i < n->nin; i++)
		if (!never_negative(g, n->in[i], left))
			return false;
	return true;
}

/* Whether x is an input of the graph, perhaps in another shape or order: samples are in its range. */
static bool
is_input(const qn_graph *g, qn_id x)
{
	const qn_node *n = qn_graph_node(g, x);

	while (n->op == QN_OP_reshape || n->op == QN_OP_transpose || n->op == QN_OP_flatten ||
	       n->op == QN_OP_squeeze || n->op == QN_OP_expand_dims)
		n = qn_graph_node(g, n->in[0]);
	return n->op == QN_OP_input;
}

qn_id
qn_onnx_saturate(qn_onnx *o, qn_id x, const qn_onnx_params *p, qn_plain storage)
{
	qn_importer *im = &o->im;
	qn_attrs a = qn_importer_attrs(QN_OP_clip);
	int left = MOST_NODES;
	double scale;
	int64_t zp;

	if (qn_importer_known(im, x) != NULL || is_input(im->g, x) || !qn_onnx_params_known(o, p))
		return x;
	const qn_elem *e = qn_onnx_elem(o, p, p->zp != 0 ? qn_onnx_plain(o, p->zp) : storage,
					qn_onnx_type(o, x));
	if (e == NULL)
		return 0;
	if (e->gran != QN_PER_TENSOR)
		return x;
	qn_elem_param(&im->m->types, e, 0, &scale, &zp);
	if ((zp != e->qmin && zp != e->qmax) || (zp == e->qmin && never_negative(im->g, x, &left)))
		return x;
	a.clip.min = (double)(e->qmin - zp) * scale;
	a.clip.max = (double)(e->qmax - zp) * scale;
	return qn_importer_op(im, QN_OP_clip, 1, &x, &a, NULL);
}
