/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_quant_params.c - any text as quant_params.json of an archive, and of a graph, with a layer, its
 * bias and a matrix for keys and values: what it makes of the archive can be checked and written to
 * another one, what it makes of the graph can be verified and printed. */
#include "tests/fuzz/fuzz.h"

#include "formats/quant_params.h"
#include "import/quant_params.h"
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
to_graph(fuzz *f, const char *data, size_t size)
{
	static const char text[] =
		"model \"m\" stage float\ngraph @main(%x: tensor<1x3xf32>) {\n"
		"%fc.weight = const : tensor<2x3xf32> [0.1, -0.25, 20.0, 0.2, 0.5, -0.1]\n"
		"%fc.bias = const : tensor<2xf32> [1.0, 2.0]\n"
		"%a.to_kv.weight = const : tensor<4x2xf32> splat 0.5\n"
		"%y = dense %x, %fc.weight, %fc.bias\n%z = relu %y\n"
		"%kv = dense %z, %a.to_kv.weight\n"
		"%a.out_q = relu %kv\nreturn %a.out_q\n}\n";
	qn_model m;
	qn_buf b;

	qn_model_init(&m, &f->env, &f->arena, "m");
	m.scratch = &f->arena;
	FUZZ_CHECK(qn_model_parse(&m, "m.qir", text, sizeof text - 1) == QN_OK);
	if (qn_import_quant_params_text(&m, "q.json", data, size) != QN_OK) {
		FUZZ_CHECK(fuzz_told(f));
		return;
	}
	FUZZ_CHECK(qn_model_verify(&m) == QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_model_print(&b, &m);
}

static void
to_archive(fuzz *f, const char *data, size_t size)
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

static void
target(fuzz *f, const char *data, size_t size)
{
	to_graph(f, data, size);
	to_archive(f, data, size);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_run(target, data, size);
	return 0;
}
