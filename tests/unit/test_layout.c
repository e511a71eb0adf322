/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout.c - GGUF's packed forms and the planar layouts: values of hand-made blocks, every
 * form against its planes, rounding, checks. */
#include "tests/unit/layouts_rig.h"

/* ---- hand-made blocks ---- */

static void
blocks_of_32(void **state)
{
	fixture *f = *state;
	float *y;

	/* q4_0, d = 1, all 0x88 */
	qn_layout_tensor t =
		packed(f, "q4_0", 1, 32, hex(f, "003C 88888888888888888888888888888888", NULL));
	y = dequant(f, &t);
	for (int i = 0; i < 32; i++)
		assert_true(y[i] == 0.0F);
	t = packed(f, "q4_0", 1, 32, hex(f, "0038 0F888888888888888888888888888888", NULL));
	y = dequant(f, &t);
	assert_true(y[0] == 3.5F && y[16] == -4.0F);
	for (int i = 1; i < 32; i++)
		assert_true(i == 16 || y[i] == 0.0F);
	t = packed(f, "q4_1", 1, 32, hex(f, "003C 0038 0000002A000000000000000000000000", NULL));
	y = dequant(f, &t);
	for (int i = 0; i < 32; i++)
		assert_true(y[i] == (i == 3 ? 10.5F : i == 19 ? 2.5F : 0.5F));
	t = packed(f, "q5_0", 1, 32,
		   hex(f, "003C 01000100 00000000000000000000000000000000", NULL));
	y = dequant(f, &t);
	for (int i = 0; i < 32; i++)
		assert_true(y[i] == (i == 0 || i == 16 ? 0.0F : -16.0F));
	t = packed(f, "q5_1", 1, 32,
		   hex(f, "0038 003C 80000001 00000000000000100000000000000003", NULL));
	y = dequant(f, &t); /* 0.5 q + 1: element 7 has its fifth bit, 24 too, 23 is 1, 15 is 3 */
	for (int i = 0; i < 32; i++)
		assert_true(y[i] == (i == 7 || i == 24 ? 9.0F
				     : i == 23         ? 1.5F
				     : i == 15         ? 2.5F
						       : 1.0F));
}

static void
q8_0_of_all_integers(void **state)
{
	fixture *f = *state;
	uint8_t *bytes = QN_NEW(&f->arena, uint8_t, 8 * 34);

	for (int i = 0; i < 256; i++) {
		bytes[i / 32 * 34] = 0x66; /* 0x2E66 */
		bytes[i / 32 * 34 + 1] = 0x2E;
		bytes[i / 32 * 34 + 2 + i % 32] = (uint8_t)(i - 128);
	}
	qn_layout_tensor t = packed(f, "q8_0", 1, 256, bytes);
	const float *y = dequant(f, &t);
	for (int i = 0; i < 256; i++)
		assert_true(y[i] == 0.0999755859375F * (float)(i - 128));
}

/* The scales and offsets of the specification's 12 bytes, seen through the values of a block. */
static void
scales_of_6_bits(void **state)
{
	static const int scale[] = {3, 17, 5, 63, 37, 0, 15, 15};
	static const int offset[] = {2, 10, 0, 63, 23, 1, 15, 0};
	fixture *f = *state;
	uint8_t *bytes = QN_NEW(&f->arena, uint8_t, 144);

	memcpy(bytes, hex(f, "003C 003C 8311053F420A003F7510FF0F", NULL), 16);
	memset(bytes + 16, 0x21, 128); /* low nibbles 1, high nibbles 2 */
	qn_layout_tensor t = packed(f, "q4_K", 1, 256, bytes);
	const float *y = dequant(f, &t);
	for (int e = 0; e < 256; e++) {
		const int s = e / 32, q = s % 2 == 0 ? 1 : 2;

		assert_true(y[e] == (float)(scale[s] * q - offset[s]));
	}
}

/* Fields of the other blocks of 256, each bit of an element set alone. */
static void
fields_of_256(void **state)
{
	fixture *f = *state;
	uint8_t *b = QN_NEW(&f->arena, uint8_t, 256);
	qn_layout_tensor t;
	float *y;

	/* q2_K: scale 1 offset 0 everywhere; bits 4,5 of byte 32 + 3: element 128 + 64 + 3 */
	memset(b, 1, 16);
	memcpy(b + 80, "\x00\x3c\x00\x3c", 4);
	b[16 + 32 + 3] = 3 << 4;
	t = packed(f, "q2_K", 1, 256, b);
	y = dequant(f, &t);
	for (int i = 0; i < 256; i++)
		assert_true(y[i] == (i == 195 ? 3.0F : 0.0F));
	/* q3_K: all scales 32 - 32 = 0 but that of group 9, 1; its elements -4 but one */
	memset(b, 0, 256);
	for (int i = 8; i < 12; i++)
		b[96 + i] = 0xAA; /* upper bits 10 */
	b[96 + 1] = 0x10;         /* low bits of group 9 */
	memcpy(b + 108, "\x00\x3c", 2);
	b[16 + 5] = 1 << 4; /* high bit of element 128 + 16 + 5: group 9 */
	b[32 + 32 + 16 + 5] = 2;
	t = packed(f, "q3_K", 1, 256, b);
	y = dequant(f, &t);
	for (int i = 0; i < 256; i++)
		assert_true(y[i] == (i / 16 != 9 ? 0.0F : i == 149 ? 2.0F : -4.0F));
	/* q5_K: scale 1 of group 5, the fifth bit of its element 7 */
	memset(b, 0, 256);
	memcpy(b, "\x00\x3c\x00\x3c", 4);
	b[4 + 9] = 1;
	b[16 + 7] = 1 << 5;
	b[48 + 64 + 7] = 0x30; /* high half: group 5 */
	t = packed(f, "q5_K", 1, 256, b);
	y = dequant(f, &t);
	for (int i = 0; i < 256; i++)
		assert_true(y[i] == (i == 167 ? 19.0F : 0.0F));
	/* q6_K: scale -2 of group 13 (elements 208 … 223), its element 210 is 33 - 32 */
	memset(b, 0, 256);
	b[192 + 13] = 0xFE;
	memcpy(b + 208, "\x00\x3c", 2);
	b[64 + 18] = 0x10; /* quarter 2 of half 1, l = 18: high half of byte 18 */
	b[128 + 32 + 18] = 2 << 4;
	t = packed(f, "q6_K", 1, 256, b);
	y = dequant(f, &t);
	for (int i = 0; i < 256; i++)
		assert_true(y[i] == (i / 16 != 13 ? 0.0F : i == 210 ? -2.0F : 64.0F));
}

/* ---- every form, random bytes: planes and unpacked values mean the same ---- */

static void
planes_mean_the_same(void **state)
{
	fixture *f = *state;

	for (const char *const *name = packed_names(); *name != NULL; name++) {
		const qn_layout_row *row = row_of(f, *name);
		const int64_t n = 3, columns = 2 * row->block, blocks = n * 2;
		uint8_t *bytes = QN_NEW(&f->arena, uint8_t, (size_t)(blocks * row->packed->bytes));
		uint32_t seed = 7;
		qn_layout_tensor planar, unpacked, again;

		for (int64_t i = 0; i < blocks * row->packed->bytes; i++)
			bytes[i] = (uint8_t)next_random(&seed);
		qn_layout_tensor t = packed(f, *name, n, columns, bytes);
		const float *want = dequant(f, &t);
		assert_int_equal(qn_layout_to_planar(&f->env, &f->arena, "t", &t, &planar), QN_OK);
		assert_int_equal(qn_layout_check(&f->env, *name, &planar), QN_OK);
		assert_string_equal(planar.layout->name, row->packed->planar);
		assert_same_floats(want, dequant(f, &planar), n * columns);
		assert_int_equal(qn_layout_unpack(&f->env, &f->arena, "t", &t, &unpacked), QN_OK);
		assert_int_equal(qn_layout_check(&f->env, *name, &unpacked), QN_OK);
		assert_same_floats(want, dequant(f, &unpacked), n * columns);
		assert_int_equal(qn_layout_unpack(&f->env, &f->arena, "t", &planar, &again), QN_OK);
		assert_same_floats(want, dequant(f, &again), n * columns);
		/* … and back to the same bytes, where the fields are all that the planes hold. */
		const bool back = qn_layout_pack(&f->arena, &planar, row, &again);
		assert_int_equal(back, row->packed->exact_half || strcmp(*name, "q4_K") == 0);
		if (back)
			assert_memory_equal(again.plane[0].data, bytes,
					    (size_t)(blocks * row->packed->bytes));
	}
}

/* ---- rounding ---- */

static qn_layout_tensor
repacked(fixture *f, const float *x, int64_t n, int64_t columns, const char *to, bool is_signed)
{
	qn_layout_tensor t = qn_layout_of_f32(&f->arena, 2, (const int64_t[]){n, columns}, x), out;

	if (qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, to), is_signed, &out, NULL) !=
	    QN_OK)
		fail_msg("%s", all_diags(f));
	assert_int_equal(qn_layout_check(&f->env, to, &out), QN_OK);
	return out;
}

static void
rounding_of_32(void **state)
{
	fixture *f = *state;
	float x[32] = {1, -2};
	qn_layout_tensor t = repacked(f, x, 1, 32, "q4_0", true);

	assert_memory_equal(t.plane[0].data, hex(f, "0034 8C808888888888888888888888888888", NULL),
			    18); /* d = 0.25, q0 = 12, q1 = 0 */
	memset(x, 0, sizeof x);
	t = repacked(f, x, 1, 32, "q8_0", true);
	for (int i = 0; i < 34; i++)
		assert_int_equal(t.plane[0].data[i], 0);
	t = repacked(f, x, 1, 32, "q4_0", true);
	assert_memory_equal(t.plane[0].data, hex(f, "0080 88888888888888888888888888888888", NULL),
			    18); /* d = 0 / -8 */
	/* Halves go away from 0: x/d = 0.5, -0.5, 126.5, -126.5 and 127. */
	const float halves[32] = {0.5F, -0.5F, 126.5F, -126.5F, 127};
	t = repacked(f, halves, 1, 32, "q8_0", true);
	assert_memory_equal(t.plane[0].data, hex(f, "003C 01FF7F817F", NULL), 7);
	/* q4_1 and q5_1: the least and the largest entry are exact. */
	const float ends[32] = {-1, 14, 6.5F};
	t = repacked(f, ends, 1, 32, "q4_1", true);
	assert_memory_equal(t.plane[0].data, hex(f, "003C 00BC 101F18", NULL), 7);
	const float wide[32] = {-1, 30, 0.25F};
	t = repacked(f, wide, 1, 32, "q5_1", true);
	assert_memory_equal(t.plane[0].data, hex(f, "003C 00BC 02000000 101F11", NULL), 11);
}

/* A denormal scale, whose inverse is infinite, and the largest values. */
static void
rounding_of_extremes(void **state)
{
	fixture *f = *state;
	float x[256];
	qn_layout_tensor out;

	for (const char *const *name = packed_names(); *name != NULL; name++) {
		for (int i = 0; i < 256; i++)
			x[i] = i % 7 == 0 ? 1e-45F : i % 5 == 0 ? -3e-44F : 0;
		(void)repacked(f, x, 1, 256, *name, true);
		for (int i = 0; i < 256; i++)
			x[i] = i % 2 == 0 ? 3e38F : -3e38F;
		qn_layout_tensor t = qn_layout_of_f32(&f->arena, 1, (const int64_t[]){256}, x);
		assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, *name),
						  true, &out, NULL),
				 QN_EUNSUPPORTED);
		assert_string_equal(last_id(f), "layout.value");
		x[3] = NAN;
		t = qn_layout_of_f32(&f->arena, 1, (const int64_t[]){256},
				     x); /* big-endian: a copy */
		assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, *name),
						  true, &out, NULL),
				 QN_EINVALID);
		assert_string_equal(last_id(f), "layout.value");
		assert_non_null(strstr(f->diags.item[f->diags.n - 1].message, "element 3 is nan"));
		restart(f);
	}
}

/* Signal to noise in dB. */
static double
sqnr(const float *x, const float *y, int64_t n)
{
	double signal = 0, noise = 0;

	for (int64_t i = 0; i < n; i++) {
		signal += (double)x[i] * (double)x[i];
		noise += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
	}
	return 10 * log10(signal / noise);
}

/* Each form is as accurate as its bits allow. */
static void
accuracy_of_each(void **state)
{
	static const double least[] = {20.2, 20.2, 25.8, 26.5, 43.6, 8.4, 15.6, 21.2, 27, 33.4};
	fixture *f = *state;
	const float *x = weights(f, 8 * 512, 3);
	int k = 0;

	for (const char *const *name = packed_names(); *name != NULL; name++, k++) {
		qn_layout_tensor t = repacked(f, x, 8, 512, *name, true);
		const double db = sqnr(x, dequant(f, &t), 8 * 512);

		if (db < least[k] || db > least[k] + 1)
			fail_msg("%s: %.2f dB", *name, db);
	}
}

static void
repack_through_planes(void **state)
{
	fixture *f = *state;
	const float *x = weights(f, 4 * 256, 5);
	qn_layout_tensor q8 = repacked(f, x, 4, 256, "q8_0", true), back;
	qn_layout_tensor t = repacked(f, x, 4, 256, "BlockScaledLayout", true);
	bool exact = false;

	assert_same_floats(dequant(f, &q8), dequant(f, &t), 4 * 256);
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &t, row_of(f, "q8_0"), true,
					  &back, &exact),
			 QN_OK);
	assert_true(exact);
	assert_memory_equal(back.plane[0].data, q8.plane[0].data, q8.plane[0].bytes);
	t = repacked(f, x, 4, 256, "BlockScaledI4Layout", true);
	q8 = repacked(f, x, 4, 256, "q4_0", true);
	assert_same_floats(dequant(f, &q8), dequant(f, &t), 4 * 256);
	t = repacked(f, x, 4, 256, "BlockScaledI4Layout", false);
	q8 = repacked(f, x, 4, 256, "q4_1", true);
	assert_same_floats(dequant(f, &q8), dequant(f, &t), 4 * 256);
	t = repacked(f, x, 4, 256, "SuperBlockOffsetScaled_4_6_Layout", true);
	q8 = repacked(f, x, 4, 256, "Q4_k", true); /* names in any case */
	assert_same_floats(dequant(f, &q8), dequant(f, &t), 4 * 256);
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &q8, row_of(f, "plain"), true,
					  &back, &exact),
			 QN_OK);
	assert_true(exact && back.plane[0].dtype == qn_dtype_by_name("f32"));
	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "t", &q8, row_of(f, "q4_0"), true,
					  &back, &exact),
			 QN_OK);
	assert_false(exact);
}

/* ---- nibbles ---- */

static void
nibbles_of_all_bytes(void **state)
{
	fixture *f = *state;
	uint8_t *qs = QN_NEW(&f->arena, uint8_t, 256);
	static const uint8_t one[] = {0x00, 0x3C};

	for (int i = 0; i < 256; i++)
		qs[i] = (uint8_t)i;
	for (int is_signed = 0; is_signed < 2; is_signed++) {
		qn_layout_tensor t = {.layout = row_of(f, "BlockScaledI4Layout"),
				      .rank = 1,
				      .dim = {512},
				      .nplane = 2,
				      .nmeta = 1,
				      .meta = {{"signed", is_signed ? "true" : "false"}}};
		qn_layout_tensor unpacked;

		assert_int_equal(qn_plane_of(&f->env, "t", "d", qn_dtype_by_name("f16"), 2,
					     (const int64_t[]){1, 1}, one, 2, &t.plane[0]),
				 QN_OK);
		assert_int_equal(qn_plane_of(&f->env, "t", "qs", qn_dtype_by_name("u8"), 2,
					     (const int64_t[]){1, 256}, qs, 256, &t.plane[1]),
				 QN_OK);
		assert_int_equal(qn_layout_check(&f->env, "t", &t), QN_OK);
		const float *y = dequant(f, &t);
		for (int i = 0; i < 512; i++) {
			const int q = i % 2 == 0 ? i / 2 & 15 : i / 2 >> 4;

			assert_true(y[i] == (float)(is_signed && q > 7 ? q - 16 : q));
		}
		assert_int_equal(qn_layout_unpack(&f->env, &f->arena, "t", &t, &unpacked), QN_OK);
		assert_same_floats(y, dequant(f, &unpacked), 512);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(blocks_of_32),         T(q8_0_of_all_integers), T(scales_of_6_bits),
		T(fields_of_256),        T(planes_mean_the_same), T(rounding_of_32),
		T(rounding_of_extremes), T(accuracy_of_each),     T(repack_through_planes),
		T(nibbles_of_all_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
