/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export.c - a calibrated graph as an ONNX file: operators on real numbers, with
 * QuantizeLinear and DequantizeLinear around what is quantized.
 *
 *   quantize(x)                    QuantizeLinear(x, scale, zp)
 *   conv2d(codes x, codes w)       Conv(DequantizeLinear(x), DequantizeLinear(w int8))      an accumulator stays real
 *   add(codes a, codes b)          QuantizeLinear(Add(DequantizeLinear(a), DequantizeLinear(b)))
 *
 * Inputs and outputs of the graph keep their shapes; operators that ONNX has for N,C,H,W alone
 * stand between transposes, which meet when the file is read. */
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/onnx_write.h"
#include "ir/diag.h"

static bool
is_codes(const qn_node *n)
{
	return !n->type->is_tuple && qn_elem_is_quant(n->type->elem);
}

/* ---- constants ---- */

/* The constant whose real numbers node n has; 0: it is none. */
static qn_id
constant_of(const qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	if (n->op == QN_OP_dequantize)
		return qn_onnx_out_is_sum(qn_graph_node(o->g, n->in[0])->type->elem)
			       ? 0
			       : constant_of(o, n->in[0]);
	return n->op == QN_OP_const ? id : 0;
}

const qn_tensor *
qn_onnx_out_moved(qn_onnx_out *o, const qn_tensor *x, const int64_t *perm)
{
	const qn_type *t = x->type;
	int64_t dim[QN_MAX_RANK], at[QN_MAX_RANK] = {0}, step[QN_MAX_RANK];
	const qn_elem *e = t->elem, *to = e;
	int32_t axis = 0;
	void *data;

	for (int32_t k = 0; k < t->rank; k++) {
		dim[k] = t->dim[perm[k]];
		step[k] = 1;
		for (int64_t j = perm[k] + 1; j < t->rank; j++)
			step[k] *= t->dim[j];
		if (qn_elem_is_quant(e) && e->gran == QN_PER_AXIS && e->axis[0] == perm[k])
			axis = k;
	}
	qn_elem d = *e;
	d.axis = &axis;
	if (qn_elem_is_quant(e) && e->gran == QN_PER_AXIS &&
	    qn_elem_make(&o->m->types, "export", &d, &to) != QN_OK)
		return x;
	qn_tensor *y = qn_tensor_new(o->a, qn_type_tensor(&o->m->types, to, t->rank, dim), &data);
	for (int64_t i = 0; i < qn_type_count(t); i++) {
		int64_t from = 0;

		for (int32_t k = 0; k < t->rank; k++)
			from += at[k] * step[k];
		if (qn_elem_is_float(e))
			qn_store_f64(data, e->plain, i, qn_tensor_f64(x, from));
		else
			qn_store_i64(data, e->plain, i, qn_tensor_i64(x, from));
		for (int32_t k = t->rank - 1; k >= 0 && ++at[k] == dim[k]; k--)
			at[k] = 0;
	}
	return y;
}

/* A constant in real numbers, under the name of node n; perm: with axes in this order, NULL: as
 * they are. */
static const char *
constant(qn_onnx_out *o, const qn_node *n, qn_id id, const int64_t *perm)
{
	const qn_types *types = &o->m->types;
	const qn_tensor *x = qn_graph_node(o->g, id)->value;
	const bool wide = qn_onnx_out_is_sum(x->type->elem) && x->type->elem->bits > 32;
	/* Read as f32. */
	const bool other_float =
		qn_elem_is_float(x->type->elem) && x->type->elem->plain != QN_PLAIN_f32;

	if (perm != NULL)
		x = qn_onnx_out_moved(o, x, perm);
	if (wide)
		x = qn_tensor_dequantize(
			types, o->a, x,
			qn_type_with_elem(&o->m->types, x->type,
					  qn_elem_plain(&o->m->types, QN_PLAIN_f32)));
	const char *name = qn_onnx_out_tensor(o, n->name, x);
	if (o->kept[id].tensor == 0 && !wide && !other_float)
		o->kept[id] = (qn_onnx_held){o->graph->n_initializer, perm};
	return qn_elem_is_quant(x->type->elem)
		       ? qn_onnx_out_codes(o, n, x->type->elem, "DequantizeLinear", n->name, name)
		       : name;
}

/* ---- values ---- */

const char *
qn_onnx_out_value(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	if (o->real[id] != NULL)
		return o->real[id];
	const qn_id from = constant_of(o, id);
	if (from != 0)
		o->real[id] = constant(o, n, from, NULL);
	else if (is_codes(n))
		o->real[id] = qn_onnx_out_codes(o, n, n->type->elem, "DequantizeLinear", n->name,
						o->codes[id]);
	else
		o->real[id] = o->codes[id];
	return o->real[id];
}

const char *
qn_onnx_out_permuted(qn_onnx_out *o, qn_id id, int32_t rank, const int64_t *perm)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const qn_id from = constant_of(o, id);
	const char *value;

	if (from != 0)
		return constant(o, n, from, qn_arena_copy(o->a, perm, (size_t)rank * sizeof *perm));
	if ((value = qn_onnx_out_value(o, id)) == NULL)
		return NULL;
	value = qn_onnx_out_node(o, "Transpose", n->name, 1, &value);
	qn_onnx_out_ints(o, "perm", rank, perm);
	return value;
}

/* The codes of a value, or its plain integers; NULL: it is a sum, which has none in the file. */
static const char *
stored(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	if (is_codes(n) && qn_onnx_out_is_sum(n->type->elem))
		return NULL;
	if (n->op == QN_OP_const && is_codes(n) && o->codes[id] == NULL)
		o->codes[id] = qn_onnx_out_tensor(o, n->name, n->value);
	return is_codes(n) ? o->codes[id] : qn_onnx_out_value(o, id);
}

/* ---- tuples ---- */

/* The results of the last node as those of tuple id; or the operands themselves. */
static void
take_parts(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char **part = QN_NEW(o->a, const char *, n->type->nfield + 1);

	if (n->op != QN_OP_tuple && (part[0] = qn_onnx_out_op(o, n)) == NULL)
		return;
	for (uint32_t i = 0; i < n->type->nfield; i++)
		if (n->op == QN_OP_tuple)
			part[i] = qn_onnx_out_value(o, n->in[i]);
		else if (i > 0)
			part[i] = qn_onnx_out_more(o, n->name);
	o->parts[id] = part;
}

/* ---- the walk ---- */

/* QuantizeLinear; sums stay real numbers. */
static void
take_codes(qn_onnx_out *o, qn_id id, const char *real, int64_t lo, int64_t hi)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const qn_elem *e = n->type->elem;

	if (qn_onnx_out_is_sum(e))
		o->real[id] = real;
	else
		o->codes[id] = qn_onnx_out_codes(o, n, e, "QuantizeLinear", n->name,
						 qn_onnx_out_limited(o, n, real, e, lo, hi));
}

/* The same bits under another type. */
static void
take_bits(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const qn_elem *from = qn_graph_node(o->g, n->in[0])->type->elem;

	o->codes[id] = from->plain == n->type->elem->plain &&
				       !(is_codes(n) && qn_onnx_out_is_sum(n->type->elem))
			       ? stored(o, n->in[0])
			       : NULL;
	if (o->codes[id] == NULL)
		(void)qn_onnx_out_op(o, n); /* refuses it */
}

static void
take_real(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char *y =
		n->op == QN_OP_get
			? o->parts[n->in[0]] != NULL ? o->parts[n->in[0]][n->attr->get.index] : NULL
			: qn_onnx_out_op(o, n);

	if (y == NULL)
		return;
	if (is_codes(n))
		take_codes(o, id, y, INT64_MIN, INT64_MAX);
	else
		o->real[id] = y;
}

static void
convert(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	if (n->op == QN_OP_input) {
		const char *name = qn_onnx_out_name(o, n->name);

		qn_onnx_out_input(o, name, n->type);
		(is_codes(n) ? o->codes : o->real)[id] = name;
	} else if (n->op == QN_OP_dequantize) {
		o->real[id] = qn_onnx_out_value(o, n->in[0]);
	} else if (n->op == QN_OP_quantize) {
		take_codes(o, id, qn_onnx_out_value(o, n->in[0]), INT64_MIN, INT64_MAX);
	} else if (n->op == QN_OP_requantize) {
		take_codes(o, id, qn_onnx_out_value(o, n->in[0]), n->attr->clamp.lo,
			   n->attr->clamp.hi);
	} else if (n->op == QN_OP_scast) {
		take_bits(o, id);
	} else if (n->type->is_tuple) {
		take_parts(o, id);
	} else if (n->op != QN_OP_const) {
		take_real(o, id);
	}
}

/* What an output is made of: codes stay codes. */
static const char *
output_of(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char *from;

	if (n->type->is_tuple)
		return qn_onnx_out_refuse(o, n, "an output of a file is no tuple");
	from = stored(o, id);
	return from != NULL ? from : qn_onnx_out_value(o, id);
}

/* An output has its own name. */
static void
give_output(qn_onnx_out *o, const qn_output *out, const char *from)
{
	const qn_type *type = qn_graph_node(o->g, out->value)->type;
	qn_types *types = &o->m->types;

	if (from == NULL)
		return;
	if (qn_onnx_out_is_sum(type->elem))
		type = qn_type_with_elem(types, type, qn_elem_plain(types, QN_PLAIN_f32));
	qn_onnx_out_output(o, qn_onnx_out_node(o, "Identity", out->name, 1, &from), type);
}

static bool
names_input(const qn_graph *g, const char *name)
{
	const qn_id id = qn_graph_find(g, name);

	return id != 0 && qn_graph_node(g, id)->op == QN_OP_input;
}

/* The operator set: 14, or the one that an operator needs, or 21 for codes of 4 or 16 bits. */
static int64_t
version_for(const qn_graph *g)
{
	int64_t version = 14;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const bool wide =
			is_codes(n) && (n->type->elem->bits == 4 || n->type->elem->bits == 16);
		const int64_t since = wide ? 21 : qn_onnx_out_since(n);

		version = since > version ? since : version;
	}
	return version;
}

bool
qn_onnx_out_fill(qn_onnx_out *o)
{
	const qn_graph *g = o->g = qn_onnx_out_graph(o->m);

	if (g == NULL)
		return false;
	o->a = o->m->scratch;
	o->version = version_for(g);
	o->graph = QN_NEW(o->a, Onnx__GraphProto, 1);
	onnx__graph_proto__init(o->graph);
	o->graph->name = qn_arena_copy(o->a, o->m->name, strlen(o->m->name) + 1);
	o->real = QN_NEW(o->a, const char *, g->n);
	o->codes = QN_NEW(o->a, const char *, g->n);
	o->parts = QN_NEW(o->a, const char **, g->n);
	o->kept = QN_NEW(o->a, qn_onnx_held, g->n);
	qn_map_init(&o->used, o->a);
	for (size_t i = 0; i < g->noutput; i++) /* outputs keep their names */
		if (!names_input(g, g->output[i].name) ||
		    qn_graph_node(g, g->output[i].value)->op != QN_OP_input)
			qn_map_puts(&o->used, g->output[i].name, o);
	for (qn_id id = 1; id < g->n && (o->most == 0 || o->bytes <= o->most); id++)
		convert(o, id);
	if (o->most > 0 && (o->bytes > o->most || o->problems > 0))
		return false;
	const char **from = QN_NEW(o->a, const char *, g->noutput);
	for (size_t i = 0; i < g->noutput; i++)
		from[i] = output_of(o, g->output[i].value);
	qn_map_init(&o->used, o->a); /* only outputs come yet */
	for (size_t i = 0; i < g->ninput; i++)
		qn_map_puts(&o->used, o->graph->input[i]->name, o);
	for (size_t i = 0; i < g->noutput; i++)
		give_output(o, &g->output[i], from[i]);
	return o->problems == 0;
}
