/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_text.c - any bytes as a model in text form; a golden test's sections are cut off.  What is
 * accepted comes back the same from its own text. */
#include "tests/fuzz/fuzz.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *first = fuzz_model(f);
	qn_model *second = fuzz_model(f);

	if (qn_model_parse(first, "x.qir", data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	if (qn_model_verify(first) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	const char *text = fuzz_text(f, first);
	FUZZ_CHECK(qn_model_parse(second, "x.qir", text, strlen(text)) == QN_OK);
	FUZZ_CHECK(qn_model_verify(second) == QN_OK);
	FUZZ_CHECK(strcmp(text, fuzz_text(f, second)) == 0);
	FUZZ_CHECK(qn_graph_equal(qn_model_entry(first), qn_model_entry(second)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = fuzz_cut(data, size);
	uint8_t *exact = malloc(n + 1); /* so that a byte too far is seen */
	FUZZ_CHECK(exact != NULL);
	if (n > 0)
		memcpy(exact + 1, data, n);
	fuzz_run(target, exact + 1, n);
	free(exact);
	return 0;
}
