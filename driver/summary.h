/* SPDX-License-Identifier: Apache-2.0 */
/* summary.h - what a model is made of, in numbers and for people. */
#ifndef QN_DRIVER_SUMMARY_H
#define QN_DRIVER_SUMMARY_H

#include "formats/json_out.h"
#include "ir/macs.h"

/* Nodes of each op, without inputs and constants. */
void qn_summary_count(const qn_model *m, size_t count[QN_NOP]);

/* Nodes by kind in the order of the op table: "conv2d 4, dense 1". */
void qn_summary_kinds(qn_buf *b, const qn_model *m);

/* A line for the model, a line for each input and output, sizes, nodes by kind, then a line
 * per node. */
void qn_summary_print(qn_buf *b, const qn_model *m);

/* The same for programs (docs/quern-inspect.schema.json). */
void qn_summary_print_json(qn_buf *b, const qn_model *m);

/* The members "type", and "scale" and "zero_point" where there is one number of each; text: memory
 * that is used again. */
void qn_summary_put_type(qn_json_out *o, const qn_graph *g, const qn_type *t, qn_buf *text);

/* The model by its JSON form, which is the same before and after it was saved in any form and read
 * again: a CRC-32. */
uint32_t qn_model_hash(const qn_model *m, qn_arena *a);

#endif
