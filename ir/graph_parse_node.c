/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse_node.c - reads the nodes of a graph, of which its inputs are the first.
 *
 *   graph @main(%image: tensor<1x8x8x1xf32>) {
 *     %w = const : tensor<4x3x3x1xf32> rand 7
 *     %c = conv2d %image, %w {padding=same}       the type may be left out where the shape rule
 *                                                 gives it
 *     …
 *
 * A node that is wrong is reported and stands for a value that nothing is known about: nodes that
 * use it are not judged by it. */
#include <string.h>

#include "ir/graph_text.h"
#include "ir/nearest.h"
#include "ir/spelling.h"

typedef struct draft {
	const char *name;
	const char *place;
	const char *op_name;
	qn_op op;              /* QN_NOP: unknown op */
	const qn_opinfo *info; /* NULL for QN_NOP */
	bool fresh;            /* the name is new */
	bool ok;
	qn_attrs attr;
	const qn_type *type;
	const qn_graph *callee;
	const qn_tensor *value;
	qn_facts facts;
} draft;

static void
wrong(qn_reader *r, draft *d, const char *id, const char *text, const char *name)
{
	d->ok = false;
	(void)qn_report(r->m->env, QN_EINVALID, id, d->place, "node '%s': %s '%s'", d->name, text,
			name);
}

static void
unknown_op(qn_reader *r, draft *d)
{
	const char *best = qn_nearest_op(r->m->env, d->op_name);

	d->ok = false;
	(void)qn_report(r->m->env, QN_EINVALID, "op.unknown", d->place,
			"node '%s': unknown op '%s'" QN_DID_YOU_MEAN, d->name, d->op_name,
			QN_SUGGEST(best));
}

/* "%name", new in this graph. */
static bool
read_new_name(qn_reader *r, draft *d)
{
	*d = (draft){
		.place = qn_read_place(r), .op = QN_NOP, .op_name = "", .ok = true, .fresh = true};
	if (!qn_read_name(r, "%", &d->name))
		return false;
	if (qn_map_gets(&r->values, d->name) == NULL)
		return true;
	d->fresh = false;
	d->ok = false;
	(void)qn_report(r->m->env, QN_EINVALID, "graph.name.duplicate", d->place,
			"%%%s is defined twice in @%s; rename one", d->name, r->g->name);
	return true;
}

qn_id
qn_read_value(qn_reader *r, const char *place, const char *name)
{
	const qn_id *id = qn_map_gets(&r->values, name);

	if (id != NULL)
		return *id;
	const char *best = qn_nearest_value(r->g, name);
	(void)qn_report(
		r->m->env, QN_EINVALID, "graph.value.undefined", place,
		"unknown value '%%%s': no node before this one in @%s defines it" QN_DID_YOU_MEAN,
		name, r->g->name, QN_SUGGEST(best));
	return 0;
}

static void
define(qn_reader *r, const draft *d, qn_id id)
{
	if (!d->fresh)
		return;
	qn_id *kept = QN_NEW(r->m->arena, qn_id, 1);
	*kept = id;
	qn_map_puts(&r->values, d->name, kept);
}

static void
unknown_callee(qn_reader *r, draft *d, const char *callee)
{
	const char *best = qn_nearest_graph(r->m, callee);

	d->ok = false;
	(void)qn_report(r->m->env, QN_EINVALID, "graph.callee.undefined", d->place,
			"node '%s': unknown graph '@%s'; it must be defined before the "
			"call" QN_DID_YOU_MEAN,
			d->name, callee, QN_SUGGEST(best));
}

static bool
read_op(qn_reader *r, draft *d)
{
	const char *word;
	size_t n = qn_text_word(&r->text, &word);

	if (n == 0)
		return qn_read_fail(r, "expected an op");
	d->op_name = qn_arena_strn(r->m->arena, word, n);
	d->info = qn_op_lookup(r->m->env, d->op_name, &d->op);
	if (d->op == QN_NOP)
		d->info = qn_spelling_lookup(d->op_name, &d->op);
	if (d->op == QN_NOP)
		unknown_op(r, d);
	if (d->op == QN_OP_input)
		wrong(r, d, "op.input",
		      "inputs belong in the parentheses after the graph's name, not in its body:",
		      d->name);
	if (!qn_text_peek(&r->text, "@"))
		return d->op != QN_OP_call ||
		       qn_read_fail(r, "expected the called graph's '@name'");
	if (d->op != QN_OP_call && d->op != QN_NOP)
		return qn_read_fail(r, "unexpected graph name: only call takes one");
	const char *callee;
	if (!qn_read_name(r, "@", &callee))
		return false;
	d->callee = qn_map_gets(&r->graphs, callee);
	if (d->op == QN_OP_call && d->callee == NULL)
		unknown_callee(r, d, callee);
	return true;
}

static bool
read_inputs(qn_reader *r, draft *d)
{
	const char *name;

	qn_text start = r->text;

	r->nin = 0;
	if (!qn_text_peek(&r->text, "%"))
		return true;
	/* The first name may also be the next node's. */
	if (!qn_read_name(r, "%", &name))
		return false;
	bool next = qn_text_peek(&r->text, "=");
	r->text = start;
	if (next)
		return true;
	do {
		const char *place = qn_read_place(r);

		if (!qn_read_name(r, "%", &name))
			return false;
		if (r->nin == r->in_cap)
			r->in = qn_arena_grow(r->m->arena, r->in, &r->in_cap, r->nin + 1,
					      sizeof *r->in);
		r->in[r->nin] = qn_read_value(r, place, name);
		if (r->in[r->nin++] == 0)
			d->ok = false;
	} while (qn_text_eat(&r->text, ","));
	return true;
}

/* ": type", and a constant's value. */
static bool
read_result(qn_reader *r, draft *d)
{
	if (qn_text_eat(&r->text, ":")) {
		if (!qn_read_type(r, &d->type))
			return false;
		d->ok = d->ok && d->type != NULL;
	} else if (d->op == QN_OP_const) {
		wrong(r, d, "type.needed", "a constant needs a type:", d->name);
	}
	if (d->op != QN_OP_const)
		return true;
	if (!qn_read_const(r, d->type, &d->value))
		return false;
	d->ok = d->ok && d->value != NULL;
	return true;
}

/* from ["a", "b"] */
static bool
read_origin(qn_reader *r, qn_facts *f)
{
	const char **names = NULL;
	size_t cap = 0;

	if (!qn_read_expect(r, "["))
		return false;
	do {
		if (f->norigin == QN_MOST_LAYERS)
			return qn_read_fail(r, "expected at most %d layers", QN_MOST_LAYERS);
		names = qn_arena_grow(r->m->arena, (void *)names, &cap, f->norigin + 1,
				      sizeof *names);
		if (!qn_read_quoted(r, &names[f->norigin++]))
			return false;
	} while (qn_text_eat(&r->text, ","));
	f->origin = names;
	return qn_read_expect(r, "]");
}

/* skipped, note "…", from […]: those that are there, in this order. */
static bool
read_facts(qn_reader *r, qn_facts *f)
{
	f->skipped = qn_text_eat(&r->text, "skipped");
	if (qn_text_eat(&r->text, "note") && !qn_read_quoted(r, &f->note))
		return false;
	return !qn_text_eat(&r->text, "from") || read_origin(r, f);
}

static const qn_facts *
kept_facts(qn_reader *r, const qn_facts *f)
{
	return f->skipped || f->note != NULL || f->norigin > 0
		       ? qn_arena_copy(r->m->arena, f, sizeof *f)
		       : NULL;
}

bool
qn_read_node(qn_reader *r)
{
	draft d;
	qn_id id = 0;

	if (!read_new_name(r, &d) || !qn_read_expect(r, "=") || !read_op(r, &d) ||
	    !read_inputs(r, &d))
		return false;
	if (!qn_read_attrs(r, d.info, d.place, &d.attr, &d.ok) || !read_result(r, &d) ||
	    !read_facts(r, &d.facts))
		return false;
	if (d.ok)
		id = qn_spelling_add(r->g, d.info,
				     &(qn_node){.op = d.op,
						.name = d.name,
						.nin = (uint32_t)r->nin,
						.in = r->in,
						.attr = &d.attr,
						.type = d.type,
						.value = d.value,
						.callee = d.callee,
						.facts = kept_facts(r, &d.facts),
						.place = d.place});
	define(r, &d, id);
	return true;
}

bool
qn_read_signature(qn_reader *r)
{
	draft d;

	if (!qn_read_expect(r, "("))
		return false;
	if (qn_text_eat(&r->text, ")"))
		return true;
	do {
		qn_id id = 0;

		if (!read_new_name(r, &d) || !qn_read_expect(r, ":") || !qn_read_type(r, &d.type))
			return false;
		if (d.ok && d.type != NULL)
			id = qn_graph_add(r->g, &(qn_node){.op = QN_OP_input,
							   .name = d.name,
							   .type = d.type,
							   .place = d.place});
		define(r, &d, id);
		if (qn_text_eat(&r->text, "state")) {
			if (!qn_read_state(r, d.type, id))
				return false;
		} else if (r->g->nstate > 0) {
			(void)qn_report(r->m->env, QN_EINVALID, "state.order", d.place,
					"input '%s' comes after a state; put states last", d.name);
		}
	} while (qn_text_eat(&r->text, ","));
	return qn_read_expect(r, ")");
}
