/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of byte-level BPE: what llama.cpp makes of some texts, for each way of splitting words; bytes of any kind there and
 * back; long words. */
#include "tests/unit/tokens_bpe_rig.h"

#include <stdlib.h>

/* Recorded from llama.cpp (node-llama-cpp 3.22), without the token before a text. */
static const struct {
	const char *pre, *text;
	int32_t token[32];
} recorded[] = {
	{"default gpt-2 smollm qwen2 llama-bpe", "the thin then", {257, 32, 259, 261, 258, 110}},
	{"default gpt-2 smollm qwen2 llama-bpe", "abc  abcabc", {274, 32, 32, 274, 274}},
	{"default", "it's IT'S he'll HE'LL 's", {105, 116, 39, 115, 32, 73, 84, 39, 83, 32, 256,
						 39,  299, 32, 72,  69, 39, 76, 76, 32, 39, 115}},
	{"gpt-2 smollm", "it's IT'S he'll HE'LL 's", {105, 116, 267, 32, 73, 84, 39, 83, 32, 256,
						      270, 32,  72,  69, 39, 76, 76, 32, 39, 115}},
	{"qwen2 llama-bpe",
	 "it's IT'S he'll HE'LL 's",
	 {105, 116, 267, 32, 73, 84, 268, 32, 256, 270, 32, 72, 69, 271, 76, 32, 39, 115}},
	{"default gpt-2 smollm qwen2 llama-bpe",
	 "  in   the\n\n  x \n y",
	 {32, 32, 261, 262, 258, 264, 32, 32, 120, 265, 32, 121}},
	{"default llama-bpe", "1234 12345 a1", {276, 52, 32, 276, 52, 53, 32, 97, 49}},
	{"gpt-2", "1234 12345 a1", {278, 32, 278, 53, 32, 97, 49}},
	{"smollm qwen2", "1234 12345 a1", {49, 50, 51, 52, 32, 49, 50, 51, 52, 53, 32, 97, 49}},
	{"default gpt-2 smollm qwen2 llama-bpe", "café été П П", {282, 284, 116, 280, 293, 293}},
	{"default gpt-2 smollm",
	 "..a!! !!\n\nx .\r\n\r\n",
	 {285, 97, 287, 32, 287, 10, 10, 120, 32, 46, 266, 266}},
	{"qwen2 llama-bpe",
	 "..a!! !!\n\nx .\r\n\r\n",
	 {285, 97, 287, 32, 287, 264, 120, 32, 46, 266, 266}},
	{"default gpt-2 smollm qwen2 llama-bpe",
	 "<tool>in</tool> naïve<|end|>",
	 {303, 261, 60, 47, 116, 111, 111, 108, 62, 32, 304, 60, 124, 101, 110, 100, 124, 62}},
	{"default gpt-2 smollm qwen2",
	 "xyz hello wxyz",
	 {120, 121, 122, 32, 256, 299, 111, 32, 119, 120, 121, 122}},
	{"llama-bpe", "xyz hello wxyz", {300, 301, 32, 119, 120, 121, 122}},
	{"default gpt-2 smollm",
	 "_a a_a\xc2\xa0"
	 "the",
	 {95, 97, 32, 97, 95, 97, 194, 160, 257}},
	{"qwen2 llama-bpe",
	 "_a a_a\xc2\xa0"
	 "the",
	 {289, 32, 97, 289, 194, 160, 257}},
	{"default gpt-2 smollm qwen2 llama-bpe",
	 "é ́e ٣٤ ½",
	 {101, 295, 32, 295, 101, 32, 217, 163, 217, 164, 32, 194, 189}},
	{"default gpt-2 smollm qwen2 llama-bpe", " \t the\t\tthe", {32, 9, 258, 9, 9, 257}},
	{"default gpt-2 llama-bpe",
	 "$1 $12,$ ``a`",
	 {36, 49, 32, 36, 275, 44, 36, 32, 297, 97, 96}},
	{"smollm qwen2", "$1 $12,$ ``a`", {36, 49, 32, 36, 49, 50, 44, 36, 32, 297, 97, 96}},
	{"default gpt-2 smollm qwen2 llama-bpe", "    ", {263}},
	{"default", "Se's.Se", {298, 39, 115, 46, 298}},
	{"gpt-2 smollm qwen2 llama-bpe", "Se's.Se", {298, 267, 46, 298}},
};

/* The tokens of a text are those of an array that ends with 0. */
static void
check(qn_archive *x, const char *text, const int32_t *want)
{
	qn_array *got;
	int64_t n = 0;

	while (want[n] != 0)
		n++;
	assert_int_equal(qn_tokens_encode(x, text, strlen(text), &got), QN_OK);
	const int32_t *token = qn_array_data(got);
	const int64_t begin = n > 0 && token[0] == BPE_END ? 1 : 0;
	if (qn_array_dim(got, 0) - begin != n ||
	    memcmp(token + begin, want, (size_t)n * sizeof *want) != 0)
		fail_msg("'%s': %lld tokens, expected %lld", text,
			 (long long)(qn_array_dim(got, 0) - begin), (long long)n);
	qn_array_free(got);
}

static void
recorded_tokens(void **state)
{
	static const char *const pre[] = {"default", "gpt-2", "smollm", "qwen2", "llama-bpe"};

	(void)state;
	skip_without_classes();
	for (size_t i = 0; i < COUNT(pre); i++) {
		qn_archive *x = make_bpe(pre[i]);

		for (size_t k = 0; k < COUNT(recorded); k++) {
			const char *at = strstr(recorded[k].pre, pre[i]);

			if (at != NULL && (at == recorded[k].pre || at[-1] == ' '))
				check(x, recorded[k].text, recorded[k].token);
		}
		qn_archive_free(x);
	}
}

/* Whether a text begins with a token: as llama.cpp does where the file says nothing. */
static void
begin_and_end(void **state)
{
	static const struct {
		const char *pre, *add;
		int32_t begin;
	} row[] = {
		{"gpt-2", NULL, -1},          {"qwen2", NULL, -1},
		{"llama-bpe", NULL, BPE_END}, {"llama-bpe", "false", -1},
		{"qwen2", "true", BPE_END},
	};

	(void)state;
	skip_without_classes();
	for (size_t i = 0; i < COUNT(row); i++) {
		qn_archive *x = make_bpe(row[i].pre);
		qn_tokens_info info;

		if (row[i].add != NULL)
			set(x, "tokenizer.ggml.add_bos_token", row[i].add);
		assert_int_equal(qn_tokens_describe(x, &info), QN_OK);
		assert_int_equal(info.tokens, BPE_TOKENS);
		assert_int_equal(info.begin, row[i].begin);
		assert_int_equal(info.end, BPE_END);
		qn_archive_free(x);
	}
}

typedef struct collected {
	char text[512];
	size_t n;
} collected;

static int
collect(void *user, const char *text, size_t n)
{
	collected *c = user;

	memcpy(c->text + c->n, text, n);
	c->n += n;
	return 0;
}

/* Any bytes come back: cut characters, bytes that no UTF-8 has, zeros. */
static void
any_bytes(void **state)
{
	static const char *const pre[] = {"default", "gpt-2", "smollm", "qwen2", "llama-bpe"};
	static const char often[] = " \n\r\t'sSe1.\xc3\xa9\xe2\x80\xa8\xf0\x9f\xff\xc0\xed\xa0";
	uint32_t seed = 1;

	(void)state;
	skip_without_classes();
	for (size_t i = 0; i < COUNT(pre); i++) {
		qn_archive *x = make_bpe(pre[i]);

		for (size_t k = 0; k < 400; k++) {
			char text[512];
			collected back = {.n = 0};
			qn_array *a;
			const size_t n = k % 200;

			for (size_t j = 0; j < n; j++) {
				seed = seed * 1664525U + 1013904223U;
				text[j] = k % 2 != 0 ? (char)(seed >> 24)
						     : often[(seed >> 16) % (sizeof often - 1)];
			}
			assert_int_equal(qn_tokens_encode(x, text, n, &a), QN_OK);
			assert_int_equal(qn_tokens_decode(x, a, collect, &back), QN_OK);
			assert_int_equal(back.n, n);
			assert_memory_equal(back.text, text, n);
			qn_array_free(a);
		}
		qn_archive_free(x);
	}
}

/* A word of 1 MB ends in a moment. */
static void
long_word(void **state)
{
	enum { TIMES = 250000 };
	qn_array *a;

	(void)state;
	skip_without_classes();
	qn_archive *x = make_bpe("llama-bpe");
	char *text = malloc(4 * (size_t)TIMES);
	for (size_t i = 0; i < TIMES; i++)
		memcpy(text + 4 * i, "abcx", 4);
	assert_int_equal(qn_tokens_encode(x, text, 4 * (size_t)TIMES, &a), QN_OK);
	assert_int_equal(qn_array_dim(a, 0), 1 + 2 * TIMES);
	qn_array_free(a);
	free(text);
	qn_archive_free(x);
}

/* A text that is there twice is the first token, or the user-defined one; a token of other letters has its text; a byte
 * without a token is left out. */
static void
odd_tokens(void **state)
{
	static const int32_t want[] = {4, 6, 2, 0}, all[] = {1, 2, 3, 4, 5, 6, 7};
	const int64_t shape[1] = {COUNT(all)};
	collected back = {.n = 0};
	qn_array *a;

	(void)state;
	skip_without_classes();
	qn_archive *x = make_bpe("gpt-2");
	set(x, "tokenizer.ggml.tokens",
	    "[\"a\", \"b\", \"ab\", \"ab\", \"Ġ\", \"☃\", \"Ġ\", \"日b\"]");
	set(x, "tokenizer.ggml.token_type", "[1, 1, 1, 1, 4, 1, 1, 1]");
	set(x, "tokenizer.ggml.merges", "[\"a b\", \"a b\"]");
	set(x, "tokenizer.ggml.bos_token_id", "4294967295");
	set(x, "tokenizer.ggml.eos_token_id", "1");
	check(x, "Ġ ☃ab", want + 0);
	assert_int_equal(qn_array_new(ctx, "i32", 1, shape, all, &a), QN_OK);
	assert_int_equal(qn_tokens_decode(x, a, collect, &back), QN_OK);
	assert_int_equal(back.n, strlen("bababĠ☃ 日b"));
	assert_memory_equal(back.text, "bababĠ☃ 日b", back.n);
	qn_array_free(a);
	qn_archive_free(x);
}

/* ---- merges in any order, against those of a plain list of strings ---- */

typedef struct plain {
	char merge[64][8]; /* "a ba" */
	int n;
} plain;

static int
plain_rank(const plain *p, const char *text, size_t left, size_t right)
{
	char pair[16];

	(void)sprintf(pair, "%.*s %.*s", (int)left, text, (int)right, text + left);
	for (int i = 0; i < p->n; i++)
		if (strcmp(p->merge[i], pair) == 0)
			return i;
	return p->n;
}

/* Lengths of the parts of a word; their number. */
static size_t
plain_parts(const plain *p, const char *word, size_t *length)
{
	size_t n = strlen(word);

	for (size_t i = 0; i < n; i++)
		length[i] = 1;
	for (;;) {
		size_t best = n, at = 0;
		int least = p->n;

		for (size_t i = 0; i + 1 < n; at += length[i++]) {
			if (length[i] + length[i + 1] > 4)
				continue;
			const int rank = plain_rank(p, word + at, length[i], length[i + 1]);
			if (rank < least) {
				least = rank;
				best = i;
			}
		}
		if (best == n)
			return n;
		length[best] += length[best + 1];
		n--;
		memmove(&length[best + 1], &length[best + 2], (n - best - 1) * sizeof *length);
	}
}

/* The tokens are all texts of 1 to 4 letters a and b: a 1 and the letters are the bits of text t + 2. */
static void
put_token(char *to, int t)
{
	int bits = 0;

	while ((t + 2) >> (bits + 1) != 0)
		bits++;
	for (int i = bits - 1; i >= 0; i--)
		*to++ = (t + 2) >> i & 1 ? 'b' : 'a';
	*to = '\0';
}

static qn_archive *
make_letters(plain *p, uint32_t *seed)
{
	char tokens[512] = "[", list[1024] = "[", text[8], *end;
	qn_archive *x;

	p->n = 0;
	for (int t = 0; t < 30; t++) {
		put_token(text, t);
		(void)sprintf(tokens + strlen(tokens), "%s\"%s\"", t > 0 ? "," : "", text);
		for (size_t left = 1; left < strlen(text); left++) {
			*seed = *seed * 1664525U + 1013904223U;
			if (*seed >> 30 == 0) /* in a random place, or not at all */
				continue;
			const size_t at = (*seed >> 8) % (size_t)(p->n + 1);
			memmove(p->merge[at + 1], p->merge[at], ((size_t)p->n - at) * 8);
			(void)sprintf(p->merge[at], "%.*s %s", (int)left, text, text + left);
			p->n += p->n < 62;
		}
	}
	end = list + 1;
	for (int i = 0; i < p->n; i++)
		end += sprintf(end, "%s\"%s\"", i > 0 ? "," : "", p->merge[i]);
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	set(x, "tokenizer.ggml.model", "\"gpt2\"");
	set(x, "tokenizer.ggml.tokens", strcat(tokens, "]"));
	set(x, "tokenizer.ggml.merges", strcat(list, "]"));
	return x;
}

static void
merges_in_any_order(void **state)
{
	uint32_t seed = 1;
	plain p;

	(void)state;
	skip_without_classes();
	for (int i = 0; i < 100; i++) {
		qn_archive *x = make_letters(&p, &seed);

		for (size_t k = 1; k < 40; k++) {
			char word[64] = "", text[8];
			size_t length[64], at = 0;
			qn_array *got;

			for (size_t j = 0; j < k; j++) {
				seed = seed * 1664525U + 1013904223U;
				word[j] = seed >> 31 ? 'b' : 'a';
			}
			const size_t n = plain_parts(&p, word, length);
			assert_int_equal(qn_tokens_encode(x, word, k, &got), QN_OK);
			assert_int_equal(qn_array_dim(got, 0), n);
			for (size_t j = 0; j < n; at += length[j++]) {
				put_token(text, ((const int32_t *)qn_array_data(got))[j]);
				assert_int_equal(strlen(text), length[j]);
				assert_memory_equal(text, word + at, length[j]);
			}
			qn_array_free(got);
		}
		qn_archive_free(x);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_tokens), cmocka_unit_test(begin_and_end),
		cmocka_unit_test(any_bytes),       cmocka_unit_test(long_word),
		cmocka_unit_test(odd_tokens),      cmocka_unit_test(merges_in_any_order),
	};

	return cmocka_run_group_tests(tests, open_context, close_context);
}
