/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_export.c - a calibrated graph as an ONNX file: operators on real numbers, with QuantizeLinear and
 * DequantizeLinear around what is quantized.
 *
 *   quantize(x)                    QuantizeLinear(x, scale, zp)
 *   conv2d(codes x, codes w)       Conv(DequantizeLinear(x), DequantizeLinear(w int8))      an accumulator stays real
 *   add(codes a, codes b)          QuantizeLinear(Add(DequantizeLinear(a), DequantizeLinear(b)))
 *
 * Inputs and outputs of the graph keep their shapes; operators that ONNX has for N,C,H,W alone stand between
 * transposes, which meet when the file is read. */
#include <onnx/onnx.pb-c.h>
#include <string.h>

#include "import/onnx_write.h"
#include "ir/diag.h"

const char *
qn_onnx_out_refuse(qn_onnx_out *o, const qn_node *n, const char *why)
{
	(void)qn_report(o->m->env, QN_EUNSUPPORTED, "export.op", qn_node_place(o->g, n),
			"%s '%s' cannot be written to ONNX: %s", qn_opinfo_of(n)->name, n->name,
			why);
	o->problems++;
	return NULL;
}

/* Wider than 16 bits: a sum that no one stores. */
static bool
is_sum(const qn_elem *e)
{
	return qn_elem_is_quant(e) && e->bits > 16;
}

static bool
is_codes(const qn_node *n)
{
	return !n->type->is_tuple && qn_elem_is_quant(n->type->elem);
}

/* ---- parameters ---- */

/* Scale, and zero point (NULL: none, for sums) of a type; false after a report. */
static bool
parameters(qn_onnx_out *o, const qn_node *n, const qn_elem *e, const char **scale, const char **zp)
{
	size_t count = qn_elem_nparams(e);
	int64_t len = (int64_t)count, z;
	double *s = QN_NEW(o->a, double, count);
	bool vector = e->gran == QN_PER_AXIS;
	qn_types *types = &o->m->types;
	void *data;

	if (e->kind != QN_ELEM_UNIFORM || e->gran == QN_SUB_CHANNEL ||
	    (e->bits != 4 && e->bits != 8 && e->bits != 16 && e->bits != 32)) {
		(void)qn_onnx_out_refuse(o, n,
					 "its type has blocks, or codes that are not of 4, 8, "
					 "16 or 32 bits");
		return false;
	}
	qn_tensor *zps =
		qn_tensor_new(o->a, qn_type_plain(types, e->plain, vector ? 1 : 0, &len), &data);
	for (size_t k = 0; k < count; k++) {
		qn_elem_param(types, e, k, &s[k], &z);
		qn_store_i64(data, e->plain, (int64_t)k, z);
	}
	*scale = qn_onnx_out_f32s(o, "scale", vector ? 1 : 0, len, s);
	*zp = is_sum(e) ? NULL : qn_onnx_out_tensor(o, "zero_point", zps);
	return true;
}

static const char *
cast(qn_onnx_out *o, const qn_node *n, const qn_elem *e, const char *op, const char *base,
     const char *x)
{
	const char *in[3] = {x, NULL, NULL};

	if (x == NULL || !parameters(o, n, e, &in[1], &in[2]))
		return NULL;
	const char *y = qn_onnx_out_node(o, op, base, 3, in);
	if (e->gran == QN_PER_AXIS)
		qn_onnx_out_int(o, "axis", e->axis[0]);
	return y;
}

/* ---- constants ---- */

/* The constant whose real numbers node n has; 0: it is none. */
static qn_id
constant_of(const qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);

	if (n->op == QN_OP_dequantize)
		return is_sum(qn_graph_node(o->g, n->in[0])->type->elem)
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

/* A constant in real numbers, under the name of node n; perm: with axes in this order, NULL: as they are. */
static const char *
constant(qn_onnx_out *o, const qn_node *n, qn_id id, const int64_t *perm)
{
	const qn_types *types = &o->m->types;
	const qn_tensor *x = qn_graph_node(o->g, id)->value;
	const bool wide = is_sum(x->type->elem) && x->type->elem->bits > 32;
	/* Read as f32. */
	const bool other_float = qn_elem_is_float(x->type->elem) && x->type->elem->plain != QN_PLAIN_f32;

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
		       ? cast(o, n, x->type->elem, "DequantizeLinear", n->name, name)
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
		o->real[id] = cast(o, n, n->type->elem, "DequantizeLinear", n->name, o->codes[id]);
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
		return constant(o, n, from,
				qn_arena_copy(o->a, perm, (size_t)rank * sizeof *perm));
	if ((value = qn_onnx_out_value(o, id)) == NULL)
		return NULL;
	value = qn_onnx_out_node(o, "Transpose", n->name, 1, &value);
	qn_onnx_out_ints(o, "perm", rank, perm);
	return value;
}

/* ---- the walk ---- */

static void
convert(qn_onnx_out *o, qn_id id)
{
	const qn_node *n = qn_graph_node(o->g, id);
	const char *y;

	if (n->op == QN_OP_input) {
		const char *name = qn_onnx_out_name(o, n->name);

		qn_onnx_out_input(o, name, n->type);
		(is_codes(n) ? o->codes : o->real)[id] = name;
	} else if (n->op == QN_OP_dequantize) {
		o->real[id] = qn_onnx_out_value(o, n->in[0]);
	} else if (n->op == QN_OP_quantize || n->op == QN_OP_requantize) {
		o->codes[id] = cast(o, n, n->type->elem, "QuantizeLinear", n->name,
				    qn_onnx_out_value(o, n->in[0]));
	} else if (n->op != QN_OP_const && (y = qn_onnx_out_op(o, n)) != NULL) {
		if (is_codes(n) && !is_sum(n->type->elem))
			o->codes[id] = cast(o, n, n->type->elem, "QuantizeLinear", n->name, y);
		else
			o->real[id] = y;
	}
}

/* An output has its own name; codes stay codes. */
static void
give_output(qn_onnx_out *o, const qn_output *out)
{
	const qn_node *n = qn_graph_node(o->g, out->value);
	const char *from = is_codes(n) && o->codes[out->value] != NULL
				   ? o->codes[out->value]
				   : qn_onnx_out_value(o, out->value);
	qn_types *types = &o->m->types;
	const qn_type *type = n->type;

	if (from == NULL)
		return;
	if (is_sum(type->elem))
		type = qn_type_with_elem(types, type, qn_elem_plain(types, QN_PLAIN_f32));
	qn_onnx_out_output(o, qn_onnx_out_node(o, "Identity", out->name, 1, &from), type);
}

/* The operator set: 14, for codes of 4 or 16 bits, and pools with dilation, 21. */
static int64_t
version_for(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (is_codes(n) && (n->type->elem->bits == 4 || n->type->elem->bits == 16))
			return 21;
		if (n->op == QN_OP_avg_pool &&
		    (n->attr->pool.dilation[0] != 1 || n->attr->pool.dilation[1] != 1))
			return 21;
	}
	return 14;
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
	o->kept = QN_NEW(o->a, qn_onnx_held, g->n);
	qn_map_init(&o->used, o->a);
	for (size_t i = 0; i < g->noutput; i++) /* outputs keep their names */
		if (qn_graph_node(g, g->output[i].value)->op != QN_OP_input)
			qn_map_puts(&o->used, g->output[i].name, o);
	for (qn_id id = 1; id < g->n && (o->most == 0 || o->bytes <= o->most); id++)
		convert(o, id);
	if (o->most > 0 && (o->bytes > o->most || o->problems > 0))
		return false;
	qn_map_init(&o->used, o->a);
	for (size_t i = 0; i < g->ninput; i++)
		qn_map_puts(&o->used, o->graph->input[i]->name, o);
	for (size_t i = 0; i < g->noutput; i++)
		give_output(o, &g->output[i]);
	return o->problems == 0;
}
