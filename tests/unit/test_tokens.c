/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of a language model: a vocabulary in an archive, text to tokens and back, against merges written down plainly
 * here - all parts as strings, scores as numbers - on random texts. */
#include "tests/unit/tokens_rig.h"

#include <stdbool.h>
#include <stdlib.h>

/* ---- the plain computation ---- */

/* Bytes of the longest user-defined piece that a text begins with; 0: none. */
static size_t
plain_user(const char *s)
{
	size_t longest = 0;

	for (int i = 0; i < (int)N; i++) {
		const size_t n = strlen(vocabulary[i].text);

		if (vocabulary[i].type == 4 && n > longest &&
		    strncmp(vocabulary[i].text, s, n) == 0)
			longest = n;
	}
	return longest;
}

/* The token of a text with ▁ for spaces; the first of equal ones, and none that is not text. */
static int
plain_find(const char *s, size_t n)
{
	for (int i = 0; i < (int)N; i++)
		if ((vocabulary[i].type == 1 || vocabulary[i].type == 4) &&
		    strlen(vocabulary[i].text) == n && memcmp(vocabulary[i].text, s, n) == 0)
			return i;
	return -1;
}

static int
plain_byte(unsigned char c)
{
	char name[8];

	(void)sprintf(name, "<0x%02X>", c);
	for (int i = 0; i < (int)N; i++)
		if (vocabulary[i].type == 6 && strcmp(vocabulary[i].text, name) == 0)
			return i;
	return 0;
}

/* The tokens of a text without a user-defined piece, a space before it. */
static size_t
plain_section(const char *text, size_t bytes, int32_t *out)
{
	char all[1024] = "▁";
	const char *part[1024];
	size_t length[1024], n = 0, count = 0;

	for (const char *p = text; p < text + bytes; p++)
		(void)sprintf(all + strlen(all), "%s", *p == ' ' ? "▁" : (char[]){*p, '\0'});
	for (const char *p = all; *p != '\0'; p += length[n++]) {
		part[n] = p;
		for (length[n] = 1; ((unsigned char)p[length[n]] & 0xc0) == 0x80;)
			length[n]++;
	}
	for (;;) {
		size_t best = n;

		for (size_t i = 0; i + 1 < n; i++) {
			const int t = plain_find(part[i], length[i] + length[i + 1]);
			const int b =
				best < n ? plain_find(part[best], length[best] + length[best + 1])
					 : -1;

			if (t >= 0 && (b < 0 || vocabulary[t].score > vocabulary[b].score))
				best = i;
		}
		if (best == n)
			break;
		length[best] += length[best + 1];
		n--;
		memmove(&part[best + 1], &part[best + 2], (n - best - 1) * sizeof *part);
		memmove(&length[best + 1], &length[best + 2], (n - best - 1) * sizeof *length);
	}
	for (size_t i = 0; i < n; i++) {
		const int t = plain_find(part[i], length[i]);

		if (t >= 0)
			out[count++] = t;
		for (size_t k = 0; t < 0 && k < length[i]; k++)
			out[count++] = plain_byte((unsigned char)part[i][k]);
	}
	return count;
}

static size_t
plain_encode(const char *text, int32_t *out)
{
	size_t count = 1;

	out[0] = 1;
	while (*text != '\0') {
		const size_t user = plain_user(text);
		size_t n = 0;

		if (user > 0)
			out[count++] = plain_find(text, user);
		while (user == 0 && text[n] != '\0' && plain_user(text + n) == 0)
			n++;
		if (user == 0)
			count += plain_section(text, n, out + count);
		text += user + n;
	}
	return count;
}

/* ---- tests ---- */

static void
check(qn_archive *x, const char *text)
{
	int32_t want[1024];
	const size_t n = plain_encode(text, want);
	qn_array *got;

	assert_int_equal(qn_tokens_encode(x, text, strlen(text), &got), QN_OK);
	if ((size_t)qn_array_dim(got, 0) != n ||
	    memcmp(qn_array_data(got), want, n * sizeof *want) != 0)
		fail_msg("'%s': %lld tokens, expected %zu", text, (long long)qn_array_dim(got, 0),
			 n);
	qn_array_free(got);
}

/* 3000 texts of letters that merge, spaces, bytes that have tokens and that have none. */
static void
random_texts(void **state)
{
	static const char *const letters[] = {"a", "b", "c",  " ",   "a", "b",
					      "é", "ü", "\n", "<s>", "▁"};
	qn_archive *x = make();
	uint32_t seed = 1;

	(void)state;
	for (int i = 0; i < 3000; i++) {
		char text[256] = "";
		const int n = i % 40;

		for (int k = 0; k < n; k++) {
			seed = seed * 1664525U + 1013904223U;
			strcat(text, letters[(seed >> 16) % (i % 3 == 0 ? 4 : COUNT(letters))]);
		}
		check(x, text);
	}
	qn_archive_free(x);
}

/* A long text without words, which takes a moment: its pieces are those of a short one. */
static void
long_text(void **state)
{
	enum { TIMES = 200000 };
	static const char piece[] = "aaaab";
	const size_t n = sizeof piece - 1;
	char *text = malloc(n * TIMES);
	qn_archive *x = make();
	qn_array *a, *b;

	(void)state;
	for (size_t i = 0; i < TIMES; i++)
		memcpy(text + i * n, piece, n);
	assert_int_equal(qn_tokens_encode(x, text, 20 * n, &a), QN_OK);
	assert_int_equal(qn_tokens_encode(x, text, TIMES * n, &b), QN_OK);
	const int64_t same = qn_array_dim(a, 0) - 3;
	assert_memory_equal(qn_array_data(a), qn_array_data(b), (size_t)same * sizeof(int32_t));
	const int64_t more = qn_array_dim(b, 0) - qn_array_dim(a, 0);
	assert_int_equal(more % (TIMES - 20), 0);
	assert_true(more >= TIMES - 20);
	free(text);
	qn_archive_free(x);
}

/* Equal scores: the first pair; a text that is there twice has its first number; control tokens are not text. */
static void
particular_texts(void **state)
{
	static const struct {
		const char *text;
		int32_t token[8];
	} row[] = {
		{"", {1}},
		{"abc", {1, 7, 13}},
		{"bc", {1, 7, 12}},
		{"aab", {1, 14, 11}},
		{"  ab", {1, 18, 15}},
		{"é\n", {1, 7, 4, 5, 6}},
		{"<s>", {1, 7, 22, 21}},
		{"ü", {1, 7, 4, 0}},
		/* user-defined ba, whatever its score: no ab after it, but a text of its own */
		{"abab", {1, 14, 27, 7, 9}},
		{"bbabb", {1, 7, 9, 28}}, /* the longer one; nothing is merged with it */
		{"ca cab", {1, 7, 19, 7, 26}},
		{"cab ab", {1, 26, 7, 15}}, /* no space before one that begins the text */
		{"cabba", {1, 26, 27}},
		{"▁ab▁", {1, 7, 15, 7}}, /* a space, as it is written in the file */
	};
	qn_archive *x = make();

	(void)state;
	for (size_t i = 0; i < COUNT(row); i++) {
		size_t n = 1;
		qn_array *got;

		while (n < 8 && row[i].token[n] != 0)
			n++;
		n += i == 7; /* ends with the unknown token */
		check(x, row[i].text);
		assert_int_equal(qn_tokens_encode(x, row[i].text, strlen(row[i].text), &got),
				 QN_OK);
		assert_int_equal(qn_array_dim(got, 0), n);
		assert_memory_equal(qn_array_data(got), row[i].token, n * sizeof(int32_t));
		qn_array_free(got);
	}
	qn_archive_free(x);
}

/* Every second byte is a user-defined piece: a space before each of the others. */
static void
most_tokens(void **state)
{
	enum { TIMES = 500 };
	char text[3 * TIMES + 2] = "";
	qn_archive *x = make();
	qn_array *a;

	(void)state;
	for (int i = 0; i < TIMES; i++)
		strcat(text, "xba");
	assert_int_equal(qn_tokens_encode(x, text, strlen(text), &a), QN_OK);
	assert_int_equal(qn_array_dim(a, 0), 1 + 3 * TIMES);
	qn_array_free(a);
	qn_archive_free(x);
}

/* Tokens that the file does not name are those of SentencePiece. */
static void
usual_tokens(void **state)
{
	qn_archive *x;
	qn_tokens_info info;

	(void)state;
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	set(x, "tokenizer.ggml.model", "\"llama\"");
	set(x, "tokenizer.ggml.tokens", "[\"<unk>\", \"<s>\"]");
	set(x, "tokenizer.ggml.scores", "[0.5, 0.5]");
	assert_int_equal(qn_tokens_describe(x, &info), QN_OK);
	assert_int_equal(info.begin, 1);
	assert_int_equal(info.end, -1); /* 2, if there were as many */
	qn_archive_free(x);

	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	set(x, "tokenizer.ggml.model", "\"llama\"");
	set(x, "tokenizer.ggml.tokens", "[\"<unk>\", \"<s>\", \"</s>\"]");
	set(x, "tokenizer.ggml.scores", "[0.5, 0.5, 0.5]");
	set(x, "tokenizer.ggml.add_bos_token", "false");
	assert_int_equal(qn_tokens_describe(x, &info), QN_OK);
	assert_int_equal(info.begin, -1);
	assert_int_equal(info.end, 2);
	qn_archive_free(x);
}

/* What has tokens comes back, the space before it apart. */
static void
there_and_back(void **state)
{
	static const char *const text[] = {"abc ab  caé\n", " a", "", "<s>"};
	qn_archive *x = make();
	qn_tokens_info info;

	(void)state;
	assert_int_equal(qn_tokens_describe(x, &info), QN_OK);
	assert_int_equal(info.tokens, N);
	assert_int_equal(info.begin, 1);
	assert_int_equal(info.end, 2);
	assert_int_equal(info.longest, 4);
	for (size_t i = 0; i < COUNT(text); i++) {
		char back[64] = "";
		qn_array *a;

		assert_int_equal(qn_tokens_encode(x, text[i], strlen(text[i]), &a), QN_OK);
		assert_int_equal(qn_tokens_decode(x, a, append, back), QN_OK);
		assert_string_equal(back, text[i]);
		qn_array_free(a);
	}
	qn_archive_free(x);
}

/* Sequences that each begin with the token before a text are parts of one. */
static void
cut_text(void **state)
{
	static const char text[] = "a ab a abc";
	const int32_t begin = 1;
	qn_archive *x = make();
	qn_array *a, *cut;
	int32_t token[64];

	(void)state;
	assert_int_equal(qn_tokens_encode(x, text, strlen(text), &a), QN_OK);
	const int64_t n = qn_array_dim(a, 0);
	const int32_t *from = qn_array_data(a);
	for (int64_t at = 1; at <= n; at++) { /* token 0 is `begin` already */
		const int64_t shape[2] = {n + 1, 1};
		char back[64] = "";

		memcpy(token, from, (size_t)at * sizeof *token);
		token[at] = begin;
		memcpy(token + at + 1, from + at, (size_t)(n - at) * sizeof *token);
		assert_int_equal(qn_array_new(ctx, "i32", 2, shape, token, &cut), QN_OK);
		assert_int_equal(qn_tokens_decode(x, cut, append, back), QN_OK);
		assert_string_equal(back, text);
		qn_array_free(cut);
	}
	qn_array_free(a);
	qn_archive_free(x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_texts), cmocka_unit_test(particular_texts),
		cmocka_unit_test(long_text),    cmocka_unit_test(there_and_back),
		cmocka_unit_test(cut_text),     cmocka_unit_test(most_tokens),
		cmocka_unit_test(usual_tokens),
	};

	return cmocka_run_group_tests(tests, open_context, close_context);
}
