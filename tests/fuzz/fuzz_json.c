/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_json.c - any bytes as a JSON model.  What is accepted comes back the same from its own
 * JSON. */
#include "tests/fuzz/fuzz.h"

#include "formats/json_graph.h"

static const char *
json_of(fuzz *f, const qn_model *m, size_t *n)
{
	qn_buf b;

	qn_buf_init(&b, &f->arena);
	qn_json_print(&b, m, &(qn_json_opts){0}, NULL);
	*n = b.n;
	return qn_buf_str(&b);
}

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *first = fuzz_model(f);
	qn_model *second = fuzz_model(f);
	size_t n, k;

	if (qn_json_parse(first, "x.json", NULL, data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	if (qn_model_verify(first) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	const char *text = json_of(f, first, &n);
	FUZZ_CHECK(qn_json_parse(second, "x.json", NULL, text, n) == QN_OK);
	FUZZ_CHECK(qn_model_verify(second) == QN_OK);
	const char *again = json_of(f, second, &k);
	FUZZ_CHECK(n == k && memcmp(text, again, n) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
