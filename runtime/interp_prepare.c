/* SPDX-License-Identifier: Apache-2.0 */
/* interp_prepare.c - checks a graph and the graphs that it calls, and prepares their nodes for the interpreter.
 *
 * An interpreter each, in a list from the root on; all problems are reported at once. */
#include "ir/diag.h"
#include "runtime/interp_impl.h"

/* False after a report. */
static bool
prepare_node(qn_interps *f, qn_interp *in, qn_id id, int depth)
{
	const qn_graph *g = in->g;
	const qn_node *n = qn_graph_node(g, id);

	if (n->op == QN_OP_call) {
		if (depth >= QN_MAX_CALLS) {
			(void)qn_report(g->model->env, QN_EUNSUPPORTED, "run.unsupported",
					qn_node_place(g, n),
					"call, node '%s': calls nest deeper than %d", n->name,
					(int)QN_MAX_CALLS);
			return false;
		}
		in->callee[id] = qn_interp_prepare(f, n->callee, depth + 1);
		return !in->callee[id]->failed;
	}
	return !qn_node_needs_impl(n->op) ||
	       qn_work_prepare(g, n, f->arena, &f->room, &in->work[id]);
}

/* Checks and prepares all nodes, so that all problems are reported at once. */
static bool
prepare_nodes(qn_interps *f, qn_interp *in, int depth)
{
	const qn_graph *g = in->g;
	bool *known = QN_NEW(f->arena, bool, g->n);
	bool all = true;

	for (qn_id id = 1; id < g->n; id++) {
		bool ready = known[id] = qn_node_is_static(g, qn_graph_node(g, id));

		for (uint32_t i = 0; i < qn_graph_node(g, id)->nin; i++)
			ready = ready && known[qn_graph_node(g, id)->in[i]];
		all = ready && prepare_node(f, in, id, depth) && all;
	}
	for (size_t i = 0; i < g->noutput; i++) {
		const qn_node *n = qn_graph_node(g, g->output[i].value);

		if (!n->type->is_tuple)
			continue;
		(void)qn_report(g->model->env, QN_EUNSUPPORTED, "run.unsupported",
				qn_node_place(g, n), "output '%s' is a tuple; return its fields",
				g->output[i].name);
		all = false;
	}
	return all;
}

/* The bytes of all values that loops carry; false after a report. */
static bool
prepare_loops(qn_interp *in, qn_arena *a, size_t *bytes)
{
	const qn_graph *g = in->g;
	const qn_loops *l = &in->loops;
	bool ok;

	in->loops = qn_loops_find(g, a);
	ok = qn_loops_together(g, l);
	for (qn_id id = 1; ok && id < g->n && l->n > 0; id++) {
		qn_id next;

		if (qn_graph_node(g, id)->op != QN_OP_loop_carry)
			continue;
		ok = qn_loop_next(g, l, id, &next);
		*bytes += qn_type_bytes(qn_graph_node(g, id)->type);
	}
	if (!ok)
		(void)qn_report(g->model->env, QN_EINVALID, "run.loop", g->name,
				"the loops of graph '%s' are not whole", g->name);
	return ok;
}

static void
place_constants(qn_interp *in, qn_arena *a)
{
	for (qn_id id = 1; id < in->g->n; id++) {
		const qn_node *n = qn_graph_node(in->g, id);

		if (n->op == QN_OP_const)
			qn_slots_of(&in->slots, id, 0)->tensor.data = qn_aligned_data(a, n->value);
	}
}

/* Whether a node is computed once, such as the values of weights that are stored in integers: what it reads does
 * not change.  Takes the bytes. */
static bool
is_fixed(qn_interps *f, const qn_interp *in, qn_id id)
{
	const qn_node *n = qn_graph_node(in->g, id);
	const size_t bytes = n->type->is_tuple ? 0 : qn_type_bytes(n->type);

	if (!qn_node_needs_impl(n->op) || n->op == QN_OP_custom || n->type->is_tuple ||
	    n->nin == 0 || bytes > f->fixed || (in->loops.n > 0 && in->loops.with[id] != 0))
		return false;
	for (uint32_t i = 0; i < n->nin; i++)
		if (qn_graph_node(in->g, n->in[i])->op != QN_OP_const && !in->fixed[n->in[i]])
			return false;
	f->fixed -= bytes;
	return true;
}

static uint32_t
most_inputs(const qn_graph *g)
{
	uint32_t most = 1;

	for (qn_id id = 1; id < g->n; id++)
		most = qn_graph_node(g, id)->nin > most ? qn_graph_node(g, id)->nin : most;
	return most;
}

qn_interp *
qn_interp_prepare(qn_interps *f, const qn_graph *g, int depth)
{
	for (qn_interp *in = f->first; in != NULL; in = in->next)
		if (in->g == g)
			return in;
	qn_interp *in = QN_NEW(f->arena, qn_interp, 1);
	in->g = g;
	in->work = QN_NEW(f->arena, qn_work, g->n);
	in->fixed = QN_NEW(f->arena, bool, g->n);
	in->callee = QN_NEW(f->arena, qn_interp *, g->n);
	in->in = QN_NEW(f->arena, const void *, most_inputs(g));
	in->in_step = QN_NEW(f->arena, size_t, most_inputs(g));
	if (f->last != NULL)
		f->last->next = in;
	else
		f->first = in;
	f->last = in;
	in->failed = true; /* until it is ready: a graph that calls itself finds this */
	in->failed = !prepare_nodes(f, in, depth) || !prepare_loops(in, f->arena, &in->carried);
	if (!in->failed) {
		for (qn_id id = 1; id < g->n; id++)
			in->fixed[id] = is_fixed(f, in, id);
		qn_slots_plan(g, &in->loops, in->fixed, depth == 0, f->arena, &in->slots);
		place_constants(in, f->arena);
		in->bundle = 1;
	}
	return in;
}
