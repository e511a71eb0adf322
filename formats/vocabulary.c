/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary.c - reads a vocabulary from the properties of an archive.
 *
 *   tokenizer.ggml.model        "llama"
 *   tokenizer.ggml.tokens       "<unk>", "<s>", "</s>", "<0x00>" … "▁t", "he", "▁the" …
 *   tokenizer.ggml.scores       0, 0, 0, 0 … 0, -1, -6 …
 *   tokenizer.ggml.token_type   2 unknown, 3 control, 6 byte, 1 text, 4 user-defined
 *
 * Spaces are U+2581 in the file.  Scores only tell which of two pairs is merged first, so their order is kept, as
 * integers.  User-defined pieces are found before anything is merged.  Tokens that are not text - unknown, control, unused - have no bytes, and text never becomes them. */
#include "formats/vocabulary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/dtypes.h"

enum { TEXT = 1, USER = 4, BYTE = 6 }; /* of token_type; 2: unknown, 3: control, 5: unused */

typedef struct reader {
	const qn_archive_data *d;
	qn_arena *arena;
	qn_token_table *out;
	int32_t n;
	int32_t *type, *at;
	float *score;
	uint8_t *text;
} reader;

/* A row that is sorted: equal texts by their numbers, scores from the best on. */
typedef struct row {
	const uint8_t *text;
	int32_t n, token;
	float score;
} row;

/* ---- properties ---- */

static qn_status
need(const reader *r, const char *key, bool array, const qn_property **out)
{
	*out = qn_archive_value(r->d, key);
	if (*out == NULL)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.missing", r->d->place,
				 "the file has no property '%s': it does not hold the tokens of a "
				 "language model",
				 key);
	if ((*out)->array != array)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.type", r->d->place,
				 "property '%s' is %s", key, array ? "no array" : "an array");
	return QN_OK;
}

static qn_status
check_kind(const reader *r)
{
	const qn_property *p;
	const char *s;
	size_t n;

	QN_TRY(need(r, "tokenizer.ggml.model", false, &p));
	if (qn_property_string(p, &s, &n) && n == 5 && memcmp(s, "llama", 5) == 0)
		return QN_OK;
	return qn_report(r->arena->env, QN_EUNSUPPORTED, "tokenizer.model", r->d->place,
			 "the tokenizer is %s; implemented is \"llama\", the merges of "
			 "SentencePiece by scores",
			 qn_property_json(r->arena, p));
}

/* The number of a token; -1 where the property is not there. */
static qn_status
read_special(const reader *r, const char *key, int32_t *out)
{
	const qn_property *p = qn_archive_value(r->d, key);
	uint64_t v;

	*out = -1;
	if (p == NULL)
		return QN_OK;
	if (!qn_property_u64(p, &v))
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.type", r->d->place,
				 "property '%s' is not an integer", key);
	if (v >= (uint64_t)r->n) /* 2^32 - 1: none */
		return v == UINT32_MAX
			       ? QN_OK
			       : qn_report(r->arena->env, QN_EINVALID, "tokenizer.token",
					   r->d->place, "property '%s' is %llu, of %d tokens", key,
					   (unsigned long long)v, (int)r->n);
	*out = (int32_t)v;
	return QN_OK;
}

static bool
flag(const reader *r, const char *key, bool otherwise)
{
	const qn_property *p = qn_archive_value(r->d, key);

	return p != NULL && !p->array && p->type == QN_VALUE_BOOL ? p->data[0] != 0 : otherwise;
}

/* Numbers of 4 bytes, one for each token. */
static qn_status
read_numbers(const reader *r, const char *key, qn_value_type type, qn_value_type other, void *to)
{
	const qn_property *p;

	QN_TRY(need(r, key, true, &p));
	if (p->type != type && p->type != other)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.type", r->d->place,
				 "property '%s' holds %s, not %s", key, qn_value_name(p->type),
				 qn_value_name(type));
	if (p->n != (uint64_t)r->n)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.size", r->d->place,
				 "property '%s' has %llu elements for %d tokens", key,
				 (unsigned long long)p->n, (int)r->n);
	for (int32_t i = 0; i < r->n; i++) {
		const uint32_t bits = (uint32_t)qn_little_get(p->data + 4 * (size_t)i, 4);

		memcpy((char *)to + 4 * (size_t)i, &bits, 4);
	}
	return QN_OK;
}

/* ---- texts ---- */

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
put_text(reader *r, int32_t i, const uint8_t *s, size_t n, uint8_t *to)
{
	static const uint8_t space[3] = {0xe2, 0x96, 0x81};
	const int32_t type = r->type[i];
	const int b = type == BYTE ? byte_of(s, n) : -1;
	int32_t length = 0;

	if (b >= 0) {
		to[0] = (uint8_t)b;
		return 1;
	}
	for (size_t k = 0; (type == TEXT || type == USER) && k < n;) {
		const bool is_space = n - k >= 3 && memcmp(s + k, space, 3) == 0;

		to[length++] = is_space ? (uint8_t)' ' : s[k];
		k += is_space ? 3 : 1;
	}
	return length;
}

static qn_status
read_texts(reader *r, const qn_property *p)
{
	const uint8_t *s = p->data;
	size_t left = p->bytes;

	r->text = QN_NEW(r->arena, uint8_t, p->bytes + 1);
	for (int32_t i = 0; i < r->n; i++) {
		const uint64_t n = left >= 8 ? qn_little_get(s, 8) : UINT64_MAX;

		if (left < 8 || n > left - 8)
			return qn_report(r->arena->env, QN_EINVALID, "tokenizer.size", r->d->place,
					 "the text of token %d is cut off", (int)i);
		const int32_t length = put_text(r, i, s + 8, (size_t)n, r->text + r->at[i]);
		r->at[i + 1] = r->at[i] + length;
		r->out->longest = length > r->out->longest ? length : r->out->longest;
		s += 8 + n;
		left -= 8 + (size_t)n;
	}
	return QN_OK;
}

/* ---- orders ---- */

static int
by_text(const void *a, const void *b)
{
	const row *x = a, *y = b;
	const int c = memcmp(x->text, y->text, (size_t)(x->n < y->n ? x->n : y->n));

	if (c != 0)
		return c;
	return x->n != y->n ? (x->n < y->n ? -1 : 1) : x->token < y->token ? -1 : 1;
}

static int
by_score(const void *a, const void *b)
{
	const row *x = a, *y = b;

	return x->score > y->score ? -1 : x->score < y->score ? 1 : x->token < y->token ? -1 : 1;
}

static row
row_of(const reader *r, int32_t i)
{
	return (row){r->text + r->at[i], r->at[i + 1] - r->at[i], i, r->score[i]};
}

/* A space after something else: text cannot be cut there. */
static bool
joins_words(const row *x)
{
	for (int32_t i = 1; i < x->n; i++)
		if (x->text[i] == ' ' && x->text[i - 1] != ' ')
			return true;
	return false;
}

/* The tokens that text may become, by their bytes, each text once. */
static void
set_order(reader *r, row *rows)
{
	int32_t *order = QN_NEW(r->arena, int32_t, (size_t)r->n), n = 0, kept = 0;
	qn_token_table *v = r->out;

	v->words = true;
	for (int32_t i = 0; i < r->n; i++)
		if ((r->type[i] == TEXT || r->type[i] == USER) && r->at[i + 1] > r->at[i])
			rows[n++] = row_of(r, i);
	qsort(rows, (size_t)n, sizeof *rows, by_text);
	for (int32_t i = 0; i < n; i++) {
		const row *x = &rows[i], *last = kept > 0 ? &rows[i - 1] : NULL;

		if (last != NULL && last->n == x->n &&
		    memcmp(last->text, x->text, (size_t)x->n) == 0)
			continue;
		order[kept++] = x->token;
		v->words = v->words && !joins_words(x);
	}
	v->order = order;
	v->pieces = kept;
}

static void
set_rank(reader *r, row *rows)
{
	int32_t *rank = QN_NEW(r->arena, int32_t, (size_t)r->n);

	for (int32_t i = 0; i < r->n; i++)
		rows[i] = row_of(r, i);
	qsort(rows, (size_t)r->n, sizeof *rows, by_score);
	for (int32_t i = 1; i < r->n; i++) {
		const bool lower = rows[i].score < rows[i - 1].score;

		rank[rows[i].token] = rank[rows[i - 1].token] + (lower ? 1 : 0);
	}
	for (int32_t i = 0; i < r->n; i++) {
		const int32_t length = r->at[i + 1] - r->at[i];

		if (r->type[i] != USER || length == 0)
			continue;
		rank[i] = -1;
		r->out->user = length > r->out->user ? length : r->out->user;
	}
	r->out->rank = rank;
}

static void
set_bytes(reader *r)
{
	int32_t *byte = QN_NEW(r->arena, int32_t, 256);

	for (int i = 0; i < 256; i++)
		byte[i] = -1;
	for (int32_t i = r->n - 1; i >= 0; i--)
		if (r->type[i] == BYTE && r->at[i + 1] - r->at[i] == 1)
			byte[r->text[r->at[i]]] = i;
	r->out->byte = byte;
}

/* ---- all of it ---- */

static qn_status
read_arrays(reader *r, const qn_property *tokens)
{
	const qn_property *p = qn_archive_value(r->d, "tokenizer.ggml.token_type");
	const size_t n = (size_t)r->n;

	r->type = QN_NEW(r->arena, int32_t, n);
	r->score = QN_NEW(r->arena, float, n);
	r->at = QN_NEW(r->arena, int32_t, n + 1);
	for (int32_t i = 0; i < r->n; i++)
		r->type[i] = TEXT;
	if (p != NULL)
		QN_TRY(read_numbers(r, p->key, QN_VALUE_I32, QN_VALUE_U32, r->type));
	QN_TRY(read_numbers(r, "tokenizer.ggml.scores", QN_VALUE_F32, QN_VALUE_F32, r->score));
	for (int32_t i = 0; i < r->n; i++)
		if (!isfinite(r->score[i]))
			return qn_report(r->arena->env, QN_EINVALID, "tokenizer.type", r->d->place,
					 "the score of token %d is not a finite number", (int)i);
	return read_texts(r, tokens);
}

qn_status
qn_tokens_read(const qn_archive_data *d, qn_token_table *out)
{
	reader r = {.d = d, .arena = d->arena, .out = out};
	const qn_property *tokens;

	*out = (qn_token_table){0};
	QN_TRY(check_kind(&r));
	QN_TRY(need(&r, "tokenizer.ggml.tokens", true, &tokens));
	if (tokens->type != QN_VALUE_STRING || tokens->n < 1 || tokens->n > QN_MOST_TOKENS ||
	    tokens->bytes > INT32_MAX / 2)
		return qn_report(
			d->arena->env, QN_EINVALID, "tokenizer.size", d->place,
			"property '%s' has %llu elements of %s (expected 1 to %d of string)",
			tokens->key, (unsigned long long)tokens->n, qn_value_name(tokens->type),
			QN_MOST_TOKENS);
	r.n = (int32_t)tokens->n;
	QN_TRY(read_arrays(&r, tokens));
	row *rows = QN_NEW(r.arena, row, (size_t)r.n);
	set_order(&r, rows);
	set_rank(&r, rows);
	set_bytes(&r);
	out->tokens = r.n;
	out->text = r.text;
	out->at = r.at;
	out->prefix = flag(&r, "tokenizer.ggml.add_space_prefix", true);
	QN_TRY(read_special(&r, "tokenizer.ggml.bos_token_id", &out->begin));
	QN_TRY(read_special(&r, "tokenizer.ggml.eos_token_id", &out->end));
	QN_TRY(read_special(&r, "tokenizer.ggml.unknown_token_id", &out->unknown));
	out->unknown = out->unknown >= 0 ? out->unknown : 0;
	if (!flag(&r, "tokenizer.ggml.add_bos_token", true))
		out->begin = -1;
	return QN_OK;
}
