/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tokens.c - any bytes as a GGUF file or a tokenizer.json whose vocabulary is read; its own bytes, as a text, become tokens, and what has
 * tokens comes back. */
#include <string.h>

#include "driver/tokens_encode.h"
#include "formats/vocabulary.h"
#include "runtime/kernels/tokens_bpe.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_TEXT = 600 };

/* Tables in order: texts one after the other, pieces sorted and different. */
static void
check_tables(const qn_token_table *t)
{
	for (int32_t i = 0; i < t->tokens; i++) {
		FUZZ_CHECK(t->at[i] <= t->at[i + 1] && t->at[i + 1] - t->at[i] <= t->longest);
		FUZZ_CHECK(t->rank[i] >= -1 && t->rank[i] < (t->bpe ? t->merges : t->tokens));
	}
	for (int32_t i = 0; i < 256 && !t->bpe; i++)
		FUZZ_CHECK(t->byte[i] >= -1 && t->byte[i] < t->tokens);
	for (int32_t i = 0; i < t->merges; i++)
		FUZZ_CHECK(t->merge[2 * i] >= 0 && t->merge[2 * i + 1] >= 0);
	FUZZ_CHECK(t->begin < t->tokens && t->end < t->tokens && t->unknown < t->tokens);
}

static qn_status
read(fuzz *f, const char *data, size_t size, qn_token_table *out)
{
	qn_archive_data d;

	qn_archive_init(&d, &f->arena, "GGUF", "x");
	if (size > 0 && data[0] == '{')
		return qn_tokens_read_json(&d, "tokenizer.json", data, size, out);
	QN_TRY(qn_gguf_read(&d, data, size));
	return qn_tokens_read(&d, out);
}

static void
target(fuzz *f, const char *data, size_t size)
{
	const int32_t n = (int32_t)(size < MOST_TEXT ? size : MOST_TEXT);
	int32_t token[MOST_TEXT + MOST_TEXT / 2 + 2];
	qn_token_table t;

	if (read(f, data, size, &t) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	check_tables(&t);
	const qn_vocabulary v = {t.tokens, t.pieces, t.begin, t.unknown, t.prefix, t.words, t.user,
				 !t.bpe,   t.text,   t.at,    t.order,   t.rank,   t.byte};
	const qn_bpe bpe = {v, (int32_t)t.split, t.digits, t.whole, t.ranges, t.merge, t.range};
	const int32_t count =
		t.bpe ? qn_bpe_encode(&bpe, data, n, token) : qn_encode(&v, data, n, token);
	const int32_t most = t.user > 0 && t.prefix == 1 ? n + n / 2 + 2 : n + 2;
	FUZZ_CHECK(count >= 0 && count <= most);
	int32_t *again = QN_NEW(&f->arena, int32_t, (size_t)most);
	const int32_t same = t.bpe ? qn_tokens_of_bytes(&bpe, data, n, again, &f->arena)
				   : qn_tokens_of_text(&v, data, n, again, &f->arena);
	FUZZ_CHECK(same == count);
	FUZZ_CHECK(memcmp(again, token, (size_t)count * sizeof *token) == 0);
	for (int32_t i = 0; i < count; i++) {
		char *text = QN_NEW(&f->arena, char, (size_t)t.longest + 1);

		FUZZ_CHECK(token[i] >= 0 && token[i] < t.tokens);
		FUZZ_CHECK(qn_decode(&v, i > 0 ? token[i - 1] : -1, token[i], text) <= t.longest);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
