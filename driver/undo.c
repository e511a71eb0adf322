/* SPDX-License-Identifier: Apache-2.0 */
/* undo.c - see undo.h.
 *
 *   graphs A ──pass──▶ B ──pass──▶ C      done: C stays, A and B are released
 *                                         ended: C is released, the model is that of A again */
#include "driver/undo.h"
#include "ir/snapshot.h"

bool
qn_model_holds(const qn_model *m, const qn_arena *graphs)
{
	for (size_t i = 0; i < m->ngraph; i++)
		if (m->graph[i]->arena == graphs)
			return true;
	return false;
}

qn_status
qn_undoable(qn_model *m, qn_arena *scratch, qn_guarded_fn *fn, void *arg)
{
	qn_model_box *box = qn_box(m);

	if (m->env->cancel == NULL || box->kept != NULL) /* never, or by who called this one */
		return fn(arg, scratch);
	const qn_snapshot before = qn_model_snapshot(m, scratch);
	qn_arena *first = m->graphs;

	box->kept = first;
	qn_status status = fn(arg, scratch);
	box->kept = NULL;
	qn_arena *last = m->graphs;
	if (status == QN_ECANCELLED) {
		qn_model_restore(m, &before);
		if (last != first)
			qn_arena_release(last);
	} else if (last != first && first != m->arena && !qn_model_holds(m, first)) {
		qn_arena_release(first);
	}
	return status;
}
