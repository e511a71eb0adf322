/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_cast.c - integers that become floats have scale 1.
 *
 *   cast(x : u8) : f32                  ->  dequantize(scast(x) : <u8:f32, 1>)
 *   cast(x : bool) : f32                ->  the same of cast(x) : i8 in a file of a quantized graph
 *   cast(x : i64) : f32                 ->  the same of cast(min(max(x, -2^31), 2^31 - 1)) : i32
 *   cast(dequantize(x : <…, 1>)) : u8   ->  scast(x), where all values of x are such integers */
#include "passes/requantize_gaps.h"

/* What holds the integers of a type; QN_NPLAIN: nothing that is quantized does. */
static qn_plain
held_as(qn_plain plain)
{
	static const struct {
		qn_plain from, to;
	} rows[] = {
		{QN_PLAIN_bool, QN_PLAIN_i8}, {QN_PLAIN_u8, QN_PLAIN_u8},
		{QN_PLAIN_i8, QN_PLAIN_i8},   {QN_PLAIN_i16, QN_PLAIN_i16},
		{QN_PLAIN_u16, QN_PLAIN_i32}, {QN_PLAIN_i32, QN_PLAIN_i32},
		{QN_PLAIN_u32, QN_PLAIN_i32}, {QN_PLAIN_i64, QN_PLAIN_i32},
	};

	for (size_t i = 0; i < QN_COUNT(rows); i++)
		if (rows[i].from == plain)
			return rows[i].to;
	return QN_NPLAIN;
}

/* Quantized values with scale 1 and zero point 0, stored as held_as says; of bool from 0 to 1. */
static const qn_elem *
units(qn_model *m, const qn_elem *e, const char *place)
{
	const bool truth = e->plain == QN_PLAIN_bool;
	const qn_plain_info *info = &qn_plain_table[held_as(e->plain)];
	qn_elem d = qn_elem_desc(info->bits, info->is_signed);
	const qn_elem *out = NULL;

	if (truth) {
		d.qmin = 0;
		d.qmax = 1;
	}

	d.scale = qn_scale_const(&m->types, 1.0);
	if (qn_elem_make(&m->types, place, &d, &out) != QN_OK)
		return NULL;
	return qn_elem_normalize(&m->types, out);
}

static bool
becomes_units(const qn_rw *rw, const qn_elem *e)
{
	return e->kind == QN_ELEM_PLAIN && held_as(e->plain) != QN_NPLAIN &&
	       (e->plain != QN_PLAIN_bool || fills(rw));
}

/* min(x, limit) or max(x, limit) on integers. */
static qn_id
limited(qn_rw *rw, qn_op op, qn_id x, const void *limit)
{
	qn_model *m = qn_rw_model(rw);
	const qn_type *type = qn_rw_node(rw, x)->type;
	const qn_type *scalar = qn_type_plain(&m->types, type->elem->plain, 0, NULL);
	const qn_id in[2] = {x, qn_rw_const(rw, NULL, qn_tensor_of(m->arena, scalar, limit))};

	return qn_rw_add(rw, op, NULL, 2, in, NULL, NULL);
}

/* Integers x as those that hold them; what is beyond i32 saturates, as quantized values do. */
static qn_id
held(qn_rw *rw, qn_id x, qn_plain plain)
{
	static const int64_t least = INT32_MIN, most = INT32_MAX;
	static const uint32_t most_unsigned = INT32_MAX;
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_type *from = qn_rw_node(rw, x)->type;

	if (plain == QN_PLAIN_i64) {
		x = limited(rw, QN_OP_maximum, x, &least);
		x = x != 0 ? limited(rw, QN_OP_minimum, x, &most) : 0;
	} else if (plain == QN_PLAIN_u32) {
		x = limited(rw, QN_OP_minimum, x, &most_unsigned);
	}
	if (x == 0 || held_as(plain) == plain)
		return x;
	return qn_rw_add(rw, QN_OP_cast, NULL, 1, &x, NULL,
			 qn_type_with_elem(t, from, qn_elem_plain(t, held_as(plain))));
}

qn_id
qn_rqz_cast(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_type *from = qn_rw_node(rw, n->in[0])->type;
	const char *name = qn_rw_name(rw, m->root);
	const qn_elem *e = from->elem;

	if (qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is to stay in float");
	if (!qn_type_is_f32(n->type) || !becomes_units(rw, e))
		return qn_rw_decline(rw, "it does not convert integers to float values");
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_elem *unit = units(qn_rw_model(rw), e, name);
	if (unit == NULL)
		return qn_rw_decline(rw, "no type represents them");
	qn_id x = held(rw, n->in[0], e->plain);
	x = x != 0 ? qn_rw_add(rw, QN_OP_scast, NULL, 1, &x, NULL, qn_type_with_elem(t, from, unit))
		   : 0;
	return x != 0 ? qn_rw_add(rw, QN_OP_dequantize, name, 1, &x, NULL, NULL) : 0;
}

/* cast(dequantize(x)) : u8 -> scast(requantize(x)) */
qn_id
qn_rqz_cast_back(qn_rw *rw, const qn_match *m)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_type *type = n->type;
	const qn_elem *x = qn_rqz_operand_elem(rw, n->in[0]), *to;
	double scale;
	int64_t zp;

	if (qn_rqz_skipped(rw, m->root))
		return qn_rw_decline(rw, "it is to stay in float");
	if (type->elem->kind != QN_ELEM_PLAIN || x == NULL || !qn_rqz_narrow(x) ||
	    (type->elem->plain != QN_PLAIN_u8 && type->elem->plain != QN_PLAIN_i8 &&
	     type->elem->plain != QN_PLAIN_i16))
		return qn_rw_decline(rw, "it does not convert dequantized values to u8, i8 or i16");
	to = units(qn_rw_model(rw), type->elem, qn_rw_name(rw, m->root));
	if (to == NULL)
		return qn_rw_decline(rw, "no type represents them");
	qn_elem_param(t, x, 0, &scale, &zp);
	if (scale != 1 || x->qmin - zp < to->qmin || x->qmax - zp > to->qmax)
		return qn_rw_decline(rw, "they are not all integers of its type");
	qn_id y = qn_rqz_quantize(rw, n->in[0], to, NULL);
	return y != 0 ? qn_rw_add(rw, QN_OP_scast, qn_rw_name(rw, m->root), 1, &y, NULL, type) : 0;
}
