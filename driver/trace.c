/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - see trace.h. */
#include "driver/trace.h"

/* Scales and zero points, one or one for each index of an axis. */
static void
put_scales(const qn_types *t, const qn_elem *e, qn_arena *a, qn_traced *out)
{
	if (!qn_elem_is_quant(e) || e->gran == QN_SUB_CHANNEL)
		return;
	const size_t n = qn_elem_nparams(e);
	double *scale = QN_NEW(a, double, n);
	int64_t *zp = QN_NEW(a, int64_t, n);

	for (size_t i = 0; i < n; i++)
		qn_elem_param(t, e, i, &scale[i], &zp[i]);
	out->axis = e->gran == QN_PER_AXIS ? e->axis[0] : -1;
	out->nscales = n;
	out->scales = scale;
	out->zero_points = zp;
}

static qn_traced
described(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_type *type = n->type;
	qn_traced v = {.size = sizeof v,
		       .key = n->attr->trace.key,
		       .name = n->name,
		       .dtype = qn_plain_table[type->elem->plain].name,
		       .rank = type->rank,
		       .shape = type->dim,
		       .axis = -1};
	qn_buf text;

	qn_buf_init(&text, a);
	qn_type_print(&text, type);
	v.type = qn_buf_str(&text);
	put_scales(&g->model->types, type->elem, a, &v);
	return v;
}

static void
add_point(qn_tracing *t, const qn_graph *g, const qn_node *n, qn_arena *a)
{
	t->point = qn_arena_grow(a, t->point, &t->cap, t->n + 1, sizeof *t->point);
	t->point[t->n++] = (qn_trace_point){n, described(g, n, a)};
}

static const qn_trace_point *
point_of(const qn_tracing *t, const qn_node *n)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->point[i].node == n)
			return &t->point[i];
	return NULL;
}

/* A graph cannot call itself; one that is called twice has its points already. */
void
qn_tracing_prepare(qn_tracing *t, const qn_graph *g, qn_arena *a)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		if (n->op == QN_OP_call)
			qn_tracing_prepare(t, n->callee, a);
		else if (n->op == QN_OP_trace && point_of(t, n) == NULL)
			add_point(t, g, n, a);
	}
}

qn_status
qn_trace_value(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	qn_tracing *t = user;
	const qn_node *n = qn_graph_node(g, id);
	const qn_trace_point *p = n->op == QN_OP_trace ? point_of(t, n) : NULL;

	if (p == NULL)
		return QN_OK;
	qn_traced v = p->value;
	v.run = t->run;
	v.data = value->data;
	v.bytes = value->bytes;
	if (t->fn(t->user, &v) == 0)
		return QN_OK;
	t->ended = n;
	return QN_ECANCELLED;
}
