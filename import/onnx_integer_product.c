/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_integer_product.c - ConvInteger and MatMulInteger: sums of integers.
 *
 *   s = MatMulInteger(q, w, zq, zw)          f32 arithmetic on integers, i32 of scale 1
 *   y = Mul(Cast(s), scale)                  matmul(dequantize(q), dequantize(w)), w with this scale
 *
 * The scale of a dynamic quantization stands after the sum; given to the weights, it makes the product one that becomes
 * integer when the model is requantized. */
#include "import/onnx_quant.h"

#include <string.h>

/* What is known of a value. */
typedef struct sum {
	qn_onnx_node
		node; /* whose result it is; op NULL: none, it stands for integers with scale 1 */
	qn_id in[4];
} sum;

static sum *
known(const qn_onnx *o, qn_id x)
{
	return x != 0 ? qn_map_get(&o->sums, &x, sizeof x) : NULL;
}

static void
know(qn_onnx *o, qn_id x, sum *s)
{
	qn_id *key = QN_NEW(o->im.scratch, qn_id, 1);

	*key = x;
	if (x != 0)
		qn_map_put(&o->sums, key, sizeof *key, s);
}

void
qn_onnx_sum_becomes(qn_onnx *o, qn_id x, qn_id y)
{
	sum *s = known(o, x);

	if (s != NULL)
		know(o, y, s);
}

void
qn_onnx_is_unscaled(qn_onnx *o, qn_id x)
{
	know(o, x, QN_NEW(o->im.scratch, sum, 1));
}

static bool
one_constant(const qn_onnx *o, qn_id x)
{
	const qn_tensor *v = x != 0 ? qn_importer_known(&o->im, x) : NULL;

	return v != NULL && qn_type_count(v->type) == 1;
}

/* Operand i less its zero point, as f32, which holds every sum of fewer than 2^24. */
static qn_id
less_zero_point(qn_onnx *o, const qn_onnx_node *n, uint32_t i, int64_t axis)
{
	qn_onnx_params p = {.zp = qn_onnx_in(n, i + 2), .axis = axis};
	const bool real = qn_elem_is_float(qn_onnx_type(o, n->in[i])->elem);
	const bool one = p.zp == 0 || one_constant(o, p.zp);
	const int64_t zp = one && p.zp != 0 ? qn_tensor_i64(qn_importer_known(&o->im, p.zp), 0) : 0;

	if (real && known(o, n->in[i]) == NULL)
		return qn_importer_refuse(
			&o->im, "import.op",
			"it takes integers, and the QuantizeLinear that made input %u was removed; "
			"read the file without --from-float",
			i);
	if (!real && o->keeps_quantized && one)
		return qn_onnx_counted(o, n->in[i], zp);
	if (one && zp == 0)
		p.zp = 0;
	return qn_onnx_real_of(o, real ? n->in[i] : qn_onnx_plain_of(o, n->in[i]), &p);
}

void
qn_onnx_integer_product(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	const bool conv = n->arg != 0;

	if (!qn_onnx_need(o, n, 2))
		return;
	const bool real = qn_elem_is_float(qn_onnx_type(o, n->in[0])->elem);
	const int64_t rank = qn_onnx_type(o, n->in[0])->rank;
	qn_id in[2] = {less_zero_point(o, n, 0, conv ? 1 : rank - 2),
		       less_zero_point(o, n, 1, conv ? 0 : -1)};
	if (in[0] == 0 || in[1] == 0)
		return;
	qn_onnx_run_as(o, n, conv ? "Conv" : "MatMul", n->version, 2, in, out);
	if (!real)
		out[0] = o->keeps_quantized ? qn_onnx_units(o, out[0], QN_PLAIN_i32)
					    : qn_importer_cast(&o->im, out[0], QN_PLAIN_i32);
	if (out[0] == 0 || qn_importer_known(&o->im, n->in[1]) == NULL)
		return;
	sum *s = QN_NEW(o->im.scratch, sum, 1);
	s->node = *n;
	for (uint32_t i = 0; i < 4; i++)
		s->in[i] = qn_onnx_in(n, i);
	s->node.in = s->in;
	s->node.nin = 4;
	know(o, out[0], s);
}

/* ---- with the scale after it ---- */

/* The constant as one scale, or a vector of one for each of n channels that lie along axis 1 of a convolution's result,
 * the last one of a matrix's; 0: it is not one, or one is not positive. */
static qn_id
scale_along(qn_onnx *o, qn_id c, int64_t n, int32_t rank, bool conv)
{
	const qn_tensor *v = qn_importer_known(&o->im, c);

	if (v == NULL || !qn_elem_is_float(v->type->elem) || v->type->rank > rank)
		return 0;
	const int64_t count = qn_type_count(v->type);
	const int32_t axis = (conv ? 1 : rank - 1) - (rank - v->type->rank);
	for (int64_t i = 0; i < count; i++)
		if (!(qn_tensor_f64(v, i) > 0))
			return 0;
	if (count == 1)
		return qn_importer_reshape(&o->im, c, 0, NULL);
	if (count != n || axis < 0 || v->type->dim[axis] != n)
		return 0;
	return qn_importer_reshape(&o->im, c, 1, &n);
}

/* Constant zero points of the weights: one, or one for each of n channels. */
static bool
zero_points_along(const qn_onnx *o, int64_t n, qn_id zp)
{
	const qn_tensor *v = qn_importer_known(&o->im, zp);
	const int64_t count = v != NULL ? qn_type_count(v->type) : 0;

	return count == 1 || (count > 1 && count == n && v->type->rank == 1);
}

static bool
are_equal(const qn_tensor *v)
{
	for (int64_t i = 1; i < qn_type_count(v->type); i++)
		if (qn_tensor_i64(v, i) != qn_tensor_i64(v, 0))
			return false;
	return true;
}

/* The weights with their scale.  Layers have none with several zero points: these become float values, which get a
 * scale of their own for each channel when the model is requantized. */
static qn_id
scaled_weights(qn_onnx *o, qn_id w, qn_onnx_params *p)
{
	const qn_tensor *v = p->zp != 0 ? qn_importer_known(&o->im, p->zp) : NULL;
	qn_attrs first = qn_importer_attrs(QN_OP_slice);

	if (v != NULL && !are_equal(v))
		return qn_onnx_real_of(o, qn_onnx_plain_of(o, w), p);
	if (v != NULL && qn_type_count(v->type) > 1) {
		first.slice.begin.n = first.slice.end.n = 1;
		first.slice.end.v[0] = 1;
		p->zp = qn_importer_op(&o->im, QN_OP_slice, 1, &p->zp, &first, NULL);
		p->zp = p->zp != 0 ? qn_importer_reshape(&o->im, p->zp, 0, NULL) : 0;
		if (p->zp == 0)
			return 0;
	}
	return qn_onnx_dequantize(o, w, p);
}

qn_id
qn_onnx_scaled_sum(qn_onnx *o, qn_id a, qn_id b)
{
	qn_id in[2], out[2] = {0};

	if (known(o, a) == NULL) {
		const qn_id swap = a;

		a = b;
		b = swap;
	}
	const sum *s = known(o, a);
	if (s == NULL || s->node.op == NULL || !qn_type_is_f32(qn_onnx_type(o, a)))
		return 0;
	const qn_onnx_node *n = &s->node;
	const bool conv = n->arg != 0;
	const qn_type *w = qn_onnx_type(o, n->in[1]), *x = qn_onnx_type(o, n->in[0]);
	const int32_t axis = conv ? 0 : 1;
	const qn_id zp = qn_onnx_in(n, 3);
	if (w->rank < 1 || (!conv && w->rank != 2) ||
	    (zp != 0 && !zero_points_along(o, w->dim[axis], zp)))
		return 0;
	/* the scale of run time is that of the data, what it is multiplied by that of the weights */
	qn_id data = qn_onnx_dynamic_values(o, n->in[0], b, qn_onnx_in(n, 2), &b);
	if (data != 0 && b == 0)
		b = qn_importer_f32(&o->im, 1);
	qn_onnx_params p = {
		.scale = scale_along(o, b, w->dim[conv ? 0 : 1], qn_onnx_type(o, a)->rank, conv),
		.zp = zp,
		.axis = axis};
	if (p.scale == 0)
		return 0;
	in[0] = data != 0 ? data : less_zero_point(o, n, 0, conv ? 1 : x->rank - 2);
	in[1] = scaled_weights(o, n->in[1], &p);
	if (in[0] != 0 && in[1] != 0)
		qn_onnx_run_as(o, n, conv ? "Conv" : "MatMul", n->version, 2, in, out);
	return out[0];
}
