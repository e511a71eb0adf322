/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_quant.c - QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear, and products of plain integers.
 *
 *   DequantizeLinear(q, scale, zp)         dequantize; the type has scale and zero point
 *   QuantizeLinear(x, scale, zp)           quantize
 *
 * A file that quantizes activations keeps its parameters: the model is calibrated then.  If a file has
 * quantized weights and computes with floats, and with from_float always, the float values are
 * used. */
#include "import/onnx_quant.h"
#include "import/onnx_write_op.h"

#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "ir/diag.h"

enum { MOST_DEPTH = 32 }; /* bodies in bodies that are looked at */

static const char *const quantizing[] = {
	"QuantizeLinear",
	"DynamicQuantizeLinear",
	"DynamicQuantizeMatMul",
	"MatMulIntegerToFloat",
	"QLinearConv",
	"QLinearMatMul",
	"ConvInteger",
	"MatMulInteger",
	"QLinearAdd",
	"QLinearMul",
	"QLinearConcat",
	"QLinearGlobalAveragePool",
	"QLinearSigmoid",
	"QLinearAveragePool",
	"QLinearSoftmax",
	"QLinearLeakyRelu",
	"QLinearReduceMean",
	"QLinearWhere",
	"QGemm",
};

/* Those of QONNX, which files have on weights alone, too. */
static const char *const rounding_ops[] = {"Quant", "IntQuant", "BipolarQuant", "Trunc"};

static bool
is_one_of(const Onnx__NodeProto *p, size_t n, const char *const *op)
{
	for (size_t k = 0; p->op_type != NULL && k < n; k++)
		if (strcmp(p->op_type, op[k]) == 0)
			return true;
	return false;
}

/* Whether a rounding of QONNX has an input that is neither an initializer nor a Constant. */
static bool
any_rounds(qn_onnx *o, const Onnx__GraphProto *g, size_t n, Onnx__NodeProto *const *node)
{
	bool any = false, computed = false;
	qn_map constants;

	for (size_t i = 0; i < n && !any; i++)
		any = is_one_of(node[i], QN_COUNT(rounding_ops), rounding_ops);
	if (!any)
		return false;
	qn_map_init(&constants, o->im.scratch);
	for (size_t i = 0; g != NULL && i < g->n_initializer; i++)
		if (g->initializer[i]->name != NULL &&
		    qn_map_gets(&constants, g->initializer[i]->name) == NULL)
			qn_map_puts(&constants, g->initializer[i]->name, o);
	for (size_t i = 0; i < n; i++)
		if (node[i]->op_type != NULL && strcmp(node[i]->op_type, "Constant") == 0 &&
		    node[i]->n_output > 0 && qn_map_gets(&constants, node[i]->output[0]) == NULL)
			qn_map_puts(&constants, node[i]->output[0], o);
	for (size_t i = 0; i < n && !computed; i++)
		computed = is_one_of(node[i], QN_COUNT(rounding_ops), rounding_ops) &&
			   node[i]->n_input > 0 &&
			   qn_map_gets(&constants, node[i]->input[0]) == NULL;
	return computed;
}

static bool any_quantizes(qn_onnx *o, const Onnx__GraphProto *g, size_t n,
			  Onnx__NodeProto *const *node, int depth);

/* The same of the bodies of If, Loop and Scan. */
static bool
any_body_quantizes(qn_onnx *o, const Onnx__NodeProto *p, int depth)
{
	for (size_t i = 0; i < p->n_attribute; i++) {
		const Onnx__GraphProto *g = p->attribute[i]->g;

		if (g != NULL && depth < MOST_DEPTH &&
		    any_quantizes(o, g, g->n_node, g->node, depth + 1))
			return true;
	}
	return false;
}

static bool
any_quantizes(qn_onnx *o, const Onnx__GraphProto *g, size_t n, Onnx__NodeProto *const *node,
	      int depth)
{
	for (size_t i = 0; i < n; i++)
		if (is_one_of(node[i], QN_COUNT(quantizing), quantizing) ||
		    any_body_quantizes(o, node[i], depth))
			return true;
	return any_rounds(o, g, n, node);
}

bool
qn_onnx_quantizes(qn_onnx *o, const Onnx__ModelProto *model)
{
	const Onnx__GraphProto *g = model->graph;

	for (size_t i = 0; i < model->n_functions; i++)
		if (any_quantizes(o, NULL, model->functions[i]->n_node, model->functions[i]->node,
				  0))
			return true;
	return g != NULL &&
	       (any_quantizes(o, g, g->n_node, g->node, 0) || qn_onnx_moves_integers(g));
}

/* Whether data of these scales are all 0, whatever their integers: quantizers write them where they saw nothing but 0. */
static bool
is_idle(const qn_onnx *o, const qn_onnx_params *p)
{
	const qn_tensor *scale = qn_importer_known(&o->im, p->scale);
	int64_t left = qn_type_count(scale->type);

	while (left > 0 && qn_tensor_f64(scale, left - 1) == 0.0)
		left--;
	return left == 0;
}

/* In place of x a constant of zeros: no multiplier of integers reaches a scale that is as good as 0. */
static qn_id
idle(qn_onnx *o, qn_id x)
{
	qn_importer *im = &o->im;
	const qn_elem *f32 = qn_elem_plain(&im->m->types, QN_PLAIN_f32);
	const qn_type *t = qn_type_with_elem(&im->m->types, qn_onnx_type(o, x), f32);
	void *data;

	if (!qn_importer_take_type(im, t))
		return 0;
	qn_warn(im->m->env, "import.zero-scale", qn_importer_place(im),
		"every scale of it is 0, so all its values are 0, and are read as a constant; "
		"quantize the file with samples for which the value is not always 0");
	return qn_importer_const(im, im->node, qn_tensor_new(im->m->arena, t, &data));
}

qn_id
qn_onnx_dequantize(qn_onnx *o, qn_id x, const qn_onnx_params *p)
{
	const qn_type *t = qn_onnx_type(o, x);

	if (qn_elem_is_float(t->elem))
		return x; /* after a QuantizeLinear that was left out */
	if (!o->keeps_quantized && qn_importer_known(&o->im, x) == NULL)
		return qn_onnx_real_of(o, x, p);
	if (!qn_onnx_params_known(o, p)) {
		qn_id factor = 0;
		const qn_id real = qn_onnx_dynamic_values(o, x, p->scale, p->zp, &factor);

		if (real != 0 && factor == 0)
			return real;
		if (!qn_elem_is_quant(t->elem))
			return qn_onnx_real_of(o, x, p);
		return qn_importer_refuse(&o->im, "import.constant",
					  "scale and zero point of values quantized with a "
					  "constant scale must be constants too");
	}
	qn_plain storage = p->zp != 0 ? qn_onnx_plain(o, p->zp) : t->elem->plain;
	const qn_elem *e = qn_onnx_elem(o, p, storage, t);
	if (e != NULL && qn_importer_known(&o->im, x) == NULL && is_idle(o, p))
		return idle(o, x);
	if (qn_importer_known(&o->im, x) != NULL)
		e = qn_onnx_weight_elem(o, e);
	qn_id quantized = e != NULL ? qn_onnx_as_quantized(o, x, e) : 0;
	return o->keeps_quantized ? qn_importer_op_unfolded(&o->im, QN_OP_dequantize, 1, &quantized,
							    NULL, NULL)
				  : qn_importer_unary(&o->im, QN_OP_dequantize, quantized);
}

/* Data quantized to floats of 8 or 4 bits: nothing computes with these.  Without the parameters of the file it is x. */
static qn_id
to_floats(qn_onnx *o, qn_id x, const char *type)
{
	if (!o->keeps_quantized)
		return x;
	return qn_importer_refuse(&o->im, "import.type",
				  "values quantized to %s are not supported, only constants; "
				  "--from-float with samples quantizes the network to integers",
				  type);
}

qn_id
qn_onnx_quantize(qn_onnx *o, qn_id x, const qn_onnx_params *p, qn_plain storage)
{
	const qn_elem *z = p->zp != 0 ? qn_onnx_type(o, p->zp)->elem : NULL;

	x = qn_importer_cast(&o->im, x, QN_PLAIN_f32);
	if (x == 0)
		return 0;
	if (z != NULL && z->small != QN_SMALL_NONE)
		return to_floats(o, x, qn_small_table[z->small].name);
	if (!o->keeps_quantized)
		return qn_onnx_saturate(o, x, p, storage);
	if (p->zp != 0)
		storage = qn_onnx_plain(o, p->zp);
	if (!qn_onnx_params_known(o, p))
		return qn_onnx_quantize_plain(o, x, p, storage);
	const qn_type *t = qn_onnx_type(o, x);
	const qn_elem *e = qn_onnx_elem(o, p, storage, t);
	if (e == NULL)
		return 0;
	return qn_importer_op_unfolded(&o->im, QN_OP_quantize, 1, &x, NULL,
				       qn_type_with_elem(&o->im.m->types, t, e));
}

static qn_onnx_params
params_of(qn_onnx *o, const qn_onnx_node *n)
{
	return (qn_onnx_params){.scale = n->in[1],
				.zp = qn_onnx_in(n, 2),
				.axis = qn_onnx_int(o, n, "axis", 1),
				.block = qn_onnx_int(o, n, "block_size", 0)};
}

static void
dequantize_linear(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 2))
		return;
	qn_onnx_params p = params_of(o, n);
	out[0] = qn_onnx_dequantize(o, n->in[0], &p);
}

static void
quantize_linear(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_plain storage = QN_PLAIN_u8;
	int64_t given = qn_onnx_int(o, n, "output_dtype", 0);

	if (!qn_onnx_need(o, n, 2))
		return;
	if (given != 0 && !qn_onnx_data_type(given, &storage)) {
		out[0] = to_floats(o, qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32),
				   qn_onnx_type_name(given));
		return;
	}
	qn_onnx_params p = params_of(o, n);
	out[0] = qn_onnx_quantize(o, n->in[0], &p, storage);
}

/* ---- parameters found by each run ---- */

/* scale = (max(x, 0) - min(x, 0)) / 255, zp = round(-min / scale) limited to 0..255 */
static void
dynamic_quantize(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_importer *im = &o->im;
	qn_onnx_params p = {0};

	if (!qn_onnx_need(o, n, 1))
		return;
	qn_id x = qn_importer_cast(im, n->in[0], QN_PLAIN_f32), zero = qn_importer_f32(im, 0);
	if (!o->keeps_quantized) { /* the float values, as if their scale were 1 */
		out[0] = x;
		if (n->nout > 1)
			out[1] = qn_importer_f32(im, 1);
		if (n->nout > 2)
			out[2] = qn_importer_cast(im, zero, QN_PLAIN_u8);
		qn_onnx_is_unscaled(o, x);
		return;
	}
	qn_id max = qn_importer_reduce(im, QN_OP_reduce_max, x, 0, NULL, false);
	qn_id min = qn_importer_reduce(im, QN_OP_reduce_min, x, 0, NULL, false);

	max = qn_importer_binary(im, QN_OP_maximum, max, zero);
	min = qn_importer_binary(im, QN_OP_minimum, min, zero);
	const qn_id steps = qn_importer_f32(im, 255);
	p.scale = qn_importer_binary(im, QN_OP_div, qn_importer_binary(im, QN_OP_sub, max, min),
				     steps);
	qn_id zp = qn_importer_binary(im, QN_OP_div, qn_importer_binary(im, QN_OP_sub, zero, min),
				      p.scale);
	p.zp = qn_onnx_stored(o, zp, QN_PLAIN_u8);
	if (p.zp == 0)
		return;
	out[0] = qn_onnx_quantize_plain(o, x, &p, QN_PLAIN_u8);
	if (n->nout > 1)
		out[1] = p.scale;
	if (n->nout > 2)
		out[2] = p.zp;
	qn_onnx_is_dynamic(o, x, out[0], &p);
}

const qn_onnx_row qn_onnx_quant[] = {
	QN_ONNX_READ("", "QuantizeLinear", 10, quantize_linear, 0),
	QN_ONNX_READ("", "DequantizeLinear", 10, dequantize_linear, 0),
	QN_ONNX_READ("com.microsoft", "QuantizeLinear", 1, quantize_linear, 0),
	QN_ONNX_READ("com.microsoft", "DequantizeLinear", 1, dequantize_linear, 0),
	QN_ONNX_READ("", "DynamicQuantizeLinear", 11, dynamic_quantize, 0),
	QN_ONNX_WRITE("DynamicQuantizeLinear", qn_onnx_write_dynamic, 0, PLAIN,
		      QN_OP_dynamic_fake_quant),
	QN_ONNX_READ("com.microsoft", "DynamicQuantizeMatMul", 1, qn_onnx_dynamic_matmul, 0),
	QN_ONNX_READ("com.microsoft", "MatMulIntegerToFloat", 1, qn_onnx_matmul_to_float, 0),
	QN_ONNX_READ("", "ConvInteger", 10, qn_onnx_integer_product, 1),
	QN_ONNX_READ("", "MatMulInteger", 10, qn_onnx_integer_product, 0),
	{0},
};
