/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse_graph.c - reads a graph around its nodes: attributes, parts, outputs.
 *
 *   graph @main(%image: tensor<1x8x8x1xf32>) {
 *     …                                         nodes (graph_parse_node.c)
 *     part "conv2d" %image, %w -> %c
 *     return %c as "features"
 *   } */
#include "ir/graph_text.h"

/* After `return`. */
static bool
read_outputs(qn_reader *r)
{
	qn_map names;
	size_t next = 0;

	qn_map_init(&names, r->m->arena);
	if (!qn_text_peek(&r->text, "%"))
		return true;
	do {
		const char *place = qn_read_place(r);
		const char *value;

		if (!qn_read_name(r, "%", &value))
			return false;
		const char *name = value;
		qn_id id = qn_read_value(r, place, value);
		if (qn_text_eat(&r->text, "as") && !qn_read_quoted(r, &name))
			return false;
		if (qn_map_gets(&names, name) == NULL)
			qn_map_puts(&names, name, r);
		else
			(void)qn_report(r->m->env, QN_EINVALID, "graph.name.duplicate", place,
					"@%s returns two values as '%s'", r->g->name, name);
		if (id != 0)
			qn_graph_output(r->g, name, id);
		if (!qn_read_next(r, place, name, &next))
			return false;
	} while (qn_text_eat(&r->text, ","));
	qn_read_states_end(r, next);
	return true;
}

/* part "dense" %x, %w -> %y method "kl": after the word part. */
static bool
read_part(qn_reader *r, const qn_part ***last)
{
	qn_part part = {0};
	const char **in = NULL;
	size_t cap = 0;
	bool ok = true;

	if (!qn_read_quoted(r, &part.pattern))
		return false;
	while (qn_text_peek(&r->text, "%")) {
		const char *place = qn_read_place(r);

		in = qn_arena_grow(r->m->arena, (void *)in, &cap, part.nin + 1, sizeof *in);
		if (!qn_read_name(r, "%", &in[part.nin]))
			return false;
		ok = qn_read_value(r, place, in[part.nin++]) != 0 && ok;
		if (!qn_text_eat(&r->text, ","))
			break;
	}
	if (!qn_read_expect(r, "->"))
		return false;
	const char *place = qn_read_place(r);
	if (!qn_read_name(r, "%", &part.out))
		return false;
	ok = qn_read_value(r, place, part.out) != 0 && ok;
	if (qn_text_eat(&r->text, "method") && !qn_read_quoted(r, &part.method))
		return false;
	part.in = in;
	if (ok)
		*last = qn_graph_add_part(r->g, *last, &part);
	return true;
}

/* Nodes and, after those that they name, parts; up to the word return. */
static bool
read_body(qn_reader *r)
{
	const qn_part **last = &r->g->parts;

	while (!qn_text_eat(&r->text, "return")) {
		if (r->m->env->diags->n == QN_MAX_DIAGS)
			return false; /* nothing more would be reported */
		if (qn_text_eat(&r->text, "part")) {
			if (!read_part(r, &last))
				return false;
			continue;
		}
		if (!qn_text_peek(&r->text, "%"))
			return qn_read_fail(r, "expected a node or 'return'");
		if (!qn_read_node(r))
			return false;
	}
	return true;
}

/* {"key"="text", …}, what was said of a composite. */
static bool
read_graph_attrs(qn_reader *r)
{
	const char *key, *value;

	if (!qn_read_expect(r, "{"))
		return false;
	do {
		const char *place = qn_read_place(r);

		if (!qn_read_quoted(r, &key) || !qn_read_expect(r, "=") ||
		    !qn_read_quoted(r, &value))
			return false;
		if (qn_graph_attr_value(r->g, key) != NULL)
			(void)qn_report(r->m->env, QN_EINVALID, "attr.duplicate", place,
					"attribute '%s' is given twice", key);
		else
			qn_graph_add_attr(r->g, key, value);
	} while (qn_text_eat(&r->text, ","));
	return qn_read_expect(r, "}");
}

bool
qn_read_graph(qn_reader *r)
{
	const char *place = qn_read_place(r);
	const char *name;

	if (!qn_read_name(r, "@", &name))
		return false;
	r->g = qn_graph_new(r->m, name);
	qn_map_init(&r->values, r->m->arena);
	if (!qn_read_signature(r))
		return false;
	if (qn_text_eat(&r->text, "pattern") && !qn_read_quoted(r, &r->g->pattern))
		return false;
	if (qn_text_eat(&r->text, "attrs") && !read_graph_attrs(r))
		return false;
	if (!qn_read_expect(r, "{") || !read_body(r))
		return false;
	if (!read_outputs(r) || !qn_read_expect(r, "}"))
		return false;
	if (qn_map_gets(&r->graphs, name) == NULL)
		qn_map_puts(&r->graphs, name, r->g);
	else
		(void)qn_report(r->m->env, QN_EINVALID, "graph.name.duplicate", place,
				"graph @%s is defined twice; rename one", name);
	qn_model_add_graph(r->m, r->g);
	return true;
}
