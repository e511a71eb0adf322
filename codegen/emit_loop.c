/* SPDX-License-Identifier: Apache-2.0 */
/* emit_loop.c - the steps of a loop stand in a `for`.
 *
 *   for (int32_t i1 = 0; i1 < 28; i1++) {
 *           *(int32_t *)(void *)(s + 64) = i1;
 *           qn_loop_carry(&net_h_args, net_h0, s + 64, s + 80);       its first value, in the first run
 *           …
 *           if (i1 == 0) NET_TRACED(…);                              the trace has the first run
 *           if (i1 == 27) NET_TRACED(…);                             and the last one
 *           memcpy(s + 80, s + 208, 20);                             what is carried on
 *   } */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/schedule.h"

/* Lines of NAME_run from this byte on, as many tabs further to the right. */
static void
indent(qn_emitter *e, size_t from, size_t tabs)
{
	qn_buf *b = &e->run;
	const size_t n = b->n - from;
	const char *line = qn_arena_strn(e->arena, b->data + from, n);

	b->n = from;
	while (*line != '\0') {
		const size_t length = strcspn(line, "\n") + 1;

		for (size_t i = 0; i < tabs && *line != '\n' && *line != '#'; i++)
			qn_buf_putc(b, '\t');
		qn_buf_put(b, line, length);
		line += length;
	}
}

/* Loops around what runs with loop k, an index plus 1. */
static size_t
depth_of(const qn_emitter *e, uint32_t k)
{
	size_t depth = 0;

	for (; k != 0; k = e->loops.loop[k - 1].parent)
		depth++;
	return depth;
}

void
qn_emit_indented(qn_emitter *e, size_t from, const qn_step *s)
{
	size_t depth = e->loops.n > 0 ? depth_of(e, e->loops.with[s->node]) : 0;

	if (depth == 0)
		return;
	if (qn_graph_node(e->g, s->node)->op == QN_OP_loop) { /* its `for` stands around it */
		indent(e, e->body, 1);
		depth--;
	}
	indent(e, from, depth);
}

void
qn_emit_loop(qn_emitter *e, const qn_step *s, const void *args)
{
	const uint32_t k = e->loops.of[s->node];

	(void)args;
	qn_buff(&e->run, "\tfor (int32_t i%u = 0; i%u < %lld; i%u++) {\n", (unsigned)k, (unsigned)k,
		(long long)e->loops.loop[k - 1].count, (unsigned)k);
	e->body = e->run.n;
	qn_buff(&e->run, "\t*%s = i%u;\n", qn_emit_ref(e, s->node, QN_PLAIN_i32), (unsigned)k);
}

/* The step that is printed last of a loop. */
static bool
is_last_of(const qn_emitter *e, size_t i, uint32_t k)
{
	const qn_plan *p = e->plan;

	return i + 1 == p->nstep ||
	       !qn_loop_is_in(&e->loops, e->loops.with[p->step[i + 1].node], k);
}

/* Copies the values of loop k to where its next run reads them. */
static void
put_carries(qn_emitter *e, uint32_t k)
{
	const qn_loop *loop = &e->loops.loop[k - 1];

	for (qn_id id = loop->begin; id <= loop->last; id++) {
		qn_id next;

		if (qn_graph_node(e->g, id)->op != QN_OP_loop_carry || e->loops.of[id] != k ||
		    e->step_of[id] == 0 || !qn_loop_next(e->g, &e->loops, id, &next) ||
		    qn_value_root(e->plan->step, e->step_of, next) == id)
			continue;
		qn_buff(&e->run, "\tmemcpy(%s, %s, %zu);\n", qn_emit_ref(e, id, QN_NPLAIN),
			qn_emit_ref(e, next, QN_NPLAIN),
			qn_type_bytes(qn_graph_node(e->g, id)->type));
	}
}

void
qn_emit_loop_ends(qn_emitter *e, size_t i)
{
	if (e->loops.n == 0)
		return;
	for (uint32_t k = e->loops.with[e->plan->step[i].node]; k != 0 && is_last_of(e, i, k);
	     k = e->loops.loop[k - 1].parent) {
		const size_t depth = depth_of(e, k), from = e->run.n;

		put_carries(e, k);
		indent(e, from, 1);
		qn_buf_puts(&e->run, "\t}\n");
		indent(e, from, depth - 1);
	}
}

void
qn_plan_traces(const qn_plan *p, qn_arena *a, qn_traces *out)
{
	qn_id *node = QN_NEW(a, qn_id, p->nstep + 1);

	for (size_t i = 0; i < p->nstep; i++)
		node[i] = p->step[i].node;
	qn_traces_init(out, p->g, p->nstep, node, a);
}

const char *
qn_emit_traces(const qn_emitter *e)
{
	return e->traces.n > e->traces.nstep ? "TRACES" : "STEPS";
}

/* Trace number `trace` of a step, in the first or the last run of the loops around it. */
static void
put_traced(qn_emitter *e, const qn_step *s, size_t trace, bool first)
{
	const char *before = "\tif (";
	uint32_t k = e->loops.n > 0 ? e->loops.with[s->node] : 0;

	for (; k != 0; k = e->loops.loop[k - 1].parent) {
		const long long run = first ? 0 : (long long)e->loops.loop[k - 1].count - 1;

		qn_buff(&e->run, "%si%u == %lld%s", before, (unsigned)k, run,
			e->loops.loop[k - 1].parent == 0 ? ")\n\t" : "");
		before = " && ";
	}
	qn_buff(&e->run, "\t%s_TRACED(%zu, %s, %zu);\n", e->macro, trace,
		qn_emit_ref(e, s->node, QN_NPLAIN), s->bytes);
}

void
qn_emit_traced(qn_emitter *e, size_t i)
{
	const qn_step *s = &e->plan->step[i];

	if (e->traces.first[i] != 0)
		put_traced(e, s, e->traces.first[i], true);
	put_traced(e, s, i, false);
}
