/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_result.c - results of TFLite operators: parameters that the file has for them, and fused
 * activations.
 *
 *   quantized ADD, relu    ->    add: the result's parameters    clamp {lo=zero point, hi=127} */
#include "import/tflite.h"

#include "runtime/impls.h"

const qn_elem *
qn_tfl_result(qn_tfl_op *o, uint32_t k)
{
	return qn_tfl_type(o->f, o->to[k])->elem; /* known before the operator is read */
}

bool
qn_tfl_is_quantized(const qn_tfl_op *o, qn_id x)
{
	const qn_type *type = x != 0 ? qn_importer_type(o->im, x) : NULL;

	return type != NULL && !type->is_tuple && qn_elem_is_quant(type->elem);
}

bool
qn_tfl_result_is_quantized(qn_tfl_op *o)
{
	return qn_elem_is_quant(qn_tfl_result(o, 0));
}

/* The quantized element of x if a FAKE_QUANT made it, moved or not; NULL: none did. */
static const qn_elem *
faked_elem(const qn_tfl_op *o, qn_id x)
{
	const qn_graph *g = o->im->g;
	const qn_node *n = qn_graph_node(g, x);

	while (n->nin == 1 && qn_opinfo_of(n)->behaviour == QN_SAME)
		n = qn_graph_node(g, n->in[0]);
	return o->f->has_fakes && n->op == QN_OP_dequantize ? qn_graph_node(g, n->in[0])->type->elem
							    : NULL;
}

/* Training gives no range to results whose parameters follow from the operator or its operand: they get
 * those that TFLite's converter gives them. */
static qn_id
with_range(qn_tfl_op *o, qn_id y)
{
	const qn_node *n = y != 0 ? qn_graph_node(o->im->g, y) : NULL;
	const qn_elem *e = n != NULL && n->nin > 0 ? faked_elem(o, n->in[0]) : NULL;
	double scale;

	if (e == NULL)
		return y;
	if (qn_opinfo_of(n)->behaviour == QN_FIXED) {
		qn_elem d = qn_elem_desc(e->bits > 8 ? 16 : 8, true);

		d.kind = QN_ELEM_UNIFORM;
		qn_fixed_output(n, &d, &scale, &d.zp);
		d.scale = qn_scale_const(&o->im->m->types, scale);
		if (qn_elem_make(&o->im->m->types, o->to[0]->name, &d, &e) != QN_OK) {
			o->im->problems++;
			return 0;
		}
	} else if (qn_opinfo_of(n)->behaviour != QN_MEAN) {
		return y;
	}
	return qn_tfl_faked(o, y, e);
}

/* The shape rule finds the shape, the file the parameters. */
qn_id
qn_tfl_op_of(qn_tfl_op *o, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attrs)
{
	const qn_opinfo *info = qn_opinfo_get(op);
	qn_behaviour b = info->behaviour;
	const qn_type *type = NULL;
	qn_attrs preset;
	bool own = b == QN_MIX || b == QN_LUT || b == QN_FIXED || b == QN_INDEX;

	for (uint32_t i = 0; i < nin; i++)
		if (in[i] == 0)
			return 0;
	const qn_node like = {.op = op,
			      .nin = nin,
			      .in = in,
			      .attr = attrs != NULL ? attrs : &preset,
			      .name = o->to[0]->name,
			      .place = ""};
	if (own && nin > 0 && (qn_tfl_is_quantized(o, in[0]) || b == QN_INDEX)) {
		qn_attrs_default(info->attrs, &preset);
		type = info->infer(o->im->g, &like, qn_tfl_type(o->f, o->to[0]));
		if (type == NULL) {
			o->im->problems++;
			return 0;
		}
	}
	return with_range(o, qn_importer_op(o->im, op, nin, in, attrs, type));
}

qn_id
qn_tfl_moved(qn_tfl_op *o, uint32_t i)
{
	const qn_type *type = qn_importer_type(o->im, o->in[i]);

	return type->elem != qn_tfl_result(o, 0) && qn_elem_is_float(qn_tfl_result(o, 0))
		       ? qn_tfl_real(o, i)
		       : o->in[i];
}

qn_id
qn_tfl_node(qn_tfl_op *o, qn_op op, const qn_attrs *attrs)
{
	qn_id in[QN_TFL_MOST_INPUTS];

	for (uint32_t i = 0; i < o->nin; i++)
		in[i] = qn_tfl_result_is_quantized(o) ? o->in[i] : qn_tfl_real(o, i);
	return qn_tfl_op_of(o, op, o->nin, in, attrs);
}

/* ---- results ---- */

static qn_id
edge(qn_tfl_op *o, qn_op op, qn_id x, const qn_elem *to, const qn_attrs *attrs)
{
	if (x == 0)
		return 0;
	const qn_type *type = qn_type_with_elem(&o->im->m->types, qn_importer_type(o->im, x), to);

	return qn_importer_op(o->im, op, 1, &x, attrs, type);
}

qn_id
qn_tfl_requantized_to(qn_tfl_op *o, qn_id x, const qn_elem *to, int64_t lo, int64_t hi)
{
	qn_attrs attrs = {.requantize = {.lo = lo, .hi = hi}};

	return edge(o, QN_OP_requantize, x, to, &attrs);
}

qn_id
qn_tfl_requantized(qn_tfl_op *o, uint32_t k, qn_id x, int64_t lo, int64_t hi)
{
	return qn_tfl_requantized_to(o, x, qn_tfl_result(o, k), lo, hi);
}

qn_id
qn_tfl_retyped(qn_tfl_op *o, qn_id x, const qn_elem *to)
{
	if (x == 0 || qn_importer_type(o->im, x)->elem == to)
		return x;
	if (qn_tfl_is_quantized(o, x))
		x = edge(o, QN_OP_scast, x, qn_elem_plain(&o->im->m->types, to->plain), NULL);
	return qn_elem_is_quant(to) ? edge(o, QN_OP_scast, x, to, NULL) : x;
}

qn_id
qn_tfl_quantized(qn_tfl_op *o, qn_id x, const qn_elem *to)
{
	const qn_tensor *known = qn_importer_known(o->im, x);
	const qn_attrs attrs = {.quantize = {QN_TIES_away}};
	void *data;

	if (known == NULL)
		return edge(o, QN_OP_quantize, x, to, &attrs);
	qn_types *types = &o->im->m->types;
	const qn_type *type = qn_type_with_elem(types, known->type, to);
	if (!qn_importer_take_type(o->im, type))
		return 0;
	qn_tensor *quantized = qn_tensor_new(o->im->m->arena, type, &data);
	qn_quantize_away_into(types, known, quantized->type, data);
	const qn_id id = qn_importer_const(o->im, o->im->node, quantized);
	if (id != 0)
		qn_importer_copy_names(o->im, id, x);
	return id;
}

qn_id
qn_tfl_faked(qn_tfl_op *o, qn_id x, const qn_elem *to)
{
	x = x != 0 ? qn_tfl_quantized(o, x, to) : 0;
	return x != 0 ? qn_importer_op_unfolded(o->im, QN_OP_dequantize, 1, &x, NULL, NULL) : 0;
}

void
qn_tfl_set_result(qn_tfl_op *o, uint32_t k, qn_id x)
{
	const qn_elem *to = qn_tfl_result(o, k), *from;

	if (x == 0)
		return;
	from = qn_importer_type(o->im, x)->elem;
	if (from == to)
		o->to[k]->id = x;
	else if (qn_elem_is_quant(from) && qn_elem_is_quant(to))
		o->to[k]->id = qn_tfl_requantized(o, k, x, to->qmin, to->qmax);
	else if (qn_elem_is_quant(to))
		o->to[k]->id = qn_tfl_quantized(o, qn_importer_cast(o->im, x, QN_PLAIN_f32), to);
	else if (qn_elem_is_quant(from))
		o->to[k]->id = qn_importer_cast(
			o->im, qn_importer_unary(o->im, QN_OP_dequantize, x), to->plain);
	else
		o->to[k]->id = qn_importer_cast(o->im, x, to->plain);
}

/* A part under the result's parameters. */
static qn_id
part_of(qn_tfl_op *o, qn_id x)
{
	const qn_elem *e = qn_tfl_result(o, 0);

	return x != 0 && qn_tfl_is_quantized(o, x) && qn_tfl_result_is_quantized(o) &&
			       qn_importer_type(o->im, x)->elem != e
		       ? qn_tfl_requantized(o, 0, x, e->qmin, e->qmax)
		       : x;
}

/* A long list becomes lists of lists. */
qn_id
qn_tfl_joined(qn_tfl_op *o, int64_t n, const qn_id *part, int64_t axis)
{
	qn_id in[QN_TFL_MOST_INPUTS];
	const qn_attrs a = {.axis = {axis}};
	int64_t each = (n + QN_TFL_MOST_INPUTS - 1) / QN_TFL_MOST_INPUTS;
	uint32_t k = 0;

	for (int64_t i = 0; i < n; i += each) {
		int64_t more = n - i < each ? n - i : each;

		in[k++] = more > 1 ? qn_tfl_joined(o, more, part + i, axis) : part_of(o, part[i]);
	}
	return k == 1 ? in[0] : qn_importer_op(o->im, QN_OP_concat, k, in, &a, NULL);
}

/* ---- activations ---- */

static const struct bounds {
	const char *name;
	double lo, hi; /* infinite: none */
} bounds[] = {
	[QN_TFL_ACT_NONE] = {"NONE", -1.0 / 0.0, 1.0 / 0.0},
	[QN_TFL_ACT_RELU] = {"RELU", 0.0, 1.0 / 0.0},
	[QN_TFL_ACT_RELU_N1_TO_1] = {"RELU_N1_TO_1", -1.0, 1.0},
	[QN_TFL_ACT_RELU6] = {"RELU6", 0.0, 6.0},
};

bool
qn_tfl_activation_ok(qn_tfl_op *o, int64_t activation, bool quantized)
{
	if (activation == QN_TFL_ACT_TANH && !quantized)
		return true;
	return (activation >= 0 && activation < (int64_t)QN_COUNT(bounds)) ||
	       qn_importer_refuse(o->im, "import.attr",
				  "fused activation %lld; NONE, RELU, RELU_N1_TO_1 and RELU6 are "
				  "supported, for f32 also TANH",
				  (long long)activation) != 0;
}

void
qn_tfl_limits(qn_tfl_op *o, const qn_elem *e, int64_t activation, int64_t *lo, int64_t *hi)
{
	const struct bounds *b = &bounds[activation];

	*lo = b->lo < -1e30 ? e->qmin : qn_code_of(&o->im->m->types, e, b->lo);
	*hi = b->hi > 1e30 ? e->qmax : qn_code_of(&o->im->m->types, e, b->hi);
}

qn_id
qn_tfl_activated(qn_tfl_op *o, qn_id x, int64_t activation)
{
	static const qn_op ops[] = {[QN_TFL_ACT_RELU] = QN_OP_relu,
				    [QN_TFL_ACT_RELU_N1_TO_1] = QN_OP_clip,
				    [QN_TFL_ACT_RELU6] = QN_OP_relu6,
				    [QN_TFL_ACT_TANH] = QN_OP_tanh};
	qn_attrs attrs = {0};
	bool quantized = qn_tfl_is_quantized(o, x);

	if (x == 0 || !qn_tfl_activation_ok(o, activation, quantized))
		return 0;
	if (activation == QN_TFL_ACT_NONE)
		return x;
	if (quantized) {
		const qn_elem *e = qn_importer_type(o->im, x)->elem;

		qn_tfl_limits(o, e, activation, &attrs.clamp.lo, &attrs.clamp.hi);
		if (attrs.clamp.lo == e->qmin && attrs.clamp.hi == e->qmax)
			return x; /* the storage is the bound, as for most values after a relu */
		return qn_importer_op(o->im, QN_OP_clamp, 1, &x, &attrs, NULL);
	}
	attrs.clip = (qn_attrs_clip){-1.0, 1.0};
	return qn_importer_op(o->im, ops[activation], 1, &x,
			      activation == QN_TFL_ACT_RELU_N1_TO_1 ? &attrs : NULL, NULL);
}

void
qn_tfl_set_activated(qn_tfl_op *o, qn_id x, int64_t activation)
{
	qn_tfl_set_result(o, 0, qn_tfl_activated(o, x, activation));
}
