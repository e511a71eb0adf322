/* SPDX-License-Identifier: Apache-2.0 */
/* ident.h - free names become C identifiers, each one unique in its set.
 *
 *   "conv1/w:0" -> conv1_w_0      "int" -> int_2    "3x3" -> n3x3    "Conv" after "conv" -> Conv_2
 *
 * Identifiers are unique without regard to case, so that they stay unique in macros, which are in
 * capitals.  Keywords of C and C++ and a few macros that compilers predefine count as taken.  No
 * identifier begins or ends with an underscore or holds two in a row: prefixes and suffixes can be
 * added without making a name that C++ reserves. */
#ifndef QN_CODEGEN_IDENT_H
#define QN_CODEGEN_IDENT_H

#include "ir/map.h"

typedef struct qn_names {
	qn_arena *arena;
	qn_map taken; /* by the name in capitals */
} qn_names;

void qn_names_init(qn_names *s, qn_arena *arena);

/* The identifier for a text, which is taken from now on. */
const char *qn_names_add(qn_names *s, const char *text);

/* The text in capitals. */
const char *qn_ident_upper(qn_arena *a, const char *text);

#endif
