/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_labels.c - integers that an exporter takes through floats and back, as labels of scikit-learn's models.
 *
 *   k = gather(const [3, 7, 9], argmax(p))
 *   cast(reshape(cast(k) : f32)) : i64       ->   cast(reshape(k)) : i64
 *
 * Where f32 has all values of k, the result is the same, and no float value is in between. */
#include "import/onnx.h"

enum { MOST = 1 << 24 }; /* the largest integer up to which f32 has all */
enum { MOST_MOVES = 8 }; /* between two casts: exporters write one */

static bool
is_integers(const qn_type *t)
{
	return !t->is_tuple && t->elem->kind == QN_ELEM_PLAIN && t->elem->plain != QN_PLAIN_bool &&
	       !qn_plain_table[t->elem->plain].is_float;
}

static bool
moves(const qn_node *n)
{
	return n->op == QN_OP_reshape || n->op == QN_OP_flatten || n->op == QN_OP_transpose ||
	       n->op == QN_OP_squeeze || n->op == QN_OP_expand_dims;
}

static bool
all_small(const qn_tensor *v)
{
	bool small = v != NULL;

	for (int64_t i = 0; small && i < qn_type_count(v->type); i++)
		small = qn_tensor_f64(v, i) >= -MOST && qn_tensor_f64(v, i) <= MOST;
	return small;
}

/* Whether f32 has all integers that x can be. */
static bool
is_small(const qn_onnx *o, qn_id x)
{
	const qn_node *n = qn_graph_node(o->im.g, x);

	for (int k = 0; k < MOST_MOVES && (moves(n) || n->op == QN_OP_cast) &&
			is_integers(n->type) && qn_plain_table[n->type->elem->plain].bits > 16;
	     k++)
		n = qn_graph_node(o->im.g, n->in[0]);
	if (!is_integers(n->type))
		return false;
	return qn_plain_table[n->type->elem->plain].bits <= 16 || n->op == QN_OP_argmax ||
	       n->op == QN_OP_argmin ||
	       (n->op == QN_OP_gather && all_small(qn_importer_known(&o->im, n->in[0])));
}

/* The integers that a node makes floats of, in a file of a quantized graph as values of scale 1; 0: it does not. */
static qn_id
counted(const qn_onnx *o, const qn_node *n)
{
	double scale;
	int64_t zp;

	if (n->op == QN_OP_cast && qn_type_is_f32(n->type))
		return n->in[0];
	if (n->op != QN_OP_dequantize || qn_graph_node(o->im.g, n->in[0])->op != QN_OP_scast)
		return 0;
	n = qn_graph_node(o->im.g, n->in[0]);
	if (n->type->elem->kind != QN_ELEM_UNIFORM)
		return 0;
	qn_elem_param(&o->im.m->types, n->type->elem, 0, &scale, &zp);
	return scale == 1 && zp == 0 ? n->in[0] : 0;
}

qn_id
qn_onnx_before_floats(qn_onnx *o, qn_id x, qn_plain to)
{
	qn_node move[MOST_MOVES];
	int n = 0;

	if (x == 0 || (to != QN_PLAIN_i32 && to != QN_PLAIN_i64))
		return 0;
	for (; n < MOST_MOVES && moves(qn_graph_node(o->im.g, x)); n++) {
		move[n] = *qn_graph_node(o->im.g, x);
		x = move[n].in[0];
	}
	x = counted(o, qn_graph_node(o->im.g, x));
	if (x == 0 || !is_small(o, x))
		return 0;
	while (n-- > 0)
		x = qn_importer_op(&o->im, move[n].op, 1, &x, move[n].attr, NULL);
	return x;
}
