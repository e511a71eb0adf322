/* SPDX-License-Identifier: Apache-2.0 */
/* explain.c - why each step has its kernel:
 *
 *   conv1_acc  conv2d + requantize: qn_conv2d_dsp, 64 bytes of working memory, 352 bytes of constants, about 30700 instructions
 *              not qn_depthwise3_dsp: it is not depthwise
 *              not qn_winograd_dsp: about 40200 instructions
 *   conv2_acc  conv2d + requantize + silu + max_pool: qn_conv2d_dsp, 2 of its rows at a time for qn_max_pool_s8 after qn_lut_s8
 *              5 of 16 channels removed, 720 bytes and 5120 multiplications fewer */
#include <string.h>

#include "codegen/emitter.h"
#include "codegen/layer.h"
#include "codegen/strips.h"
#include "ir/block_scales.h"
#include "runtime/override.h"

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

/* Why the step does not have row k, which is not its kernel; NULL: it is not worth a word, as that it is for another
 * target. */
static const char *
declined_because(const qn_step *s, const qn_step_facts *f, const qn_kernel *k, qn_arena *a)
{
	const bool after = k > s->kernel;
	const char *why = after && k->cost == NULL ? NULL : qn_kernel_differs(k, f);
	qn_buf b;

	if ((k->needs & ~f->features) != 0)
		return NULL;
	if (why != NULL)
		return after ? NULL : why;
	if (k->cost == NULL || s->kernel->cost == NULL ||
	    (k->pack == s->kernel->pack && k->needs == s->kernel->needs))
		return NULL;
	qn_buf_init(&b, a);
	qn_buff(&b, "about %llu instructions", (unsigned long long)k->cost(f));
	return qn_buf_str(&b);
}

/* The row of a kernel whose result does not lie over an operand; NULL: k is that row, or there is none. */
static const qn_kernel *
row_beside(const qn_op_kernels *form, const qn_kernel *k)
{
	for (size_t i = 0; i < form->nkernel && k->in_place != 0; i++)
		if (form->kernel[i].in_place == 0 && form->kernel[i].name != NULL &&
		    strcmp(form->kernel[i].name, k->name) == 0)
			return &form->kernel[i];
	return NULL;
}

static void
put_declined(qn_buf *b, const qn_plan *p, const qn_step *s, size_t width)
{
	const qn_op_kernels *form = qn_op_kernels_of(p->g, qn_graph_node(p->g, s->core));
	const char *const own = qn_step_function(p->g, s, b->arena);
	const char *name = NULL, *why = NULL;
	qn_step asked = s->strip != NULL ? *s->strip->maker : *s;

	asked.args = asked.prepared;
	qn_step_facts f = qn_step_facts_of(p->g, &asked);
	qn_step_facts_choose(&f, p->target->features, p->declined);
	for (size_t i = 0; i < form->nkernel; i++) {
		const char *last = name, *as = why;

		asked.kernel = &form->kernel[i];
		if (asked.kernel == s->kernel || asked.kernel->name == NULL)
			continue;
		why = declined_because(s, &f, asked.kernel, b->arena);
		if (why == NULL)
			continue;
		name = qn_step_function(p->g, &asked, b->arena);
		const qn_kernel *beside = row_beside(form, asked.kernel);
		const char *other =
			beside != NULL ? declined_because(s, &f, beside, b->arena) : NULL;
		const char *how = beside == NULL || (other != NULL && strcmp(other, why) == 0)
					  ? ""
					  : " (in place)";
		if (own != NULL && *how == '\0' && strcmp(own, name) == 0)
			continue; /* the kernel of the step, for another storage type */
		if (last != NULL && as != NULL && strcmp(last, name) == 0 && strcmp(as, why) == 0)
			continue; /* the same kernel over its operand */
		pad(b, width + 2);
		qn_buff(b, "not %s%s: %s\n", name, how, why);
	}
}

/* Whether a kernel of the target, not one for all of them, would compute the step if none of its sums were a tie. */
static bool
has_ties(const qn_plan *p, const qn_step *s)
{
	const qn_op_kernels *form = qn_op_kernels_of(p->g, qn_graph_node(p->g, s->core));
	qn_step asked = *s;

	asked.args = asked.prepared;
	qn_step_facts f = qn_step_facts_of(p->g, &asked);
	qn_step_facts_choose(&f, p->target->features, p->declined);
	for (size_t i = 0; i < form->nkernel && &form->kernel[i] != s->kernel; i++) {
		const qn_kernel *k = &form->kernel[i];

		asked.kernel = k;
		if (k->needs != 0 && (k->needs & ~f.features) == 0 &&
		    qn_kernel_differs(k, &f) == qn_layer_has_ties)
			return true;
	}
	return false;
}

size_t
qn_plan_has_ties(const qn_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nstep; i++)
		if (p->step[i].alias == 0 && p->step[i].strip == NULL &&
		    p->step[i].kernel != &qn_host_kernel)
			n += has_ties(p, &p->step[i]);
	return n;
}

/* Custom kernels that match the step and declined it. */
static void
put_host_declined(qn_buf *b, const qn_step *s, size_t width)
{
	for (size_t i = 0; s->host != NULL && i < s->host->ndeclined; i++) {
		pad(b, width + 2);
		qn_buff(b, "not %s of the host: %s\n", s->host->declined[i].by->desc.name,
			s->host->declined[i].why);
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

/* The operands of a step that are in blocks. */
static void
put_blocks(qn_buf *b, const qn_graph *g, const qn_step *s)
{
	for (uint32_t i = 0; i < s->nin; i++) {
		const qn_node *n = qn_graph_node(g, s->in[i]);
		const qn_elem *e = n->type->elem;

		if (e->kind != QN_ELEM_UNIFORM || e->gran != QN_SUB_CHANNEL)
			continue;
		qn_buff(b, ", '%s' is %c%d in blocks of ", n->name, e->is_signed ? 'i' : 'u',
			e->bits);
		for (int32_t d = 0; d < n->type->rank; d++)
			qn_buff(b, "%s%lld", d > 0 ? "x" : "",
				(long long)qn_block_along(n->type, d));
		if (e->scale->kind == QN_SCALE_VEC && e->scale->vec->zp != NULL)
			qn_buf_puts(b, " with zero points");
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
			qn_buf_puts(b, ": no call, it shares the bytes of its operand\n");
			continue;
		}
		const bool by_host = s->kernel == &qn_host_kernel;
		const char *name = qn_step_function(p->g, s, b->arena);
		qn_buff(b, ": %s", name != NULL ? name : "its own statements");
		if (by_host)
			qn_buff(b, ", the kernel %s of the host, salience %d",
				s->host->by->desc.name, s->host->by->desc.salience);
		if (s->strip != NULL)
			qn_buff(b, ", %d of its rows at a time for %s", s->strip->rows,
				qn_step_function(p->g, s->strip->reader, b->arena));
		if (s->strip != NULL && s->strip->between != NULL)
			qn_buff(b, " after %s",
				qn_step_function(p->g, s->strip->between, b->arena));
		if (s->work > 0)
			qn_buff(b, ", %zu bytes of working memory", s->work);
		if (s->constant_bytes > 0)
			qn_buff(b, ", %zu bytes of constants", s->constant_bytes);
		put_blocks(b, p->g, s);
		if (s->cost > 0)
			qn_buff(b, ", about %llu instructions", (unsigned long long)s->cost);
		qn_buf_putc(b, '\n');
		put_host_declined(b, s, width);
		if (!by_host)
			put_declined(b, p, s, width);
		put_pruned(b, p->g, s, width);
	}
}
