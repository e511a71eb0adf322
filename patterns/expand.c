/* SPDX-License-Identifier: Apache-2.0 */
/* expand.c - quantizes one composite: calls the callback of its pattern and checks what it
 * returns.
 *
 *   another type than the root's            quantize.type
 *   requantize inside                       quantize.requantize: it would tie neighbours together
 *   a symbol for one parameter only         quantize.pair
 *   no value                                quantize.callback */
#include <string.h>

#include "ir/diag.h"
#include "patterns/quantizing.h"
#include "patterns/reading.h"

/* What was reported before a callback ran. */
typedef struct reports {
	size_t n, nerrors;
} reports;

/* A step inside the callback went without memory: so does the pass. */
static void
pass_on_memory(qn_env *env, const reports *before)
{
	for (size_t i = before->n; i < env->diags->n; i++)
		if (env->diags->item[i].status == QN_ENOMEM)
			qn_env_oom(env);
}

static const char *
type_text(qn_model *m, const qn_type *type)
{
	qn_buf b;

	qn_buf_init(&b, m->scratch);
	qn_type_print(&b, type);
	return qn_buf_str(&b);
}

/* Scale and zero point come from one symbol, or none of them does. */
static bool
is_pair(const qn_elem *e)
{
	bool lone = e->scale->kind == QN_SCALE_SYM && e->scale->sym->kind == QN_SYM_ASYMMETRIC;

	return lone ? e->zp_sym == e->scale->sym : e->zp_sym == NULL;
}

static bool
check_nodes(qn_quantizing *b, const char *pattern, const char *root, qn_id first)
{
	bool good = true;

	for (qn_id id = first; id < b->dst->n; id++) {
		const qn_node *n = qn_graph_node(b->dst, id);

		if (n->op == QN_OP_requantize) {
			(void)qn_report(
				b->m->env, QN_EINVALID, "quantize.requantize", root,
				"pattern '%s' created the requantize '%s'; end in a dequantize "
				"instead, requantizes are created between matches",
				pattern, n->name);
			good = false;
		} else if (n->op == QN_OP_quantize && !is_pair(n->type->elem)) {
			(void)qn_report(
				b->m->env, QN_EINVALID, "quantize.pair", root,
				"pattern '%s' created the quantize '%s' : %s; scale and zero point "
				"must both come from one symbol, or neither from a symbol",
				pattern, n->name, type_text(b->m, n->type));
			good = false;
		}
	}
	return good;
}

/* The value that the callback gave, or 0. */
static qn_id
check(qn_quantizing *b, const qn_qpattern *p, const qn_node *call, qn_id got, qn_id first,
      const reports *before)
{
	qn_env *env = b->m->env;
	const char *name = p->desc.name;
	bool reported = env->diags->nerrors > before->nerrors;

	pass_on_memory(env, before);
	if (got == 0 || got >= b->dst->n) {
		if (!reported || !qn_pattern_is_standard(p))
			(void)qn_report(env, QN_EINVALID, "quantize.callback", call->name,
					"pattern '%s' returned no value of the graph for this node",
					name);
		return 0;
	}
	if (!check_nodes(b, name, call->name, first))
		return 0;
	if (qn_graph_node(b->dst, got)->type != call->type) {
		(void)qn_report(env, QN_EINVALID, "quantize.type", call->name,
				"pattern '%s' returned '%s' : %s for this node, which is %s", name,
				qn_graph_node(b->dst, got)->name,
				type_text(b->m, qn_graph_node(b->dst, got)->type),
				type_text(b->m, call->type));
		return 0;
	}
	return got;
}

/* The pattern of a composite and its match in there; NULL after an error. */
static const qn_qpattern *
find_match(qn_quantizing *b, qn_matcher *s, const qn_node *call, qn_match *inside)
{
	const qn_graph *c = call->callee;
	const qn_qpattern *p = qn_pattern_find(b->opts, c->pattern);

	if (p == NULL) {
		(void)qn_report(b->m->env, QN_EINVALID, "quantize.unregistered", call->name,
				"composite '%s' was created by the unknown pattern '%s'; register "
				"it for this compilation too",
				c->name, c->pattern);
		return NULL;
	}
	if (c->noutput == 1 && qn_match_at(s, c, p->pattern, c->output[0].value, inside))
		return p;
	if (qn_matcher_exhausted(s)) {
		(void)qn_matcher_report(s, c, c->output[0].value);
		return NULL;
	}
	(void)qn_report(b->m->env, QN_EINVALID, "quantize.pattern", c->name,
			"composite '%s' does not match its pattern '%s'", c->name, c->pattern);
	return NULL;
}

/* The computing nodes that the callback made, and its value, get the layers of the composite. */
static void
set_layers(qn_quantizing *b, qn_id first, qn_id got)
{
	qn_layers layers = {0};

	for (qn_id id = 1; id < b->composite->n; id++)
		if (qn_node_computes(qn_graph_node(b->composite, id)))
			qn_layers_add_node(&layers, qn_graph_node(b->composite, id));
	for (qn_id id = first; id < b->dst->n; id++) {
		const qn_node *n = qn_graph_node(b->dst, id);

		if (id == got || qn_node_computes(n))
			qn_graph_set_facts(b->dst, id, qn_facts_make(b->m, n, NULL, &layers));
	}
}

/* The match with values of the graph under construction. */
static qn_match
match_outside(const qn_quantizing *b, const qn_match *inside)
{
	qn_match m = *inside;
	qn_bound *bound = qn_arena_copy(b->m->scratch, m.bound, m.nbound * sizeof *bound);

	for (size_t i = 0; i < m.nbound; i++) {
		bound[i].value = bound[i].graph == b->composite ? b->arg[bound[i].value] : 0;
		bound[i].graph = b->dst;
	}
	for (size_t i = 0; i < QN_MAX_SLOTS; i++)
		m.at[i] = b->arg[m.at[i]];
	m.root = 0;
	m.graph = b->dst;
	m.bound = bound;
	m.reading = qn_reading_new(b->m->scratch);
	return m;
}

static qn_quantizing_info
info_of(const qn_quant_opts *o)
{
	return (qn_quantizing_info){.size = sizeof(qn_quantizing_info),
				    .scheme = o->scheme == QN_SCHEME_RFC ? QN_RFC : QN_TFLITE,
				    .activations = (qn_activations)o->activations,
				    .weights_type = o->weight_bits == 2   ? QN_WEIGHTS_I2
						    : o->weight_bits == 4 ? QN_WEIGHTS_I4
									  : QN_WEIGHTS_I8,
				    .per_tensor_weights = o->per_tensor_weights,
				    .weight_block = o->weight_block};
}

qn_id
qn_quantize_call(qn_model *m, qn_matcher *s, qn_graph *dst, const qn_quant_opts *opts,
		 const qn_node *call, const qn_id *map)
{
	const qn_graph *c = call->callee;
	const reports before = {m->env->diags->n, m->env->diags->nerrors};
	qn_match inside;
	qn_id *arg = QN_NEW(m->scratch, qn_id, c->n);
	qn_quantizing b = {m, dst, opts, c, &inside, arg, info_of(opts)};
	const qn_qpattern *p = find_match(&b, s, call, &inside);

	if (p == NULL)
		return 0;
	inside.bound =
		qn_arena_copy(m->scratch, inside.bound, inside.nbound * sizeof *inside.bound);
	inside.reading = qn_reading_new(m->scratch);
	for (qn_id id = 1; id < c->n; id++) /* constants that the pattern requires */
		if (qn_graph_node(c, id)->op == QN_OP_const)
			arg[id] = qn_graph_const(dst, qn_graph_node(c, id)->name,
						 qn_graph_node(c, id)->value);
	for (size_t i = 0; i < c->ninput; i++)
		arg[c->input[i]] = map[call->in[i]];
	qn_match outside = match_outside(&b, &inside);
	qn_id first = dst->n;
	qn_id got =
		check(&b, p, call, p->desc.quantize(p->desc.user, &b, &outside), first, &before);
	if (got >= first)
		set_layers(&b, first, got);
	return got;
}
