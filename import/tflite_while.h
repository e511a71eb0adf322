/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_while.h - what the variables of a WHILE are, found in its subgraphs before they are read.
 *
 *   condition: LESS (time, 28)           body: ADD (time, 1) -> time           a count: 28 steps
 *                                              GATHER (xs, time) -> x          slice `time` of xs
 *                                              xs -> xs                        the same in each step
 *                                              f (x, h) -> h                   carried on
 *                                              DYNAMIC_UPDATE_SLICE (ys, h, (time, 0)) -> ys     stacked */
#ifndef QN_IMPORT_TFLITE_WHILE_H
#define QN_IMPORT_TFLITE_WHILE_H

#include "import/tflite.h"

typedef enum qn_tfl_role {
	QN_TFL_CARRIED,
	QN_TFL_SAME,    /* in all steps */
	QN_TFL_COUNTED, /* start + step * the number of steps */
	QN_TFL_STACKED  /* one slice is set in each step, all in the end */
} qn_tfl_role;

struct qn_tfl_counter {
	struct qn_tfl_while *of;
	int64_t start, step;
	int32_t at; /* it is element `at` of a vector whose others are 0; -1: a scalar */
	int32_t var;
};

typedef struct qn_tfl_while_var {
	qn_tfl_role role;
	qn_tfl_counter
		count; /* of a COUNTED; of a STACKED, that of its slices, `at` being the axis */
} qn_tfl_while_var;

typedef struct qn_tfl_while {
	qn_tfl_op *o;
	struct qn_importer_steps *steps;
	uint32_t n;
	qn_tfl_while_var var[QN_TFL_MOST_OUTPUTS];
	int64_t count; /* of the steps; INT64_MAX: it does not end */
} qn_tfl_while;

/* Finds the roles of all variables and the number of steps; false: the loop cannot be read as one, or what
 * is wrong with it was reported. */
bool qn_tfl_while_find(qn_tfl_op *o, qn_tfl_while *w);

#endif
