/* SPDX-License-Identifier: Apache-2.0 */
/* test_quant_params.c - quant_params.json applied to float weights, and quantizers in archives. */
#include "tests/unit/layouts_rig.h"

#include "formats/quant_params.h"
#include "ir/layout_quantizer.h"

#define D(...)                                                                                     \
	(const int64_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define F(...)                                                                                     \
	(const float[])                                                                            \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void
put(fixture *f, qn_archive_data *d, const char *name, int32_t rank, const int64_t *dim,
    const float *x)
{
	const int64_t n = qn_layout_count(rank, dim, 1);
	float *copy = QN_NEW(&f->arena, float, (size_t)n);

	memcpy(copy, x, (size_t)n * sizeof *x);
	const qn_layout_tensor t = qn_layout_of_f32(&f->arena, rank, dim, copy);
	assert_true(qn_archive_put(d, name, &t));
}

/* fc: weight 2x3, bias; attn.to_kv: weight 4x2; norm: a vector. */
static void
model(fixture *f, qn_archive_data *d)
{
	qn_archive_init(d, &f->arena, "", "m.safetensors");
	put(f, d, "fc.weight", 2, D(2, 3), F(0.1F, -0.25F, 20, 0.2F, 0.5F, -0.1F));
	put(f, d, "fc.bias", 1, D(2), F(1, 2));
	put(f, d, "norm", 1, D(2), F(1, 1));
	put(f, d, "attn.to_kv.weight", 2, D(4, 2), F(1, 2, 3, 4, 5, 6, 7, 8));
}

static qn_status
apply(fixture *f, const char *json, qn_archive_data *out)
{
	qn_archive_data d;

	model(f, &d);
	return qn_quant_params_apply(&d, "q.json", json, strlen(json), out);
}

static double
at(const qn_archive_data *d, const char *name, const char *plane, int64_t i)
{
	const qn_named_tensor *t = qn_archive_named(d, name);

	assert_non_null(t);
	const qn_plane *p = qn_layout_plane(&t->t, plane);
	assert_non_null(p);
	return qn_dtype_load(p->dtype, p->data, i);
}

static void
one_layer(void **state)
{
	fixture *f = *state;
	qn_archive_data d;

	if (apply(f,
		  "{\"fc\": {\"input_scale\": [0.02], \"input_scale_shape\": [], "
		  "\"weight_scale\": [0.1, 0.2], \"weight_scale_shape\": [2, 1]}}",
		  &d) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(d.n, 5);
	static const char *const names[] = {"fc.weight", "fc.q_input", "fc.bias", "norm",
					    "attn.to_kv.weight"};
	for (size_t i = 0; i < 5; i++) {
		assert_string_equal(d.tensor[i].name, names[i]);
		assert_int_equal(qn_layout_check(&f->env, "t", &d.tensor[i].t), QN_OK);
	}
	const qn_layout_tensor *w = &d.tensor[0].t;
	assert_string_equal(w->layout->name, "TensorScaledLayout");
	assert_true(at(&d, "fc.weight", "qs", 0) == 1 && at(&d, "fc.weight", "qs", 1) == -2);
	assert_true(at(&d, "fc.weight", "qs", 2) == 127 && at(&d, "fc.weight", "qs", 4) == 2);
	assert_null(qn_layout_plane(w, "m"));
	assert_true(at(&d, "fc.bias", "qs", 0) == 500 && at(&d, "fc.bias", "qs", 1) == 500);
	assert_true(at(&d, "fc.bias", "d", 0) == (double)(0.02F * 0.1F));
	assert_true(at(&d, "fc.bias", "d", 1) == (double)(0.02F * 0.2F));
	assert_true(at(&d, "fc.q_input", "scale", 0) == 50 &&
		    at(&d, "fc.q_input", "rscale", 0) == (double)0.02F);
	assert_string_equal(qn_layout_meta(&d.tensor[1].t, "dtype"), "\"int8\"");
}

static void
other_keys(void **state)
{
	fixture *f = *state;
	qn_archive_data d;

	/* Only an input multiplier: a float layer. */
	assert_int_equal(apply(f,
			       "{\"fc\": {\"smoothquant_mul\": [1, 2, 3], "
			       "\"smoothquant_mul_shape\": [1, 3]}}",
			       &d),
			 QN_OK);
	assert_int_equal(d.n, 5);
	assert_true(qn_layout_is_plain(&qn_archive_named(&d, "fc.weight")->t));
	assert_true(at(&d, "fc.premul_input", "", 2) == 3);
	assert_null(qn_archive_named(&d, "fc.q_input"));
	/* Zero points of weights, an output scale, an output of attention. */
	if (apply(f,
		  "{\"fc\": {\"input_scale\": 0.5, \"input_zp\": [0], \"input_zp_dtype\": "
		  "\"torch.uint8\", \"weight_scale\": [0.1], \"weight_scale_shape\": [], "
		  "\"weight_zp\": [3], \"weight_zp_dtype\": \"torch.uint8\", "
		  "\"output_scale\": [2]}, \"attn.out_q\": {\"act_scale\": [0.25], "
		  "\"act_zp_dtype\": \"torch.int8\"}}",
		  &d) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_true(at(&d, "fc.weight", "qs", 0) == 4 && at(&d, "fc.weight", "qs", 1) == 0);
	assert_true(at(&d, "fc.weight", "m", 0) == 3);
	assert_true(at(&d, "fc.q_output", "scale", 0) == 0.5);
	assert_true(at(&d, "attn.out_q.q_output", "scale", 0) == 4);
	assert_string_equal(qn_layout_meta(&qn_archive_named(&d, "fc.q_input")->t, "dtype"),
			    "\"uint8\"");
	assert_true(dequant(f, &qn_archive_named(&d, "fc.weight")->t)[0] == 0.1F);
}

static void
fused_layers(void **state)
{
	fixture *f = *state;
	qn_archive_data d;

	if (apply(f,
		  "{\"attn.to_kv\": {\"input_scale\": [1], \"weight_scale\": [1, 1, 2, 2], "
		  "\"weight_scale_shape\": [4, 1]}}",
		  &d) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_null(qn_archive_named(&d, "attn.to_kv.weight"));
	assert_true(at(&d, "attn.to_k.weight", "qs", 3) == 4);
	assert_true(at(&d, "attn.to_v.weight", "qs", 0) == 2); /* 2.5: to even */
	assert_true(at(&d, "attn.to_v.weight", "qs", 3) == 4);
	assert_true(at(&d, "attn.to_v.weight", "d", 1) == 2);
	assert_non_null(qn_archive_named(&d, "attn.to_k.q_input"));
	assert_non_null(qn_archive_named(&d, "attn.to_v.q_input"));
}

static void
mistakes(void **state)
{
	static const struct {
		const char *json, *id, *words;
	} rows[] = {
		{"[]", "quant-params.json", "not an object of layers"},
		{"{\"fc\": 1}", "quant-params.json", "q.json:/fc"},
		{"{\"fd\": {}}", "quant-params.layer", "no tensor 'fd.weight'"},
		{"{\"fc\": {\"weight_scale\": [1]}}", "quant-params.missing",
		 "'weight_scale' needs 'input_scale'"},
		{"{\"fc\": {\"input_zp\": [0]}}", "quant-params.missing", "needs"},
		{"{\"fc\": {\"input_scale\": [1], \"weight_scale\": [1], \"input_zp\": [3]}}",
		 "quant-params.zp", "q.json:/fc/input_zp"},
		{"{\"fc\": {\"input_scale\": [1, 1], \"input_scale_shape\": [2], "
		 "\"weight_scale\": [1]}}",
		 "quant-params.shape", "not one number"},
		{"{\"fc\": {\"input_scale\": [1], \"input_scale_shape\": [4], "
		 "\"weight_scale\": [1]}}",
		 "quant-params.shape", "the shape has 4 elements, 'input_scale' has 1"},
		{"{\"fc\": {\"input_scale\": [1], \"weight_scale\": [1, 1, 1], "
		 "\"weight_scale_shape\": [1, 3]}}",
		 "quant-params.shape", "each output channel"},
		{"{\"fc\": {\"input_scale\": [1], \"weight_scale\": [-1]}}", "quant-params.json",
		 "positive"},
		{"{\"fc\": {\"input_scale\": [1e-6], \"weight_scale\": [1e-6]}}",
		 "quant-params.overflow", "element 0 becomes"},
		{"{\"fc\": {\"input_scale\": [1], \"weight_scale\": [1], \"input_zp_dtype\": "
		 "\"torch.int9\"}}",
		 "quant-params.json", "unknown element type"},
		{"{\"fc\": {\"input_scale\": [1], \"weight_scale\": [1], \"weight_zp\": "
		 "[300]}}",
		 "quant-params.zp", "not an integer of its type"},
		{"{\"fc\": {\"input_scale\": [1], \"weight_scale\": [1], \"input_zp_dtype\": "
		 "\"torch.int64\"}}",
		 "quant-params.json", "unknown element type"},
		{"{\"attn.to_kv\": {\"input_scale\": [1], \"weight_scale\": [1]}, \"fc\": {}, "
		 "\"fc\": {}}",
		 "quant-params.json", "fc"},
	};
	fixture *f = *state;
	qn_archive_data d;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		if (apply(f, rows[i].json, &d) == QN_OK)
			fail_msg("row %zu is accepted", i);
		if (strcmp(last_id(f), rows[i].id) != 0 ||
		    strstr(all_diags(f), rows[i].words) == NULL)
			fail_msg("row %zu: %s", i, all_diags(f));
		restart(f);
	}
}

static qn_status
parse(fixture *f, const char *s, size_t n)
{
	qn_archive_data d, out;

	model(f, &d);
	return qn_quant_params_apply(&d, "q.json", s, n, &out);
}

static void
every_cut_and_change(void **state)
{
	static const char json[] = "{\"fc\": {\"input_scale\": [0.02], \"weight_scale\": [0.1, "
				   "0.2], \"weight_scale_shape\": [2, 1], \"weight_zp\": [0, 1]}}";

	hurt(*state, parse, json, sizeof json - 1);
}

/* ---- quantizers in archives ---- */

static void
quantizers_in_archives(void **state)
{
	fixture *f = *state;
	const qn_scaled_quantizer q = {.dtype = qn_dtype_by_name("u8"),
				       .axis = 1,
				       .n = 2,
				       .scale = F(2, 4),
				       .offset = (const double[]){1, 10},
				       .no_saturation = true};
	const qn_scaled_quantizer dynamic = {
		.dtype = qn_dtype_by_name("i8"), .axis = QN_NO_AXIS, .dynamic = true};
	const qn_layout_tensor tensors[] = {qn_quantizer_store(&f->arena, &q),
					    qn_quantizer_store(&f->arena, &dynamic)};
	qn_archive_data d, ready, again;
	qn_buf b;

	qn_archive_init(&d, &f->arena, "", "x.irpa");
	assert_true(qn_archive_put(&d, "a.q", &tensors[0]));
	assert_true(qn_archive_put(&d, "b.q", &tensors[1]));
	assert_int_equal(qn_irpa_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	qn_buf_init(&b, &f->arena);
	qn_irpa_print(&b, &ready);
	qn_archive_init(&again, &f->arena, "IRPA", "x.irpa");
	if (qn_irpa_read(&again, b.data, b.n) != QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(again.n, 2);
	qn_scaled_quantizer have;
	assert_true(qn_layout_is_quantizer(&again.tensor[0].t));
	qn_quantizer_load(&f->arena, &again.tensor[0].t, &have);
	assert_true(have.dtype == q.dtype && have.axis == 1 && have.n == 2 && !have.dynamic);
	assert_true(have.scale[1] == 4 && have.rscale[1] == 0.25F && have.offset[1] == 10);
	assert_true(have.no_saturation);
	const qn_layout_tensor x = qn_layout_of_f32(&f->arena, 2, D(1, 2), F(1.5F, 2));
	qn_layout_tensor y;
	assert_int_equal(qn_scaled_quantize(&f->env, &f->arena, "t", &have, &x, &y), QN_OK);
	assert_true(y.plane[1].data[0] == 4 && y.plane[1].data[1] == 18);
	qn_quantizer_load(&f->arena, &again.tensor[1].t, &have);
	assert_true(have.dynamic && have.dtype == dynamic.dtype);
	/* A GGUF file has none: they are left out, and that is said. */
	assert_int_equal(qn_gguf_prepare(&f->env, &f->arena, &d, &ready), QN_OK);
	assert_int_equal(ready.n, 0);
	assert_string_equal(last_id(f), "gguf.quantizer");
	/* Without rscale it is refused in a file. */
	qn_layout_tensor bad = tensors[0];
	bad.plane[1] = bad.plane[2];
	bad.nplane = 2;
	assert_int_equal(qn_layout_check(&f->env, "t", &bad), QN_EINVALID);
	assert_string_equal(last_id(f), "layout.plane");
	bad = tensors[0];
	qn_layout_set_meta(&bad, "axis", "9");
	assert_int_equal(qn_layout_check(&f->env, "t", &bad), QN_EINVALID);
	assert_string_equal(last_id(f), "layout.meta");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(one_layer), T(other_keys),           T(fused_layers),
		T(mistakes),  T(every_cut_and_change), T(quantizers_in_archives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
