/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_json.c - see vocabulary_json.h.
 *
 *   {"added_tokens":   [{"id": 1, "content": "<s>", "special": true}],
 *    "normalizer":     {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, …]},
 *    "pre_tokenizer":  {"type": "ByteLevel", "add_prefix_space": false},
 *    "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": …}]},
 *    "model":          {"type": "BPE", "vocab": {"!": 0, …}, "merges": ["t h", …] or [["t", "h"], …]}}
 *
 * Of vocabularies with byte fallback, which come from SentencePiece, the merges become scores: a token has that of its first
 * merge.  What is done with a text before and after is read in vocabulary_steps.c. */
#include "formats/vocabulary_json.h"

#include <string.h>

#include "formats/vocabulary_reader.h"
#include "formats/vocabulary_steps.h"
#include "ir/buf.h"
#include "ir/diag.h"
#include "ir/dtypes.h"

enum { UNKNOWN = 2, CONTROL = 3, UNUSED = 5, MOST_PIECE = 4096 };

typedef struct json_reader {
	const qn_archive_data *d;
	qn_archive_data *out;
	qn_arena *arena;
	qn_json_doc doc;
	const qn_json *model;
	qn_map id; /* of texts: a pointer into `number` */
	int32_t *number;
	const char **text; /* of tokens; NULL: a number without one */
	int32_t *type, n;
	int32_t least; /* tokens, as the network has; 0: as many as there are */
} json_reader;

/* ---- properties ---- */

static void
set_array(json_reader *r, const char *key, qn_value_type type, uint64_t n, const qn_buf *b)
{
	const qn_property p = {.key = key,
			       .type = type,
			       .array = true,
			       .n = n,
			       .data = (const uint8_t *)b->data,
			       .bytes = b->n};

	qn_archive_set(r->out, &p);
}

static void
put_number(qn_buf *b, size_t bytes, uint64_t v)
{
	char s[8];

	qn_little_put(s, bytes, v);
	qn_buf_put(b, s, bytes);
}

static void
put_string(qn_buf *b, const char *s, size_t n)
{
	put_number(b, 8, n);
	qn_buf_put(b, s, n);
}

static void
set_string(json_reader *r, const char *key, const char *s)
{
	const qn_property p = qn_property_of_string(r->out->arena, key, s, strlen(s));

	qn_archive_set(r->out, &p);
}

static void
set_number(json_reader *r, const char *key, qn_value_type type, uint64_t v)
{
	const qn_property p = qn_property_of_bits(r->out->arena, key, type, v);

	qn_archive_set(r->out, &p);
}

/* ---- tokens ---- */

static qn_status
wrong(const json_reader *r, const qn_json *v, const char *expected)
{
	return qn_report(r->arena->env, QN_EINVALID, "tokenizer.json",
			 qn_json_place(&r->doc, r->arena, v), "%s (expected %s)",
			 qn_json_describe(r->arena, v), expected);
}

/* The number of a token; -1: it is none. */
static int32_t
number_of(const qn_json *v)
{
	int64_t n;

	return v != NULL && v->kind == QN_JSON_NUMBER && qn_json_i64(v, &n) && n >= 0 &&
			       n < QN_MOST_TOKENS
		       ? (int32_t)n
		       : -1;
}

static qn_status
find_parts(json_reader *r, const qn_json **vocab, const qn_json **added)
{
	static const char tokens[] = "numbers of tokens by their texts";

	*vocab = qn_json_need(&r->doc, r->model, "vocab", QN_JSON_OBJECT);
	*added = qn_json_find(r->doc.root, "added_tokens");
	if (*vocab == NULL)
		return QN_EINVALID;
	if (*added != NULL && (*added)->kind != QN_JSON_ARRAY)
		return wrong(r, *added, "an array");
	for (size_t i = 0; i < (*vocab)->n; i++) {
		const int32_t number = number_of(&(*vocab)->child[i]);

		if (number < 0)
			return wrong(r, &(*vocab)->child[i], tokens);
		r->n = number >= r->n ? number + 1 : r->n;
	}
	for (size_t i = 0; *added != NULL && i < (*added)->n; i++) {
		const int32_t number = number_of(qn_json_find(&(*added)->child[i], "id"));

		if (number < 0)
			return wrong(r, &(*added)->child[i], "an object with the id of a token");
		r->n = number >= r->n ? number + 1 : r->n;
	}
	if (r->least > 0 && r->n > r->least)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.size", r->doc.file,
				 "%d tokens for a network of %d", (int)r->n, (int)r->least);
	r->n = r->n > r->least ? r->n : r->least;
	return r->n > 0 ? QN_OK : wrong(r, *vocab, tokens);
}

static void
name(json_reader *r, const char *text, int32_t number, int32_t type)
{
	r->text[number] = text;
	r->type[number] = type;
	r->number[number] = number;
	if (qn_map_gets(&r->id, text) == NULL)
		qn_map_puts(&r->id, text, &r->number[number]);
}

static bool
is_true(const qn_json *v)
{
	return v != NULL && v->kind == QN_JSON_BOOL && v->truth;
}

static bool
is_byte(const char *s)
{
	return strlen(s) == 6 && strncmp(s, "<0x", 3) == 0 && s[5] == '>';
}

static bool
takes_spaces(const qn_json *v)
{
	return is_true(qn_json_find(v, "lstrip")) || is_true(qn_json_find(v, "rstrip")) ||
	       is_true(qn_json_find(v, "single_word"));
}

static qn_status
read_tokens(json_reader *r, bool bytes)
{
	const qn_json *vocab, *added;

	QN_TRY(find_parts(r, &vocab, &added));
	r->text = QN_NEW(r->arena, const char *, (size_t)r->n);
	r->type = QN_NEW(r->arena, int32_t, (size_t)r->n);
	r->number = QN_NEW(r->arena, int32_t, (size_t)r->n);
	qn_map_init(&r->id, r->arena);
	for (size_t i = 0; i < vocab->n; i++) {
		const qn_json *v = &vocab->child[i];

		name(r, v->key, number_of(v),
		     bytes && is_byte(v->key) ? QN_TOKEN_BYTE : QN_TOKEN_TEXT);
	}
	for (size_t i = 0; added != NULL && i < added->n; i++) {
		const qn_json *v = &added->child[i],
			      *s = qn_json_need(&r->doc, v, "content", QN_JSON_STRING);

		if (s == NULL)
			return QN_EINVALID;
		const bool special = is_true(qn_json_find(v, "special"));
		if (!special && takes_spaces(v))
			return qn_report(r->arena->env, QN_EUNSUPPORTED, "tokenizer.step",
					 qn_json_place(&r->doc, r->arena, v),
					 "a token that is found with the spaces around it, or only "
					 "as a word (lstrip, rstrip, single_word), is not "
					 "implemented");
		name(r, s->string, number_of(qn_json_find(v, "id")),
		     special ? CONTROL : QN_TOKEN_USER);
	}
	return QN_OK;
}

static void
set_tokens(json_reader *r)
{
	qn_buf texts, types;

	qn_buf_init(&texts, r->out->arena);
	qn_buf_init(&types, r->out->arena);
	for (int32_t i = 0; i < r->n; i++) {
		qn_buf pad;

		qn_buf_init(&pad, r->arena);
		if (r->text[i] == NULL) /* all texts differ */
			qn_buff(&pad, "[PAD%d]", (int)i);
		const char *s = r->text[i] != NULL ? r->text[i] : qn_buf_str(&pad);
		put_string(&texts, s, strlen(s));
		put_number(&types, 4, (uint64_t)(r->text[i] != NULL ? r->type[i] : UNUSED));
	}
	set_array(r, "tokenizer.ggml.tokens", QN_VALUE_STRING, (uint64_t)r->n, &texts);
	set_array(r, "tokenizer.ggml.token_type", QN_VALUE_I32, (uint64_t)r->n, &types);
}

/* ---- merges ---- */

/* Both parts of a merge; false: it has no two. */
static bool
parts(const qn_json *v, const char *part[2], size_t n[2])
{
	if (v->kind == QN_JSON_ARRAY) {
		for (size_t k = 0; k < 2; k++) {
			if (v->n != 2 || v->child[k].kind != QN_JSON_STRING)
				return false;
			part[k] = v->child[k].string;
			n[k] = strlen(part[k]);
		}
		return true;
	}
	const char *space = v->kind == QN_JSON_STRING ? strchr(v->string, ' ') : NULL;
	if (space == NULL)
		return false;
	part[0] = v->string;
	part[1] = space + 1;
	n[0] = (size_t)(space - v->string);
	n[1] = strlen(part[1]);
	return true;
}

/* Of a vocabulary with scores the merge gives one to the token that it makes, unless that has one. */
static qn_status
score(json_reader *r, const qn_json *v, size_t rank, const char *part[2], const size_t n[2],
      float *of)
{
	char s[2 * MOST_PIECE];

	if (n[0] >= MOST_PIECE || n[1] >= MOST_PIECE)
		return wrong(r, v, "shorter tokens");
	memcpy(s, part[0], n[0]);
	memcpy(s + n[0], part[1], n[1]);
	const int32_t *made = qn_map_get(&r->id, s, n[0] + n[1]);
	if (made == NULL)
		return wrong(r, v, "two tokens that make a third one");
	if (of[*made] > -(float)QN_MOST_MERGES)
		return QN_OK;
	of[*made] = -(float)rank;
	return QN_OK;
}

/* Pairs of tokens that make a third one.  Where all are listed, as of SentencePiece, a score for each token says the same
 * as the list: a pair that is not listed would be merged, too. */
static size_t
count_pairs(const json_reader *r)
{
	size_t n = 0;

	for (int32_t i = 0; i < r->n; i++) {
		const char *s = r->type[i] == QN_TOKEN_TEXT && r->text[i] != NULL ? r->text[i] : "";
		const size_t length = strlen(s);

		for (size_t k = 1; k < length; k++)
			n += qn_map_get(&r->id, s, k) != NULL &&
			     qn_map_get(&r->id, s + k, length - k) != NULL;
	}
	return n;
}

static qn_status
read_merges(json_reader *r, bool bytes)
{
	const qn_json *merges = qn_json_need(&r->doc, r->model, "merges", QN_JSON_ARRAY);
	float *of = QN_NEW(r->arena, float, (size_t)r->n);
	qn_buf list;

	if (merges == NULL)
		return QN_EINVALID;
	if (merges->n >= QN_MOST_MERGES)
		return wrong(r, merges, "at most 4194303 merges");
	qn_buf_init(&list, r->out->arena);
	for (int32_t i = 0; i < r->n; i++)
		of[i] = -(float)QN_MOST_MERGES;
	for (size_t i = 0; i < merges->n; i++) {
		const qn_json *v = &merges->child[i];
		const char *part[2];
		size_t n[2];

		if (!parts(v, part, n))
			return wrong(r, v, "two tokens");
		if (bytes) {
			QN_TRY(score(r, v, i, part, n, of));
			continue;
		}
		put_number(&list, 8, n[0] + 1 + n[1]);
		qn_buf_put(&list, part[0], n[0]);
		qn_buf_putc(&list, ' ');
		qn_buf_put(&list, part[1], n[1]);
	}
	if (!bytes) {
		set_array(r, "tokenizer.ggml.merges", QN_VALUE_STRING, merges->n, &list);
		return QN_OK;
	}
	if (count_pairs(r) > merges->n)
		return qn_report(r->arena->env, QN_EUNSUPPORTED, "tokenizer.step",
				 qn_json_place(&r->doc, r->arena, merges),
				 "%zu merges, where the tokens have %zu pairs that make a third "
				 "one: only vocabularies of SentencePiece are implemented with "
				 "byte_fallback, which list all pairs",
				 merges->n, count_pairs(r));
	for (int32_t i = 0; i < r->n; i++) {
		uint32_t bits;

		memcpy(&bits, &of[i], sizeof bits);
		put_number(&list, 4, bits);
	}
	set_array(r, "tokenizer.ggml.scores", QN_VALUE_F32, (uint64_t)r->n, &list);
	return QN_OK;
}

/* ---- tokens around a text ---- */

/* config.json has a number, or several of which the first is the one that ends a text. */
static void
take_end(json_reader *r)
{
	const qn_property *p = qn_archive_value(r->d, "eos_token_id");
	uint64_t v;

	if (p == NULL || p->n == 0)
		return;
	const qn_property first = p->array ? qn_property_element(p, 0) : *p;
	if (qn_property_u64(&first, &v) && v < (uint64_t)r->n)
		set_number(r, "tokenizer.ggml.eos_token_id", QN_VALUE_U32, v);
}

static qn_status
read_special(json_reader *r)
{
	const qn_json *unknown = qn_json_find(r->model, "unk_token");
	const char *begin = NULL;
	const int32_t *id;

	QN_TRY(qn_vocabulary_template(&r->doc, &begin));
	id = begin != NULL ? qn_map_gets(&r->id, begin) : NULL;
	if (begin != NULL && id == NULL)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.json", r->doc.file,
				 "a text begins with '%s', which is not a token", begin);
	if (id != NULL)
		set_number(r, "tokenizer.ggml.bos_token_id", QN_VALUE_U32, (uint64_t)*id);
	set_number(r, "tokenizer.ggml.add_bos_token", QN_VALUE_BOOL, id != NULL);
	if (unknown != NULL && unknown->kind == QN_JSON_STRING) {
		id = qn_map_gets(&r->id, unknown->string);
		if (id != NULL) {
			r->type[*id] = UNKNOWN;
			set_number(r, "tokenizer.ggml.unknown_token_id", QN_VALUE_U32,
				   (uint64_t)*id);
		}
	}
	take_end(r);
	return QN_OK;
}

/* ---- all of it ---- */

qn_status
qn_vocabulary_json(const qn_archive_data *d, const char *file, const char *text, size_t n,
		   int64_t least, qn_archive_data *out)
{
	static const qn_json_ids ids = {"tokenizer.json", "tokenizer.json"};
	json_reader r = {.d = d, .out = out, .arena = out->arena, .least = (int32_t)least};
	qn_vocabulary_steps steps;

	QN_TRY(qn_json_tree(r.arena, file, text, n, &ids, &r.doc));
	r.model = qn_json_need(&r.doc, r.doc.root, "model", QN_JSON_OBJECT);
	if (r.model == NULL)
		return QN_EINVALID;
	QN_TRY(qn_vocabulary_read_steps(&r.doc, r.model, &steps));
	set_string(&r, "tokenizer.ggml.model", steps.pre != NULL ? "gpt2" : "llama");
	if (steps.pre != NULL)
		set_string(&r, "tokenizer.ggml.pre", steps.pre);
	set_number(&r, "tokenizer.ggml.add_space_prefix", QN_VALUE_BOOL, steps.prefix);
	set_number(&r, QN_PREFIX_ONCE, QN_VALUE_BOOL, steps.once);
	QN_TRY(read_tokens(&r, steps.pre == NULL));
	QN_TRY(read_merges(&r, steps.pre == NULL));
	QN_TRY(read_special(&r));
	set_tokens(&r);
	return QN_OK;
}
