/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_part.c - see evaluate_part.h. */
#include "calibrate/evaluate_part.h"

#include <string.h>

#include "ir/diag.h"
#include "ir/limits.h"

bool
qn_part_is_in_loop(const qn_loops *loops, qn_id id)
{
	return loops->n > 0 && loops->of[id] != 0;
}

/* The values of all steps are one value. */
static qn_status
check_size(const qn_graph *g, const qn_loops *loops, qn_id id)
{
	qn_env *env = g->model->env;
	const qn_node *n = qn_graph_node(g, id);
	const uint64_t bytes = n->type->is_tuple ? 0 : qn_type_bytes(n->type);

	if (!qn_part_is_in_loop(loops, id) || bytes == 0 ||
	    qn_loop_runs(loops, id) <= qn_limit(env, QN_LIMIT_BYTES) / bytes)
		return QN_OK;
	return qn_limit_report(env, QN_LIMIT_BYTES, n->name, UINT64_MAX);
}

qn_status
qn_part_check(const qn_graph *g, const qn_loops *loops, size_t nwith, const qn_id *with,
	      bool single, size_t nwant, const qn_id *want)
{
	qn_id inside = 0;

	for (size_t i = 0; i < nwith; i++)
		inside = qn_part_is_in_loop(loops, with[i]) ? with[i] : inside;
	for (size_t i = 0; i < nwant && single; i++)
		inside = qn_part_is_in_loop(loops, want[i]) ? want[i] : inside;
	if (inside != 0)
		return qn_report(g->model->env, QN_EUNSUPPORTED, "calibrate.loop",
				 qn_graph_node(g, inside)->name,
				 "this is a value of a loop, whose steps cannot be run one by one: "
				 "compile the model with inline-bodies (--inline-bodies)");
	for (size_t i = 0; i < nwant; i++)
		QN_TRY(check_size(g, loops, want[i]));
	return QN_OK;
}

size_t
qn_part_ends(const qn_loops *loops, size_t n, const qn_id *id, qn_id *end)
{
	size_t nend = 0;

	for (size_t i = 0; i < n && loops->n > 0; i++)
		for (uint32_t k = loops->of[id[i]]; k != 0; k = loops->loop[k - 1].parent) {
			size_t j = 0;

			while (j < nend && end[j] != loops->loop[k - 1].end)
				j++;
			if (j == nend)
				end[nend++] = loops->loop[k - 1].end;
		}
	return nend;
}

/* The values of all steps of loop k (an index plus 1) and of those around it; 0 after a report. */
static qn_id
stack(qn_graph *part, const qn_loops *loops, uint32_t k, qn_id value, const qn_id *map)
{
	while (k != 0 && value != 0) {
		const qn_loop *loop = &loops->loop[k - 1];
		const qn_attrs attr = {.loop_stack = {.length = loop->count}};

		value = qn_graph_op(part, QN_OP_loop_stack, NULL, 2,
				    (const qn_id[]){value, map[loop->end]}, &attr, NULL);
		k = loop->parent;
	}
	return value;
}

qn_status
qn_part_extract(const qn_graph *g, const qn_loops *loops, size_t nin, const qn_id *in, size_t nout,
		const qn_id *out, qn_arena *a, qn_graph **part)
{
	qn_id *all = QN_NEW(a, qn_id, nout + loops->n);
	const size_t nend = qn_part_ends(loops, nout, out, all + nout);
	qn_id *map = QN_NEW(a, qn_id, g->n);
	qn_graph *copy;

	memcpy(all, out, nout * sizeof *out);
	QN_TRY(qn_graph_extract(g, nin, in, nout + nend, all, true, a, &copy));
	*part = copy;
	if (nend == 0)
		return QN_OK;
	for (size_t i = 0; i < nout + nend; i++)
		map[all[i]] = copy->output[i].value;
	for (size_t i = 0; i < nout; i++) {
		copy->output[i].value = stack(copy, loops, loops->of[out[i]], map[out[i]], map);
		if (copy->output[i].value == 0)
			return QN_EINVALID;
	}
	copy->noutput = nout;
	return qn_loops_gather(part, a, NULL);
}
