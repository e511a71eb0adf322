/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse_state.c - reads the states of a graph from its text.
 *
 *   graph @main(%x: tensor<4xf32>, %h: tensor<4xf32> state splat 0.5) {
 *     …
 *     return %y, %n to %h */
#include <string.h>

#include "ir/graph_text.h"

bool
qn_read_state(qn_reader *r, const qn_type *type, qn_id id)
{
	const qn_tensor *init = NULL;

	if (!qn_text_peek(&r->text, ",") && !qn_text_peek(&r->text, ")") &&
	    !qn_read_const(r,
			   type != NULL && !type->is_tuple ? qn_state_init_type(&r->m->types, type)
							   : NULL,
			   &init))
		return false;
	if (id != 0)
		qn_graph_add_state(r->g, init);
	return true;
}

bool
qn_read_next(qn_reader *r, const char *place, const char *name, size_t *next)
{
	const qn_graph *g = r->g;
	const char *state;

	if (!qn_text_eat(&r->text, "to")) {
		if (*next > 0)
			(void)qn_report(r->m->env, QN_EINVALID, "state.order", place,
					"output '%s' comes after the next value of a state; put "
					"next values last",
					name);
		return true;
	}
	if (!qn_read_name(r, "%", &state))
		return false;
	if (*next >= g->nstate || strcmp(qn_graph_state(g, *next)->name, state) != 0)
		(void)qn_report(r->m->env, QN_EINVALID, "state.order", place,
				"output '%s' goes to '%%%s' (expected %s%s); next values come in "
				"the order of the states",
				name, state, *next < g->nstate ? "state %" : "no further state",
				*next < g->nstate ? qn_graph_state(g, *next)->name : "");
	++*next;
	return true;
}

void
qn_read_states_end(qn_reader *r, size_t next)
{
	if (next < r->g->nstate)
		(void)qn_report(r->m->env, QN_EINVALID, "state.missing", qn_read_place(r),
				"state '%s' of @%s has no next value; return one: %%NAME to %%%s",
				qn_graph_state(r->g, next)->name, r->g->name,
				qn_graph_state(r->g, next)->name);
}
