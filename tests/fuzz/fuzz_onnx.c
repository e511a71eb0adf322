/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_onnx.c - any bytes as an ONNX file: an error that says what is wrong, or a graph that
 * keeps its rules and comes back from its text. */
#include "tests/fuzz/fuzz.h"

#include "import/import.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *m = fuzz_model(f), *again = fuzz_model(f);
	const qn_import_how how = {.from_float = size > 0 && (data[size - 1] & 1) != 0};
	qn_buf text, twice;

	if (qn_onnx_read(m, "x", NULL, data, size, &how) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	FUZZ_CHECK(qn_model_verify(m) == QN_OK);
	qn_buf_init(&text, &f->arena);
	qn_model_print(&text, m);
	if (text.n > 1 << 20)
		return;
	FUZZ_CHECK(qn_model_parse(again, "y", text.data, text.n) == QN_OK);
	qn_buf_init(&twice, &f->arena);
	qn_model_print(&twice, again);
	FUZZ_CHECK(text.n == twice.n && memcmp(text.data, twice.data, text.n) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
