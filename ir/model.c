/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - models: a type table and graphs, callees before callers. */
#include <string.h>

#include "ir/graph.h"

const char *const qn_stage_names[4] = {"float", "symbolic", "calibrated", "integer"};
const char *const qn_rounding_names[4] = {"double", "single", "nearest", "even"};

void
qn_model_init(qn_model *m, qn_env *env, qn_arena *arena, const char *name)
{
	*m = (qn_model){.arena = arena,
			.graphs = arena,
			.scratch = arena,
			.env = env,
			.name = qn_arena_str(arena, name),
			.options = ""};
	qn_types_init(&m->types, arena);
}

const qn_called *
qn_model_called(const qn_model *m, const qn_node *n)
{
	return m->tensors != NULL ? qn_map_gets(m->tensors, n->name) : NULL;
}

void
qn_model_called_as(qn_model *m, const qn_node *x, const qn_node *of)
{
	const qn_called *c = qn_model_called(m, of);

	if (c != NULL && qn_model_called(m, x) == NULL)
		qn_map_puts(m->tensors, x->name, (void *)(uintptr_t)c);
}

bool
qn_model_is_taken(const qn_model *m, const qn_node *n)
{
	if (m->tensor_names == NULL || qn_map_gets(m->tensor_names, n->name) == NULL)
		return false;
	for (const qn_called *c = qn_model_called(m, n); c != NULL; c = c->next)
		if (strcmp(c->name, n->name) == 0)
			return false;
	return true;
}

void
qn_model_record(qn_model *m, const char *fmt, ...)
{
	va_list args;
	qn_buf b;

	qn_buf_init(&b, m->arena);
	qn_buf_puts(&b, m->options);
	qn_buf_puts(&b, m->options[0] != '\0' ? " " : "");
	va_start(args, fmt);
	qn_bufvf(&b, fmt, args);
	va_end(args);
	m->options = qn_buf_str(&b);
}

qn_graph *
qn_model_entry(const qn_model *m)
{
	return m->ngraph > 0 ? m->graph[m->ngraph - 1] : NULL;
}

qn_graph *
qn_model_graph(const qn_model *m, const char *name)
{
	for (size_t i = 0; i < m->ngraph; i++)
		if (strcmp(m->graph[i]->name, name) == 0)
			return m->graph[i];
	return NULL;
}

void
qn_model_add_graph(qn_model *m, qn_graph *g)
{
	m->graph =
		qn_arena_grow(m->arena, m->graph, &m->graph_cap, m->ngraph + 1, sizeof *m->graph);
	m->graph[m->ngraph++] = g;
}
