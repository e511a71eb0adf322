/* SPDX-License-Identifier: Apache-2.0 */
/* traces.c - see traces.h. */
#include "codegen/traces.h"

#include <string.h>

#include "ir/loops.h"

void
qn_traces_init(qn_traces *t, const qn_graph *g, size_t nstep, const qn_id *node, qn_arena *a)
{
	const qn_loops loops = qn_loops_find(g, a);
	uint32_t *first = QN_NEW(a, uint32_t, nstep + 1), *of = QN_NEW(a, uint32_t, g->n);
	uint32_t *step = QN_NEW(a, uint32_t, 2 * nstep + 1);
	size_t n = nstep;

	for (size_t i = 0; i < nstep; i++) {
		of[node[i]] = (uint32_t)i + 1;
		step[i] = (uint32_t)i;
		/* what a loop leaves is not whole before its last run */
		if (loops.n == 0 || loops.of[node[i]] != loops.with[node[i]] ||
		    qn_loop_runs(&loops, node[i]) == 1)
			continue;
		step[n] = (uint32_t)i;
		first[i] = (uint32_t)n++;
	}
	*t = (qn_traces){.g = g,
			 .nstep = nstep,
			 .n = n,
			 .first = first,
			 .step = step,
			 .of = of,
			 .has_run = QN_NEW(a, bool, nstep + 1)};
}

void
qn_traces_begin(qn_traces *t)
{
	memset(t->has_run, 0, t->nstep * sizeof *t->has_run);
}

qn_status
qn_traces_take(void *user, const qn_graph *g, qn_id id, const qn_tensor *value)
{
	qn_traces *t = user;
	const uint32_t i = g == t->g ? t->of[id] : 0;

	if (i == 0)
		return QN_OK;
	t->crc[i - 1] = qn_tensor_crc(value); /* the last run is the last to come */
	if (t->first[i - 1] != 0 && !t->has_run[i - 1])
		t->crc[t->first[i - 1]] = t->crc[i - 1];
	t->has_run[i - 1] = true;
	return QN_OK;
}
