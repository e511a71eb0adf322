/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - models: a type table and graphs, callees before callers. */
#include <string.h>

#include "ir/graph.h"

const char *const qn_stage_names[4] = {"float", "symbolic", "calibrated", "integer"};

void
qn_model_init(qn_model *m, qn_env *env, qn_arena *arena, const char *name)
{
	*m = (qn_model){.arena = arena, .env = env, .name = qn_arena_str(arena, name)};
	qn_types_init(&m->types, arena);
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
	if (m->ngraph == m->graph_cap)
		m->graph = qn_arena_grow(m->arena, m->graph, &m->graph_cap, m->ngraph + 1,
					 sizeof *m->graph);
	m->graph[m->ngraph++] = g;
}
