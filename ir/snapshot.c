/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c - a model as it was before a change, for a change that fails.
 *
 *   qn_snapshot s = qn_model_snapshot(m, arena);
 *   if (change(m) != QN_OK)
 *           qn_model_restore(m, &s);
 *
 * All members are kept, also those that do not exist yet; only what grows in place is kept by its
 * length.  Graphs, nodes, tensors and interned types never change, so they are kept by address. */
#include "ir/snapshot.h"

#include <string.h>

qn_snapshot
qn_model_snapshot(const qn_model *m, qn_arena *a)
{
	return (qn_snapshot){
		.model = *m,
		.graph = qn_arena_copy(a, (const void *)m->graph, m->ngraph * sizeof(qn_graph *)),
		.types = qn_types_save(&m->types, a)};
}

void
qn_model_restore(qn_model *m, const qn_snapshot *s)
{
	const qn_model now = *m;

	*m = s->model;
	m->types = now.types; /* arrays and tables may have moved when they grew */
	m->graph = now.graph;
	m->graph_cap = now.graph_cap;
	if (m->ngraph > 0)
		memcpy(m->graph, s->graph, m->ngraph * sizeof(qn_graph *));
	qn_types_restore(&m->types, &s->types);
}

typedef struct change {
	qn_model *m;
	qn_model_fn *fn;
	void *arg;
} change;

static qn_status
make_change(void *arg, qn_arena *a)
{
	change *c = arg;

	(void)a;
	return c->fn(c->arg, c->m);
}

qn_status
qn_model_change(qn_model *m, qn_arena *a, qn_model_fn *fn, void *arg)
{
	const qn_snapshot before = qn_model_snapshot(m, a);
	change c = {m, fn, arg};
	const qn_status status = qn_arena_try(a, make_change, &c);

	if (status != QN_OK)
		qn_model_restore(m, &before);
	return status;
}
