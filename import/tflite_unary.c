/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_unary.c - element-wise functions, softmax, and the rectifiers with a slope.
 *
 *   quantized RELU        requantize {lo=zero point} where the parameters change, else a clamp
 *   quantized LEAKY_RELU  prelu of the integer 1 of scale alpha: two multipliers, as in TFLite
 *
 * Functions whose kernels do not round once: tflite_exact.c. */
#include "import/tflite.h"
#include "runtime/impls.h"

static void
node(qn_tfl_op *o)
{
	qn_tfl_set_result(o, 0, qn_tfl_node(o, o->op, NULL));
}

/* A table where TFLite's kernel does not round once. */
static void
table(qn_tfl_op *o)
{
	qn_id y = qn_tfl_table(o, o->op);

	qn_tfl_set_result(o, 0, y != 0 ? y : qn_tfl_node(o, o->op, NULL));
}

static void
abs_of(qn_tfl_op *o)
{
	qn_id y = qn_tfl_absolute(o);

	qn_tfl_set_result(o, 0, y != 0 ? y : qn_tfl_node(o, o->op, NULL));
}

/* Of 16 bits as 0 - x, which is exact where a table has lines. */
static void
neg(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]), *one;
	void *data;

	if (!qn_tfl_result_is_quantized(o) || x->elem != qn_tfl_result(o, 0) ||
	    x->elem->bits != 16) {
		node(o);
		return;
	}
	one = qn_type_tensor(&o->im->m->types, x->elem, 0, NULL);
	qn_tensor *zero = qn_tensor_new(o->im->m->arena, one, &data);
	qn_store_i64(data, x->elem->plain, 0, qn_code_of(&o->im->m->types, x->elem, 0.0));
	qn_tfl_set_result(o, 0,
			  qn_tfl_op_of(o, QN_OP_sub, 2,
				       (qn_id[]){qn_importer_const(o->im, NULL, zero), o->in[0]},
				       NULL));
}

/* Whether the input has other quantization parameters than the result. */
static bool
rescales(qn_tfl_op *o)
{
	return qn_tfl_result_is_quantized(o) && qn_tfl_is_quantized(o, o->in[0]) &&
	       qn_importer_type(o->im, o->in[0])->elem != qn_tfl_result(o, 0);
}

/* A clamp alone; quantized values are first requantized to the result, by an f32 quotient of the scales. */
static void
rectify(qn_tfl_op *o, int64_t activation)
{
	int64_t lo, hi;

	if (!rescales(o)) {
		qn_tfl_set_activated(o, qn_tfl_moved(o, 0), activation);
		return;
	}
	qn_tfl_limits(o, qn_tfl_result(o, 0), activation, &lo, &hi);
	qn_tfl_set_result(o, 0, qn_tfl_requantized(o, 0, qn_tfl_divided(o), lo, hi));
}

static void
relu(qn_tfl_op *o)
{
	rectify(o, QN_TFL_ACT_RELU);
}

static void
relu6(qn_tfl_op *o)
{
	rectify(o, QN_TFL_ACT_RELU6);
}

static void
relu_n1_to_1(qn_tfl_op *o)
{
	rectify(o, QN_TFL_ACT_RELU_N1_TO_1);
}

static void
relu_0_to_1(qn_tfl_op *o)
{
	const qn_types *types = &o->im->m->types;
	const qn_elem *to = qn_tfl_result(o, 0);
	qn_attrs a = {.clip = {0.0, 1.0}};
	qn_id x = rescales(o) ? qn_tfl_divided(o) : qn_tfl_moved(o, 0);

	x = rescales(o) ? qn_tfl_requantized(o, 0, x, qn_code_of(types, to, 0.0),
					     qn_code_of(types, to, 1.0))
			: qn_importer_op(o->im, QN_OP_clip, 1, &x, &a, NULL);
	qn_tfl_set_result(o, 0, x);
}

static void
elu(qn_tfl_op *o)
{
	qn_attrs a = {.elu = {1.0}};

	qn_tfl_set_result(o, 0, qn_tfl_node(o, QN_OP_elu, &a));
}

static void
gelu(qn_tfl_op *o)
{
	qn_attrs a = {
		.gelu = {qn_tfl_flag(o, 0, 0) != 0 ? QN_APPROXIMATE_tanh : QN_APPROXIMATE_none}};

	qn_tfl_set_result(o, 0, qn_tfl_node(o, QN_OP_gelu, &a));
}

/* x / max(root of the sum of squares along the last axis, 1e-6); TFLite has this bound for float values only. */
static void
l2_normalization(qn_tfl_op *o)
{
	const bool quantized = qn_tfl_is_quantized(o, o->in[0]) && qn_tfl_result_is_quantized(o);
	qn_attrs a = {.l2_norm = {.axis = -1, .epsilon = quantized ? 0 : 1e-12}};

	qn_tfl_set_activated(o, qn_tfl_node(o, QN_OP_l2_norm, &a),
			     qn_tfl_flag(o, 0, QN_TFL_ACT_NONE));
}

/* x / (bias + alpha * the sum of squares of 2 radius + 1 channels)^beta */
static void
local_response(qn_tfl_op *o)
{
	const int64_t size = 2 * qn_tfl_option(o, 0, 0) + 1;
	qn_attrs a = {.lrn = {.size = size,
			      .alpha = qn_tfl_option_real(o, 2, 0.0) * (double)size,
			      .beta = qn_tfl_option_real(o, 3, 0.0),
			      .bias = qn_tfl_option_real(o, 1, 0.0)}};

	if (size < 1 || size > INT32_MAX)
		(void)qn_importer_refuse(o->im, "import.attr", "radius is %lld",
					 (long long)((size - 1) / 2));
	else
		qn_tfl_set_result(o, 0, qn_tfl_node(o, QN_OP_lrn, &a));
}

static void
leaky_relu(qn_tfl_op *o)
{
	double alpha = qn_tfl_option_real(o, 0, 0.0);
	qn_attrs a = {.leaky_relu = {alpha}};
	qn_id y = qn_tfl_leaky(o, alpha);

	qn_tfl_set_result(o, 0, y != 0 ? y : qn_tfl_node(o, QN_OP_leaky_relu, &a));
}

/* max(x, 0) + slope * min(x, 0), for slopes of any shape that fits. */
static qn_id
prelu_of_parts(qn_tfl_op *o)
{
	qn_id x = qn_tfl_real(o, 0), zero = qn_importer_f32(o->im, 0.0);
	qn_id below = qn_importer_binary(o->im, QN_OP_minimum, x, zero);

	below = qn_importer_binary(o->im, QN_OP_mul, qn_tfl_real(o, 1), below);
	return qn_importer_binary(o->im, QN_OP_add, qn_importer_unary(o->im, QN_OP_relu, x), below);
}

static void
prelu(qn_tfl_op *o)
{
	const qn_type *x = qn_importer_type(o->im, o->in[0]);
	const qn_type *slope = qn_importer_type(o->im, o->in[1]);
	int64_t channels = x->rank > 0 ? x->dim[x->rank - 1] : 1;
	bool quantized = qn_tfl_result_is_quantized(o) && qn_tfl_is_quantized(o, o->in[0]);
	bool each = slope->rank > 0 && slope->dim[slope->rank - 1] == channels &&
		    qn_type_count(slope) == channels;
	qn_id in[2];

	if (!each) {
		qn_tfl_set_result(o, 0, prelu_of_parts(o));
		return;
	}
	for (uint32_t i = 0; i < 2; i++)
		in[i] = quantized ? o->in[i] : qn_tfl_real(o, i);
	in[1] = qn_importer_reshape(o->im, in[1], 1, &channels);
	qn_tfl_set_result(o, 0, qn_tfl_op_of(o, QN_OP_prelu, 2, in, NULL));
}

/* softmax(beta * x): for quantized values beta is folded into the scale. */
static void
softmax(qn_tfl_op *o)
{
	double beta = qn_tfl_option_real(o, 0, 1.0);
	bool quantized = qn_tfl_result_is_quantized(o) && qn_tfl_is_quantized(o, o->in[0]);
	qn_id x = quantized ? o->in[0] : qn_tfl_real(o, 0);

	if (beta != 1.0 && quantized) {
		qn_elem d = *qn_importer_type(o->im, x)->elem;
		const qn_elem *e;

		d.scale = qn_scale_op(&o->im->m->types, QN_SCALE_MUL, d.scale,
				      qn_scale_const(&o->im->m->types, beta));
		if (qn_elem_make(&o->im->m->types, o->to[0]->name, &d, &e) != QN_OK) {
			(void)qn_importer_refuse(o->im, "import.attr", "beta is %g", beta);
			return;
		}
		x = qn_tfl_retyped(o, x, e);
	} else if (beta != 1.0) {
		x = qn_importer_binary(o->im, QN_OP_mul, x, qn_importer_f32(o->im, beta));
	}
	qn_tfl_set_result(o, 0, qn_tfl_op_of(o, QN_OP_softmax, 1, &x, NULL));
}

const qn_tfl_row qn_tfl_unary_rows[] = {
/* The element-wise functions whose rows in ir/ops.def say TFLITE. */
#define TFLITE(op, name, how) {QN_TFL_##name, how, QN_OP_##op, 1, 1, 1, 0},
#define FUNCTION(name, attributes, behaviour, types, value, facts) facts
#include "ir/ops.def"
	{QN_TFL_RELU, relu, 0, 1, 1, 1, 0},
	{QN_TFL_RELU6, relu6, 0, 1, 1, 1, 0},
	{QN_TFL_RELU_N1_TO_1, relu_n1_to_1, 0, 1, 1, 1, 0},
	{QN_TFL_RELU_0_TO_1, relu_0_to_1, 0, 1, 1, 1, 0},
	{QN_TFL_ELU, elu, 0, 1, 1, 1, 0},
	{QN_TFL_GELU, gelu, 0, 1, 1, 1, 0},
	{QN_TFL_ABS, abs_of, QN_OP_abs, 1, 1, 1, 0},
	{QN_TFL_NEG, neg, QN_OP_neg, 1, 1, 1, 0},
	{QN_TFL_LEAKY_RELU, leaky_relu, 0, 1, 1, 1, 0},
	{QN_TFL_PRELU, prelu, 0, 2, 2, 1, 0},
	{QN_TFL_SOFTMAX, softmax, 0, 1, 1, 1, 0},
	{QN_TFL_L2_NORMALIZATION, l2_normalization, 0, 1, 1, 1, 0},
	{QN_TFL_LOCAL_RESPONSE_NORMALIZATION, local_response, 0, 1, 1, 1, 0},
	{QN_TFL_LOG_SOFTMAX, node, QN_OP_log_softmax, 1, 1, 1, 0},
	{0},
};
