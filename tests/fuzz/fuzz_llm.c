/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_llm.c - any bytes as the language model of a GGUF file: an error that says what is wrong, or a
 * graph that keeps its rules, comes back from its text, and runs and compiles where it is small. */
#define _POSIX_C_SOURCE 200809L /* getpid, unlink */

#include "tests/fuzz/fuzz_import.h"

static qn_status
read_bytes(qn_model *m, const void *data, size_t n, const qn_import_how *how)
{
	return qn_gguf_read_model(m, "x", data, n, how);
}

static void
target(fuzz *f, const char *data, size_t size)
{
	fuzz_import(f, read_bytes, data, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_import_run(target, ".gguf", data, size);
	return 0;
}
