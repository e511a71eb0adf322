/* SPDX-License-Identifier: Apache-2.0 */
/* requantize.c - melts dequantize/quantize pairs, so that values stay integer from end to end.
 *
 *   quantize(dequantize(x))            ->  requantize(x)
 *   quantize(move(dequantize(x)))      ->  move(requantize(x))             a chain of any length, moved up one node at a time
 *   quantize(max_pool(dequantize(x)))  ->  requantize(max_pool(x))         8-bit x: the op that shrinks the data comes first; slice likewise
 *   quantize(get(split(dequantize(x))))  ->  get(split(requantize(x)))
 *   argmax(dequantize(x))              ->  argmax(x)                        places of elements are integers anyway
 *   quantize(concat(…dequantize(x)…))  ->  concat(…requantize(x)…)
 *   quantize(add(dequantize(a), dequantize(b)))  ->  add(a, b)             ops with integer arithmetic of their own; softmax, global_avg_pool …
 *   quantize(avg_pool(dequantize(x)))  ->  requantize(avg_pool(x))         averages of codes: equal parameters in and out
 *   less(dequantize(a), dequantize(b))  ->  less(a, b)                 the comparisons, whose result is plain
 *   quantize(const)                    ->  const of codes
 *   relu(x)                            ->  x                               codes whose smallest one stands for 0; relu6, clip likewise
 *   requantize(requantize(x)), requantize(quantize(x))  ->  one of them    where the values in between cannot saturate;
 *                                                                          not where x is a graph input, which has its own parameters
 *
 * requires: a calibrated graph.   leaves: a calibrated graph; what is still float has a reason that legalize reports.
 * A dequantize that is never followed by a quantize, and a lone quantize/dequantize pair (fake
 * quantization of a real value), stay. */
#include "ir/diag.h"
#include "passes/passes.h"
#include "patterns/rewrite.h"
#include "runtime/forms.h"

enum { ROOT, OP, DQ, X };

/* Beyond it quantization saturates (qn_quantize_value). */
#define MOST_BIAS (INT64_C(1) << 40)

/* Storage types that moving ops and integer arithmetic work on; accumulators are requantized
 * first. */
static bool
is_narrow(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->bits <= 16 && e->gran == QN_PER_TENSOR;
}

static qn_id
quantize_to(qn_rw *rw, qn_id x, const qn_elem *e, const char *name)
{
	const qn_type *type =
		qn_type_with_elem(&qn_rw_model(rw)->types, qn_rw_node(rw, x)->type, e);

	return qn_rw_add(rw, QN_OP_quantize, name, 1, &x, NULL, type);
}

/* Operands of moves behind the first, the indices of gather, are not quantized. */
static bool
is_index(const qn_node *n, uint32_t i)
{
	return qn_opinfo_of(n)->behaviour == QN_SAME && i > 0;
}

/* What is known of each value under construction: whether a quantize of it, moved up, ends in codes:
 * at a dequantize, a constant, or an op with integer arithmetic on dequantized operands. */
typedef struct knowledge {
	bool *ends; /* by id, for ids below n */
	size_t n, cap;
} knowledge;

static bool
node_ends_in_codes(const qn_rw *rw, const knowledge *k, const qn_node *n)
{
	qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;
	bool moves = behaviour == QN_SAME || behaviour == QN_JOIN;
	bool computes = behaviour == QN_MIX || behaviour == QN_LUT || behaviour == QN_MEAN ||
			behaviour == QN_FIXED;

	if (n->op == QN_OP_dequantize || n->op == QN_OP_const)
		return true;
	if (n->op == QN_OP_get && qn_rw_node(rw, n->in[0])->op == QN_OP_split)
		return k->ends[n->in[0]];
	if (!moves && !computes)
		return false;
	for (uint32_t i = 0; i < n->nin && !is_index(n, i); i++) {
		const qn_node *in = qn_rw_node(rw, n->in[i]);

		if (!in->type->is_tuple && !qn_elem_is_float(in->type->elem))
			continue; /* the condition of a where */
		if (moves ? !k->ends[n->in[i]]
			  : in->op != QN_OP_dequantize ||
				    !is_narrow(qn_rw_node(rw, in->in[0])->type->elem))
			return false;
	}
	return n->nin > 0;
}

/* Ids are in topological order, so one walk over the new ones is enough. */
static bool
ends_in_codes(const qn_rw *rw, qn_id id)
{
	knowledge *k = qn_rw_user(rw);
	size_t have = k->n;

	if (id >= k->n) {
		k->ends = qn_arena_grow(qn_rw_model(rw)->arena, k->ends, &k->cap, id + 1,
					sizeof *k->ends);
		k->n = id + 1;
	}
	for (; have < k->n; have++)
		k->ends[have] = have > 0 && node_ends_in_codes(rw, k, qn_rw_node(rw, (qn_id)have));
	return k->ends[id];
}

/* quantize(const) -> const */
static qn_id
fold_constant(qn_rw *rw, const qn_match *m)
{
	const qn_node *q = qn_rw_node(rw, m->root);
	const qn_node *c = qn_rw_node(rw, m->at[X]);
	const char *name = qn_rw_name(rw, m->at[X]) != NULL ? qn_rw_name(rw, m->at[X]) : "const";
	qn_model *model = qn_rw_model(rw);
	qn_tensor *codes = qn_tensor_quantize(&model->types, model->arena, c->value, q->type);

	for (int64_t i = 0; q->type->elem->bits >= 32 && i < qn_type_count(q->type); i++) {
		int64_t code = qn_tensor_i64(codes, i);
		bool wide = q->type->elem->bits > 32;

		if (code > (wide ? -MOST_BIAS : q->type->elem->qmin) &&
		    code < (wide ? MOST_BIAS : q->type->elem->qmax))
			continue;
		qn_rw_fail(rw, qn_report(model->env, QN_EINVALID, "requantize.bias-range", name,
					 "bias '%s', element %lld = %g does not fit %d bits in "
					 "units of the accumulator's scale; "
					 "the weights of that channel are tiny: raise them or "
					 "remove the channel",
					 name, (long long)i, qn_tensor_f64(c->value, i),
					 wide ? 40 : 32));
		return 0;
	}
	return qn_rw_const(rw, name, codes);
}

/* quantize(dequantize(x)) -> requantize(x) */
static qn_id
join(qn_rw *rw, const qn_match *m)
{
	const qn_type *to = qn_rw_node(rw, m->root)->type;
	const char *name = qn_rw_name(rw, m->at[DQ]);

	if (qn_rw_node(rw, m->at[X])->type == to)
		return m->at[X];
	return qn_rw_add(rw, QN_OP_requantize, name != NULL ? name : qn_rw_name(rw, m->root), 1,
			 &m->at[X], NULL, to);
}

/* dequantize(op(x)) for op(dequantize(x)), quantized again. */
static qn_id
sink_dequantize(qn_rw *rw, const qn_match *m)
{
	const qn_node *q = qn_rw_node(rw, m->root);
	const qn_node *op = qn_rw_node(rw, m->at[OP]);

	if (!is_narrow(qn_rw_node(rw, m->at[X])->type->elem))
		return 0;
	qn_id y = qn_rw_add(rw, op->op, qn_rw_name(rw, m->at[OP]), 1, &m->at[X], op->attr, NULL);
	if (y == 0)
		return 0;
	if (qn_rw_node(rw, y)->type == q->type)
		return y;
	return qn_rw_add(rw, QN_OP_requantize, qn_rw_name(rw, m->root), 1, &y, NULL, q->type);
}

/* quantize(move(…)) -> move(quantize(…)); concat likewise, each of its inputs */
static qn_id
hoist(qn_rw *rw, const qn_match *m)
{
	const qn_elem *e = qn_rw_node(rw, m->root)->type->elem;
	const qn_node *op = qn_rw_node(rw, m->at[OP]);
	qn_op kind = op->op;
	const qn_attrs *attr = op->attr;
	uint32_t nin = op->nin;
	qn_id *in = QN_NEW(qn_rw_model(rw)->arena, qn_id, nin);

	if (e->gran != QN_PER_TENSOR || !ends_in_codes(rw, m->at[OP]))
		return 0;
	for (uint32_t i = 0; i < nin; i++) {
		const qn_node *from = qn_rw_node(rw, m->at[OP]);

		in[i] = from->in[i];
		if (!is_index(from, i) && qn_elem_is_float(qn_rw_node(rw, in[i])->type->elem))
			in[i] = quantize_to(rw, in[i], e, qn_rw_name(rw, m->root));
	}
	return qn_rw_add(rw, kind, qn_rw_name(rw, m->at[OP]), nin, in, attr, NULL);
}

/* quantize(get(split(x))) -> get(split(quantize(x))); parts of equal parameters share a split */
static qn_id
hoist_part(qn_rw *rw, const qn_match *m)
{
	const qn_elem *e = qn_rw_node(rw, m->root)->type->elem;
	const qn_node *get = qn_rw_node(rw, m->at[OP]), *split = qn_rw_node(rw, get->in[0]);
	const qn_attrs *part = get->attr, *sizes = split->attr;
	const char *name = qn_rw_name(rw, get->in[0]);

	if (e->gran != QN_PER_TENSOR || !ends_in_codes(rw, m->at[OP]))
		return 0;
	qn_id x = quantize_to(rw, split->in[0], e, qn_rw_name(rw, m->root));
	x = qn_rw_add(rw, QN_OP_split, name, 1, &x, sizes, NULL);
	return qn_rw_add(rw, QN_OP_get, qn_rw_name(rw, m->at[OP]), 1, &x, part, NULL);
}

/* Whether e has the parameters that the arithmetic of a FIXED op gives; other ops take any. */
static bool
has_fixed_type(const qn_rw *rw, const qn_node *n, const qn_elem *e)
{
	double want, scale;
	int64_t want_zp, zp;

	if (qn_opinfo_of(n)->behaviour != QN_FIXED)
		return true;
	qn_fixed_output(n, e, &want, &want_zp);
	qn_elem_param(&qn_rw_model(rw)->types, e, 0, &scale, &zp);
	return scale == want && zp == want_zp;
}

/* op(a, …) of type `type` for op(dequantize(a), …); 0 when an operand is something else. */
static qn_id
on_codes(qn_rw *rw, qn_id id, const qn_type *type)
{
	const qn_node *op = qn_rw_node(rw, id);
	qn_id *in = QN_NEW(qn_rw_model(rw)->arena, qn_id, op->nin);

	for (uint32_t i = 0; i < op->nin; i++) {
		const qn_node *dq = qn_rw_node(rw, op->in[i]);

		if (dq->op != QN_OP_dequantize || !is_narrow(qn_rw_node(rw, dq->in[0])->type->elem))
			return 0;
		in[i] = dq->in[0];
	}
	return qn_rw_add(rw, op->op, qn_rw_name(rw, id), op->nin, in, op->attr, type);
}

/* quantize(op(dequantize(a), …)) -> op(a, …) with the quantize's parameters */
static qn_id
to_integer(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (!is_narrow(type->elem) || !has_fixed_type(rw, qn_rw_node(rw, m->at[OP]), type->elem))
		return 0;
	return on_codes(rw, m->at[OP], type);
}

/* A comparison has a plain result: less(dequantize(a), dequantize(b)) -> less(a, b). */
static qn_id
compare_codes(qn_rw *rw, const qn_match *m)
{
	const qn_type *type = qn_rw_node(rw, m->root)->type;

	if (type->is_tuple || type->elem->kind != QN_ELEM_PLAIN || qn_elem_is_float(type->elem))
		return 0;
	return on_codes(rw, m->root, type);
}

/* Real values that a per-tensor type can hold. */
static void
real_range(const qn_types *t, const qn_elem *e, double *lo, double *hi)
{
	double scale;
	int64_t zp;

	qn_elem_param(t, e, 0, &scale, &zp);
	*lo = (double)(e->qmin - zp) * scale;
	*hi = (double)(e->qmax - zp) * scale;
}

/* Whether a requantize limits its codes to less than its type holds. */
static bool
clamps(const qn_rw *rw, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);

	return n->op == QN_OP_requantize &&
	       (n->attr->clamp.lo > n->type->elem->qmin || n->attr->clamp.hi < n->type->elem->qmax);
}

/* requantize(requantize(x)) or requantize(quantize(x)) -> the outer from x: only where the type in
 * between holds all real values that the outer one does, so that it does not saturate earlier.  Its
 * steps may be coarser: then the result is closer to x than that of the chain. */
static qn_id
merge_chain(qn_rw *rw, const qn_match *m)
{
	const qn_types *t = &qn_rw_model(rw)->types;
	const qn_node *outer = qn_rw_node(rw, m->root);
	const qn_node *inner = qn_rw_node(rw, m->at[OP]);
	const qn_elem *mid = inner->type->elem;
	const qn_elem *last = outer->type->elem;
	double mid_lo, mid_hi, last_lo, last_hi;

	/* an input keeps its own parameters: others may read it over another range */
	if (inner->op == QN_OP_quantize && qn_rw_node(rw, inner->in[0])->op == QN_OP_input)
		return 0;
	if (clamps(rw, m->at[OP]) || (clamps(rw, m->root) && inner->op == QN_OP_quantize))
		return 0;
	if (mid->gran != QN_PER_TENSOR || last->gran != QN_PER_TENSOR || mid->bits < last->bits)
		return 0;
	real_range(t, mid, &mid_lo, &mid_hi);
	real_range(t, last, &last_lo, &last_hi);
	if (mid_lo > last_lo || mid_hi < last_hi)
		return 0;
	return qn_rw_add(rw, inner->op, qn_rw_name(rw, m->root), 1, &inner->in[0],
			 inner->op == QN_OP_requantize ? outer->attr : NULL, outer->type);
}

static qn_id
drop_identity(qn_rw *rw, const qn_match *m)
{
	if (clamps(rw, m->root) || qn_rw_node(rw, m->at[X])->type != qn_rw_node(rw, m->root)->type)
		return 0;
	return m->at[X];
}

/* relu, relu6, clip whose bounds the type has anyway */
static qn_id
drop_clamp(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	int64_t lo, hi;

	if ((n->op != QN_OP_relu && n->op != QN_OP_relu6 && n->op != QN_OP_clip) ||
	    !is_narrow(n->type->elem))
		return 0;
	qn_clamp_range(qn_rw_graph(rw), n, &lo, &hi);
	return lo <= n->type->elem->qmin && hi >= n->type->elem->qmax ? n->in[0] : 0;
}

/* index(dequantize(x)) -> index(x): the order of codes is that of the real numbers */
static qn_id
index_codes(qn_rw *rw, const qn_match *m)
{
	const qn_node *n = qn_rw_node(rw, m->root);
	const qn_node *dq = qn_rw_node(rw, n->in[0]);
	qn_id x = dq->nin > 0 ? dq->in[0] : 0;

	if (dq->op != QN_OP_dequantize || !is_narrow(qn_rw_node(rw, x)->type->elem))
		return 0;
	return qn_rw_add(rw, n->op, qn_rw_name(rw, m->root), 1, &x, n->attr, n->type);
}

#define Q(inner) QN_P_OP(quantize, ROOT, QN_P_ARGS(inner))
#define DEQ QN_P_OP(dequantize, DQ, QN_P_ARGS(QN_P_ANY(X)))
#define CHAIN(op) QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_OPN(op, OP)))

static const qn_rule rules[] = {
	{"fold-constant", Q(QN_P_CONST(X)), fold_constant},
	{"join", Q(DEQ), join},
	{"shrink-first", Q(QN_P_OP(max_pool, OP, QN_P_ARGS(DEQ))), sink_dequantize},
	{"shrink-first-max", Q(QN_P_OP(reduce_max, OP, QN_P_ARGS(DEQ))), sink_dequantize},
	{"shrink-first-min", Q(QN_P_OP(reduce_min, OP, QN_P_ARGS(DEQ))), sink_dequantize},
	{"index-codes", QN_P_CLASS(QN_INDEX, ROOT), index_codes},
	{"shrink-first", Q(QN_P_OP(slice, OP, QN_P_ARGS(DEQ))), sink_dequantize},
	{"average-codes", Q(QN_P_OP(avg_pool, OP, QN_P_ARGS(DEQ))), sink_dequantize},
	{"average-codes", Q(QN_P_OP(resize_bilinear, OP, QN_P_ARGS(DEQ))), sink_dequantize},
	{"hoist", Q(QN_P_CLASS(QN_SAME, OP)), hoist},
	{"hoist-part", Q(QN_P_OP(get, OP, QN_P_ARGS(QN_P_OPN(split, X)))), hoist_part},
	{"hoist-join", Q(QN_P_CLASS(QN_JOIN, OP)), hoist},
	{"to-integer-mix", Q(QN_P_CLASS(QN_MIX, OP)), to_integer},
	{"to-integer-lut", Q(QN_P_CLASS(QN_LUT, OP)), to_integer},
	{"to-integer-fixed", Q(QN_P_CLASS(QN_FIXED, OP)), to_integer},
	{"compare-codes", QN_P_CLASS(QN_MIX, ROOT), compare_codes},
	{"merge-requantize", CHAIN(requantize), merge_chain},
	{"merge-quantize", CHAIN(quantize), merge_chain},
	{"drop-clamp", QN_P_CLASS(QN_SAME, ROOT), drop_clamp},
	{"identity", QN_P_OP(requantize, ROOT, QN_P_ARGS(QN_P_ANY(X))), drop_identity},
};

qn_status
qn_requantize(qn_model *m)
{
	qn_graph *g = qn_model_entry(m);

	if (m->stage != QN_STAGE_CALIBRATED)
		return qn_report(m->env, QN_EINVALID, "pass.stage", m->name,
				 "requantize takes a calibrated graph; this one is %s",
				 qn_stage_names[m->stage]);
	knowledge known = {0};
	QN_TRY(qn_rewrite(m, g, rules, QN_COUNT(rules), &known, &g));
	qn_model_set_graph(m, g);
	return QN_OK;
}
