/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h - the tokens of language models: text to numbers and back, as the file of the model
 * says, and as C (docs/archives.md).
 *
 *   qn_archive_open(ctx, "stories.gguf", &x);
 *   qn_tokens_encode(x, "Once upon a time", 16, &tokens);      i32 [n, 1]: samples of a model
 *   qn_tokens_emit(x, "out", "story", NULL);                   story_tokens.h, story_tokens.c
 *
 * The vocabulary is that of the properties tokenizer.ggml.… of a GGUF file, SentencePiece's with
 * scores ("llama") or byte-level BPE ("gpt2"), or that of the tokenizer.json of a Hugging Face
 * folder, BPE of bytes or with byte fallback.  Errors of all functions: QN_EINVALID
 * (tokenizer.missing, .json, .type, .size, .token, .merge), QN_EUNSUPPORTED (tokenizer.model, .pre,
 * .step, .support). */
#ifndef QUERN_TOKENS_H
#define QUERN_TOKENS_H

#include "quern/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers of tokens; begin, end: before and after a text, -1: none.  longest: bytes of the longest
 * one. */
typedef struct qn_tokens_info {
	size_t tokens;
	int32_t begin, end;
	size_t longest;
} qn_tokens_info;

QN_API qn_status qn_tokens_describe(qn_archive *x, qn_tokens_info *out);
/* n bytes of UTF-8 as tokens, after the one before a text: i32, [count, 1].  QN_EUSAGE
 * (tokenizer.text): a GiB or more. */
QN_API qn_status qn_tokens_encode(qn_archive *x, const char *text, size_t n, qn_array **out);
/* The text of tokens, an array of integers of any shape, in pieces.  The space that a vocabulary
 * adds before a text is left out where the array begins; after a later token `begin` the text
 * continues, as in sequences that were cut from one text.  QN_EUSAGE (tokenizer.token): one that is
 * not there; QN_EIO (tokenizer.write): fn has returned nonzero. */
QN_API qn_status qn_tokens_decode(qn_archive *x, const qn_array *tokens, qn_write_fn *fn,
				  void *user);
/* Writes NAME_tokens.h and NAME_tokens.c into a folder.  *written, unless NULL: the name as a C
 * identifier, which the files have; it lives as long as the archive. */
QN_API qn_status qn_tokens_emit(qn_archive *x, const char *folder, const char *name,
				const char **written);

#ifdef __cplusplus
}
#endif

#endif
