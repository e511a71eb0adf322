/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_table.c - constants with several scales other than weights of a product: tables of
 * embeddings, operands.
 *
 *   quantize(gather(dequantize(w {0:1, 1:32}), i))    ->  gather(w, i) of the quantize's type      w stays as it is stored
 *   quantize(dequantize(w {0:1, 1:32}))               ->  const
 *
 * The first is for a table with fewer bits than its result, or one that is the weights of a product too, as the tied
 * embedding of a language model.  Another one that has as many bits is stored like the result, which takes no more and
 * is exact. */
#include "passes/requantize.h"

enum { BYTE_BITS = 8 };

static uint8_t
packed_bits(uint8_t bits)
{
	return bits <= 2 ? 2 : bits <= 4 ? 4 : BYTE_BITS;
}

/* e in signed storage of 2, 4 or 8 bits: values and zero points `by` less.  NULL: a zero point does not fit. */
static const qn_elem *
signed_elem(qn_types *t, const qn_elem *e, int64_t by)
{
	const qn_params *p = e->scale->kind == QN_SCALE_VEC ? e->scale->vec : NULL;
	const qn_elem *made = NULL;
	qn_elem d = *e;

	if (p == NULL)
		return NULL;
	int64_t *zp = QN_NEW(t->arena, int64_t, p->n);
	for (size_t i = 0; i < p->n; i++) {
		zp[i] = (p->zp != NULL ? p->zp[i] : 0) - by * (INT64_C(1) << e->zp_fraction);
		if (e->zp_fraction == 0 && !t->lax_zp &&
		    (zp[i] < e->qmin - by || zp[i] > e->qmax - by))
			return NULL;
	}
	if (qn_params_intern(t, "table", NULL, p->n, p->rank, p->shape, p->scale, zp, &p) != QN_OK)
		return NULL;
	d.bits = packed_bits(e->bits);
	d.is_signed = true;
	d.qmin = e->qmin - by;
	d.qmax = e->qmax - by;
	d.scale = qn_scale_vec(t, p);
	return qn_elem_make(t, "table", &d, &made) == QN_OK ? made : NULL;
}

const qn_tensor *
qn_rqz_signed_storage(qn_model *m, const qn_tensor *w)
{
	const qn_elem *e = w->type->elem;
	const int64_t by = e->is_signed ? 0 : INT64_C(1) << (packed_bits(e->bits) - 1);
	void *data;

	if (e->is_signed && e->bits == packed_bits(e->bits))
		return w;
	const qn_elem *made = signed_elem(&m->types, e, by);
	if (made == NULL)
		return NULL;
	qn_tensor *to = qn_tensor_new(m->arena, qn_type_with_elem(&m->types, w->type, made), &data);
	for (int64_t i = 0; i < qn_type_count(w->type); i++)
		qn_store_i64(data, made->plain, i, qn_tensor_i64(w, i) - by);
	return to;
}

/* The constant as one of element e. */
static qn_id
as_stored(qn_rw *rw, qn_id w, const qn_elem *e)
{
	qn_model *m = qn_rw_model(rw);
	const qn_tensor *value = qn_rw_node(rw, w)->value;
	const qn_type *real = qn_type_with_elem(
		&m->types, value->type, qn_elem_plain(&m->types, value->type->elem->expressed));
	const qn_id x = qn_rw_const(rw, qn_rw_name(rw, w),
				    qn_tensor_dequantize(&m->types, m->arena, value, real));

	return x != 0 ? qn_rqz_quantize(rw, x, e, qn_rw_name(rw, w)) : 0;
}

qn_id
qn_rqz_stored_constant(qn_rw *rw, qn_id w, const qn_elem *e)
{
	const qn_node *n = qn_rw_node(rw, w);

	return n->op == QN_OP_const && n->type->elem->gran == QN_SUB_CHANNEL ? as_stored(rw, w, e)
									     : 0;
}

/* Whether n gathers from a dequantized constant with scales that its result cannot have. */
bool
qn_rqz_is_table(const qn_rw *rw, const qn_node *n)
{
	const qn_node *d = n->op == QN_OP_gather ? qn_rw_node(rw, n->in[0]) : NULL;
	const qn_node *w = d != NULL && d->op == QN_OP_dequantize ? qn_rw_node(rw, d->in[0]) : NULL;

	return w != NULL && w->op == QN_OP_const &&
	       qn_gather_own_scales(w->type, n->attr->gather.axis);
}

void
qn_rqz_find_weights(qn_rqz *s, const qn_graph *g)
{
	qn_map_init(&s->weights, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (qn_opinfo_of(n)->behaviour != QN_ACC || n->nin < 2)
			continue;
		const qn_node *w = qn_graph_node(g, n->in[1]);
		if (w->op == QN_OP_dequantize)
			w = qn_graph_node(g, w->in[0]);
		if (w->op == QN_OP_const && w->name != NULL)
			qn_map_puts(&s->weights, w->name, (void *)(uintptr_t)w->name);
	}
}

/* Whether the constant stays as it is stored anyway, since a product has it as its weights. */
static bool
is_weights(qn_rw *rw, qn_id w)
{
	const qn_rqz *s = qn_rw_user(rw);
	const char *name = qn_rw_name(rw, w);

	return name != NULL && qn_map_gets(&s->weights, name) != NULL;
}

qn_id
qn_rqz_gather(qn_rw *rw, const qn_match *m)
{
	const qn_type *to = qn_rw_node(rw, m->root)->type;
	const qn_node *op = qn_rw_node(rw, m->at[OP]);
	const qn_attrs *attr = op->attr;
	qn_id in[2] = {0, op->in[1]};

	if (!qn_rqz_is_table(rw, op) || !qn_rqz_narrow(to->elem))
		return qn_rw_decline(rw, "it does not gather values of one scale from a constant "
					 "that has several");
	const qn_id w = qn_rw_node(rw, op->in[0])->in[0];
	const qn_tensor *value = qn_rw_node(rw, w)->value, *table = NULL;
	if (value->type->elem->bits < to->elem->bits ||
	    (value->type->elem->bits == to->elem->bits && is_weights(rw, w)))
		table = qn_rqz_signed_storage(qn_rw_model(rw), value);
	if (table == NULL)
		in[0] = as_stored(rw, w, to->elem);
	else
		in[0] = table == value ? w : qn_rw_const(rw, qn_rw_name(rw, w), table);
	return in[0] != 0 ? qn_rw_add(rw, QN_OP_gather, qn_rw_name(rw, m->at[OP]), 2, in, attr, to)
			  : 0;
}
