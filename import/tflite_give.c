/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_give.c - results of TFLite operators: parameters that the file gives them, fused
 * activations, products with their accumulators.
 *
 *   FULLY_CONNECTED i8, relu    ->    dense: i32 accumulator    requantize {lo=zero point, hi=127}: i8
 *
 * An accumulator's requantize always has its limits written, so that no pass merges it with a second
 * one behind it: TFLite rounds and clamps twice then, and so does the graph. */
#include "import/tflite.h"

#include "runtime/forms.h"

const qn_elem *
qn_tfl_result(qn_tfl_op *o, uint32_t k)
{
	return qn_tfl_type(o->f, o->to[k])->elem; /* known before the operator is read */
}

bool
qn_tfl_is_codes(const qn_tfl_op *o, qn_id x)
{
	const qn_type *type = x != 0 ? qn_importer_type(o->im, x) : NULL;

	return type != NULL && !type->is_tuple && qn_elem_is_quant(type->elem);
}

bool
qn_tfl_on_codes(qn_tfl_op *o)
{
	return qn_elem_is_quant(qn_tfl_result(o, 0));
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
	if (own && nin > 0 && (qn_tfl_is_codes(o, in[0]) || b == QN_INDEX)) {
		qn_attrs_default(info->attrs, &preset);
		const qn_node like = {.op = op,
				      .nin = nin,
				      .in = in,
				      .attr = attrs != NULL ? attrs : &preset,
				      .name = o->to[0]->name,
				      .place = ""};

		type = info->infer(o->im->g, &like, qn_tfl_type(o->f, o->to[0]));
		if (type == NULL) {
			o->im->problems++;
			return 0;
		}
	}
	return qn_importer_op(o->im, op, nin, in, attrs, type);
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
		in[i] = qn_tfl_on_codes(o) ? o->in[i] : qn_tfl_real(o, i);
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
qn_tfl_requantized(qn_tfl_op *o, uint32_t k, qn_id x, int64_t lo, int64_t hi)
{
	qn_attrs attrs = {.clamp = {lo, hi}};

	return edge(o, QN_OP_requantize, x, qn_tfl_result(o, k), &attrs);
}

qn_id
qn_tfl_retyped(qn_tfl_op *o, qn_id x, const qn_elem *to)
{
	if (x == 0 || qn_importer_type(o->im, x)->elem == to)
		return x;
	x = edge(o, QN_OP_scast, x, qn_elem_plain(&o->im->m->types, to->plain), NULL);
	return edge(o, QN_OP_scast, x, to, NULL);
}

void
qn_tfl_give(qn_tfl_op *o, uint32_t k, qn_id x)
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
		o->to[k]->id =
			edge(o, QN_OP_quantize, qn_importer_cast(o->im, x, QN_PLAIN_f32), to, NULL);
	else if (qn_elem_is_quant(from))
		o->to[k]->id = qn_importer_cast(
			o->im, qn_importer_unary(o->im, QN_OP_dequantize, x), to->plain);
	else
		o->to[k]->id = qn_importer_cast(o->im, x, to->plain);
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

static bool
activation_ok(qn_tfl_op *o, int64_t activation, bool codes)
{
	if (activation == QN_TFL_ACT_TANH && !codes)
		return true;
	return (activation >= 0 && activation < (int64_t)QN_COUNT(bounds)) ||
	       qn_importer_refuse(o->im, "import.attr",
				  "fused activation %lld; NONE, RELU, RELU_N1_TO_1 and RELU6 are "
				  "taken, of f32 also TANH",
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
	bool codes = qn_tfl_is_codes(o, x);

	if (x == 0 || !activation_ok(o, activation, codes))
		return 0;
	if (activation == QN_TFL_ACT_NONE)
		return x;
	if (codes) {
		qn_tfl_limits(o, qn_importer_type(o->im, x)->elem, activation, &attrs.clamp.lo,
			      &attrs.clamp.hi);
		return qn_importer_op(o->im, QN_OP_clamp, 1, &x, &attrs, NULL);
	}
	attrs.clip = (qn_attrs_clip){-1.0, 1.0};
	return qn_importer_op(o->im, ops[activation], 1, &x,
			      activation == QN_TFL_ACT_RELU_N1_TO_1 ? &attrs : NULL, NULL);
}

void
qn_tfl_give_active(qn_tfl_op *o, qn_id x, int64_t activation)
{
	qn_tfl_give(o, 0, qn_tfl_activated(o, x, activation));
}

/* ---- products ---- */

/* The accumulator's scales; axis: where they lie in the bias, 0. */
static const qn_elem *
bias_elem(qn_tfl_op *o, const qn_elem *x, const qn_elem *w, bool f32_product)
{
	static const int32_t axis = 0;
	qn_elem d = qn_elem_desc(x->bits <= 8 ? 32 : 64, true);
	const qn_elem *e = NULL;

	d.kind = QN_ELEM_UNIFORM;
	d.gran = w->gran;
	d.naxis = w->naxis;
	d.axis = w->naxis > 0 ? &axis : NULL;
	d.scale = qn_scale_op(&o->im->m->types, f32_product ? QN_SCALE_FMUL : QN_SCALE_MUL,
			      x->scale, w->scale);
	if (qn_elem_make(&o->im->m->types, o->to[0]->name, &d, &e) != QN_OK)
		o->im->problems++;
	return e;
}

/* The integers of a constant bias under the accumulator's type. */
static qn_id
bias_codes(qn_tfl_op *o, qn_id bias, const qn_elem *e)
{
	const qn_tensor *known = qn_importer_known(o->im, bias);
	void *data;

	if (known == NULL || qn_elem_is_float(known->type->elem))
		return qn_importer_refuse(o->im, "import.input",
					  "the bias of a product of codes must be a constant of "
					  "integers");
	qn_tensor *x = qn_tensor_new(o->im->m->arena,
				     qn_type_with_elem(&o->im->m->types, known->type, e), &data);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		qn_store_i64(data, e->plain, i, qn_tensor_i64(known, i));
	return qn_importer_const(o->im, qn_graph_node(o->im->g, bias)->name, x);
}

static qn_id
product_of_codes(qn_tfl_op *o, qn_op op, qn_id *in, const qn_attrs *attrs, bool f32_product,
		 int64_t activation)
{
	qn_importer *im = o->im;
	const char *name = im->node;
	const qn_elem *acc = bias_elem(o, qn_importer_type(im, in[0])->elem,
				       qn_importer_type(im, in[1])->elem, f32_product);
	const qn_type *type = NULL;
	int64_t lo, hi;
	qn_buf b;

	if (acc == NULL || !activation_ok(o, activation, true))
		return 0;
	if (in[2] != 0 && (in[2] = bias_codes(o, in[2], acc)) == 0)
		return 0;
	qn_buf_init(&b, im->scratch);
	qn_buff(&b, "%s.acc", name);
	im->node = qn_buf_str(&b);
	if (f32_product) { /* of a dense: [N,K] by [O,K] */
		const qn_type *x = qn_importer_type(im, in[0]), *w = qn_importer_type(im, in[1]);

		type = qn_type_tensor(&im->m->types, acc, 2, (int64_t[]){x->dim[0], w->dim[0]});
	}
	qn_id y = qn_importer_op(im, op, in[2] != 0 ? 3 : 2, in, attrs, type);
	im->node = name;
	qn_tfl_limits(o, qn_tfl_result(o, 0), activation, &lo, &hi);
	return y != 0 ? qn_tfl_requantized(o, 0, y, lo, hi) : 0;
}

qn_id
qn_tfl_product(qn_tfl_op *o, qn_op op, qn_id x, qn_id w, qn_id bias, const qn_attrs *attrs,
	       bool f32_product, int64_t activation)
{
	qn_id in[3] = {x, w, bias};

	if (x == 0 || w == 0)
		return 0;
	if (!qn_tfl_is_codes(o, x))
		return qn_tfl_activated(
			o, qn_importer_op(o->im, op, bias != 0 ? 3 : 2, in, attrs, NULL),
			activation);
	if (!qn_tfl_is_codes(o, w) || !qn_tfl_on_codes(o))
		return qn_importer_refuse(o->im, "import.type",
					  "the data is quantized, weights or result are not");
	return product_of_codes(o, op, in, attrs, f32_product, activation);
}
