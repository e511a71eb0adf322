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

void
qn_model_clipped(qn_model *m, const qn_clipped *c)
{
	qn_clipped *list = QN_NEW(m->arena, qn_clipped, m->nclipped + 1);
	size_t n = 0;

	/* a new array, as an earlier state of the model may have the old one */
	for (size_t i = 0; i < m->nclipped; i++)
		if (strcmp(m->clipped[i].value, c->value) != 0)
			list[n++] = m->clipped[i];
	list[n] = *c;
	list[n++].value = qn_arena_str(m->arena, c->value);
	m->clipped = list;
	m->nclipped = n;
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
