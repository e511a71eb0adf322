/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_gguf.c - any bytes as a GGUF file (fuzz_archive.h); what was read comes back bit for bit. */
#include "tests/fuzz/fuzz_archive.h"

static const fuzz_format format = {"GGUF", qn_gguf_read, qn_gguf_prepare, qn_gguf_print, true};

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_archive_data d, again;

	if (!fuzz_archive(f, &format, data, size, &d, &again))
		return;
	FUZZ_CHECK(again.nproperty >= d.nproperty);
	for (size_t i = 0; i < d.n; i++) {
		const qn_plane *p = &d.tensor[i].t.plane[0], *q = &again.tensor[i].t.plane[0];

		FUZZ_CHECK(p->bytes == q->bytes);
		FUZZ_CHECK(p->bytes == 0 || memcmp(p->data, q->data, p->bytes) == 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
