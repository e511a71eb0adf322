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
qn_model_streamed(qn_model *m, const qn_streamed *s)
{
	qn_streamed *to = qn_arena_copy(m->arena, s, sizeof *s);

	to->input = qn_arena_str(m->arena, s->input);
	m->streamed = to;
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

/* a + b, at most `most`: a file may say anything. */
static uint64_t
added(uint64_t a, uint64_t b, uint64_t most)
{
	return a > most || b > most - a ? most : a + b;
}

void
qn_model_pruned(qn_model *m, const qn_pruned *p)
{
	qn_pruned *list = QN_NEW(m->arena, qn_pruned, m->npruned + 1);
	size_t at = 0;

	/* a new array, as an earlier state of the model may have the old one */
	if (m->npruned > 0)
		memcpy(list, m->pruned, m->npruned * sizeof(*list));
	while (at < m->npruned && strcmp(list[at].value, p->value) != 0)
		at++;
	if (at == m->npruned) {
		list[m->npruned++] = *p;
		list[at].value = qn_arena_str(m->arena, p->value);
	} else {
		list[at].removed = added(list[at].removed, p->removed, list[at].channels - 1);
		list[at].bytes = added(list[at].bytes, p->bytes, INT64_MAX);
		list[at].macs = added(list[at].macs, p->macs, INT64_MAX);
	}
	m->pruned = list;
}

void
qn_model_repaired(qn_model *m, const qn_repaired *r)
{
	qn_repaired *list = QN_NEW(m->arena, qn_repaired, m->nrepaired + 1);
	size_t at = 0;

	if (m->nrepaired > 0)
		memcpy(list, m->repaired, m->nrepaired * sizeof(*list));
	while (at < m->nrepaired && strcmp(list[at].value, r->value) != 0)
		at++;
	m->nrepaired += at == m->nrepaired;
	list[at] = *r;
	list[at].value = qn_arena_str(m->arena, r->value);
	m->repaired = list;
}

void
qn_model_widened(qn_model *m, const qn_widened *w)
{
	qn_widened *list = QN_NEW(m->arena, qn_widened, m->nwidened + 1);
	size_t at = 0;

	if (m->nwidened > 0)
		memcpy(list, m->widened, m->nwidened * sizeof(*list));
	while (at < m->nwidened && strcmp(list[at].value, w->value) != 0)
		at++;
	m->nwidened += at == m->nwidened;
	list[at] = *w;
	list[at].value = qn_arena_str(m->arena, w->value);
	m->widened = list;
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
