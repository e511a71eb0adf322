/* SPDX-License-Identifier: Apache-2.0 */
/* test_llm.c - language models of GGUF files and of folders of Hugging Face: logits of hundreds of tokens beside a plain
 * computation in double, also past the end of the context. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/unit/llm_rig.h"

#include "tests/unit/plain_llm.h"

enum { CONTEXT = 24, TOKENS = 100 };

/* The logits of Quern's graph; tokens from a seed. */
static const float *
run(qn_ctx *ctx, const char *path, uint64_t context, int n, int vocab, const int32_t *token)
{
	const int64_t dim = n;
	qn_import_opts o = {.size = sizeof o, .context = context};
	qn_array *x, *y = NULL;
	qn_model *m;

	assert_int_equal(qn_import(ctx, path, &o, &m), QN_OK);
	assert_int_equal(qn_array_new(ctx, "i32", 1, &dim, token, &x), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &y), QN_OK);
	assert_int_equal(qn_array_dim(y, 0), n);
	assert_int_equal(qn_array_dim(y, 1), vocab);
	return qn_array_data(y);
}

static void
draw_tokens(int n, int vocab, int32_t *token)
{
	uint32_t seed = 11;

	for (int i = 0; i < n; i++)
		token[i] = (int32_t)((llm_random(&seed) + 1) / 2 * (float)vocab);
}

/* The largest difference to the plain computation, in parts of the largest logit. */
static double
difference(qn_ctx *ctx, const char *file, const float *have, int context, int n,
	   const int32_t *token)
{
	double most = 0, scale = 0;
	plain_llm m;

	assert_true(plain_llm_open(ctx, file, context, &m));
	double *want = calloc((size_t)m.vocab, sizeof *want);
	for (int i = 0; i < n; i++) {
		plain_llm_step(&m, token[i], want);
		for (int k = 0; k < m.vocab; k++) {
			scale = fmax(scale, fabs(want[k]));
			most = fmax(most, fabs(want[k] - (double)have[i * m.vocab + k]));
		}
	}
	free(want);
	plain_llm_close(&m);
	return most / scale;
}

static const llm_file networks[] = {
	{.arch = "llama"},
	{.arch = "llama", .tied = 1, .head_dim = 12, .bias = 1},
	{.arch = "llama", .llama3 = 1},
	{.arch = "llama", .key = "llama.rope.scaling.factor", .value = "4.5", .gguf_only = 1},
	{.arch = "llama", .key = "llama.rope.scale_linear", .value = "4.5", .gguf_only = 1},
	{.arch = "llama", .key = "llama.rope.scaling.factor", .value = "0.0", .gguf_only = 1},
	{.arch = "llama", .key = "llama.rope.scale_linear", .value = "0", .gguf_only = 1},
	{.arch = "llama", .key = "llama.attention.head_count_kv", .value = "[2, 2]"},
	{.arch = "llama", .key = "llama.feed_forward_length", .value = "[64, 64]", .gguf_only = 1},
	{.arch = "qwen2", .bias = 1, .linear = 1},
	{.arch = "llama", .form = "q8_0"},
	{.arch = "llama", .form = "q4_0"},
	{.arch = "llama", .form = "q5_1", .tied = 1},
	{.arch = "llama", .form = "q4_1"},
	{.arch = "llama", .form = "q4_K", .width = 256, .blocks = 1},
	{.arch = "llama", .form = "q6_K", .width = 256, .blocks = 1},
	{.arch = "llama", .form = "bf16"},
	{.arch = "llama", .form = "f8E4M3FN"},
	{.arch = "qwen2", .bias = 1, .form = "f8E5M2"},
	{.arch = "gemma", .form = "bf16", .head_dim = 16, .tied = 1},
	{.arch = "qwen2", .bias = 1},
	{.arch = "qwen2", .bias = 1, .shards = 1},
	{.arch = "qwen2", .bias = 1, .form = "q5_0", .tied = 1},
	{.arch = "qwen3", .head_dim = 12},
	{.arch = "qwen3", .bias = 1, .tied = 1, .form = "q8_0"},
	{.arch = "gemma", .head_dim = 16, .tied = 1},
	{.arch = "gemma", .head_dim = 16, .tied = 1, .form = "q8_0"},
};

static void
convert(qn_ctx *ctx, const char *folder, const char *gguf)
{
	qn_archive *x, *y;

	assert_int_equal(qn_archive_open(ctx, folder, &x), QN_OK);
	if (qn_archive_language_model(x, &y) != QN_OK)
		fail_msg("%s", qn_diag_get(ctx, qn_diag_count(ctx) - 1).message);
	assert_string_equal(qn_diag_get(ctx, qn_diag_count(ctx) - 1).id, "tokenizer.left-out");
	assert_int_equal(qn_archive_save(y, gguf), QN_OK);
	qn_archive_free(y);
	qn_archive_free(x);
}

static void
logits(void **state)
{
	rig *r = *state;
	int32_t token[TOKENS];

	draw_tokens(TOKENS, LLM_VOCAB, token);
	for (size_t i = 0; i < sizeof networks / sizeof networks[0]; i++) {
		const llm_file *f = &networks[i];
		const char *gguf = at(r, "x.gguf"), *folder = at(r, FOLDER);

		llm_file_write(r->ctx, f, gguf);
		const float *y = run(r->ctx, gguf, CONTEXT, TOKENS, LLM_VOCAB, token);
		const double d = difference(r->ctx, gguf, y, CONTEXT, TOKENS, token);
		if (!(d < 3e-6))
			fail_msg("network %zu (%s): %g", i, f->arch, d);
		if (f->gguf_only)
			continue;
		const int bf16 = f->form != NULL && strcmp(f->form, "bf16") == 0;
		const int f8 = f->form != NULL && strncmp(f->form, "f8", 2) == 0;
		if (f->form != NULL && !f8 && !(bf16 && strcmp(f->arch, "llama") == 0))
			continue; /* norms minus 1 are not the same in bf16 */
		if (!f->shards)   /* an index is read first */
			(void)unlink(at(r, FOLDER "/model.safetensors.index.json"));
		llm_folder_write(r->ctx, f, folder);
		y = run(r->ctx, folder, CONTEXT, TOKENS, LLM_VOCAB, token);
		const double e = difference(r->ctx, gguf, y, CONTEXT, TOKENS, token);
		if (!(e < 3e-6))
			fail_msg("folder of network %zu (%s): %g", i, f->arch, e);
		if (f8)
			continue; /* no type of GGUF files */
		convert(r->ctx, folder, at(r, "y.gguf"));
		y = run(r->ctx, at(r, "y.gguf"), CONTEXT, TOKENS, LLM_VOCAB, token);
		const double c = difference(r->ctx, gguf, y, CONTEXT, TOKENS, token);
		if (!(c < 3e-6))
			fail_msg("GGUF file of the folder of network %zu (%s): %g", i, f->arch, c);
	}
}

/* After the last position comes the first: the logits are those of a new sequence, bit for bit. */
static void
overflow(void **state)
{
	rig *r = *state;
	const llm_file f = {.arch = "llama"};
	int32_t token[3 * CONTEXT];

	for (int i = 0; i < 3 * CONTEXT; i++)
		token[i] = i % CONTEXT * 7 % LLM_VOCAB;
	llm_file_write(r->ctx, &f, at(r, "x.gguf"));
	const float *y = run(r->ctx, at(r, "x.gguf"), CONTEXT, 3 * CONTEXT, LLM_VOCAB, token);
	const size_t n = (size_t)CONTEXT * LLM_VOCAB;
	assert_memory_equal(y, y + n, n * sizeof *y);
	assert_memory_equal(y, y + 2 * n, n * sizeof *y);
}

/* The files of real models, where they are. */
static void
stories(void **state)
{
	static const char *const names[] = {"stories260K.gguf", "stories260K-q8_0.gguf"};
	enum { N = 300, VOCAB = 512 };
	const char *data = getenv("QUERN_DATA");
	rig *r = *state;
	int32_t token[N];

	draw_tokens(N, VOCAB, token);
	for (size_t i = 0; i < 2; i++) {
		char path[512];

		(void)snprintf(path, sizeof path, "%s/models/%s", data != NULL ? data : "",
			       names[i]);
		FILE *file = fopen(path, "rb");
		if (file == NULL) {
			print_message("%s: not there, skipped\n", names[i]);
			continue;
		}
		(void)fclose(file);
		const float *y = run(r->ctx, path, 0, N, VOCAB, token);
		const double d = difference(r->ctx, path, y, 256, N, token);
		if (!(d < 1e-5))
			fail_msg("%s: %g", names[i], d);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(logits),
		TEST(overflow),
		TEST(stories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
