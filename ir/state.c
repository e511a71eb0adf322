/* SPDX-License-Identifier: Apache-2.0 */
/* state.c - values that a network keeps from one run to the next.
 *
 *   graph @main(%x: tensor<1x4xf32>, %h: tensor<1x4xf32> state) {
 *     %n = add %x, %h
 *     %y = relu %n
 *     return %y, %n to %h
 *   }
 *
 * The last inputs are the states' values before a run, the last outputs those after it: a graph is a
 * function (inputs, states) -> (outputs, states).  So a pass that keeps inputs and outputs keeps states
 * as well, and all reads come before all writes. */
#include <string.h>

#include "ir/diag.h"
#include "ir/graph.h"

void
qn_graph_add_state(qn_graph *g, const qn_tensor *init)
{
	g->init = qn_arena_grow(g->arena, (void *)g->init, &g->state_cap, g->nstate + 1,
				sizeof(const qn_tensor *));
	g->init[g->nstate++] = init;
}

void
qn_graph_copy_states(qn_graph *g, const qn_graph *from)
{
	g->nstate = g->state_cap = from->nstate;
	g->init = from->nstate > 0 ? qn_arena_copy(g->arena, (const void *)from->init,
						   from->nstate * sizeof(const qn_tensor *))
				   : NULL;
}

const qn_node *
qn_graph_state(const qn_graph *g, size_t k)
{
	return qn_graph_node(g, g->input[qn_graph_fed(g) + k]);
}

bool
qn_graph_reads_tokens(const qn_graph *g)
{
	if (g->nstate == 0 || qn_graph_fed(g) != 1 || qn_graph_given(g) != 1)
		return false;
	const qn_type *token = qn_graph_node(g, g->input[0])->type;
	const qn_elem *e = token->elem;

	return e->kind == QN_ELEM_PLAIN && (e->plain == QN_PLAIN_i32 || e->plain == QN_PLAIN_i64) &&
	       qn_type_count(token) == 1;
}

const qn_type *
qn_state_init_type(qn_types *t, const qn_type *state)
{
	const qn_elem *e = state->elem;

	return e->kind == QN_ELEM_UNIFORM
		       ? qn_type_with_elem(t, state, qn_elem_plain(t, e->expressed))
		       : state;
}

const qn_tensor *
qn_graph_state_init(const qn_graph *g, size_t k, qn_arena *a)
{
	qn_types *t = &g->model->types;
	const qn_type *type = qn_graph_state(g, k)->type;
	const qn_tensor *init = g->init[k];
	void *data;

	if (init == NULL)
		init = qn_tensor_new(a, qn_state_init_type(t, type), &data); /* zeroed */
	return type->elem->kind == QN_ELEM_UNIFORM ? qn_tensor_quantize(t, a, init, type) : init;
}

static const char *
place_of(const qn_graph *g)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	qn_buff(&b, "graph @%s", g->name);
	return qn_buf_str(&b);
}

static const char *
text(const qn_graph *g, const qn_type *t)
{
	qn_buf b;

	qn_buf_init(&b, g->model->scratch);
	qn_type_print(&b, t);
	return qn_buf_str(&b);
}

static void
verify_state(const qn_graph *g, size_t k)
{
	const qn_node *s = qn_graph_state(g, k);
	const qn_output *o = &g->output[qn_graph_given(g) + k];
	const qn_type *next =
		o->value > 0 && o->value < g->n ? qn_graph_node(g, o->value)->type : s->type;

	if (next != s->type)
		(void)qn_report(g->model->env, QN_EINVALID, "verify.state", place_of(g),
				"state '%s' has type %s, but its next value '%s' has type %s; both "
				"must be equal",
				s->name, text(g, s->type), o->name, text(g, next));
	else if (s->type->is_tuple || s->type->elem->kind == QN_ELEM_CALIBRATED)
		(void)qn_report(g->model->env, QN_EINVALID, "verify.state", place_of(g),
				"state '%s' has type %s, whose values cannot be stored; use a "
				"tensor of plain or quantized elements",
				s->name, text(g, s->type));
	else if (g->init[k] != NULL &&
		 g->init[k]->type != qn_state_init_type(&g->model->types, s->type))
		(void)qn_report(g->model->env, QN_EINVALID, "verify.state", place_of(g),
				"state '%s' starts with values of type %s, expected %s", s->name,
				text(g, g->init[k]->type),
				text(g, qn_state_init_type(&g->model->types, s->type)));
}

void
qn_states_verify(const qn_graph *g)
{
	if (g->nstate == 0)
		return;
	if (g->nstate > g->ninput || g->nstate >= g->noutput) {
		(void)qn_report(g->model->env, QN_EINVALID, "verify.state", place_of(g),
				"the graph has %zu states, %zu inputs and %zu outputs; each state "
				"is an input and has an output for its next value, and at least "
				"one other output must be returned",
				g->nstate, g->ninput, g->noutput);
		return;
	}
	if (g != qn_model_entry(g->model))
		(void)qn_report(g->model->env, QN_EINVALID, "verify.state", place_of(g),
				"state '%s' is in a graph that is called; only the entry graph has "
				"states",
				qn_graph_state(g, 0)->name);
	for (size_t k = 0; k < g->nstate; k++)
		verify_state(g, k);
}

bool
qn_states_equal(const qn_graph *a, const qn_graph *b)
{
	if (a->nstate != b->nstate)
		return false;
	for (size_t k = 0; k < a->nstate; k++) {
		const qn_tensor *x = a->init[k], *y = b->init[k];

		if ((x == NULL) != (y == NULL))
			return false;
		if (x != NULL && (x->bytes != y->bytes || memcmp(x->data, y->data, x->bytes) != 0))
			return false;
	}
	return true;
}
