/* SPDX-License-Identifier: Apache-2.0 */
/* test_llm.c - language models of GGUF files and of folders of Hugging Face: logits of hundreds of tokens beside a plain
 * computation in double, also past the end of the context, and what is refused. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "quern/measure.h"
#include "tests/unit/llm_files.h"
#include "tests/unit/plain_llm.h"

enum { CONTEXT = 24, TOKENS = 100 };
#define FOLDER "x-1.5"

typedef struct rig {
	qn_ctx *ctx;
	char folder[64];
} rig;

static int
set_up(void **state)
{
	rig *r = calloc(1, sizeof *r);

	(void)snprintf(r->folder, sizeof r->folder, "/tmp/quern-llm-XXXXXX");
	assert_non_null(mkdtemp(r->folder));
	r->ctx = qn_open(NULL);
	*state = r;
	return 0;
}

static int
tear_down(void **state)
{
	static const char *const files[] = {FOLDER "/config.json",
					    FOLDER "/model.safetensors",
					    FOLDER "/model.safetensors.index.json",
					    FOLDER "/part-0.safetensors",
					    FOLDER "/part-1.safetensors",
					    "x.gguf"};
	rig *r = *state;
	char path[128];

	qn_close(r->ctx);
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		(void)snprintf(path, sizeof path, "%s/%s", r->folder, files[i]);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof path, "%s/" FOLDER, r->folder);
	(void)rmdir(path);
	assert_int_equal(rmdir(r->folder), 0);
	free(r);
	return 0;
}

static const char *
at(const rig *r, const char *name)
{
	static char path[4][512];
	static int next;
	char *p = path[next++ % 4];

	(void)snprintf(p, sizeof path[0], "%s/%s", r->folder, name);
	return p;
}

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
	{.arch = "gemma", .head_dim = 16, .tied = 1},
	{.arch = "gemma", .head_dim = 16, .tied = 1, .form = "q8_0"},
};

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

/* ---- what is refused ---- */

static const struct {
	llm_file file;
	const char *id, *text;
} refused[] = {
	{{.arch = "falcon"}, "llm.architecture", "supported: llama, qwen2, gemma"},
	{{.arch = "llama", .drop = "general.architecture"}, "llm.key", "quern tensors"},
	{{.arch = "llama", .drop = "llama.block_count"}, "llm.key", "missing key"},
	{{.arch = "llama", .drop = "llama.attention.layer_norm_rms_epsilon"}, "llm.key", "missing"},
	{{.arch = "llama", .key = "llama.block_count", .value = "0"}, "llm.value", "0 is not"},
	{{.arch = "llama", .key = "llama.block_count", .value = "\"two\""}, "llm.value", "two"},
	{{.arch = "llama", .key = "llama.block_count", .value = "1000000"}, "llm.value", "tensors"},
	{{.arch = "llama", .key = "llama.block_count", .value = "3"},
	 "llm.tensor",
	 "missing tensor"},
	{{.arch = "llama", .key = "llama.block_count", .value = "1"}, "llm.unused", "llama"},
	{{.arch = "llama", .key = "llama.attention.head_count", .value = "3"},
	 "llm.value",
	 "divide"},
	{{.arch = "llama", .key = "llama.attention.head_count", .value = "64"},
	 "llm.value",
	 "even"},
	{{.arch = "llama", .key = "llama.attention.head_count", .value = "8"},
	 "llm.tensor",
	 "[8, 32]"},
	{{.arch = "llama", .key = "llama.rope.freq_base", .value = "-1"}, "llm.value", "above 0"},
	{{.arch = "llama", .key = "llama.rope.freq_base", .value = "0"}, "llm.value", "above 0"},
	{{.arch = "llama", .key = "llama.rope.scaling.factor", .value = "-2"},
	 "llm.value",
	 "from 0"},
	{{.arch = "llama", .key = "llama.attention.head_count_kv", .value = "[2, 4]"},
	 "llm.value",
	 "block 0 has 2, block 1 has 4"},
	{{.arch = "llama", .key = "llama.attention.head_count_kv", .value = "[2]"},
	 "llm.value",
	 "a list of 1 numbers for 2 blocks"},
	{{.arch = "llama", .key = "llama.embedding_length", .value = "[32, 32]"},
	 "llm.value",
	 "one number"},
	{{.arch = "llama", .key = "llama.rope.dimension_count", .value = "10"},
	 "llm.value",
	 "head"},
	{{.arch = "qwen2", .bias = 1, .key = "qwen2.rope.dimension_count", .value = "4"},
	 "llm.value",
	 "whole heads"},
	{{.arch = "llama", .key = "llama.rope.scaling.type", .value = "\"yarn\""},
	 "llm.scaling",
	 "yarn"},
	{{.arch = "llama", .key = "llama.attention.value_length", .value = "4"},
	 "llm.value",
	 "keys"},
	{{.arch = "llama", .key = "llama.attention.sliding_window", .value = "16"},
	 "llm.value",
	 "--context"},
	{{.arch = "llama", .key = "llama.vocab_size", .value = "47"}, "llm.tensor", "[48, 32]"},
	{{.arch = "llama", .extra = "blk.0.attn_q_norm.weight"}, "llm.unused", "attn_q_norm"},
	{{.arch = "llama", .drop = "blk.1.ffn_up.weight"}, "llm.tensor", "blk.1.ffn_up.weight"},
	{{.arch = "qwen2"}, "llm.tensor", "blk.0.attn_q.bias"},
	{{.arch = "llama", .key = "split.count", .value = "3"}, "llm.value", "join the parts"},
	{{.arch = "llama", .no_tokens = 1}, "llm.tensor", "the vocabulary is empty"},
};

static void
refusals(void **state)
{
	rig *r = *state;

	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		qn_model *m;

		llm_file_write(r->ctx, &refused[i].file, at(r, "x.gguf"));
		qn_diag_clear(r->ctx);
		assert_int_not_equal(qn_load(r->ctx, at(r, "x.gguf"), &m), QN_OK);
		assert_null(m);
		const qn_diagnostic d = qn_diag_get(r->ctx, 0);
		if (strcmp(d.id, refused[i].id) != 0 ||
		    (strstr(d.message, refused[i].text) == NULL &&
		     strstr(d.place, refused[i].text) == NULL))
			fail_msg("row %zu: %s: %s [%s]", i, d.place, d.message, d.id);
	}
}

/* The name of a folder, and keys of its config.json that are refused. */
static void
folders(void **state)
{
	static const struct {
		const char *key, *value, *id, *text;
	} rows[] = {
		{"rope_scaling", "{\"type\": \"dynamic\", \"factor\": 2}", "llm.scaling",
		 "dynamic"},
		{"rope_scaling", "{\"type\": \"linear\"}", "llm.value", "'factor' is missing"},
		{"rope_parameters", "{\"type\": \"linear\", \"factor\": -1}", "llm.value", "-1"},
		{"rope_scaling",
		 "{\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 4, "
		 "\"high_freq_factor\": 4, \"original_max_position_embeddings\": 64}",
		 "llm.value", "not below"},
		{"sliding_window", "8", "llm.value", "--context"},
		{"vocab_size", "\"many\"", "llm.value", "many"},
		{"hidden_act", "\"relu\"", "llm.value", "\"relu\" is not supported"},
		{"partial_rotary_factor", "0.5", "llm.value", "0.5 is not supported"},
		{"head_dim", "7", "llm.value", "even"},
		{"num_key_value_heads", "[2, 1]", "llm.value", "block 1 has 1"},
	};
	rig *r = *state;
	qn_import_opts o = {.size = sizeof o, .context = 16};
	const llm_file good = {.arch = "llama"};
	qn_model *named;

	llm_folder_write(r->ctx, &good, at(r, FOLDER));
	assert_int_equal(qn_import(r->ctx, at(r, FOLDER "//"), &o, &named), QN_OK);
	assert_string_equal(qn_model_name(named), FOLDER);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const llm_file f = {.arch = "llama", .key = rows[i].key, .value = rows[i].value};
		qn_model *m;

		llm_folder_write(r->ctx, &f, at(r, FOLDER));
		qn_diag_clear(r->ctx);
		assert_int_not_equal(qn_import(r->ctx, at(r, FOLDER), &o, &m), QN_OK);
		const qn_diagnostic d = qn_diag_get(r->ctx, 0);
		if (strcmp(d.id, rows[i].id) != 0 || strstr(d.message, rows[i].text) == NULL)
			fail_msg("row %zu: %s: %s [%s]", i, d.place, d.message, d.id);
	}
}

static void
contexts(void **state)
{
	rig *r = *state;
	const llm_file f = {.arch = "llama"};
	qn_import_opts o = {.size = sizeof o};
	qn_model *m;

	llm_file_write(r->ctx, &f, at(r, "x.gguf"));
	assert_int_equal(qn_load(r->ctx, at(r, "x.gguf"), &m), QN_OK);
	assert_string_equal(qn_model_state_name(m, 1), "blk.0.k");
	assert_string_equal(qn_model_state_type(m, 1), "tensor<2x64x8xf32>"); /* as trained */
	o.context = 100;
	assert_int_equal(qn_import(r->ctx, at(r, "x.gguf"), &o, &m), QN_OK);
	assert_string_equal(qn_diag_get(r->ctx, qn_diag_count(r->ctx) - 1).id, "llm.context");
	assert_string_equal(qn_model_state_type(m, 1), "tensor<2x100x8xf32>");
	o.context = 1 << 17; /* positions are not elements of lists */
	assert_int_equal(qn_import(r->ctx, at(r, "x.gguf"), &o, &m), QN_OK);
	assert_string_equal(qn_model_state_type(m, 1), "tensor<2x131072x8xf32>");
	o.context = UINT64_MAX;
	assert_int_equal(qn_import(r->ctx, at(r, "x.gguf"), &o, &m), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r->ctx, qn_diag_count(r->ctx) - 1).id, "import.context");
	const llm_file wide = {.arch = "llama", .head_dim = 32};
	llm_file_write(r->ctx, &wide, at(r, "x.gguf"));
	o.context = 1 << 20;
	assert_int_equal(qn_import(r->ctx, at(r, "x.gguf"), &o, &m), QN_EINVALID);
	const qn_diagnostic d = qn_diag_get(r->ctx, qn_diag_count(r->ctx) - 1);
	assert_string_equal(d.id, "llm.value");
	assert_non_null(strstr(d.place, "--context"));
	assert_non_null(strstr(d.message, "--context 524288"));
	o.context = 8;
	assert_int_equal(qn_import(r->ctx, "examples/digits/digits.json", &o, &m), QN_EUSAGE);
	assert_string_equal(qn_diag_get(r->ctx, qn_diag_count(r->ctx) - 1).id, "import.context");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(logits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(overflow, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stories, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
		cmocka_unit_test_setup_teardown(folders, set_up, tear_down),
		cmocka_unit_test_setup_teardown(contexts, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
