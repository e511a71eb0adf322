/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_npy.c - any bytes as a NumPy file.  What is accepted is written and read again. */
#include "tests/fuzz/fuzz.h"

#include "formats/npy.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *m = fuzz_model(f);
	qn_tensor *x = NULL;
	qn_tensor *y = NULL;
	qn_buf b;

	if (qn_npy_parse(&m->types, &f->arena, "x", data, size, &x) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	qn_buf_init(&b, &f->arena);
	qn_npy_print(&b, x);
	FUZZ_CHECK(qn_npy_parse(&m->types, &f->arena, "y", b.data, b.n, &y) == QN_OK);
	FUZZ_CHECK(x->type == y->type && x->bytes == y->bytes);
	FUZZ_CHECK(x->bytes == 0 || memcmp(x->data, y->data, x->bytes) == 0);
	for (int64_t i = 0; i < qn_type_count(x->type); i++)
		(void)qn_tensor_f64(x, i);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
