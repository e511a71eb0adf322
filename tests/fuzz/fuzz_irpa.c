/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_irpa.c - any bytes as an IREE parameter archive (fuzz_archive.h). */
#include "tests/fuzz/fuzz_archive.h"

static const fuzz_format format = {"IRPA", qn_irpa_read, qn_irpa_prepare, qn_irpa_print, false};

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
