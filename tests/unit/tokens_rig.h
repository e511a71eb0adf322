/* SPDX-License-Identifier: Apache-2.0 */
/* tokens_rig.h - for tests of tokens of a language model: a vocabulary in an archive. */
#ifndef TESTS_UNIT_TOKENS_RIG_H
#define TESTS_UNIT_TOKENS_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "quern/tokens.h"

#define COUNT(x) (sizeof(x) / sizeof((x)[0]))

/* 0 to 2: unknown, begin, end; the bytes of a, é and \n; then pieces. */
static const struct {
	const char *text;
	int type;
	int score;
} vocabulary[] = {
	{"<unk>", 2, 0},  {"<s>", 3, 0},    {"</s>", 3, 0},  {"<0x61>", 6, 0}, {"<0xC3>", 6, 0},
	{"<0xA9>", 6, 0}, {"<0x0A>", 6, 0}, {"▁", 1, -20},   {"a", 1, -21},    {"b", 1, -22},
	{"c", 1, -23},    {"ab", 1, -1},    {"bc", 1, -1},   {"abc", 1, -3},   {"▁a", 1, -2},
	{"▁ab", 1, -5},   {"aa", 1, -4},    {"aaaa", 1, -6}, {"▁▁", 1, -7},    {"ca", 1, -3},
	{"ab", 1, -30},   {"s>", 1, -8},    {"<", 1, -24},   {"s", 1, -25},    {">", 1, -26},
	{"<s", 1, -9},    {"cab", 4, 0},    {"ba", 4, -50},  {"babb", 4, 0},
};
enum { N = COUNT(vocabulary), TWICE = 20 };

static qn_ctx *ctx;

static inline void
set(qn_archive *x, const char *key, const char *json)
{
	assert_int_equal(qn_archive_set_property(x, key, json), QN_OK);
}

static inline qn_archive *
make(void)
{
	char tokens[2048] = "[", scores[512] = "[", types[512] = "[";
	qn_archive *x;

	for (size_t i = 0; i < N; i++) {
		const char *end = i + 1 < N ? "," : "]";

		(void)sprintf(tokens + strlen(tokens), "\"%s\"%s", vocabulary[i].text, end);
		(void)sprintf(scores + strlen(scores), "%d.5%s", vocabulary[i].score, end);
		(void)sprintf(types + strlen(types), "%d%s", vocabulary[i].type, end);
	}
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	set(x, "tokenizer.ggml.model", "\"llama\"");
	set(x, "tokenizer.ggml.tokens", tokens);
	set(x, "tokenizer.ggml.scores", scores);
	set(x, "tokenizer.ggml.token_type", types);
	set(x, "tokenizer.ggml.bos_token_id", "1");
	set(x, "tokenizer.ggml.eos_token_id", "2");
	set(x, "tokenizer.ggml.unknown_token_id", "0");
	return x;
}

static inline int
open_context(void **state)
{
	(void)state;
	ctx = qn_open(NULL);
	return ctx == NULL;
}

static inline int
close_context(void **state)
{
	(void)state;
	qn_close(ctx);
	return 0;
}

static inline int
append(void *user, const char *text, size_t n)
{
	strncat(user, text, n);
	return 0;
}

#endif
