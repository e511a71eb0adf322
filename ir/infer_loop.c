/* SPDX-License-Identifier: Apache-2.0 */
/* infer_loop.c - types of the nodes that make a loop (loops.h).
 *
 *   loop {count=28}                   -> [] of i32               the number of the step
 *   loop_slice {axis=1}   [2,28,8]    -> [2,8]
 *   loop_carry            [2,20]      -> [2,20]
 *   loop_stack {axis=1, length=28}    [2,20] -> [2,28,20]
 *   loop_last             [2,20]      -> [2,20]
 *
 * What belongs together is checked by the verifier. */
#include "ir/infer.h"
#include "ir/limits.h"

static const qn_type *
step_number(const qn_graph *g)
{
	return qn_type_plain(&g->model->types, QN_PLAIN_i32, 0, NULL);
}

/* Input i is the number of a step. */
static bool
counts(const qn_graph *g, const qn_node *n, uint32_t i)
{
	const qn_type *t = qn_infer_in(g, n, i);

	return t == step_number(g) ||
	       qn_infer_error(g, n, "type.element",
			      "input %u ('%s') is %s; it must be the number of a step, a "
			      "tensor<i32>",
			      i, qn_graph_node(g, n->in[i])->name, qn_infer_type_text(g, t));
}

static bool
is_tensor(const qn_graph *g, const qn_node *n, uint32_t i)
{
	return !qn_infer_in(g, n, i)->is_tuple ||
	       qn_infer_error(g, n, "type.tuple", "input %u is a tuple; take a field with `get`",
			      i);
}

/* Not deeper than calls may nest. */
static bool
nests(const qn_graph *g, const qn_node *n)
{
	const uint64_t most = qn_limit(g->model->env, QN_LIMIT_NESTING);
	uint64_t depth = 1;

	for (const qn_node *at = n; at->nin > 0 && depth <= most; depth++)
		at = qn_graph_node(g, at->in[0]);
	if (depth > most)
		(void)qn_limit_report(g->model->env, QN_LIMIT_NESTING, qn_node_place(g, n), depth);
	return depth <= most;
}

const qn_type *
qn_infer_loop(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const int64_t count = n->attr->loop.count;
	bool ok = qn_infer_range(g, n, "count", 1, &count, 1);

	(void)declared;
	ok = (n->nin == 0 || counts(g, n, 0)) && ok;
	return ok && nests(g, n) ? step_number(g) : NULL;
}

const qn_type *
qn_infer_loop_carry(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const int64_t index = n->attr->loop_carry.index;
	bool ok = qn_infer_range(g, n, "index", 1, &index, 0);

	(void)declared;
	ok = is_tensor(g, n, 0) && counts(g, n, 1) && ok;
	return ok ? qn_infer_in(g, n, 0) : NULL;
}

const qn_type *
qn_infer_loop_end(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	bool ok = counts(g, n, 0);

	(void)declared;
	for (uint32_t i = 1; i < n->nin; i++)
		ok = is_tensor(g, n, i) && ok;
	return ok ? step_number(g) : NULL;
}

const qn_type *
qn_infer_loop_slice(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_loop_slice *a = &n->attr->loop_slice;
	bool ok = is_tensor(g, n, 0) && counts(g, n, 1);
	int32_t axis, to[QN_MAX_RANK];
	qn_shape y = {0};

	(void)declared;
	ok = qn_infer_flag(g, n, "reverse", a->reverse) && ok;
	if (!ok)
		return NULL;
	const qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 0) {
		(void)qn_infer_refuse(g, n, "shape.rank",
				      "loop_slice needs an input of known rank");
		return NULL;
	}
	if (!qn_infer_axis(g, n, a->axis, x.rank, &axis))
		return NULL;
	for (int32_t i = 0; i < x.rank; i++) {
		to[i] = i == axis ? -1 : y.rank;
		if (i != axis)
			y.dim[y.rank++] = x.dim[i];
	}
	const qn_elem *e = qn_infer_mapped_axis(g, n, qn_infer_in(g, n, 0)->elem, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_loop_stack(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	const qn_attrs_loop_stack *a = &n->attr->loop_stack;
	bool ok = is_tensor(g, n, 0) && counts(g, n, 1);
	int32_t axis, to[QN_MAX_RANK];
	qn_shape y = {0};

	(void)declared;
	ok = qn_infer_flag(g, n, "reverse", a->reverse) && ok;
	ok = qn_infer_range(g, n, "length", 1, &a->length, 1) && ok;
	if (!ok)
		return NULL;
	const qn_shape x = qn_shape_of(qn_infer_in(g, n, 0));
	if (x.rank < 0) {
		(void)qn_infer_refuse(g, n, "shape.rank",
				      "loop_stack needs an input of known rank");
		return NULL;
	}
	if (!qn_infer_result_rank(g, n, x.rank + 1) ||
	    !qn_infer_axis(g, n, a->axis, x.rank + 1, &axis))
		return NULL;
	for (int32_t i = 0; i <= x.rank; i++) {
		if (i == axis)
			y.dim[y.rank++] = a->length;
		if (i == x.rank)
			break;
		to[i] = y.rank;
		y.dim[y.rank++] = x.dim[i];
	}
	const qn_elem *e = qn_infer_mapped_axis(g, n, qn_infer_in(g, n, 0)->elem, to);
	return e != NULL ? qn_infer_result(g, n, e, &y) : NULL;
}

const qn_type *
qn_infer_loop_last(const qn_graph *g, const qn_node *n, const qn_type *declared)
{
	bool ok = is_tensor(g, n, 0) && counts(g, n, 1);

	(void)declared;
	return ok ? qn_infer_in(g, n, 0) : NULL;
}
