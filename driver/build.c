/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - models that a host builds value by value. */
#include <string.h>

#include "driver/context.h"
#include "driver/host_struct.h"
#include "ir/nearest.h"
#include "quern/graph.h"

typedef struct build_call {
	qn_ctx *ctx;
	qn_graph *g;
	const char *op, *name, *attrs, *type;
	size_t nin;
	const qn_id *in;
	const qn_array *array;
	qn_id id;          /* result, or the value to return */
	qn_model_box *box; /* under construction */
} build_call;

static qn_status
create(void *arg, qn_arena *scratch)
{
	build_call *c = arg;

	(void)scratch;
	qn_box_new(c->ctx, c->name, &c->box);
	qn_model_add_graph(&c->box->m, qn_graph_new(&c->box->m, "main"));
	return QN_OK;
}

qn_status
qn_model_new(qn_ctx *ctx, const char *name, qn_model **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(ctx, name, out));
	build_call c = {.ctx = ctx, .name = name};
	qn_status status = qn_guard(ctx, create, &c);

	*out = status == QN_OK ? &c.box->m : NULL;
	if (status != QN_OK && c.box != NULL)
		qn_model_free(&c.box->m);
	return status;
}

qn_graph *
qn_model_main(qn_model *m)
{
	if (m == NULL)
		return NULL;
	return qn_model_entry(m);
}

/* Runs one step of building; its value, or 0. */
static qn_id
step(qn_guarded_fn *fn, build_call *c)
{
	return qn_guard_build(c->g->model, fn, c) == QN_OK ? c->id : 0;
}

/* The place of what has no node yet. */
static const char *
place(const build_call *c, const char *what)
{
	qn_buf b;

	qn_buf_init(&b, c->g->model->arena);
	qn_buff(&b, "%s '%s'", what, c->name != NULL ? c->name : "");
	return qn_buf_str(&b);
}

static qn_status
add_input(void *arg, qn_arena *scratch)
{
	build_call *c = arg;
	const qn_type *type;

	(void)scratch;
	QN_TRY(qn_type_parse_str(&c->g->model->types, place(c, "input"), c->type, &type));
	c->id = qn_graph_input(c->g, c->name, type);
	return QN_OK;
}

qn_id
qn_add_input(qn_graph *g, const char *name, const char *type)
{
	if (QN_GIVEN(qn_graph_ctx(g), type) != QN_OK)
		return 0;
	return step(add_input, &(build_call){.g = g, .name = name, .type = type});
}

static qn_status
add_const(void *arg, qn_arena *scratch)
{
	build_call *c = arg;
	qn_model *m = c->g->model;
	const qn_tensor *x = NULL;

	QN_TRY(qn_array_read(c->array, scratch, &x));
	const qn_type *type =
		qn_type_plain(&m->types, x->type->elem->plain, x->type->rank, x->type->dim);
	c->id = qn_graph_const(c->g, c->name, qn_tensor_of(m->arena, type, x->data));
	return QN_OK;
}

qn_id
qn_add_const(qn_graph *g, const char *name, const qn_array *value)
{
	if (g == NULL || value == NULL)
		return 0;
	return step(add_const, &(build_call){.g = g, .name = name, .array = value});
}

static qn_status
check_inputs(const build_call *c)
{
	for (size_t i = 0; i < c->nin; i++)
		if (c->in[i] >= c->g->n)
			return qn_report(c->g->model->env, QN_EUSAGE, "graph.value.undefined",
					 place(c, "node"),
					 "input %zu is value %u, but the graph has %u values", i,
					 c->in[i], c->g->n - 1);
	return QN_OK;
}

static qn_status
unknown_op(const build_call *c)
{
	const char *best = qn_nearest_op(c->g->model->env, c->op);

	return qn_report(c->g->model->env, QN_EUSAGE, "op.unknown", place(c, "node"),
			 "unknown op '%s'" QN_DID_YOU_MEAN " (`quern supported-ops` lists the ops)",
			 c->op, QN_SUGGEST(best));
}

static qn_status
add_op(void *arg, qn_arena *scratch)
{
	build_call *c = arg;
	qn_model *m = c->g->model;
	const qn_type *type = NULL;
	qn_attrs attrs;
	qn_op op;
	const qn_opinfo *info = qn_op_lookup(m->env, c->op, &op);

	(void)scratch;
	if (info == NULL)
		return unknown_op(c);
	if (op == QN_OP_input || op == QN_OP_const || op == QN_OP_call)
		return qn_report(m->env, QN_EUSAGE, "op.unknown", place(c, "node"),
				 "'%s' takes more than inputs and attributes: inputs are made with "
				 "qn_add_input, constants with qn_add_const",
				 c->op);
	QN_TRY(check_inputs(c));
	QN_TRY(qn_attrs_parse(m, info, place(c, "node"), c->attrs != NULL ? c->attrs : "", &attrs));
	if (c->type != NULL)
		QN_TRY(qn_type_parse_str(&m->types, place(c, "node"), c->type, &type));
	c->id = qn_graph_op(c->g, op, c->name, (uint32_t)c->nin, c->in, &attrs, type);
	return QN_OK;
}

qn_id
qn_add_op(qn_graph *g, const char *op, const char *name, size_t n, const qn_id *in,
	  const char *attrs, const char *type)
{
	if (QN_GIVEN(qn_graph_ctx(g), op) != QN_OK ||
	    qn_host_list(g->model->env, "in", n, in) != QN_OK)
		return 0;
	for (size_t i = 0; i < n; i++)
		if (in[i] == 0)
			return 0;
	return step(add_op, &(build_call){.g = g,
					  .op = op,
					  .name = name,
					  .nin = n,
					  .in = in,
					  .attrs = attrs,
					  .type = type});
}

static qn_status
add_output(void *arg, qn_arena *scratch)
{
	build_call *c = arg;

	(void)scratch;
	if (c->id >= c->g->n)
		return qn_report(c->g->model->env, QN_EUSAGE, "graph.value.undefined",
				 place(c, "output"), "value %u, but the graph has %u values", c->id,
				 c->g->n - 1);
	for (size_t i = 0; i < c->g->noutput; i++)
		if (strcmp(c->g->output[i].name, c->name) == 0)
			return qn_report(c->g->model->env, QN_EINVALID, "graph.name.duplicate",
					 place(c, "output"), "duplicate output name");
	qn_graph_output(c->g, c->name, c->id);
	return QN_OK;
}

qn_status
qn_add_output(qn_graph *g, const char *name, qn_id value)
{
	QN_TRY(QN_GIVEN(qn_graph_ctx(g), name));
	if (value == 0)
		return QN_EINVALID; /* reported where it was made */
	return qn_guard_build(g->model, add_output,
			      &(build_call){.g = g, .name = name, .id = value});
}

/* ---- reading ---- */

size_t
qn_graph_size(const qn_graph *g)
{
	return g != NULL ? g->n - 1 : 0;
}

qn_value_info
qn_value(const qn_graph *g, qn_id v)
{
	if (g == NULL || v == 0 || v >= g->n)
		return (qn_value_info){.rank = -1};
	const qn_node *n = qn_graph_node(g, v);
	qn_value_info info = {.name = n->name,
			      .op = qn_opinfo_of(n)->name,
			      .nin = n->nin,
			      .in = n->in,
			      .rank = n->type->is_tuple ? -1 : n->type->rank,
			      .shape = n->type->dim};

	if (n->op == QN_OP_const) {
		info.data = n->value->data;
		info.bytes = n->value->bytes;
	}
	return info;
}

qn_id
qn_value_find(const qn_graph *g, const char *name)
{
	return g != NULL && name != NULL ? qn_graph_find(g, name) : 0;
}

static qn_status
print_type(void *arg, qn_arena *scratch)
{
	build_call *c = arg;
	qn_buf b;

	(void)scratch;
	qn_buf_init(&b, c->g->model->arena);
	qn_type_print(&b, qn_graph_node(c->g, c->id)->type);
	c->type = qn_buf_str(&b);
	return QN_OK;
}

const char *
qn_value_type(qn_graph *g, qn_id v)
{
	build_call c = {.g = g, .id = v};

	if (g == NULL || v == 0 || v >= g->n)
		return NULL;
	return qn_guard(qn_box(g->model)->ctx, print_type, &c) == QN_OK ? c.type : NULL;
}

static qn_status
print_attrs(void *arg, qn_arena *scratch)
{
	build_call *c = arg;
	qn_buf b;

	(void)scratch;
	qn_buf_init(&b, c->g->model->arena);
	(void)qn_attrs_print(&b, qn_graph_node(c->g, c->id), "");
	c->attrs = qn_buf_str(&b);
	return QN_OK;
}

const char *
qn_value_attrs(qn_graph *g, qn_id v)
{
	build_call c = {.g = g, .id = v};

	if (g == NULL || v == 0 || v >= g->n)
		return NULL;
	return qn_guard(qn_box(g->model)->ctx, print_attrs, &c) == QN_OK ? c.attrs : NULL;
}
