/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_states.c - see recorded_states.h. */
#include "calibrate/recorded_states.h"

#include "calibrate/calibrate.h"
#include "calibrate/sweep.h"
#include "ir/diag.h"
#include "ir/limits.h"

typedef struct recording {
	const qn_graph *real;
	qn_dataset *data;
	qn_arena *arena;
	const void ***value; /* [nstate][nbatch] */
} recording;

static size_t
sequence_of(const qn_dataset *d)
{
	return d->sequence > 0 ? d->sequence : d->nbatch;
}

/* What the network leaves after a batch is there before the next one. */
static void
keep(void *user, qn_env *env, const qn_interp *in, size_t first, size_t n)
{
	const recording *r = user;
	const size_t next = first + n;

	(void)env;
	if (next >= r->data->nbatch || next % sequence_of(r->data) == 0)
		return;
	for (size_t k = 0; k < r->real->nstate; k++) {
		const qn_tensor *x = qn_interp_output(in, qn_graph_given(r->real) + k);

		r->value[k][next] = qn_arena_copy(r->arena, x->data, x->bytes);
	}
}

/* No state is quantized itself, and all values fit into the limit. */
static qn_status
check(const qn_graph *g, const qn_dataset *data)
{
	qn_env *env = g->model->env;
	uint64_t bytes = 0;

	for (size_t k = 0; k < g->nstate; k++) {
		const qn_node *n = qn_graph_state(g, k);

		if (n->type->is_tuple || qn_elem_is_quant(n->type->elem))
			return qn_report(
				env, QN_EUNSUPPORTED, "calibrate.state", n->name,
				"the state is quantized already, so that no step of the "
				"network can be run by itself, as analyses and repairs do");
		bytes += qn_type_bytes(n->type);
	}
	if (bytes > qn_limit(env, QN_LIMIT_BYTES) / data->nbatch)
		return qn_limit_report(env, QN_LIMIT_BYTES, g->model->name, bytes * data->nbatch);
	return QN_OK;
}

/* All batches of the float network, from the first values at the beginning of each sequence. */
static qn_status
record(recording *r, const qn_graph *g)
{
	qn_model *m = g->model;
	qn_graph *real;
	qn_id *map;
	qn_sweep *s;

	QN_TRY(qn_erase_quantization(m, g, true, &real, &map));
	r->real = real;
	r->value = QN_NEW(r->arena, const void **, real->nstate);
	for (size_t k = 0; k < real->nstate; k++) {
		const void *first = qn_graph_state_init(real, k, r->arena)->data;

		r->value[k] = QN_NEW(r->arena, const void *, r->data->nbatch);
		for (size_t b = 0; b < r->data->nbatch; b += sequence_of(r->data))
			r->value[k][b] = first;
	}
	QN_TRY(qn_sweep_new_in_order(real, r->data, m->scratch, &s));
	s->stage = "states";
	return qn_sweep_run(s, NULL, keep, (void *[]){r});
}

qn_status
qn_record_states(const qn_graph *g, qn_dataset *data, qn_arena *a, const void *const *const **state)
{
	recording r = {.data = data, .arena = data->arena != NULL ? data->arena : a};

	if (data->states == NULL) {
		QN_TRY(check(g, data));
		QN_TRY(record(&r, g));
		data->states = (const void *const *const *)r.value;
	}
	*state = data->states;
	return QN_OK;
}
