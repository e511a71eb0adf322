/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - why each step has its kernel:
 *
 *   conv1_acc  conv2d + requantize: qn_conv2d_dsp, 64 bytes of working memory
 *              not qn_depthwise3_dsp: its channels do not have a kernel each
 *   conv2_acc  conv2d + requantize + max_pool: qn_conv2d_dsp, 2 of its rows at a time for qn_max_pool_s8
 *              5 of 16 channels removed, 720 bytes and 5120 multiplications fewer */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/strips.h"

static void
pad(qn_buf *b, size_t n)
{
	while (n-- > 0)
		qn_buf_putc(b, ' ');
}

static void
put_ops(qn_buf *b, const qn_graph *g, const qn_step *s)
{
	qn_buff(b, "%s", qn_opinfo_of(qn_graph_node(g, s->core))->name);
	for (uint32_t i = 0; i < s->nepilogue; i++)
		qn_buff(b, " + %s", qn_opinfo_of(qn_graph_node(g, s->epilogue[i].node))->name);
}

static void
put_declined(qn_buf *b, const qn_plan *p, const qn_step *s, size_t width)
{
	const qn_emit_form *form = qn_emit_form_of(p->g, qn_graph_node(p->g, s->core));
	qn_step asked = s->strip != NULL ? *s->strip->conv : *s;

	asked.args = asked.prepared;
	qn_step_facts f = qn_step_facts_of(p->g, &asked);
	qn_step_facts_choose(&f, p->target->features, p->plain);
	for (const qn_kernel *k = form->kernel; k != s->kernel; k++) {
		const char *why = qn_kernel_differs(k, &f);

		asked.kernel = k;
		if (k->name == NULL)
			continue;
		pad(b, width + 2);
		qn_buff(b, "not %s: %s\n", qn_step_function(p->g, &asked, b->arena),
			why != NULL ? why : "another one stands before it");
	}
}

static void
put_pruned(qn_buf *b, const qn_graph *g, const qn_step *s, size_t width)
{
	for (size_t i = 0; i < g->model->npruned; i++) {
		const qn_pruned *p = &g->model->pruned[i];

		if (strcmp(p->value, qn_graph_node(g, s->core)->name) != 0)
			continue;
		pad(b, width + 2);
		qn_buff(b,
			"%llu of %llu channels removed, %llu bytes and %llu multiplications "
			"fewer\n",
			(unsigned long long)p->removed, (unsigned long long)p->channels,
			(unsigned long long)p->bytes, (unsigned long long)p->macs);
	}
}

void
qn_plan_explain(const qn_plan *p, qn_buf *b)
{
	size_t width = 0;

	for (size_t i = 0; i < p->nstep; i++)
		if (strlen(p->step[i].name) > width)
			width = strlen(p->step[i].name);
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_step *s = &p->step[i];

		qn_buf_puts(b, s->name);
		pad(b, width + 2 - strlen(s->name));
		put_ops(b, p->g, s);
		if (s->alias != 0) {
			qn_buf_puts(b, ": no call, the bytes of its operand\n");
			continue;
		}
		const char *name = qn_step_function(p->g, s, b->arena);
		qn_buff(b, ": %s", name != NULL ? name : "statements of its own");
		if (s->strip != NULL)
			qn_buff(b, ", %d of its rows at a time for %s", s->strip->rows,
				qn_step_function(p->g, s->strip->pool, b->arena));
		if (s->work > 0)
			qn_buff(b, ", %zu bytes of working memory", s->work);
		qn_buf_putc(b, '\n');
		put_declined(b, p, s, width);
		put_pruned(b, p->g, s, width);
	}
}
