/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_compare.c - values of a file of a quantized graph are compared with its constants exactly.
 *
 *   less(dequantize(q), c)     ->  less(q, t)         t: the first quantized value that is c or more
 *   greater(dequantize(q), c)  ->  greater(q, t - 1)  where it is more than c
 *
 *   greater(dequantize(q), 0)  ->  greater(scast(q), 0)      plain integers, where no value of q has a zero point: sums too
 *
 * Dequantized in f32, as the file means it, quantized values have an order, so that a constant has its place among
 * them.  One that is beyond all of them, or equal to none, is compared in 16 bits. */
#include "passes/requantize_gaps.h"

#include <math.h>

/* Parts of a step in 16 bits, so that a step beyond either end is one of their values: 257 * PARTS < 2^15. */
enum { PARTS = 64 };

typedef struct place {
	qn_op op;       /* of q and the constant, in this order */
	float scale;    /* of q */
	int64_t zp;     /* of q */
	int64_t lo, hi; /* of q */
	bool wide;      /* a constant is beyond these */
	int64_t *code;  /* of the constant */
} place;

/* The comparisons, with what they are when their operands change places. */
static const struct {
	qn_op op, mirrored;
} comparisons[] = {
	{QN_OP_equal, QN_OP_equal},  {QN_OP_not_equal, QN_OP_not_equal},
	{QN_OP_less, QN_OP_greater}, {QN_OP_less_equal, QN_OP_greater_equal},
	{QN_OP_greater, QN_OP_less}, {QN_OP_greater_equal, QN_OP_less_equal},
};

/* QN_NOP: another op. */
static qn_op
mirrored(qn_op op)
{
	for (size_t i = 0; i < QN_COUNT(comparisons); i++)
		if (comparisons[i].op == op)
			return comparisons[i].mirrored;
	return QN_NOP;
}

/* The constant's place: comparing with it is comparing c with the values of q. */
static int64_t
place_of(const place *p, float c)
{
	int64_t first = p->lo, end = p->hi + 1; /* of those that are c or more */

	while (first < end) {
		const int64_t middle = first + (end - first) / 2;

		if ((float)(middle - p->zp) * p->scale >= c)
			end = middle;
		else
			first = middle + 1;
	}
	if (first <= p->hi && (float)(first - p->zp) * p->scale == c)
		return first;
	if (p->op == QN_OP_equal || p->op == QN_OP_not_equal)
		return p->hi + 1; /* none of them */
	return p->op == QN_OP_less || p->op == QN_OP_greater_equal ? first : first - 1;
}

/* false: NaN has no place. */
static bool
find_places(place *p, const qn_tensor *c)
{
	for (int64_t i = 0; i < qn_type_count(c->type); i++) {
		const float v = (float)qn_tensor_f64(c, i);

		if (isnan(v))
			return false;
		p->code[i] = place_of(p, v);
		p->wide = p->wide || p->code[i] < p->lo || p->code[i] > p->hi;
	}
	return true;
}

/* The constant as quantized values of e; of 16 bits without the zero point of q. */
static qn_id
constant_of(qn_rw *rw, qn_id c, const place *p, const qn_elem *e)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, c);
	void *data;
	qn_tensor *x = qn_tensor_new(m->arena, qn_type_with_elem(&m->types, n->type, e), &data);

	for (int64_t i = 0; i < qn_type_count(n->type); i++)
		qn_store_i64(data, e->plain, i,
			     p->wide ? PARTS * (p->code[i] - p->zp) : p->code[i]);
	return qn_rw_const(rw, qn_rw_name(rw, c), x);
}

static qn_id
widened(qn_rw *rw, qn_id q, const qn_elem *e)
{
	const qn_type *to = qn_type_with_elem(&qn_rw_model(rw)->types, qn_rw_node(rw, q)->type, e);

	return qn_rw_add(rw, QN_OP_requantize, qn_rw_derived_name(rw, q, "compared"), 1, &q, NULL,
			 to);
}

/* Whether the integers have the signs of the values that they stand for. */
static bool
has_signs(const qn_types *t, const qn_type *q)
{
	const qn_elem *e = q->elem;
	double scale;
	int64_t zp = 0;

	if (e->kind != QN_ELEM_UNIFORM || !e->is_signed || e->bits < 8 || qn_type_count(q) < 1 ||
	    e->gran == QN_SUB_CHANNEL)
		return false;
	const int64_t n = e->gran == QN_PER_AXIS ? q->dim[e->axis[0]] : 1;
	for (int64_t i = 0; i < n && zp == 0; i++)
		qn_elem_param(t, e, (size_t)i, &scale, &zp);
	return zp == 0;
}

/* The comparison of plain integers with 0, in place of node id.  operand: the constant at index `at`, beside it the
 * quantized values. */
static qn_id
compare_signs(qn_rw *rw, qn_id id, const qn_id *operand, uint32_t at)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_type *q = qn_rw_node(rw, operand[1 - at])->type;
	const qn_elem *plain = qn_elem_plain(t, q->elem->plain);
	qn_id in[2];
	void *data;

	in[1 - at] = qn_rw_add(rw, QN_OP_scast, NULL, 1, &operand[1 - at], NULL,
			       qn_type_with_elem(t, q, plain));
	in[at] = qn_rw_const(rw, NULL,
			     qn_tensor_new(qn_rw_model(rw)->arena,
					   qn_type_plain(t, plain->plain, 0, NULL),
					   &data)); /* a new tensor is of zeros */
	const qn_node *n = qn_rw_node(rw, id);
	return in[0] != 0 && in[1] != 0
		       ? qn_rw_add(rw, n->op, qn_rw_name(rw, id), 2, in, n->attr, NULL)
		       : 0;
}

/* Comparisons of dequantized values of 8 bits and one scale with a constant, on either side; of all values without zero
 * points with 0. */
qn_id
qn_rqz_compare_constant(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, m->root);
	double scale;

	if (!fills(rw) || n->nin != 2 || mirrored(n->op) == QN_NOP || qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(
			rw,
			"another op, not of a file that came quantized, or it is to stay in float");
	const uint32_t at = is_float_const(rw, n->in[1]) ? 1 : 0;
	const qn_node *dq = qn_rw_node(rw, n->in[1 - at]);
	if (is_float_const(rw, n->in[at]) && dq->op == QN_OP_dequantize &&
	    is_all_zero(qn_rw_node(rw, n->in[at])->value) &&
	    qn_type_count(qn_rw_node(rw, n->in[at])->type) == 1 &&
	    has_signs(t, qn_rw_node(rw, dq->in[0])->type)) {
		const qn_id operand[2] = {at == 0 ? n->in[0] : dq->in[0],
					  at == 0 ? dq->in[0] : n->in[1]};

		return compare_signs(rw, m->root, operand, at);
	}
	const qn_elem *e = qn_rqz_operand_elem(rw, n->in[1 - at]);
	if (!is_float_const(rw, n->in[at]) ||
	    qn_rw_node(rw, n->in[1 - at])->op != QN_OP_dequantize || e == NULL ||
	    !qn_rqz_narrow(e) || e->bits > 8 || e->gran != QN_PER_TENSOR)
		return qn_rw_decline(
			rw, "it does not compare 8-bit values of one scale with a constant");
	const qn_tensor *c = qn_rw_node(rw, n->in[at])->value;
	place p = {
		.op = at == 1 ? n->op : mirrored(n->op),
		.lo = e->qmin,
		.hi = e->qmax,
		.code = QN_NEW(qn_rw_model(rw)->scratch, int64_t, (size_t)qn_type_count(c->type))};
	qn_elem_param(t, e, 0, &scale, &p.zp);
	p.scale = (float)scale;
	if (!find_places(&p, c))
		return qn_rw_decline(rw, "it compares with NaN");
	qn_id in[2];
	in[1 - at] = qn_rw_node(rw, n->in[1 - at])->in[0];
	in[at] = n->in[at];
	if (p.wide) {
		e = qn_rqz_parts_elem(t, e, PARTS);
		in[1 - at] = e != NULL ? widened(rw, in[1 - at], e) : 0;
	}
	in[at] = in[1 - at] != 0 ? constant_of(rw, in[at], &p, e) : 0;
	n = qn_rw_node(rw, m->root);
	return in[at] != 0 ? qn_rw_add(rw, n->op, qn_rw_name(rw, m->root), 2, in, n->attr, NULL)
			   : 0;
}
