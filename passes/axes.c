/* SPDX-License-Identifier: Apache-2.0 */
/* axes.c - removes the transposes of a graph that was made for another order of axes.
 *
 *   conv2d -> T' -> relu -> T -> conv2d          conv2d -> relu -> conv2d
 *   T': to N,C,H,W   T: to N,H,W,C
 *
 *   transpose(transpose(x))          ->  transpose(x), or x
 *   op(transpose(x))                 ->  transpose(op'(x))              axes of the attributes mapped (axes_sink.c)
 *   op(transpose(x), transpose(y))   ->  transpose(op(x, y))            the same permutation
 *   op(transpose(x), const)          ->  transpose(op(x, const'))
 *   relu(reshape(transpose(x)))      ->  reshape(transpose(relu(x)))
 *   dense(reshape(transpose(x)), w)  ->  dense(reshape(x), w')          the columns of w permuted (axes_product.c)
 *   transpose(x) that moves dims of 1 alone  ->  reshape(x)
 *   reshape(reshape(x))              ->  reshape(x), or x
 *
 * The rest is at the graph's inputs and outputs and before ops that need another order.
 *
 * requires: a float or calibrated graph.   leaves: the same values, of float sums in dense and matmul up to the order of their terms.  A graph
 * without a transpose stays as it is. */
#include "passes/axes.h"

#include "ir/foreign_names.h"
#include "runtime/interp.h"

enum {
	ROOT,
	X,
	MAX_CASTS = 8
}; /* of a weight that integers limit: dequantize, scast (4), clamp, quantize */

qn_list
qn_ax_inverse(const qn_list *p)
{
	qn_list q = {.n = p->n};

	for (int32_t k = 0; k < p->n; k++)
		q.v[p->v[k]] = k;
	return q;
}

bool
qn_ax_is_free(const qn_type *from, const qn_list *p)
{
	int64_t last = -1;

	if (from->rank != p->n)
		return false;
	for (int32_t k = 0; k < p->n; k++) {
		if (from->dim[p->v[k]] == 1)
			continue;
		if (p->v[k] < last)
			return false;
		last = p->v[k];
	}
	return true;
}

static bool
is_cast(const qn_node *n)
{
	return qn_opinfo_of(n)->behaviour == QN_EDGE || n->op == QN_OP_clamp;
}

bool
qn_ax_is_const(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	for (int i = 0; i < MAX_CASTS && is_cast(n); i++)
		n = qn_rw_node(rw, n->in[0]);
	return n->op == QN_OP_const;
}

static bool
is_identity(const qn_list *p)
{
	for (int32_t k = 0; k < p->n; k++)
		if (p->v[k] != k)
			return false;
	return true;
}

qn_id
qn_ax_transpose(qn_rw *rw, const char *name, qn_id x, const qn_list *p)
{
	qn_attrs a = {0};

	a.perm.perm = *p;
	return is_identity(p) ? x : qn_rw_add(rw, QN_OP_transpose, name, 1, &x, &a, NULL);
}

qn_id
qn_ax_as(qn_rw *rw, const char *name, qn_id x, int32_t rank, const int64_t *dim)
{
	qn_attrs a = {0};
	const qn_type *t = x != 0 ? qn_rw_node(rw, x)->type : NULL;
	bool same = x != 0 && t->rank == rank;

	a.shape.shape.n = rank;
	for (int32_t k = 0; k < rank; k++) {
		a.shape.shape.v[k] = dim[k];
		same = same && t->dim[k] == dim[k];
	}
	return same || x == 0 ? x : qn_rw_add(rw, QN_OP_reshape, name, 1, &x, &a, NULL);
}

/* ---- rules of transposes themselves ---- */

static qn_id
merge_transposes(qn_rw *rw, const qn_match *m)
{
	const qn_list *outer = &qn_rw_node(rw, m->root)->attr->perm.perm;
	const qn_node *x = qn_rw_node(rw, m->at[X]);
	qn_list p = *outer;

	if (is_identity(outer))
		return m->at[X];
	if (x->op != QN_OP_transpose)
		return qn_rw_decline(rw, "no transpose before it");
	for (int32_t k = 0; k < p.n; k++)
		p.v[k] = x->attr->perm.perm.v[outer->v[k]];
	return qn_ax_transpose(rw, qn_rw_name(rw, m->root), x->in[0], &p);
}

/* transpose(const), reshape(const), reverse(const) -> const */
static qn_id
fold_move(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_arena *a = qn_rw_model(rw)->scratch;
	qn_tensor *value;
	qn_status status =
		qn_eval_node(qn_rw_graph(rw), n, &qn_rw_node(rw, m->at[X])->value, a, &value);

	if (status != QN_OK) {
		qn_rw_fail(rw, status);
		return 0;
	}
	const qn_id moved =
		qn_rw_const(rw, qn_rw_name(rw, m->at[X]),
			    qn_tensor_of(qn_rw_model(rw)->arena, value->type, value->data));
	if (moved != 0)
		qn_model_copy_foreign_names(qn_rw_model(rw), qn_rw_node(rw, moved),
					    qn_rw_node(rw, m->at[X]));
	return moved;
}

/* Whether a reverse n turns the axis of these scales around. */
static bool
turns_scales(const qn_node *n, const qn_elem *e)
{
	const int64_t rank = n->type->rank;
	bool turns = false;

	if (n->op != QN_OP_reverse || !qn_elem_is_quant(e) || e->gran != QN_PER_AXIS)
		return false;
	for (int32_t k = 0; k < n->attr->axes.axes.n; k++)
		turns = turns || (n->attr->axes.axes.v[k] + rank) % rank == e->axis[0];
	return turns;
}

/* move(cast(const)) -> cast(move(const)): a constant that a cast follows is moved itself */
static qn_id
lift_from_cast(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root), *cast = qn_rw_node(rw, m->at[X]);
	const qn_elem *from = qn_rw_node(rw, cast->in[0])->type->elem, *e = n->type->elem;

	if (!qn_ax_is_const(rw, m->at[X]))
		return qn_rw_decline(rw, "it is not a constant");
	if (cast->op == QN_OP_const_fake_quant && cast->attr->const_fake_quant.axis >= 0)
		return qn_rw_decline(rw, "its ranges are along an axis");
	if (cast->op == QN_OP_dynamic_fake_quant && cast->attr->dynamic.rows != 0)
		return qn_rw_decline(rw, "its scales are those of rows");
	if ((qn_elem_is_quant(from) && from->gran == QN_SUB_CHANNEL) ||
	    (qn_elem_is_quant(e) && e->gran == QN_SUB_CHANNEL))
		return qn_rw_decline(rw, "it is quantized in blocks");
	if (n->op == QN_OP_reshape && qn_elem_is_quant(from) && from->gran == QN_PER_AXIS &&
	    qn_type_same_axis(qn_rw_node(rw, cast->in[0])->type, from->axis[0], n->type) < 0)
		return qn_rw_decline(rw, "it merges or splits the axis of the scales");
	if (turns_scales(n, from) || turns_scales(n, e))
		return qn_rw_decline(rw, "it turns the axis of the scales around");
	qn_id y = qn_rw_add(rw, n->op, qn_rw_name(rw, cast->in[0]), 1, cast->in, n->attr, NULL);
	return qn_rw_add(rw, cast->op, qn_rw_name(rw, m->at[X]), 1, &y, cast->attr, n->type);
}

/* ---- op(transpose(x)) ---- */

/* Which function takes an op's transposed operand; ops without a row keep it.  Ops of behaviour LUT
 * with one operand are element by element too. */
static const struct {
	qn_op op;
	qn_ax_fn *fn;
} takers[] = {
	{QN_OP_relu, qn_ax_unary},
	{QN_OP_relu6, qn_ax_unary},
	{QN_OP_clip, qn_ax_unary},
	{QN_OP_clamp, qn_ax_unary},
	{QN_OP_sigmoid, qn_ax_unary},
	{QN_OP_tanh, qn_ax_unary},
	{QN_OP_quantize, qn_ax_unary},
	{QN_OP_dequantize, qn_ax_unary},
	{QN_OP_requantize, qn_ax_unary},
	{QN_OP_scast, qn_ax_unary},
	{QN_OP_dynamic_fake_quant, qn_ax_whole},
	{QN_OP_cast, qn_ax_unary},
	{QN_OP_trace, qn_ax_unary}, /* it shows the axes of the graph that runs */
	{QN_OP_add, qn_ax_broadcast},
	{QN_OP_sub, qn_ax_broadcast},
	{QN_OP_mul, qn_ax_broadcast},
	{QN_OP_div, qn_ax_broadcast},
	{QN_OP_minimum, qn_ax_broadcast},
	{QN_OP_maximum, qn_ax_broadcast},
	{QN_OP_pow, qn_ax_broadcast},
	{QN_OP_equal, qn_ax_broadcast},
	{QN_OP_not_equal, qn_ax_broadcast},
	{QN_OP_less, qn_ax_broadcast},
	{QN_OP_less_equal, qn_ax_broadcast},
	{QN_OP_greater, qn_ax_broadcast},
	{QN_OP_greater_equal, qn_ax_broadcast},
	{QN_OP_where, qn_ax_broadcast},
	{QN_OP_concat, qn_ax_concat},
	{QN_OP_bias_add, qn_ax_last},
	{QN_OP_prelu, qn_ax_last},
	{QN_OP_batch_norm, qn_ax_last},
	{QN_OP_layer_norm, qn_ax_layer_norm},
	{QN_OP_softmax, qn_ax_softmax},
	{QN_OP_log_softmax, qn_ax_softmax},
	{QN_OP_pad, qn_ax_lists},
	{QN_OP_slice, qn_ax_lists},
	{QN_OP_tile, qn_ax_lists},
	{QN_OP_expand, qn_ax_expand},
	{QN_OP_reduce_mean, qn_ax_reduce},
	{QN_OP_reduce_sum, qn_ax_reduce},
	{QN_OP_reduce_prod, qn_ax_reduce},
	{QN_OP_reduce_max, qn_ax_reduce},
	{QN_OP_reduce_min, qn_ax_reduce},
	{QN_OP_argmax, qn_ax_argmax},
	{QN_OP_squeeze, qn_ax_squeeze},
	{QN_OP_expand_dims, qn_ax_expand_dims},
	{QN_OP_gather, qn_ax_gather},
	{QN_OP_get, qn_ax_part},
	{QN_OP_reshape, qn_ax_reshape},
	{QN_OP_flatten, qn_ax_reshape},
	{QN_OP_dense, qn_ax_dense},
	{QN_OP_matmul, qn_ax_matmul},
};

static qn_ax_fn *
taker_of(const qn_node *n)
{
	for (size_t i = 0; i < QN_COUNT(takers); i++)
		if (takers[i].op == n->op)
			return takers[i].fn;
	return qn_opinfo_of(n)->behaviour == QN_LUT && n->nin == 1 ? qn_ax_unary : NULL;
}

/* The transpose that makes operand i: directly, or through one reshape or split.  0:
 * none. */
static qn_id
transpose_at(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_node *from = qn_graph_node(g, n->in[i]);

	if (from->op == QN_OP_transpose)
		return n->in[i];
	if (from->op == QN_OP_reshape || from->op == QN_OP_flatten || from->op == QN_OP_split)
		return qn_graph_node(g, from->in[0])->op == QN_OP_transpose ? from->in[0] : 0;
	return 0;
}

static bool
reads_transpose(void *user, const qn_graph *g, qn_id value)
{
	const qn_node *n = qn_graph_node(g, value);

	(void)user;
	for (uint32_t i = 0; i < n->nin; i++)
		if (transpose_at(g, n, i) != 0)
			return true;
	return false;
}

static qn_id
sink(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_ax s = {.rw = rw, .root = m->root, .n = n};
	qn_ax_fn *fn = taker_of(n);

	if (fn == NULL)
		return qn_rw_decline(rw, "the op needs its axes in this order");
	for (s.operand = 0; s.operand < n->nin; s.operand++) {
		qn_id t = transpose_at(qn_rw_graph(rw), n, s.operand);

		if (t == 0)
			continue;
		s.t = n->in[s.operand];
		s.x = qn_rw_node(rw, t)->in[0];
		s.p = &qn_rw_node(rw, t)->attr->perm.perm;
		qn_id y = fn(&s);
		if (y != 0)
			return y;
	}
	return 0;
}

/* ---- what remains ---- */

static qn_id
free_transpose(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_type *from = qn_rw_node(rw, m->at[X])->type;

	if (qn_type_count(n->type) < 0 || !qn_ax_is_free(from, &n->attr->perm.perm))
		return qn_rw_decline(rw, "it moves more than dimensions of 1");
	if (qn_elem_is_quant(from->elem) && from->elem->gran != QN_PER_TENSOR)
		return qn_rw_decline(rw, "its scales are along an axis");
	return qn_ax_as(rw, qn_rw_name(rw, m->root), m->at[X], n->type->rank, n->type->dim);
}

static qn_id
merge_reshapes(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root), *x = qn_rw_node(rw, m->at[X]);
	qn_id from = x->op == QN_OP_reshape ? x->in[0] : m->at[X];

	if (qn_type_count(n->type) < 0)
		return qn_rw_decline(rw, "its shape is not known");
	if (qn_elem_is_quant(n->type->elem) && n->type->elem->gran != QN_PER_TENSOR)
		return qn_rw_decline(rw, "its scales are along an axis");
	if (from == m->at[X] && n->type != x->type)
		return qn_rw_decline(rw, "no reshape before it");
	return qn_ax_as(rw, qn_rw_name(rw, m->root), from, n->type->rank, n->type->dim);
}

#define OF_CONST(op_) QN_P_OP(op_, ROOT, QN_P_ARGS(QN_P_CONST(X)))
#define OF_CAST(op_) QN_P_OP(op_, ROOT, QN_P_ARGS(QN_P_CLASS(QN_EDGE, X)))
#define OF_CLAMP(op_) QN_P_OP(op_, ROOT, QN_P_ARGS(QN_P_OPN(clamp, X)))
#define OF_ANY(op_) QN_P_OP(op_, ROOT, QN_P_ARGS(QN_P_ANY(X)))

static const qn_rule sinking[] = {
	{"fold-transpose", OF_CONST(transpose), fold_move},
	{"fold-reshape", OF_CONST(reshape), fold_move},
	{"fold-reverse", OF_CONST(reverse), fold_move},
	{"lift-transpose", OF_CAST(transpose), lift_from_cast},
	{"lift-reshape", OF_CAST(reshape), lift_from_cast},
	{"lift-reverse", OF_CAST(reverse), lift_from_cast},
	{"lift-transpose", OF_CLAMP(transpose), lift_from_cast},
	{"lift-reshape", OF_CLAMP(reshape), lift_from_cast},
	{"merge-transposes", OF_ANY(transpose), merge_transposes},
	{"sink-transpose",
	 QN_P_TEST(ROOT, QN_P_ANY(QN_NO_SLOT), .kind = QN_TEST_WHERE, .where = reads_transpose),
	 sink},
};

static const qn_rule settling[] = {
	{"transpose-to-reshape", OF_ANY(transpose), free_transpose},
	{"merge-reshapes", OF_ANY(reshape), merge_reshapes},
};

static bool
has_transpose(const qn_graph *g)
{
	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_transpose)
			return true;
	return false;
}

qn_status
qn_axes(qn_model *m)
{
	for (size_t i = 0; i < m->ngraph; i++) {
		if (!has_transpose(m->graph[i]))
			continue;
		QN_TRY(qn_rewrite(m, m->graph[i], sinking, QN_COUNT(sinking), NULL, &m->graph[i]));
		QN_TRY(qn_rewrite(m, m->graph[i], settling, QN_COUNT(settling), NULL,
				  &m->graph[i]));
	}
	return QN_OK;
}
