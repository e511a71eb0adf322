/* SPDX-License-Identifier: Apache-2.0 */
/* json_nodes.c - one graph of a model file.  Three steps, so that no error hides another:
 *
 *   1  every input, constant and node gets its name          graph.name.duplicate
 *   2  every node is read separately                          op.unknown, attr.…, type.…, graph.value.undefined
 *   3  nodes are added, each after what it uses              json.cycle, shape rules
 *
 * Step 3 goes depth first from the nodes in the order of the file, so an order that is
 * topological stays as it is.  What depends on a node with an error is skipped without a report.
 * A constant stands before all nodes, or after the node that its "after" names (if nothing
 * needs it earlier): that keeps the order of a graph that passes have made. */
#include <string.h>

#include "formats/json_nodes.h"
#include "ir/diag.h"
#include "ir/spelling.h"
#include "ir/nearest.h"

typedef qn_json_entry entry;
typedef qn_json_nodes nodes;

/* ---- names ---- */

static void
declare(nodes *s, const qn_json *v, const char *name, entry *e)
{
	const entry *older = qn_map_gets(&s->names, name);

	if (older != NULL)
		qn_json_error(s->r, v, "graph.name.duplicate",
			      "duplicate name '%s': %s has it already", name,
			      qn_json_at(s->r, older->v));
	else
		qn_map_puts(&s->names, name, e);
	if (older != NULL)
		e->state = QN_ENTRY_FAILED;
}

/* The elements of an array of named objects; fills in v, name and place. */
static entry *
read_named(nodes *s, const qn_json *array, size_t nkeys, const char *const *keys)
{
	entry *list = QN_NEW(s->r->tmp, entry, array != NULL ? array->n : 0);

	for (size_t i = 0; array != NULL && i < array->n; i++) {
		const qn_json *v = &array->child[i];
		entry *e = &list[i];

		*e = (entry){.v = v, .state = QN_ENTRY_FAILED};
		if (!qn_json_is(&s->r->doc, v, QN_JSON_OBJECT))
			continue;
		qn_json_only(&s->r->doc, v, nkeys, keys);
		const qn_json *name = qn_json_need(&s->r->doc, v, "name", QN_JSON_STRING);
		if (name == NULL)
			continue;
		e->state = QN_ENTRY_NEW;
		e->like.name = name->string;
		e->like.place = qn_json_at(s->r, v);
		if (name->string[0] == '\0')
			qn_json_error(s->r, name, "graph.name.empty", "a name must not be empty");
		declare(s, v, name->string, e);
	}
	return list;
}

static void
add(nodes *s, entry *e)
{
	if (e->state != QN_ENTRY_FAILED)
		e->id = qn_spelling_add(s->g, e->info, &e->like);
	e->state = e->id != 0 ? QN_ENTRY_DONE : QN_ENTRY_FAILED;
}

static void
read_inputs(nodes *s, const qn_json *array)
{
	static const char *const keys[] = {"name", "type", "state", "data", "nonfinite"};
	entry *list = read_named(s, array, QN_COUNT(keys), keys);

	for (size_t i = 0; array != NULL && i < array->n; i++) {
		entry *e = &list[i];
		const qn_json *type =
			e->v->kind == QN_JSON_OBJECT
				? qn_json_need(&s->r->doc, e->v, "type", QN_JSON_STRING)
				: NULL;

		e->like.op = QN_OP_input;
		e->like.type = type != NULL ? qn_json_type(s->r, type) : NULL;
		if (e->like.type == NULL)
			e->state = QN_ENTRY_FAILED;
		add(s, e);
		if (e->v->kind == QN_JSON_OBJECT)
			qn_json_read_state(s, e);
	}
}

static void
read_constants(nodes *s, const qn_json *object)
{
	s->nconstant = object != NULL ? object->n : 0;
	s->constant = QN_NEW(s->r->tmp, entry, s->nconstant);
	for (size_t i = 0; i < s->nconstant; i++) {
		const qn_json *v = &object->child[i];
		entry *e = &s->constant[i];

		*e = (entry){
			.v = v,
			.like = {.op = QN_OP_const, .name = v->key, .place = qn_json_at(s->r, v)}};
		declare(s, v, v->key, e);
		e->like.value = qn_json_const(s->r, v);
		if (e->like.value == NULL)
			e->state = QN_ENTRY_FAILED;
		if (qn_json_find(v, "after") == NULL)
			add(s, e);
	}
}

/* Attaches the constants that have an "after" to their nodes. */
static void
place_constants(nodes *s)
{
	for (size_t i = 0; i < s->n; i++)
		s->node[i].is_node = true;
	for (size_t i = 0; i < s->nconstant; i++) {
		entry *e = &s->constant[i];
		const qn_json *after = qn_json_find(e->v, "after");

		if (after == NULL || !qn_json_is(&s->r->doc, after, QN_JSON_STRING))
			continue;
		entry *node = qn_map_gets(&s->names, after->string);
		if (node == NULL || !node->is_node) {
			qn_json_unknown_value(s, after, true);
			continue;
		}
		if (node->last == NULL)
			node->last = &node->behind;
		*node->last = e;
		node->last = &e->sibling;
	}
}

/* ---- order ---- */

static void
report_cycle(nodes *s, const entry *top, const entry *again)
{
	qn_buf b;

	/* The stack runs from user to used value; the message follows the data. */
	qn_buf_init(&b, s->r->tmp);
	qn_buff(&b, "%s -> ", again->like.name);
	for (const entry *e = top; e != again; e = e->below)
		qn_buff(&b, "%s -> ", e->like.name);
	qn_json_error(s->r, again->v, "json.cycle",
		      "these nodes depend on each other in a cycle: %s%s", qn_buf_str(&b),
		      again->like.name);
}

/* All inputs are QN_ENTRY_DONE or QN_ENTRY_FAILED. */
static void
finish(nodes *s, entry *e)
{
	qn_id *in = QN_NEW(s->r->tmp, qn_id, e->like.nin);

	for (uint32_t i = 0; i < e->like.nin; i++) {
		in[i] = e->in[i]->id;
		if (e->in[i]->state != QN_ENTRY_DONE)
			e->state = QN_ENTRY_FAILED;
	}
	e->like.in = in;
	add(s, e);
	for (entry *c = e->behind; c != NULL; c = c->sibling)
		if (c->state == QN_ENTRY_NEW)
			add(s, c);
}

/* Adds e and what it needs; the stack is in the entries, so that a long chain does not recurse deeply. */
static void
visit(nodes *s, entry *e)
{
	entry *top = e;

	if (e->state != QN_ENTRY_NEW)
		return;
	e->state = QN_ENTRY_OPEN;
	while (top != NULL) {
		if (top->next == top->like.nin) {
			entry *below = top->below;

			finish(s, top);
			top = below;
			continue;
		}
		entry *in = top->in[top->next++];
		if (in->state == QN_ENTRY_OPEN) {
			report_cycle(s, top, in); /* top fails when it finds this input undone */
		} else if (in->state == QN_ENTRY_NEW) {
			in->state = QN_ENTRY_OPEN;
			in->below = top;
			top = in;
		}
	}
}

static void
read_nodes(nodes *s, const qn_json *array)
{
	for (size_t i = 0; i < s->n; i++)
		/* Also one without a good name, for its other mistakes. */
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): n is 0 without an array */
		if (array->child[i].kind == QN_JSON_OBJECT && !qn_json_node(s, &s->node[i]))
			s->node[i].state = QN_ENTRY_FAILED;
	for (size_t i = 0; i < s->n; i++)
		visit(s, &s->node[i]);
	for (size_t i = 0; i < s->nconstant; i++)
		visit(s, &s->constant[i]); /* those after a node with an error */
}

void
qn_json_unknown_value(const qn_json_nodes *s, const qn_json *v, bool only_nodes)
{
	const char *best = only_nodes ? NULL : qn_nearest_value(s->g, v->string);
	size_t n = s->r->m->env->diags->n < QN_MAX_DIAGS ? QN_MAX_COMPARED : 0;

	for (size_t i = 0; i < s->nconstant && i < n && !only_nodes; i++)
		best = qn_nearer_name(v->string, best, s->constant[i].like.name);
	for (size_t i = 0; i < s->n && i < n; i++)
		best = qn_nearer_name(v->string, best, s->node[i].like.name);
	qn_json_error(s->r, v, "graph.value.undefined", "unknown %s '%s'" QN_DID_YOU_MEAN,
		      only_nodes ? "node" : "input, constant or node", v->string, QN_SUGGEST(best));
}

/* ---- outputs ---- */

static void
read_output(nodes *s, const qn_json *v)
{
	static const char *const keys[] = {"name", "value", "to"};
	const qn_json *name = v;
	const qn_json *value = v;

	if (v->kind != QN_JSON_STRING) {
		if (!qn_json_is(&s->r->doc, v, QN_JSON_OBJECT))
			return;
		qn_json_only(&s->r->doc, v, QN_COUNT(keys), keys);
		name = qn_json_need(&s->r->doc, v, "name", QN_JSON_STRING);
		value = qn_json_need(&s->r->doc, v, "value", QN_JSON_STRING);
	}
	if (name == NULL || value == NULL)
		return;
	const entry *e = qn_map_gets(&s->names, value->string);
	if (e == NULL)
		qn_json_unknown_value(s, value, false);
	if (qn_map_gets(&s->outputs, name->string) != NULL) {
		qn_json_error(s->r, v, "graph.name.duplicate", "duplicate output name '%s'",
			      name->string);
		return;
	}
	qn_map_puts(&s->outputs, name->string, s);
	if (e != NULL && e->state == QN_ENTRY_DONE)
		qn_graph_output(s->g, name->string, e->id);
	qn_json_next(s, v, name->string);
}

qn_graph *
qn_json_graph(qn_json_reader *r, const qn_json *v, const char *name)
{
	static const char *const keys[] = {"name",      "pattern", "attrs", "inputs",
					   "constants", "nodes",   "parts", "outputs"};
	static const char *const node_keys[] = {"name",   "op",      "inputs", "attrs", "type",
						"callee", "skipped", "note",   "from"};
	size_t errors = r->m->env->diags->nerrors;
	nodes s = {.r = r};

	if (!qn_json_is(&r->doc, v, QN_JSON_OBJECT))
		return NULL;
	qn_json_only(&r->doc, v, QN_COUNT(keys), keys);
	const qn_json *own = name != NULL ? qn_json_want(&r->doc, v, "name", QN_JSON_STRING)
					  : qn_json_need(&r->doc, v, "name", QN_JSON_STRING);
	const qn_json *pattern = qn_json_want(&r->doc, v, "pattern", QN_JSON_STRING);
	if (own != NULL)
		name = own->string;
	s.g = qn_graph_new(r->m, name != NULL ? name : "");
	s.g->pattern = pattern != NULL ? qn_arena_str(r->m->arena, pattern->string) : NULL;
	qn_json_graph_attrs(r, qn_json_want(&r->doc, v, "attrs", QN_JSON_OBJECT), s.g);
	qn_map_init(&s.names, r->tmp);
	qn_map_init(&s.outputs, r->tmp);
	read_inputs(&s, qn_json_want(&r->doc, v, "inputs", QN_JSON_ARRAY));
	read_constants(&s, qn_json_want(&r->doc, v, "constants", QN_JSON_OBJECT));
	const qn_json *array = qn_json_want(&r->doc, v, "nodes", QN_JSON_ARRAY);
	s.n = array != NULL ? array->n : 0;
	s.node = read_named(&s, array, QN_COUNT(node_keys), node_keys);
	place_constants(&s);
	read_nodes(&s, array);
	if (r->m->env->diags->nerrors == errors)
		qn_json_parts(r, qn_json_want(&r->doc, v, "parts", QN_JSON_ARRAY), s.g);
	const qn_json *outputs = qn_json_need(&r->doc, v, "outputs", QN_JSON_ARRAY);
	for (size_t i = 0; outputs != NULL && i < outputs->n; i++)
		read_output(&s, &outputs->child[i]);
	if (outputs != NULL)
		qn_json_states_end(&s, outputs);
	return r->m->env->diags->nerrors == errors ? s.g : NULL;
}
