/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate_part.c - see evaluate_part.h. */
#include "calibrate/evaluate_part.h"

#include <string.h>

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
