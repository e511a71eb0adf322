/* SPDX-License-Identifier: Apache-2.0 */
/* transform_carried.c - what loops and states carry, as the pass transform quantizes it (points_carried.c).
 *
 *   %h = loop_carry %zero, %i              %q = quantize %zero : $h    %c = loop_carry %q, %i    %h = dequantize %c
 *   %y = dense %h, %w                ->    %y = dense dequantize(quantize %h : 8 bits), %w
 *   %n = add %k, %h                        %n = add %k, %h
 *   %e = loop_end %i, %n                   %e = loop_end %i, quantize %n : $h */
#include "passes/transform_impl.h"
#include "patterns/rewrite.h"

/* Whether the class has 16 bits, by what the solver chose. */
static bool
is_wide(const qn_class *c)
{
	return c->wide && c->type == NULL && c->elem != NULL;
}

static qn_status
narrow_pair(transform *t, qn_class *c, qn_id *x)
{
	const qn_node *first = qn_graph_node(t->g, c->first);

	if (c->narrow == NULL)
		QN_TRY(qn_transform_symbol(t, first->name, c->lo, c->hi, false, &c->narrow));
	*x = qn_transform_pair(t, *x, c->narrow);
	return *x != 0 ? QN_OK : QN_EINVALID;
}

/* What moves values, or adds them up in 16 bits, reads them as they are. */
static bool
reads_narrow(const transform *t, qn_id id)
{
	switch ((int)qn_opinfo_of(qn_graph_node(t->g, id))->behaviour) {
	case QN_SAME:
	case QN_JOIN:
	case QN_NONE:
	case QN_EDGE:
		return false;
	default:
		return !is_wide(qn_point_class(&t->p, id));
	}
}

qn_status
qn_transform_narrow(transform *t, qn_id id, uint32_t i, qn_id *x)
{
	qn_class *c = qn_point_class(&t->p, qn_graph_node(t->g, id)->in[i]);

	return is_wide(c) && reads_narrow(t, id) ? narrow_pair(t, c, x) : QN_OK;
}

static bool
is_fed(const qn_graph *g, qn_id id)
{
	for (size_t i = 0; i < qn_graph_fed(g); i++)
		if (g->input[i] == id)
			return true;
	return false;
}

qn_status
qn_transform_store(transform *t, qn_id id, qn_id *x)
{
	qn_class *c = qn_point_class(&t->p, id);

	if (is_wide(c) && is_fed(t->g, id))
		QN_TRY(narrow_pair(t, c, x));
	*x = qn_transform_pair(t, *x, c->elem);
	return *x != 0 ? QN_OK : QN_EINVALID;
}

/* quantize(x) : the type of carried value `id`, which has parameters; else x itself; 0 after an error. */
static qn_id
as_carried(const transform *t, qn_id id, qn_id x)
{
	const qn_elem *e = qn_point_class(&t->p, id)->elem;
	const qn_type *type = qn_graph_node(t->g, id)->type;

	if (e == NULL || e->expressed != QN_PLAIN_f32 || type->is_tuple || !qn_type_is_f32(type))
		return x;
	return qn_graph_op(t->dst, QN_OP_quantize, NULL, 1, &x, NULL,
			   qn_type_with_elem(&t->m->types, type, e));
}

/* The carry of value k of a loop_end; 0: there is none. */
static qn_id
carry_of(const qn_graph *g, const qn_node *end, uint32_t k)
{
	for (qn_id id = end->in[0]; qn_graph_node(g, id) != end; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_loop_carry && n->in[1] == end->in[0] &&
		    n->attr->loop_carry.index + 1 == (int64_t)k)
			return id;
	}
	return 0;
}

qn_status
qn_transform_carried(transform *t, qn_id id)
{
	const qn_node *old = qn_graph_node(t->g, id);
	qn_node n = *old;
	qn_id *in = QN_NEW(t->m->scratch, qn_id, n.nin);

	for (uint32_t i = 0; i < n.nin; i++) {
		const qn_id carry = n.op == QN_OP_loop_end ? carry_of(t->g, old, i) : id;
		const bool is_value = n.op == QN_OP_loop_end ? carry != 0 : i == 0;

		in[i] = t->map[n.in[i]];
		if (is_value)
			in[i] = as_carried(t, carry, in[i]);
		if (in[i] == 0)
			return QN_EINVALID;
	}
	n.in = in;
	n.type = n.op == QN_OP_loop_carry ? qn_graph_node(t->dst, in[0])->type : n.type;
	t->map[id] = qn_graph_add(t->dst, &n);
	if (t->map[id] != 0 && n.op == QN_OP_loop_carry && in[0] != t->map[old->in[0]])
		t->map[id] =
			qn_graph_op(t->dst, QN_OP_dequantize, NULL, 1, &t->map[id], NULL, NULL);
	return t->map[id] != 0 ? QN_OK : QN_EINVALID;
}

qn_status
qn_transform_outputs(transform *t)
{
	for (size_t i = 0; i < t->g->noutput; i++) {
		const qn_output *o = &t->g->output[i];
		qn_class *c = qn_point_class(&t->p, o->value);
		qn_id y = t->map[o->value];

		if (i < qn_graph_given(t->g) && is_wide(c))
			QN_TRY(narrow_pair(t, c, &y));
		qn_graph_output(t->dst, o->name, y);
	}
	qn_graph_copy_states(t->dst, t->g);
	return QN_OK;
}
