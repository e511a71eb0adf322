/* SPDX-License-Identifier: Apache-2.0 */
/* make_llm.c - writes the corpus of fuzz-llm: a small network of each architecture.
 *
 *   build/tests/fuzz/make-llm tests/fuzz/corpus/llm */
#include "tests/unit/llm_files.h"

int
main(int argc, char **argv)
{
	static const llm_file files[] = {
		{.arch = "llama", .blocks = 1, .form = "q4_0"},
		{.arch = "qwen2", .blocks = 1, .form = "q4_1", .bias = 1, .tied = 1},
		{.arch = "gemma", .blocks = 1, .form = "q4_0", .head_dim = 16, .tied = 1},
	};
	qn_ctx *ctx = qn_open(NULL);
	char path[512];

	if (argc != 2 || ctx == NULL) {
		(void)fputs("usage: make-llm FOLDER\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		(void)snprintf(path, sizeof path, "%s/%s.gguf", argv[1], files[i].arch);
		llm_file_write(ctx, &files[i], path);
	}
	qn_close(ctx);
	return 0;
}
