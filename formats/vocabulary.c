/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary.c - reads a vocabulary from the properties of an archive; of a folder from those that its tokenizer.json
 * becomes (vocabulary_json.c).
 *
 *   tokenizer.ggml.model        "llama" (vocabulary_scores.c), "gpt2" (vocabulary_bpe.c)
 *   tokenizer.ggml.tokens       "<unk>", "<s>", "</s>" … "▁t", "he", "▁the" …
 *   tokenizer.ggml.token_type   2 unknown, 3 control, 6 byte, 1 text, 4 user-defined
 *
 * User-defined pieces are found before anything is merged.  Tokens that are not text - unknown, control, unused - have no
 * bytes, and text never becomes them. */
#include "formats/vocabulary.h"

#include <stdlib.h>
#include <string.h>

#include "formats/file.h"
#include "formats/vocabulary_json.h"
#include "formats/vocabulary_reader.h"
#include "ir/diag.h"
#include "ir/dtypes.h"

static const struct {
	const char *name;
	qn_vocabulary_fn *read;
	/* unless the file says something else: a space before a text, the tokens before and after it */
	bool prefix;
	int32_t begin, end;
} kinds[] = {
	{"llama", qn_vocabulary_scores, true, 1, 2},
	{"gpt2", qn_vocabulary_bpe, false, -1, -1},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- properties ---- */

qn_status
qn_vocabulary_need(const qn_vocabulary_reader *r, const char *key, bool array,
		   const qn_property **out)
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
read_kind(const qn_vocabulary_reader *r, int *kind)
{
	const qn_property *p;
	const char *s;
	size_t n;

	QN_TRY(qn_vocabulary_need(r, "tokenizer.ggml.model", false, &p));
	for (*kind = 0; *kind < KINDS; ++*kind)
		if (qn_property_string(p, &s, &n) && n == strlen(kinds[*kind].name) &&
		    memcmp(s, kinds[*kind].name, n) == 0)
			return QN_OK;
	return qn_report(r->arena->env, QN_EUNSUPPORTED, "tokenizer.model", r->d->place,
			 "the tokenizer is %s; implemented are \"llama\", the merges of "
			 "SentencePiece by scores, and \"gpt2\", byte-level BPE",
			 qn_property_json(r->arena, p));
}

/* The number of a token; -1: there is none.  Where the property is not there it is `otherwise`, but for what tokenizer.json
 * says, which leaves none out. */
static qn_status
read_special(const qn_vocabulary_reader *r, const char *key, int32_t otherwise, int32_t *out)
{
	const bool folder = strcmp(r->d->format, QN_HUGGING_FACE_FOLDER) == 0;
	const qn_property *p = qn_archive_value(r->d, key);
	uint64_t v;

	*out = !folder && p == NULL && otherwise < r->n ? otherwise : -1;
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
flag(const qn_vocabulary_reader *r, const char *key, bool otherwise)
{
	const qn_property *p = qn_archive_value(r->d, key);

	return p != NULL && !p->array && p->type == QN_VALUE_BOOL ? p->data[0] != 0 : otherwise;
}

qn_status
qn_vocabulary_numbers(const qn_vocabulary_reader *r, const char *key, qn_value_type type,
		      qn_value_type other, void *to)
{
	const qn_property *p;

	QN_TRY(qn_vocabulary_need(r, key, true, &p));
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

bool
qn_vocabulary_string(const uint8_t **s, size_t *left, const uint8_t **text, size_t *n)
{
	const uint64_t length = *left >= 8 ? qn_little_get(*s, 8) : UINT64_MAX;

	if (*left < 8 || length > *left - 8)
		return false;
	*text = *s + 8;
	*n = (size_t)length;
	*s += 8 + *n;
	*left -= 8 + *n;
	return true;
}

qn_status
qn_vocabulary_texts(qn_vocabulary_reader *r, const qn_property *tokens, qn_token_text_fn *fn)
{
	const uint8_t *at = tokens->data, *s;
	size_t left = tokens->bytes, n;

	r->text = QN_NEW(r->arena, uint8_t, left + 1);
	r->at = QN_NEW(r->arena, int32_t, (size_t)r->n + 1);
	for (int32_t i = 0; i < r->n; i++) {
		if (!qn_vocabulary_string(&at, &left, &s, &n))
			return qn_report(r->arena->env, QN_EINVALID, "tokenizer.size", r->d->place,
					 "the text of token %d is cut off", (int)i);
		const int32_t length = fn(r, i, s, n, r->text + r->at[i]);
		r->at[i + 1] = r->at[i] + length;
		r->out->longest = length > r->out->longest ? length : r->out->longest;
	}
	return QN_OK;
}

/* ---- an order ---- */

typedef struct row {
	const uint8_t *text;
	int32_t n, token;
	bool later; /* of equal texts */
} row;

static int
compare_texts(const row *x, const row *y)
{
	const int c = memcmp(x->text, y->text, (size_t)(x->n < y->n ? x->n : y->n));

	return c != 0 ? c : x->n < y->n ? -1 : x->n > y->n;
}

static int
by_text(const void *a, const void *b)
{
	const row *x = a, *y = b;
	const int c = compare_texts(x, y);

	if (c != 0)
		return c;
	return x->later != y->later ? (x->later ? 1 : -1) : x->token < y->token ? -1 : 1;
}

void
qn_vocabulary_order(qn_vocabulary_reader *r, bool user_first)
{
	row *rows = QN_NEW(r->arena, row, (size_t)r->n);
	int32_t *order = QN_NEW(r->arena, int32_t, (size_t)r->n), n = 0, kept = 0;

	for (int32_t i = 0; i < r->n; i++) {
		const int32_t type = r->type[i], length = r->at[i + 1] - r->at[i];

		if ((type == QN_TOKEN_TEXT || type == QN_TOKEN_USER) && length > 0)
			rows[n++] = (row){r->text + r->at[i], length, i,
					  user_first && type != QN_TOKEN_USER};
	}
	qsort(rows, (size_t)n, sizeof *rows, by_text);
	for (int32_t i = 0; i < n; i++)
		if (i == 0 || compare_texts(&rows[i - 1], &rows[i]) != 0)
			order[kept++] = rows[i].token;
	r->out->order = order;
	r->out->pieces = kept;
}

void
qn_vocabulary_user(qn_vocabulary_reader *r, int32_t *rank)
{
	for (int32_t i = 0; i < r->n; i++) {
		const int32_t length = r->at[i + 1] - r->at[i];

		if (r->type[i] != QN_TOKEN_USER || length == 0)
			continue;
		rank[i] = -1;
		r->out->user = length > r->out->user ? length : r->out->user;
	}
}

/* ---- all of it ---- */

static qn_status
read_types(qn_vocabulary_reader *r)
{
	const qn_property *p = qn_archive_value(r->d, "tokenizer.ggml.token_type");

	r->type = QN_NEW(r->arena, int32_t, (size_t)r->n);
	for (int32_t i = 0; i < r->n; i++)
		r->type[i] = QN_TOKEN_TEXT;
	return p == NULL ? QN_OK
			 : qn_vocabulary_numbers(r, p->key, QN_VALUE_I32, QN_VALUE_U32, r->type);
}

static qn_status
read_properties(const qn_archive_data *d, qn_arena *arena, qn_token_table *out)
{
	qn_vocabulary_reader r = {.d = d, .arena = arena, .out = out};
	const qn_property *tokens;
	int kind;

	*out = (qn_token_table){0};
	QN_TRY(read_kind(&r, &kind));
	QN_TRY(qn_vocabulary_need(&r, "tokenizer.ggml.tokens", true, &tokens));
	if (tokens->type != QN_VALUE_STRING || tokens->n < 1 || tokens->n > QN_MOST_TOKENS ||
	    tokens->bytes > INT32_MAX / 2)
		return qn_report(
			arena->env, QN_EINVALID, "tokenizer.size", d->place,
			"property '%s' has %llu elements of %s (expected 1 to %d of string)",
			tokens->key, (unsigned long long)tokens->n, qn_value_name(tokens->type),
			QN_MOST_TOKENS);
	r.n = (int32_t)tokens->n;
	QN_TRY(read_types(&r));
	QN_TRY(kinds[kind].read(&r, tokens));
	out->tokens = r.n;
	out->text = r.text;
	out->at = r.at;
	if (kinds[kind].prefix && flag(&r, "tokenizer.ggml.add_space_prefix", true))
		out->prefix = flag(&r, QN_PREFIX_ONCE, false) ? 2 : 1;
	QN_TRY(read_special(&r, "tokenizer.ggml.bos_token_id", kinds[kind].begin, &out->begin));
	QN_TRY(read_special(&r, "tokenizer.ggml.eos_token_id", kinds[kind].end, &out->end));
	QN_TRY(read_special(&r, "tokenizer.ggml.unknown_token_id", 0, &out->unknown));
	out->unknown = out->unknown >= 0 ? out->unknown : 0;
	if (!flag(&r, "tokenizer.ggml.add_bos_token", r.begins))
		out->begin = -1;
	return QN_OK;
}

/* Those of tokenizer.json beside config.json. */
static qn_status
make_properties(const qn_archive_data *d, int64_t tokens, qn_archive_data *made)
{
	const qn_diag_mark mark = qn_diag_mark_now(made->arena->env);
	const char *text = NULL, *file = qn_path_join(made->arena, d->place, "tokenizer.json");
	size_t n = 0;

	if (qn_file_map(made->arena, file, &text, &n) == QN_OK)
		return qn_vocabulary_json(d, file, text, n, tokens, made);
	qn_diag_forget(made->arena->env, mark);
	return qn_report(made->arena->env, QN_EINVALID, "tokenizer.missing", d->place,
			 "the folder has no tokenizer.json that can be read: it does not hold the "
			 "tokens of a language model");
}

qn_status
qn_tokens_properties(const qn_archive_data *d, int64_t tokens, qn_archive_data *out)
{
	qn_archive_data made;
	qn_token_table table;

	qn_archive_init(&made, out->arena, d->format, d->place);
	QN_TRY(make_properties(d, tokens, &made));
	qn_arena *scratch = qn_arena_child(out->arena);
	const qn_status status = read_properties(&made, scratch, &table);
	qn_arena_release(scratch);
	for (size_t i = 0; status == QN_OK && i < made.nproperty; i++)
		if (strcmp(made.property[i].key, QN_PREFIX_ONCE) != 0)
			qn_archive_set(out, &made.property[i]);
	return status;
}

/* The vocabulary of properties that were made, which are needed no longer then. */
static qn_status
read_made(const qn_archive_data *d, qn_archive_data *made, qn_status status, qn_token_table *out)
{
	if (status == QN_OK)
		status = read_properties(made, d->arena, out);
	qn_arena_release(made->arena);
	return status;
}

qn_status
qn_tokens_read_json(const qn_archive_data *d, const char *file, const char *text, size_t n,
		    qn_token_table *out)
{
	qn_archive_data made;

	qn_archive_init(&made, qn_arena_child(d->arena), d->format, file);
	return read_made(d, &made, qn_vocabulary_json(d, file, text, n, 0, &made), out);
}

qn_status
qn_tokens_read(const qn_archive_data *d, qn_token_table *out)
{
	qn_archive_data made;

	if (strcmp(d->format, QN_HUGGING_FACE_FOLDER) != 0)
		return read_properties(d, d->arena, out);
	qn_archive_init(&made, qn_arena_child(d->arena), d->format, d->place);
	return read_made(d, &made, make_properties(d, 0, &made), out);
}
