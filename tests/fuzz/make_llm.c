/* SPDX-License-Identifier: Apache-2.0 */
/* make_llm.c - writes the corpus of fuzz-llm: a small network of each architecture.  With the tokens of another
 * file, those that scripts/check-gguf lets llama.cpp run.
 *
 *   build/tests/fuzz/make-llm tests/fuzz/corpus/llm
 *   build/tests/fuzz/make-llm FOLDER stories260K.gguf       0.gguf, 1.gguf …, and the same networks as folders 0, 1 … */
#include "tests/unit/llm_files.h"

static const llm_file corpus[] = {
	{.arch = "llama", .blocks = 1, .form = "q4_0"},
	{.arch = "qwen2", .blocks = 1, .form = "q4_1", .bias = 1, .tied = 1},
	{.arch = "qwen3", .blocks = 1, .form = "q8_0"},
	{.arch = "gemma", .blocks = 1, .form = "q4_0", .head_dim = 16, .tied = 1},
};
static const llm_file networks[] = {
	{.arch = "llama"},
	{.arch = "llama", .llama3 = 1},
	{.arch = "llama", .bias = 1, .tied = 1},
	{.arch = "qwen2", .bias = 1, .linear = 1},
	{.arch = "qwen2", .bias = 1, .width = 64},
	{.arch = "qwen3"},
	{.arch = "qwen3", .head_dim = 16, .width = 64, .tied = 1},
	{.arch = "gemma", .head_dim = 16, .tied = 1},
	{.arch = "gemma", .head_dim = 32, .width = 64, .tied = 1},
};

int
main(int argc, char **argv)
{
	const char *tokens = argc > 2 ? argv[2] : NULL;
	const llm_file *files = tokens != NULL ? networks : corpus;
	const size_t n = tokens != NULL ? sizeof networks / sizeof networks[0]
					: sizeof corpus / sizeof corpus[0];
	qn_ctx *ctx = qn_open(NULL);
	char path[512], folder[256];

	if (argc < 2 || ctx == NULL) {
		(void)fputs("usage: make-llm FOLDER [TOKENS.gguf]\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < n; i++) {
		llm_file f = files[i];

		f.tokens = tokens;
		if (tokens != NULL)
			(void)snprintf(path, sizeof path, "%s/%d.gguf", argv[1], (int)i);
		else
			(void)snprintf(path, sizeof path, "%s/%s.gguf", argv[1], f.arch);
		llm_file_write(ctx, &f, path);
		if (tokens == NULL)
			continue;
		(void)snprintf(folder, sizeof folder, "%.200s/%d", argv[1], (int)i);
		llm_folder_write(ctx, &f, folder);
	}
	qn_close(ctx);
	return 0;
}
