/* SPDX-License-Identifier: Apache-2.0 */
/* schedule.c - nodes become steps.
 *
 *   1 input  image                         step 0  conv1  reads 1, 2   leaves the value of node 4
 *   2 const  conv1.w                       step 1  flat   alias of 4
 *   3 conv2d conv1 (1, 2)       --->       step 2  fc     reads 5, 6   leaves the value of node 8
 *   4 requantize conv1_q (3)
 *   5 flatten flat (4)
 *   6 const  fc.w
 *   7 dense  fc (5, 6)
 *   8 requantize fc_q (7)
 *
 * A step grows: a node joins the step of its operand where it is the only user of that and a kernel
 * computes both.  So a sum of products goes with the requantize of it into one call, and no
 * accumulator is stored.  Constants and graph inputs are not steps; nodes that no output needs are
 * left out.  Requires a graph of stage `integer`. */
#include "codegen/schedule.h"

#include <string.h>

#include "codegen/ident.h"
#include "codegen/kernel_table.h"
#include "codegen/parts.h"
#include "ir/diag.h"
#include "ir/loops.h"
#include "runtime/impls.h"
#include "runtime/override.h"

typedef struct scheduler {
	const qn_graph *g;
	uint32_t features;                  /* of the target */
	const qn_declined *const *declined; /* as qn_plan has it */
	qn_arena *arena;
	uint32_t *uses; /* by live nodes and outputs; 0: not live */
	bool *is_part;  /* slices without a call (parts.h) */
	qn_names names;
	qn_loops loops;
	qn_step *step;    /* by the node whose value it leaves so far; core 0: there is none */
	qn_status status; /* the first problem */
} scheduler;

static void
count_uses(scheduler *s)
{
	const qn_graph *g = s->g;
	size_t k;
	qn_id id;
	uint32_t j;

	for (k = 0; k < g->noutput; k++)
		s->uses[g->output[k].value]++;
	for (id = g->n - 1; id > 0; id--)
		for (j = 0; s->uses[id] > 0 && j < qn_graph_node(g, id)->nin; j++)
			s->uses[qn_graph_node(g, id)->in[j]]++;
}

static void
fail(scheduler *s, qn_status status)
{
	if (s->status == QN_OK)
		s->status = status;
}

static void
unsupported(scheduler *s, const qn_node *n, const char *why)
{
	fail(s, qn_report(s->g->model->env, QN_EUNSUPPORTED, "emit.unsupported",
			  qn_node_place(s->g, n), "op %s of node '%s' cannot be emitted: %s",
			  qn_opinfo_of(n)->name, n->name, why));
}

/* An input that no node reads: of a quantize or dequantize alone, which NAME_io.h computes for any
 * shape. */
static bool
is_only_cast(const qn_graph *g, const qn_node *input)
{
	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; i < n->nin; i++)
			if (qn_graph_node(g, n->in[i]) == input)
				return false;
	}
	return input->op == QN_OP_input;
}

/* Reports what keeps a live node from being emitted, whatever its kernel says. */
static void
check_node(scheduler *s, const qn_node *n)
{
	const char *why = qn_op_kernels_of(s->g, n)->why;

	if (why != NULL)
		unsupported(s, n, why);
	else if (n->type->is_tuple)
		unsupported(s, n, "its value is a tuple");
	else if (qn_elem_is_float(n->type->elem))
		fail(s, qn_report(s->g->model->env, QN_EUNSUPPORTED, "emit.float",
				  qn_node_place(s->g, n),
				  "node '%s' (op %s) has a value of a float type; emitted code has "
				  "only integers: quantize and legalize the graph first",
				  n->name, qn_opinfo_of(n)->name));
	else if (qn_type_count(n->type) < 0 && !is_only_cast(s->g, n))
		unsupported(s, n, "its shape is not static");
	else if (qn_type_count(n->type) < 0)
		return;
	else if (qn_type_count(n->type) == 0 || qn_type_bytes(n->type) > INT32_MAX)
		unsupported(s, n, "its value is empty or has 2^31 bytes or more");
}

static bool
is_data(const qn_node *n)
{
	return n->op == QN_OP_input || n->op == QN_OP_const;
}

/* The argument struct of one node as its integer implementation prepares it. */
static void *
prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_int_impl *f = qn_int_impl_of(g, n);

	if (f == NULL || f->prepare == NULL) {
		qn_report(g->model->env, QN_EUNSUPPORTED, "emit.unsupported", qn_node_place(g, n),
			  "op %s of node '%s' cannot be emitted: it has no integer implementation",
			  qn_opinfo_of(n)->name, n->name);
		return NULL;
	}
	return f->prepare(g, n, a);
}

static const qn_kernel *
choose(const scheduler *s, const qn_step *t, const char **why)
{
	const qn_op_kernels *form = qn_op_kernels_of(s->g, qn_graph_node(s->g, t->core));
	qn_step_facts f = qn_step_facts_of(s->g, t);

	qn_step_facts_choose(&f, s->features, s->declined);
	return qn_kernel_choose(form->kernel, form->nkernel, &f, why);
}

/* A custom kernel for the step; false: a built-in one is to be chosen. */
static bool
overridden(scheduler *s, qn_step *t, const qn_node *n)
{
	qn_override_choice *c = NULL;

	if (s->g->model->env->overrides != NULL)
		c = qn_override_choose(s->g, n, true, s->arena);
	t->host = c;
	if (c == NULL || c->by == NULL)
		return false;
	t->kernel = &qn_host_kernel;
	t->args = c;
	if (c->by->desc.c_text == NULL)
		fail(s,
		     qn_report(s->g->model->env, QN_EUNSUPPORTED, "emit.kernel",
			       qn_node_place(s->g, n),
			       "op %s of node '%s' has the kernel '%s' of the host, which has no C "
			       "text: give it c_text, or leave such kernels to the interpreter "
			       "(qn_kernel_rules.interpreter_only)",
			       qn_opinfo_of(n)->name, n->name, c->by->desc.name));
	return true;
}

/* The step of a node on its own. */
static void
begin_step(scheduler *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);
	qn_step *t = &s->step[id];
	const char *why;

	t->node = t->core = id;
	t->nin = n->nin;
	t->in = n->in;
	t->bytes = qn_type_bytes(n->type);
	if (qn_op_kernels_get(n->op)->alias ||
	    (s->is_part[id] && qn_slice_is_part(s->g, n, &t->alias_offset))) {
		t->alias = n->in[0];
		return;
	}
	if (overridden(s, t, n))
		return;
	t->args = prepare(s->g, n, s->arena);
	if (t->args == NULL)
		fail(s, QN_EUNSUPPORTED);
	else
		t->kernel = choose(s, t, &why);
}

/* A copy of the array with room for that many more elements. */
static void *
extended(scheduler *s, const void *array, size_t n, size_t more, size_t size)
{
	char *copy = qn_arena_alloc(s->arena, n + more, size);

	if (n > 0)
		memcpy(copy, array, n * size);
	return copy;
}

/* The step t with node `next`, of which `one` is the step on its own, after it. */
static qn_step
with_node(scheduler *s, const qn_step *t, const qn_step *one)
{
	qn_step both = *t;
	qn_epilogue *epilogue = extended(s, t->epilogue, t->nepilogue, 1, sizeof(*epilogue));
	qn_id *in = extended(s, t->in, t->nin, one->nin - 1, sizeof(*in));

	epilogue[both.nepilogue++] = (qn_epilogue){one->node, one->args};
	memcpy(in + t->nin, one->in + 1, (one->nin - 1) * sizeof(*in));
	both.nin += one->nin - 1;
	both.in = in;
	both.epilogue = epilogue;
	both.node = one->node;
	both.bytes = one->bytes;
	return both;
}

/* Whether a kernel of the step's core node computes others with it. */
static bool
can_grow(const scheduler *s, const qn_step *t)
{
	const qn_op_kernels *form = qn_op_kernels_of(s->g, qn_graph_node(s->g, t->core));

	for (size_t i = 0; t->kernel != &qn_host_kernel && i < form->nkernel; i++)
		if (form->kernel[i].fused != NULL)
			return true;
	return false;
}

/* Lets the node join the step of its first operand where a kernel computes both. */
static void
join(scheduler *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);
	const char *why;

	if (n->nin == 0 || s->step[id].args == NULL || s->step[id].kernel == &qn_host_kernel ||
	    s->uses[n->in[0]] != 1)
		return;
	qn_step *before = &s->step[n->in[0]];
	if (before->core == 0 || before->args == NULL || !can_grow(s, before))
		return;
	if (s->loops.n > 0 && s->loops.with[id] != s->loops.with[before->core])
		return; /* what a loop reads is not computed in each of its steps */
	qn_step both = with_node(s, before, &s->step[id]);
	both.kernel = choose(s, &both, &why);
	if (both.kernel == NULL)
		return;
	s->step[id] = both;
	before->core = 0;
}

static void
plan_rows(qn_step *t, int32_t rows)
{
	if (rows <= QN_STACK_ROWS)
		return;
	t->rows_planned = true;
	t->work = (t->work + QN_POINTER_BYTES - 1) / QN_POINTER_BYTES * QN_POINTER_BYTES +
		  (size_t)rows * QN_POINTER_BYTES;
}

/* The cost of the step's kernel, and the arguments as it reads them. */
static void
pack(const scheduler *s, qn_step *t)
{
	qn_step_facts *f = QN_NEW(s->arena, qn_step_facts, 1);

	*f = qn_step_facts_of(s->g, t);
	if (t->kernel->cost != NULL)
		t->cost = t->kernel->cost(f);
	if (t->kernel->pack != NULL)
		t->args = t->kernel->pack(f, s->arena);
}

/* The step is whole: it gets its name, and its arguments what its kernel computes with them. */
static void
finish_step(scheduler *s, qn_step *t)
{
	const qn_node *core = qn_graph_node(s->g, t->core);
	const char *why;

	t->name = qn_names_add(&s->names, core->name);
	t->runs = qn_loop_runs(&s->loops, t->core);
	if (t->alias != 0 || t->args == NULL)
		return;
	if (t->kernel == NULL) {
		(void)choose(s, t, &why);
		unsupported(s, core, why);
		return;
	}
	qn_kernel_fuse(t);
	t->prepared = t->args;
	pack(s, t);
	if (t->kernel->work != NULL)
		t->work = t->kernel->work(t->args);
	if (t->kernel->rows > 0)
		plan_rows(t, qn_kernel_int(t->args, t->kernel->rows));
}

qn_status
qn_schedule_make(const qn_graph *g, const qn_target *target, const qn_declined *const *declined,
		 qn_arena *a, qn_step **step, size_t *nstep)
{
	scheduler s = {.g = g,
		       .features = target->features,
		       .declined = declined,
		       .arena = a,
		       .status = QN_OK};
	size_t n = 0;
	qn_id id;

	s.uses = QN_NEW(a, uint32_t, g->n);
	s.step = QN_NEW(a, qn_step, g->n);
	qn_names_init(&s.names, a);
	s.loops = qn_loops_find(g, a);
	if (g->noutput == 0)
		return qn_report(g->model->env, QN_EINVALID, "emit.outputs", "",
				 "graph '%s' has no outputs", g->name);
	count_uses(&s);
	s.is_part = qn_parts_of_operands(g, s.uses, a);
	for (id = 1; id < g->n; id++)
		if (s.uses[id] > 0)
			check_node(&s, qn_graph_node(g, id));
	if (s.status != QN_OK)
		return s.status;
	for (id = 1; id < g->n; id++) {
		if (s.uses[id] == 0 || is_data(qn_graph_node(g, id)))
			continue;
		begin_step(&s, id);
		join(&s, id);
	}
	for (id = 1; id < g->n; id++) {
		if (s.step[id].core == 0)
			continue;
		s.step[n] = s.step[id];
		finish_step(&s, &s.step[n++]);
	}
	*step = s.step;
	*nstep = n;
	return s.status;
}

uint32_t *
qn_step_of(const qn_graph *g, const qn_step *step, size_t nstep, qn_arena *a)
{
	uint32_t *of = QN_NEW(a, uint32_t, g->n);
	size_t i;

	for (i = 0; i < nstep; i++)
		of[step[i].node] = (uint32_t)i + 1;
	return of;
}

qn_id
qn_value_root(const qn_step *step, const uint32_t *step_of, qn_id id)
{
	while (step_of[id] != 0 && step[step_of[id] - 1].alias != 0)
		id = step[step_of[id] - 1].alias;
	return id;
}

void
qn_step_layers(const qn_graph *g, const qn_step *s, const char *name, qn_layers *out)
{
	*out = (qn_layers){0};
	qn_layers_add_node(out, qn_graph_node(g, s->core));
	for (uint32_t i = 0; i < s->nepilogue; i++)
		qn_layers_add_node(out, qn_graph_node(g, s->epilogue[i].node));
	if (name != NULL && out->n == 1 && strcmp(out->name[0], name) == 0)
		out->n = 0;
}
