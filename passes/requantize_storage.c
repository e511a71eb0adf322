/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_storage.c - quantized values in another storage, which hold the same floats.
 *
 *   u8, scale 0.1, zero point 130    ->  i8, scale 0.1, zero point 2
 *   i8, scale 0.1, zero point 2      ->  i16, scale 0.1 / 128, zero point 0
 *
 * An op with integer arithmetic has one storage for its operands and its result: where a file mixes
 * them, operands are brought to that of the result, or to i16 where one of them has 16 bits.  Both are exact:
 * |value - zero point| of 8 bits is at most 255, and a table of i16 has an entry for each 128th value. */
#include "passes/requantize.h"

enum { WIDE_STEPS = 128 }; /* of i16 in one of 8 bits */

const qn_elem *
qn_rqz_parts_elem(qn_types *t, const qn_elem *e, int parts)
{
	qn_elem d = qn_elem_desc(16, true);
	const qn_elem *made = NULL;
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	d.expressed = e->expressed;
	d.scale = qn_scale_const(t, scale / parts);
	return qn_elem_make(t, "result", &d, &made) == QN_OK ? made : NULL;
}

const qn_elem *
qn_rqz_wide_elem(qn_types *t, const qn_elem *e)
{
	return qn_rqz_parts_elem(t, e, WIDE_STEPS);
}

/* e in other storage; NULL: it would lose values. */
static const qn_elem *
elem_in(qn_types *t, const qn_elem *e, int bits, bool is_signed)
{
	const int64_t half = 128;
	qn_elem d = qn_elem_desc((uint8_t)bits, is_signed);
	const qn_elem *made = NULL;
	double scale;
	int64_t zp, by = 0;

	if (!qn_rqz_narrow(e) || e->bits > 8 || (bits == 8 && e->bits < 8))
		return NULL;
	if (bits > 8)
		return qn_rqz_wide_elem(t, e);
	qn_elem_param(t, e, 0, &scale, &zp);
	if (is_signed != e->is_signed)
		by = is_signed ? -half : half;
	d.expressed = e->expressed;
	d.scale = e->scale;
	d.zp = zp + by;
	d.qmin = e->qmin + by;
	d.qmax = e->qmax + by;
	return qn_elem_make(t, "operand", &d, &made) == QN_OK ? made : NULL;
}

static qn_id
moved_const(qn_rw *rw, qn_id x, const qn_type *to)
{
	qn_model *m = qn_rw_model(rw);
	const qn_node *n = qn_rw_node(rw, x);
	const int64_t times = to->elem->bits > 8 ? WIDE_STEPS : 1;
	double scale;
	int64_t from, zp;
	void *data;
	qn_tensor *value = qn_tensor_new(m->arena, to, &data);

	qn_elem_param(&m->types, n->type->elem, 0, &scale, &from);
	qn_elem_param(&m->types, to->elem, 0, &scale, &zp);
	for (int64_t i = 0; i < qn_type_count(to); i++)
		qn_store_i64(data, to->elem->plain, i,
			     times * (qn_tensor_i64(n->value, i) - from) + zp);
	return qn_rw_const(rw, qn_rw_name(rw, x), value);
}

qn_id
qn_rqz_stored_as(qn_rw *rw, qn_id x, int bits, bool is_signed)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, x);
	const qn_elem *e = n->type->elem;

	if (e->bits == bits && e->is_signed == is_signed)
		return x;
	const qn_elem *to = elem_in(t, e, bits, is_signed);
	if (to == NULL)
		return 0;
	const qn_type *type = qn_type_with_elem(t, n->type, to);
	if (n->op == QN_OP_const)
		return moved_const(rw, x, type);
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, x), 1, &x, NULL, type);
}

/* ---- the same integers under another type ---- */

const qn_elem *
qn_rqz_plain_elem(qn_types *t, const qn_elem *e)
{
	if (e->bits == 8)
		return qn_elem_plain(t, e->is_signed ? QN_PLAIN_i8 : QN_PLAIN_u8);
	return e->bits == 16 && e->is_signed ? qn_elem_plain(t, QN_PLAIN_i16) : NULL;
}

static qn_id
cast_to(qn_rw *rw, qn_id x, const qn_elem *e)
{
	qn_types *t = &qn_rw_model(rw)->types;

	return x == 0 || e == NULL ? 0
				   : qn_rw_add(rw, QN_OP_scast, NULL, 1, &x, NULL,
					       qn_type_with_elem(t, qn_rw_node(rw, x)->type, e));
}

qn_id
qn_rqz_relabel(qn_rw *rw, qn_id x, const qn_elem *e)
{
	const qn_elem *plain = qn_rqz_plain_elem(&qn_rw_model(rw)->types, e);

	return cast_to(rw, cast_to(rw, x, plain), e);
}
