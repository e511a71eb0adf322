/* SPDX-License-Identifier: Apache-2.0 */
/* info_steps.c - what a partition computes in all steps of its loop, from what the float graph has in each of them: what the
 * quantized loop carries depends on partitions that have no values yet.
 *
 *   part "dense" %h, %w -> %y, in a loop      %hs: %h of the float graph in all steps, stacked
 *                                             %i = loop {count=28}
 *                                        ->   %h = loop_slice %hs, %i
 *                                             %y = dequantize(dense(quantize(%h), quantize(%w)))
 *                                             %e = loop_end %i
 *                                             return loop_stack %y, %e {length=28}
 */
#include "calibrate/evaluate_part.h"
#include "calibrate/info.h"
#include "ir/diag.h"
#include "runtime/interp.h"

enum { MOST_DEPTH = QN_MAX_RANK };

typedef struct steps {
	qn_info *i;
	qn_arena *arena;
	size_t depth; /* of the loops around the value */
	const qn_loop *loop[MOST_DEPTH];
	qn_id number[MOST_DEPTH]; /* in the new graph, the outermost first */
	size_t nin;
	qn_id *in; /* of the symbolic graph: what comes from outside, without constants */
	const qn_tensor **value;
	qn_graph *to;
} steps;

static size_t
depth_of(const qn_loops *l, qn_id id)
{
	size_t depth = 0;

	for (uint32_t k = l->of[id]; k != 0; k = l->loop[k - 1].parent)
		depth++;
	return depth;
}

static qn_status
refuse(const steps *s, qn_id id, const char *why)
{
	const qn_graph *g = s->i->graphs->g;

	return qn_report(g->model->env, QN_EUNSUPPORTED, "calibrate.loop",
			 qn_graph_node(g, id)->name,
			 "the steps of this loop cannot be computed one by one: %s; compile the "
			 "model with inline-bodies (--inline-bodies)",
			 why);
}

static qn_status
find_loops(steps *s, qn_id id)
{
	const qn_loops *l = &s->i->graphs->loops;

	s->depth = depth_of(l, id);
	if (s->depth > MOST_DEPTH)
		return refuse(s, id, "it is in too many other loops");
	size_t at = s->depth;
	for (uint32_t k = l->of[id]; k != 0; k = l->loop[k - 1].parent)
		s->loop[--at] = &l->loop[k - 1];
	return QN_OK;
}

/* The values from outside: those of loops as the float graph has them, the others as the quantized one. */
static qn_status
read_outer(steps *s, size_t batch)
{
	const qn_info_graphs *graphs = s->i->graphs;
	const qn_tensor *t;

	s->in = QN_NEW(s->arena, qn_id, s->i->nouter);
	s->value = QN_NEW(s->arena, const qn_tensor *, s->i->nouter);
	for (size_t k = 0; k < s->i->nouter; k++) {
		const qn_id id = s->i->outer[k];
		const qn_node *n = qn_graph_node(graphs->g, id);

		if (n->op == QN_OP_const)
			continue;
		if (!qn_part_is_in_loop(&graphs->loops, id))
			QN_TRY(qn_evaluator_run(graphs->quantized, 1, &id, batch, &t));
		else if (n->type->is_tuple || n->type->elem->kind != QN_ELEM_PLAIN)
			return refuse(s, id, "a partition reads quantized values of it");
		else
			QN_TRY(qn_evaluator_run(graphs->real, 1, &graphs->map[id], batch, &t));
		s->in[s->nin] = id;
		s->value[s->nin++] = qn_tensor_view(s->arena, t->type,
						    qn_arena_copy(s->arena, t->data, t->bytes));
	}
	return QN_OK;
}

/* The nodes between, with the values of symbols in their types. */
static qn_status
extract(const steps *s, qn_id id, qn_graph **part)
{
	qn_status status = QN_OK;

	QN_TRY(qn_graph_extract(s->i->graphs->g, s->nin, s->in, 1, &id, false, s->arena, part));
	for (qn_id k = 1; k < (*part)->n; k++) {
		if (qn_evaluator_check(*part, qn_graph_node(*part, k)) != QN_OK)
			status = QN_EINVALID;
		if (qn_graph_node(*part, k)->op == QN_OP_loop)
			return refuse(s, id, "there is a loop in the partition");
	}
	QN_TRY(status);
	return qn_graph_bind(*part, s->arena, part);
}

/* Input k as a step has it. */
static qn_id
sliced(const steps *s, size_t k, qn_id x)
{
	const size_t depth = depth_of(&s->i->graphs->loops, s->in[k]);
	const qn_attrs attr = {.loop_slice = {.axis = 0}};

	for (size_t d = 0; d < depth && d < s->depth && x != 0; d++)
		x = qn_graph_op(s->to, QN_OP_loop_slice, NULL, 2, (const qn_id[]){x, s->number[d]},
				&attr, NULL);
	return x;
}

static qn_id
stacked(const steps *s, qn_id y)
{
	for (size_t d = s->depth; d > 0 && y != 0; d--) {
		const qn_attrs attr = {.loop_stack = {.length = s->loop[d - 1]->count}};
		const qn_id end =
			qn_graph_op(s->to, QN_OP_loop_end, NULL, 1, &s->number[d - 1], NULL, NULL);

		y = end != 0 ? qn_graph_op(s->to, QN_OP_loop_stack, NULL, 2,
					   (const qn_id[]){y, end}, &attr, NULL)
			     : 0;
	}
	return y;
}

/* The inputs and the numbers of the steps; false after an error. */
static bool
add_inputs(steps *s, const qn_graph *part, qn_id *map)
{
	for (size_t k = 0; k < s->nin; k++)
		map[part->input[k]] = qn_graph_input(
			s->to, qn_graph_node(part, part->input[k])->name, s->value[k]->type);
	for (size_t d = 0; d < s->depth; d++) {
		const qn_attrs attr = {.loop = {.count = s->loop[d]->count}};

		s->number[d] = qn_graph_op(s->to, QN_OP_loop, NULL, d > 0,
					   d > 0 ? &s->number[d - 1] : NULL, &attr, NULL);
		if (s->number[d] == 0)
			return false;
	}
	for (size_t k = 0; k < s->nin; k++) {
		map[part->input[k]] = sliced(s, k, map[part->input[k]]);
		if (map[part->input[k]] == 0)
			return false;
	}
	return true;
}

/* The partition in loops of its own. */
static qn_status
build(steps *s, const qn_graph *part)
{
	qn_id *map = QN_NEW(s->arena, qn_id, part->n), y;

	s->to = qn_graph_new_in(part->model, part->name, s->arena);
	if (!add_inputs(s, part, map))
		return QN_EINVALID;
	for (qn_id id = 1; id < part->n; id++) {
		qn_node n = *qn_graph_node(part, id);
		qn_id *in = QN_NEW(s->arena, qn_id, n.nin);

		if (map[id] != 0)
			continue;
		for (uint32_t k = 0; k < n.nin; k++)
			in[k] = map[n.in[k]];
		n.in = in;
		map[id] = qn_graph_add(s->to, &n);
		if (map[id] == 0)
			return QN_EINVALID;
	}
	y = stacked(s, map[part->output[0].value]);
	if (y == 0)
		return QN_EINVALID;
	qn_graph_output(s->to, part->output[0].name, y);
	return qn_loops_gather(&s->to, s->arena, NULL);
}

qn_status
qn_info_steps(qn_info *i, qn_id id, size_t batch, const qn_tensor **out)
{
	qn_graph *part;
	qn_interp *in;

	if (i->steps == NULL)
		i->steps = qn_arena_child(i->arena);
	qn_arena_release(i->steps);
	steps s = {.i = i, .arena = i->steps};
	QN_TRY(find_loops(&s, id));
	QN_TRY(read_outer(&s, batch));
	QN_TRY(extract(&s, id, &part));
	QN_TRY(build(&s, part));
	QN_TRY(qn_interp_new(s.to, s.arena, &in));
	QN_TRY(qn_interp_run(in, s.value, NULL, NULL));
	*out = qn_interp_output(in, 0);
	return QN_OK;
}
