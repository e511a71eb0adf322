/* SPDX-License-Identifier: Apache-2.0 */
/* float_left.h - what the files share that say why a node stays in float: float_left.c, float_causes.c for what no
 * ranges would help, and float_imported.c for models that another tool has quantized. */
#ifndef QN_PASSES_FLOAT_LEFT_H
#define QN_PASSES_FLOAT_LEFT_H

#include "ir/graph.h"

/* Float, or a tuple that begins with floats or is empty. */
bool qn_left_is_float(const qn_type *t);
/* fmt with one text in it, in the model's arena. */
const char *qn_left_text(const qn_model *m, const char *fmt, const char *name);

/* The name that the file has for it: what replaces it where one layer became several nodes. */
const char *qn_left_own_name(const qn_graph *g, const qn_node *n);
/* That a model which came quantized has no range for these values, "'x', 'y'", and the ways out. */
const char *qn_left_no_range_for(const qn_model *m, const char *values);
/* The same of what an op with an integer implementation reads and, unless its result is quantized, returns
 * without parameters; NULL: nothing. */
const char *qn_left_no_range(const qn_graph *g, const qn_node *n, bool is_quantized);
/* The first operand, moved or not, that is stored with a scale for each block; NULL: none. */
const qn_node *qn_left_in_blocks(const qn_graph *g, const qn_node *n);
/* Why the weights of product n keep it in float: they are computed, or have scales along another axis than the first;
 * NULL: they do not. */
const char *qn_left_weights(const qn_graph *g, const qn_node *n);
/* Whether n stays in float whatever ranges its operands and its result have. */
bool qn_left_is_cause(const qn_graph *g, const qn_node *n);
/* A reason that other parameters may remove. */
const char *qn_left_or_recalibrate(const qn_model *m, const char *why);

#endif
