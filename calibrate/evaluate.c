/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.c - see evaluate.h.  A plan is the part of the graph that some values need, bound and
 * prepared; it is used for batch after batch until other values are evaluated. */
#include "calibrate/evaluate.h"

#include <string.h>

#include "calibrate/evaluate_part.h"
#include "calibrate/recorded_states.h"
#include "ir/diag.h"
#include "ir/macs.h"
#include "runtime/interp.h"

/* A value of all batches, or of those that were chosen. */
typedef struct kept {
	const void **data; /* by batch; NULL: not stored */
	bool complete;     /* all chosen batches are stored */
	bool some;         /* and are not all */
} kept;

struct qn_evaluator {
	const qn_graph *g;
	qn_dataset *data;
	qn_arena *arena;
	qn_loops loops;
	bool stacks; /* values of loops are wanted for all steps */
	size_t room; /* bytes left for kept values */
	kept *kept;  /* by id */
	uint64_t runs, steps;
	size_t nchosen;
	const size_t *chosen;            /* batches that are kept; NULL: all */
	bool *is_chosen;                 /* by batch */
	const void *const *const *state; /* of each its values by batch; NULL: not looked for */
	/* the plan */
	bool few; /* begins at values of the chosen batches */
	uint64_t nstep;
	qn_arena memory;
	qn_interp *in; /* NULL: there is none */
	size_t nwant, nsource, nnode, nreplaced;
	qn_id *want, *source, *replaced;
	const qn_tensor **input;
	qn_tensor *view; /* kept sources */
};

static void
release(void *p)
{
	qn_arena_release(p);
}

qn_evaluator *
qn_evaluator_new(const qn_graph *g, qn_dataset *data, size_t budget, qn_arena *a)
{
	qn_evaluator *e = QN_NEW(a, qn_evaluator, 1);

	*e = (qn_evaluator){
		.g = g, .data = data, .arena = a, .room = budget, .kept = QN_NEW(a, kept, g->n)};
	e->loops = qn_loops_find(g, a);
	qn_arena_init(&e->memory, g->model->env);
	qn_arena_defer(a, release, &e->memory);
	return e;
}

void
qn_evaluator_stack(qn_evaluator *e)
{
	e->stacks = true;
}

uint64_t
qn_evaluator_runs(const qn_evaluator *e)
{
	return e->runs;
}

uint64_t
qn_evaluator_steps(const qn_evaluator *e)
{
	return e->steps;
}

void
qn_evaluator_choose(qn_evaluator *e, size_t n, const size_t *batch)
{
	if (e->chosen != NULL && n == e->nchosen &&
	    memcmp(batch, e->chosen, n * sizeof *batch) == 0)
		return;
	e->nchosen = n;
	e->chosen = qn_arena_copy(e->arena, batch, n * sizeof *batch);
	e->is_chosen = QN_NEW(e->arena, bool, e->data->nbatch);
	for (size_t i = 0; i < n; i++)
		e->is_chosen[batch[i]] = true;
	qn_evaluator_changed(e);
}

void
qn_evaluator_changed(qn_evaluator *e)
{
	qn_arena_release(&e->memory);
	e->in = NULL;
}

void
qn_evaluator_forget(qn_evaluator *e)
{
	for (qn_id id = 0; id < e->g->n; id++) {
		kept *k = &e->kept[id];

		if (k->data != NULL)
			e->room += qn_type_bytes(qn_graph_node(e->g, id)->type) *
				   (k->some ? e->nchosen : e->data->nbatch);
		*k = (kept){0};
	}
	qn_evaluator_changed(e);
}

/* ---- the plan ---- */

static bool
is_replaced(const qn_evaluator *e, qn_id id)
{
	for (size_t i = 0; i < e->nreplaced; i++)
		if (e->replaced[i] == id)
			return true;
	return false;
}

/* Which values depend on replaced ones: what is kept of them is of no use.  NULL: none. */
static const bool *
find_stale(qn_evaluator *e)
{
	if (e->nreplaced == 0)
		return NULL;
	bool *stale = QN_NEW(&e->memory, bool, e->g->n);
	for (qn_id id = 1; id < e->g->n; id++) {
		const qn_node *n = qn_graph_node(e->g, id);

		for (uint32_t i = 0; i < n->nin && !stale[id]; i++)
			stale[id] = stale[n->in[i]] || is_replaced(e, n->in[i]);
	}
	return stale;
}

static bool
is_source(const qn_evaluator *e, const bool *stale, qn_id id)
{
	const kept *k = &e->kept[id];

	if (stale != NULL && is_replaced(e, id))
		return true;
	if (stale != NULL && stale[id])
		return false;
	return (k->complete && (e->few || !k->some)) || qn_graph_node(e->g, id)->op == QN_OP_input;
}

/* The first symbol of a scale that has no value, or NULL. */
static const qn_symbol *
unbound(const qn_scale *s)
{
	const qn_symbol *found = NULL;

	if (s->kind == QN_SCALE_SYM)
		return s->sym->bound ? NULL : s->sym;
	if (s->a != NULL)
		found = unbound(s->a);
	if (found == NULL && s->b != NULL)
		found = unbound(s->b);
	return found;
}

qn_status
qn_evaluator_check(const qn_graph *g, const qn_node *n)
{
	const qn_elem *elem = n->type->is_tuple ? NULL : n->type->elem;

	if (elem == NULL || !qn_elem_has_symbol(elem) || unbound(elem->scale) == NULL)
		return QN_OK;
	return qn_report(g->model->env, QN_EINVALID, "calibrate.future", n->name,
			 "symbol $%s has no value yet: it belongs to a partition that is "
			 "calibrated later, or was not set",
			 unbound(elem->scale)->name);
}

/* Marks what the wanted values need; ends at sources, which it lists. */
static qn_status
search(qn_evaluator *e)
{
	const qn_graph *g = e->g;
	bool *need = QN_NEW(&e->memory, bool, g->n);
	const bool *stale = find_stale(e);
	qn_status status = QN_OK;

	e->source = QN_NEW(&e->memory, qn_id, g->n);
	e->nsource = e->nnode = 0;
	e->nstep = 0;
	for (size_t i = 0; i < e->nwant; i++)
		need[e->want[i]] = true;
	qn_id *end = QN_NEW(&e->memory, qn_id, e->loops.n);
	for (size_t i = qn_part_ends(&e->loops, e->nwant, e->want, end); i > 0; i--)
		need[end[i - 1]] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		if (!need[id])
			continue;
		if (is_source(e, stale, id)) {
			e->source[e->nsource++] = id;
			continue;
		}
		if (qn_evaluator_check(g, n) != QN_OK)
			status = QN_EINVALID;
		e->nnode += n->op != QN_OP_const;
		if (n->op != QN_OP_const && !n->type->is_tuple)
			e->nstep += qn_loop_runs(&e->loops, id) *
				    (qn_node_macs(g, n) + (uint64_t)qn_type_count(n->type));
		for (uint32_t i = 0; i < n->nin; i++)
			need[n->in[i]] = true;
	}
	return status;
}

/* A batch by itself has no states: they are those of the float network, recorded once. */
static qn_status
find_states(qn_evaluator *e)
{
	const size_t fed = qn_graph_fed(e->g);

	for (size_t i = 0; i < e->nsource && e->state == NULL; i++)
		for (size_t k = 0; k < e->g->nstate && e->state == NULL; k++)
			if (e->source[i] == e->g->input[fed + k] && !is_replaced(e, e->source[i]))
				QN_TRY(qn_record_states(e->g, e->data, e->arena, &e->state));
	return QN_OK;
}

static bool
are_same(size_t n, const qn_id *a, size_t m, const qn_id *b)
{
	return n == m && (n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

static qn_status
plan(qn_evaluator *e, const qn_replaced *with, size_t n, const qn_id *id, bool few)
{
	qn_graph *part;

	if (e->in != NULL && few == e->few && are_same(n, id, e->nwant, e->want) &&
	    are_same(with->n, with->id, e->nreplaced, e->replaced))
		return QN_OK;
	qn_evaluator_changed(e);
	e->few = few;
	e->nwant = n;
	e->want = qn_arena_copy(&e->memory, id, n * sizeof *id);
	e->nreplaced = with->n;
	e->replaced =
		with->n > 0 ? qn_arena_copy(&e->memory, with->id, with->n * sizeof *id) : NULL;
	QN_TRY(qn_part_check(e->g, &e->loops, e->nreplaced, e->replaced, !e->stacks, n, id));
	QN_TRY(search(e));
	QN_TRY(find_states(e));
	QN_TRY(qn_part_extract(e->g, &e->loops, e->nsource, e->source, n, id, &e->memory, &part));
	QN_TRY(qn_interp_new(part, &e->memory, &e->in));
	e->input = QN_NEW(&e->memory, const qn_tensor *, e->nsource);
	e->view = QN_NEW(&e->memory, qn_tensor, e->nsource);
	for (size_t i = 0; i < e->nsource; i++) {
		const qn_type *type = qn_graph_node(part, part->input[i])->type;

		e->view[i] = (qn_tensor){.type = type, .bytes = qn_type_bytes(type)};
	}
	return QN_OK;
}

/* ---- runs ---- */

/* The index of an input node in the graph's signature. */
static size_t
input_index(const qn_graph *g, qn_id id)
{
	size_t k = 0;

	while (g->input[k] != id)
		k++;
	return k;
}

/* What a source is replaced with; NULL: it is not. */
static const void *
replacement(const qn_replaced *with, qn_id id)
{
	for (size_t i = 0; i < with->n; i++)
		if (with->id[i] == id)
			return with->data[i];
	return NULL;
}

qn_status
qn_evaluator_run(qn_evaluator *e, size_t n, const qn_id *id, size_t batch, const qn_tensor **out)
{
	return qn_evaluator_run_with(e, &(qn_replaced){0}, n, id, batch, out);
}

qn_status
qn_evaluator_run_with(qn_evaluator *e, const qn_replaced *with, size_t n, const qn_id *id,
		      size_t batch, const qn_tensor **out)
{
	const qn_tensor *const *sample = NULL;

	QN_TRY(plan(e, with, n, id, e->chosen != NULL && e->is_chosen[batch]));
	for (size_t i = 0; i < e->nsource; i++) {
		qn_id from = e->source[i];
		const void *instead = replacement(with, from);

		if (instead != NULL) {
			e->view[i].data = instead;
			e->input[i] = &e->view[i];
			continue;
		}
		if (e->kept[from].complete && e->kept[from].data[batch] != NULL) {
			e->view[i].data = e->kept[from].data[batch];
			e->input[i] = &e->view[i];
			continue;
		}
		const size_t at = input_index(e->g, from);
		if (at >= qn_graph_fed(e->g)) {
			e->view[i].data = e->state[at - qn_graph_fed(e->g)][batch];
			e->input[i] = &e->view[i];
			continue;
		}
		if (sample == NULL)
			QN_TRY(e->data->get(e->data, batch, e->arena, &sample));
		e->input[i] = sample[at];
	}
	QN_TRY(qn_interp_run(e->in, e->input, NULL, NULL));
	e->runs += e->nnode;
	e->steps += e->nstep;
	for (size_t i = 0; i < n; i++)
		out[i] = qn_interp_output(e->in, i);
	return QN_OK;
}

/* Those of the values that there is room for and that are not stored already. */
static size_t
choose(qn_evaluator *e, size_t n, const qn_id *id, qn_id *chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		const qn_node *node = qn_graph_node(e->g, id[i]);
		size_t bytes = qn_type_bytes(node->type);
		size_t batches = e->chosen != NULL ? e->nchosen : e->data->nbatch;

		if (e->kept[id[i]].data != NULL || node->op == QN_OP_input ||
		    node->op == QN_OP_const || qn_part_is_in_loop(&e->loops, id[i]) ||
		    bytes > e->room / batches)
			continue;
		e->room -= bytes * batches;
		e->kept[id[i]].data = QN_NEW(e->arena, const void *, e->data->nbatch);
		chosen[count++] = id[i];
	}
	return count;
}

qn_status
qn_evaluator_cache(qn_evaluator *e, size_t n, const qn_id *id)
{
	qn_id *chosen = QN_NEW(e->arena, qn_id, n);
	const qn_tensor **value = QN_NEW(e->arena, const qn_tensor *, n);
	size_t count = choose(e, n, id, chosen);

	size_t batches = e->chosen != NULL ? e->nchosen : e->data->nbatch;

	for (size_t k = 0; count > 0 && k < batches; k++) {
		size_t b = e->chosen != NULL ? e->chosen[k] : k;

		QN_TRY(qn_evaluator_run(e, count, chosen, b, value));
		for (size_t i = 0; i < count; i++)
			e->kept[chosen[i]].data[b] =
				qn_arena_copy(e->arena, value[i]->data, value[i]->bytes);
	}
	for (size_t i = 0; i < count; i++) {
		e->kept[chosen[i]].complete = true;
		e->kept[chosen[i]].some = batches < e->data->nbatch;
	}
	qn_evaluator_changed(e); /* plans can begin at the kept values */
	return QN_OK;
}
