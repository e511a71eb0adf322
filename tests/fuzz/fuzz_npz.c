/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npz.c - any bytes as a NumPy archive. */
#include "tests/fuzz/fuzz.h"

#include "formats/npz.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *m = fuzz_model(f);
	qn_npz_member *member = NULL;
	size_t n = 0;

	if (qn_npz_parse(&m->types, &f->arena, "x", data, size, QN_NPZ_ALL, &n, &member) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	FUZZ_CHECK(n > 0 && n <= QN_NPZ_MOST);
	for (size_t i = 0; i < n; i++)
		for (int64_t k = 0; k < qn_type_count(member[i].tensor->type); k++)
			(void)qn_tensor_f64(member[i].tensor, k);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
