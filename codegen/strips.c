/* SPDX-License-Identifier: Apache-2.0 */
/* strips.c - which pools are computed with the convolution before them, a window of rows at a time.
 *
 *   conv1 [28, 28, 8]   6272 bytes         rows 2 i and 2 i + 1   448 bytes
 *   pool1 [14, 14, 8]                 --->  row i of pool1, for i from 0 to 13
 *
 * Any kernel makes some rows of its result: they are the result of a part of its operand, in which
 * padding stays where it was (runtime/kernels/strip.h).  Rows that the next window has too are kept.
 * Larger results are in memory longer then, the convolution's operand and the pool's result at the
 * same time, so steps are joined only where the arena gets smaller. */
#include "codegen/strips.h"

#include <string.h>

#include "codegen/kernels_dsp.h"
#include "codegen/kernels_scalar.h"
#include "codegen/kernels_vector.h"
#include "codegen/schedule.h"
#include "runtime/impl_args.h"
#include "runtime/kernels/strip.h"

/* The arguments of kernels that make rows alone begin as these do. */
#define SAME(type)                                                                                 \
	_Static_assert(offsetof(type, in_h) == offsetof(qn_conv2d_args, in_h) &&                   \
			       offsetof(type, out_h) == offsetof(qn_conv2d_args, out_h) &&         \
			       offsetof(type, pad_t) == offsetof(qn_conv2d_args, pad_t),           \
		       #type)
SAME(qn_dsp_args);
SAME(qn_scalar_args);
SAME(qn_vector_args);

enum {
	ALIGN = QN_SCRATCH_ALIGN,
	MOST_TRIED = 64
}; /* joins of which each is tested whether it is needed */

static size_t
align_up(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static const qn_conv2d_args *
conv_args(const qn_step *conv)
{
	return &((const qn_conv2d_call *)conv->prepared)->args;
}

static int32_t
reach(const qn_conv2d_args *c)
{
	return (c->k_h - 1) * c->dil_h + 1;
}

/* How many steps and outputs read the value of a step. */
static size_t
readers(const qn_plan *p, const uint32_t *step_of, qn_id value)
{
	size_t n = 0;

	for (size_t i = 0; i < p->nstep; i++)
		for (uint32_t j = 0; j < p->step[i].nin; j++)
			n += qn_value_root(p->step, step_of, p->step[i].in[j]) == value;
	for (size_t k = 0; k < p->g->noutput; k++)
		n += qn_value_root(p->step, step_of, p->g->output[k].value) == value;
	return n;
}

/* Whether the kernel makes rows of its result alone, with all constants known. */
static bool
makes_rows(const qn_graph *g, const qn_step *s)
{
	if (s->kernel == NULL || s->kernel->by_rows == 0 || s->rows_planned || s->strip != NULL)
		return false;
	for (uint32_t j = 1; j < s->nin; j++)
		if (qn_graph_node(g, s->in[j])->op != QN_OP_const)
			return false;
	return true;
}

/* Sets the fields of a kernel's arguments that say which rows it makes. */
static void
set_rows(void *args, const qn_strip *r)
{
	const int32_t rows = r->rows - r->kept;
	char *a = args;

	memcpy(a + offsetof(qn_conv2d_args, in_h), &r->in_h, sizeof(r->in_h));
	memcpy(a + offsetof(qn_conv2d_args, out_h), &rows, sizeof(rows));
	memcpy(a + offsetof(qn_conv2d_args, pad_t), &r->pad_t, sizeof(r->pad_t));
}

/* The working memory that the convolution wants for the rows of any window; false: a window has no rows, or
 * some of its rows depend on padding alone. */
static bool
measure(const qn_step *conv, const qn_pool_args *b, qn_arena *a, size_t *work)
{
	const qn_conv2d_args *c = conv_args(conv);
	void *args = qn_arena_alloc(a, 1, conv->kernel->by_rows);
	qn_strip r = {0};

	*work = 0;
	memcpy(args, conv->args, conv->kernel->by_rows);
	for (int32_t i = 0; i < b->out_h; i++) {
		int8_t none = 0;

		qn_strip_next(&r, i * b->stride_h - b->pad_t, b->k_h, c->out_h, &none, 0);
		qn_strip_operand(&r, c->in_h, c->stride_h, reach(c), c->pad_t);
		if (r.rows < 1)
			return false;
		if (r.rows == r.kept)
			continue;
		if (r.in_h < 1)
			return false;
		set_rows(args, &r);
		const size_t wants = conv->kernel->work != NULL ? conv->kernel->work(args) : 0;
		*work = wants > *work ? wants : *work;
	}
	return true;
}

/* The step that both are; NULL when they cannot be one. */
static const qn_strip_of *
joined(const qn_plan *p, const qn_step *conv, const qn_step *pool, qn_arena *a)
{
	const qn_pool_args *b = pool->args;
	size_t work;

	if (!makes_rows(p->g, conv) || conv->kernel->fused == NULL || conv->prepared == NULL)
		return NULL;
	const qn_conv2d_args *c = conv_args(conv);
	if (c->batch != 1 || b->dil_h != 1 || b->k_h >= c->out_h || !measure(conv, b, a, &work))
		return NULL;
	qn_strip_of *s = QN_NEW(a, qn_strip_of, 1);
	qn_step *first = QN_NEW(a, qn_step, 1), *second = QN_NEW(a, qn_step, 1);
	*first = *conv;
	*second = *pool;
	first->work = work;
	s->conv = first;
	s->pool = second;
	s->rows = b->k_h;
	s->row_bytes = conv->bytes / (size_t)c->out_h;
	s->at = align_up(work);
	return s;
}

/* The convolution's step leaves the pool's value; its epilogue is one node longer. */
static qn_step
join_steps(const qn_strip_of *s, qn_arena *a)
{
	qn_step both = *s->conv;
	qn_epilogue *epilogue = QN_NEW(a, qn_epilogue, both.nepilogue + 1);

	memcpy(epilogue, both.epilogue, both.nepilogue * sizeof(*epilogue));
	epilogue[both.nepilogue++] = (qn_epilogue){s->pool->node, s->pool->args};
	both.epilogue = epilogue;
	both.node = s->pool->node;
	both.bytes = s->pool->bytes;
	both.work = s->at + (size_t)s->rows * s->row_bytes;
	both.strip = s;
	return both;
}

/* The step of pool i and of the convolution before it, number *before; NULL where it is not a pool, or is not joined. */
static const qn_strip_of *
strip_of(const qn_plan *p, const uint32_t *step_of, size_t i, const bool *join, qn_arena *a,
	 size_t *before)
{
	const qn_step *pool = &p->step[i];

	if (pool->kernel == NULL || !pool->kernel->reads_rows || pool->rows_planned ||
	    step_of[pool->in[0]] == 0)
		return NULL;
	*before = step_of[pool->in[0]] - 1;
	const qn_step *conv = &p->step[*before];
	if ((join != NULL && !join[conv->core]) || readers(p, step_of, conv->node) != 1)
		return NULL;
	return joined(p, conv, pool, a);
}

void
qn_strips_join(qn_plan *p, const bool *join, qn_arena *a)
{
	uint32_t *step_of = qn_step_of(p->g, p->step, p->nstep, a);
	bool *gone = QN_NEW(a, bool, p->nstep);
	size_t n = 0, before;

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_strip_of *s = strip_of(p, step_of, i, join, a, &before);

		if (s == NULL)
			continue;
		gone[before] = true;
		p->step[i] = join_steps(s, a);
	}
	for (size_t i = 0; i < p->nstep; i++)
		if (!gone[i])
			p->step[n++] = p->step[i];
	p->nstep = n;
}

/* Which core nodes' steps can be joined with a pool; how many are. */
static size_t
find_joins(const qn_plan *p, bool *join, qn_arena *a)
{
	uint32_t *step_of = qn_step_of(p->g, p->step, p->nstep, a);
	size_t n = 0, before;

	for (size_t i = 0; i < p->nstep; i++)
		if (strip_of(p, step_of, i, NULL, a, &before) != NULL) {
			join[p->step[before].core] = true;
			n++;
		}
	return n;
}

/* Undoes the joins that do not make the arena smaller. */
static qn_status
keep_needed(const qn_plan *p, size_t least, bool *join, qn_arena *tmp)
{
	for (size_t i = 0; i < p->nstep; i++) {
		const qn_id core = p->step[i].core;
		qn_plan *next;

		if (!join[core])
			continue;
		join[core] = false;
		QN_TRY(qn_plan_strips(p, join, tmp, &next));
		join[core] = next->scratch_bytes > least;
	}
	return QN_OK;
}

static qn_status
choose(const qn_plan *p, bool *join, qn_arena *tmp, bool *gains)
{
	const size_t n = find_joins(p, join, tmp);
	qn_plan *all;

	*gains = false;
	if (n == 0)
		return QN_OK;
	QN_TRY(qn_plan_strips(p, join, tmp, &all));
	*gains = all->scratch_bytes < p->scratch_bytes;
	return *gains && n <= MOST_TRIED ? keep_needed(p, all->scratch_bytes, join, tmp) : QN_OK;
}

qn_status
qn_strips_choose(qn_plan **p, qn_arena *a)
{
	qn_arena *tmp = qn_arena_child(a);
	bool *join = QN_NEW(tmp, bool, (*p)->g->n);
	bool gains;
	qn_status status = choose(*p, join, tmp, &gains);

	if (status == QN_OK && gains)
		status = qn_plan_strips(*p, join, a, p);
	qn_arena_release(tmp);
	return status;
}
