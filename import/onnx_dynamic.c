/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_dynamic.c - values with a scale of run time, where the scale comes after their product.
 *
 *   q, s, z = DynamicQuantizeLinear(x)                          arithmetic on plain integers (onnx_quant.c), unless
 *   y = Mul(Cast(MatMulInteger(q, w, z, zw)), Mul(s, ws))       matmul(dynamic_fake_quant(x), dequantize(w)), w with the scale ws
 *   y = DequantizeLinear(q, s, z)                               dynamic_fake_quant(x)
 *   y = DynamicQuantizeMatMul(x, w, ws, zw, b)                  matmul(dynamic_fake_quant(x), dequantize(w)) + b
 *   y = MatMulIntegerToFloat(q, w, s, ws, z, zw, b)             the same; with a stored s matmul(dequantize(q), dequantize(w)) + b
 *
 * so that the product becomes integer when the model is requantized (docs/quantization.md). */
#include "import/onnx_quant.h"

typedef struct run_time {
	qn_id x, q, zp;
	qn_id factor; /* constant that the scale is multiplied by; 0: none */
} run_time;

static run_time *
known(const qn_onnx *o, qn_id x)
{
	return x != 0 ? qn_map_get(&o->scales, &x, sizeof x) : NULL;
}

static void
know(qn_onnx *o, qn_id x, const run_time *s)
{
	qn_id *key = QN_NEW(o->im.scratch, qn_id, 1);

	*key = x;
	if (x != 0)
		qn_map_put(&o->scales, key, sizeof *key,
			   qn_arena_copy(o->im.scratch, s, sizeof *s));
}

void
qn_onnx_is_dynamic(qn_onnx *o, qn_id x, qn_id q, const qn_onnx_params *p)
{
	know(o, p->scale, &(run_time){.x = x, .q = q, .zp = p->zp});
}

void
qn_onnx_scale_becomes(qn_onnx *o, qn_id a, qn_id b, qn_id y)
{
	const bool first = known(o, a) != NULL;
	const run_time *s = first ? known(o, a) : known(o, b);
	const qn_id c = first ? b : a;

	if (s == NULL || s->factor != 0 || qn_importer_known(&o->im, c) == NULL)
		return;
	know(o, y, &(run_time){.x = s->x, .q = s->q, .zp = s->zp, .factor = c});
}

/* x rounded to 256 steps of its range, with a zero point. */
static qn_id
rounded(qn_onnx *o, qn_id x)
{
	qn_attrs a = qn_importer_attrs(QN_OP_dynamic_fake_quant);

	a.dynamic.asymmetric = 1;
	return qn_importer_op(&o->im, QN_OP_dynamic_fake_quant, 1, &x, &a, NULL);
}

qn_id
qn_onnx_dynamic_values(qn_onnx *o, qn_id q, qn_id scale, qn_id zp, qn_id *factor)
{
	const run_time *s = known(o, scale);

	if (s == NULL || s->q != q || s->zp != zp)
		return 0;
	*factor = s->factor;
	return rounded(o, s->x);
}

/* The product of real data and weights of this scale and zero point, plus a bias; 0: an operand was refused. */
static qn_id
product(qn_onnx *o, const qn_onnx_node *n, qn_id x, qn_id weights, const qn_onnx_params *p,
	qn_id bias)
{
	const qn_id in[2] = {x, x != 0 ? qn_onnx_dequantize(o, weights, p) : 0};
	qn_id y = 0;

	if (in[1] != 0)
		qn_onnx_run_as(o, n, "MatMul", 13, 2, in, &y);
	return bias != 0 && y != 0 ? qn_importer_binary(&o->im, QN_OP_add, y, bias) : y;
}

/* x, weights, their scale, their zero point, a bias */
void
qn_onnx_dynamic_matmul(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 3))
		return;
	const qn_onnx_params p = {.scale = n->in[2], .zp = qn_onnx_in(n, 3), .axis = -1};
	const qn_id x = qn_importer_cast(&o->im, n->in[0], QN_PLAIN_f32);
	out[0] = product(o, n, o->keeps_quantized ? rounded(o, x) : x, n->in[1], &p,
			 qn_onnx_in(n, 4));
}

qn_id
qn_onnx_product_data(qn_onnx *o, qn_id q, const qn_onnx_params *p)
{
	qn_id factor = 0;
	const qn_id x = qn_onnx_dynamic_values(o, q, p->scale, p->zp, &factor);

	if (x != 0 && factor != 0)
		return qn_importer_binary(&o->im, QN_OP_mul, x, factor);
	if (x != 0)
		return x;
	if (qn_elem_is_float(qn_onnx_type(o, q)->elem))
		return q; /* what made it integers was left out */
	return qn_onnx_dequantize(o, q, p);
}

/* Integers of the data, weights, both scales, both zero points, a bias */
void
qn_onnx_matmul_to_float(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	if (!qn_onnx_need(o, n, 4))
		return;
	const qn_onnx_params data = {.scale = n->in[2], .zp = qn_onnx_in(n, 4), .axis = -1};
	const qn_onnx_params p = {.scale = n->in[3], .zp = qn_onnx_in(n, 5), .axis = -1};
	out[0] = product(o, n, qn_onnx_product_data(o, n->in[0], &data), n->in[1], &p,
			 qn_onnx_in(n, 6));
}
