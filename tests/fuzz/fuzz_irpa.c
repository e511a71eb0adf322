/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_irpa.c - any bytes as an IREE parameter archive: what was read
 * is checked, dequantized, written, and read again. */
#include "tests/fuzz/fuzz.h"

#include "formats/archive.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_archive_data d, ready, again;
	qn_buf b;

	qn_archive_init(&d, &f->arena, "IRPA", "x");
	if (qn_irpa_read(&d, data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	for (size_t i = 0; i < d.nproperty; i++)
		(void)qn_property_json(&f->arena, &d.property[i]);
	for (size_t i = 0; i < d.n; i++) {
		const qn_layout_tensor *t = &d.tensor[i].t;

		FUZZ_CHECK(qn_layout_check(&f->env, "t", t) == QN_OK);
		qn_layout_dequant(t, QN_NEW(&f->arena, float, (size_t)qn_layout_elements(t)));
	}
	if (qn_irpa_prepare(&f->env, &f->arena, &d, &ready) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	qn_buf_init(&b, &f->arena);
	qn_irpa_print(&b, &ready);
	qn_archive_init(&again, &f->arena, "IRPA", "y");
	FUZZ_CHECK(qn_irpa_read(&again, b.data, b.n) == QN_OK);
	FUZZ_CHECK(again.n == d.n);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
