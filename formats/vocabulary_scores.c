/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_scores.c - vocabularies of SentencePiece, whose merges are chosen by scores.
 *
 *   tokenizer.ggml.tokens       "<unk>", "<s>", "</s>", "<0x00>" … "▁t", "he", "▁the" …
 *   tokenizer.ggml.scores       0, 0, 0, 0 … 0, -1, -6 …
 *
 * Spaces are U+2581 in the file.  Scores only tell which of two pairs is merged first, so their order is kept, as
 * integers. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/vocabulary_reader.h"
#include "ir/diag.h"

/* From the best score on. */
typedef struct row {
	int32_t token;
	float score;
} row;

/* "<0x0A>" as its byte; -1: it is none. */
static int
byte_of(const uint8_t *s, size_t n)
{
	int v = 0;

	if (n != 6 || memcmp(s, "<0x", 3) != 0 || s[5] != '>')
		return -1;
	for (int i = 3; i < 5; i++) {
		const int c = s[i], digit = c >= '0' && c <= '9'   ? c - '0'
					    : c >= 'A' && c <= 'F' ? c - 'A' + 10
					    : c >= 'a' && c <= 'f' ? c - 'a' + 10
								   : -1;

		if (digit < 0)
			return -1;
		v = 16 * v + digit;
	}
	return v;
}

/* What token i stands for, with spaces as such; its bytes. */
static int32_t
put_text(qn_vocabulary_reader *r, int32_t i, const uint8_t *s, size_t n, uint8_t *to)
{
	static const uint8_t space[3] = {0xe2, 0x96, 0x81};
	const int32_t type = r->type[i];
	const int b = type == QN_TOKEN_BYTE ? byte_of(s, n) : -1;
	int32_t length = 0;

	if (b >= 0) {
		to[0] = (uint8_t)b;
		return 1;
	}
	for (size_t k = 0; (type == QN_TOKEN_TEXT || type == QN_TOKEN_USER) && k < n;) {
		const bool is_space = n - k >= 3 && memcmp(s + k, space, 3) == 0;

		to[length++] = is_space ? (uint8_t)' ' : s[k];
		k += is_space ? 3 : 1;
	}
	return length;
}

/* A space after something else in a piece: text cannot be cut there. */
static bool
joins_words(const uint8_t *text, int32_t n)
{
	for (int32_t i = 1; i < n; i++)
		if (text[i] == ' ' && text[i - 1] != ' ')
			return true;
	return false;
}

static void
set_words(qn_vocabulary_reader *r)
{
	qn_token_table *v = r->out;

	v->words = true;
	for (int32_t i = 0; i < v->pieces && v->words; i++) {
		const int32_t t = v->order[i];

		v->words = !joins_words(r->text + r->at[t], r->at[t + 1] - r->at[t]);
	}
}

static int
by_score(const void *a, const void *b)
{
	const row *x = a, *y = b;

	return x->score > y->score ? -1 : x->score < y->score ? 1 : x->token < y->token ? -1 : 1;
}

static void
set_rank(qn_vocabulary_reader *r, const float *score)
{
	row *rows = QN_NEW(r->arena, row, (size_t)r->n);
	int32_t *rank = QN_NEW(r->arena, int32_t, (size_t)r->n);

	for (int32_t i = 0; i < r->n; i++)
		rows[i] = (row){i, score[i]};
	qsort(rows, (size_t)r->n, sizeof *rows, by_score);
	for (int32_t i = 1; i < r->n; i++) {
		const bool lower = rows[i].score < rows[i - 1].score;

		rank[rows[i].token] = rank[rows[i - 1].token] + (lower ? 1 : 0);
	}
	qn_vocabulary_user(r, rank);
	r->out->rank = rank;
}

static void
set_bytes(qn_vocabulary_reader *r)
{
	int32_t *byte = QN_NEW(r->arena, int32_t, 256);

	for (int i = 0; i < 256; i++)
		byte[i] = -1;
	for (int32_t i = r->n - 1; i >= 0; i--)
		if (r->type[i] == QN_TOKEN_BYTE && r->at[i + 1] - r->at[i] == 1)
			byte[r->text[r->at[i]]] = i;
	r->out->byte = byte;
}

qn_status
qn_vocabulary_scores(qn_vocabulary_reader *r, const qn_property *tokens)
{
	float *score = QN_NEW(r->arena, float, (size_t)r->n);

	QN_TRY(qn_vocabulary_numbers(r, "tokenizer.ggml.scores", QN_VALUE_F32, QN_VALUE_F32,
				     score));
	for (int32_t i = 0; i < r->n; i++)
		if (!isfinite(score[i]))
			return qn_report(r->arena->env, QN_EINVALID, "tokenizer.type", r->d->place,
					 "the score of token %d is not a finite number", (int)i);
	QN_TRY(qn_vocabulary_texts(r, tokens, put_text));
	qn_vocabulary_order(r, false);
	set_words(r);
	set_rank(r, score);
	set_bytes(r);
	r->begins = true;
	return QN_OK;
}
