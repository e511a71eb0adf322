/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_safetensors.c - any bytes as a safetensors file; the tensor "w" is read to its last
 * element. */
#include "tests/fuzz/fuzz.h"

#include "formats/safetensors.h"

static void
target(fuzz *f, const char *data, size_t size)
{
	qn_model *m = fuzz_model(f);
	qn_safetensors *s = NULL;

	if (qn_safetensors_parse(&m->types, &f->arena, "x", data, size, &s) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	const qn_tensor *w = qn_safetensors_find(s, "w");
	const char *const names[] = {"w"};
	qn_safetensors *again = NULL;
	qn_buf b;

	if (w == NULL)
		return;
	qn_buf_init(&b, &f->arena);
	qn_safetensors_print(&b, 1, names, &w);
	FUZZ_CHECK(qn_safetensors_parse(&m->types, &f->arena, "y", b.data, b.n, &again) == QN_OK);
	const qn_tensor *v = qn_safetensors_find(again, "w");
	FUZZ_CHECK(v != NULL && v->type == w->type && v->bytes == w->bytes);
	FUZZ_CHECK(w->bytes == 0 || memcmp(v->data, w->data, w->bytes) == 0);
	for (int64_t i = 0; i < qn_type_count(w->type); i++)
		(void)qn_tensor_f64(w, i);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
