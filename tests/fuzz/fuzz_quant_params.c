/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_quant_params.c - any text as quant_params.json of an archive with a layer, its bias and a matrix
 * for keys and values: what it makes can be checked, and written to an archive. */
#include "tests/fuzz/fuzz.h"

#include "formats/quant_params.h"
#include "ir/layout_quantizer.h"

static void
put(qn_archive_data *d, const char *name, int32_t rank, const int64_t *dim, const float *x)
{
	const qn_layout_tensor t = qn_layout_of_f32(d->arena, rank, dim, x);

	FUZZ_CHECK(qn_archive_put(d, name, &t));
}

static void
check(fuzz *f, const qn_layout_tensor *t)
{
	FUZZ_CHECK(qn_layout_check(&f->env, "t", t) == QN_OK);
	if (!qn_layout_is_quantizer(t)) {
		qn_layout_dequant(t, QN_NEW(&f->arena, float, (size_t)qn_layout_elements(t) + 1));
		return;
	}
	qn_scaled_quantizer q;
	qn_quantizer_load(&f->arena, t, &q);
	FUZZ_CHECK(qn_scaled_quantizer_check(&f->env, "t", &q) == QN_OK);
}

static void
target(fuzz *f, const char *data, size_t size)
{
	static const float x[] = {0.1F, -0.25F, 20, 0.2F, 0.5F, -0.1F, 1e30F, 0};
	qn_archive_data d, out, ready;

	qn_archive_init(&d, &f->arena, "safetensors", "x");
	put(&d, "fc.weight", 2, (const int64_t[]){2, 3}, x);
	put(&d, "fc.bias", 1, (const int64_t[]){2}, x);
	put(&d, "a.to_kv.weight", 2, (const int64_t[]){4, 2}, x);
	if (qn_quant_params_apply(&d, "q.json", data, size, &out) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	for (size_t i = 0; i < out.n; i++)
		check(f, &out.tensor[i].t);
	if (qn_irpa_prepare(&f->env, &f->arena, &out, &ready) != QN_OK)
		FUZZ_CHECK(fuzz_told(f));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
