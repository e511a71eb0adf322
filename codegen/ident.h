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

#include "ir/buf.h"
#include "ir/map.h"

/* What a name is for decides what else it cannot be (reserved.h). */
typedef enum qn_name_kind {
	QN_NAME_PLAIN,  /* a part of longer names */
	QN_NAME_MEMBER, /* a member of a struct: macros of the standard library would replace it */
	QN_NAME_MODEL,  /* the beginning of files and symbols */
	QN_NAME_SYMBOL  /* with the model's name before it: the C library's functions and types */
} qn_name_kind;

/* Characters of a name, before the "_2" that makes it unique.  Longer ones are cut and end with a
 * hash of the whole.  A symbol of both, with what is put between and after them, has less than 250,
 * which file systems and every compiler take. */
enum { QN_MODEL_NAME_MOST = 64, QN_NAME_MOST = 128 };

typedef struct qn_names {
	qn_arena *arena;
	qn_map taken; /* by the name in capitals */
	qn_name_kind kind;
	const char *prefix; /* of symbols: the model's name */
	qn_buf symbol;      /* one with its prefix, while it is checked */
} qn_names;

/* Of kind QN_NAME_PLAIN; or of another one. */
void qn_names_init(qn_names *s, qn_arena *arena);
void qn_names_init_as(qn_names *s, qn_arena *arena, qn_name_kind kind, const char *prefix);

/* The identifier for a text, which is taken from now on. */
const char *qn_names_add(qn_names *s, const char *text);

/* Letters and digits of the text, everything between them as one underscore, but not unique. */
const char *qn_ident_clean(qn_arena *a, const char *text);

/* The text in capitals. */
const char *qn_ident_upper(qn_arena *a, const char *text);

#endif
