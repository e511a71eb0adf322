/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_csv.c - any bytes as a table of numbers: what is accepted has finite rows of equal length, or says why not. */
#include "tests/fuzz/fuzz.h"

#include "formats/csv.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_csv c;

	if (qn_csv_index(&f->arena, "x", data, size, &c) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	FUZZ_CHECK(c.rows > 0 && c.columns > 0);
	float *v = QN_NEW(&f->arena, float, c.columns);
	for (size_t i = 0; i < c.rows; i++)
		if (qn_csv_read(&c, &f->env, i, v) != QN_OK) {
			FUZZ_CHECK(fuzz_told(f));
			return;
		}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
