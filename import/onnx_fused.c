/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_fused.c - operators that ONNX Runtime's optimizer fuses (domain com.microsoft), decomposed again.
 *
 *   FastGelu(x, b)                            gelu (tanh) of x + b
 *   SkipLayerNormalization(x, s, scale, …)    layer_norm of x + s
 *   FusedConv(x, w, b, z) {activation}        the activation of Conv + z
 *   MultiHeadAttention(q, k, v, …)            products and a softmax (onnx_attention.h)
 *   Attention(x, w, b, …)                     the same of the three parts of x w + b */
#include "import/onnx_attention.h"

#include <string.h>

static qn_id
plus(qn_onnx *o, qn_id a, qn_id b)
{
	return a == 0 || b == 0 ? a : qn_importer_binary(&o->im, QN_OP_add, a, b);
}

/* ---- functions of one value ---- */

typedef enum gelu_kind { EXACT, BY_TANH, QUICK } gelu_kind;

static void
gelu(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs g = qn_importer_attrs(QN_OP_gelu), s = qn_importer_attrs(QN_OP_swish);
	qn_id x = qn_onnx_need(o, n, 1) ? plus(o, n->in[0], qn_onnx_in(n, 1)) : 0;

	s.swish.alpha = qn_onnx_float(o, n, "alpha", 1.702);
	g.gelu.approximate = n->arg == BY_TANH ? QN_APPROXIMATE_tanh : QN_APPROXIMATE_none;
	if (x != 0)
		out[0] = n->arg == QUICK ? qn_importer_op(&o->im, QN_OP_swish, 1, &x, &s, NULL)
					 : qn_importer_op(&o->im, QN_OP_gelu, 1, &x, &g, NULL);
}

/* ---- normalizations ---- */

/* arg 1: without mean and beta. */
static void
skip_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	bool simplified = n->arg == 1;
	double epsilon = qn_onnx_float(o, n, "epsilon", 1e-12);
	qn_attrs a = qn_importer_attrs(QN_OP_layer_norm);

	if (!qn_onnx_need(o, n, 3))
		return;
	qn_id x = plus(o, n->in[0], n->in[1]), beta = simplified ? 0 : qn_onnx_in(n, 3);
	x = plus(o, x, qn_onnx_in(n, simplified ? 3 : 4));
	if (x == 0)
		return;
	a.layer_norm.axis = qn_onnx_type(o, x)->rank - 1;
	a.layer_norm.epsilon = epsilon;
	if (beta == 0 && !simplified)
		beta = qn_importer_binary(&o->im, QN_OP_mul, n->in[2], qn_importer_f32(&o->im, 0));
	out[0] = simplified ? qn_onnx_rms(o, x, n->in[2], (int32_t)a.layer_norm.axis, epsilon)
			    : qn_importer_op(&o->im, QN_OP_layer_norm, 3,
					     (qn_id[]){x, n->in[2], beta}, &a, NULL);
	if (n->nout > 3)
		out[3] = x;
}

static void
simplified_norm(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int32_t first;

	if (qn_onnx_need(o, n, 2) &&
	    qn_onnx_axis(o, qn_onnx_int(o, n, "axis", -1), qn_onnx_type(o, n->in[0])->rank, &first))
		out[0] = qn_onnx_rms(o, n->in[0], n->in[1], first,
				     qn_onnx_float(o, n, "epsilon", 1e-5));
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

static void
fused_matmul(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	qn_attrs a = qn_importer_attrs(QN_OP_matmul);
	double alpha = qn_onnx_float(o, n, "alpha", 1);

	a.matmul.transpose_a = qn_onnx_int(o, n, "transA", 0) != 0;
	a.matmul.transpose_b = qn_onnx_int(o, n, "transB", 0) != 0;
	if (!qn_onnx_need(o, n, 2))
		return;
	if (qn_onnx_int(o, n, "transBatchA", 0) != 0 || qn_onnx_int(o, n, "transBatchB", 0) != 0) {
		(void)qn_importer_refuse(&o->im, "import.attr", "batches are transposed");
		return;
	}
	qn_id y = qn_importer_op(&o->im, QN_OP_matmul, 2, n->in, &a, NULL);
	out[0] = alpha < 1 || alpha > 1
			 ? qn_importer_binary(&o->im, QN_OP_mul, y, qn_importer_f32(&o->im, alpha))
			 : y;
}

/* ---- attention ---- */

/* The padding mask: which keys count, [batch, keys]; or how many of each batch, [batch]. */
static void
padding(qn_onnx *o, qn_onnx_attention *a, qn_id mask)
{
	qn_importer *im = &o->im;
	const int64_t batch = qn_onnx_type(o, a->k)->dim[0], keys = qn_onnx_type(o, a->k)->dim[2];
	const qn_type *t = qn_onnx_type(o, mask);

	if (t->rank == 2 && t->dim[0] == batch && t->dim[1] == keys) {
		mask = qn_importer_reshape(im, mask, 4, (int64_t[]){batch, 1, 1, keys});
		qn_onnx_add_mask(o, a, qn_importer_cast(im, mask, QN_PLAIN_bool));
	} else if (t->rank == 1 && t->dim[0] == batch) {
		mask = qn_importer_reshape(im, qn_importer_cast(im, mask, QN_PLAIN_i64), 4,
					   (int64_t[]){batch, 1, 1, 1});
		qn_onnx_add_mask(o, a,
				 qn_importer_binary(im, QN_OP_less,
						    qn_onnx_ramp(o, keys, 0, 1, 4, 3), mask));
	} else {
		(void)qn_importer_refuse(im, "import.input",
					 "the mask must be [%lld] or [%lld, %lld]",
					 (long long)batch, (long long)batch, (long long)keys);
	}
}

/* x [batch, steps, heads * size] or with its heads apart already, plus its part of the bias. */
static qn_id
part_of(qn_onnx *o, qn_id x, qn_id bias, int64_t *at, int64_t heads)
{
	if (x == 0 || qn_onnx_type(o, x)->rank != 3)
		return x;
	int64_t width = qn_onnx_type(o, x)->dim[2], from = *at;
	*at += width;
	if (bias != 0)
		x = plus(o, x, qn_importer_slice(&o->im, bias, 0, from, from + width));
	return qn_onnx_heads(o, x, heads);
}

/* mask, past: of inputs; the results of a, y first. */
static void
finish(qn_onnx *o, const qn_onnx_node *n, qn_onnx_attention *a, uint32_t mask, uint32_t past,
       qn_id *out)
{
	int64_t before = 0;

	for (uint32_t i = 0; i < 2; i++) {
		qn_id p = qn_onnx_in(n, past + i), *x = i == 0 ? &a->k : &a->v;

		if (p == 0 || *x == 0)
			continue;
		before = qn_onnx_type(o, p)->rank == 4 ? qn_onnx_type(o, p)->dim[2] : 0;
		*x = qn_importer_join(&o->im, 2, (qn_id[]){p, *x}, 2);
	}
	if (a->q == 0 || a->k == 0 || a->v == 0)
		return;
	if (qn_onnx_type(o, a->k)->rank == 4 && qn_onnx_in(n, mask) != 0)
		padding(o, a, n->in[mask]);
	if (qn_onnx_type(o, a->k)->rank == 4 && qn_onnx_type(o, a->q)->rank == 4 &&
	    qn_onnx_int(o, n, "unidirectional", 0) != 0)
		qn_onnx_add_causal_mask(o, a, qn_onnx_ramp(o, 1, before, 0, 0, 0));
	a->bias = qn_onnx_in(n, 5);
	a->scale = qn_onnx_float(o, n, "scale", 0);
	out[0] = qn_onnx_unheads(o, qn_onnx_attend(o, n, a));
}

static void
multi_head(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t heads = qn_onnx_int(o, n, "num_heads", 0), at = 0;
	qn_onnx_attention a = {0};

	if (!qn_onnx_need(o, n, 3))
		return;
	if (qn_onnx_type(o, n->in[0])->rank != 3 || qn_onnx_in(n, 8) != 0 || n->nout > 3) {
		(void)qn_importer_refuse(&o->im, "import.input",
					 "packed queries, shared buffers and scores as results are "
					 "not supported");
		return;
	}
	a.q = part_of(o, n->in[0], qn_onnx_in(n, 3), &at, heads);
	a.k = part_of(o, n->in[1], qn_onnx_in(n, 3), &at, heads);
	a.v = part_of(o, n->in[2], qn_onnx_in(n, 3), &at, heads);
	finish(o, n, &a, 4, 6, out);
	if (n->nout > 1)
		out[1] = a.k;
	if (n->nout > 2)
		out[2] = a.v;
}

static void
packed_attention(qn_onnx *o, const qn_onnx_node *n, qn_id *out)
{
	int64_t heads = qn_onnx_int(o, n, "num_heads", 0), width[3], at = 0, none = 0;
	qn_onnx_attention a = {0};
	qn_id *const parts[] = {&a.q, &a.k, &a.v};

	if (!qn_onnx_need(o, n, 2))
		return;
	qn_id x = qn_importer_binary(&o->im, QN_OP_matmul, n->in[0], n->in[1]);
	x = plus(o, x, qn_onnx_in(n, 2));
	if (x == 0)
		return;
	const qn_type *t = qn_onnx_type(o, x);
	for (int i = 0; i < 3; i++)
		width[i] = t->rank == 3 ? t->dim[2] / 3 : 0;
	if (qn_onnx_has(o, n, "qkv_hidden_sizes") &&
	    qn_onnx_ints(o, n, "qkv_hidden_sizes", 3, width) != 3)
		return;
	if (t->rank != 3 || width[0] < 1 || width[1] < 1 || width[2] < 1 ||
	    width[0] + width[1] + width[2] != t->dim[2] || qn_onnx_in(n, 4) != 0 ||
	    qn_onnx_in(n, 6) != 0 || n->nout > 1 || qn_onnx_int(o, n, "do_rotary", 0) != 0) {
		(void)qn_importer_refuse(
			&o->im, "import.input",
			"its input must be [batch, steps, n], its weights as wide as "
			"queries, keys and values; a past and rotation are not "
			"supported");
		return;
	}
	for (int i = 0; i < 3; i++) {
		qn_id part = qn_importer_slice(&o->im, x, 2, at, at + width[i]);
		at += width[i];
		*parts[i] = part_of(o, part, 0, &none, heads);
	}
	finish(o, n, &a, 3, n->nin, out);
}

const qn_onnx_row qn_onnx_fuseds[] = {
	QN_ONNX_READ("com.microsoft", "Gelu", 1, gelu, EXACT),
	QN_ONNX_READ("com.microsoft", "BiasGelu", 1, gelu, EXACT),
	QN_ONNX_READ("com.microsoft", "FastGelu", 1, gelu, BY_TANH),
	QN_ONNX_READ("com.microsoft", "QuickGelu", 1, gelu, QUICK),
	QN_ONNX_READ("com.microsoft", "SkipLayerNormalization", 1, skip_norm, 0),
	QN_ONNX_READ("com.microsoft", "SkipSimplifiedLayerNormalization", 1, skip_norm, 1),
	QN_ONNX_READ("", "SimplifiedLayerNormalization", 1, simplified_norm, 0),
	QN_ONNX_READ("com.microsoft", "FusedConv", 1, fused_conv, 0),
	QN_ONNX_READ("com.microsoft", "FusedGemm", 1, fused_gemm, 0),
	QN_ONNX_READ("com.microsoft", "FusedMatMul", 1, fused_matmul, 0),
	QN_ONNX_READ("com.microsoft", "MultiHeadAttention", 1, multi_head, 0),
	QN_ONNX_READ("com.microsoft", "Attention", 1, packed_attention, 0),
	{0},
};
