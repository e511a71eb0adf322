/* SPDX-License-Identifier: Apache-2.0 */
/* strips.c - pools and convolutions that are computed with the step before them, a window of rows at a time.
 *
 *   conv1 [28, 28, 8]   6272 bytes         rows 2 i and 2 i + 1   448 bytes
 *   silu  [28, 28, 8]                      the same rows, in place
 *   pool1 [14, 14, 8]                 --->  row i of pool1, for i from 0 to 13
 *
 * Any kernel of a convolution makes some rows of its result: they are the result of a part of its operand, in which
 * padding stays where it was (runtime/kernels/strip.h).  Kernels of element-wise steps make any elements.  Rows that the next window has too are kept.
 * Larger results are in memory longer then, the convolution's operand and the reader's result at the
 * same time, so not all steps are joined that could be (strips_choose.c). */
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

static size_t
align_up(size_t n)
{
	return (n + QN_SCRATCH_ALIGN - 1) / QN_SCRATCH_ALIGN * QN_SCRATCH_ALIGN;
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

size_t
qn_strip_parts(const qn_step *s, const qn_step *part[QN_STRIP_PARTS])
{
	size_t n = 0;

	if (s->strip == NULL) {
		part[n++] = s;
		return n;
	}
	part[n++] = s->strip->maker;
	if (s->strip->between != NULL)
		part[n++] = s->strip->between;
	part[n++] = s->strip->reader;
	return n;
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

/* Whether a step computes each element of its result from the one in the same place, so those of any rows alone. */
static bool
is_element_wise(const qn_graph *g, const qn_step *s)
{
	if (s->kernel == NULL || s->kernel->counts == 0 || s->nin != 1 || s->work > 0 ||
	    s->strip != NULL)
		return false;
	const qn_type *x = qn_graph_node(g, s->in[0])->type, *y = qn_graph_node(g, s->node)->type;
	return qn_type_count(x) == qn_type_count(y);
}

/* Whether an element-wise step may leave its result in the place of what it reads. */
static bool
is_between(const qn_graph *g, const qn_step *s)
{
	if (!is_element_wise(g, s))
		return false;
	const size_t from = qn_elem_bytes(qn_graph_node(g, s->in[0])->type->elem),
		     to = qn_elem_bytes(qn_graph_node(g, s->node)->type->elem);
	return from == to ? (s->kernel->in_place & 1) != 0 : from > to && s->kernel->shrinks;
}

/* Finds what to set in the arguments of an element-wise step, whose result has h rows; false: its counts are not of
 * rows, as where an axis has parameters for each row. */
static bool
count_rows(const qn_step *step, int32_t h, qn_strip_of *s)
{
	const uint32_t last = step->kernel->counts - 1;
	uint32_t i = 0;

	while (i < last && qn_kernel_int(step->args, i * sizeof(int32_t)) == 1)
		i++;
	const int32_t n = qn_kernel_int(step->args, i * sizeof(int32_t));
	s->count = i;
	s->each = n / h;
	return (i == 0 || i == last) && n % h == 0;
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

/* The windows that a step wants of its operand's rows; false: its kernel does not compute rows by themselves. */
static bool
find_windows(const qn_graph *g, const qn_step *s, qn_windows *out)
{
	if (s->kernel != NULL && s->kernel->reads_rows && !s->rows_planned) {
		const qn_pool_args *b = s->args;

		*out = (qn_windows){b->stride_h, b->pad_t, b->k_h, b->out_h, b->out_w * b->c, 1};
		return b->dil_h == 1;
	}
	if (!makes_rows(g, s) || s->kernel->fused == NULL || s->prepared == NULL)
		return false;
	const qn_conv2d_args *c = conv_args(s);

	*out = (qn_windows){c->stride_h, c->pad_t, reach(c), c->out_h, c->out_w * c->out_c, 1};
	return true;
}

/* How a step makes the rows that the reader wants; false: it does not make rows by themselves. */
static bool
find_maker(const qn_graph *g, const qn_step *s, const qn_step *reader, qn_maker *out)
{
	if (is_element_wise(g, s)) {
		const qn_pool_args *pool = reader->kernel->reads_rows ? reader->args : NULL;
		const qn_conv2d_args *c = pool == NULL ? conv_args(reader) : NULL;
		const int32_t h = pool != NULL ? pool->in_h : c->in_h,
			      row = pool != NULL ? pool->in_w * pool->c : c->in_w * c->in_c;

		*out = (qn_maker){
			pool != NULL ? pool->batch : c->batch, h, row, h, row, 1, 1, 0, true};
		return true;
	}
	if (!makes_rows(g, s) || s->kernel->fused == NULL || s->prepared == NULL)
		return false;
	const qn_conv2d_args *c = conv_args(s);

	*out = (qn_maker){c->batch,    c->in_h,  c->in_w * c->in_c, c->out_h, c->out_w * c->out_c,
			  c->stride_h, reach(c), c->pad_t,          false};
	return true;
}

/* The rows of its operand that the reader wants at once. */
static int32_t
rows_for(const qn_windows *v, int32_t made)
{
	return (made - 1) * v->stride + v->reach;
}

/* The most working memory that a kernel wants for rows of its result; grows *work. */
static void
want(const qn_step *s, void *args, const qn_strip *r, size_t *work)
{
	set_rows(args, r);
	const size_t wants = s->kernel->work != NULL ? s->kernel->work(args) : 0;
	*work = wants > *work ? wants : *work;
}

/* The working memory that both want for the rows of any window; false: a window has no rows, or some of
 * its rows depend on padding alone. */
static bool
measure(const qn_step *maker, const qn_maker *m, const qn_step *reader, const qn_windows *v,
	qn_arena *a, size_t work[2])
{
	const bool convolves = reader->kernel->by_rows > 0;
	void *args = m->element_wise ? NULL : qn_arena_copy(a, maker->args, maker->kernel->by_rows),
	     *other = convolves ? qn_arena_copy(a, reader->args, reader->kernel->by_rows) : NULL;
	qn_strip r = {0};

	work[0] = work[1] = 0;
	for (int32_t i = 0; i < v->n; i += v->at_once) {
		const int32_t made = v->n - i < v->at_once ? v->n - i : v->at_once;
		int8_t none = 0;

		qn_strip_next(&r, i * v->stride - v->pad, rows_for(v, made), m->out_h, &none, 0);
		qn_strip_operand(&r, m->in_h, m->stride, m->reach, m->pad);
		if (r.rows < 1)
			return false;
		if (convolves)
			want(reader, other, &(qn_strip){.in_h = r.rows, .rows = made}, &work[1]);
		if (r.rows == r.kept)
			continue;
		if (r.in_h < 1)
			return false;
		if (args != NULL)
			want(maker, args, &r, &work[0]);
	}
	return true;
}

static const qn_step *
with_work(const qn_step *s, size_t work, qn_arena *a)
{
	qn_step *copy = qn_arena_copy(a, s, sizeof(*s));

	copy->work = work;
	return copy;
}

/* The step that all are, between may be NULL; NULL when they cannot be one. */
static const qn_strip_of *
joined(const qn_plan *p, const qn_step *maker, const qn_step *between, const qn_step *reader,
       int32_t at_once, qn_arena *a)
{
	size_t work[2];
	qn_windows v;
	qn_maker m;

	if (!find_windows(p->g, reader, &v) || !find_maker(p->g, maker, reader, &m))
		return NULL;
	v.at_once = at_once;
	if (m.batch != 1 || rows_for(&v, at_once) >= m.out_h ||
	    !measure(maker, &m, reader, &v, a, work))
		return NULL;
	qn_strip_of *s = QN_NEW(a, qn_strip_of, 1);
	const qn_step *each = m.element_wise ? maker : between;
	if (each != NULL && !count_rows(each, m.out_h, s))
		return NULL;
	s->between = between != NULL ? with_work(between, 0, a) : NULL;
	s->maker = with_work(maker, work[0], a);
	s->made = m;
	s->reader = with_work(reader, work[1], a);
	s->windows = v;
	s->rows = rows_for(&v, at_once);
	s->row_bytes = (between != NULL ? between : maker)->bytes / (size_t)m.out_h;
	s->rows_bytes = (size_t)s->rows * (maker->bytes / (size_t)m.out_h);
	s->at = align_up(work[0]);
	s->reader_at = s->at + align_up(s->rows_bytes);
	/* new rows begin after those that are kept, which may have smaller elements */
	const size_t each_bytes = maker->bytes / (size_t)m.out_h / (size_t)m.out_row;
	return s->row_bytes % each_bytes == 0 ? s : NULL;
}

/* The step with what `next` computes after it, whose value it then leaves. */
static qn_step
with_step(const qn_step *s, const qn_step *next, qn_arena *a)
{
	qn_step both = *s;
	qn_epilogue *epilogue = QN_NEW(a, qn_epilogue, s->nepilogue + 1 + next->nepilogue);
	qn_id *in = QN_NEW(a, qn_id, s->nin + next->nin);

	if (s->nepilogue > 0)
		memcpy(epilogue, s->epilogue, s->nepilogue * sizeof(*epilogue));
	epilogue[both.nepilogue++] = (qn_epilogue){next->core, next->prepared};
	for (uint32_t i = 0; i < next->nepilogue; i++)
		epilogue[both.nepilogue++] = next->epilogue[i];
	memcpy(in, s->in, s->nin * sizeof(*in));
	memcpy(in + s->nin, next->in + 1, (next->nin - 1) * sizeof(*in));
	both.nin += next->nin - 1;
	both.in = in;
	both.epilogue = epilogue;
	both.node = next->node;
	both.bytes = next->bytes;
	return both;
}

/* The first step leaves the reader's value; its epilogue is longer by the nodes of the others. */
static qn_step
join_steps(const qn_strip_of *s, qn_arena *a)
{
	qn_step all = *s->maker;

	if (s->between != NULL)
		all = with_step(&all, s->between, a);
	all = with_step(&all, s->reader, a);
	all.work = s->reader->work > 0 ? s->reader_at + s->reader->work : s->at + s->rows_bytes;
	all.strip = s;
	return all;
}

/* The step that makes what s reads first; NULL: none does. */
static const qn_step *
step_before(const qn_plan *p, const uint32_t *step_of, const qn_step *s)
{
	return s->nin > 0 && step_of[s->in[0]] != 0 ? &p->step[step_of[s->in[0]] - 1] : NULL;
}

/* The step of reader i and of the steps before it; NULL where it cannot be, or is not joined. */
static const qn_strip_of *
strip_of(const qn_plan *p, const uint32_t *step_of, size_t i, const int32_t *join, qn_arena *a)
{
	const qn_step *maker = step_before(p, step_of, &p->step[i]), *between = NULL;

	if (maker != NULL && is_between(p->g, maker)) {
		const qn_step *before = step_before(p, step_of, maker);

		if (before != NULL && makes_rows(p->g, before) && before->kernel->fused != NULL) {
			between = maker;
			maker = before;
		}
	}
	if (maker == NULL || (join != NULL && join[maker->core] == 0))
		return NULL;
	const qn_strip_of *s =
		joined(p, maker, between, &p->step[i], join != NULL ? join[maker->core] : 1, a);
	if (s == NULL || readers(p, step_of, maker->node) != 1)
		return NULL;
	return between == NULL || readers(p, step_of, between->node) == 1 ? s : NULL;
}

void
qn_strips_join(qn_plan *p, const int32_t *join, qn_arena *a)
{
	uint32_t *step_of = qn_step_of(p->g, p->step, p->nstep, a);
	bool *gone = QN_NEW(a, bool, p->nstep);
	size_t n = 0;

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_strip_of *s = strip_of(p, step_of, i, join, a);

		if (s == NULL)
			continue;
		gone[step_of[s->maker->node] - 1] = true;
		if (s->between != NULL)
			gone[step_of[s->between->node] - 1] = true;
		p->step[i] = join_steps(s, a);
	}
	for (size_t i = 0; i < p->nstep; i++)
		if (!gone[i])
			p->step[n++] = p->step[i];
	p->nstep = n;
}

size_t
qn_strips_find(const qn_plan *p, bool convolutions, qn_joinable *out, qn_arena *a)
{
	uint32_t *step_of = qn_step_of(p->g, p->step, p->nstep, a);
	size_t n = 0;

	for (size_t i = 0; i < p->nstep; i++) {
		const qn_kernel *k = p->step[i].kernel;
		const qn_strip_of *s = convolutions || (k != NULL && k->reads_rows)
					       ? strip_of(p, step_of, i, NULL, a)
					       : NULL;

		if (s == NULL)
			continue;
		out[s->maker->core] = (qn_joinable){s->windows.n, k->reads_rows, s->reader->in[0]};
		n++;
	}
	return n;
}
