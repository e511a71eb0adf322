/* SPDX-License-Identifier: Apache-2.0 */
/* interp_plan.c - where the interpreter's values lie: offsets in one piece of memory, reused
 * after the last use.
 *
 *   value  made  last       memory
 *   a      1     2          |a......|
 *   b      2     3          |       |b...|
 *   c      3     end        |c..|                 a's place is free again
 *
 * What a loop reads in every step lives to its end, what it carries or collects from its begin on.
 *
 * Values get their places in the order of the nodes; each takes the smallest gap that holds it
 * (best fit).  With n batches in a bundle all offsets and sizes are n times as large. */
#include <string.h>

#include "runtime/interp_impl.h"

typedef struct gap {
	size_t offset, bytes;
} gap;

/* Gaps below `top`, by offset; nothing above top is taken. */
typedef struct heap {
	gap *gap;
	size_t n;
	size_t top;
} heap;

static void
drop_gap(heap *h, size_t i)
{
	memmove(&h->gap[i], &h->gap[i + 1], (h->n - i - 1) * sizeof *h->gap);
	h->n--;
}

static size_t
take(heap *h, size_t bytes)
{
	size_t best = h->n;

	for (size_t i = 0; i < h->n; i++)
		if (h->gap[i].bytes >= bytes &&
		    (best == h->n || h->gap[i].bytes < h->gap[best].bytes))
			best = i;
	if (best < h->n) {
		size_t offset = h->gap[best].offset;

		h->gap[best].offset += bytes;
		h->gap[best].bytes -= bytes;
		if (h->gap[best].bytes == 0)
			drop_gap(h, best);
		return offset;
	}
	/* A gap that ends at the top grows to what is needed. */
	size_t offset = h->top;
	if (h->n > 0 && h->gap[h->n - 1].offset + h->gap[h->n - 1].bytes == h->top)
		offset = h->gap[--h->n].offset;
	h->top = offset + bytes;
	return offset;
}

static void
give(heap *h, size_t offset, size_t bytes)
{
	size_t i = 0;

	if (bytes == 0)
		return;
	while (i < h->n && h->gap[i].offset < offset)
		i++;
	memmove(&h->gap[i + 1], &h->gap[i], (h->n - i) * sizeof *h->gap);
	h->gap[i] = (gap){offset, bytes};
	h->n++;
	if (i + 1 < h->n && offset + bytes == h->gap[i + 1].offset) {
		h->gap[i].bytes += h->gap[i + 1].bytes;
		drop_gap(h, i + 1);
	}
	if (i > 0 && h->gap[i - 1].offset + h->gap[i - 1].bytes == offset) {
		h->gap[i - 1].bytes += h->gap[i].bytes;
		drop_gap(h, i);
	}
}

static void
add_ref(qn_slots *s, qn_arena *a, uint32_t slot)
{
	s->ref = qn_arena_grow(a, s->ref, &s->ref_cap, s->nref + 1, sizeof *s->ref);
	s->ref[s->nref++] = slot;
}

static void
add_slot(qn_slots *s, qn_arena *a, const qn_type *type, qn_id made, bool planned)
{
	s->slot = qn_arena_grow(a, s->slot, &s->cap, s->n + 1, sizeof *s->slot);
	s->slot[s->n] = (qn_slot){
		.tensor = {.type = type, .bytes = qn_type_bytes(type)},
		.step = planned ? qn_type_bytes(type) : 0,
		.planned = planned,
		.made = made,
		.last = made,
	};
	add_ref(s, a, (uint32_t)s->n++);
}

/* The slots of one node's value: new ones, or those of its inputs. */
static void
add_value(qn_slots *s, const qn_graph *g, qn_id id, bool elsewhere, qn_arena *a)
{
	const qn_node *n = qn_graph_node(g, id);

	s->first[id] = (uint32_t)s->nref;
	if (n->op == QN_OP_tuple) {
		for (uint32_t i = 0; i < n->nin; i++)
			add_ref(s, a, s->ref[s->first[n->in[i]]]);
	} else if (n->op == QN_OP_loop_end) {
		add_ref(s, a, s->ref[s->first[n->in[0]]]);
	} else if (n->op == QN_OP_get) {
		add_ref(s, a, s->ref[s->first[n->in[0]] + (uint32_t)n->attr->get.index]);
	} else if (n->type->is_tuple) {
		for (uint32_t i = 0; i < n->type->nfield; i++)
			add_slot(s, a, n->type->field[i], id, true);
	} else {
		add_slot(s, a, n->type, id, !elsewhere);
	}
}

static uint32_t
fields(const qn_type *type)
{
	return type->is_tuple ? type->nfield : 1;
}

/* Slots of node id's value are read at `at`: in all steps of the loops around that in which they are not written. */
static void
read_at(qn_slots *s, const qn_graph *g, const qn_loops *l, qn_id id, qn_id at)
{
	for (uint32_t k = 0; k < fields(qn_graph_node(g, id)->type); k++) {
		qn_slot *slot = qn_slots_of(s, id, k);

		slot->last = at > slot->last ? at : slot->last;
		for (uint32_t j = l->n > 0 ? l->with[at] : 0; j != 0; j = l->loop[j - 1].parent)
			if (!qn_loop_is_in(l, l->with[slot->made], j) &&
			    l->loop[j - 1].last > slot->last)
				slot->last = l->loop[j - 1].last;
	}
}

/* What a loop carries, or collects from its steps, has memory from its begin on; to its end if it is carried. */
static void
live_in_loop(qn_slots *s, const qn_graph *g, const qn_loops *l, qn_id id)
{
	const qn_op op = qn_graph_node(g, id)->op;

	if (l->with[id] == 0)
		return;
	const qn_loop *loop = &l->loop[l->with[id] - 1];
	if (op == QN_OP_loop_carry || op == QN_OP_loop_stack || op == QN_OP_loop_last) {
		qn_slot *slot = qn_slots_of(s, id, 0);

		slot->made = loop->begin;
		slot->last = op == QN_OP_loop_carry ? loop->last : slot->last;
	}
	for (uint32_t i = 1; op == QN_OP_loop_end && i < qn_graph_node(g, id)->nin; i++)
		read_at(s, g, l, qn_graph_node(g, id)->in[i], loop->last);
}

static void
find_last_uses(qn_slots *s, const qn_graph *g, const qn_loops *l)
{
	for (qn_id id = 1; id < g->n; id++)
		if (l->n > 0)
			live_in_loop(s, g, l, id);
	for (qn_id id = 1; id < g->n; id++)
		for (uint32_t i = 0; i < qn_graph_node(g, id)->nin; i++)
			read_at(s, g, l, qn_graph_node(g, id)->in[i], id);
	for (size_t i = 0; i < g->noutput; i++)
		for (uint32_t k = 0; k < fields(qn_graph_node(g, g->output[i].value)->type); k++)
			qn_slots_of(s, g->output[i].value, k)->last = UINT32_MAX;
}

static size_t
rounded(size_t bytes)
{
	return (bytes + QN_SLOT_ALIGN - 1) / QN_SLOT_ALIGN * QN_SLOT_ALIGN;
}

/* ending: by node, a slot it reads last, plus one. */
static void
place_slot(qn_slots *s, size_t i, heap *h, uint32_t *ending)
{
	qn_slot *slot = &s->slot[i];

	if (!slot->planned)
		return;
	slot->offset = take(h, rounded(slot->tensor.bytes));
	if (slot->last == UINT32_MAX)
		return;
	slot->next = ending[slot->last];
	ending[slot->last] = (uint32_t)i + 1;
}

/* Inputs are written before the first node. */
static void
place(qn_slots *s, const qn_graph *g, qn_arena *a)
{
	uint32_t *ending = QN_NEW(a, uint32_t, g->n), *beginning = QN_NEW(a, uint32_t, g->n);
	heap h = {.gap = QN_NEW(a, gap, s->n + 1)};

	for (size_t i = s->n; i > 0; i--) {
		s->slot[i - 1].begins = beginning[s->slot[i - 1].made];
		beginning[s->slot[i - 1].made] = (uint32_t)i;
	}
	for (size_t i = 0; i < s->n; i++)
		if (qn_graph_node(g, s->slot[i].made)->op == QN_OP_input)
			place_slot(s, i, &h, ending);
	for (qn_id id = 1; id < g->n; id++) {
		for (uint32_t i = beginning[id]; i != 0; i = s->slot[i - 1].begins)
			if (qn_graph_node(g, id)->op != QN_OP_input)
				place_slot(s, i - 1, &h, ending);
		for (uint32_t i = ending[id]; i != 0; i = s->slot[i - 1].next)
			give(&h, s->slot[i - 1].offset, rounded(s->slot[i - 1].tensor.bytes));
	}
	s->bytes = h.top;
}

void
qn_slots_plan(const qn_graph *g, const qn_loops *loops, const bool *fixed, bool own_inputs,
	      qn_arena *a, qn_slots *out)
{
	*out = (qn_slots){.first = QN_NEW(a, uint32_t, g->n)};
	for (qn_id id = 1; id < g->n; id++) {
		const qn_op op = qn_graph_node(g, id)->op;
		const bool elsewhere =
			fixed[id] || op == QN_OP_const || (op == QN_OP_input && !own_inputs);

		add_value(out, g, id, elsewhere, a);
	}
	find_last_uses(out, g, loops);
	place(out, g, a);
}

void
qn_slots_allocate(qn_slots *s, size_t bundle, qn_arena *a)
{
	char *memory = qn_arena_alloc(a, s->bytes * bundle + QN_SLOT_ALIGN, 1);

	memory += (size_t)(-(uintptr_t)memory % QN_SLOT_ALIGN);
	for (size_t i = 0; i < s->n; i++)
		if (s->slot[i].planned)
			s->slot[i].tensor.data = memory + s->slot[i].offset * bundle;
}
