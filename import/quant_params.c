/* SPDX-License-Identifier: Apache-2.0 */
/* quant_params.c - see quant_params.h.
 *
 *   "fc": {"input_scale": [0.02], "weight_scale": [0.1, 0.2], "smoothquant_mul": [1, 2, 1], "output_scale": [0.5]}
 *
 *   %y = dense %x, %fc.weight, %fc.bias
 *     ->
 *   %fc.q_input  = quantize (mul %x, {1, 2, 1}) : …<i8:f32, 0.02>
 *   %y           = dense (dequantize %fc.q_input), (dequantize %fc.weight), (dequantize %fc.bias)
 *   %fc.q_output = quantize %y : …<i8:f32, 0.5>            and what took %y takes its dequantize
 *
 * The integers of weights and biases are those that the same text makes in an archive
 * (formats/quant_params.c).  A layer is the node whose weight is the constant "fc.weight", of the
 * model or of the file that it was read from, else one that is called "fc".
 *
 * requires: a graph whose named layers are float.   leaves: a calibrated graph. */
#include "import/quant_params.h"

#include "formats/file.h"
#include "import/quant_params_impl.h"
#include "ir/diag.h"

/* ---- types ---- */

static qn_status
storage_of(const qn_params_model *x, const qn_params_target *t, const qn_dtype *dtype, qn_elem *out)
{
	if (qn_dtype_is_float(dtype) || dtype->bytes > 4)
		return qn_report(x->p.env, QN_EUNSUPPORTED, "quant-params.type",
				 qn_json_place(&x->p.doc, x->p.a, t->l.json),
				 "%s is not a type of quantized values (expected int8, uint8, "
				 "int16 …)",
				 dtype->torch);
	*out = qn_elem_desc(qn_plain_table[dtype->plain].bits,
			    qn_plain_table[dtype->plain].is_signed);
	out->kind = QN_ELEM_UNIFORM;
	return QN_OK;
}

/* One scale, or one for each index of the axis. */
static qn_status
scale_of(const qn_params_model *x, const qn_params_target *t, const qn_params_array *s,
	 const float *zp, const qn_scale **out)
{
	const size_t n = (size_t)s->n;
	double *scale = QN_NEW(x->p.a, double, n);
	int64_t *zero = QN_NEW(x->p.a, int64_t, n);
	const qn_params *vec;

	if (n == 1) {
		*out = qn_scale_const(&x->m->types, (double)s->v[0]);
		return QN_OK;
	}
	for (size_t i = 0; i < n; i++) {
		scale[i] = (double)s->v[i];
		zero[i] = zp != NULL ? (int64_t)zp[i] : 0;
	}
	QN_TRY(qn_params_intern(&x->m->types, t->name, NULL, n, 1, NULL, scale, zero, &vec));
	*out = qn_scale_vec(&x->m->types, vec);
	return QN_OK;
}

/* shape with quantized values of desc. */
static qn_status
finish_type(const qn_params_model *x, const qn_params_target *t, qn_elem *desc, int32_t axis,
	    const qn_type *shape, const qn_type **out)
{
	const qn_elem *e;

	if (desc->scale->kind != QN_SCALE_CONST && axis >= 0) {
		desc->gran = QN_PER_AXIS;
		desc->naxis = 1;
		desc->axis = &axis;
	}
	const qn_status status = qn_elem_make(&x->m->types, t->name, desc, &e);
	desc->axis = NULL; /* it ends with this call */
	QN_TRY(status);
	*out = qn_type_with_elem(&x->m->types, shape, e);
	return QN_OK;
}

/* ---- constants ---- */

/* The axis of a weight's output channels. */
static int32_t
channel_axis(const qn_params_model *x, const qn_params_target *t)
{
	const qn_node *n = qn_graph_node(x->g, t->node);

	return n->op == QN_OP_matmul ? qn_graph_node(x->g, t->weight)->type->rank - 1 : 0;
}

static qn_status
check_shape(const qn_params_model *x, const qn_params_target *t, const qn_type *type, int32_t axis)
{
	const qn_params_layer *l = &t->l;

	if (type->rank <= axis || axis < 0 ||
	    (l->weight_scale.n != 1 && l->weight_scale.n != type->dim[axis]) ||
	    (l->weight_zp.v != NULL && l->weight_zp.n != l->weight_scale.n))
		return qn_params_bad(&x->p, l->json, "quant-params.shape",
				     "'weight_scale' or 'weight_zp' do not have one number, or one "
				     "for each output channel of the weight");
	return QN_OK;
}

/* The constant in the type, and its dequantize. */
static qn_status
add_codes(qn_params_model *x, const qn_node *n, const qn_params_coding *c, int32_t axis,
	  const qn_type *type, qn_id *out)
{
	const int64_t count = qn_type_count(n->type);
	float *v = QN_NEW(x->p.a, float, (size_t)count + 1);
	uint8_t *quantized = QN_NEW(x->m->arena, uint8_t, (size_t)count * c->dtype->bytes + 1);
	int64_t inner = 1;

	for (int32_t k = axis + 1; k < n->type->rank; k++)
		inner *= n->type->dim[k];
	for (int64_t i = 0; i < count; i++)
		v[i] = (float)qn_tensor_f64(n->value, i);
	QN_TRY(qn_params_codes(&x->p, qn_node_place(x->g, n), c, count, inner > 0 ? inner : 1, v,
			       quantized));
	*out = qn_graph_const(x->to, n->name, qn_tensor_view_file(x->m->arena, type, quantized));
	if (*out != 0)
		*out = qn_graph_op(x->to, QN_OP_dequantize, NULL, 1, out, NULL, NULL);
	return *out != 0 ? QN_OK : QN_EINVALID;
}

static qn_status
add_weight(qn_params_model *x, const qn_params_target *t, const qn_node *n, qn_id *out)
{
	const qn_params_layer *l = &t->l;
	const bool offset = l->weight_zp.v != NULL && !qn_params_zero(&l->weight_zp);
	const qn_params_coding c = {.dtype = l->weight_dtype,
				    .nscale = l->weight_scale.n,
				    .s = l->weight_scale.v,
				    .zp = offset ? l->weight_zp.v : NULL,
				    .saturate = true};
	const int32_t axis = channel_axis(x, t);
	const qn_type *type;
	qn_elem desc;

	QN_TRY(check_shape(x, t, n->type, axis));
	QN_TRY(storage_of(x, t, c.dtype, &desc));
	QN_TRY(scale_of(x, t, &l->weight_scale, c.zp, &desc.scale));
	desc.zp = offset && c.nscale == 1 ? (int64_t)c.zp[0] : 0;
	QN_TRY(finish_type(x, t, &desc, axis, n->type, &type));
	return add_codes(x, n, &c, axis, type, out);
}

/* 32 bits, with the scale of the accumulator. */
static qn_status
add_bias(qn_params_model *x, const qn_params_target *t, const qn_node *n, qn_id *out)
{
	const qn_params_array *w = &t->l.weight_scale;
	qn_params_coding c = {.dtype = qn_dtype_by_name("i32"), .nscale = w->n};
	float *s = QN_NEW(x->p.a, float, (size_t)w->n);
	qn_elem desc = qn_elem_desc(32, true);
	const qn_type *type;

	if (n->type->rank != 1 || (w->n != 1 && w->n != n->type->dim[0]))
		return qn_params_bad(&x->p, t->l.json, "quant-params.shape",
				     "the bias does not have one element for each output channel "
				     "of the weight");
	for (int64_t i = 0; i < w->n; i++)
		s[i] = t->l.input_scale.v[0] * w->v[i];
	c.s = s;
	desc.kind = QN_ELEM_UNIFORM;
	QN_TRY(scale_of(x, t, w, NULL, &desc.scale));
	desc.scale = qn_scale_op(&x->m->types, QN_SCALE_MUL,
				 qn_scale_const(&x->m->types, (double)t->l.input_scale.v[0]),
				 desc.scale);
	QN_TRY(finish_type(x, t, &desc, w->n > 1 ? 0 : -1, n->type, &type));
	return add_codes(x, n, &c, 0, type, out);
}

/* ---- nodes ---- */

static const char *
named(const qn_params_model *x, const qn_params_target *t, const char *what)
{
	qn_buf b;

	qn_buf_init(&b, x->m->arena);
	qn_buff(&b, "%s.%s", t->name, what);
	return qn_buf_str(&b);
}

/* quantize and dequantize of *at with one scale. */
static qn_status
add_pair(qn_params_model *x, const qn_params_target *t, const char *name, const qn_params_array *s,
	 const qn_dtype *dtype, qn_id *at)
{
	const qn_type *type;
	qn_elem desc;

	if (s->n != 1 || !qn_params_positive(s))
		return qn_report(x->p.env, QN_EINVALID, "quant-params.shape",
				 qn_json_place(&x->p.doc, x->p.a, t->l.json),
				 "the scale of '%s' is not one positive number", name);
	QN_TRY(storage_of(x, t, dtype, &desc));
	QN_TRY(scale_of(x, t, s, NULL, &desc.scale));
	QN_TRY(finish_type(x, t, &desc, -1, qn_graph_node(x->to, *at)->type, &type));
	*at = qn_graph_op(x->to, QN_OP_quantize, named(x, t, name), 1, at, NULL, type);
	if (*at != 0)
		*at = qn_graph_op(x->to, QN_OP_dequantize, NULL, 1, at, NULL, NULL);
	return *at != 0 ? QN_OK : QN_EINVALID;
}

/* *at times the multiplier: one number, or one for each index of the last axis. */
static qn_status
add_premul(qn_params_model *x, const qn_params_target *t, qn_id *at)
{
	const qn_type *type = qn_graph_node(x->to, *at)->type;
	const qn_params_array *f = &t->l.premul;
	qn_id in[2] = {*at, 0};

	if (type->rank < 1 || (f->n != 1 && f->n != type->dim[type->rank - 1]))
		return qn_params_bad(&x->p, t->l.json, "quant-params.shape",
				     "'smoothquant_mul' does not have one number, or one for each "
				     "input channel");
	const qn_type *shape = qn_type_plain(&x->m->types, QN_PLAIN_f32, 1, &f->n);
	in[1] = qn_graph_const(x->to, named(x, t, "premul_input"),
			       qn_tensor_of(x->m->arena, shape, f->v));
	*at = in[1] != 0 ? qn_graph_op(x->to, QN_OP_mul, NULL, 2, in, NULL, NULL) : 0;
	return *at != 0 ? QN_OK : QN_EINVALID;
}

/* A node of g, copied, whose first operand is `data` unless that is 0. */
static qn_status
copy(qn_params_model *x, qn_id id, qn_id data, qn_id *out)
{
	qn_node n = *qn_graph_node(x->g, id);
	qn_id *in = QN_NEW(x->p.a, qn_id, n.nin + 1);

	for (uint32_t i = 0; i < n.nin; i++)
		in[i] = i == 0 && data != 0 ? data : x->map[n.in[i]];
	n.in = in;
	*out = qn_graph_add(x->to, &n);
	return *out != 0 ? QN_OK : QN_EINVALID;
}

static qn_status
add_layer(qn_params_model *x, const qn_params_target *t, qn_id id, qn_id *out)
{
	const qn_params_layer *l = &t->l;
	qn_id data = 0;

	if (!l->attention)
		data = x->map[qn_graph_node(x->g, id)->in[0]];
	if (l->premul.v != NULL && data != 0)
		QN_TRY(add_premul(x, t, &data));
	if (l->quantized)
		QN_TRY(add_pair(x, t, "q_input", &l->input_scale, l->input_dtype, &data));
	QN_TRY(copy(x, id, data, out));
	return l->output_scale.v != NULL
		       ? add_pair(x, t, "q_output", &l->output_scale,
				  l->output_dtype != NULL ? l->output_dtype
							  : qn_dtype_by_name("i8"),
				  out)
		       : QN_OK;
}

static qn_status
rebuild(qn_params_model *x)
{
	const qn_graph *g = x->g;

	x->to = qn_graph_new(x->m, g->name);
	x->map = QN_NEW(x->p.a, qn_id, g->n);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_params_target *t = x->of[id] != 0 ? &x->layer[x->of[id] - 1] : NULL;
		const qn_node *n = qn_graph_node(g, id);

		if (t == NULL)
			QN_TRY(copy(x, id, 0, &x->map[id]));
		else if (id == t->weight)
			QN_TRY(add_weight(x, t, n, &x->map[id]));
		else if (id == t->bias)
			QN_TRY(add_bias(x, t, n, &x->map[id]));
		else
			QN_TRY(add_layer(x, t, id, &x->map[id]));
	}
	qn_graph_copy_outputs(x->to, g, x->map);
	qn_graph_copy_facts(x->to, g);
	x->m->graph[x->m->ngraph - 1] = x->to;
	x->m->stage = QN_STAGE_CALIBRATED;
	return QN_OK;
}

qn_status
qn_import_quant_params_text(qn_model *m, const char *place, const char *text, size_t n)
{
	qn_params_model x = {.p = {.env = m->env, .a = m->scratch}, .m = m, .g = qn_model_entry(m)};

	if (m->stage != QN_STAGE_FLOAT && m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EUSAGE, "quant-params.stage", place,
				 "the model is %s already (expected a float one)",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_params_text_read(&x.p, place, text, n));
	QN_TRY(qn_params_find_layers(&x));
	return x.n > 0 ? rebuild(&x) : QN_OK;
}

qn_status
qn_import_quant_params(qn_model *m, const char *path)
{
	const char *text;
	size_t n;

	QN_TRY(qn_file_map(m->scratch, path, &text, &n));
	return qn_import_quant_params_text(m, path, text, n);
}
