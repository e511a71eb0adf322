/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor_quantize.c - quantization of values and tensors, and the ranges that it starts from. */
#include "tests/unit/tensor_rig.h"

#include <float.h>

/* ---- values ---- */

static void
test_quantize_value(void **state)
{
	const struct {
		double x, scale;
		int64_t zp, qmin, qmax, want;
	} row[] = {
		{0.25, 0.1, 0, -128, 127, 2},
		{0.05, 0.1, 0, -128, 127, 0},
		{1.25, 0.5, 0, -128, 127, 2},
		{1.75, 0.5, 0, -128, 127, 4},
		{-1.25, 0.5, 0, -128, 127, -2},
		{-0.75, 0.5, 3, -128, 127, 1},
		{1.0, 0.4, -5, -128, 127, -3},
		{1e9, 1.0, 0, -128, 127, 127},
		{-200.0, 1.0, 0, -127, 127, -127},
		{0.0, 0.7, 42, -128, 127, 42},
		{2.5, 1.0, 1, -128, 127, 3}, /* the zero point comes after the rounding */
		{inf, 0.5, 3, -128, 127, 127},
		{-inf, 0.5, 3, -128, 127, -128},
		{(double)NAN, 0.5, 3, -128, 127, 3},
		{(double)NAN, 0.5, 300, -128, 127, 127},
		{1e30, 1e-30, INT64_MAX, INT64_MIN, INT64_MAX, INT64_MAX},
		{-1e30, 1e-30, INT64_MIN, INT64_MIN, INT64_MAX, INT64_MIN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		int64_t q = qn_quantize_value(row[i].x, row[i].scale, false, row[i].zp, row[i].qmin,
					      row[i].qmax);

		if (q != row[i].want)
			fail_msg("row %zu: %lld, not %lld", i, (long long)q,
				 (long long)row[i].want);
	}
	/* a leaf divides in f32: 0.25f/0.1f rounds to exactly 2.5, the quotient of the doubles
	 * does not */
	assert_int_equal(qn_quantize_value(0.25, (double)0.1f, true, 0, -128, 127), 2);
	assert_int_equal(qn_quantize_value(0.35, 0.1, true, 0, -128, 127), lrintf(0.35f / 0.1f));
	assert_true(qn_dequantize_value(3, (double)0.1f, true, 0) == (double)(3.0f * 0.1f));
	assert_true(qn_dequantize_value(3, (double)0.1f, false, 0) == 3.0 * (double)0.1f);
	assert_true(qn_dequantize_value(-128, 0.5, true, 127) == -127.5);
	assert_true(qn_dequantize_value(INT64_MAX, 1.0, false, INT64_MIN) == 0x1p64);
}

/* |dequantize(quantize(x)) - x| <= scale/2 inside the range, monotone, and exact on codes. */
static void
test_value_properties(void **state)
{
	uint32_t seed = 3;

	(void)state;
	for (int k = 0; k < 1000; k++) {
		const double scale = (double)(float)ldexp(0.5 + uniform(&seed) / 2,
							  (int)(next(&seed) % 40) - 20);
		const int64_t zp = (int64_t)(next(&seed) % 256) - 128;
		int64_t last = -128;
		double x = (-128.5 - (double)zp) * scale;

		for (int64_t q = -128; q <= 127; q++)
			for (int leaf = 0; leaf < 2; leaf++)
				assert_int_equal(
					qn_quantize_value(qn_dequantize_value(q, scale, leaf, zp),
							  scale, leaf, zp, -128, 127),
					q);
		for (int i = 0; i < 100; i++) {
			x = (double)(float)(x + uniform(&seed) * 5.0 * scale);
			const int64_t q = qn_quantize_value(x, scale, true, zp, -128, 127);
			const double back = qn_dequantize_value(q, scale, true, zp);

			assert_true(q >= last);
			last = q;
			if (x >= (-128.0 - (double)zp) * scale && x <= (127.0 - (double)zp) * scale)
				assert_true(fabs(back - x) <=
					    scale / 2 * (1 + 0x1p-20) + fabs(x) * 0x1p-22);
		}
	}
}

/* ---- ranges ---- */

static void
test_ranges(void **state)
{
	const struct {
		double min, max;
		uint8_t bits;
		bool is_signed, narrow, symmetric;
		double scale;
		int64_t zp;
	} row[] = {
		{-1, 1, 8, true, false, false, 2.0 / 255, -1},
		{0, 2.55, 8, false, false, false, 2.55 / 255, 0},
		{0, 6, 8, true, false, false, 6.0 / 255, -128},
		{-1, 1, 8, true, true, true, 1.0 / 127, 0},
		{-2, 1, 8, true, true, true, 2.0 / 127, 0},
		{2, 4, 8, false, false, false, 4.0 / 255, 0},
		{-4, -2, 8, false, false, false, 4.0 / 255, 255},
		{0, 0, 8, true, false, false, 1.0, 0},
		{0, 0x1p-53, 8, true, false, false, 1.0, 0},
		{0, 0x1.fffffffffffffp-53, 8, true, false, false, 1.0, 0},
		{0, 0x1p-52, 8, true, false, false, 0x1p-52 / 255, -128},
		{-0x1p-53, 0x1p-53, 8, true, false, false, 0x1p-52 / 255, -1},
		{-0x1.fffffffffffffp-53, 0x1p-54, 8, true, true, true, 1.0, 0},
		{-0x1p-52, 0x1p-53, 8, true, true, true, 0x1p-52 / 127, 0},
		{0, 0, 8, true, true, true, 1.0, 0},
		{-1, 1, 16, true, true, true, 1.0 / 32767, 0},
		{-1, (double)NAN, 8, true, false, false, 1.0, 0},
		{-inf, inf, 8, true, false, true, 1.0, 0},
		{-1, 1, 1, true, false, true, 1.0, 0}, /* -1..0: no positive code */
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		qn_elem e = qn_elem_desc(row[i].bits, row[i].is_signed);
		double scale;
		int64_t zp;

		e.qmin += row[i].narrow;
		qn_range_to_params(row[i].min, row[i].max, &e, row[i].symmetric, &scale, &zp);
		if (scale != (double)(float)row[i].scale || zp != row[i].zp)
			fail_msg("row %zu: %a:%lld", i, scale, (long long)zp);
	}
	qn_elem positive =
		qn_elem_desc(8, false); /* 0 has no code: the nearest one stands for it */
	positive.qmin = 5;
	double scale;
	int64_t zp;
	qn_range_to_params(0, 0, &positive, false, &scale, &zp);
	assert_int_equal(zp, 5);
}

/* Both ends of the range map into it: no value of the range is off by more than a step. */
static void
test_range_property(void **state)
{
	uint32_t seed = 11;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		const double min = -uniform(&seed) * 10, max = uniform(&seed) * 10;
		const qn_elem e =
			qn_elem_desc((uint8_t)(2 + next(&seed) % 15), next(&seed) % 2 == 0);
		double scale;
		int64_t zp;

		qn_range_to_params(min, max, &e, false, &scale, &zp);
		assert_true(scale > 0 && scale == (double)(float)scale && zp >= e.qmin &&
			    zp <= e.qmax);
		const double slack = scale * 0.51 + max * 0x1p-20 - min * 0x1p-20;
		assert_true(qn_dequantize_value(e.qmin, scale, false, zp) <= min + slack);
		assert_true(qn_dequantize_value(e.qmax, scale, false, zp) >= max - slack);
	}
}

/* ---- tensors ---- */

static const qn_tensor *
quantized(fixture *f, const char *to, const float *x)
{
	const qn_type *q = known(f, to);
	const qn_type *real = qn_type_plain(&f->t, QN_PLAIN_f32, q->rank, q->dim);

	return qn_tensor_quantize(&f->t, &f->arena, qn_tensor_of(&f->arena, real, x), q);
}

static void
expect_codes(const qn_tensor *q, const int64_t *want)
{
	for (int64_t i = 0; i < qn_type_count(q->type); i++)
		assert_int_equal(qn_tensor_i64(q, i), want[i]);
}

static void
test_quantize_tensor(void **state)
{
	fixture *f = *state;
	static const float x[] = {0.5f, 1.0f, 1.5f, 2.0f, -0.5f, -1.0f, -1.5f, -200.0f};

	expect_codes(quantized(f, "tensor<8x!quant.uniform<i8:f32, 0.5:1>>", x),
		     (const int64_t[]){2, 3, 4, 5, 0, -1, -2, -128});
	expect_codes(quantized(f, "tensor<8x!quant.uniform<u8:f32, 0.5:200>>", x),
		     (const int64_t[]){201, 202, 203, 204, 199, 198, 197, 0});
	expect_codes(quantized(f, "tensor<2x4x!quant.uniform<i4:f32:1, {0.5,1.0,0.25,2.0:1}>>", x),
		     (const int64_t[]){1, 1, 6, 2, -1, -1, -6, -8});
	expect_codes(quantized(f, "tensor<2x4x!quant.uniform<i16:f32:0, {0.5,0.25}>>", x),
		     (const int64_t[]){1, 2, 3, 4, -2, -4, -6, -800});
	expect_codes(
		quantized(
			f,
			"tensor<2x4x!quant.uniform<i16:f32:{0:1,1:2}, {{0.5,0.25},{0.125,1.0:5}}>>",
			x),
		(const int64_t[]){1, 2, 6, 8, -4, -8, 3, -195});
	expect_codes(quantized(f, "tensor<2x4x!quant.uniform<i16:f32:{1:3}+, {{0.5,0.25}}>>", x),
		     (const int64_t[]){1, 2, 3, 8, -1, -2, -3, -800});

	const qn_tensor *q = quantized(
		f, "tensor<2x4x!quant.uniform<i16:f32:{0:1,1:2}, {{0.5,0.25},{0.125,1.0:5}}>>", x);
	const qn_tensor *back =
		qn_tensor_dequantize(&f->t, &f->arena, q, known(f, "tensor<2x4xf32>"));
	const float want[] = {0.5f, 1.0f, 1.5f, 2.0f, -0.5f, -1.0f, -2.0f, -200.0f};
	assert_memory_equal(back->data, want, sizeof want);
}

/* A zero point above the signed range of its storage, in text, in normalized types and in values. */
static void
test_zero_point_200(void **state)
{
	static const char *const rows[] = {
		"tensor<2x4x!quant.uniform<u8:f32, 5.000000e-01:200>>",
		"tensor<2x4x!quant.uniform<u8:f32:0, {5.000000e-01:200,5.000000e-01:200}>>",
		"tensor<2x4x!quant.uniform<u8:f32:{0:1, 1:2}, {{5.000000e-01:200, "
		"5.000000e-01:200}, {5.000000e-01:200, 5.000000e-01:200}}>>",
		"tensor<2x4x!quant.uniform<u8:f32:{0:1}, {{5.000000e-01:200}, "
		"{5.000000e-01:200}}>>",
		"tensor<2x4x!quant.uniform<u8:f32:{}, {{5.000000e-01:200}}>>",
		"tensor<2x4x!quant.uniform<u8:f32:{1:3}+, {{5.000000e-01:200, "
		"5.000000e-01:200}}>>",
	};
	static const float x[] = {0.5f, 27.5f, 28.0f, 0.0f, -0.5f, -100.0f, -101.0f, 1.5f};
	static const float y[] = {0.5f, 27.5f, 27.5f, 0.0f, -0.5f, -100.0f, -100.0f, 1.5f};
	static const int64_t want[] = {201, 255, 255, 200, 199, 0, 0, 203};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const qn_tensor *q = quantized(f, rows[i], x);
		const qn_type *plain =
			qn_type_with_elem(&f->t, q->type, qn_elem_normalize(&f->t, q->type->elem));
		qn_buf b;

		qn_buf_init(&b, &f->arena);
		qn_type_print(&b, q->type);
		assert_string_equal(qn_buf_str(&b), rows[i]);
		expect_codes(q, want);
		assert_memory_equal(
			qn_tensor_dequantize(&f->t, &f->arena, q, known(f, "tensor<2x4xf32>"))
				->data,
			y, sizeof y);
		qn_buf_init(&b, &f->arena);
		qn_type_print(&b, plain);
		assert_non_null(strstr(qn_buf_str(&b), ":200"));
		assert_null(strstr(qn_buf_str(&b), "-56"));
	}
}

/* A block that is the whole dim says the same as per axis, and blocks of all dims as per tensor. */
static void
test_equal_granularities(void **state)
{
	static const char *const pair[][2] = {
		{"tensor<4x8x!quant.uniform<i8:f32:{0:1,1:8}, {{0.1},{0.2:3},{0.3},{0.4:-7}}>>",
		 "tensor<4x8x!quant.uniform<i8:f32:0, {0.1,0.2:3,0.3,0.4:-7}>>"},
		{"tensor<4x8x!quant.uniform<i8:f32:{0:4,1:8}, {{0.1:5}}>>",
		 "tensor<4x8x!quant.uniform<i8:f32, 0.1:5>>"},
		{"tensor<4x8x!quant.uniform<i8:f32:{}, {{0.1:5}}>>",
		 "tensor<4x8x!quant.uniform<i8:f32, 0.1:5>>"},
		{"tensor<4x8x!quant.uniform<i8:f32:{0:2}, {{0.1:5},{0.2}}>>",
		 "tensor<4x8x!quant.uniform<i8:f32:0, {0.1:5,0.1:5,0.2,0.2}>>"},
	};
	fixture *f = *state;
	uint32_t seed = 5;
	float x[32];

	for (int i = 0; i < 32; i++)
		x[i] = (float)(uniform(&seed) * 60 - 30);
	for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
		const qn_tensor *a = quantized(f, pair[i][0], x), *b = quantized(f, pair[i][1], x);
		const qn_type *real = known(f, "tensor<4x8xf32>");

		assert_memory_equal(a->data, b->data, 32);
		assert_true(qn_tensor_equal(qn_tensor_dequantize(&f->t, &f->arena, a, real),
					    qn_tensor_dequantize(&f->t, &f->arena, b, real)));
	}
}

/* A product of scales divides in double: a bias with the accumulator's scale. */
static void
test_expression_scale(void **state)
{
	fixture *f = *state;
	const float bias[] = {1.25f, -0.3f};
	const qn_tensor *q =
		quantized(f, "tensor<2x!quant.uniform<i32:f32:0, 0.0001*{0.1,0.003}>>", bias);
	const double s0 = (double)0.0001f * (double)0.1f, s1 = (double)0.0001f * (double)0.003f;

	assert_int_equal(qn_tensor_i64(q, 0), (int64_t)rint(1.25 / s0));
	assert_int_equal(qn_tensor_i64(q, 1), (int64_t)rint((double)-0.3f / s1));
	const qn_tensor *back =
		qn_tensor_dequantize(&f->t, &f->arena, q, known(f, "tensor<2xf32>"));
	assert_true(qn_tensor_f64(back, 1) == (double)(float)((double)qn_tensor_i64(q, 1) * s1));
}

/* What a row of values converts to is what each of them does, for all types, axes and odd values. */
static void
test_rows_of_values(void **state)
{
	static const struct {
		const char *type;
		int32_t axis, dim; /* of the parameters; -1: one pair */
	} rows[] = {
		{"tensor<3x5x7x!quant.uniform<i8:f32, 0.037:3>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i8<-127:127>:f32, 0.25>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<u8:f32, 0.1:255>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i16:f32, 1.0e-38>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<u16:f32, 0.7:40000>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i32:f32, 1.0e35>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i32:f32, 0.001*0.3>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i32:f32, 1.0e19*1.0e12>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i4:f32, 0.5:-2>>", -1, 1},
		{"tensor<3x5x7x!quant.uniform<i8:f32:2, {0.1,0.2:3,0.3,0.4,0.5:-9,0.6,7.0}>>", 2,
		 7},
		{"tensor<3x5x7x!quant.uniform<u8:f32:1, {0.1:7,0.2:3,0.3,0.4,0.5:200}>>", 1, 5},
		{"tensor<3x5x7x!quant.uniform<i32:f32:0, 0.01*{0.1,0.2,0.7}>>", 0, 3},
	};
	enum { N = 3 * 5 * 7 };
	fixture *f = *state;
	uint32_t seed = 11;
	float x[N] = {0.0f,       -0.0f,   (float)INFINITY, -(float)INFINITY,
		      (float)NAN, FLT_MAX, -FLT_MAX,        FLT_MIN / 4};

	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
		const qn_type *type = known(f, rows[r].type);
		const qn_elem *e = type->elem;
		const bool leaf = e->scale->a == NULL;
		const int64_t inner = rows[r].axis == 0 ? 35 : rows[r].axis == 1 ? 7 : 1;
		double scale;
		int64_t zp;

		for (int i = 8; i < N; i++) {
			qn_elem_param(&f->t, e, 0, &scale, &zp);
			/* halves among them */
			x[i] = (float)((rint(uniform(&seed) * 1200 - 600) / 2) * scale);
		}
		const qn_tensor *q = quantized(f, rows[r].type, x);
		const qn_tensor *back =
			qn_tensor_dequantize(&f->t, &f->arena, q, known(f, "tensor<3x5x7xf32>"));
		for (int64_t i = 0; i < N; i++) {
			const size_t k = (size_t)(i / inner % rows[r].dim);

			qn_elem_param(&f->t, e, k, &scale, &zp);
			const int64_t want =
				qn_quantize_value((double)x[i], scale, leaf, zp, e->qmin, e->qmax);
			if (qn_tensor_i64(q, i) != want)
				fail_msg("%s, %g: %lld, not %lld", rows[r].type, (double)x[i],
					 (long long)qn_tensor_i64(q, i), (long long)want);
			float real;
			qn_store_f64(&real, QN_PLAIN_f32, 0,
				     qn_dequantize_value(want, scale, leaf, zp));
			assert_memory_equal((const float *)back->data + i, &real, sizeof real);
		}
	}
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_quantize_value), T(test_value_properties),    T(test_ranges),
		T(test_range_property), T(test_quantize_tensor),     T(test_zero_point_200),
		T(test_rows_of_values), T(test_equal_granularities), T(test_expression_scale),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
