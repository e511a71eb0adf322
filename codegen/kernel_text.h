/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_text.h - the text of the integer kernels, cut into pieces, and which of them a program
 * needs.  How a header is cut is written at the top of runtime/fixed.h.
 *
 *   NAME_run mentions qn_dense_s8 -> qn_dense_dot, qn_requant -> qn_apply, qn_clamp32 -> … */
#ifndef QN_CODEGEN_KERNEL_TEXT_H
#define QN_CODEGEN_KERNEL_TEXT_H

#include "ir/map.h"

/* One embedded header; embed.cmake writes the table. */
typedef struct qn_kernel_file {
	const char *name; /* without folder */
	const char *const *line;
	size_t nline;
} qn_kernel_file;

extern const qn_kernel_file qn_kernel_files[];
extern const size_t qn_kernel_nfile;

typedef struct qn_piece {
	const char *name;
	const char *text;
	size_t n;
	bool needed;
} qn_piece;

typedef struct qn_pieces {
	qn_arena *arena;
	qn_piece *item; /* in the order in which they are written out */
	size_t n, cap;
	qn_map by_name;
} qn_pieces;

/* All pieces of the embedded headers, none of them needed yet.  rom: for a target that has a memory of
 * its own for constants, for which the pieces of kernels/rom.h replace others; for other
 * targets the texts do not mention it (QN_ROM in runtime/fixed.h). */
void qn_pieces_init(qn_pieces *p, qn_arena *arena, bool rom);

/* Adds the pieces of one more header's lines. */
void qn_pieces_add(qn_pieces *p, const char *const *line, size_t nline);

/* Marks the pieces whose names are identifiers of the text, and what those need in turn.  Comments
 * and literals do not count. */
void qn_pieces_need(qn_pieces *p, const char *text, size_t n);

/* The next identifier or number from *s on, which then stands after it; NULL at the end.  Comments and literals are
 * passed. */
const char *qn_code_word(const char **s, const char *end);

/* Whether an identifier of the text begins so; comments and literals do not count. */
bool qn_text_mentions(const char *text, size_t n, const char *prefix);
/* Whether one of them is this word. */
bool qn_code_has_word(const char *text, size_t n, const char *word);

/* NULL when there is none. */
const qn_piece *qn_pieces_find(const qn_pieces *p, const char *name);

#endif
