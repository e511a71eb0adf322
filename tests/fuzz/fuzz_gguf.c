/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_gguf.c - any bytes as a GGUF file: every value is printed, every tensor dequantized, and what
 * was read is written and read again. */
#include "tests/fuzz/fuzz.h"

#include "formats/archive.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_archive_data d, ready, again;
	qn_buf b;

	qn_archive_init(&d, &f->arena, "GGUF", "x");
	if (qn_gguf_read(&d, data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	for (size_t i = 0; i < d.nproperty; i++)
		(void)qn_property_json(&f->arena, &d.property[i]);
	for (size_t i = 0; i < d.n; i++) {
		const qn_layout_tensor *t = &d.tensor[i].t;
		float *x = QN_NEW(&f->arena, float, (size_t)qn_layout_elements(t));

		FUZZ_CHECK(qn_layout_check(&f->env, "t", t) == QN_OK);
		qn_layout_dequant(t, x);
	}
	FUZZ_CHECK(qn_gguf_prepare(&f->env, &f->arena, &d, &ready) == QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_gguf_print(&b, &ready);
	qn_archive_init(&again, &f->arena, "GGUF", "y");
	FUZZ_CHECK(qn_gguf_read(&again, b.data, b.n) == QN_OK);
	FUZZ_CHECK(again.n == d.n && again.nproperty >= d.nproperty);
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
