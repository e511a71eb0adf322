/* SPDX-License-Identifier: Apache-2.0 */
/* tokens_bpe_rig.h - a vocabulary of byte-level BPE in an archive: tokens 0 to 255 are the bytes, then come the results of
 * the merges, then others.  tests/fuzz/corpus/tokens/bpe.gguf has the same tokens. */
#ifndef TESTS_UNIT_TOKENS_BPE_RIG_H
#define TESTS_UNIT_TOKENS_BPE_RIG_H

#include "tests/unit/tokens_rig.h"

/* Ġ is the space, Ċ the newline.  "the" and "abc" are made in two ways. */
static const char *const merges[] = {
	"h e",  "t he", "Ġ the", "t h", "th e",  "Ġ t",  "i n", "Ġ Ġ",  "ĠĠ ĠĠ",  "Ċ Ċ",
	"Ġ Ċ",  "č Ċ",  "' s",   "' S", "' l",   "'l l", "' L", "a b",  "b c",    "a bc",
	"ab c", "1 2",  "12 3",  "3 4", "123 4", "Ġ 1",  "Ã ©", "f Ã©", "ca fÃ©", "c a",
	"Ġ Ã©", ". .",  ". Ċ",   "! !", "Ġ !",   "_ a",  "a Ġ", ". a",  "Ð Ł",    "Ġ ÐŁ",
	"e Ì",  "Ì ģ",  "$ 1",   "` `", "S e",   "l l",
};
static const struct {
	const char *text;
	int type;
} extra_tokens[] = {{"xyz", 1}, {"Ġhello", 1}, {"<|end|>", 3}, {"<tool>", 4}, {"naïve", 4}};
enum { BPE_TOKENS = 305, BPE_END = 302 };

/* GPT-2's letter of a byte as JSON: a byte itself, or the next character from U+0100 on. */
static inline void
put_letter(char *to, int byte, int *more)
{
	const int itself = (byte >= '!' && byte <= '~') || (byte >= 0xa1 && byte != 0xad);

	(void)sprintf(to + strlen(to), "\"\\u%04x\",", itself ? byte : (*more)++);
}

/* Whether an earlier merge makes the same text. */
static inline int
is_made_before(size_t i)
{
	char text[32], earlier[32];
	const char *space = strchr(merges[i], ' ');

	(void)sprintf(text, "%.*s%s", (int)(space - merges[i]), merges[i], space + 1);
	for (size_t k = 0; k < i; k++) {
		space = strchr(merges[k], ' ');
		(void)sprintf(earlier, "%.*s%s", (int)(space - merges[k]), merges[k], space + 1);
		if (strcmp(text, earlier) == 0)
			return 1;
	}
	return 0;
}

static inline qn_archive *
make_bpe(const char *pre)
{
	char tokens[8192] = "[", list[2048] = "[", types[2048] = "[", json[64];
	int more = 0x100, n = 256;
	qn_archive *x;

	for (int byte = 0; byte < 256; byte++)
		put_letter(tokens, byte, &more);
	for (size_t i = 0; i < COUNT(merges); i++) {
		const char *space = strchr(merges[i], ' ');

		(void)sprintf(list + strlen(list), "%s\"%s\"", i > 0 ? "," : "", merges[i]);
		if (is_made_before(i))
			continue;
		(void)sprintf(tokens + strlen(tokens), "\"%.*s%s\",", (int)(space - merges[i]),
			      merges[i], space + 1);
		n++;
	}
	for (int i = 0; i < n; i++)
		strcat(types, "1,");
	for (size_t i = 0; i < COUNT(extra_tokens); i++) {
		const char *end = i + 1 < COUNT(extra_tokens) ? "," : "]";

		(void)sprintf(tokens + strlen(tokens), "\"%s\"%s", extra_tokens[i].text, end);
		(void)sprintf(types + strlen(types), "%d%s", extra_tokens[i].type, end);
	}
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	set(x, "tokenizer.ggml.model", "\"gpt2\"");
	set(x, "tokenizer.ggml.tokens", tokens);
	set(x, "tokenizer.ggml.token_type", types);
	set(x, "tokenizer.ggml.merges", strcat(list, "]"));
	set(x, "tokenizer.ggml.bos_token_id", "302");
	set(x, "tokenizer.ggml.eos_token_id", "302");
	(void)sprintf(json, "\"%s\"", pre);
	set(x, "tokenizer.ggml.pre", json);
	return x;
}

/* Skips the test where Quern was built without the classes of characters. */
static inline void
skip_without_classes(void)
{
	qn_archive *x = make_bpe("gpt-2");
	qn_tokens_info info;
	const qn_status status = qn_tokens_describe(x, &info);

	qn_archive_free(x);
	if (status != QN_EUNSUPPORTED || strcmp(qn_diag_get(ctx, 0).id, "tokenizer.support") != 0)
		return;
	qn_diag_clear(ctx);
	skip();
}

#endif
