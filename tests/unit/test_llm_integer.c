/* SPDX-License-Identifier: Apache-2.0 */
/* test_llm_integer.c - language models in integers: packed weights of every form, K-quants in rows of 256 among them, with
 * activations of 16 bits, beside the same weights with float activations. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

#include "quern/measure.h"

#include "tests/unit/llm_files.h"

enum { TOKENS = 24, CONTEXT = 16 };

/* Signal to noise of b beside a, in dB. */
static double
ratio(const float *a, const float *b, size_t n)
{
	double signal = 0, noise = 0;

	for (size_t i = 0; i < n; i++) {
		const double d = (double)a[i] - (double)b[i];

		signal += (double)a[i] * (double)a[i];
		noise += d * d;
	}
	return 10 * log10(signal / noise);
}

static qn_model *
load(qn_ctx *ctx, const char *path)
{
	const qn_import_opts o = {.size = sizeof o, .context = CONTEXT};
	qn_model *m;

	assert_int_equal(qn_import(ctx, path, &o, &m), QN_OK);
	return m;
}

/* That of the logits of integers, on tokens beyond the context too. */
static double
measure(const llm_file *f, const char *path)
{
	const int64_t dim[] = {TOKENS, 1};
	qn_ctx *ctx = qn_open(NULL);
	int32_t token[TOKENS];
	uint32_t seed = 5;
	llm_file wide = *f;
	qn_array *x, *real, *integer;

	for (int i = 0; i < TOKENS; i++)
		token[i] = (int32_t)((llm_random(&seed) + 1) / 2 * LLM_VOCAB);
	wide.width = 256;
	llm_file_write(ctx, &wide, path);
	assert_int_equal(qn_array_new(ctx, "i32", 2, dim, token, &x), QN_OK);
	const qn_compile_opts o = {
		.size = sizeof o, .calib = &x, .ncalib = 1, .activations = QN_ACTIVATIONS_I16};
	assert_int_equal(qn_run(load(ctx, path), 1, &x, 1, 1, &real), QN_OK);
	qn_model *m = load(ctx, path);
	assert_int_equal(qn_compile(m, &o), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &integer), QN_OK);
	assert_int_equal(qn_array_dim(integer, 1), LLM_VOCAB);
	const double got =
		ratio(qn_array_data(real), qn_array_data(integer), (size_t)TOKENS * LLM_VOCAB);
	qn_close(ctx);
	return got;
}

static void
all_forms(void **state)
{
	static const llm_file networks[] = {
		{.arch = "llama"},
		{.arch = "llama", .form = "q8_0"},
		{.arch = "llama", .form = "q5_0"},
		{.arch = "llama", .form = "q5_1"},
		{.arch = "llama", .form = "q4_0"},
		{.arch = "llama", .form = "q4_1"},
		{.arch = "llama", .form = "q2_K"},
		{.arch = "llama", .form = "q3_K"},
		{.arch = "llama", .form = "q4_K"},
		{.arch = "llama", .form = "q5_K"},
		{.arch = "llama", .form = "q6_K"},
		/* offsets thousands of times the scales of a row cost the other rows nothing */
		{.arch = "llama", .form = "q4_1", .flat = "attn_v"},
		{.arch = "llama", .form = "q4_1", .flat = "token_embd"},
		{.arch = "llama", .form = "q5_1", .flat = "ffn_down"},
		{.arch = "llama", .form = "q2_K", .flat = "output"},
		{.arch = "qwen2", .bias = 1, .form = "q8_0"},
		{.arch = "qwen3", .form = "q8_0"},
		{.arch = "gemma", .tied = 1, .form = "q4_K"},
	};
	char folder[] = "/tmp/quern-llm-XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)snprintf(path, sizeof path, "%s/x.gguf", folder);
	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
		const llm_file *f = &networks[i];
		const char *form = f->form != NULL ? f->form : "f32";
		const double dB = measure(f, path);

		print_message("%s %s: %.1f dB\n", f->arch, form, dB);
		/* f32 becomes i8 for each channel; a flat row makes the steps of what it computes larger */
		if (!(dB > (f->form == NULL ? 35 : f->flat != NULL ? 50 : 60)))
			fail_msg("%s %s: %.1f dB", f->arch, form, dB);
	}
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_forms)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
