/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_reader.h - what the readers of vocabularies share (vocabulary.c). */
#ifndef QN_FORMATS_VOCABULARY_READER_H
#define QN_FORMATS_VOCABULARY_READER_H

#include "formats/vocabulary.h"

enum {
	QN_TOKEN_TEXT = 1,
	QN_TOKEN_USER = 4,
	QN_TOKEN_BYTE = 6
}; /* of token_type; 2: unknown, 3: control, 5: unused */

/* Of what a tokenizer.json becomes, and of no file: a space is put before a text alone, not after user-defined tokens. */
#define QN_PREFIX_ONCE "quern.space_prefix_once"

typedef struct qn_vocabulary_reader {
	const qn_archive_data *d;
	qn_arena *arena;
	qn_token_table *out;
	int32_t n; /* tokens */
	int32_t *type, *at;
	uint8_t *text;
	bool begins; /* a text begins with the token `begin`, unless the file says something else */
} qn_vocabulary_reader;

/* The property, which must be there: an array, or not. */
qn_status qn_vocabulary_need(const qn_vocabulary_reader *r, const char *key, bool array,
			     const qn_property **out) QN_MUST_CHECK;
/* Numbers of 4 bytes, one for each token. */
qn_status qn_vocabulary_numbers(const qn_vocabulary_reader *r, const char *key, qn_value_type type,
				qn_value_type other, void *to) QN_MUST_CHECK;
/* Element i of an array of strings: *s is where its length stands and then where the next one's does, *left the bytes from
 * there on.  False: it is cut off. */
bool qn_vocabulary_string(const uint8_t **s, size_t *left, const uint8_t **text, size_t *n);

/* What token i stands for; its bytes, at most n. */
typedef int32_t qn_token_text_fn(qn_vocabulary_reader *r, int32_t i, const uint8_t *s, size_t n,
				 uint8_t *to);
/* text, at, longest. */
qn_status qn_vocabulary_texts(qn_vocabulary_reader *r, const qn_property *tokens,
			      qn_token_text_fn *fn) QN_MUST_CHECK;
/* order, pieces: the tokens that text may become, by their bytes, each text once.  Of equal texts the first token is taken;
 * user_first: the user-defined one. */
void qn_vocabulary_order(qn_vocabulary_reader *r, bool user_first);
/* The longest user-defined token, and -1 as the rank of each. */
void qn_vocabulary_user(qn_vocabulary_reader *r, int32_t *rank);

/* The vocabularies of a kind (vocabulary_scores.c, vocabulary_bpe.c). */
typedef qn_status qn_vocabulary_fn(qn_vocabulary_reader *r, const qn_property *tokens);
qn_vocabulary_fn qn_vocabulary_scores, qn_vocabulary_bpe;

#endif
