/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_while_view.h - the condition or the body of a WHILE as tables, before anything is read of it.
 *
 *   body:  ADD (time, 1) -> next      qn_tfl_view_maker of next: the ADD; qn_tfl_view_input of time: 0
 *
 * A tensor is its number in the subgraph; -1 stands for none, and nothing is found of it. */
#ifndef QN_IMPORT_TFLITE_WHILE_VIEW_H
#define QN_IMPORT_TFLITE_WHILE_VIEW_H

#include "import/tflite_while.h"

/* A subgraph's tables. */
typedef struct qn_tfl_view {
	const qn_tfl_while *w;
	qn_flat_vector in, out, tensors, ops;
} qn_tfl_view;

/* An operator's. */
typedef struct qn_tfl_view_op {
	int64_t code;
	qn_flat_vector in, out;
	qn_flat_table options;
} qn_tfl_view_op;

/* Opens a subgraph; false: it is not in the file, or has not an input for each variable and `nout` results. */
bool qn_tfl_view_open(const qn_tfl_while *w, int64_t index, uint32_t nout, qn_tfl_view *v);
qn_tfl_view_op qn_tfl_view_op_at(const qn_tfl_view *v, size_t i);
/* Element i of a list of tensors; -1: it has none. */
int64_t qn_tfl_view_element(const qn_flat_vector *list, size_t i);
/* The operator whose first result is a tensor; false: there is none. */
bool qn_tfl_view_maker(const qn_tfl_view *v, int64_t tensor, qn_tfl_view_op *out);
/* The variable that a tensor is the input of; -1: of none. */
int32_t qn_tfl_view_input(const qn_tfl_view *v, int64_t tensor);
qn_flat_table qn_tfl_view_tensor(const qn_tfl_view *v, int64_t tensor);
/* The only element of an integer constant; false: it is none. */
bool qn_tfl_view_constant(const qn_tfl_view *v, int64_t tensor, int64_t *out);

#endif
