/* SPDX-License-Identifier: Apache-2.0 */
/* emit_loop.c - the steps of a loop stand in a `for`.
 *
 *   for (int32_t i1 = 0; i1 < 28; i1++) {
 *           *(int32_t *)(void *)(s + 64) = i1;
 *           qn_loop_carry(&net_h_args, net_h0, s + 64, s + 80);       its first value, in the first run
 *           …
 *           if (i1 == 27) NET_TRACED(…);                             the trace has the last run
 *           memcpy(s + 80, s + 208, 20);                             what is carried on
 *   } */
#include "codegen/emitter.h"
#include "codegen/schedule.h"

void
qn_emit_loop(qn_emitter *e, const qn_step *s, const void *args)
{
	const uint32_t k = e->loops.of[s->node];

	(void)args;
	qn_buff(&e->run, "\tfor (int32_t i%u = 0; i%u < %lld; i%u++) {\n", (unsigned)k, (unsigned)k,
		(long long)e->loops.loop[k - 1].count, (unsigned)k);
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
		put_carries(e, k);
		qn_buf_puts(&e->run, "\t}\n");
	}
}

void
qn_emit_traced(qn_emitter *e, size_t i)
{
	const qn_step *s = &e->plan->step[i];
	const char *before = "\tif (";
	uint32_t k = e->loops.n > 0 ? e->loops.with[s->node] : 0;

	for (; k != 0; k = e->loops.loop[k - 1].parent) {
		const long long last = (long long)e->loops.loop[k - 1].count - 1;

		qn_buff(&e->run, "%si%u == %lld%s", before, (unsigned)k, last,
			e->loops.loop[k - 1].parent == 0 ? ")\n\t" : "");
		before = " && ";
	}
	qn_buff(&e->run, "\t%s_TRACED(%zu, %s, %zu);\n", e->macro, i,
		qn_emit_ref(e, s->node, QN_NPLAIN), s->bytes);
}
