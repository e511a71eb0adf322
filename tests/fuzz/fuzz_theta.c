/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_theta.c - any bytes as a safetensors file whose metadata says what its arrays make up (fuzz_archive.h). */
#include "tests/fuzz/fuzz_archive.h"

static const fuzz_format format = {"safetensors", qn_safetensors_read, qn_safetensors_prepare,
				   qn_safetensors_print_archive, false};

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_archive_data d, again;

	(void)fuzz_archive(f, &format, data, size, &d, &again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
