/* SPDX-License-Identifier: Apache-2.0 */
/* plan_place.c - where the results of steps lie.
 *
 *   step      0    1    2    3        A conv1 64 bytes   read by 1 and 2
 *   A       [====|====|====]          B pool1 16 bytes   read by 2; added in place, so C = B
 *   B            [====|====]          D goes to the caller's buffer
 *
 * A result lives from the step that writes it to the last step that reads it or an alias of it.
 * Results that live at the same time do not overlap; the others may.  A step may write over an
 * operand that dies there if its kernel allows and the sizes are equal: both are one buffer then.
 * In a loop the steps run many times: what they read of steps before the loop lives to its end, what is
 * carried or collected from its begin on.
 * A graph output is written straight into the caller's buffer, the next value of a state into the state
 * once nothing reads the old one (states.h).  What an output shares with another output, a constant or a
 * graph input is copied at the end. */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/parts.h"
#include "codegen/place.h"
#include "codegen/schedule.h"
#include "codegen/states.h"
#include "ir/loops.h"

typedef struct planner {
	const qn_graph *g;
	qn_arena *arena;
	qn_step *step;
	size_t nstep;
	uint32_t *step_of;
	qn_loops loops;
	size_t *first;   /* by step: where its result's memory begins to be in use */
	size_t *last;    /* by step: the last step that reads its result */
	bool *kept;      /* by step: the next run of a loop's steps reads its result again */
	size_t *of_step; /* by step: its buffer plus 1; 0 when it has none */
	size_t *of_work; /* the same of its working memory */
	size_t *of_load; /* and of the constants that are copied for it */
	size_t of_moved; /* of states that get the values of others */
	qn_buffer *buf;
	size_t nbuf;
} planner;

static size_t
align_up(size_t n)
{
	return (n + QN_SCRATCH_ALIGN - 1) / QN_SCRATCH_ALIGN * QN_SCRATCH_ALIGN;
}

/* The step that wrote the bytes of a value, plus 1; 0 for a constant or a graph input. */
static size_t
writer(const planner *p, qn_id id)
{
	return p->step_of[qn_value_root(p->step, p->step_of, id)];
}

static void
place_outputs(planner *p)
{
	size_t k;

	for (k = 0; k < p->g->noutput; k++) {
		const size_t given = qn_graph_given(p->g);
		size_t w = writer(p, p->g->output[k].value);

		if (w == 0)
			continue;
		p->last[w - 1] = p->nstep;
		if (p->step[w - 1].in_output || p->step[w - 1].part_of != 0 ||
		    !qn_part_is_all(p->g, p->step, p->step_of, p->g->output[k].value) ||
		    (k >= given && !qn_state_is_free(p->g, p->step, p->nstep, p->step_of, k - given,
						     p->first[w - 1], w - 1)))
			continue;
		p->step[w - 1].in_output = true;
		p->step[w - 1].output = k;
	}
}

/* The last step of loop k, an index plus 1. */
static size_t
end_of(const planner *p, uint32_t k)
{
	size_t i = p->nstep;

	while (i > 0 && (p->step[i - 1].node > p->loops.loop[k - 1].last ||
			 !qn_loop_is_in(&p->loops, p->loops.with[p->step[i - 1].node], k)))
		i--;
	return i > 0 ? i - 1 : 0;
}

/* Step w's result is read by a step with which loop `with` runs: in all runs of the loops in which it is not
 * written. */
static void
read_in_loops(planner *p, size_t w, uint32_t with)
{
	const uint32_t own = p->loops.with[p->step[w].node];

	for (; with != 0 && !qn_loop_is_in(&p->loops, own, with);
	     with = p->loops.loop[with - 1].parent) {
		const size_t end = end_of(p, with);

		p->kept[w] = true;
		p->last[w] = end > p->last[w] ? end : p->last[w];
	}
}

/* What a loop carries or collects lives from its begin on; what it carries to the next run, to its end. */
static void
live_in_loop(planner *p, size_t i)
{
	const qn_node *n = qn_graph_node(p->g, p->step[i].node);
	const uint32_t k = p->loops.with[p->step[i].node];
	const bool carried = n->op == QN_OP_loop_carry;

	if (k != 0 && (carried || n->op == QN_OP_loop_stack || n->op == QN_OP_loop_last)) {
		p->first[i] = p->step_of[p->loops.loop[k - 1].begin] - 1;
		p->kept[i] = true;
		p->last[i] = carried ? end_of(p, k) : p->last[i];
	}
	if (n->op == QN_OP_loop) { /* its number is read after each of its steps */
		p->kept[i] = true;
		p->last[i] = end_of(p, k);
	}
	for (uint32_t j = 1; n->op == QN_OP_loop_end && j < n->nin; j++) {
		const size_t w = writer(p, n->in[j]), end = end_of(p, k);

		if (w == 0)
			continue;
		p->kept[w - 1] = true;
		p->last[w - 1] = end > p->last[w - 1] ? end : p->last[w - 1];
	}
}

static void
find_lifetimes(planner *p)
{
	size_t i;
	uint32_t j;

	for (i = 0; i < p->nstep; i++) {
		p->first[i] = p->last[i] = i;
		for (j = 0; j < p->step[i].nin; j++) {
			size_t w = writer(p, p->step[i].in[j]);

			if (w != 0 && p->last[w - 1] < i)
				p->last[w - 1] = i;
			if (w != 0 && p->loops.n > 0)
				read_in_loops(p, w - 1, p->loops.with[p->step[i].node]);
		}
	}
	for (i = 0; i < p->nstep && p->loops.n > 0; i++)
		live_in_loop(p, i);
}

/* The buffer plus 1 of an operand that step i may write its result over, 0 when there is none. */
static size_t
reusable(const planner *p, size_t i)
{
	const qn_step *s = &p->step[i];
	const qn_node *n = qn_graph_node(p->g, s->node);
	uint32_t mask = s->strip == NULL ? s->kernel->in_place : 0, j;

	for (j = 0; j < s->nin && mask >> j != 0; j++) {
		const qn_node *x = qn_graph_node(p->g, s->in[j]);
		size_t w = writer(p, s->in[j]);

		if (!qn_part_is_all(p->g, p->step, p->step_of, s->in[j]))
			continue;
		if ((mask >> j & 1) == 0 || w == 0 || p->of_step[w - 1] == 0 ||
		    p->last[w - 1] != i || p->kept[w - 1] || p->kept[i])
			continue;
		if (qn_type_bytes(x->type) == s->bytes &&
		    qn_elem_bytes(x->type->elem) == qn_elem_bytes(n->type->elem))
			return p->of_step[w - 1];
	}
	return 0;
}

/* A new buffer for step i; its number plus 1. */
static size_t
add_buffer(planner *p, size_t i, size_t bytes)
{
	p->buf[p->nbuf++] = (qn_buffer){.bytes = align_up(bytes), .first = i, .last = i};
	return p->nbuf;
}

/* A plan may be placed again. */
static void
set_work(qn_step *s, bool over)
{
	const size_t more =
		over && s->kernel->work_over != NULL ? s->kernel->work_over(s->args) : 0;

	s->work = s->work - s->work_over + more;
	s->work_over = more;
}

/* Buffers that are in use from the begin of a loop on, which is step i, for its later steps. */
static void
make_loop_buffers(planner *p, size_t i)
{
	const uint32_t k = p->loops.of[p->step[i].node];

	for (size_t j = i + 1;
	     j < p->nstep && qn_loop_is_in(&p->loops, p->loops.with[p->step[j].node], k); j++) {
		if (p->first[j] != i || p->step[j].in_output)
			continue;
		p->of_step[j] = add_buffer(p, i, p->step[j].bytes);
		p->buf[p->of_step[j] - 1].last = p->last[j];
	}
}

/* What lies within the result of a concat uses its memory, from the first such step on. */
static void
use_results(planner *p)
{
	for (size_t i = 0; i < p->nstep; i++) {
		const size_t c = p->step[i].part_of;

		if (c != 0 && p->first[c - 1] > i)
			p->first[c - 1] = i;
	}
}

/* The memory of the concat that the result of step i is a part of. */
static void
make_part(planner *p, size_t i)
{
	const size_t c = p->step[i].part_of - 1;

	if (p->step[c].in_output || p->of_step[c] != 0)
		return;
	p->of_step[c] = add_buffer(p, i, p->step[c].bytes);
	p->buf[p->of_step[c] - 1].last = p->last[c];
}

static void
make_buffers(planner *p)
{
	size_t i;

	for (i = 0; i < p->nstep; i++) {
		qn_step *s = &p->step[i];
		const bool placed =
			s->alias == 0 && !s->in_output && s->part_of == 0 && p->first[i] == i;

		if (p->first[i] == i)
			p->of_step[i] = placed ? reusable(p, i) : 0;
		set_work(s, placed && p->of_step[i] != 0);
		if (s->part_of != 0)
			make_part(p, i);
		if (s->work > 0)
			p->of_work[i] = add_buffer(p, i, s->work);
		if (s->load > 0)
			p->of_load[i] = add_buffer(p, i, s->load);
		if (qn_graph_node(p->g, s->node)->op == QN_OP_loop)
			make_loop_buffers(p, i);
		if (!placed)
			continue;
		if (p->of_step[i] == 0)
			p->of_step[i] = add_buffer(p, i, s->bytes);
		p->buf[p->of_step[i] - 1].last = p->last[i];
	}
	const size_t moved = qn_states_moved_bytes(p->g, p->step, p->step_of);
	p->of_moved = moved > 0 ? add_buffer(p, p->nstep, moved) : 0;
}

/* Steps learn where their results and working memory lie; an alias lies where its bytes lie. */
static void
set_offsets(planner *p)
{
	size_t i;

	for (i = 0; i < p->nstep; i++) {
		qn_step *s = &p->step[i];
		size_t w = writer(p, s->node);

		if (p->of_work[i] != 0)
			s->work_offset = p->buf[p->of_work[i] - 1].offset;
		if (p->of_load[i] != 0)
			s->load_offset = p->buf[p->of_load[i] - 1].offset;
		if (w == 0)
			continue;
		s->in_output = p->step[w - 1].in_output;
		s->output = p->step[w - 1].output;
		if (p->of_step[w - 1] != 0)
			s->offset = p->buf[p->of_step[w - 1] - 1].offset +
				    qn_part_offset(p->step, p->step_of, s->node);
	}
	for (i = 0; i < p->nstep; i++) {
		qn_step *s = &p->step[i];
		const qn_step *c = s->part_of != 0 ? &p->step[s->part_of - 1] : NULL;

		if (c == NULL)
			continue;
		s->in_output = c->in_output;
		s->output = c->output;
		s->offset = c->offset + s->part_offset;
	}
}

void
qn_plan_place(qn_plan *plan, qn_arena *a)
{
	const size_t n = plan->nstep;
	planner p = {.g = plan->g, .arena = a, .step = plan->step, .nstep = n};

	p.step_of = qn_step_of(p.g, p.step, n, a);
	p.loops = qn_loops_find(p.g, a);
	p.first = QN_NEW(a, size_t, n + 1);
	p.kept = QN_NEW(a, bool, n + 1);
	p.last = QN_NEW(a, size_t, n + 1);
	p.of_step = QN_NEW(a, size_t, n + 1);
	p.of_work = QN_NEW(a, size_t, n + 1);
	p.of_load = QN_NEW(a, size_t, n + 1);
	p.buf = QN_NEW(a, qn_buffer, 3 * n + 2);
	find_lifetimes(&p);
	qn_parts_of_results(p.g, p.step, n, p.step_of, &p.loops, a);
	use_results(&p);
	place_outputs(&p);
	make_buffers(&p);
	plan->scratch_bytes = qn_buffers_place(p.buf, p.nbuf, n + 1, a);
	plan->lower_bound = qn_buffers_alive(p.buf, p.nbuf, n, a, &plan->fullest);
	set_offsets(&p);
	plan->moved_offset = p.of_moved != 0 ? p.buf[p.of_moved - 1].offset : 0;
	plan->state_bytes = 0;
	for (size_t k = 0; k < p.g->nstate; k++)
		plan->state_bytes += qn_type_bytes(qn_graph_state(p.g, k)->type);
	for (size_t i = 0; i < n; i++)
		plan->step[i].last = p.last[i];
}
