/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_order.c - what only compares values with a scale for each channel does so on their integers.
 *
 *   quantize {axis 3}(relu(v))           ->  scast(maximum(scast(quantize {axis 3}(v)), const))    const: the integer of 0 in each channel
 *   quantize {axis 3}(minimum(v, w))     ->  scast(minimum(scast(quantize {axis 3}(v)), scast(quantize {axis 3}(w))))
 *   quantize {axis 3}(max_pool(v))       ->  scast(max_pool(scast(quantize {axis 3}(v))))          the channels are the last axis
 *   less(dequantize(x), dequantize(y))   ->  less(scast(x), scast(y))                              of equal parameters
 *
 * A quantize is monotone in each channel, so it commutes with choosing the larger one; equal parameters give the
 * integers of a channel the order of its values. */
#include <math.h>

#include "passes/requantize.h"
#include "runtime/impls.h"

/* The root's type, and the same stored as plain integers. */
typedef struct order {
	qn_rw *rw;
	const qn_type *type;
	const qn_elem *plain;
	const char *name;
} order;

static qn_id
plain_of(const order *o, qn_id x)
{
	qn_types *t = &qn_rw_model(o->rw)->types;

	return x == 0 ? 0
		      : qn_rw_add(o->rw, QN_OP_scast, NULL, 1, &x, NULL,
				  qn_type_with_elem(t, qn_rw_node(o->rw, x)->type, o->plain));
}

static qn_id
quantized(const order *o, qn_id v)
{
	return plain_of(o, qn_rqz_quantize(o->rw, v, o->type->elem, o->name));
}

/* The numbers of c, or b, as quantized values of each channel, stored as plain integers; 0: they have none. */
static qn_id
constant(const order *o, const qn_tensor *c, double b)
{
	qn_model *m = qn_rw_model(o->rw);
	qn_types *t = &m->types;
	const qn_elem *real = qn_elem_plain(t, QN_PLAIN_f32);
	const int32_t rank = o->type->rank, axis = o->type->elem->axis[0];
	const int32_t before = c != NULL ? rank - c->type->rank : rank;
	int64_t dim[QN_MAX_RANK], step[QN_MAX_RANK] = {0}, each = 1;
	void *data;

	for (int32_t k = rank - 1; k >= 0; k--) {
		const int64_t n = c != NULL && k >= before ? c->type->dim[k - before] : 1;

		step[k] = n > 1 ? each : 0;
		each *= n;
		dim[k] = k == axis ? o->type->dim[k] : n;
	}
	qn_tensor *y = qn_tensor_new(m->arena, qn_type_tensor(t, real, rank, dim), &data);
	for (int64_t i = 0; i < qn_type_count(y->type); i++) {
		int64_t left = i, at = 0;

		for (int32_t k = rank - 1; k >= 0; left /= dim[k--])
			at += left % dim[k] * step[k];
		qn_store_f64(data, QN_PLAIN_f32, i, c != NULL ? qn_tensor_f64(c, at) : b);
	}
	qn_id q = qn_rw_const(o->rw, NULL, y);
	q = q != 0 ? qn_rqz_quantize(o->rw, q, o->type->elem, NULL) : 0;
	if (q == 0 || qn_rw_node(o->rw, q)->op != QN_OP_const)
		return 0;
	const qn_tensor *v = qn_rw_node(o->rw, q)->value;
	return qn_rw_const(
		o->rw, NULL,
		qn_tensor_view(m->arena, qn_type_with_elem(t, v->type, o->plain), v->data));
}

static qn_id
choose(const order *o, qn_op op, qn_id x, qn_id y)
{
	const qn_id in[2] = {x, y};

	return x != 0 && y != 0 ? qn_rw_add(o->rw, op, NULL, 2, in, NULL, NULL) : 0;
}

/* Whether v has the root's shape, so that it can have its type. */
static bool
has_shape(const order *o, qn_id v)
{
	const qn_type *t = qn_rw_node(o->rw, v)->type;

	return !t->is_tuple && qn_elem_is_float(t->elem) &&
	       qn_type_with_elem(&qn_rw_model(o->rw)->types, t, o->type->elem) == o->type;
}

/* minimum, maximum */
static qn_id
of_two(const order *o, const qn_node *n)
{
	const qn_op op = n->op;
	const qn_id in[2] = {n->in[0], n->in[1]};
	qn_id y[2];

	for (int i = 0; i < 2; i++) {
		const qn_node *x = qn_rw_node(o->rw, in[i]);

		if (!has_shape(o, in[i]) && (x->op != QN_OP_const || !qn_type_is_f32(x->type)))
			return qn_rw_decline(o->rw, "an operand is repeated and not a constant");
	}
	for (int i = 0; i < 2; i++) {
		const qn_node *x = qn_rw_node(o->rw, in[i]);

		y[i] = x->op == QN_OP_const ? constant(o, x->value, 0) : quantized(o, in[i]);
	}
	return choose(o, op, y[0], y[1]);
}

/* Whether op with the constant changes no value of the storage range. */
static bool
changes_nothing(const order *o, qn_op op, qn_id c)
{
	const qn_tensor *v = qn_rw_node(o->rw, c)->value;
	const qn_elem *e = o->type->elem;

	for (int64_t i = 0; i < qn_type_count(v->type); i++) {
		const int64_t b = qn_tensor_i64(v, i);

		if (op == QN_OP_maximum ? b > e->qmin : b < e->qmax)
			return false;
	}
	return true;
}

static qn_id
bounded(const order *o, qn_op op, qn_id x, double b)
{
	const qn_id c = x != 0 ? constant(o, NULL, b) : 0;

	return c != 0 && changes_nothing(o, op, c) ? x : choose(o, op, x, c);
}

/* relu, relu6, clip */
static qn_id
of_bounds(const order *o, const qn_node *n)
{
	const double lo = n->op == QN_OP_clip ? n->attr->clip.min : 0;
	const double hi = n->op == QN_OP_clip    ? n->attr->clip.max
			  : n->op == QN_OP_relu6 ? 6
						 : HUGE_VAL;
	qn_id y = quantized(o, n->in[0]);

	if (lo > -0x1p100)
		y = bounded(o, QN_OP_maximum, y, lo);
	return hi < 0x1p100 ? bounded(o, QN_OP_minimum, y, hi) : y;
}

qn_id
qn_rqz_order(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->at[OP]);
	qn_types *t = &qn_rw_model(rw)->types;
	order o = {rw, qn_rw_node(rw, m->root)->type, NULL, qn_rw_name(rw, m->root)};
	const qn_elem *e = o.type->elem;
	qn_id y = 0;

	if (e->kind != QN_ELEM_UNIFORM || e->gran != QN_PER_AXIS || e->naxis != 1 ||
	    qn_type_count(o.type) < 0 || (o.plain = qn_rqz_plain_elem(t, e)) == NULL ||
	    qn_rqz_skipped(rw, m->at[OP]) || !qn_rqz_is_near(rw, m->at[OP]))
		return qn_rw_decline(
			rw, "one scale, it is to stay in float, or comes after many moves");
	if (n->op == QN_OP_minimum || n->op == QN_OP_maximum) {
		y = of_two(&o, n);
	} else if (n->op == QN_OP_relu || n->op == QN_OP_relu6 || n->op == QN_OP_clip) {
		y = of_bounds(&o, n);
	} else if (n->op == QN_OP_max_pool && qn_channel_from_end(o.type) == 1) {
		const qn_attrs *attr = n->attr;

		y = quantized(&o, n->in[0]);
		y = y != 0 ? qn_rw_add(rw, QN_OP_max_pool, NULL, 1, &y, attr, NULL) : 0;
	} else {
		return qn_rw_decline(rw, "it does more than comparing values of a channel");
	}
	return y != 0 ? qn_rw_add(rw, QN_OP_scast, qn_rw_name(rw, m->at[OP]), 1, &y, NULL, o.type)
		      : 0;
}

/* The comparisons. */
qn_id
qn_rqz_order_compare(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	order o = {.rw = rw};
	qn_id in[2] = {0};

	if (n->nin != 2 || n->type->is_tuple || n->type->elem->kind != QN_ELEM_PLAIN ||
	    qn_elem_is_float(n->type->elem) || qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is not a comparison");
	for (int i = 0; i < 2; i++) {
		const qn_node *d = qn_rw_node(rw, n->in[i]);

		if (d->op != QN_OP_dequantize)
			return qn_rw_decline(rw, "an operand is not a dequantize");
		in[i] = d->in[0];
	}
	o.type = qn_rw_node(rw, in[0])->type;
	if (o.type != qn_rw_node(rw, in[1])->type || o.type->elem->gran != QN_PER_AXIS ||
	    o.type->elem->kind != QN_ELEM_UNIFORM)
		return qn_rw_decline(rw, "one scale, or operands of different types");
	o.plain = qn_rqz_plain_elem(&qn_rw_model(rw)->types, o.type->elem);
	if (o.plain == NULL)
		return qn_rw_decline(rw, "not integers of 8 or 16 bits");
	in[0] = plain_of(&o, in[0]);
	in[1] = plain_of(&o, in[1]);
	n = qn_rw_node(rw, m->root);
	return in[0] != 0 && in[1] != 0
		       ? qn_rw_add(rw, n->op, qn_rw_name(rw, m->root), 2, in, n->attr, NULL)
		       : 0;
}
