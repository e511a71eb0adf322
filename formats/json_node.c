/* SPDX-License-Identifier: Apache-2.0 */
/* json_node.c - one node of a model file by itself: its op, attributes, callee, operands and type.
 *
 *   {"name": "y", "op": "relu", "inputs": ["x"]} */
#include "formats/json_nodes.h"
#include "ir/diag.h"
#include "ir/nearest.h"
#include "ir/spelling.h"

static void
unknown_op(qn_json_reader *r, const qn_json *op)
{
	const char *best = qn_nearest_op(r->m->env, op->string);

	qn_json_error(r, op, "op.unknown", "unknown op '%s'" QN_DID_YOU_MEAN, op->string,
		      QN_SUGGEST(best));
}

static bool
read_op(qn_json_nodes *s, qn_json_entry *e)
{
	const qn_json *op = qn_json_need(&s->r->doc, e->v, "op", QN_JSON_STRING);

	if (op == NULL)
		return false;
	e->info = qn_op_lookup(s->r->m->env, op->string, &e->like.op);
	if (e->like.op == QN_NOP)
		e->info = qn_spelling_lookup(op->string, &e->like.op);
	if (e->like.op == QN_NOP)
		unknown_op(s->r, op);
	else if (e->like.op == QN_OP_input || e->like.op == QN_OP_const)
		qn_json_error(s->r, op, "op.unknown",
			      "an input or constant belongs in 'inputs' or 'constants', not in "
			      "'nodes'");
	else
		return true;
	return false;
}

static bool
read_attrs(qn_json_nodes *s, qn_json_entry *e)
{
	const qn_json *v = qn_json_want(&s->r->doc, e->v, "attrs", QN_JSON_OBJECT);
	qn_attrs *attrs = QN_NEW(s->r->tmp, qn_attrs, 1);

	e->like.attr = attrs;
	return qn_json_attrs(s->r, e->v, v, e->info, attrs);
}

/* Whether the call of this name can be added; e->like.callee is set then. */
static bool
read_callee(qn_json_nodes *s, qn_json_entry *e)
{
	bool call = e->like.op == QN_OP_call;
	const qn_json *v = call ? qn_json_need(&s->r->doc, e->v, "callee", QN_JSON_STRING)
				: qn_json_find(e->v, "callee");

	if (v == NULL)
		return !call;
	if (!call) {
		qn_json_error(s->r, v, "json.key.unknown", "only a call has a callee");
		return false;
	}
	e->like.callee = qn_model_graph(s->r->m, v->string);
	if (e->like.callee == NULL && qn_map_gets(&s->r->broken, v->string) == NULL) {
		const char *best = qn_nearest_graph(s->r->m, v->string);

		qn_json_error(s->r, v, "graph.callee.undefined",
			      "unknown function '%s': it must be before this one in "
			      "'functions'" QN_DID_YOU_MEAN,
			      v->string, QN_SUGGEST(best));
	}
	return e->like.callee != NULL;
}

static bool
read_operands(qn_json_nodes *s, qn_json_entry *e)
{
	const qn_json *v = qn_json_need(&s->r->doc, e->v, "inputs", QN_JSON_ARRAY);
	bool ok = v != NULL && v->n <= UINT32_MAX;

	if (!ok)
		return false;
	e->like.nin = (uint32_t)v->n;
	e->in = QN_NEW(s->r->tmp, qn_json_entry *, v->n);
	for (size_t i = 0; i < v->n; i++) {
		const qn_json *name = &v->child[i];

		if (!qn_json_is(&s->r->doc, name, QN_JSON_STRING)) {
			ok = false;
			continue;
		}
		e->in[i] = qn_map_gets(&s->names, name->string);
		if (e->in[i] == NULL) {
			qn_json_unknown_value(s, name, false);
			ok = false;
		}
	}
	return ok;
}

bool
qn_json_node(qn_json_nodes *s, qn_json_entry *e)
{
	bool ok = read_op(s, e);
	const qn_json *type = qn_json_want(&s->r->doc, e->v, "type", QN_JSON_STRING);

	if (ok) {
		ok = read_attrs(s, e);
		ok = read_callee(s, e) && ok;
	}
	ok = read_operands(s, e) && ok;
	e->like.facts = qn_json_facts(s->r, e->v, &ok);
	if (type != NULL) {
		e->like.type = qn_json_type(s->r, type);
		ok = e->like.type != NULL && ok;
	}
	return ok;
}
