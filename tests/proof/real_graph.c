/* SPDX-License-Identifier: Apache-2.0 */
/* real_graph.c - a random integer graph, written with real ops between dequantize and quantize
 * as the quantizer would have it (real_graph.h). */
#include "tests/proof/real_graph.h"

/* The graph under construction; for each value of the integer graph: its codes, its real form, 0
 * while there is none.  A value that is no real number (a condition, places) has codes only. */
typedef struct maker {
	builder *b;
	const qn_graph *from;
	qn_graph *g;
	qn_id *codes, *real;
} maker;

static bool
chance(maker *m, int64_t percent)
{
	return build_random(m->b, 1, 100) <= percent;
}

static qn_id
add(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attr, const qn_type *type)
{
	qn_id id = qn_graph_op(m->g, op, NULL, nin, in, attr, type);

	build_check(m->b, id != 0);
	return id;
}

static bool
is_codes(const qn_type *t)
{
	return t->is_tuple ? is_codes(t->field[0]) : qn_elem_is_quant(t->elem);
}

/* A constant in f32 whose codes are those of c. */
static qn_id
real_const(maker *m, const qn_tensor *c)
{
	const qn_tensor *x = qn_tensor_dequantize(
		&m->b->model.types, &m->b->arena, c,
		qn_type_with_elem(&m->b->model.types, c->type,
				  qn_elem_plain(&m->b->model.types, QN_PLAIN_f32)));

	qn_id id = qn_graph_const(m->g, NULL, x);
	build_check(m->b, id != 0);
	return id;
}

static qn_id
codes_of(maker *m, qn_id id)
{
	if (m->codes[id] == 0)
		m->codes[id] = add(m, QN_OP_quantize, 1, &m->real[id], NULL,
				   qn_graph_node(m->from, id)->type);
	return m->codes[id];
}

/* Whether the real op may give what is no number, which codes do not have: its code is that of 0,
 * and only then is it moved or compared. */
static bool
may_be_nan(qn_op op)
{
	return op == QN_OP_div || op == QN_OP_log || op == QN_OP_sqrt || op == QN_OP_rsqrt ||
	       op == QN_OP_pow || op == QN_OP_reciprocal || op == QN_OP_asin || op == QN_OP_acos ||
	       op == QN_OP_acosh || op == QN_OP_atanh;
}

static qn_id
real_of(maker *m, qn_id id)
{
	qn_id q;

	if (may_be_nan(qn_graph_node(m->from, id)->op)) {
		q = codes_of(m, id);
		return add(m, QN_OP_dequantize, 1, &q, NULL, NULL);
	}
	if (m->real[id] == 0)
		m->real[id] = add(m, QN_OP_dequantize, 1, &m->codes[id], NULL, NULL);
	return m->real[id];
}

/* A dequantize for an op with integer arithmetic: of the value's codes, or of codes with other
 * parameters that this reader has for itself. */
static qn_id
operand(maker *m, qn_id id)
{
	qn_types *t = &m->b->model.types;
	const qn_type *type = qn_graph_node(m->from, id)->type;
	qn_elem e = *type->elem;
	const qn_elem *made = NULL;
	qn_id q = codes_of(m, id);
	double scale;
	int64_t zp;

	if (m->real[id] != 0 && chance(m, 25) && e.gran == QN_PER_TENSOR) {
		qn_elem_param(t, type->elem, 0, &scale, &zp);
		scale *= 0.8 + 0.01 * (double)build_random(m->b, 0, 40);
		e.scale = qn_scale_const(t, (double)(float)scale);
		e.zp = e.bits > 8
			       ? 0
			       : build_random(m->b, e.qmin, e.qmax); /* of i16 there is no other */
		build_check(m->b, qn_elem_make(t, "operand", &e, &made) == QN_OK);
		q = add(m, QN_OP_quantize, 1, &m->real[id], NULL, qn_type_with_elem(t, type, made));
	}
	return add(m, QN_OP_dequantize, 1, &q, NULL, NULL);
}

/* How an op of the integer graph is written. */
typedef enum form {
	ON_CODES, /* as it is */
	MOVED,    /* on real values, which may be those of another move */
	COMPUTED  /* on dequantized operands */
} form;

static form
form_of(maker *m, const qn_node *n)
{
	const qn_node *first = n->nin > 0 ? qn_graph_node(m->from, n->in[0]) : NULL;

	switch (qn_opinfo_of(n)->behaviour) {
	case QN_SAME:
	case QN_JOIN:
		return n->op == QN_OP_clamp || !is_codes(n->type) || chance(m, 20) ? ON_CODES
										   : MOVED;
	case QN_MEAN:
	case QN_MIX:
	case QN_LUT:
	case QN_FIXED:
	case QN_INDEX:
		if (n->op == QN_OP_pow) /* on codes its exponent must be a constant */
			return COMPUTED;
		return is_codes(first->type) && !chance(m, 10) ? COMPUTED : ON_CODES;
	case QN_EDGE:
		return n->op == QN_OP_requantize && n->attr->clamp.lo <= n->type->elem->qmin &&
				       n->attr->clamp.hi >= n->type->elem->qmax
			       ? MOVED
			       : ON_CODES;
	case QN_ACC:
	case QN_NONE:
		break;
	}
	return n->op == QN_OP_get && m->real[n->in[0]] != 0 ? MOVED : ON_CODES;
}

/* The attributes of the real op: a pad has the real number of its code. */
static const qn_attrs *
real_attrs(maker *m, const qn_node *n)
{
	qn_attrs *a = QN_NEW(&m->b->arena, qn_attrs, 1);
	double scale;
	int64_t zp;

	if (n->op != QN_OP_pad || n->attr->pad.code == INT32_MIN)
		return n->attr;
	qn_attrs_of(n, a);
	qn_elem_param(&m->b->model.types, n->type->elem, 0, &scale, &zp);
	a->pad.value = (double)(n->attr->pad.code - zp) * scale;
	a->pad.code = INT32_MIN;
	return a;
}

static void
copy_op(maker *m, qn_id id, const qn_node *n)
{
	form f = form_of(m, n);
	qn_id *in = QN_NEW(&m->b->arena, qn_id, n->nin + 1);

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_type *t = qn_graph_node(m->from, n->in[i])->type;

		if (!is_codes(t))
			in[i] = m->codes[n->in[i]];
		else if (t->is_tuple)
			in[i] = f == MOVED ? m->real[n->in[i]] : m->codes[n->in[i]];
		else
			in[i] = f == MOVED      ? real_of(m, n->in[i])
				: f == COMPUTED ? operand(m, n->in[i])
						: codes_of(m, n->in[i]);
	}
	if (f == ON_CODES)
		m->codes[id] = add(m, n->op, n->nin, in, n->attr, n->type);
	else if (n->op ==
		 QN_OP_requantize) /* its quantize stands where codes are needed, or later */
		m->codes[id] = add(m, QN_OP_quantize, 1, in, NULL, n->type);
	else if (is_codes(n->type))
		m->real[id] = add(m, n->op, n->nin, in, real_attrs(m, n), NULL);
	else
		m->codes[id] = add(m, n->op, n->nin, in, n->attr, n->type);
}

/* Constants of narrow codes are real in half of the cases, and are quantized where they are
 * read; those with fractions of zero points, which no quantize has, stay as they are. */
static void
copy_const(maker *m, qn_id id, const qn_node *n)
{
	if (is_codes(n->type) && chance(m, 50) && n->type->elem->zp_fraction == 0)
		m->real[id] = real_const(m, n->value);
	else
		m->codes[id] = qn_graph_const(m->g, NULL, n->value);
}

void
real_graph_build(builder *b, uint64_t seed, qn_plain code)
{
	maker m = {.b = b};

	random_graph_build_flat(b, seed, code); /* values of loops cannot be outputs */
	m.from = b->g;
	m.g = qn_graph_new(&b->model, "main");
	m.codes = QN_NEW(&b->arena, qn_id, m.from->n);
	m.real = QN_NEW(&b->arena, qn_id, m.from->n);
	for (qn_id id = 1; id < m.from->n; id++) {
		const qn_node *n = qn_graph_node(m.from, id);

		if (n->op == QN_OP_input)
			m.codes[id] = qn_graph_input(m.g, n->name, n->type);
		else if (n->op == QN_OP_const)
			copy_const(&m, id, n);
		else
			copy_op(&m, id, n);
	}
	for (size_t k = 0; k < m.from->noutput; k++) {
		qn_id id = m.from->output[k].value;
		bool real = is_codes(qn_graph_node(m.from, id)->type) && chance(&m, 30);

		qn_graph_output(m.g, m.from->output[k].name,
				real ? real_of(&m, id) : codes_of(&m, id));
	}
	b->model.ngraph = 0;
	qn_model_add_graph(&b->model, m.g);
	b->model.stage = QN_STAGE_CALIBRATED;
	b->g = m.g;
	build_check(b, qn_model_verify(&b->model) == QN_OK);
}
