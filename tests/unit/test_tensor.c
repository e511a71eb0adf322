/* SPDX-License-Identifier: Apache-2.0 */
/* test_tensor.c - elements of tensors, float formats, checksums. */
#include "tests/unit/tensor_rig.h"

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

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_round_to), T(test_half_bits), T(test_elements),
		T(test_views),    T(test_crc),       T(test_file_order),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
