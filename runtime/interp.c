/* SPDX-License-Identifier: Apache-2.0 */
/* interp.c - runs a graph node by node.
 *
 * Each graph that is called has one interpreter of its own, shared by all its calls: a call
 * points its inputs to the caller's values, runs it and copies the results out.  A graph cannot
 * call itself, so none is in use twice.
 *
 * In a bundle each node runs for all batches before the next one does; a graph with loops runs one batch at a
 * time, each loop step by step. */
#include "runtime/interp.h"

#include <string.h>

#include "runtime/interp_impl.h"

/* As many batches as their values' budget holds. */
static size_t
bundle_for(const qn_interp *in, size_t most)
{
	size_t given = in->g->model->env->bundle_bytes;
	size_t budget = given > 0 ? given : QN_BUNDLE_BYTES;
	size_t each = qn_interp_bytes(in);
	size_t n = each > 0 ? budget / each : QN_MOST_BUNDLE;

	n = n < most ? n : most;
	n = n < QN_MOST_BUNDLE ? n : QN_MOST_BUNDLE;
	return n > 0 ? n : 1;
}

static void run_node(qn_interp *in, qn_id id, size_t batches);

static void
allocate_states(qn_interp *in, qn_arena *a)
{
	const qn_graph *g = in->g;

	in->state = QN_NEW(a, void *, g->nstate);
	in->init = QN_NEW(a, const qn_tensor *, g->nstate);
	for (size_t k = 0; k < g->nstate; k++) {
		in->init[k] = qn_graph_state_init(g, k, a);
		in->state[k] = qn_arena_alloc(a, in->init[k]->bytes * in->bundle + 1, 1);
	}
}

void
qn_interp_reset(qn_interp *in)
{
	for (size_t k = 0; k < in->g->nstate; k++)
		for (size_t j = 0; j < in->bundle; j++)
			if (in->init[k]->bytes > 0)
				memcpy((char *)in->state[k] + j * in->init[k]->bytes,
				       in->init[k]->data, in->init[k]->bytes);
}

/* The values of fixed nodes, which all batches and runs read. */
static void
compute_fixed(qn_interp *in, qn_arena *a)
{
	for (qn_id id = 1; id < in->g->n; id++) {
		if (!in->fixed[id])
			continue;
		qn_slot *slot = qn_slots_of(&in->slots, id, 0);
		char *data = qn_arena_alloc(a, slot->tensor.bytes + QN_SLOT_ALIGN, 1);
		slot->tensor.data = data + (size_t)(-(uintptr_t)data % QN_SLOT_ALIGN);
		run_node(in, id, 1);
	}
}

qn_status
qn_interp_new_bundle(const qn_graph *g, size_t most, qn_arena *arena, qn_interp **out)
{
	qn_interps f = {.arena = arena, .room = QN_PACK_BYTES, .fixed = QN_FIXED_BYTES};
	qn_interp *in = qn_interp_prepare(&f, g, 0);

	*out = in->failed ? NULL : in;
	if (in->failed)
		return QN_EUNSUPPORTED;
	bool loops = false;
	for (const qn_interp *i = in; i != NULL; i = i->next)
		loops = loops || i->loops.n > 0;
	/* who observes the steps of a loop sees those of a batch one after the other */
	size_t bundle = loops ? 1 : bundle_for(in, most);
	for (qn_interp *i = in; i != NULL; i = i->next) {
		i->bundle = bundle;
		qn_slots_allocate(&i->slots, bundle, arena);
		i->next_values = QN_NEW(arena, char, i->carried + 1);
		compute_fixed(i, arena);
	}
	allocate_states(in, arena);
	qn_interp_reset(in);
	return QN_OK;
}

qn_status
qn_interp_new(const qn_graph *g, qn_arena *arena, qn_interp **out)
{
	return qn_interp_new_bundle(g, 1, arena, out);
}

size_t
qn_interp_bundle(const qn_interp *in)
{
	return in->bundle;
}

/* The memory of a planned slot; the tensor shows it to readers as const. */
static void *
writable(const qn_slot *slot)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): every input has a slot */
	return (void *)(uintptr_t)slot->tensor.data;
}

/* Batch j of a slot. */
static qn_tensor
batch_of(const qn_slot *slot, size_t j)
{
	qn_tensor x = slot->tensor;

	x.data = slot->step > 0 ? (const char *)x.data + j * slot->step : x.data;
	return x;
}

static void
copy_to(const qn_slot *slot, size_t j, const qn_tensor *x)
{
	if (x->bytes > 0)
		memcpy((char *)writable(slot) + j * slot->step, x->data, x->bytes);
}

static qn_status run_graph(qn_interp *in, size_t n, qn_observe_fn *observe, void *user);

static qn_status
run_call(qn_interp *in, qn_id id, size_t batches, qn_observe_fn *observe, void *user)
{
	const qn_node *n = qn_graph_node(in->g, id);
	qn_interp *callee = in->callee[id];

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_slot *from = qn_slots_of(&in->slots, n->in[i], 0);
		qn_slot *to = qn_slots_of(&callee->slots, callee->g->input[i], 0);

		to->tensor.data = from->tensor.data;
		to->step = from->step;
	}
	QN_TRY(run_graph(callee, batches, observe, user));
	for (size_t k = 0; k < callee->g->noutput; k++) {
		for (size_t j = 0; j < batches; j++) {
			qn_tensor y = qn_interp_output_of(callee, k, j);

			copy_to(qn_slots_of(&in->slots, id, (uint32_t)k), j, &y);
		}
	}
	return QN_OK;
}

static qn_operands
gather(qn_interp *in, qn_id id, uint32_t part, size_t batches)
{
	const qn_node *n = qn_graph_node(in->g, id);
	const qn_slot *out = qn_slots_of(&in->slots, id, part);

	for (uint32_t i = 0; i < n->nin; i++) {
		const qn_slot *from = qn_slots_of(&in->slots, n->in[i], 0);

		in->in[i] = from->tensor.data;
		in->in_step[i] = from->step;
	}
	return (qn_operands){
		.in = in->in,
		.in_step = in->in_step,
		.out = writable(out),
		.out_step = out->step,
		.part = part,
		.batches = batches,
	};
}

/* Each field of a tuple is computed by itself. */
static void
run_node(qn_interp *in, qn_id id, size_t batches)
{
	const qn_node *n = qn_graph_node(in->g, id);
	uint32_t parts = n->type->is_tuple ? n->type->nfield : 1;

	for (uint32_t k = 0; k < parts; k++) {
		qn_operands o = gather(in, id, k, batches);

		qn_work_run(in->g, n, &in->work[id], &o);
	}
}

static qn_status
show(const qn_interp *in, qn_id id, size_t batches, qn_observe_fn *observe, void *user)
{
	if (observe == NULL || qn_graph_node(in->g, id)->type->is_tuple)
		return QN_OK;
	for (size_t j = 0; j < batches; j++) {
		qn_tensor value = batch_of(qn_slots_of(&in->slots, id, 0), j);

		QN_TRY(observe(user, in->g, id, &value));
	}
	return QN_OK;
}

/* Copies what loop k carries, of batch j, to where the next step finds it: all of it before any is replaced. */
static void
carry(qn_interp *in, uint32_t k, size_t j)
{
	const qn_loop *loop = &in->loops.loop[k - 1];
	char *at = in->next_values;

	for (int store = 0; store < 2; store++, at = in->next_values) {
		for (qn_id id = loop->begin; id <= loop->last; id++) {
			qn_id next = 0;

			if (qn_graph_node(in->g, id)->op != QN_OP_loop_carry ||
			    in->loops.of[id] != k || !qn_loop_next(in->g, &in->loops, id, &next))
				continue;
			qn_tensor x = batch_of(qn_slots_of(&in->slots, store ? id : next, 0), j);
			if (store) {
				x.data = at;
				copy_to(qn_slots_of(&in->slots, id, 0), j, &x);
			} else if (x.bytes > 0) {
				memcpy(at, x.data, x.bytes);
			}
			at += x.bytes;
		}
	}
}

static qn_status run_nodes(qn_interp *in, qn_id first, qn_id last, size_t n, qn_observe_fn *observe,
			   void *user);

/* All steps of loop k. */
static qn_status
run_loop(qn_interp *in, uint32_t k, size_t n, qn_observe_fn *observe, void *user)
{
	const qn_loop *loop = &in->loops.loop[k - 1];
	const qn_slot *number = qn_slots_of(&in->slots, loop->begin, 0);

	for (int32_t i = 0; i < (int32_t)loop->count; i++) {
		const qn_tensor x = {.bytes = sizeof i, .data = &i};

		for (size_t j = 0; j < n; j++)
			copy_to(number, j, &x);
		QN_TRY(show(in, loop->begin, n, observe, user));
		QN_TRY(run_nodes(in, loop->begin + 1, loop->last, n, observe, user));
		for (size_t j = 0; j < n; j++)
			carry(in, k, j);
	}
	return QN_OK;
}

static qn_status
run_nodes(qn_interp *in, qn_id first, qn_id last, size_t n, qn_observe_fn *observe, void *user)
{
	const qn_graph *g = in->g;

	for (qn_id id = first; id <= last; id++) {
		const qn_op op = qn_graph_node(g, id)->op;

		if (op == QN_OP_loop) {
			const uint32_t k = in->loops.of[id];

			QN_TRY(run_loop(in, k, n, observe, user));
			id = in->loops.loop[k - 1].last;
			continue;
		}
		if (op == QN_OP_call)
			QN_TRY(run_call(in, id, n, observe, user));
		else if (qn_node_needs_impl(op) && !in->fixed[id])
			run_node(in, id, n);
		QN_TRY(show(in, id, n, observe, user));
	}
	return QN_OK;
}

/* The inputs' slots hold their data, or point to it. */
static qn_status
run_graph(qn_interp *in, size_t n, qn_observe_fn *observe, void *user)
{
	return run_nodes(in, 1, in->g->n - 1, n, observe, user);
}

qn_status
qn_interp_load(qn_interp *in, size_t j, const qn_tensor *const *inputs)
{
	const qn_graph *g = in->g;
	bool ok = true;

	for (size_t i = 0; i < qn_graph_fed(g); i++)
		ok = qn_input_fits(g, qn_graph_node(g, g->input[i]), inputs[i]) && ok;
	for (size_t i = 0; ok && i < qn_graph_fed(g); i++)
		copy_to(qn_slots_of(&in->slots, g->input[i], 0), j, inputs[i]);
	for (size_t k = 0; ok && k < g->nstate; k++) {
		qn_tensor x = *in->init[k];

		x.data = (const char *)in->state[k] + j * x.bytes;
		copy_to(qn_slots_of(&in->slots, g->input[qn_graph_fed(g) + k], 0), j, &x);
	}
	return ok ? QN_OK : QN_EINVALID;
}

/* The next values of the states of the first n batches. */
static void
keep_states(qn_interp *in, size_t n)
{
	for (size_t k = 0; k < in->g->nstate; k++) {
		for (size_t j = 0; j < n; j++) {
			qn_tensor y = qn_interp_output_of(in, qn_graph_given(in->g) + k, j);

			if (y.bytes > 0)
				memcpy((char *)in->state[k] + j * y.bytes, y.data, y.bytes);
		}
	}
}

qn_status
qn_interp_run_bundle(qn_interp *in, size_t n, qn_observe_fn *observe, void *user)
{
	QN_TRY(run_graph(in, n, observe, user));
	keep_states(in, n);
	return QN_OK;
}

qn_status
qn_interp_run(qn_interp *in, const qn_tensor *const *inputs, qn_observe_fn *observe, void *user)
{
	QN_TRY(qn_interp_load(in, 0, inputs));
	return qn_interp_run_bundle(in, 1, observe, user);
}

static const qn_slot *
output_slot(const qn_interp *in, size_t k)
{
	return qn_slots_of(&in->slots, in->g->output[k].value, 0);
}

qn_tensor
qn_interp_output_of(const qn_interp *in, size_t k, size_t j)
{
	return batch_of(output_slot(in, k), j);
}

const qn_tensor *
qn_interp_output(const qn_interp *in, size_t k)
{
	return k < in->g->noutput ? &output_slot(in, k)->tensor : NULL;
}

size_t
qn_interp_bytes(const qn_interp *in)
{
	size_t bytes = 0;

	for (; in != NULL; in = in->next)
		bytes += in->slots.bytes * in->bundle;
	return bytes;
}
