/* SPDX-License-Identifier: Apache-2.0 */
/* requantize_paths.c - where a quantize that is moved up would end, and what that would cost.
 *
 *   dequantize ── relu ──┬── max_pool ── reshape ── quantize      the quantize may go up to the dequantize
 *                        └── softmax (float)                      relu is then computed twice: 1 op, cheap enough
 *
 * A value that a float reader needs stays float; the ops above it are computed a second time on
 * quantized values, up to QN_RQZ_MOST_TWICE of them.  With more, only the float chain is computed. */
#include "passes/requantize.h"

bool
qn_rqz_skipped(const qn_rw *rw, qn_id id)
{
	const qn_facts *f = qn_rw_node(rw, id)->facts;

	return f != NULL && f->skipped;
}

bool
qn_rqz_narrow(const qn_elem *e)
{
	return e->kind == QN_ELEM_UNIFORM && e->bits <= 16 && e->gran == QN_PER_TENSOR;
}

bool
qn_rqz_is_index(const qn_node *n, uint32_t i)
{
	return qn_opinfo_of(n)->behaviour == QN_SAME && i > 0;
}

bool
qn_rqz_moves(const qn_graph *g, const qn_node *n)
{
	qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;

	if (n->op == QN_OP_get)
		return qn_graph_node(g, n->in[0])->op == QN_OP_split;
	return behaviour == QN_SAME || behaviour == QN_JOIN;
}

/* A scatter that adds or multiplies computes, and cannot be quantized. */
bool
qn_rqz_joins_sums(const qn_node *n)
{
	int32_t how = QN_REDUCTION_none;

	if (n->op == QN_OP_scatter_nd)
		how = n->attr->scatter_nd.reduction;
	else if (n->op == QN_OP_scatter_elements)
		how = n->attr->scatter_elements.reduction;

	return how == QN_REDUCTION_add || how == QN_REDUCTION_mul;
}

static bool
node_ends_in_quantized(const qn_rw *rw, const qn_rqz *k, qn_id id)
{
	const qn_node *n = qn_rw_node(rw, id);
	qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;
	bool moves = behaviour == QN_SAME || behaviour == QN_JOIN;
	bool computes = behaviour == QN_MIX || behaviour == QN_LUT || behaviour == QN_FIXED ||
			(behaviour == QN_MEAN && !k->opts->exact);

	if (n->op == QN_OP_dequantize || n->op == QN_OP_const || qn_rqz_is_dynamic(n))
		return true;
	if (n->op == QN_OP_input)
		return k->inputs != NULL && qn_rw_name(rw, id) != NULL &&
		       qn_map_gets(k->inputs, qn_rw_name(rw, id)) != NULL;
	if (n->op == QN_OP_get && qn_rw_node(rw, n->in[0])->op == QN_OP_split)
		return k->ends[n->in[0]];
	if ((!moves && !computes) || qn_rqz_joins_sums(n) || qn_rqz_skipped(rw, id))
		return false;
	for (uint32_t i = 0; i < n->nin && !qn_rqz_is_index(n, i); i++) {
		const qn_node *in = qn_rw_node(rw, n->in[i]);

		if (!in->type->is_tuple && !qn_elem_is_float(in->type->elem))
			continue; /* the condition of a where */
		const qn_elem *quantized = moves ? NULL : qn_rqz_operand_elem(rw, n->in[i]);

		if (moves ? !k->ends[n->in[i]]
			  : (quantized == NULL || !qn_rqz_supports(quantized)) &&
				    !qn_rqz_may_fill(rw, n->in[i]))
			return false;
	}
	return n->nin > 0;
}

/* Ids are in topological order, so one walk over the new ones is enough. */
bool
qn_rqz_ends(const qn_rw *rw, qn_id id)
{
	qn_rqz *k = qn_rw_user(rw);
	size_t have = k->n;

	if (id >= k->n) {
		k->ends = qn_arena_grow(qn_rw_model(rw)->scratch, k->ends, &k->cap, id + 1,
					sizeof *k->ends);
		k->n = id + 1;
	}
	for (; have < k->n; have++)
		k->ends[have] = have > 0 && node_ends_in_quantized(rw, k, (qn_id)have);
	return k->ends[id] &&
	       (qn_rw_name(rw, id) == NULL || qn_map_gets(&k->twice, qn_rw_name(rw, id)) == NULL);
}

static bool
is_real(const qn_type *t)
{
	return t->is_tuple ? t->nfield > 0 && is_real(t->field[0]) : qn_elem_is_float(t->elem);
}

/* Whether its arithmetic takes quantized values, so that it needs float operands only if its result must
 * be float. */
static bool
computes(const qn_node *n)
{
	const qn_behaviour behaviour = qn_opinfo_of(n)->behaviour;

	return behaviour == QN_MIX || behaviour == QN_LUT || behaviour == QN_FIXED ||
	       behaviour == QN_ACC;
}

/* Values that are read by something that stays float: an output, or an op that cannot pass quantized values.
 * derives: a result that is moved gets the parameters of what is moved, or ones derived from them. */
static bool *
real_readers(const qn_graph *g, qn_arena *a, bool derives)
{
	bool *real = QN_NEW(a, bool, g->n), *live = QN_NEW(a, bool, g->n);

	for (size_t i = 0; i < g->noutput; i++) {
		const qn_id id = g->output[i].value;

		live[id] = true;
		real[id] = !derives || !qn_rqz_moves(g, qn_graph_node(g, id));
	}
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);
		bool wants = live[id] && n->op != QN_OP_quantize &&
			     (real[id] || (!qn_rqz_moves(g, n) && !computes(n)));

		for (uint32_t i = 0; live[id] && i < n->nin; i++) {
			live[n->in[i]] = true;
			real[n->in[i]] = real[n->in[i]] || wants;
		}
	}
	return real;
}

/* depth: moving ops from a value up to where quantized values come from; shared: the most of them
 * that a float reader needs as well. */
void
qn_rqz_count_twice(qn_rqz *s, const qn_graph *g)
{
	qn_arena *a = g->model->scratch;
	const bool *real = real_readers(g, a, s->given != NULL);
	uint32_t *depth = QN_NEW(a, uint32_t, g->n), *shared = QN_NEW(a, uint32_t, g->n);

	qn_map_init(&s->twice, a);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (!qn_rqz_moves(g, n) || !is_real(n->type))
			continue;
		for (uint32_t i = 0; i < n->nin; i++) {
			depth[id] = depth[n->in[i]] > depth[id] ? depth[n->in[i]] : depth[id];
			shared[id] = shared[n->in[i]] > shared[id] ? shared[n->in[i]] : shared[id];
		}
		depth[id] += n->op != QN_OP_get; /* a part costs nothing */
		if (real[id] && depth[id] > shared[id])
			shared[id] = depth[id];
		if (shared[id] > QN_RQZ_MOST_TWICE)
			qn_map_puts(&s->twice, n->name, (void *)(uintptr_t)n->name);
	}
}

bool
qn_rqz_find_inputs(qn_rqz *s, const qn_graph *g)
{
	const bool *real = real_readers(g, g->model->scratch, s->given != NULL);
	bool moved = false;
	qn_map *names = QN_NEW(g->model->scratch, qn_map, 1);

	qn_map_init(names, g->model->scratch);
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_input && !real[id] && is_real(n->type))
			qn_map_puts(names, n->name, (void *)(uintptr_t)n->name);
		for (uint32_t i = 0; n->op != QN_OP_quantize && i < n->nin; i++) {
			const qn_node *x = qn_graph_node(g, n->in[i]);

			moved = moved ||
				(x->op == QN_OP_input && !real[n->in[i]] && is_real(x->type));
		}
	}
	s->inputs = names;
	return moved;
}

void
qn_rqz_find_open(qn_rqz *s, const qn_graph *g)
{
	qn_arena *a = g->model->scratch;
	const bool *real = real_readers(g, a, s->given != NULL);
	bool *quantized = QN_NEW(a, bool, g->n);
	qn_map *names = QN_NEW(a, qn_map, 1);

	qn_map_init(names, a);
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin; i++)
			if (n->op == QN_OP_quantize || (quantized[id] && qn_rqz_moves(g, n)))
				quantized[n->in[i]] = true;
		if (real[id] && !quantized[id] && is_real(n->type))
			qn_map_puts(names, n->name, (void *)(uintptr_t)n->name);
	}
	s->open = names;
}
