/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary.h - the tokens of a language model, as its file describes them. */
#ifndef QN_FORMATS_VOCABULARY_H
#define QN_FORMATS_VOCABULARY_H

#include "formats/archive.h"

enum { QN_MOST_TOKENS = 1 << 20 };

/* What runtime/kernels/tokens.h has, with the same names. */
typedef struct qn_token_table {
	int32_t tokens, pieces;
	int32_t begin, end,
		unknown; /* the tokens before and after a text, -1: none; of what has none */
	int32_t longest; /* bytes of the longest token */
	int32_t user;    /* … of the longest user-defined one, 0: there are none */
	bool prefix, words;
	const uint8_t *text;
	const int32_t *at, *order, *rank, *byte; /* in the arena of the archive */
} qn_token_table;

/* From the properties tokenizer.ggml.… of a GGUF file, or of what was made of one: a model of the kind "llama", which is
 * SentencePiece's with scores.  Ids: tokenizer.missing, .model, .type, .size, .token. */
qn_status qn_tokens_read(const qn_archive_data *d, qn_token_table *out) QN_MUST_CHECK;

#endif
