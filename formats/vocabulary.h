/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary.h - the tokens of a language model, as its file describes them. */
#ifndef QN_FORMATS_VOCABULARY_H
#define QN_FORMATS_VOCABULARY_H

#include "formats/archive.h"

enum { QN_MOST_TOKENS = 1 << 20, QN_MOST_MERGES = 1 << 22 };

/* How words are split before merges, with numbers as in runtime/kernels/tokens_bpe.h. */
typedef enum qn_token_split {
	QN_TOKENS_GPT2,
	QN_TOKENS_MARKS,
	QN_TOKENS_DIGIT,
	QN_TOKENS_CASES
} qn_token_split;

/* What runtime/kernels/tokens.h has, with the same names. */
typedef struct qn_token_table {
	int32_t tokens, pieces;
	int32_t begin, end,
		unknown; /* the tokens before and after a text, -1: none; of what has none */
	int32_t longest; /* bytes of the longest token */
	int32_t user;    /* … of the longest user-defined one, 0: there are none */
	int32_t prefix;
	bool words;
	const uint8_t *text;
	const int32_t *at, *order, *rank, *byte; /* in the arena of the archive */
	bool bpe;                                /* merges by a list; byte: NULL */
	bool whole;
	qn_token_split split;
	int32_t digits, merges, ranges;
	const int32_t *merge, *range; /* [2 * merges], [ranges] */
} qn_token_table;

/* From the properties tokenizer.ggml.… of a GGUF file, or of what was made of one: a model of the kind "llama", which is
 * SentencePiece's with scores, or "gpt2", byte-level BPE; of a folder of Hugging Face from its tokenizer.json.  Ids:
 * tokenizer.missing, .json, .model, .pre, .step, .type, .size, .token, .merge, .support. */
qn_status qn_tokens_read(const qn_archive_data *d, qn_token_table *out) QN_MUST_CHECK;
/* Those properties of a folder of Hugging Face, whose network has so many tokens (0: unknown); they live as long as out.  They
 * can be read, or nothing is set. */
qn_status qn_tokens_properties(const qn_archive_data *d, int64_t tokens,
			       qn_archive_data *out) QN_MUST_CHECK;
/* From the text of such a tokenizer.json, beside the config.json of d. */
qn_status qn_tokens_read_json(const qn_archive_data *d, const char *file, const char *text,
			      size_t n, qn_token_table *out) QN_MUST_CHECK;

#endif
