/* SPDX-License-Identifier: Apache-2.0 */
/* texts.h - texts as samples of a language model: tokens in sequences of one length. */
#ifndef DRIVER_PROGRAM_TEXTS_H
#define DRIVER_PROGRAM_TEXTS_H

#include "program.h"
#include "quern/tokens.h"

/* The bytes of a text file ("-": stdin), which the caller frees; NULL after a message. */
char *texts_read(const char *path, size_t *n);

/* Tokens i32 [n, 1] of a text as sequences of `each` ones, 2 or more: i32 [count * each, 1].  Each sequence begins with
 * the token `begin` where the vocabulary has one; what does not fill a sequence is left out.  *next, unless next is NULL:
 * the token that follows each, of as many sequences as have them all.  2 after a message: the tokens fill none. */
qn_status texts_sequences(qn_ctx *ctx, const qn_tokens_info *info, const qn_array *tokens,
			  int64_t each, qn_array **out, qn_array **next);

/* The text of a file as samples of o->model, and the token that follows each.  Sequences have --sequence tokens, otherwise
 * those of the model's context or of the shortest text of the command, whichever is less; the length of sequences of ctx
 * becomes that. */
qn_status texts_samples(qn_ctx *ctx, const options *o, const char *path, qn_array **out,
			qn_array **next);

#endif
