/* SPDX-License-Identifier: Apache-2.0 */
/* emit_tokens.h - the tokens of a language model in C (emit_tokens.c). */
#ifndef QN_CODEGEN_EMIT_TOKENS_H
#define QN_CODEGEN_EMIT_TOKENS_H

#include "ir/buf.h"
#include "runtime/kernels/tokens.h"
#include "runtime/kernels/tokens_bpe.h"

typedef struct qn_tokens_style {
	const char *name;  /* prefix of all symbols: a C identifier */
	int32_t end;       /* the token after a text, -1: none */
	int32_t longest;   /* bytes of the longest token */
	const char *place; /* the file that they come from */
	const qn_bpe *bpe; /* NULL: merges by scores */
	int32_t merges;    /* its rows */
} qn_tokens_style;

/* NAME_tokens.h, NAME_tokens.c. */
void qn_emit_tokens_header(const qn_vocabulary *v, const qn_tokens_style *style, qn_arena *a,
			   qn_buf *b);
void qn_emit_tokens_source(const qn_vocabulary *v, const qn_tokens_style *style, qn_arena *a,
			   qn_buf *b);

#endif
