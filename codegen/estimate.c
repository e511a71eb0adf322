/* SPDX-License-Identifier: Apache-2.0 */
/* estimate.c - see estimate.h.
 *
 *   layer        result * (elements of the result) + mac * MACs + window * (pixels * inputs of a window)
 *   depthwise    result, mac, window * (elements of operand 0), row * (rows of the result * channels)
 *   in blocks    also block * (elements of the result * blocks of weights that each of them sums)
 *   scatters     result * (elements of the updates) + mac * (elements of operand 0)
 *   others       result * (elements of the result) + mac * (elements of operand 0)
 *
 * Each as often as the step runs.  Loops that start, padding that is skipped and the call itself are in the
 * figures.  Of single layers estimates were mostly within 10 % of the counts. */
#include "codegen/estimate.h"

#include <string.h>

#include "codegen/kernel_table.h"
#include "codegen/strips.h"
#include "ir/macs.h"

/* What figures are multiplied with. */
typedef struct work {
	uint64_t result, macs, windows, rows, blocks;
} work;

static uint64_t
count_of(const qn_type *t)
{
	const int64_t n = qn_type_count(t);

	return n > 0 ? (uint64_t)n : 0;
}

/* Of a product with constant weights: what its results share, and what each of them sums. */
static work
work_of_layer(const qn_graph *g, const qn_node *n, uint64_t macs, bool is_depthwise)
{
	const qn_type *y = n->type, *w = qn_graph_node(g, n->in[1])->type;
	const uint64_t channels =
		y->rank > 0 && y->dim[y->rank - 1] > 0 ? (uint64_t)y->dim[y->rank - 1] : 1;
	const uint64_t wide =
		y->rank > 2 && y->dim[y->rank - 2] > 0 ? (uint64_t)y->dim[y->rank - 2] : 1;
	work k = {.result = count_of(y), .macs = macs, .windows = macs / channels};

	if (is_depthwise)
		k.windows = count_of(qn_graph_node(g, n->in[0])->type);
	k.rows = k.result / wide;
	if (w->elem->kind == QN_ELEM_UNIFORM && w->elem->gran == QN_SUB_CHANNEL)
		k.blocks = k.result * (uint64_t)qn_elem_nparams(w->elem) / channels;
	return k;
}

/* The bits of what the kernel reads most. */
static int32_t
bits_of(const qn_graph *g, const qn_node *n, bool weights)
{
	const qn_type *t =
		n->nin > (uint32_t)weights ? qn_graph_node(g, n->in[weights])->type : n->type;
	const qn_type *x = n->nin > 0 ? qn_graph_node(g, n->in[0])->type : n->type;

	return weights && x->elem->bits > 8 ? x->elem->bits : t->elem->bits;
}

static uint64_t
weigh(const qn_kernel_figure *f, const work *k, int32_t percent)
{
	const uint64_t sum = k->result * (uint64_t)f->result + k->macs * (uint64_t)f->mac +
			     k->windows * (uint64_t)f->window + k->rows * (uint64_t)f->row +
			     k->blocks * (uint64_t)f->block;

	return (sum / 1000 * (uint64_t)percent + 99) / 100;
}

/* Of one kernel whose core node is n; name NULL: its op's own statements. */
static uint64_t
instructions_of(const qn_target_figures *t, const qn_graph *g, const qn_node *n, const char *name)
{
	/* a loop of bytes that calls a function for each of them, and products one at a time */
	static const qn_kernel_figure unknown = {.result = 20000, .mac = 6000};
	const uint64_t macs = qn_node_macs(g, n);
	const bool has_weights = macs > 0 && n->nin > 1;
	work k = {.result = count_of(n->type), .macs = macs};
	int32_t percent = 100;

	if (has_weights)
		k = work_of_layer(g, n, macs, name != NULL && strstr(name, "depthwise") != NULL);
	else if (n->nin > 0)
		k.macs = count_of(qn_graph_node(g, n->in[0])->type);
	if (n->op == QN_OP_scatter_nd || n->op == QN_OP_scatter_elements)
		k.result = count_of(qn_graph_node(g, n->in[2])->type);
	const qn_kernel_figure *f = qn_kernel_figure_of(t, name != NULL ? name : "",
							bits_of(g, n, has_weights), &percent);
	return weigh(f != NULL ? f : &unknown, &k, percent);
}

static const char *
name_of(const qn_step *s)
{
	return s->kernel != NULL ? s->kernel->name : NULL;
}

uint64_t
qn_step_macs(const qn_plan *p, const qn_step *s)
{
	const qn_step *part[QN_STRIP_PARTS];
	const size_t parts = qn_strip_parts(s, part);
	uint64_t n = 0;

	for (size_t i = 0; i < parts; i++)
		n += qn_node_macs(p->g, qn_graph_node(p->g, part[i]->core));
	return n * s->runs;
}

uint64_t
qn_step_instructions(const qn_plan *p, const qn_step *s)
{
	const qn_target_figures *t = qn_target_figures_of(p->target->name);
	const qn_step *part[QN_STRIP_PARTS];
	const size_t parts = qn_strip_parts(s, part);
	uint64_t n = 0;

	if (s->alias != 0)
		return 0;
	for (size_t i = 0; i < parts; i++)
		n += instructions_of(t, p->g, qn_graph_node(p->g, part[i]->core), name_of(part[i]));
	return n * s->runs;
}

uint64_t
qn_plan_instructions(const qn_plan *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->nstep; i++)
		n += qn_step_instructions(p, &p->step[i]);
	return n;
}

const char *
qn_plan_measured_on(const qn_plan *p)
{
	return qn_target_figures_of(p->target->name)->from;
}
