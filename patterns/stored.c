/* SPDX-License-Identifier: Apache-2.0 */
/* stored.c - integers of a file that has their scale and zero point keep these parameters.
 *
 *   mul(sub(cast(x), 128), 0.02)    ->    %i = scast %x : …<u8:f32, 0.02:128>
 *                                         %d = dequantize %i
 *
 * That is what a DequantizeLinear on an input of a float network says, and Cast, Div by 255.  What reads %d, if through
 * moves, quantizes it to the same parameters, so that a requantize at most changes the storage, exactly; a symbol would
 * round the bytes to other steps. */
#include <math.h>

#include "patterns/stored.h"

enum { MOST_MOVES = 64 };

/* The one number of a constant; NAN: it has several. */
static double
number(const qn_graph *g, qn_id id)
{
	const qn_node *n = qn_graph_node(g, id);

	return n->op == QN_OP_const && qn_type_count(n->type) == 1 ? qn_tensor_f64(n->value, 0)
								   : (double)NAN;
}

/* The element that the match says; false: none does. */
static bool
describe(const qn_graph *g, const qn_match *m, bool divides, qn_elem *e, double *scale)
{
	const qn_elem *x = qn_graph_node(g, m->at[QN_STORED_X])->type->elem;
	const double s = number(g, m->at[QN_STORED_SCALE]);
	const double z = m->at[QN_STORED_ZERO] != 0 ? number(g, m->at[QN_STORED_ZERO]) : 0;

	*e = qn_elem_desc(8, x->plain == QN_PLAIN_i8);
	*scale = (double)(float)(divides ? 1 / s : s);
	if (x->kind != QN_ELEM_PLAIN || (x->plain != QN_PLAIN_i8 && x->plain != QN_PLAIN_u8))
		return false;
	e->zp = z >= (double)e->qmin && z <= (double)e->qmax ? (int64_t)z : 0;
	return (double)e->zp == z && *scale >= 0x1p-100 && *scale <= 0x1p100;
}

int
qn_accept_stored(void *user, const qn_graph *g, const qn_match *m, const char **reason)
{
	const qn_node *root = qn_graph_node(g, m->root), *x = qn_graph_node(g, m->at[QN_STORED_X]);
	qn_elem e;
	double scale;

	(void)user;
	if (!x->type->is_tuple && qn_type_is_f32(root->type) && x->op != QN_OP_const &&
	    describe(g, m, root->op == QN_OP_div, &e, &scale) &&
	    root->type == qn_type_with_elem(&g->model->types, x->type, root->type->elem))
		return 1;
	*reason = "the bytes do not have one scale and an integer zero point";
	return 0;
}

qn_id
qn_quantize_stored(void *user, qn_quantizing *b, const qn_match *m)
{
	const qn_node *root = qn_qb_root(b);
	qn_graph *g = qn_qb_graph(b);
	qn_types *t = &g->model->types;
	const qn_elem *e;
	qn_elem d;
	double scale;
	qn_id x = m->at[QN_STORED_X];

	(void)user;
	if (!describe(g, m, root->op == QN_OP_div, &d, &scale))
		return 0;
	d.scale = qn_scale_const(t, scale);
	if (qn_elem_make(t, root->name, &d, &e) != QN_OK)
		return 0;
	x = qn_graph_op(g, QN_OP_scast, NULL, 1, &x, NULL,
			qn_type_with_elem(t, qn_graph_node(g, x)->type, e));
	return qn_qb_dequantize(b, x, root->name);
}

/* Whether each of its values is one of its operand's. */
static bool
moves(const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_SAME && n->op != QN_OP_clip &&
	       n->op != QN_OP_relu6 && n->op != QN_OP_pad;
}

const qn_elem *
qn_stored_elem(qn_model *m, const qn_graph *g, qn_id x, const qn_quant_opts *opts)
{
	const qn_node *n = qn_graph_node(g, x);
	const qn_elem *e = NULL;

	for (int i = 0; i < MOST_MOVES && moves(n); i++)
		n = qn_graph_node(g, n->in[0]);
	if (n->op != QN_OP_dequantize || qn_graph_node(g, n->in[0])->op != QN_OP_scast ||
	    qn_activation_symmetric(opts))
		return NULL;
	const qn_elem *from = qn_graph_node(g, n->in[0])->type->elem;
	qn_elem d = qn_activation_desc(opts);
	if (from->kind != QN_ELEM_UNIFORM || from->bits != 8 || from->gran != QN_PER_TENSOR)
		return NULL;
	d.scale = from->scale;
	d.zp = from->zp + (int64_t)d.qmin - (int64_t)from->qmin;
	return qn_elem_make(&m->types, n->name, &d, &e) == QN_OK ? e : NULL;
}
