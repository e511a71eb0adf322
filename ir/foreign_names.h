/* SPDX-License-Identifier: Apache-2.0 */
/* foreign_names.h - names of values in other tools' files. */
#ifndef QN_IR_FOREIGN_NAMES_H
#define QN_IR_FOREIGN_NAMES_H

#include "ir/graph.h"

/* A value of the file has the name; node: the node that gives it, NULL: it has none, or no longer.  A
 * node has at most QN_MAX_FOREIGN_NAMES names, so that a chain of operators that do nothing costs no time. */
void qn_model_call(qn_model *m, const char *node, const char *name, bool constant);
/* What qn_model_call needs to be told again: names of values that are gone (node NULL: the first of
 * the list alone counts), then nodes with all their names.  In arena a; none for an integer model. */
typedef struct qn_foreign_name_entry {
	const char *node;
	const qn_foreign_name *called;
} qn_foreign_name_entry;
enum { QN_MAX_FOREIGN_NAMES = 8 }; /* names of a node */
size_t qn_model_foreign_name_list(const qn_model *m, qn_arena *a,
				  const qn_foreign_name_entry **out);

/* The names of a node's value in the file; NULL: it has none there. */
const qn_foreign_name *qn_model_foreign_names(const qn_model *m, const qn_node *n);
/* x, a constant made of `of` whose parameters carry over, has its names, unless it has some. */
void qn_model_copy_foreign_names(qn_model *m, const qn_node *x, const qn_node *of);
/* Whether a value of the file, not the node, has the node's name. */
bool qn_model_is_taken(const qn_model *m, const qn_node *n);

#endif
