/* SPDX-License-Identifier: Apache-2.0 */
/* json_state.c - the states of a graph: the last inputs, and the last outputs in the same order.
 *
 *   "inputs": [{"name": "x", "type": …}, {"name": "h", "type": …, "state": true, "data": [0.5, -1]}]
 *   "outputs": [{"name": "y", "value": "y"}, {"name": "h.next", "value": "n", "to": "h"}] */
#include <string.h>

#include "formats/json_nodes.h"

void
qn_json_read_state(qn_json_nodes *s, const qn_json_entry *e)
{
	qn_json_reader *r = s->r;
	const qn_json *state = qn_json_want(&r->doc, e->v, "state", QN_JSON_BOOL);
	const qn_json *data = qn_json_want(&r->doc, e->v, "data", QN_JSON_ARRAY);
	const qn_tensor *init = NULL;

	if (state == NULL || !state->truth) {
		if (data != NULL)
			qn_json_error(r, data, "json.key.unknown",
				      "only an input with \"state\": true has 'data'");
		s->disordered = s->disordered || s->g->nstate > 0;
		if (s->g->nstate > 0)
			qn_json_error(r, e->v, "state.order",
				      "input '%s' comes after a state; put states last",
				      e->like.name);
		return;
	}
	if (e->state != QN_ENTRY_DONE)
		return;
	const qn_type *type = qn_graph_node(s->g, e->id)->type;
	if (data != NULL && !type->is_tuple)
		init = qn_json_inline(r, e->v, e->like.name, data,
				      qn_state_init_type(&r->m->types, type));
	qn_graph_add_state(s->g, init);
}

void
qn_json_next(qn_json_nodes *s, const qn_json *v, const char *name)
{
	const qn_graph *g = s->g;
	const qn_json *to = v->kind == QN_JSON_OBJECT
				    ? qn_json_want(&s->r->doc, v, "to", QN_JSON_STRING)
				    : NULL;

	if (s->disordered)
		return;
	if (to == NULL) {
		if (s->nnext > 0)
			qn_json_error(s->r, v, "state.order",
				      "output '%s' comes after the next value of a state; put next "
				      "values last",
				      name);
		return;
	}
	const char *want = s->nnext < g->nstate ? qn_graph_state(g, s->nnext)->name : NULL;
	if (want == NULL || strcmp(want, to->string) != 0)
		qn_json_error(s->r, to, "state.order",
			      "output '%s' goes to '%s' (expected %s%s%s); next values come in the "
			      "order of the states",
			      name, to->string, want != NULL ? "state '" : "no further state",
			      want != NULL ? want : "", want != NULL ? "'" : "");
	s->nnext++;
}

void
qn_json_states_end(const qn_json_nodes *s, const qn_json *outputs)
{
	if (!s->disordered && s->nnext < s->g->nstate)
		qn_json_error(s->r, outputs, "state.missing",
			      "state '%s' has no next value; add an output {\"name\": …, "
			      "\"value\": …, \"to\": \"%s\"}",
			      qn_graph_state(s->g, s->nnext)->name,
			      qn_graph_state(s->g, s->nnext)->name);
}
