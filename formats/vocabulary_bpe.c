/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_bpe.c - vocabularies of byte-level BPE, as GPT-2 has it, whose merges are a list of pairs.
 *
 *   tokenizer.ggml.tokens   "!", "\"" … "Ġ" … "Ġt", "he", "Ġthe" …     a letter for each byte: Ġ is the space
 *   tokenizer.ggml.merges   "Ġ t", "h e", "Ġt he" …                    the first is merged first
 *   tokenizer.ggml.pre      "qwen2"                                    how words are split before
 *
 * A merge becomes a row of the token that it makes:
 *
 *   rank   Ġthe -> row 7      row 7: 2 bytes on the left, merge 2      a token may have several rows, row 0 merges nothing
 *
 * User-defined tokens stand in the file as they are.  So do a few others that have letters of no byte: text never becomes them,
 * but they have a text. */
#include <stdlib.h>
#include <string.h>

#include "formats/character_classes.h"
#include "formats/vocabulary_reader.h"
#include "ir/buf.h"
#include "ir/diag.h"

/* The names that llama.cpp gives the ways in which tokenizers split words.  digits: the most of a word. */
static const struct {
	const char *name;
	qn_token_split split;
	int32_t digits;
	bool whole, begins;
} pre[] = {
	{"default", QN_TOKENS_MARKS, 0, false, false},
	{"gpt-2", QN_TOKENS_GPT2, 0, false, false},
	{"phi-2", QN_TOKENS_GPT2, 0, false, false},
	{"mpt", QN_TOKENS_GPT2, 0, false, false},
	{"olmo", QN_TOKENS_GPT2, 0, false, false},
	{"jais", QN_TOKENS_GPT2, 0, false, false},
	{"trillion", QN_TOKENS_GPT2, 0, false, false},
	{"exaone4", QN_TOKENS_GPT2, 0, false, false},
	{"gigachat", QN_TOKENS_GPT2, 0, false, false},
	{"mellum", QN_TOKENS_GPT2, 0, false, false},
	{"granite-docling", QN_TOKENS_GPT2, 0, false, false},
	{"starcoder", QN_TOKENS_DIGIT, 0, false, false},
	{"refact", QN_TOKENS_DIGIT, 0, false, false},
	{"command-r", QN_TOKENS_DIGIT, 0, false, false},
	{"smollm", QN_TOKENS_DIGIT, 0, false, false},
	{"codeshell", QN_TOKENS_DIGIT, 0, false, false},
	{"exaone", QN_TOKENS_DIGIT, 0, false, false},
	{"minerva-7b", QN_TOKENS_DIGIT, 0, false, false},
	{"qwen2", QN_TOKENS_CASES, 1, false, false},
	{"deepseek-r1-qwen", QN_TOKENS_CASES, 1, false, false},
	{"megrez", QN_TOKENS_CASES, 1, false, false},
	{"stablelm2", QN_TOKENS_CASES, 1, false, false},
	{"hunyuan", QN_TOKENS_CASES, 1, false, false},
	{"kormo", QN_TOKENS_CASES, 1, false, false},
	{"solar-open", QN_TOKENS_CASES, 1, false, false},
	{"grok-2", QN_TOKENS_CASES, 1, false, false},
	{"llama-bpe", QN_TOKENS_CASES, 3, true, true},
	{"llama3", QN_TOKENS_CASES, 3, true, true},
	{"llama-v3", QN_TOKENS_CASES, 3, true, true},
	{"falcon3", QN_TOKENS_CASES, 3, true, true},
	{"pixtral", QN_TOKENS_CASES, 3, true, true},
	{"falcon-h1", QN_TOKENS_CASES, 3, true, true},
	{"lfm2", QN_TOKENS_CASES, 3, true, true},
	{"midm-2.0", QN_TOKENS_CASES, 3, true, true},
	{"dbrx", QN_TOKENS_CASES, 3, false, false},
	{"smaug-bpe", QN_TOKENS_CASES, 3, false, false},
	{"chatglm-bpe", QN_TOKENS_CASES, 3, false, false},
	{"glm4", QN_TOKENS_CASES, 3, false, false},
};
enum { PRE = sizeof pre / sizeof pre[0], NOT_TEXT = 0 };

typedef struct merge_row {
	int32_t token, left, rank;
} merge_row;

static qn_status
read_pre(qn_vocabulary_reader *r)
{
	const qn_property *p = qn_archive_value(r->d, "tokenizer.ggml.pre");
	const char *s = pre[0].name;
	size_t n = strlen(s), i = 0;
	qn_buf known;

	if (p != NULL && (p->array || !qn_property_string(p, &s, &n)))
		n = 0;
	while (i < PRE && (n != strlen(pre[i].name) || memcmp(s, pre[i].name, n) != 0))
		i++;
	if (i < PRE) {
		r->out->split = pre[i].split;
		r->out->digits = pre[i].digits;
		r->out->whole = pre[i].whole;
		r->begins = pre[i].begins;
		return qn_character_classes(r->arena, r->d->place, pre[i].split == QN_TOKENS_MARKS,
					    &r->out->range, &r->out->ranges);
	}
	qn_buf_init(&known, r->arena);
	for (i = 0; i < PRE; i++)
		qn_buff(&known, "%s%s", i > 0 ? ", " : "", pre[i].name);
	return qn_report(r->arena->env, QN_EUNSUPPORTED, "tokenizer.pre", r->d->place,
			 "the tokenizer splits words as %s (tokenizer.ggml.pre; implemented: %s)",
			 qn_property_json(r->arena, p), qn_buf_str(&known));
}

/* ---- texts ---- */

/* The byte that a letter of GPT-2 stands for: printable ones for themselves, the others in order from U+0100 on; -1: none. */
static int
byte_of_letter(uint32_t c)
{
	if ((c >= '!' && c <= '~') || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff))
		return (int)c;
	if (c >= 0x100 && c <= 0x120)
		return (int)(c - 0x100);
	if (c > 0x120 && c <= 0x142)
		return (int)(c - 0x121 + 0x7f);
	return c == 0x143 ? 0xad : -1;
}

/* The bytes that letters stand for; -1: one stands for none. */
static int32_t
put_letters(const uint8_t *s, size_t n, uint8_t *to)
{
	int32_t length = 0;

	for (size_t k = 0; k < n; k++) {
		uint32_t c = s[k];

		if (c >= 0x80) {
			if (c < 0xc2 || c > 0xdf || k + 1 == n || (s[k + 1] & 0xc0) != 0x80)
				return -1;
			c = (c & 0x1f) << 6 | (s[++k] & 0x3fU);
		}
		const int b = byte_of_letter(c);
		if (b < 0)
			return -1;
		to[length++] = (uint8_t)b;
	}
	return length;
}

static int32_t
put_text(qn_vocabulary_reader *r, int32_t i, const uint8_t *s, size_t n, uint8_t *to)
{
	const int32_t type = r->type[i];
	const int32_t length = type == QN_TOKEN_TEXT ? put_letters(s, n, to) : -1;

	if (length >= 0)
		return length;
	if (type != QN_TOKEN_TEXT && type != QN_TOKEN_USER)
		return 0;
	if (type == QN_TOKEN_TEXT)
		r->type[i] = NOT_TEXT;
	memcpy(to, s, n);
	return (int32_t)n;
}

/* The token of n bytes; -1: there is none. */
static int32_t
find(const qn_vocabulary_reader *r, const uint8_t *text, int32_t n)
{
	int32_t low = 0, high = r->out->pieces;

	while (low < high) {
		const int32_t i = low + (high - low) / 2, t = r->out->order[i];
		const int32_t length = r->at[t + 1] - r->at[t];
		const int c = memcmp(text, r->text + r->at[t], (size_t)(n < length ? n : length));

		if (c == 0 && n == length)
			return t;
		if (c < 0 || (c == 0 && n < length))
			high = i;
		else
			low = i + 1;
	}
	return -1;
}

/* ---- merges ---- */

/* The texts of both parts at `to`, 2 * longest bytes; the token that they make; -1: they are not tokens that make one. */
static int32_t
join(const qn_vocabulary_reader *r, const uint8_t *s, size_t n, uint8_t *to, int32_t *left)
{
	const uint8_t *space = n > 0 ? memchr(s, ' ', n) : NULL;

	/* Two bytes are a letter, and the token has both parts. */
	if (space == NULL || n > 2 * (size_t)r->out->longest + 1)
		return -1;
	*left = put_letters(s, (size_t)(space - s), to);
	if (*left < 1)
		return -1;
	const int32_t right = put_letters(space + 1, (size_t)(s + n - space) - 1, to + *left);
	if (right < 1 || find(r, to, *left) < 0 || find(r, to + *left, right) < 0)
		return -1;
	return find(r, to, *left + right);
}

static int
by_token(const void *a, const void *b)
{
	const merge_row *x = a, *y = b;

	if (x->token != y->token)
		return x->token < y->token ? -1 : 1;
	if (x->left != y->left)
		return x->left < y->left ? -1 : 1;
	return x->rank < y->rank ? -1 : 1;
}

static qn_status
wrong_merge(const qn_vocabulary_reader *r, int32_t i, const uint8_t *s, size_t n)
{
	enum { MOST_SHOWN = 80 };
	const qn_property text = qn_property_of_string(r->arena, "", (const char *)s,
						       n < MOST_SHOWN ? n : MOST_SHOWN);

	return qn_report(r->arena->env, QN_EINVALID, "tokenizer.merge", r->d->place,
			 "merge %d is %s (expected two tokens that make a third one, with a space "
			 "between them)",
			 (int)i, qn_property_json(r->arena, &text));
}

static qn_status
read_merges(const qn_vocabulary_reader *r, merge_row **out, int32_t *n)
{
	const qn_property *p;
	const uint8_t *at, *s;
	size_t left, length;

	QN_TRY(qn_vocabulary_need(r, "tokenizer.ggml.merges", true, &p));
	if ((p->type != QN_VALUE_STRING && p->n > 0) || p->n > QN_MOST_MERGES ||
	    p->n > p->bytes / 8)
		return qn_report(r->arena->env, QN_EINVALID, "tokenizer.size", r->d->place,
				 "property '%s' has %llu elements of %s (expected at most %d of "
				 "string)",
				 p->key, (unsigned long long)p->n, qn_value_name(p->type),
				 QN_MOST_MERGES);
	*n = (int32_t)p->n;
	*out = QN_NEW(r->arena, merge_row, (size_t)*n + 1);
	uint8_t *text = QN_NEW(r->arena, uint8_t, 2 * (size_t)r->out->longest + 2);
	at = p->data;
	left = p->bytes;
	for (int32_t i = 0; i < *n; i++) {
		merge_row *row = &(*out)[i];

		if (!qn_vocabulary_string(&at, &left, &s, &length))
			return qn_report(r->arena->env, QN_EINVALID, "tokenizer.size", r->d->place,
					 "merge %d is cut off", (int)i);
		row->rank = i;
		row->token = join(r, s, length, text, &row->left);
		if (row->token < 0)
			return wrong_merge(r, i, s, length);
	}
	return QN_OK;
}

/* rank and merge: the rows of each token, each pair once. */
static void
set_merges(qn_vocabulary_reader *r, merge_row *rows, int32_t n)
{
	int32_t *rank = QN_NEW(r->arena, int32_t, (size_t)r->n);
	int32_t *merge = QN_NEW(r->arena, int32_t, 2 * ((size_t)n + 1)), count = 1;

	qsort(rows, (size_t)n, sizeof *rows, by_token);
	for (int32_t i = 0; i < n; i++) {
		const merge_row *x = &rows[i], *last = i > 0 ? &rows[i - 1] : NULL;
		const bool same = last != NULL && last->token == x->token;

		if (same && last->left == x->left)
			continue;
		if (same)
			merge[2 * count - 2]++;
		else
			rank[x->token] = count;
		merge[2 * count] = 2 * x->left;
		merge[2 * count + 1] = x->rank;
		count++;
	}
	qn_vocabulary_user(r, rank);
	r->out->rank = rank;
	r->out->merge = merge;
	r->out->merges = count;
}

qn_status
qn_vocabulary_bpe(qn_vocabulary_reader *r, const qn_property *tokens)
{
	merge_row *rows = NULL;
	int32_t n = 0;

	QN_TRY(read_pre(r));
	QN_TRY(qn_vocabulary_texts(r, tokens, put_text));
	qn_vocabulary_order(r, true);
	QN_TRY(read_merges(r, &rows, &n));
	set_merges(r, rows, n);
	r->out->bpe = true;
	return QN_OK;
}
