/* SPDX-License-Identifier: Apache-2.0 */
/* graph_parse_state.c - reads the states of a graph from its text, and what hops it takes.
 *
 *   streamed "x" axis 1, 2 of 49
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
qn_read_streamed(qn_reader *r)
{
	qn_streamed s = {0};
	int64_t axis;

	if (!qn_read_quoted(r, &s.input))
		return false;
	if (!qn_text_eat(&r->text, "axis") || !qn_text_int(&r->text, &axis) ||
	    !qn_text_eat(&r->text, ",") || !qn_text_int(&r->text, &s.hop) ||
	    !qn_text_eat(&r->text, "of") || !qn_text_int(&r->text, &s.window) || axis < 1 ||
	    axis >= QN_MAX_RANK || s.hop < 1 || s.window <= s.hop)
		return qn_read_fail(
			r, "expected 'axis A, H of W' rows, A from 1 to %d, H from 1 to W - 1",
			QN_MAX_RANK - 1);
	s.axis = (int32_t)axis;
	qn_model_streamed(r->m, &s);
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
