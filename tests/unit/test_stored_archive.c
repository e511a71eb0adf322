/* SPDX-License-Identifier: Apache-2.0 */
/* test_stored_archive.c - archives through the public header: quantizers, parts, quant_params.json of an
 * archive and of a model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "quern/layout.h"

static const char *
last(const qn_ctx *ctx)
{
	return qn_diag_count(ctx) > 0 ? qn_diag_get(ctx, qn_diag_count(ctx) - 1).id : "";
}

static qn_stored *
tensor(qn_ctx *ctx, const char *name, int rank, const int64_t *shape, const float *x)
{
	qn_array *a;
	qn_stored *t;

	assert_int_equal(qn_array_new(ctx, "f32", rank, shape, x, &a), QN_OK);
	assert_int_equal(qn_stored_of_array(ctx, name, a, &t), QN_OK);
	qn_array_free(a);
	return t;
}

static const float six[] = {0.1F, -0.25F, 20, 0.2F, 0.5F, -0.1F};
static const int64_t two_by_three[] = {2, 3};

static const int8_t *
codes(const qn_stored *t)
{
	for (size_t i = 0; i < qn_stored_planes(t); i++)
		if (strcmp(qn_stored_plane(t, i).name, "qs") == 0)
			return qn_stored_plane(t, i).data;
	fail_msg("no plane 'qs'");
	return NULL;
}

static void
quantizers(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_stored *w = tensor(ctx, "w", 2, two_by_three, six), *q, *quantizer, *none;
	const float scale[] = {10, 5};
	qn_scaled_quantizer_opts o = {.size = sizeof o,
				      .dtype = "i8",
				      .per_axis = 1,
				      .axis = 0,
				      .nscale = 2,
				      .scale = scale};
	qn_array *a;

	(void)state;
	assert_int_equal(qn_quantizer_new(ctx, "fc.q_input", &o, &quantizer), QN_OK);
	assert_string_equal(qn_stored_layout(quantizer), "StaticScaledQuantizer");
	assert_int_equal(qn_stored_planes(quantizer), 2);
	assert_string_equal(qn_stored_plane(quantizer, 1).name, "rscale");
	assert_int_equal(qn_stored_quantize_by(quantizer, w, &q), QN_OK);
	assert_true(codes(q)[1] == -2 && codes(q)[2] == 127 && codes(q)[4] == 2);
	assert_int_equal(qn_stored_quantize_by(w, w, &none), QN_EUSAGE);
	assert_string_equal(last(ctx), "quantizer.kind");
	assert_null(none);
	assert_int_equal(qn_stored_values(quantizer, 0, &a), QN_EUSAGE);
	assert_string_equal(last(ctx), "layout.values");
	assert_int_equal(qn_stored_repack(quantizer, "plain", NULL, &none), QN_EUSAGE);
	assert_string_equal(last(ctx), "layout.values");
	o.per_axis = 0;
	o.block = 3;
	assert_int_equal(qn_quantizer_new(ctx, "q", &o, &none), QN_EUSAGE);
	assert_string_equal(last(ctx), "quantizer.axis");
	o = (qn_scaled_quantizer_opts){.size = sizeof o, .dtype = "i8", .dynamic = 1};
	assert_int_equal(qn_quantizer_new(ctx, "q", &o, &quantizer), QN_OK);
	assert_string_equal(qn_stored_layout(quantizer), "DynamicScaledQuantizer");
	assert_int_equal(qn_stored_planes(quantizer), 0);
	assert_int_equal(qn_stored_quantize_by(quantizer, w, &q), QN_OK);
	assert_true(codes(q)[2] == 127);
	qn_close(ctx);
}

static void
parts(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_stored *w = tensor(ctx, "w", 2, two_by_three, six), *split, *joined, *q, *none;

	(void)state;
	assert_int_equal(qn_stored_split(w, 2, &split), QN_OK);
	assert_string_equal(qn_stored_layout(split), "SplitPrimitiveTensor");
	assert_ptr_equal(qn_stored_plane(split, 0).data, qn_stored_plane(w, 0).data);
	assert_int_equal(qn_stored_split(split, 1, &joined), QN_OK);
	assert_memory_equal(qn_stored_plane(joined, 0).data, qn_stored_plane(w, 0).data,
			    sizeof six);
	for (int count = 0; count < 10; count += 9) {
		assert_int_equal(qn_stored_split(w, count, &none), QN_EUSAGE);
		assert_string_equal(last(ctx), "layout.split");
	}
	assert_int_equal(qn_stored_split(split, 2, &none), QN_EUSAGE);
	assert_int_equal(qn_stored_repack(w, "TensorScaledLayout", NULL, &q), QN_OK);
	assert_int_equal(qn_stored_split(q, 2, &none), QN_EUSAGE);
	assert_int_equal(qn_stored_split(q, 1, &none), QN_EUSAGE);
	assert_null(none);
	qn_close(ctx);
}

static const char params[] = "{\"fc\": {\"input_scale\": 0.02, \"weight_scale\": [0.1, 0.2], "
			     "\"weight_scale_shape\": [2, 1]}}";

static void
params_of_an_archive(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_stored *w = tensor(ctx, "w", 2, two_by_three, six);
	qn_archive *x;

	(void)state;
	assert_int_equal(qn_file_add(ctx, "q.json", params, sizeof params - 1), QN_OK);
	assert_int_equal(qn_file_add(ctx, "bad.json", "{\"fd\": {}}", 10), QN_OK);
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	assert_int_equal(qn_archive_add(x, "fc.weight", w), QN_OK);
	assert_int_equal(qn_archive_apply_quant_params(x, "bad.json"), QN_EINVALID);
	assert_string_equal(last(ctx), "quant-params.layer");
	assert_int_equal(qn_archive_size(x), 1);
	assert_string_equal(qn_stored_layout(qn_archive_get(x, 0)), "plain");
	assert_int_equal(qn_archive_apply_quant_params(x, "q.json"), QN_OK);
	assert_int_equal(qn_archive_size(x), 2);
	assert_string_equal(qn_stored_layout(qn_archive_find(x, "fc.q_input")),
			    "StaticScaledQuantizer");
	assert_true(codes(qn_archive_get(x, 0))[1] == -2 && codes(qn_archive_get(x, 0))[2] == 127);
	/* More can be added afterwards. */
	assert_int_equal(qn_archive_add(x, "other", w), QN_OK);
	assert_string_equal(qn_stored_name(qn_archive_get(x, 2)), "other");
	qn_close(ctx);
}

static void
params_of_a_model(void **state)
{
	static const char text[] =
		"model \"m\" stage float\ngraph @main(%x: tensor<1x3xf32>) {\n"
		"%fc.weight = const : tensor<2x3xf32> [0.1, -0.25, 20.0, 0.2, 0.5, -0.1]\n"
		"%fc = dense %x, %fc.weight\nreturn %fc\n}\n";
	qn_ctx *ctx = qn_open(NULL);
	qn_import_opts o = {.size = sizeof o, .quant_params = "q.json"};
	qn_model *m;

	(void)state;
	assert_int_equal(qn_file_add(ctx, "m.qir", text, sizeof text - 1), QN_OK);
	assert_int_equal(qn_file_add(ctx, "q.json", params, sizeof params - 1), QN_OK);
	assert_int_equal(qn_import(ctx, "m.qir", &o, &m), QN_OK);
	assert_string_equal(qn_model_stage(m), "calibrated");
	o.quant_params = "none.json";
	assert_int_equal(qn_import(ctx, "m.qir", &o, &m), QN_EIO);
	assert_string_equal(last(ctx), "file.open");
	assert_null(m);
	qn_close(ctx);
}

/* The caller's text of a key need not live on, also of one that is replaced. */
static void
replaced_properties(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	char key[16] = "blocks";
	qn_property_view p;
	qn_archive *x;

	(void)state;
	assert_int_equal(qn_archive_new(ctx, &x), QN_OK);
	assert_int_equal(qn_archive_set_property(x, "blocks", "1"), QN_OK);
	assert_int_equal(qn_archive_set_property(x, key, "2"), QN_OK);
	memset(key, 'x', sizeof key - 1);
	assert_int_equal(qn_archive_properties(x), 1);
	assert_int_equal(qn_archive_property(x, 0, &p), QN_OK);
	assert_string_equal(p.key, "blocks");
	assert_string_equal(p.json, "2");
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(replaced_properties),
		cmocka_unit_test(quantizers),
		cmocka_unit_test(parts),
		cmocka_unit_test(params_of_an_archive),
		cmocka_unit_test(params_of_a_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
