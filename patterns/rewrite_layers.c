/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite_layers.c - which layers of the source the nodes stand for that rules add (rewrite.h).
 *
 *   relu(bias_add(conv2d))  ->  conv2d from ["conv", "bias", "relu"] */
#include "patterns/rewrite_impl.h"

/* Nodes of the graph under construction have working names. */
static void
add_layers(const qn_rw *rw, qn_layers *to, qn_id id)
{
	qn_node n = *qn_rw_node(rw, id);

	n.name = rw->name[id];
	qn_layers_add_node(to, &n);
}

/* Whether the value ends what the pattern looks at: a leaf of it, or, with *inside, a node whose inputs
 * it does not look at. */
static bool
is_end(const qn_rw *rw, const qn_match *m, qn_id id, bool *inside)
{
	bool leaf = false;

	*inside = false;
	for (size_t i = 0; i < m->nbound; i++) {
		const qn_bound *b = &m->bound[i];

		if (b->value != id || b->graph != rw->dst)
			continue;
		*inside = *inside || b->kind == QN_BOUND_ARGS;
		leaf = leaf || (b->kind == QN_BOUND_SLOT && b->pat->narg == 0);
	}
	return leaf || *inside;
}

enum { MOST_MATCHED = 64 }; /* nodes of a pattern of the library's */

/* Whether the op only arranges elements: neither they nor their number change. */
static bool
only_moves(const qn_node *n)
{
	return n->op == QN_OP_transpose || qn_op_keeps_bytes(n->op);
}

/* What the match holds, without its leaves, from the root down. */
static void
find_layers(qn_rw *rw, qn_applied *r)
{
	qn_id matched[MOST_MATCHED] = {r->m->root};
	size_t n = 1;

	for (size_t at = 0; at < n; at++) {
		const qn_node *node = qn_rw_node(rw, matched[at]);
		bool inside = false, end = is_end(rw, r->m, matched[at], &inside);

		for (uint32_t i = 0; !end && i < node->nin && n < MOST_MATCHED; i++)
			if (!is_end(rw, r->m, node->in[i], &inside) || inside)
				matched[n++] = node->in[i];
	}
	for (size_t at = n; at > 0; at--) { /* operands before what reads them */
		const qn_id id = matched[at - 1];
		const qn_node *node = qn_rw_node(rw, id);
		const bool computes = qn_node_computes(node);

		add_layers(rw, computes ? &r->layers : &r->conversions, id);
		if (computes && !only_moves(node))
			add_layers(rw, &r->lasting, id);
	}
	r->known = true;
}

/* The layers of an operand of what was matched, before the others. */
static void
take_over(const qn_rw *rw, qn_layers *to, qn_id id)
{
	const qn_layers later = *to;

	*to = (qn_layers){0};
	add_layers(rw, to, id);
	qn_layers_add(to, later.n, later.name);
}

void
qn_rw_add_origin(qn_rw *rw, qn_id id)
{
	if (rw->rule == NULL)
		return;
	if (!rw->rule->known)
		find_layers(rw, rw->rule);
	take_over(rw, &rw->rule->layers, id);
	take_over(rw, &rw->rule->lasting, id);
}

void
qn_rw_stand_for(qn_rw *rw, qn_id id)
{
	if (rw->rule != NULL)
		rw->rule->stands_for = id;
}

const qn_facts *
qn_rw_facts(qn_rw *rw, const qn_node *n)
{
	qn_applied *r = rw->rule;

	/* the match lasts until what is added is offered to the rules */
	if (r != NULL && !r->known)
		find_layers(rw, r);
	if (r == NULL || n->op == QN_OP_const || n->op == QN_OP_input)
		return n->facts;
	const bool computes = qn_node_computes(n);
	r->computes = r->computes || computes;
	if (r->stands_for != 0) {
		const qn_node *of = qn_rw_node(rw, r->stands_for);
		qn_layers layers = {0};

		add_layers(rw, &layers, r->stands_for);
		return qn_facts_make(
			rw->m, n, qn_opinfo_of(of) == qn_opinfo_of(n) ? of->facts : NULL, &layers);
	}
	const qn_node *root = qn_rw_node(rw, r->m->root);
	return qn_facts_make(rw->m, n, qn_opinfo_of(root) == qn_opinfo_of(n) ? root->facts : NULL,
			     computes && r->layers.n > 0 ? &r->layers : &r->conversions);
}

void
qn_rw_pass_on_layers(qn_rw *rw, qn_applied *r, qn_id got)
{
	qn_node n = *qn_rw_node(rw, got);
	qn_layers all = {0};

	if (n.op == QN_OP_const || n.op == QN_OP_input)
		return;
	if (!r->known)
		find_layers(rw, r);
	if (r->computes || r->lasting.n == 0)
		return;
	add_layers(rw, &all, got);
	qn_layers_add(&all, r->lasting.n, r->lasting.name);
	n.name = rw->name[got];
	n.facts = qn_facts_make(rw->m, &n, n.facts, &all);
	qn_graph_set_facts(rw->dst, got, n.facts);
}
