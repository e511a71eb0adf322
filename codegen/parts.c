/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - results that lie within others, so that nothing is copied.
 *
 *   %s = slice %x [rows 2 … 5]           s lies in x, from row 2 on
 *   %c = concat %a, %h, %b {axis=1}      a and b are written where they lie in c; h, which is a state, is copied
 *
 *   c   [ a | h        | b   ]
 *
 * Both need elements that are consecutive: rows of the outermost axis that is not 1, outside of loops.  A slice keeps all of its operand in
 * memory as long as it is read itself, so it is copied where that would be long, and where it is an output, which is
 * written at once. */
#include "codegen/parts.h"

#include "codegen/kernel_table.h"
#include "codegen/schedule.h"
#include "ir/slice.h"

enum { NEAR = 8 }; /* nodes that the operand may live longer for a slice of less than half of it */

bool
qn_slice_is_part(const qn_graph *g, const qn_node *n, size_t *offset)
{
	const qn_type *x = n->nin > 0 ? qn_graph_node(g, n->in[0])->type : n->type;
	int64_t stride = 1, at = 0;
	bool all = true;

	if (n->op != QN_OP_slice || qn_type_count(x) < 0)
		return false;
	for (int32_t i = x->rank - 1; i >= 0; i--) {
		const qn_attrs_slice *a = &n->attr->slice;
		int64_t first, count;

		qn_slice_resolve(x->dim[i], a->begin.v[i], a->end.v[i], qn_slice_step(a, i), &first,
				 &count);
		if ((qn_slice_step(a, i) != 1 || !all) && count != 1)
			return false;
		at += first * stride;
		stride *= x->dim[i];
		all = all && count == x->dim[i];
	}
	*offset = (size_t)at * qn_elem_bytes(x->elem);
	return true;
}

/* By value: the last node that reads it or what shares its bytes, the operand's own reader that this follows from, the
 * last one without that, and whether an output has these bytes. */
typedef struct readers {
	qn_id *last, *by, *other;
	bool *out;
} readers;

static bool
shares(const qn_graph *g, const qn_node *n, size_t *offset)
{
	return qn_op_keeps_bytes(n->op) || n->op == QN_OP_scast || qn_slice_is_part(g, n, offset);
}

/* Node `id` reads x, or what shares the bytes with its result is read until `last`; ids come from the highest on. */
static void
add_reader(readers *r, qn_id x, qn_id id, qn_id last)
{
	if (last > r->last[x]) {
		r->other[x] = r->by[x] != id ? r->last[x] : r->other[x];
		r->last[x] = last;
		r->by[x] = id;
	} else if (r->by[x] != id && last > r->other[x]) {
		r->other[x] = last;
	}
}

static readers
find_readers(const qn_graph *g, const uint32_t *uses, qn_arena *a)
{
	readers r = {QN_NEW(a, qn_id, g->n), QN_NEW(a, qn_id, g->n), QN_NEW(a, qn_id, g->n),
		     QN_NEW(a, bool, g->n)};
	size_t offset;

	for (size_t k = 0; k < g->noutput; k++)
		r.out[g->output[k].value] = true;
	for (qn_id id = g->n - 1; id > 0; id--) {
		const qn_node *n = qn_graph_node(g, id);

		for (uint32_t i = 0; uses[id] > 0 && i < n->nin; i++) {
			const bool part = i == 0 && shares(g, n, &offset);
			const qn_id last = part && r.last[id] > id ? r.last[id] : id;

			add_reader(&r, n->in[i], id, last);
			if (part && n->op != QN_OP_slice)
				r.out[n->in[i]] = r.out[n->in[i]] || r.out[id];
		}
	}
	return r;
}

bool *
qn_parts_of_operands(const qn_graph *g, const uint32_t *uses, qn_arena *a)
{
	bool *is = QN_NEW(a, bool, g->n);
	const readers r = find_readers(g, uses, a);
	const qn_loops loops = qn_loops_find(g, a);
	bool *constant = QN_NEW(a, bool, g->n); /* bytes that may lie in program memory */
	size_t offset;

	for (qn_id id = 1; id < g->n; id++) {
		const qn_node *n = qn_graph_node(g, id);

		constant[id] =
			n->op == QN_OP_const || (shares(g, n, &offset) && constant[n->in[0]]);
		if (uses[id] == 0 || !qn_slice_is_part(g, n, &offset) || r.out[id] ||
		    (loops.n > 0 && loops.of[id] != 0) || constant[n->in[0]])
			continue;
		const qn_node *x = qn_graph_node(g, n->in[0]);
		const qn_id last = r.by[n->in[0]] == id ? r.other[n->in[0]] : r.last[n->in[0]];

		is[id] = x->op == QN_OP_input ||
			 2 * qn_type_bytes(n->type) >= qn_type_bytes(x->type) ||
			 r.last[id] <= (last > id ? last : id) + NEAR;
	}
	return is;
}

size_t
qn_part_offset(const qn_step *step, const uint32_t *step_of, qn_id id)
{
	size_t offset = 0;

	while (step_of[id] != 0 && step[step_of[id] - 1].alias != 0) {
		offset += step[step_of[id] - 1].alias_offset;
		id = step[step_of[id] - 1].alias;
	}
	return offset;
}

bool
qn_part_is_all(const qn_graph *g, const qn_step *step, const uint32_t *step_of, qn_id id)
{
	const qn_id root = qn_value_root(step, step_of, id);

	return qn_type_bytes(qn_graph_node(g, root)->type) ==
	       qn_type_bytes(qn_graph_node(g, id)->type);
}

/* ---- concat ---- */

/* Elements of the operands lie one operand after the other. */
static bool
is_one_after_the_other(const qn_node *n)
{
	const int64_t axis =
		n->attr->axis.axis < 0 ? n->attr->axis.axis + n->type->rank : n->attr->axis.axis;

	for (int32_t i = 0; i < axis; i++)
		if (n->type->dim[i] != 1)
			return false;
	return true;
}

void
qn_parts_of_results(const qn_graph *g, qn_step *step, size_t nstep, const uint32_t *step_of,
		    const qn_loops *loops, qn_arena *a)
{
	const uint32_t *uses = qn_graph_uses(g, a);
	bool *has = QN_NEW(a, bool, nstep + 1); /* parts of its own */

	for (size_t i = 0; i < nstep; i++)
		step[i].part_of = step[i].part_offset = 0;
	for (size_t c = 0; loops->n == 0 && c < nstep; c++) {
		const qn_node *n = qn_graph_node(g, step[c].node);
		size_t offset = 0;

		if (n->op != QN_OP_concat || step[c].kernel == &qn_host_kernel ||
		    !is_one_after_the_other(n))
			continue; /* a custom kernel reads operands beside its result */
		for (uint32_t i = 0; i < n->nin; i++) {
			const qn_node *x = qn_graph_node(g, n->in[i]);
			qn_step *s = step_of[n->in[i]] != 0 ? &step[step_of[n->in[i]] - 1] : NULL;

			if (s != NULL && s->alias == 0 && !has[s - step] && uses[n->in[i]] == 1) {
				has[c] = true;
				s->part_of = c + 1;
				s->part_offset = offset;
			}
			offset += qn_type_bytes(x->type);
		}
	}
}
