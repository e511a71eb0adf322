/* SPDX-License-Identifier: Apache-2.0 */
/* legalize.c - makes a graph of integers only.
 *
 *   input f32; quantize T            ->  input T                       each input and output has its own parameters
 *   quantize(transpose(input))       ->  transpose(quantize(input))    likewise other moves, where nothing else reads the input
 *   dequantize(x) as graph output    ->  x
 *   quantized relu, relu6, clip      ->  clamp {lo, hi}, inside the requantize before it where that has no other use; dynamic_rescale likewise
 *   pad {value}                      ->  pad {code}
 *   conv2d(pad(x))                   ->  conv2d {pad} (legalize_pad.c)
 *   reduce_max(x: u8)                ->  scast(reduce_max(scast(x)))   what only compares integers has the same order at scale 1
 *   slice(add(a, b))                 ->  add(slice(a), slice(b))       (legalize_slice.c)
 *   matmul(x, const)                 ->  dense                         (legalize_product.c)
 *   quantized softmax {axis=1}       ->  transpose, softmax along the last axis, transpose
 *
 * requires: a calibrated, requantized graph.  leaves: an integer graph, each node with an integer
 * implementation; or an error for each node that has none. */
#include <math.h>
#include <string.h>

#include "ir/clamp.h"
#include "ir/diag.h"
#include "passes/legalize.h"
#include "passes/passes.h"
#include "runtime/impls.h"

enum { ROOT, RQ, X };

static bool
is_quantized(const qn_type *t)
{
	return !t->is_tuple && qn_elem_is_quant(t->elem);
}

/* Plain integers as values of scale 1; NULL: kernels have no such storage. */
static const qn_elem *
counts(qn_types *t, const char *name, const qn_elem *plain)
{
	const qn_plain_info *p = &qn_plain_table[plain->plain];
	qn_elem d = qn_elem_desc(p->bits, p->is_signed);
	const qn_elem *e = NULL;

	if (plain->kind != QN_ELEM_PLAIN ||
	    (plain->plain != QN_PLAIN_i8 && plain->plain != QN_PLAIN_u8 &&
	     plain->plain != QN_PLAIN_i16))
		return NULL;
	d.scale = qn_scale_const(t, 1.0);
	return qn_elem_make(t, name, &d, &e) == QN_OK ? e : NULL;
}

/* Ops whose result is one of the operand's elements, or says where it is, or a bound. */
static bool
compares(qn_op op)
{
	return op == QN_OP_relu || op == QN_OP_relu6 || op == QN_OP_clip || op == QN_OP_max_pool ||
	       op == QN_OP_max_pool3d || op == QN_OP_reduce_max || op == QN_OP_reduce_min ||
	       op == QN_OP_argmax || op == QN_OP_argmin || op == QN_OP_top_k_indices;
}

/* op(x) -> scast(op(scast(x))) */
static qn_id
order_plain(qn_rw *rw, const qn_match *m)
{
	qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_type *from = n->nin > 0 ? qn_rw_node(rw, n->in[0])->type : NULL;
	const char *name = qn_rw_name(rw, m->root);
	const qn_type *type = n->type;

	if (from == NULL || !compares(n->op) || from->is_tuple || type->is_tuple)
		return qn_rw_decline(rw, "it does more than comparing elements");
	const qn_elem *e = counts(t, n->name, from->elem);
	if (e == NULL)
		return qn_rw_decline(rw, "not plain integers of 8 or 16 bits");
	qn_id x = qn_rw_add(rw, QN_OP_scast, NULL, 1, n->in, NULL, qn_type_with_elem(t, from, e));
	n = qn_rw_node(rw, m->root);
	if (x == 0 || qn_opinfo_of(n)->behaviour == QN_INDEX)
		return x != 0 ? qn_rw_add(rw, n->op, name, 1, &x, n->attr, type) : 0;
	x = qn_rw_add(rw, n->op, name, 1, &x, n->attr, qn_type_with_elem(t, type, e));
	return x != 0 ? qn_rw_add(rw, QN_OP_scast, name, 1, &x, NULL, type) : 0;
}

/* relu, relu6, clip -> clamp */
static qn_id
to_clamp(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	qn_attrs attr;

	if ((n->op != QN_OP_relu && n->op != QN_OP_relu6 && n->op != QN_OP_clip) ||
	    !is_quantized(n->type))
		return qn_rw_decline(rw, "it is not a clamp of quantized values");
	qn_attrs_default(QN_ATTRS(clamp), &attr);
	qn_clamp_range(qn_rw_graph(rw), n, &attr.clamp.lo, &attr.clamp.hi);
	return qn_rw_add(rw, QN_OP_clamp, qn_rw_name(rw, m->root), 1, n->in, &attr, NULL);
}

static int64_t
within(int64_t code, const qn_attrs_clamp *limits)
{
	return qn_clamp_i64(code, limits->lo, limits->hi);
}

/* clamp(requantize(x)) -> requantize {lo, hi}, also of dynamic_rescale */
static qn_id
fuse_clamp(qn_rw *rw, const qn_match *m)
{
	const qn_node *clamp = qn_rw_node(rw, m->root);
	const qn_node *rq = qn_rw_node(rw, m->at[RQ]);
	qn_attrs attr;

	if (qn_rw_uses(rw, m->at[RQ]) != 1)
		return qn_rw_decline(rw, "the requantize is used elsewhere too");
	qn_attrs_of(rq, &attr);
	/* a clamp after a clamp: the bounds of the first, clamped by the second */
	attr.clamp.lo = within(attr.clamp.lo, &clamp->attr->clamp);
	attr.clamp.hi = within(attr.clamp.hi, &clamp->attr->clamp);
	return qn_rw_add(rw, rq->op, qn_rw_name(rw, m->root), rq->nin, rq->in, &attr, rq->type);
}

/* x with its axes in the order of p: a reshape where only axes of one element are passed. */
static qn_id
reorder(qn_rw *rw, const char *name, qn_id x, const qn_list *p, bool moves)
{
	const qn_type *t = qn_rw_node(rw, x)->type;
	qn_attrs a;

	if (moves) {
		qn_attrs_default(QN_ATTRS(perm), &a);
		a.perm.perm = *p;
		return qn_rw_add(rw, QN_OP_transpose, name, 1, &x, &a, NULL);
	}
	qn_attrs_default(QN_ATTRS(shape), &a);
	a.shape.shape.n = t->rank;
	for (int32_t k = 0; k < t->rank; k++)
		a.shape.shape.v[k] = t->dim[p->v[k]];
	return qn_rw_add(rw, QN_OP_reshape, name, 1, &x, &a, NULL);
}

/* softmax, log_softmax {axis} -> along the last axis, which their kernels walk */
static qn_id
last_axis(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const char *name = qn_rw_name(rw, m->root);
	qn_types *t = &qn_rw_model(rw)->types;
	int32_t rank = n->type->rank;
	qn_list there = {.n = rank}, back = {.n = rank};
	qn_attrs a;

	if ((n->op != QN_OP_softmax && n->op != QN_OP_log_softmax) || !is_quantized(n->type))
		return qn_rw_decline(rw, "it is not a softmax of quantized values");
	if (rank < 0)
		return qn_rw_decline(rw, "its rank is unknown");
	int32_t axis = (int32_t)(n->attr->axis.axis + (n->attr->axis.axis < 0 ? rank : 0));
	if (axis == rank - 1)
		return qn_rw_decline(rw, "it runs along the last axis");
	for (int32_t k = 0; k < rank; k++) {
		there.v[k] = k < axis ? k : k + 1;
		if (k == rank - 1)
			there.v[k] = axis;
		back.v[there.v[k]] = k;
	}
	bool moves = qn_type_count(n->type) < 0; /* a reshape says all lengths */
	for (int32_t k = axis + 1; k < rank; k++)
		moves = moves || n->type->dim[k] != 1;
	qn_id x = reorder(rw, NULL, n->in[0], &there, moves);
	if (x == 0)
		return 0;
	const qn_type *moved = qn_rw_node(rw, x)->type;
	qn_attrs_of(n, &a);
	a.axis.axis = rank - 1;
	x = qn_rw_add(rw, n->op, name, 1, &x, &a,
		      qn_type_tensor(t, n->type->elem, rank, moved->dim));
	return x != 0 ? reorder(rw, NULL, x, &back, moves) : 0;
}

static const qn_rule rules[] = {
	{"order-plain", QN_P_CLASS(QN_SAME, ROOT), order_plain},
	{"order-plain", QN_P_CLASS(QN_INDEX, ROOT), order_plain},
	{"to-clamp", QN_P_CLASS(QN_SAME, ROOT), to_clamp},
	{"fuse-clamp",
	 QN_P_OP(clamp, ROOT, QN_P_ARGS(QN_P_OP(requantize, RQ, QN_P_ARGS(QN_P_ANY(X))))),
	 fuse_clamp},
	{"fuse-clamp", QN_P_OP(clamp, ROOT, QN_P_ARGS(QN_P_OPN(dynamic_rescale, RQ))), fuse_clamp},
	{"pad-code", QN_P_OPN(pad, ROOT), qn_legalize_pad_code},
	{"pad-window", QN_P_OPN(conv1d, ROOT), qn_legalize_pad_window},
	{"pad-window", QN_P_OPN(conv2d, ROOT), qn_legalize_pad_window},
	{"pad-window", QN_P_OPN(conv3d, ROOT), qn_legalize_pad_window},
	{"pad-window", QN_P_OPN(max_pool, ROOT), qn_legalize_pad_window},
	{"slice-first", QN_P_OPN(slice, ROOT), qn_legalize_slice},
	{"matmul-to-dense", QN_P_OPN(matmul, ROOT), qn_legalize_matmul},
	{"matmul-to-dense", QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_OPN(matmul, RQ))),
	 qn_legalize_stacked_matmul},
	{"last-axis", QN_P_CLASS(QN_FIXED, ROOT), last_axis},
};

/* What the quantizes of an input want of it. */
typedef struct wanted {
	const qn_type *widest; /* NULL: there are none */
	double lo, hi, step;   /* of all: the ends of their ranges, the smallest step */
	bool differ;           /* they have several types */
} wanted;

/* The range of a type, and its smallest step; of channels those of all. */
static wanted
range_of(const qn_types *t, const qn_type *type)
{
	wanted w = {.widest = type};

	for (size_t i = 0; i < qn_elem_nparams(type->elem); i++) {
		double scale;
		int64_t zp;

		qn_elem_param(t, type->elem, i, &scale, &zp);
		w.lo = fmin(w.lo, scale * (double)(type->elem->qmin - zp));
		w.hi = fmax(w.hi, scale * (double)(type->elem->qmax - zp));
		w.step = i == 0 ? scale : fmin(w.step, scale);
	}
	return w;
}

static void
want(const qn_types *t, const qn_type *type, wanted *w)
{
	const wanted one = range_of(t, type);

	if (w->widest == NULL) {
		*w = one;
		return;
	}
	const wanted best = range_of(t, w->widest);
	*w = (wanted){.widest = one.hi - one.lo > best.hi - best.lo ? type : w->widest,
		      .lo = fmin(one.lo, w->lo),
		      .hi = fmax(one.hi, w->hi),
		      .step = fmin(one.step, w->step),
		      .differ = w->differ || type != w->widest};
}

/* The type of the widest range, where it has what all want; else 16 bits over all ranges.  NULL after a report. */
static const qn_type *
wanted_type(qn_model *m, const char *name, const wanted *w)
{
	const qn_elem *e = w->widest->elem;
	const wanted one = range_of(&m->types, w->widest);
	const double slack = one.step / 2, most = fmax(fabs(w->lo), fabs(w->hi));
	qn_elem d = qn_elem_desc(16, true);

	if (!w->differ || (e->gran == QN_PER_TENSOR && one.lo <= w->lo + slack &&
			   one.hi >= w->hi - slack && one.step <= w->step))
		return w->widest;
	d.scale = qn_scale_const(&m->types, (double)(float)(most / INT16_MAX));
	return qn_elem_make(&m->types, name, &d, &e) == QN_OK
		       ? qn_type_with_elem(&m->types, w->widest, e)
		       : NULL;
}

/* The quantized type of each input, NULL where no quantize reads it. */
static qn_status
input_types(qn_model *m, const qn_graph *g, const qn_type ***out)
{
	wanted *of = QN_NEW(m->scratch, wanted, g->n);

	*out = QN_NEW(m->scratch, const qn_type *, g->n);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_quantize && qn_graph_node(g, n->in[0])->op == QN_OP_input)
			want(&m->types, n->type, &of[n->in[0]]);
	}
	for (qn_id id = 1; id < g->n; id++) {
		if (of[id].widest == NULL)
			continue;
		(*out)[id] = wanted_type(m, qn_graph_node(g, id)->name, &of[id]);
		if ((*out)[id] == NULL)
			return QN_EINVALID;
	}
	return QN_OK;
}

/* Node n of the source for the new graph, in which inputs are quantized.  0 after an error. */
static qn_id
convert(qn_graph *dst, const qn_graph *g, const qn_node *n, const qn_id *map,
	const qn_type *input_type)
{
	qn_node like = *n;
	qn_id *in = QN_NEW(g->model->scratch, qn_id, n->nin);

	for (uint32_t i = 0; i < n->nin; i++)
		in[i] = map[n->in[i]];
	like.in = in;
	if (n->op == QN_OP_input && input_type != NULL)
		like.type = input_type;
	if (n->op == QN_OP_quantize && qn_graph_node(g, n->in[0])->op == QN_OP_input &&
	    is_quantized(qn_graph_node(dst, in[0])->type)) {
		if (qn_graph_node(dst, in[0])->type == n->type)
			return in[0];
		like.op = QN_OP_requantize; /* a second consumer with other parameters */
		like.attr = NULL;
	}
	return qn_graph_add(dst, &like);
}

/* The value of output i for the new graph: quantized values where there are some; of a state's next
 * value those of the type that its input has now. */
static qn_id
integer_output(qn_graph *dst, const qn_graph *g, size_t i, const qn_id *map)
{
	const qn_node *n = qn_graph_node(g, g->output[i].value);
	const bool is_next = i >= qn_graph_given(g);
	const qn_type *want =
		is_next ? qn_graph_node(dst, map[g->input[qn_graph_fed(g) + i - qn_graph_given(g)]])
				  ->type
			: NULL;
	const qn_id real = map[g->output[i].value];
	const qn_id y = n->op == QN_OP_dequantize ? map[n->in[0]] : real;

	if (!is_next || qn_graph_node(dst, y)->type == want)
		return y;
	if (!is_quantized(want))
		return real; /* both ends are float: what reads the state has no integers */
	return qn_graph_op(
		dst, is_quantized(qn_graph_node(dst, y)->type) ? QN_OP_requantize : QN_OP_quantize,
		NULL, 1, &y, NULL, want);
}

/* Quantized inputs and outputs.  An input that a float node reads stays float. */
static qn_status
integer_edges(qn_model *m, const qn_graph *g, qn_graph **out)
{
	qn_graph *dst = qn_graph_new_in(m, g->name, m->scratch); /* swept at the end */
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	const qn_type **type;

	QN_TRY(input_types(m, g, &type));
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin && n->op != QN_OP_quantize; i++)
			type[n->in[i]] = NULL;
	}
	for (size_t i = 0; i < g->noutput; i++)
		type[g->output[i].value] = NULL;
	for (qn_id id = 1; id < g->n; id++) {
		map[id] = convert(dst, g, qn_graph_node(g, id), map, type[id]);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	for (size_t i = 0; i < g->noutput; i++) {
		const qn_id y = integer_output(dst, g, i, map);

		if (y == 0)
			return QN_EINVALID;
		qn_graph_output(dst, g->output[i].name, y);
	}
	qn_graph_copy_states(dst, g);
	return qn_graph_sweep(m, dst, NULL, out);
}

qn_status
qn_integer_graph(qn_model *m, qn_graph *g, qn_graph **out)
{
	QN_TRY(qn_requantize_inputs(m, g, &g));
	return integer_edges(m, g, out);
}

qn_status
qn_require_integer(qn_model *m, qn_graph *g, bool exact)
{
	QN_TRY(qn_integer_graph(m, g, &g));
	return qn_report_float(m, g, exact);
}

qn_status
qn_legalize(qn_model *m)
{
	qn_graph *g = qn_model_entry(m);
	qn_map products;

	if (m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "legalize takes a calibrated graph; this one is %s",
				 qn_stage_names[m->stage]);
	QN_TRY(qn_integer_graph(m, g, &g));
	qn_map_init(&products, m->scratch);
	QN_TRY(qn_rewrite(m, g, rules, QN_COUNT(rules), &products, &g));
	QN_TRY(qn_report_float(m, g, strstr(m->options, "approx=off") != NULL));
	QN_TRY(qn_legalize_check(m, g));
	qn_model_set_graph(m, g);
	m->stage = QN_STAGE_INTEGER;
	return QN_OK;
}
