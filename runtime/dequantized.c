/* SPDX-License-Identifier: Apache-2.0 */
/* dequantized.c - a node on quantized values that no kernel takes, as a graph of its own:
 *
 *   %y = transpose %x         --->    %d = dequantize %x   %f = transpose %d   %y = quantize %f
 *
 * Only where the host allows it (qn_kernel_rules), and only in the interpreter. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "ir/diag.h"
#include "runtime/interp_impl.h"

struct qn_dequantized {
	qn_interp *in;
	qn_tensor *operand;
	const qn_tensor **operands;
	size_t nin, bytes;
};

/* The float value of operand i: of a constant that of its elements, of plain integers themselves. */
static qn_id
operand_of(qn_graph *to, const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_node *x = qn_graph_node(g, n->in[i]);
	char name[16];

	(void)snprintf(name, sizeof name, "x%u",
		       (unsigned)i); /* one value may be several operands */
	const qn_id id = x->op == QN_OP_const ? qn_graph_const(to, name, x->value)
					      : qn_graph_input(to, name, x->type);

	if (id == 0 || x->type->elem->kind != QN_ELEM_UNIFORM)
		return id;
	return qn_graph_op(to, QN_OP_dequantize, NULL, 1, &id, NULL, NULL);
}

/* The graph; false: it has no types. */
static bool
build(qn_graph *to, const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_id *in = QN_NEW(a, qn_id, n->nin + 1), y;

	if (n->type->is_tuple || n->type->elem->kind != QN_ELEM_UNIFORM)
		return false;
	for (uint32_t i = 0; i < n->nin; i++) {
		in[i] = operand_of(to, g, n, i);
		if (in[i] == 0)
			return false;
	}
	y = qn_graph_op(to, n->op, n->name, n->nin, in, n->attr, NULL);
	y = y != 0 ? qn_graph_op(to, QN_OP_quantize, NULL, 1, &y, NULL, n->type) : 0;
	if (y != 0)
		qn_graph_output(to, "y", y);
	return y != 0;
}

typedef struct making {
	const qn_graph *g;
	const qn_node *n;
	qn_interp *in;
} making;

static qn_status
make(void *arg, qn_arena *a)
{
	making *c = arg;
	qn_graph *to = qn_graph_new_in(c->g->model, c->n->name, a);

	return build(to, c->g, c->n, a) ? qn_interp_new(to, a, &c->in) : QN_EUNSUPPORTED;
}

/* The rule does not hold inside of the graph, or a node without a kernel would be made into such a
 * graph without end. */
static qn_status
make_without_rule(making *c, qn_arena *a)
{
	qn_env *env = c->g->model->env;
	const bool allowed = env->allow_dequantize;

	env->allow_dequantize = false;
	const qn_status status = qn_arena_try(a, make, c);
	env->allow_dequantize = allowed; /* when memory runs out, too */
	if (status == QN_ENOMEM)
		qn_env_oom(env);
	return status;
}

qn_dequantized *
qn_dequantized_prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	qn_dequantized *d = QN_NEW(a, qn_dequantized, 1);
	making c = {.g = g, .n = n};
	const qn_diag_mark mark = qn_diag_mark_now(g->model->env);

	if (make_without_rule(&c, a) != QN_OK) {
		qn_diag_forget(g->model->env, mark);
		return NULL;
	}
	d->in = c.in;
	d->nin = n->nin;
	d->bytes = qn_type_bytes(n->type);
	d->operand = QN_NEW(a, qn_tensor, n->nin + 1);
	d->operands = QN_NEW(a, const qn_tensor *, n->nin + 1);
	for (uint32_t i = 0, k = 0; i < n->nin; i++) {
		const qn_node *x = qn_graph_node(g, n->in[i]);

		d->operand[i] = (qn_tensor){.type = x->type, .bytes = qn_type_bytes(x->type)};
		if (x->op != QN_OP_const)
			d->operands[k++] = &d->operand[i];
	}
	return d;
}

void
qn_dequantized_run(qn_dequantized *d, const void *const *in, void *out)
{
	for (size_t i = 0; i < d->nin; i++)
		d->operand[i].data = in[i];
	/* three ops on operands of their own types, which nobody observes */
	const qn_status status = qn_interp_run(d->in, d->operands, NULL, NULL);
	assert(status == QN_OK);
	(void)status;
	if (d->bytes > 0)
		memcpy(out, qn_interp_output(d->in, 0)->data, d->bytes);
}
