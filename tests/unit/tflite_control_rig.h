/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_control_rig.h - for tests of operators of TFLite files that run subgraphs: tensors of one integer. */
#ifndef TESTS_UNIT_TFLITE_CONTROL_RIG_H
#define TESTS_UNIT_TFLITE_CONTROL_RIG_H

#include "tests/unit/tflite_rig.h"

#define SCALAR 0, NULL

static inline int
value_of(const char *name, int type, int rank, const int32_t *dim)
{
	return tfl_tensor(file, name, type, rank, dim, NULL, 0);
}

static inline size_t
count_of(qn_op op)
{
	size_t n = 0;

	for (qn_id id = 1; id < rg->g->n; id++)
		n += qn_graph_node(rg->g, id)->op == op;
	return n;
}

enum { STEPS = 3, CELLS = 2 };

#endif
