/* SPDX-License-Identifier: Apache-2.0 */
/* test_layout_constant.c - stored tensors as constants of a graph: the type stands for the same values,
 * bit for bit, also under scales below 0 and of 0. */
#include "tests/unit/layouts_rig.h"

#include <math.h>

enum { ROWS = 3, COLUMNS = 512 };

static qn_layout_tensor
stored(fixture *f, const char *layout)
{
	const int64_t dim[] = {ROWS, COLUMNS};
	const qn_layout_tensor plain =
		qn_layout_of_f32(&f->arena, 2, dim, weights(f, (int64_t)ROWS * COLUMNS, 7));
	qn_layout_tensor t;

	assert_int_equal(qn_layout_repack(&f->env, &f->arena, "w", &plain, row_of(f, layout), true,
					  &t, NULL),
			 QN_OK);
	return t;
}

/* The values of the constant are those of the layout; but for the sign of 0 under a scale below 0, and the last
 * bit where offsets are zero points with a fraction. */
static const qn_tensor *
assert_same_values(fixture *f, const qn_layout_tensor *t)
{
	const qn_tensor *x = NULL;
	const float *want = dequant(f, t);

	if (qn_layout_constant(&f->t, &f->arena, "w", t, &x) != QN_OK)
		fail_msg("%s: %s", t->layout->name, f->diags.item[0].message);
	assert_int_equal(x->type->rank, 2);
	assert_int_equal(x->type->dim[1], t->dim[1]);
	const qn_tensor *have = qn_tensor_dequantize(
		&f->t, &f->arena, x, qn_type_plain(&f->t, QN_PLAIN_f32, t->rank, t->dim));
	for (int64_t i = 0; i < qn_layout_elements(t); i++)
		if (fabsf((float)qn_tensor_f64(have, i) - want[i]) >
		    (x->type->elem->zp_fraction != 0 ? fabsf(want[i]) * 0x1p-23F : 0))
			fail_msg("%s, element %lld: %a, expected %a", t->layout->name, (long long)i,
				 qn_tensor_f64(have, i), (double)want[i]);
	return x;
}

static void
forms_of_blocks(void **state)
{
	static const struct {
		const char *layout;
		int bits, block;
	} rows[] = {{"q4_0", 4, 32},
		    {"q5_0", 8, 32},
		    {"q8_0", 8, 32},
		    {"q3_K", 8, 16},
		    {"q6_K", 8, 16},
		    {"q4_1", 4, 32},
		    {"q5_1", 8, 32},
		    {"q2_K", 2, 16},
		    {"q4_K", 4, 32},
		    {"q5_K", 8, 32},
		    {"BlockScaledI4Layout", 4, 32},
		    {"BlockScaledLayout", 8, 32}};

	for (size_t i = 0; i < QN_COUNT(rows); i++) {
		fixture *f = *state;
		const qn_layout_tensor t = stored(f, rows[i].layout);
		const qn_elem *e = assert_same_values(f, &t)->type->elem;

		assert_int_equal(e->bits, rows[i].bits);
		assert_int_equal(e->gran, QN_SUB_CHANNEL);
		assert_int_equal(e->block[1], rows[i].block);
		assert_int_equal(qn_elem_nparams(e), ROWS * COLUMNS / rows[i].block);
	}
}

/* 0.5, -0.5 and 0 as the scales of blocks of all 256 values, the least of which has no opposite in i8. */
static void
signs_of_scales(void **state)
{
	static const uint8_t high[] = {0x38, 0xB8, 0x00};
	fixture *f = *state;
	uint8_t *bytes = QN_NEW(&f->arena, uint8_t, 24 * 34);
	double scale;
	int64_t zp;

	for (int i = 0; i < 768; i++) {
		bytes[i / 32 * 34] = 0;
		bytes[i / 32 * 34 + 1] = high[i / 32 % 3];
		bytes[i / 32 * 34 + 2 + i % 32] = (uint8_t)(i * 3 & 255);
	}
	qn_layout_tensor t = packed(f, "q8_0", 1, 768, bytes);
	const qn_tensor *x = assert_same_values(f, &t);
	qn_elem_param(&f->t, x->type->elem, 1, &scale, &zp);
	assert_true(scale == 0.5 && zp == -1);
	qn_elem_param(&f->t, x->type->elem, 2, &scale, &zp);
	assert_true(scale == 0.5 && zp == 0); /* of zeros: that of the others */
	memset(bytes, 0, 24 * 34);
	t = packed(f, "q8_0", 1, 768, bytes);
	(void)assert_same_values(f, &t);
	bytes[1] = 0x7C; /* infinite */
	t = packed(f, "q8_0", 1, 768, bytes);
	assert_int_equal(qn_layout_constant(&f->t, &f->arena, "w", &t, &x), QN_EINVALID);
	assert_string_equal(f->diags.item[0].id, "layout.value");
}

/* q4_1 with scales 0.5, -0.5, 0 and one so small beside its offset that all values of the block are the same:
 * values 0.5 q - 1.25, -0.5 q - 1.25, -1.25, -2560. */
static void
offsets_of_blocks(void **state)
{
	static const uint16_t scales[] = {0x3800, 0xB800, 0, 1};
	fixture *f = *state;
	uint8_t *bytes = QN_NEW(&f->arena, uint8_t, 16 * 20);

	for (int i = 0; i < 512; i++) {
		uint8_t *block = bytes + i / 32 * 20;

		block[0] = (uint8_t)(scales[i / 32 % 4] & 255);
		block[1] = (uint8_t)(scales[i / 32 % 4] >> 8);
		block[3] = i / 32 % 4 == 3 ? 0xE9 : 0xBD; /* -2560, -1.25 */
		block[4 + i % 16] = (uint8_t)(i * 7);
	}
	const qn_layout_tensor t = packed(f, "q4_1", 1, 512, bytes);
	const qn_elem *e = assert_same_values(f, &t)->type->elem;
	assert_int_equal(e->zp_fraction, 40);
	assert_true(qn_elem_zero_point(&f->t, e, 0) == 2.5);
	assert_true(qn_elem_zero_point(&f->t, e, 1) == 17.5);
	bytes[3] = 0x7C; /* infinite */
	const qn_layout_tensor bad = packed(f, "q4_1", 1, 512, bytes);
	const qn_tensor *x = NULL;
	assert_int_equal(qn_layout_constant(&f->t, &f->arena, "w", &bad, &x), QN_EINVALID);
	assert_string_equal(f->diags.item[0].id, "layout.value");
}

static void
refused(void **state)
{
	fixture *f = *state;
	const qn_tensor *x = NULL;
	const qn_layout_tensor t = stored(f, "TensorScaledLayout");

	assert_int_equal(qn_layout_constant(&f->t, &f->arena, "w", &t, &x), QN_EUNSUPPORTED);
	assert_string_equal(f->diags.item[0].id, "layout.constant");
	assert_same_floats(dequant(f, &t), qn_layout_values(&f->t, &f->arena, &t)->data,
			   qn_layout_elements(&t));
}

static void
plain_is_a_view(void **state)
{
	fixture *f = *state;
	const int64_t dim[] = {1, 4};
	const int8_t bytes[] = {1, -2, 3, -4};
	const qn_layout_tensor t = qn_layout_plain(qn_dtype_by_name("i8"), 2, dim, bytes);
	const qn_tensor *x = NULL;

	assert_int_equal(qn_layout_constant(&f->t, &f->arena, "w", &t, &x), QN_OK);
	assert_ptr_equal(x->data, bytes);
	assert_ptr_equal(x->type, qn_type_plain(&f->t, QN_PLAIN_i8, 2, dim));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(forms_of_blocks), T(signs_of_scales), T(offsets_of_blocks),
		T(refused),         T(plain_is_a_view),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
