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
 * A sum of products whose only use is a requantize goes with it into one kernel call, so that no
 * accumulator is stored.  Constants and graph inputs are no steps; nodes that no output needs are
 * left out.  Requires a graph of stage `integer`. */
#include "codegen/schedule.h"

#include "codegen/emitter.h"
#include "ir/diag.h"
#include "runtime/channels.h"
#include "runtime/forms.h"

typedef struct scheduler {
	const qn_graph *g;
	qn_arena *arena;
	uint32_t *uses; /* by live nodes and outputs; 0: not live */
	bool *hidden;   /* computed inside the step of its only user, or already refused */
	qn_names names;
	qn_step *step;
	size_t nstep;
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

/* Reports what keeps a live node from being emitted, whatever its kernel says. */
static void
check_node(scheduler *s, const qn_node *n)
{
	const char *why = qn_emit_form_of(s->g, n)->why;

	if (why != NULL)
		unsupported(s, n, why);
	else if (n->type->is_tuple)
		unsupported(s, n, "its value is a tuple");
	else if (qn_elem_is_float(n->type->elem))
		fail(s, qn_report(s->g->model->env, QN_EUNSUPPORTED, "emit.float",
				  qn_node_place(s->g, n),
				  "node '%s' (op %s) has a value of a float type; emitted code is "
				  "integers only: "
				  "quantize and legalize the graph first",
				  n->name, qn_opinfo_of(n)->name));
	else if (qn_type_count(n->type) < 0)
		unsupported(s, n, "its shape is not static");
	else if (qn_type_count(n->type) == 0 || qn_type_bytes(n->type) > INT32_MAX)
		unsupported(s, n, "its value is empty or has 2^31 bytes or more");
}

static bool
is_data(const qn_node *n)
{
	return n->op == QN_OP_input || n->op == QN_OP_const;
}

/* The argument struct of one node as its integer form prepares it. */
static void *
prepare(const qn_graph *g, const qn_node *n, qn_arena *a)
{
	const qn_int_form *f = qn_int_form_of(g, n);

	if (f == NULL || f->prepare == NULL) {
		qn_report(g->model->env, QN_EUNSUPPORTED, "emit.unsupported", qn_node_place(g, n),
			  "op %s of node '%s' cannot be emitted: it has no integer form",
			  qn_opinfo_of(n)->name, n->name);
		return NULL;
	}
	return f->prepare(g, n, a);
}

qn_status
qn_step_args(const qn_graph *g, const qn_step *s, qn_arena *a, void **out)
{
	const qn_node *head = qn_graph_node(g, s->head);
	void *r;

	*out = NULL;
	if (s->alias != 0)
		return QN_OK;
	*out = prepare(g, head, a);
	if (*out == NULL)
		return QN_EUNSUPPORTED;
	if (s->head == s->node)
		return QN_OK;
	r = prepare(g, qn_graph_node(g, s->node), a);
	if (r == NULL)
		return QN_EUNSUPPORTED;
	return qn_emit_form_get(head->op)->fuse(*out, r) ? QN_OK : QN_EINTERNAL;
}

/* The node whose kernel also does the work of requantize node n; n itself when there is none. */
static qn_id
head_of(scheduler *s, qn_id id)
{
	const qn_node *n = qn_graph_node(s->g, id);
	const qn_node *head;
	void *args, *r;

	if (n->op != QN_OP_requantize || n->type->is_tuple || s->uses[n->in[0]] != 1 ||
	    qn_zero_points_differ(s->g, n))
		return id;
	head = qn_graph_node(s->g, n->in[0]);
	if (qn_emit_form_get(head->op)->fuse == NULL ||
	    qn_node_family(s->g, head) != qn_family_of(n->type->elem))
		return id; /* a product's kernel gives codes of the storage that it reads */
	args = prepare(s->g, head, s->arena);
	r = prepare(s->g, n, s->arena);
	if (args == NULL || r == NULL) {
		s->hidden[id] = true;
		s->hidden[n->in[0]] = true;
		fail(s, QN_EUNSUPPORTED);
		return id;
	}
	return qn_emit_form_get(head->op)->fuse(args, r) ? n->in[0] : id;
}

static void
add_step(scheduler *s, qn_id id, qn_id head)
{
	const qn_node *n = qn_graph_node(s->g, head);
	qn_step *t = &s->step[s->nstep++];
	void *args;

	t->node = id;
	t->head = head;
	t->nin = n->nin;
	t->in = n->in;
	t->name = qn_names_add(&s->names, qn_graph_node(s->g, head)->name);
	t->bytes = qn_type_bytes(qn_graph_node(s->g, id)->type);
	t->alias = qn_emit_form_get(n->op)->alias ? n->in[0] : 0;
	if (head == id && t->alias == 0 && qn_step_args(s->g, t, s->arena, &args) != QN_OK)
		fail(s, QN_EUNSUPPORTED);
}

qn_status
qn_schedule_make(const qn_graph *g, qn_arena *a, qn_step **step, size_t *nstep)
{
	scheduler s = {.g = g, .arena = a, .status = QN_OK};
	qn_id *head = QN_NEW(a, qn_id, g->n);
	qn_id id;

	s.uses = QN_NEW(a, uint32_t, g->n);
	s.hidden = QN_NEW(a, bool, g->n);
	s.step = QN_NEW(a, qn_step, g->n);
	qn_names_init(&s.names, a);
	if (g->noutput == 0)
		return qn_report(g->model->env, QN_EINVALID, "emit.outputs", "",
				 "graph '%s' has no outputs, so there is nothing to compute",
				 g->name);
	count_uses(&s);
	for (id = 1; id < g->n; id++)
		if (s.uses[id] > 0)
			check_node(&s, qn_graph_node(g, id));
	if (s.status != QN_OK)
		return s.status;
	for (id = 1; id < g->n; id++) {
		head[id] = s.uses[id] > 0 ? head_of(&s, id) : id;
		if (head[id] != id)
			s.hidden[head[id]] = true;
	}
	for (id = 1; id < g->n; id++)
		if (s.uses[id] > 0 && !s.hidden[id] && !is_data(qn_graph_node(g, id)))
			add_step(&s, id, head[id]);
	*step = s.step;
	*nstep = s.nstep;
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
