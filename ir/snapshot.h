/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.h - changes of a model that may fail. */
#ifndef QN_IR_SNAPSHOT_H
#define QN_IR_SNAPSHOT_H

#include "ir/graph.h"

typedef struct qn_snapshot {
	qn_model model;
	qn_graph **graph;
	qn_types_snapshot types;
} qn_snapshot;

/* The model as it is now, in arena a; back to that. */
qn_snapshot qn_model_snapshot(const qn_model *m, qn_arena *a);
void qn_model_restore(qn_model *m, const qn_snapshot *s);
/* Calls fn(arg, m), and restores the model when it fails or memory runs out (QN_ENOMEM). */
typedef qn_status qn_model_fn(void *arg, qn_model *m);
qn_status qn_model_change(qn_model *m, qn_arena *a, qn_model_fn *fn, void *arg) QN_MUST_CHECK;

#endif
