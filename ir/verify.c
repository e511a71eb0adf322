/* SPDX-License-Identifier: Apache-2.0 */
/* verify.c - whether a model keeps the rules of its stage; runs after each pass.
 *
 *   everywhere    topological order, arity, every type is what the shape rule gives, names unique,
 *                 callees stand earlier, the nodes of a loop fit together (loops_check.c)
 *   float         no quantized type          calibrated, integer   no symbol without a value
 *   integer       no value of a float type: the proof that nothing but integers is computed */
#include "ir/diag.h"
#include "ir/infer.h"
#include "ir/loops.h"

typedef struct verifier {
	const qn_model *m;
	const qn_graph *g;
	qn_map seen;        /* graphs so far, by address */
	qn_map graph_names; /* and by name */
} verifier;

static void
graph_error(const verifier *v, const char *id, const char *text, const char *name)
{
	qn_buf b;

	qn_buf_init(&b, v->m->scratch);
	qn_buff(&b, "graph @%s", v->g->name);
	(void)qn_report(v->m->env, QN_EINVALID, id, qn_buf_str(&b), "%s%s%s%s", text,
			name[0] != '\0' ? " '" : "", name, name[0] != '\0' ? "'" : "");
}

/* A symbol in the expression that has no value, or NULL.  Products lean to the left, so the
 * recursion is as deep as the parentheses. */
static const qn_symbol *
unbound_scale(const qn_scale *s)
{
	while (s != NULL && s->a != NULL) {
		const qn_symbol *right = unbound_scale(s->b);

		if (right != NULL)
			return right;
		s = s->a;
	}
	return s != NULL && s->kind == QN_SCALE_SYM && !s->sym->bound ? s->sym : NULL;
}

static const qn_symbol *
unbound(const qn_elem *e)
{
	if (e->kind != QN_ELEM_UNIFORM)
		return NULL;
	if (e->zp_sym != NULL && !e->zp_sym->bound)
		return e->zp_sym;
	return unbound_scale(e->scale);
}

/* The rules of the stage for one tensor type of node n. */
static void
check_stage(const verifier *v, const qn_node *n, const qn_type *t)
{
	qn_stage stage = v->m->stage;
	const qn_symbol *s = stage >= QN_STAGE_CALIBRATED ? unbound(t->elem) : NULL;

	if (s != NULL)
		(void)qn_infer_error(v->g, n, "verify.symbol", "%s needs the value of symbol $%s",
				     qn_infer_type_text(v->g, t), s->name);
	if (stage == QN_STAGE_FLOAT && qn_elem_is_quant(t->elem) && n->op != QN_OP_const)
		(void)qn_infer_error(v->g, n, "verify.quantized",
				     "the model is at stage float, the value is %s",
				     qn_infer_type_text(v->g, t));
	if (stage == QN_STAGE_INTEGER && qn_elem_is_float(t->elem))
		(void)qn_infer_refuse(v->g, n, "verify.float",
				      "the model is at stage integer, %s gives a value of type %s",
				      qn_opinfo_of(n)->name, qn_infer_type_text(v->g, t));
}

/* In a float graph constants may be stored as quantized values, as in files of packed weights: what
 * reads them is their dequantize. */
static void
check_stored(const verifier *v, const qn_node *n)
{
	for (uint32_t i = 0; v->m->stage == QN_STAGE_FLOAT && i < n->nin; i++) {
		const qn_node *x = qn_graph_node(v->g, n->in[i]);

		if (x->op == QN_OP_const && qn_elem_is_quant(x->type->elem) &&
		    n->op != QN_OP_dequantize)
			(void)qn_infer_error(v->g, n, "verify.quantized",
					     "the model is at stage float, %s reads the quantized "
					     "constant '%s', which only dequantize may",
					     qn_opinfo_of(n)->name, x->name);
	}
}

static bool
order_ok(const verifier *v, qn_id id)
{
	const qn_node *n = qn_graph_node(v->g, id);
	const qn_opinfo *op = qn_opinfo_of(n);

	if (n->nin < op->min_in || n->nin > op->max_in)
		return qn_infer_error(v->g, n, "verify.arity", "%s has %u inputs", op->name,
				      n->nin);
	for (uint32_t i = 0; i < n->nin; i++)
		if (n->in[i] == 0 || n->in[i] >= id)
			return qn_infer_error(
				v->g, n, "verify.order",
				"input %u is value %u, which is not before the node, value %u", i,
				n->in[i], id);
	if (n->op == QN_OP_call &&
	    (n->callee == NULL || qn_map_get(&v->seen, &n->callee, sizeof n->callee) == NULL))
		return qn_infer_error(v->g, n, "verify.callee",
				      "the called graph is not before this one in the model");
	if (op->attrs->size > 0 && n->attr == NULL)
		return qn_infer_error(v->g, n, "verify.attributes", "%s has no attributes",
				      op->name);
	return true;
}

static void
check_node(const verifier *v, qn_id id)
{
	const qn_node *n = qn_graph_node(v->g, id);

	if (qn_graph_find(v->g, n->name) != id)
		(void)qn_infer_error(v->g, n, "verify.name", "the name is not unique");
	if (!order_ok(v, id))
		return;
	const qn_type *t = qn_infer_type(v->g, n, n->type);
	if (t != NULL && t != n->type)
		(void)qn_infer_error(
			v->g, n, "verify.type", "the type is %s, but the inferred type is %s",
			qn_infer_type_text(v->g, n->type), qn_infer_type_text(v->g, t));
	if (!n->type->is_tuple)
		check_stage(v, n, n->type);
	for (uint32_t i = 0; n->type->is_tuple && i < n->type->nfield; i++)
		check_stage(v, n, n->type->field[i]);
	check_stored(v, n);
}

static void
check_outputs(const verifier *v)
{
	const qn_graph *g = v->g;
	qn_map names;

	qn_map_init(&names, v->m->scratch);
	if (g->noutput == 0)
		graph_error(v, "verify.output", "the graph returns nothing", "");
	for (size_t i = 0; i < g->noutput; i++) {
		const qn_output *o = &g->output[i];

		if (o->value == 0 || o->value >= g->n)
			graph_error(v, "verify.output", "the output has no value", o->name);
		else if (qn_graph_node(g, o->value)->type->is_tuple)
			graph_error(v, "verify.output", "a tuple is returned as", o->name);
		else if (qn_graph_node(g, o->value)->type->elem->small != QN_SMALL_NONE)
			graph_error(v, "type.storage.float",
				    "a value that is not dequantized is returned as", o->name);
		else if (qn_graph_node(g, o->value)->type->elem->zp_fraction != 0)
			graph_error(v, "type.zp.fraction",
				    "a constant whose zero points have a fraction is returned as",
				    o->name);
		if (qn_map_gets(&names, o->name) != NULL)
			graph_error(v, "verify.output", "duplicate output name", o->name);
		else
			qn_map_puts(&names, o->name, (void *)(uintptr_t)o);
	}
}

static void
check_graph(verifier *v, qn_graph *g)
{
	const size_t errors = v->m->env->diags->nerrors;

	v->g = g;
	if (qn_map_gets(&v->graph_names, g->name) != NULL)
		graph_error(v, "verify.graph", "duplicate graph name", "");
	else
		qn_map_puts(&v->graph_names, g->name, g);
	for (qn_id id = 1; id < g->n; id++)
		check_node(v, id);
	check_outputs(v);
	qn_states_verify(g);
	if (v->m->env->diags->nerrors == errors)
		qn_loops_check(g, v->m->scratch);
	if (qn_map_get(&v->seen, &g, sizeof g) == NULL)
		qn_map_put(&v->seen, &g, sizeof g, g);
}

qn_status
qn_model_verify(const qn_model *m)
{
	const qn_diags *d = m->env->diags;
	size_t errors = d->nerrors;
	size_t first = d->n;
	verifier v = {.m = m};

	qn_map_init(&v.seen, m->scratch);
	qn_map_init(&v.graph_names, m->scratch);
	if (m->ngraph == 0)
		return qn_report(m->env, QN_EINVALID, "verify.graph", m->name,
				 "the model has no graph");
	for (size_t i = 0; i < m->ngraph; i++)
		check_graph(&v, m->graph[i]);
	if (d->nerrors == errors)
		return QN_OK;
	while (first < d->n && d->item[first].severity != QN_ERROR)
		first++;
	return first < d->n ? d->item[first].status : QN_EINVALID;
}
