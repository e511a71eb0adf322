/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c - copies what is alive.  Graph inputs stay, used or not: they are the signature.  What has come
 * between the nodes of a loop without being part of it goes before or after them.  What a loop carries that
 * nothing but itself reads goes:
 *
 *   %a = loop_carry %x, %i {index=0}
 *   %b = loop_carry %y, %i {index=1}      --->     %b = loop_carry %y, %i {index=0}
 *   %e = loop_end %i, %n, %m                       %e = loop_end %i, %m */
#include "ir/loops.h"
#include "patterns/rewrite.h"

typedef struct sweep {
	const qn_graph *g;
	qn_arena *arena;
	qn_loops loops;
	bool *live;     /* by id */
	qn_id *waiting; /* live, with operands that are to be marked */
	size_t nwaiting;
	bool **carries; /* by loop: by operand of its loop_end, whether a carry of the loop that is live has it */
} sweep;

static void
mark(sweep *s, qn_id id)
{
	if (s->live[id])
		return;
	s->live[id] = true;
	s->waiting[s->nwaiting++] = id;
}

static void
mark_carried(sweep *s, qn_id carry)
{
	const int64_t at = qn_graph_node(s->g, carry)->attr->loop_carry.index + 1;
	qn_id next;

	if (!qn_loop_next(s->g, &s->loops, carry, &next))
		return;
	const uint32_t loop = s->loops.of[carry] - 1;
	if (s->carries[loop] == NULL)
		s->carries[loop] =
			QN_NEW(s->arena, bool, qn_graph_node(s->g, s->loops.loop[loop].end)->nin);
	s->carries[loop][at] = true;
	mark(s, next);
}

static void
mark_all(sweep *s)
{
	const qn_graph *g = s->g;

	for (size_t i = 0; i < g->noutput; i++)
		mark(s, g->output[i].value);
	for (qn_id id = 1; id < g->n; id++)
		if (qn_graph_node(g, id)->op == QN_OP_input)
			mark(s, id);
	while (s->nwaiting > 0) {
		const qn_id id = s->waiting[--s->nwaiting];
		const qn_node *n = qn_graph_node(g, id);
		const uint32_t nin = n->op == QN_OP_loop_end ? 1 : n->nin;

		for (uint32_t i = 0; i < nin; i++)
			mark(s, n->in[i]);
		if (n->op == QN_OP_loop_carry)
			mark_carried(s, id);
	}
}

/* The values that the loop of a node carries; NULL outside loops, and for loops without carried values. */
static const bool *
carries_of(const sweep *s, qn_id id)
{
	const uint32_t of = s->loops.n > 0 ? s->loops.of[id] : 0;

	return of != 0 ? s->carries[of - 1] : NULL;
}

/* Whether operand i stays: all do but what a loop_end has for no carry. */
static bool
keeps(const sweep *s, qn_id id, uint32_t i)
{
	const bool *carries = carries_of(s, id);

	return i == 0 || qn_graph_node(s->g, id)->op != QN_OP_loop_end ||
	       (carries != NULL && carries[i]);
}

/* The index of a carry among those that stay. */
static int64_t
index_of(const sweep *s, qn_id carry)
{
	const int64_t index = qn_graph_node(s->g, carry)->attr->loop_carry.index;
	const bool *carries = carries_of(s, carry);
	int64_t at = 0;

	for (int64_t i = 1; carries != NULL && i <= index; i++)
		at += carries[i];
	return at;
}

static qn_id
copy_node(const sweep *s, qn_graph *dst, qn_id id, const char *name, const qn_id *map)
{
	qn_node n = *qn_graph_node(s->g, id);
	qn_id *in = QN_NEW(s->arena, qn_id, n.nin);
	qn_attrs attr;
	uint32_t nin = 0;

	for (uint32_t i = 0; i < n.nin; i++)
		if (keeps(s, id, i))
			in[nin++] = map[n.in[i]];
	n.in = in;
	n.nin = nin;
	n.name = name;
	if (n.op == QN_OP_loop_carry) {
		attr.loop_carry = n.attr->loop_carry;
		attr.loop_carry.index = index_of(s, id);
		n.attr = &attr;
	}
	return qn_graph_add(dst, &n);
}

qn_status
qn_graph_sweep(qn_model *m, const qn_graph *g, const char *const *names, qn_graph **out)
{
	qn_graph *dst = qn_graph_new(m, g->name);
	qn_id *map = QN_NEW(m->scratch, qn_id, g->n);
	sweep s = {.g = g,
		   .arena = m->scratch,
		   .loops = qn_loops_find(g, m->scratch),
		   .live = QN_NEW(m->scratch, bool, g->n),
		   .waiting = QN_NEW(m->scratch, qn_id, g->n)};

	const qn_id *order = qn_loops_order(g, m->scratch);

	s.carries = QN_NEW(m->scratch, bool *, s.loops.n);
	qn_graph_copy_facts(dst, g);
	mark_all(&s);
	for (qn_id at = 1; at < g->n; at++) {
		const qn_id id = order != NULL ? order[at - 1] : at;

		if (!s.live[id])
			continue;
		map[id] = copy_node(&s, dst, id,
				    names != NULL ? names[id] : qn_graph_node(g, id)->name, map);
		if (map[id] == 0)
			return QN_EINTERNAL;
	}
	qn_graph_copy_outputs(dst, g, map);
	*out = dst;
	return QN_OK;
}

void
qn_model_set_graph(qn_model *m, qn_graph *g)
{
	m->ngraph = 0;
	qn_model_add_graph(m, g);
}
