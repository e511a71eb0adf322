/* SPDX-License-Identifier: Apache-2.0 */
/* test_llm_refused.c - keys, tensors and folders of language models that are refused, and the lengths of context that a
 * caller may ask for. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include "tests/unit/llm_rig.h"

#define SEVEN "\"\", \"\", \"\", \"\", \"\", \"\", \"\""
#define MORE_TOKENS "[" SEVEN ", " SEVEN ", " SEVEN ", " SEVEN ", " SEVEN ", " SEVEN ", " SEVEN "]"

static const struct {
	llm_file file;
	const char *id, *text;
} refused[] = {
	{{.arch = "falcon"}, "llm.architecture", "supported: llama, mistral, qwen2, qwen3, gemma"},
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
	{{.arch = "qwen3", .drop = "blk.1.attn_k_norm.weight"},
	 "llm.tensor",
	 "blk.1.attn_k_norm.weight"},
	{{.arch = "llama", .width = 28}, "llm.value", "attention.head_count"},
	{{.arch = "llama", .key = "llama.expert_count", .value = "8"},
	 "llm.value",
	 "8 is not supported: the network is a mixture of experts"},
	{{.arch = "llama", .key = "llama.attention.causal", .value = "false"},
	 "llm.value",
	 "false is not supported: tokens would see later ones"},
	{{.arch = "qwen2", .bias = 1, .key = "qwen2.attention.scale", .value = "0.5"},
	 "llm.value",
	 "qwen2.attention.scale"},
	{{.arch = "llama", .key = "llama.attention.clamp_kqv", .value = "8.0"}, "llm.value", "8"},
	{{.arch = "llama", .key = "llama.attention.max_alibi_bias", .value = "8.0"},
	 "llm.value",
	 "ALiBi"},
	{{.arch = "llama", .key = "llama.attention.temperature_scale", .value = "0.1"},
	 "llm.value",
	 "position"},
	{{.arch = "gemma", .key = "gemma.attn_logit_softcapping", .value = "50.0"},
	 "llm.value",
	 "scores would get a soft limit"},
	{{.arch = "gemma", .key = "gemma.final_logit_softcapping", .value = "30.0"},
	 "llm.value",
	 "logits would get a soft limit"},
	{{.arch = "llama", .key = "llama.embedding_scale", .value = "12"},
	 "llm.value",
	 "embedding_scale"},
	{{.arch = "llama", .key = "llama.residual_scale", .value = "0.22"}, "llm.value", "block"},
	{{.arch = "llama", .key = "llama.logit_scale", .value = "\"much\""}, "llm.value", "much"},
	{{.arch = "llama", .key = "llama.use_parallel_residual", .value = "true"},
	 "llm.value",
	 "true is not supported"},
	{{.arch = "llama", .key = "llama.rope.scaling.attn_factor", .value = "2.0"},
	 "llm.value",
	 "cosines"},
	{{.arch = "llama", .key = "llama.rope.scaling.yarn_attn_factor", .value = "0.5"},
	 "llm.value",
	 "cosines"},
	{{.arch = "llama", .key = "llama.rope.scaling.yarn_ext_factor", .value = "1.0"},
	 "llm.value",
	 "YaRN"},
	{{.arch = "llama", .key = "llama.rope.scaling.yarn_log_multiplier", .value = "0.1"},
	 "llm.value",
	 "YaRN"},
	{{.arch = "llama", .key = "tokenizer.ggml.tokens", .value = MORE_TOKENS},
	 "llm.tensor",
	 "embeddings of 48 tokens, the vocabulary of the file (tokenizer.ggml.tokens) has 49"},
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

/* Tensors of a type whose values are not read: q4_0's blocks have as many bytes as those of iq4_nl. */
static void
unreadable_type(void **state)
{
	enum { Q4_0 = 2, IQ4_NL = 20, BEFORE_TYPE = 4 + 2 * 8 /* the dimensions */ };
	static const char *const names[] = {"blk.0.ffn_up.weight", "blk.1.attn_q.weight"};
	static char bytes[1 << 17];
	const llm_file f = {.arch = "llama", .form = "q4_0"};
	rig *r = *state;
	qn_model *m;

	llm_file_write(r->ctx, &f, at(r, "x.gguf"));
	FILE *file = fopen(at(r, "x.gguf"), "r+b");
	const size_t n = fread(bytes, 1, sizeof bytes, file);
	for (size_t k = 0; k < 2; k++) {
		size_t i = 0;

		while (memcmp(bytes + i, names[k], strlen(names[k])) != 0)
			i++;
		i += strlen(names[k]) + BEFORE_TYPE;
		assert_int_equal(bytes[i], Q4_0);
		bytes[i] = IQ4_NL;
	}
	rewind(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	(void)fclose(file);
	qn_diag_clear(r->ctx);
	assert_int_equal(qn_load(r->ctx, at(r, "x.gguf"), &m), QN_EUNSUPPORTED);
	assert_int_equal(qn_diag_count(r->ctx), 1);
	const qn_diagnostic d = qn_diag_get(r->ctx, 0);
	assert_string_equal(d.id, "layout.values");
	assert_non_null(strstr(d.message, "iq4_nl"));
	assert_non_null(strstr(d.place, names[0]));
}

/* Values of such keys that change nothing, and a vocabulary that is shorter than the embeddings. */
static void
neutral_keys(void **state)
{
	static const char *const rows[][2] = {
		{"llama.expert_count", "0"},
		{"llama.attention.sliding_window", "0"},
		{"llama.attention.causal", "true"},
		{"llama.attention.scale", "0.35355338"}, /* heads of 8 */
		{"llama.attention.scale", "0.0"},
		{"llama.logit_scale", "1.0"},
		{"llama.embedding_scale", "0.0"},
		{"llama.rope.scaling.attn_factor", "1"},
		{"llama.rope.scaling.yarn_ext_factor", "-1.0"},
		{"tokenizer.ggml.tokens", "[" SEVEN "]"},
	};
	rig *r = *state;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const llm_file f = {.arch = "llama", .key = rows[i][0], .value = rows[i][1]};
		qn_model *m;

		llm_file_write(r->ctx, &f, at(r, "x.gguf"));
		if (qn_load(r->ctx, at(r, "x.gguf"), &m) != QN_OK)
			fail_msg("row %zu: %s", i, qn_diag_get(r->ctx, 0).message);
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
		{"rope_scaling", "\"linear\"", "llm.value", "\"linear\" is not an object"},
		{"rope_scaling", "2", "llm.value", "2 is not an object"},
		{"rope_parameters", "{\"full_attention\": {\"rope_theta\": 5}}", "llm.scaling",
		 "full_attention"},
		{"sliding_window", "8", "llm.value", "the last 8 tokens"},
		{"sliding_window", "-1", "llm.value", "from 0"},
		{"attention_bias", "true", "llm.tensor", "missing tensor"},
		{"attention_bias", "1", "llm.value", "neither true nor false"},
		{"mlp_bias", "true", "llm.value", "no biases"},
		{"tie_word_embeddings", "\"yes\"", "llm.value", "neither true nor false"},
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

/* Keys of config.json that change nothing. */
static void
neutral_folders(void **state)
{
	static const llm_file rows[] = {
		{.arch = "llama", .key = "rope_scaling", .value = "{}"},
		{.arch = "llama", .key = "rope_parameters", .value = "{\"rope_theta\": 10000.0}"},
		{.arch = "llama", .key = "rope_scaling", .value = "null"},
		{.arch = "llama", .key = "sliding_window", .value = "0"},
		{.arch = "llama", .key = "tie_word_embeddings", .value = "null"},
		{.arch = "llama", .bias = 1, .key = "attention_bias", .value = "false"},
		{.arch = "llama", .key = "mlp_bias", .value = "false"},
		/* without use_sliding_window there is none */
		{.arch = "qwen2", .bias = 1, .key = "sliding_window", .value = "8"},
		{.arch = "qwen3", .key = "sliding_window", .value = "8"},
	};
	const qn_import_opts o = {.size = sizeof o, .context = 16};
	rig *r = *state;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_model *m;

		llm_folder_write(r->ctx, &rows[i], at(r, FOLDER));
		if (qn_import(r->ctx, at(r, FOLDER), &o, &m) != QN_OK)
			fail_msg("row %zu: %s", i, qn_diag_get(r->ctx, 0).message);
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
		TEST(refusals), TEST(unreadable_type), TEST(neutral_keys),
		TEST(folders),  TEST(neutral_folders), TEST(contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
