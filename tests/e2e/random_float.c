/* SPDX-License-Identifier: Apache-2.0 */
/* random_float.c - a random integer graph, written with floats: what a network is before it is quantized.
 *
 *   requantize -> its clamp, or nothing     quantized constants -> floats     scast of indices -> a product
 *
 * Functions that are not defined everywhere, or leave floats soon, are others: samples must have finite values. */
#include "tests/e2e/random_graph.h"

typedef struct maker {
	builder *b;
	const qn_graph *from;
	qn_graph *g;
	qn_id *to; /* value of `from` -> its value */
} maker;

static bool
is_codes(const qn_type *t)
{
	return !t->is_tuple && qn_elem_is_quant(t->elem);
}

static const qn_type *
float_type(maker *m, const qn_type *t)
{
	qn_types *types = &m->b->model.types;

	return qn_type_with_elem(types, t, qn_elem_plain(types, QN_PLAIN_f32));
}

static qn_id
add(maker *m, qn_op op, uint32_t nin, const qn_id *in, const qn_attrs *attr, const qn_type *type)
{
	const qn_id id = qn_graph_op(m->g, op, NULL, nin, in, attr, type);

	build_check(m->b, id != 0);
	return id;
}

static double
value_of(maker *m, const qn_type *t, int64_t q)
{
	double scale;
	int64_t zp;

	qn_elem_param(&m->b->model.types, t->elem, 0, &scale, &zp);
	return (double)(float)((double)(q - zp) * scale);
}

static qn_id
constant(maker *m, const qn_node *n)
{
	const qn_tensor *x = n->value;

	if (is_codes(n->type))
		x = qn_tensor_dequantize(&m->b->model.types, &m->b->arena, x,
					 float_type(m, n->type));
	const qn_id id = qn_graph_const(m->g, NULL, x);
	build_check(m->b, id != 0);
	return id;
}

/* x limited to the floats of lo and hi, if these are not the ends of the storage. */
static qn_id
limited(maker *m, qn_id x, const qn_type *t, int64_t lo, int64_t hi)
{
	qn_attrs a = build_attrs(QN_OP_clip);

	if (lo <= t->elem->qmin && hi >= t->elem->qmax)
		return x;
	a.clip.min = lo <= t->elem->qmin ? -3e38 : value_of(m, t, lo);
	a.clip.max = hi >= t->elem->qmax ? 3e38 : value_of(m, t, hi);
	return add(m, QN_OP_clip, 1, &x, &a, NULL);
}

/* Integers that become floats have no range: the largest value in the place of its index. */
static qn_id
largest(maker *m, const qn_node *n, qn_id x)
{
	qn_attrs a = build_attrs(QN_OP_reduce_max);

	a.reduce.axes.n = 1;
	a.reduce.axes.v[0] = n->attr->argmax.axis;
	a.reduce.keepdims = n->attr->argmax.keepdims;
	return add(m, QN_OP_reduce_max, 1, &x, &a, NULL);
}

/* Integers that become quantized values: floats, times their scale. */
static qn_id
scaled(maker *m, const qn_node *n)
{
	const qn_node *x = qn_graph_node(m->from, n->in[0]);
	qn_id in[2] = {m->to[n->in[0]], 0};
	const float scale = (float)(value_of(m, n->type, 1) - value_of(m, n->type, 0));
	void *data;

	if (qn_elem_is_float(qn_graph_node(m->g, in[0])->type->elem))
		return in[0];
	if (x->op == QN_OP_argmax || x->op == QN_OP_argmin)
		return largest(m, x, m->to[x->in[0]]);
	in[0] = add(m, QN_OP_cast, 1, in, NULL, float_type(m, x->type));
	const qn_tensor *k = qn_tensor_new(
		&m->b->arena,
		qn_type_tensor(&m->b->model.types, float_type(m, x->type)->elem, 0, NULL), &data);
	memcpy(data, &scale, sizeof(scale));
	in[1] = qn_graph_const(m->g, NULL, k);
	return add(m, QN_OP_mul, 2, in, NULL, NULL);
}

/* Another function in the place of one that is not finite everywhere. */
static qn_op
tame(qn_op op)
{
	switch ((int)op) {
	case QN_OP_div:
		return QN_OP_sub;
	case QN_OP_log:
	case QN_OP_sqrt:
	case QN_OP_rsqrt:
	case QN_OP_reciprocal:
	case QN_OP_tan:
		return QN_OP_silu;
	case QN_OP_asin:
	case QN_OP_acos:
	case QN_OP_acosh:
	case QN_OP_atanh:
		return QN_OP_atan;
	case QN_OP_exp:
	case QN_OP_sinh:
	case QN_OP_cosh:
		return QN_OP_tanh;
	default:
		return op;
	}
}

static qn_id
computed(maker *m, const qn_node *n)
{
	qn_id *in = QN_NEW(&m->b->arena, qn_id, n->nin + 1);
	const bool plain = !n->type->is_tuple && !is_codes(n->type);
	const qn_op op = tame(n->op);
	qn_attrs a = build_attrs(op);

	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = m->to[n->in[i]];
	if (op == n->op)
		qn_attrs_of(n, &a);
	if (qn_opinfo_get(op)->attrs == QN_ATTRS(sum))
		a.sum.align = 0;
	if (op == QN_OP_pad && a.pad.code != INT32_MIN) {
		a.pad.value = value_of(m, n->type, a.pad.code);
		a.pad.code = INT32_MIN;
	}
	return add(m, op, n->nin, in, &a, plain ? n->type : NULL);
}

static qn_id
copied(maker *m, qn_id id)
{
	const qn_node *n = qn_graph_node(m->from, id);
	const qn_id x = n->nin > 0 ? m->to[n->in[0]] : 0;

	if (n->op == QN_OP_input)
		return qn_graph_input(m->g, n->name, float_type(m, n->type));
	if (n->op == QN_OP_const)
		return constant(m, n);
	if (n->op == QN_OP_requantize || n->op == QN_OP_clamp)
		return limited(m, x, n->type, n->attr->clamp.lo, n->attr->clamp.hi);
	if (n->op == QN_OP_pow) /* of any base: an exponent need not be an integer */
		return add(m, QN_OP_square, 1, &x, NULL, NULL);
	if (n->op != QN_OP_scast)
		return computed(m, n);
	return is_codes(n->type) ? scaled(m, n) : x;
}

bool *
random_graph_needed(builder *b)
{
	const qn_graph *g = b->g;
	bool *need = QN_NEW(&b->arena, bool, g->n);

	for (size_t k = 0; k < g->noutput; k++)
		need[g->output[k].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; need[id] && i < n->nin; i++)
			need[n->in[i]] = true;
	}
	return need;
}

/* An input that no output needs would stay in float. */
static void
read_inputs(maker *m)
{
	const bool *need = random_graph_needed(m->b);

	for (size_t k = 0; k < m->g->ninput; k++)
		if (!need[m->g->input[k]])
			qn_graph_output(m->g, NULL,
					add(m, QN_OP_silu, 1, &m->g->input[k], NULL, NULL));
}

void
random_float_build(builder *b, uint64_t seed)
{
	maker m = {.b = b};

	random_graph_build_of(b, seed, QN_PLAIN_i8);
	m.from = b->g;
	m.g = qn_graph_new(&b->model, "main");
	m.to = QN_NEW(&b->arena, qn_id, m.from->n);
	for (qn_id id = 1; id < m.from->n; id++) {
		m.to[id] = copied(&m, id);
		build_check(b, m.to[id] != 0);
	}
	for (size_t k = 0; k < m.from->noutput; k++)
		qn_graph_output(m.g, m.from->output[k].name, m.to[m.from->output[k].value]);
	b->g = m.g;
	read_inputs(&m);
	b->model.ngraph = 0;
	b->model.rounding = 0;
	qn_model_add_graph(&b->model, m.g);
	b->model.stage = QN_STAGE_FLOAT;
	build_check(b, qn_model_verify(&b->model) == QN_OK);
}
