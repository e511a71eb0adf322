/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_cast.c - integers that become floats have scale 1.
 *
 *   cast(x : u8) : f32                  ->  dequantize(scast(x) : <u8:f32, 1>)
 *   cast(dequantize(x : <…, 1>)) : u8   ->  scast(x), where all values of x are such integers */
#include "passes/requantize.h"

/* Quantized values with scale 1 and zero point 0, stored as e is. */
static const qn_elem *
units(qn_model *m, const qn_elem *e, const char *place)
{
	const qn_plain_info *info = &qn_plain_table[e->plain];
	qn_elem d = qn_elem_desc(info->bits, info->is_signed);
	const qn_elem *out = NULL;

	d.scale = qn_scale_const(&m->types, 1.0);
	if (qn_elem_make(&m->types, place, &d, &out) != QN_OK)
		return NULL;
	return qn_elem_normalize(&m->types, out);
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
	if (!qn_type_is_f32(n->type) || e->kind != QN_ELEM_PLAIN ||
	    (e->plain != QN_PLAIN_u8 && e->plain != QN_PLAIN_i8 && e->plain != QN_PLAIN_i16))
		return qn_rw_decline(rw, "it does not convert u8, i8 or i16 to float values");
	e = units(qn_rw_model(rw), e, name);
	if (e == NULL)
		return qn_rw_decline(rw, "no type represents them");
	const qn_type *to = qn_type_with_elem(&qn_rw_model(rw)->types, from, e);
	qn_id x = qn_rw_add(rw, QN_OP_scast, NULL, 1, &n->in[0], NULL, to);

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
