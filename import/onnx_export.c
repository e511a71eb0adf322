/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export.c - a calibrated graph as an ONNX file: float operators with QuantizeLinear and
 * DequantizeLinear around what is quantized.
 *
 *   quantize(x)                    QuantizeLinear(x, scale, zp)
 *   conv2d(quantized x, w)         Conv(DequantizeLinear(x), DequantizeLinear(w int8))      an accumulator stays float
 *   add(quantized a, b)            QuantizeLinear(Add(DequantizeLinear(a), DequantizeLinear(b)))
 *
 * One pair per value, each node named like the layer.  Inputs and outputs of the graph keep their
 * shapes and types; in between the channels come first where ONNX's operators want them so
 * (onnx_axes.c). */
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/onnx_write.h"
#include "ir/diag.h"

static bool
is_quantized(const qn_node *n)
{
	return !n->type->is_tuple && qn_elem_is_quant(n->type->elem);
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

/* QuantizeLinear; sums stay float values. */
static void
take_quantized(qn_onnx_out *o, qn_id id, const char *real, int64_t lo, int64_t hi)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const qn_elem *e = n->type->elem;

	if (qn_onnx_out_is_sum(e))
		o->real[o->order[id]][id] = real;
	else
		o->quantized[o->order[id]][id] = qn_onnx_out_convert(
			o, n, qn_onnx_out_elem(o, n), "QuantizeLinear",
			qn_onnx_out_named(o, qn_onnx_out_base(o, n), "quantized"),
			qn_onnx_out_limited(o, n, real, e, lo, hi));
}

/* The same bits under another type. */
static void
take_bits(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const qn_elem *from = qn_graph_node(o->g, n->in[0])->type->elem;

	const char **to = is_quantized(n) ? &o->raw[id] : &o->real[QN_ORDER_PLAIN][id];

	if (from->plain == n->type->elem->plain &&
	    !(is_quantized(n) && qn_onnx_out_is_sum(n->type->elem)))
		*to = qn_onnx_out_stored(o, n->in[0]);
	if (*to == NULL)
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
	if (is_quantized(n))
		take_quantized(o, id, y, INT64_MIN, INT64_MAX);
	else
		o->real[o->order[id]][id] = y;
}

/* Constants, what makes float values of quantized ones, and another order of axes are written where
 * they are used; scales that lie along an axis do not follow another order. */
static bool
is_written_by_users(const qn_node *n)
{
	return n->op == QN_OP_const || n->op == QN_OP_dequantize ||
	       (n->op == QN_OP_transpose &&
		(!is_quantized(n) || n->type->elem->gran == QN_PER_TENSOR));
}

static void
convert(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	o->id = id;
	o->now = qn_onnx_out_follows(o, n) ? o->order[id] : QN_ORDER_PLAIN;
	o->rank = o->now == QN_ORDER_FIRST && !n->type->is_tuple ? n->type->rank : 0;
	if (n->op == QN_OP_input) {
		const char *name = qn_onnx_out_name(o, n->name);

		qn_onnx_out_input(o, name, n->type);
		*(is_quantized(n) ? &o->raw[id] : &o->real[QN_ORDER_PLAIN][id]) = name;
	} else if (n->op == QN_OP_quantize) {
		take_quantized(o, id, qn_onnx_out_value(o, n->in[0]), INT64_MIN, INT64_MAX);
	} else if (n->op == QN_OP_requantize) {
		take_quantized(o, id, qn_onnx_out_value(o, n->in[0]), n->attr->clamp.lo,
			       n->attr->clamp.hi);
	} else if (n->op == QN_OP_scast) {
		take_bits(o, id);
	} else if (n->type->is_tuple) {
		take_parts(o, id);
	} else if (!is_written_by_users(n)) {
		take_real(o, id);
	}
	o->now = QN_ORDER_PLAIN;
	o->rank = 0;
}

/* What an output is made of: quantized values stay so. */
static const char *
output_of(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char *from;

	if (n->type->is_tuple)
		return qn_onnx_out_refuse(o, n, "an output of a file cannot be a tuple");
	from = qn_onnx_out_stored(o, id);
	return from != NULL ? from : qn_onnx_out_value_in(o, id, QN_ORDER_PLAIN);
}

/* An output has its own name. */
static void
set_output(qn_onnx_out *o, const qn_output *out, const char *from)
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

/* Since when QuantizeLinear and DequantizeLinear have these values. */
static int64_t
version_of_type(const qn_elem *e)
{
	return e->bits == 2                                                 ? 25
	       : e->bits == 4 || e->bits == 16 || e->gran == QN_SUB_CHANNEL ? 21
									    : 0;
}

/* The operator set: 14, later if an operator or a type needs it. */
static int64_t
version_for(const qn_graph *g)
{
	int64_t version = 14;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);
		const int64_t types = is_quantized(n) ? version_of_type(n->type->elem) : 0;
		const int64_t nodes = qn_onnx_out_since(n);
		const int64_t since = types > nodes ? types : nodes;

		version = since > version ? since : version;
	}
	return version;
}

/* Tables over the values of o->g. */
static void
make_tables(qn_onnx_out *o)
{
	for (int k = 0; k < QN_NORDER; k++) {
		o->real[k] = QN_NEW(o->a, const char *, o->g->n);
		o->quantized[k] = QN_NEW(o->a, const char *, o->g->n);
	}
	o->raw = QN_NEW(o->a, const char *, o->g->n);
	o->parts = QN_NEW(o->a, const char **, o->g->n);
	o->held = QN_NEW(o->a, qn_onnx_held, o->kept->n);
	qn_map_init(&o->used, o->a);
	qn_map_init(&o->params, o->a);
}

static void
set_outputs(qn_onnx_out *o)
{
	const qn_graph *g = o->g;
	const char **from = QN_NEW(o->a, const char *, g->noutput);

	for (size_t i = 0; i < g->noutput; i++)
		from[i] = output_of(o, g->output[i].value);
	qn_map_init(&o->used, o->a); /* only outputs come yet */
	for (size_t i = 0; i < g->ninput; i++)
		qn_map_puts(&o->used, o->graph->input[i]->name, o);
	for (size_t i = 0; i < g->noutput; i++)
		set_output(o, &g->output[i], from[i]);
}

bool
qn_onnx_out_fill(qn_onnx_out *o)
{
	o->a = o->m->scratch;
	o->kept = qn_onnx_out_graph(o->m);
	if (o->kept == NULL || !qn_onnx_out_settle(o))
		return false;
	const qn_graph *g = o->g;
	qn_onnx_out_arrange(o);
	o->version = version_for(g);
	o->graph = QN_NEW(o->a, Onnx__GraphProto, 1);
	onnx__graph_proto__init(o->graph);
	o->graph->name = qn_arena_copy(o->a, o->m->name, strlen(o->m->name) + 1);
	make_tables(o);
	for (size_t i = 0; i < g->noutput; i++) /* outputs keep their names */
		if (!names_input(g, g->output[i].name) ||
		    qn_graph_node(g, g->output[i].value)->op != QN_OP_input)
			qn_map_puts(&o->used, g->output[i].name, o);
	for (qn_id id = 1; id < g->n && (o->most == 0 || o->bytes <= o->most); id++)
		convert(o, id);
	if (o->most > 0 && (o->bytes > o->most || o->problems > 0))
		return false;
	set_outputs(o);
	return o->problems == 0;
}
