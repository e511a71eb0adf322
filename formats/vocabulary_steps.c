/* SPDX-License-Identifier: Apache-2.0 */
/* vocabulary_steps.c - see vocabulary_steps.h.
 *
 *   {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": true}, {"type": "ByteLevel", …}]}
 *
 * Each part is one step, a sequence of them, or null.  A step that Quern does not know would give other tokens, so it is an
 * error.  NFC is left out: text that is not composed is rare, and llama.cpp leaves it out, too. */
#include "formats/vocabulary_steps.h"

#include <string.h>

#include "ir/diag.h"

/* Regular expressions that split words before bytes become letters. */
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|"
#define OTHERS "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d"
#define GPT2_WORDS "| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"

static const struct {
	const char *regex;
	const char *pre,
		*whole; /* whole: with ignore_merges, words that are tokens are not merged */
} splits[] = {
	{CONTRACTIONS "\\p{N}{1,3}" OTHERS, "dbrx", "llama-bpe"},
	{CONTRACTIONS "\\p{N}" OTHERS, "qwen2", NULL},
	{GPT2 GPT2_WORDS, "gpt-2", NULL},
	{"(?:" GPT2 ")" GPT2_WORDS, "gpt-2", NULL},
};
enum { SPLITS = sizeof splits / sizeof splits[0], MOST_STEPS = 16 };

static const char space_mark[] = "\xe2\x96\x81"; /* U+2581 */

typedef struct steps_reader {
	const qn_json_doc *doc;
	const qn_json *step[MOST_STEPS]; /* of the part that is read */
	size_t n;
} steps_reader;

static const qn_json *
member(const qn_json *v, const char *key)
{
	return v != NULL ? qn_json_find(v, key) : NULL;
}

static qn_status
refuse(const steps_reader *r, const qn_json *v, const char *id, const char *known)
{
	v = v != NULL ? v : r->doc->root; /* a part is missing */
	return qn_report(r->doc->env, QN_EUNSUPPORTED, id, qn_json_place(r->doc, r->doc->arena, v),
			 "%s is not implemented (implemented: %s); a GGUF file made of the folder "
			 "by llama.cpp may have the tokens",
			 qn_json_describe(r->doc->arena, v), known);
}

static bool
is_true(const qn_json *v, const char *key, bool otherwise)
{
	const qn_json *flag = member(v, key);

	return flag != NULL && flag->kind == QN_JSON_BOOL ? flag->truth : otherwise;
}

static bool
is(const qn_json *v, const char *key, const char *text)
{
	const qn_json *s = member(v, key);

	return s != NULL && s->kind == QN_JSON_STRING && strcmp(s->string, text) == 0;
}

/* The steps of a part, sequences in sequences as one. */
static qn_status
collect(steps_reader *r, const qn_json *v, const char *list)
{
	const qn_json *all = is(v, "type", "Sequence") ? member(v, list) : NULL;

	if (v == NULL || v->kind == QN_JSON_NULL)
		return QN_OK;
	if (all == NULL) {
		if (r->n == MOST_STEPS || v->kind != QN_JSON_OBJECT)
			return refuse(r, v, "tokenizer.step", "up to 16 steps");
		r->step[r->n++] = v;
		return QN_OK;
	}
	for (size_t i = 0; all->kind == QN_JSON_ARRAY && i < all->n; i++)
		QN_TRY(collect(r, &all->child[i], list));
	return QN_OK;
}

static qn_status
part(steps_reader *r, const char *key, const char *list)
{
	r->n = 0;
	return collect(r, member(r->doc->root, key), list);
}

/* "pattern": {"String": " "} or {"Regex": "\\s+"}. */
static const char *
pattern(const qn_json *v, const char *kind)
{
	const qn_json *s = member(member(v, "pattern"), kind);

	return s != NULL && s->kind == QN_JSON_STRING ? s->string : "";
}

/* ---- before words are split ---- */

static qn_status
read_normalizers(steps_reader *r, bool byte_level, qn_vocabulary_steps *out)
{
	QN_TRY(part(r, "normalizer", "normalizers"));
	for (size_t i = 0; i < r->n; i++) {
		const qn_json *v = r->step[i];
		const bool prepends = is(v, "type", "Prepend") && is(v, "prepend", space_mark);
		const bool replaces = is(v, "type", "Replace") && is(v, "content", space_mark) &&
				      strcmp(pattern(v, "String"), " ") == 0;

		if (is(v, "type", "NFC"))
			continue;
		if (byte_level || (!prepends && !replaces))
			return refuse(r, member(v, "type") != NULL ? member(v, "type") : v,
				      "tokenizer.step",
				      byte_level ? "NFC"
						 : "NFC, a space before a text, spaces as U+2581");
		out->prefix = out->prefix || prepends;
		out->once = out->once && !prepends;
	}
	return QN_OK;
}

/* ---- words ---- */

static qn_status
read_byte_level(steps_reader *r, const qn_json *model, qn_vocabulary_steps *out)
{
	const bool whole = is_true(model, "ignore_merges", false);
	bool digits = false;

	for (size_t i = 0; i < r->n; i++) {
		const qn_json *v = r->step[i], *type = member(v, "type");

		if (is(v, "type", "Digits") && is_true(v, "individual_digits", false)) {
			digits = true;
		} else if (is(v, "type", "Split") && out->pre == NULL) {
			const char *regex = pattern(v, "Regex");
			size_t k = 0;

			while (k < SPLITS && strcmp(regex, splits[k].regex) != 0)
				k++;
			if (k == SPLITS || !is(v, "behavior", "Isolated") ||
			    is_true(v, "invert", false) || (whole && splits[k].whole == NULL))
				return refuse(r, member(v, "pattern"), "tokenizer.pre",
					      "the expressions of GPT-2, Llama 3 and Qwen 2");
			out->pre = whole ? splits[k].whole : splits[k].pre;
		} else if (is(v, "type", "ByteLevel") && !is_true(v, "add_prefix_space", true)) {
			if (is_true(v, "use_regex", true) && out->pre != NULL &&
			    strcmp(out->pre, "gpt-2") != 0)
				return refuse(r, v, "tokenizer.pre",
					      "ByteLevel with use_regex false after Split");
			if (is_true(v, "use_regex", true))
				out->pre = "gpt-2";
		} else {
			return refuse(
				r, type != NULL ? type : v, "tokenizer.pre",
				"Split, Digits for each digit, ByteLevel without a space before "
				"the text");
		}
	}
	if (out->pre == NULL || (digits && strcmp(out->pre, "gpt-2") != 0) || (whole && digits))
		return refuse(r, member(r->doc->root, "pre_tokenizer"), "tokenizer.pre",
			      "one expression, or Digits and ByteLevel");
	out->pre = digits ? "starcoder" : out->pre;
	return QN_OK;
}

/* Words of vocabularies with byte fallback: spaces belong to what follows. */
static qn_status
read_marks(steps_reader *r, qn_vocabulary_steps *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const qn_json *v = r->step[i], *type = member(v, "type");

		if (is(v, "type", "Metaspace") &&
		    (member(v, "replacement") == NULL || is(v, "replacement", space_mark))) {
			const qn_json *scheme = member(v, "prepend_scheme");

			out->prefix = scheme != NULL ? !is(v, "prepend_scheme", "never")
						     : is_true(v, "add_prefix_space", true);
			out->once = is(v, "prepend_scheme", "first");
			continue;
		}
		if (is(v, "type", "Split") && strcmp(pattern(v, "String"), " ") == 0 &&
		    is(v, "behavior", "MergedWithPrevious"))
			continue; /* spaces are U+2581 by then */
		return refuse(r, type != NULL ? type : v, "tokenizer.pre", "Metaspace");
	}
	return QN_OK;
}

static bool
has(const steps_reader *r, const char *type)
{
	for (size_t i = 0; i < r->n; i++)
		if (is(r->step[i], "type", type))
			return true;
	return false;
}

/* A text that is not empty. */
static bool
there(const qn_json *v)
{
	return v != NULL && (v->kind != QN_JSON_STRING || v->string[0] != '\0') &&
	       v->kind != QN_JSON_NULL;
}

qn_status
qn_vocabulary_read_steps(const qn_json_doc *doc, const qn_json *model, qn_vocabulary_steps *out)
{
	static const char *const ends[] = {"continuing_subword_prefix", "end_of_word_suffix"};
	steps_reader r = {.doc = doc};
	const qn_json *type = member(model, "type");

	*out = (qn_vocabulary_steps){0};
	if (type != NULL && !is(model, "type", "BPE"))
		return refuse(&r, type, "tokenizer.model", "BPE");
	for (size_t i = 0; i < QN_COUNT(ends); i++)
		if (there(member(model, ends[i])))
			return refuse(&r, member(model, ends[i]), "tokenizer.model",
				      "BPE whose tokens do not tell where a word begins or ends");
	QN_TRY(part(&r, "pre_tokenizer", "pretokenizers"));
	const bool byte_level = has(&r, "ByteLevel");
	if (!byte_level && !is_true(model, "byte_fallback", false))
		return refuse(&r, model, "tokenizer.model", "BPE of bytes, or with byte_fallback");
	QN_TRY(byte_level ? read_byte_level(&r, model, out) : read_marks(&r, out));
	return read_normalizers(&r, byte_level, out);
}

/* ---- around a text ---- */

qn_status
qn_vocabulary_template(const qn_json_doc *doc, const char **begin)
{
	steps_reader r = {.doc = doc};

	*begin = NULL;
	QN_TRY(part(&r, "post_processor", "processors"));
	for (size_t i = 0; i < r.n; i++) {
		const qn_json *v = r.step[i], *list = member(v, "single");

		if (is(v, "type", "ByteLevel"))
			continue;
		if (!is(v, "type", "TemplateProcessing") || list == NULL ||
		    list->kind != QN_JSON_ARRAY)
			return refuse(&r, member(v, "type"), "tokenizer.step",
				      "ByteLevel, TemplateProcessing");
		for (size_t k = 0; k < list->n; k++) {
			const qn_json *token = member(&list->child[k], "SpecialToken");
			const qn_json *id = member(token, "id");

			if (token == NULL)
				continue;
			if (k != 0 || id == NULL || id->kind != QN_JSON_STRING)
				return refuse(&r, &list->child[k], "tokenizer.step",
					      "one token before a text");
			*begin = id->string;
		}
	}
	return QN_OK;
}
