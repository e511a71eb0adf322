/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor.c - elements of tensors, float formats, quantization of values and tensors, ranges,
 * checksums. */
#include <float.h>
#include <math.h>

#include "ir/tensor.h"
#include "types_fixture.h"

static const qn_type *
known(fixture *f, const char *s)
{
	const qn_type *x = type(f, s);

	if (x == NULL)
		fail_msg("%s: %s", s, f->diags.item[0].message);
	return x;
}

static const double inf = (double)INFINITY;

static uint32_t
next(uint32_t *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return *seed >> 8;
}

/* In 0..1, of 24 bits. */
static double
uniform(uint32_t *seed)
{
	return next(seed) / 16777216.0;
}

/* ---- float formats ---- */

static void
test_round_to(void **state)
{
	const struct {
		qn_plain to;
		double v, want;
	} row[] = {
		{QN_PLAIN_f16, 1.0, 1.0},
		{QN_PLAIN_f16, 0.1, 0x1.998p-4},
		{QN_PLAIN_f16, 1.0 + 0x1p-11, 1.0},          /* tie to even: down */
		{QN_PLAIN_f16, 1.0 + 0x3p-11, 1.0 + 0x1p-9}, /* tie to even: up */
		{QN_PLAIN_f16, 1.0 + 0x1.000001p-11, 1.0 + 0x1p-10},
		{QN_PLAIN_f16, 65504.0, 65504.0},
		{QN_PLAIN_f16, 65519.9, 65504.0},
		{QN_PLAIN_f16, 65520.0, inf},
		{QN_PLAIN_f16, -1e30, -inf},
		{QN_PLAIN_f16, 0x1p-24, 0x1p-24},
		{QN_PLAIN_f16, 0x1p-25, 0.0}, /* tie with 0 */
		{QN_PLAIN_f16, 0x1.8p-25, 0x1p-24},
		{QN_PLAIN_f16, 0x1.8p-24, 0x1p-23}, /* tie of subnormals */
		{QN_PLAIN_bf16, 0x1.01p0, 1.0},
		{QN_PLAIN_bf16, 0x1.03p0, 0x1.04p0},
		{QN_PLAIN_bf16, 3.4e38, inf},
		{QN_PLAIN_bf16, 0x1p-133, 0x1p-133},
		{QN_PLAIN_bf16, 0x1p-135, 0.0},
		{QN_PLAIN_f32, 0.1, (double)0.1f},
		{QN_PLAIN_f32, 0x1.fffffefp127, 0x1.fffffep127},
		{QN_PLAIN_f32, 0x1.ffffffp127, inf},
		{QN_PLAIN_f32, 0x1p-149, 0x1p-149},
		{QN_PLAIN_f32, 0x1p-150, 0.0},
		{QN_PLAIN_f32, -inf, -inf},
		{QN_PLAIN_f64, 0.1, 0.1},
	};
	uint32_t seed = 7;

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
		if (!(qn_round_to(row[i].to, row[i].v) == row[i].want))
			fail_msg("row %zu: %a to %s is %a, not %a", i, row[i].v,
				 qn_plain_table[row[i].to].name, qn_round_to(row[i].to, row[i].v),
				 row[i].want);
	assert_true(isnan(qn_round_to(QN_PLAIN_f16, (double)NAN)));
	for (int i = 0; i < 100000; i++) {
		double v = ldexp(uniform(&seed) + 0x1p-24 * uniform(&seed),
				 (int)(next(&seed) % 290) - 160);

		assert_true(qn_round_to(QN_PLAIN_f32, v) == (double)(float)v);
	}
}

/* Every pattern of 16 bits: to a value and back; the value is a fixed point of rounding. */
static void
test_half_bits(void **state)
{
	static const qn_plain half[] = {QN_PLAIN_f16, QN_PLAIN_bf16};

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		for (uint32_t bits = 0; bits < 65536; bits++) {
			uint16_t in = (uint16_t)bits, out = 0;
			qn_type x = {.elem = &(qn_elem){.plain = half[k]}};
			qn_tensor t = {.type = &x, .data = &in};
			double v = qn_tensor_f64(&t, 0);

			if (isnan(v))
				continue;
			assert_true(qn_round_to(half[k], v) == v);
			qn_store_f64(&out, half[k], 0, v);
			assert_int_equal(out, in);
			if (half[k] == QN_PLAIN_bf16) {
				uint32_t wide = bits << 16; /* the upper half of an f32 */
				float f;
				memcpy(&f, &wide, sizeof f);
				assert_true((double)f == v);
			}
		}
	}
}

/* ---- elements ---- */

static void
test_elements(void **state)
{
	static const struct {
		qn_plain p;
		double v, f64;
		int64_t i64;
	} row[] = {
		{QN_PLAIN_i8, 2.5, 2, 2},
		{QN_PLAIN_i8, 3.5, 4, 4},
		{QN_PLAIN_i8, 300, 127, 127},
		{QN_PLAIN_i8, -300, -128, -128},
		{QN_PLAIN_u8, -1, 0, 0},
		{QN_PLAIN_u8, 200, 200, 200},
		{QN_PLAIN_i4, 9, 7, 7},
		{QN_PLAIN_i4, -9, -8, -8},
		{QN_PLAIN_u4, 16, 15, 15},
		{QN_PLAIN_i16, 40000, 32767, 32767},
		{QN_PLAIN_u16, 40000, 40000, 40000},
		{QN_PLAIN_i32, 3e9, 2147483647.0, 2147483647},
		{QN_PLAIN_u32, 4294967295.0, 4294967295.0, 4294967295},
		{QN_PLAIN_i64, -1e18, -1e18, -1000000000000000000},
		{QN_PLAIN_i64, 1e30, 0x1p63, INT64_MAX},
		{QN_PLAIN_u64, 0x1p63, 0x1p63, INT64_MAX},
		{QN_PLAIN_u64, -1, 0, 0},
		{QN_PLAIN_f32, -2.75, -2.75, -2},
		{QN_PLAIN_f64, 1e-3, 1e-3, 0},
		{QN_PLAIN_f16, 0.5, 0.5, 0},
		{QN_PLAIN_bf16, -3.0, -3.0, -3},
		{QN_PLAIN_bool, 7, 1, 1},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		unsigned char raw[3 * 8 + 1] = {0};
		const int64_t dim[] = {3};
		const qn_type *x = qn_type_plain(&f->t, row[i].p, 1, dim);
		const qn_tensor *t = qn_tensor_view(&f->arena, x, raw + 1); /* not aligned */

		qn_store_f64(raw + 1, row[i].p, 1, row[i].v);
		if (row[i].p == QN_PLAIN_bool)
			qn_store_i64(raw + 1, row[i].p, 1, 1);
		assert_true(qn_tensor_f64(t, 1) == row[i].f64);
		assert_true(qn_tensor_i64(t, 1) == row[i].i64);
		assert_true(qn_tensor_f64(t, 0) == 0.0 && qn_tensor_f64(t, 2) == 0.0);
		qn_store_i64(raw + 1, row[i].p, 2, 1);
		assert_true(qn_tensor_f64(t, 2) == 1.0);
	}
}

static void
test_views(void **state)
{
	fixture *f = *state;
	const float in[] = {1.5f, -2.5f, 300.0f, 0.25f};
	const qn_type *x = known(f, "tensor<2x2xf32>");
	const qn_tensor *copy = qn_tensor_of(&f->arena, x, in);
	const qn_tensor *view = qn_tensor_view(&f->arena, x, in);
	char shifted[sizeof in + 1];
	void *data;

	assert_int_equal(copy->bytes, 16);
	assert_ptr_not_equal(copy->data, in);
	assert_true(qn_tensor_equal(copy, view));
	assert_ptr_equal(qn_tensor_as_f32(&f->arena, view), in);
	memcpy(shifted + 1, in, sizeof in);
	const qn_tensor *odd = qn_tensor_view(&f->arena, x, shifted + 1);
	assert_memory_equal(qn_tensor_as_f32(&f->arena, odd), in, sizeof in);
	assert_memory_equal(qn_tensor_as_i32(&f->arena, view), ((const int32_t[]){2, -2, 300, 0}),
			    16);
	assert_memory_equal(qn_tensor_as_i8(&f->arena, view), ((const int8_t[]){2, -2, 127, 0}), 4);
	qn_tensor *zero = qn_tensor_new(&f->arena, x, &data);
	assert_false(qn_tensor_equal(zero, view));
	assert_int_equal(qn_tensor_find_nonfinite(zero), -1);
	((float *)data)[3] = NAN;
	assert_int_equal(qn_tensor_find_nonfinite(zero), 3);
	((float *)data)[1] = INFINITY;
	assert_int_equal(qn_tensor_find_nonfinite(zero), 1);
	for (int64_t i = 0; i < 40; i++) { /* in blocks, and after them */
		qn_tensor *long_row = qn_tensor_new(&f->arena, known(f, "tensor<40xf32>"), &data);

		((float *)data)[39] = NAN;
		((float *)data)[i] = -INFINITY;
		assert_int_equal(qn_tensor_find_nonfinite(long_row), i);
	}
	assert_int_equal(
		qn_tensor_find_nonfinite(qn_tensor_new(&f->arena, known(f, "tensor<4xi8>"), &data)),
		-1);
	assert_false(qn_tensor_equal(qn_tensor_of(&f->arena, known(f, "tensor<4xf32>"), in), view));

	assert_int_equal(qn_type_bytes(known(f, "tensor<3x!quant.uniform<i4:f32, 1.0>>")), 3);
	assert_int_equal(qn_type_bytes(known(f, "tensor<3x!quant.uniform<i9:f32, 1.0>>")), 6);
	assert_int_equal(qn_type_bytes(known(f, "tensor<3x!quant.uniform<i17:f32, 1.0>>")), 12);
	assert_int_equal(qn_type_bytes(known(f, "tensor<3x!quant.uniform<i64:f32, 1.0>>")), 24);
	assert_int_equal(qn_type_bytes(known(f, "tensor<3x!quant.calibrated<f16<0.0:1.0>>>")), 6);
	assert_int_equal(qn_type_bytes(known(f, "tensor<?xf32>")), 0);
	assert_int_equal(qn_type_bytes(known(f, "tuple<>")), 0);
}

static void
test_crc(void **state)
{
	(void)state;
	assert_int_equal(qn_crc32(0, "123456789", 9), UINT32_C(0xCBF43926));
	assert_int_equal(qn_crc32(qn_crc32(0, "1234", 4), "56789", 5), UINT32_C(0xCBF43926));
	assert_int_equal(qn_crc32(0, "", 0), 0);
}

/* The bytes of files are little-endian and of no alignment, whatever the host's order is. */
static void
test_file_order(void **state)
{
	static const struct {
		const char *type, *bytes;
		double first, second;
	} row[] = {
		{"tensor<2xf32>", "\0\0\x80\x3f\0\0\x20\xc1", 1.0, -10.0},
		{"tensor<2xf16>", "\0\x3c\x01\xbc", 1.0, -0x1.004p0},
		{"tensor<2xi16>", "\x34\x12\xfe\xff", 4660.0, -2.0},
		{"tensor<2xi64>", "\x02\x01\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 258.0,
		 -1.0},
		{"tensor<2xf64>", "\0\0\0\0\0\0\xf0\x3f\0\0\0\0\0\0\0\xc0", 1.0, -2.0},
		{"tensor<2xu8>", "\x01\xff", 1.0, 255.0},
	};
	fixture *f = *state;

	for (size_t i = 0; i < QN_COUNT(row); i++) {
		const qn_type *type = known(f, row[i].type);
		size_t n = qn_type_bytes(type);
		char shifted[17] = {0};

		memcpy(shifted + 1, row[i].bytes, n);
		const qn_tensor *x = qn_tensor_view_file(&f->arena, type, shifted + 1);
		assert_true(qn_tensor_f64(x, 0) == row[i].first);
		assert_true(qn_tensor_f64(x, 1) == row[i].second);
		assert_memory_equal(qn_tensor_file_bytes(&f->arena, x), row[i].bytes, n);
		assert_int_equal(qn_tensor_crc(x), qn_crc32(0, row[i].bytes, n));
	}
}

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
		T(test_round_to),
		T(test_half_bits),
		T(test_elements),
		T(test_views),
		T(test_crc),
		T(test_file_order),
		T(test_quantize_value),
		T(test_value_properties),
		T(test_ranges),
		T(test_range_property),
		T(test_quantize_tensor),
		T(test_zero_point_200),
		T(test_rows_of_values),
		T(test_equal_granularities),
		T(test_expression_scale),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
