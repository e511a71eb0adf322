/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout_scaled.c - TensorScaled and BlockScaled layouts by hand, what their checks refuse,
 * and quantizers. */
#include "tests/unit/layouts_rig.h"

#include "ir/layout_quantizer.h"

static void
put(fixture *f, qn_layout_tensor *t, const char *name, const char *dtype, int32_t rank,
    const int64_t *dim, const double *v)
{
	const qn_dtype *type = qn_dtype_by_name(dtype);
	const int64_t n = qn_layout_count(rank, dim, 1);
	uint8_t *data = QN_NEW(&f->arena, uint8_t, (size_t)n * type->bytes);

	for (int64_t i = 0; i < n; i++)
		qn_dtype_store(type, data, i, v[i]);
	assert_int_equal(qn_plane_of(&f->env, "t", name, type, rank, dim, data,
				     (size_t)n * type->bytes, &t->plane[t->nplane++]),
			 QN_OK);
}

#define D(...)                                                                                     \
	(const int64_t[])                                                                          \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define V(...)                                                                                     \
	(const double[])                                                                           \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void
refused(fixture *f, const qn_layout_tensor *t, const char *id, const char *words)
{
	assert_int_equal(qn_layout_check(&f->env, "t", t), QN_EINVALID);
	assert_string_equal(last_id(f), id);
	if (strstr(f->diags.item[f->diags.n - 1].message, words) == NULL)
		fail_msg("'%s' without '%s'", f->diags.item[f->diags.n - 1].message, words);
}

static void
tensor_scaled(void **state)
{
	fixture *f = *state;
	qn_layout_tensor t = {.layout = row_of(f, "TensorScaledLayout"), .rank = 2, .dim = {2, 3}};

	put(f, &t, "d", "f32", 0, NULL, V(0.25));
	put(f, &t, "qs", "i8", 2, D(2, 3), V(1, -2, 3, 4, 5, -128));
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
	float *y = dequant(f, &t);
	assert_true(y[0] == 0.25F && y[1] == -0.5F && y[5] == -32.0F);
	put(f, &t, "m", "i8", 0, NULL, V(1));
	y = dequant(f, &t);
	assert_true(y[0] == 0.0F && y[1] == -0.75F && y[5] == -32.25F);
	/* In the type of d: in f16, 2049 - 0 is 2048 and 2048 * 3 = 6144; the result is bf16. */
	t = (qn_layout_tensor){.layout = t.layout, .rank = 1, .dim = {1}};
	put(f, &t, "d", "f16", 1, D(1), V(3));
	put(f, &t, "qs", "i16", 1, D(1), V(2049));
	assert_true(dequant(f, &t)[0] == 6144.0F);
	t.plane[0].dtype = qn_dtype_by_name("bf16");
	put(f, &t, "m", "i16", 1, D(1), V(0));
	qn_layout_set_meta(&t, "dtype", "\"float16\"");
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
	qn_layout_set_meta(&t, "dtype", "\"half\"");
	refused(f, &t, "layout.meta", "dtype is \"half\"");
}

static void
broadcast_scales(void **state)
{
	fixture *f = *state;
	const qn_layout_row *row = row_of(f, "TensorScaledLayout");
	qn_layout_tensor t = {.layout = row, .rank = 2, .dim = {2, 3}};

	put(f, &t, "d", "f32", 2, D(2, 1), V(1, 10));
	put(f, &t, "qs", "u8", 2, D(2, 3), V(1, 2, 3, 4, 5, 6));
	put(f, &t, "m", "f32", 2, D(2, 1), V(0, 1));
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
	assert_same_floats((const float[]){1, 2, 3, 30, 40, 50}, dequant(f, &t), 6);
	t = (qn_layout_tensor){.layout = row, .rank = 2, .dim = {2, 3}};
	put(f, &t, "d", "f32", 1, D(3), V(1, 10, 100)); /* aligned with the last axis */
	put(f, &t, "qs", "u8", 2, D(2, 3), V(1, 2, 3, 4, 5, 6));
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
	assert_same_floats((const float[]){1, 20, 300, 4, 50, 600}, dequant(f, &t), 6);
	t.nplane = 1;
	put(f, &t, "qs", "u8", 2, D(3, 2), V(1, 2, 3, 4, 5, 6));
	refused(f, &t, "layout.shape", "plane 'qs'");
	t.nplane = 0;
	put(f, &t, "d", "f32", 1, D(2), V(1, 10));
	put(f, &t, "qs", "u8", 2, D(2, 3), V(1, 2, 3, 4, 5, 6));
	refused(f, &t, "layout.shape", "plane 'd'");
	t.nplane = 0;
	put(f, &t, "d", "i32", 1, D(3), V(1, 10, 100));
	put(f, &t, "qs", "u8", 2, D(2, 3), V(1, 2, 3, 4, 5, 6));
	refused(f, &t, "layout.dtype", "i32 (expected a float type)");
	t.nplane = 0;
	put(f, &t, "d", "f32", 1, D(3), V(1, 10, 100));
	refused(f, &t, "layout.plane", "no plane 'qs'");
	put(f, &t, "qs", "u8", 2, D(2, 3), V(1, 2, 3, 4, 5, 6));
	put(f, &t, "m", "i16", 1, D(3), V(1, 2, 3));
	refused(f, &t, "layout.dtype", "plane 'm'");
	t.nplane = 2;
	put(f, &t, "zp", "u8", 1, D(3), V(1, 2, 3));
	refused(f, &t, "layout.plane", "knows no plane 'zp'");
}

static void
block_scaled(void **state)
{
	fixture *f = *state;
	qn_layout_tensor t = {.layout = row_of(f, "BlockScaledLayout"), .rank = 2, .dim = {1, 4}};

	put(f, &t, "d", "f32", 3, D(1, 2, 1), V(2, 0.5));
	put(f, &t, "qs", "i8", 3, D(1, 2, 2), V(1, 2, 3, 4));
	put(f, &t, "m", "f32", 3, D(1, 2, 1), V(10, -1));
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
	/* m is added, and not in units of d */
	assert_same_floats((const float[]){12, 14, 0.5F, 1}, dequant(f, &t), 4);
	assert_int_equal(qn_layout_block(&t), 2);
	t.dim[1] = 6;
	refused(f, &t, "layout.shape", "plane 'qs'");
	t.dim[1] = 4;
	t.plane[0].dim[1] = 1;
	refused(f, &t, "layout.shape", "plane 'm'");
	t.plane[0].dim[1] = 2;
	t.layout = row_of(f, "BlockScaledI4Layout");
	refused(f, &t, "layout.dtype", "two values");
	t.plane[1].dtype = qn_dtype_by_name("u8");
	refused(f, &t, "layout.meta", "signed");
	qn_layout_set_meta(&t, "signed", "true");
	refused(f, &t, "layout.shape", "plane 'qs'");
	t.dim[1] = 8;
	assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
}

/* ---- quantizers ---- */

static qn_status
quantized(fixture *f, const qn_scaled_quantizer *q, int32_t rank, const int64_t *dim,
	  const float *x, qn_layout_tensor *out)
{
	const qn_layout_tensor t = qn_layout_of_f32(&f->arena, rank, dim, x);
	qn_status status = qn_scaled_quantize(&f->env, &f->arena, "t", q, &t, out);

	if (status == QN_OK)
		assert_int_equal(qn_layout_check(&f->env, "t", out), QN_OK);
	return status;
}

static double
at(const qn_layout_tensor *t, const char *plane, int64_t i)
{
	const qn_plane *p = qn_layout_plane(t, plane);

	assert_non_null(p);
	return qn_dtype_load(p->dtype, p->data, i);
}

static void
static_scales(void **state)
{
	fixture *f = *state;
	qn_scaled_quantizer q = {.dtype = qn_dtype_by_name("i8"),
				 .axis = QN_NO_AXIS,
				 .n = 1,
				 .scale = (const float[]){4}};
	qn_layout_tensor t;

	assert_int_equal(quantized(f, &q, 1, D(3), (const float[]){0.5F, -1.25F, 40}, &t), QN_OK);
	assert_true(at(&t, "qs", 0) == 2 && at(&t, "qs", 1) == -5 && at(&t, "qs", 2) == 127);
	assert_true(at(&t, "d", 0) == 0.25);
	assert_null(qn_layout_plane(&t, "m"));
	assert_string_equal(qn_layout_meta(&t, "dtype"), "\"float32\"");
	q.no_saturation = true;
	assert_int_equal(quantized(f, &q, 1, D(3), (const float[]){0.5F, -1.25F, 40}, &t),
			 QN_EINVALID);
	assert_string_equal(last_id(f), "quantizer.range");
	q = (qn_scaled_quantizer){.dtype = qn_dtype_by_name("u8"),
				  .axis = QN_NO_AXIS,
				  .n = 1,
				  .scale = (const float[]){2},
				  .offset = V(10)};
	assert_int_equal(quantized(f, &q, 1, D(3), (const float[]){-3, 0.25F, 1}, &t), QN_OK);
	assert_true(at(&t, "qs", 0) == 4 && at(&t, "qs", 1) == 10 && at(&t, "qs", 2) == 12);
	assert_same_floats((const float[]){-3, 0, 1}, dequant(f, &t), 3);
	q = (qn_scaled_quantizer){.dtype = qn_dtype_by_name("i8"),
				  .axis = 1,
				  .n = 2,
				  .scale = (const float[]){1, 10}};
	assert_int_equal(quantized(f, &q, 2, D(1, 2), (const float[]){1.4F, 1.44F}, &t), QN_OK);
	assert_true(at(&t, "qs", 0) == 1 && at(&t, "qs", 1) == 14);
	/* blocks: the offset becomes one in units of values */
	q = (qn_scaled_quantizer){.dtype = qn_dtype_by_name("u8"),
				  .axis = QN_NO_AXIS,
				  .block = 2,
				  .n = 2,
				  .scale = (const float[]){2, 4},
				  .offset = V(1, 3)};
	assert_int_equal(quantized(f, &q, 2, D(1, 4), (const float[]){1, 2, 1, 0.5F}, &t), QN_OK);
	assert_string_equal(t.layout->name, "BlockScaledLayout");
	assert_true(at(&t, "qs", 1) == 5 && at(&t, "qs", 2) == 7);
	assert_same_floats((const float[]){1, 2, 1, 0.5F}, dequant(f, &t), 4);
}

static void
dynamic_scales(void **state)
{
	fixture *f = *state;
	qn_scaled_quantizer q = {
		.dtype = qn_dtype_by_name("i8"), .axis = QN_NO_AXIS, .dynamic = true};
	qn_layout_tensor t, again;

	assert_int_equal(quantized(f, &q, 1, D(2), (const float[]){-2, 1}, &t), QN_OK);
	assert_true(at(&t, "qs", 0) == -127 && at(&t, "qs", 1) == 64); /* 63.5: to even */
	assert_true(at(&t, "d", 0) == (double)(1.0F / 63.5F));
	assert_int_equal(quantized(f, &q, 1, D(2), (const float[]){0, 0}, &t), QN_OK);
	assert_true(at(&t, "qs", 0) == 0 && at(&t, "d", 0) == (double)(1.0F / 127e6F));
	assert_int_equal(qn_scaled_quantize(&f->env, &f->arena, "t", &q, &t, &again), QN_OK);
	assert_string_equal(last_id(f), "quantizer.again");
	q.dtype = qn_dtype_by_name("f8E4M3FN"); /* 448 / 2; 1 becomes 224, exactly */
	assert_int_equal(quantized(f, &q, 1, D(2), (const float[]){-2, 1}, &t), QN_OK);
	assert_true(at(&t, "qs", 0) == -448 && at(&t, "qs", 1) == 224);
	q.dtype = qn_dtype_by_name("i8");
	q.axis = 0;
	assert_int_equal(quantized(f, &q, 2, D(2, 2), (const float[]){1, 0.5F, 100, -50}, &t),
			 QN_OK);
	assert_true(at(&t, "qs", 1) == 64 && at(&t, "qs", 2) == 127 && at(&t, "qs", 3) == -64);
	q.dtype = qn_dtype_by_name("u8");
	assert_int_equal(quantized(f, &q, 1, D(2), (const float[]){-2, 1}, &t), QN_EINVALID);
	assert_string_equal(last_id(f), "quantizer.dtype");
}

static void
refused_quantizers(void **state)
{
	fixture *f = *state;
	const float x[4] = {1, 2, 3, 4};
	const float scale[] = {1, 0, 2, 3};
	const struct {
		qn_scaled_quantizer q;
		const char *id;
	} rows[] = {
		{{.axis = QN_NO_AXIS, .n = 2, .scale = scale}, "quantizer.scale"},
		{{.axis = 0, .n = 2, .scale = scale}, "quantizer.scale"}, /* the second is 0 */
		{{.axis = 0, .n = 1, .scale = scale}, "quantizer.shape"},
		{{.axis = 2, .n = 1, .scale = scale}, "quantizer.axis"},
		{{.axis = 0, .block = 2, .n = 1, .scale = scale}, "quantizer.axis"},
		{{.axis = QN_NO_AXIS, .block = 3, .n = 1, .scale = scale}, "quantizer.shape"},
		{{.axis = QN_NO_AXIS, .n = 1, .scale = scale, .offset = (const double[]){128}},
		 "quantizer.offset"},
	};
	qn_layout_tensor t;

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		qn_scaled_quantizer q = rows[i].q;

		q.dtype = qn_dtype_by_name("i8");
		assert_int_equal(quantized(f, &q, 2, D(2, 2), x, &t), QN_EINVALID);
		assert_string_equal(last_id(f), rows[i].id);
	}
}

/* ---- element types ---- */

static void
element_types(void **state)
{
	uint8_t bytes[8];

	(void)state;
	for (size_t i = 0; qn_dtype_row(i) != NULL; i++) {
		const qn_dtype *t = qn_dtype_row(i);
		double min, max, epsilon;

		assert_ptr_equal(qn_dtype_by_name(t->name), t);
		assert_ptr_equal(qn_dtype_by_torch(t->torch), t);
		if (t->safetensors != NULL)
			assert_ptr_equal(qn_dtype_by_safetensors(t->safetensors), t);
		if (t->ggml >= 0)
			assert_ptr_equal(qn_dtype_by_ggml((uint32_t)t->ggml), t);
		qn_dtype_range(t, &min, &max, &epsilon);
		if (t->bytes < 8) {
			assert_true(qn_dtype_round(t, max) == max);
			assert_true(qn_dtype_round(t, min) == min);
		}
		if (t->small == QN_SMALL_NONE)
			continue;
		for (int k = 0; k < 256; k++) { /* each code is the nearest to its own value */
			const double v = qn_small_value(t->small, (uint8_t)k);

			qn_dtype_store(t, bytes, 0, v);
			if (isfinite(v))
				assert_int_equal(bytes[0], k);
			else
				assert_true(isnan(v) == isnan(qn_dtype_load(t, bytes, 0)) ||
					    isinf(v));
		}
	}
	assert_null(qn_dtype_by_name("f17"));
	assert_true(qn_dtype_round(qn_dtype_by_name("f8E4M3FN"), 17) == 16); /* a tie, to even */
	assert_true(qn_dtype_round(qn_dtype_by_name("f8E4M3FN"), 19) == 20);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(tensor_scaled),  T(broadcast_scales),   T(block_scaled),  T(static_scales),
		T(dynamic_scales), T(refused_quantizers), T(element_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
