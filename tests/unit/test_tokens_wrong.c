/* SPDX-License-Identifier: Apache-2.0 */
/* test_tokens_wrong.c - what is wrong with vocabularies and tokens. */
#include "tests/unit/tokens_bpe_rig.h"

static void
expect(qn_archive *x, qn_status status, const char *id)
{
	qn_tokens_info info;

	assert_int_equal(qn_tokens_describe(x, &info), status);
	assert_int_equal(qn_diag_count(ctx), 1);
	assert_string_equal(qn_diag_get(ctx, 0).id, id);
	qn_diag_clear(ctx);
	qn_archive_free(x);
}

static void
what_is_wrong(void **state)
{
	static const struct {
		const char *key, *json;
		qn_status status;
		const char *id;
	} row[] = {
		{"tokenizer.ggml.model", "\"bert\"", QN_EUNSUPPORTED, "tokenizer.model"},
		{"tokenizer.ggml.model", "7", QN_EUNSUPPORTED, "tokenizer.model"},
		{"tokenizer.ggml.tokens", "\"a\"", QN_EINVALID, "tokenizer.type"},
		{"tokenizer.ggml.tokens", "[1, 2]", QN_EINVALID, "tokenizer.size"},
		{"tokenizer.ggml.tokens", "[\"a\"]", QN_EINVALID, "tokenizer.size"},
		{"tokenizer.ggml.scores", "[0.5]", QN_EINVALID, "tokenizer.size"},
		{"tokenizer.ggml.scores", "[1]", QN_EINVALID, "tokenizer.type"},
		{"tokenizer.ggml.scores", "0.5", QN_EINVALID, "tokenizer.type"},
		{"tokenizer.ggml.token_type", "[0.5]", QN_EINVALID, "tokenizer.type"},
		{"tokenizer.ggml.bos_token_id", "29", QN_EINVALID, "tokenizer.token"},
		{"tokenizer.ggml.eos_token_id", "-1", QN_EINVALID, "tokenizer.type"},
	};
	qn_archive *x;

	(void)state;
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	expect(x, QN_EINVALID, "tokenizer.missing");
	for (size_t i = 0; i < COUNT(row); i++) {
		x = make();
		set(x, row[i].key, row[i].json);
		expect(x, row[i].status, row[i].id);
	}
}

/* Of byte-level BPE. */
static void
what_is_wrong_with_merges(void **state)
{
	static const struct {
		const char *key, *json;
		qn_status status;
		const char *id;
	} row[] = {
		{"tokenizer.ggml.pre", "\"poro-chat\"", QN_EUNSUPPORTED, "tokenizer.pre"},
		{"tokenizer.ggml.pre", "[\"gpt-2\"]", QN_EUNSUPPORTED, "tokenizer.pre"},
		{"tokenizer.ggml.pre", "7", QN_EUNSUPPORTED, "tokenizer.pre"},
		{"tokenizer.ggml.merges", "\"a b\"", QN_EINVALID, "tokenizer.type"},
		{"tokenizer.ggml.merges", "[1, 2]", QN_EINVALID, "tokenizer.size"},
		{"tokenizer.ggml.merges", "[\"\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"ab\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"a \"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\" b\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"a b c\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"a b\", \"a x\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"xy z\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"☃ a\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.merges", "[\"<|end| >\"]", QN_EINVALID, "tokenizer.merge"},
		{"tokenizer.ggml.tokens", "[\"a\"]", QN_EINVALID, "tokenizer.size"},
		{"tokenizer.ggml.token_type", "[1]", QN_EINVALID, "tokenizer.size"},
		{"tokenizer.ggml.bos_token_id", "305", QN_EINVALID, "tokenizer.token"},
	};

	(void)state;
	skip_without_classes();
	for (size_t i = 0; i < COUNT(row); i++) {
		qn_archive *x = make_bpe("gpt-2");

		set(x, row[i].key, row[i].json);
		expect(x, row[i].status, row[i].id);
	}
	qn_archive *x = make();
	set(x, "tokenizer.ggml.model", "\"gpt2\"");
	expect(x, QN_EINVALID, "tokenizer.missing");
}

static void
wrong_tokens(void **state)
{
	const int64_t shape[2] = {2, 1};
	const int32_t token[2] = {1, (int32_t)N};
	char back[64] = "";
	qn_archive *x = make();
	qn_array *a;

	(void)state;
	assert_int_equal(qn_array_new(ctx, "i32", 2, shape, token, &a), QN_OK);
	assert_int_equal(qn_tokens_decode(x, a, append, back), QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "tokenizer.token");
	qn_diag_clear(ctx);
	qn_array_free(a);
	qn_archive_free(x);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_wrong),
		cmocka_unit_test(what_is_wrong_with_merges),
		cmocka_unit_test(wrong_tokens),
	};

	return cmocka_run_group_tests(tests, open_context, close_context);
}
