/* SPDX-License-Identifier: Apache-2.0 */
/* test_types_tensor.c - the text of types of tensors, and of elements in them. Rows are (text, expected). */
#include "tests/unit/types_rows.h"

/* Elements in tensors; id NULL: accepted. */
static const struct {
	const char *shape, *elem, *id;
} in_tensor[] = {
	{"", "!quant.uniform<i8:f32:^0, {1.0}>", "type.axis.scalar"},
	{"4x5x", "!quant.uniform<i8:f32:^2, {1.0}>", "type.axis.rank"},
	{"4x5x", "!quant.uniform<i8:f32:^0, {1.0,1.0,1.0}>", "type.axis.size"},
	{"?x3x?x", "!quant.uniform<i8:f32:1, {1.0,1.5,1.25}>", NULL},
	{"?x?x?x", "!quant.uniform<i8:f32:1, {1.0,1.5,1.25}>", NULL},
	{"*x", "!quant.uniform<i8:f32:1, {1.0,1.5,1.25}>", NULL},
	{"3x", "!quant.uniform<i8:f32:0, $v>", NULL},
	{"4x", "!quant.uniform<i8:f32:^0, $v>", "type.axis.size"},
	{"?x", "!quant.uniform<i8:f32:0, $v>", NULL},
	{"", "^!quant.uniform<i8:f32:{}, {0.5}>", "type.block.scalar"},
	{"2x4x", "!quant.uniform<i8:f32:{1:^3}, {{1.0, 2.0}}>", "type.block.divide"},
	{"0x4x", "!quant.uniform<i8:f32:{^1:2}, {{1.0, 2.0}}>", "type.block.zero_dim"},
	{"2x4x", "!quant.uniform<i8:f32:{^3:2}, {{1.0, 2.0}}>", "type.block.rank"},
	{"2x4x", "!quant.uniform<i8:f32:{1:2}, ^{{{1.0}, {2.0}}}>", "type.block.scale_rank"},
	{"2x4x", "!quant.uniform<i8:f32:{1:2}, ^{1.0, 2.0}>", "type.block.scale_rank"},
	{"2x4x", "!quant.uniform<i8:f32:{1:2}, ^{{1.0, 2.0}, {1.0, 2.0}}>", "type.block.scale_dim"},
	{"2x4x", "!quant.uniform<i8:f32:{0:1,1:2}, ^{{1.0}, {2.0}}>", "type.block.scale_dim"},
	{"9x4x", "!quant.uniform<u4:f32:{1:2}, {{0.5:8, 0.25:7}}>", NULL},
	{"7x9x", "!quant.uniform<i8:f32:{}, {{0.5}}>", NULL},
	{"6x4x",
	 "!quant.uniform<i8:f32:{0:1,1:2}, "
	 "{{1.0,2.0},{1.0,2.0},{1.0,2.0},{1.0,2.0},{1.0,2.0},{1.0,2.0}}>",
	 NULL},
	{"6x8x", "!quant.uniform<i8:f32:{0:2,1:4}, {{1.0,2.0},{1.0,2.0},{1.0,2.0}}>", NULL},
	{"5x7x64x", "!quant.uniform<i8:f32:{2:16}, {{{1.0,2.0,3.0,4.0}}}>", NULL},
	{"?x?x", "!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, {2.0}}>", NULL},
	{"*x", "!quant.uniform<i8:f32:{0:1,1:2}, {{1.0}, {2.0}}>", NULL},
	{"5x", "!quant.uniform<i8:f32:{0:2}+, {1.0, 2.0, 3.0}>", NULL},
	{"5x", "!quant.uniform<i8:f32:{0:2}+, ^{1.0, 2.0}>", "type.block.scale_dim"},
	{"5x", "!quant.uniform<i8:f32:{0:^2}, {1.0, 2.0, 3.0}>", "type.block.divide"},
	{"5x", "!quant.uniform<i8:f32:{0:^6}+, {1.0}>", "type.block.size"},
	{"6x2x", "!quant.uniform<i8:f32:{0:2}, $v>", NULL},
	{"6x2x", "!quant.uniform<i8:f32:{0:1}, ^$v>", "type.block.scale_dim"},
	/* the axes in any order */
	{"2x4x", "!quant.uniform<i8:f32:{1:2,^7:1}, {{1.0, 2.0}}>", "type.block.rank"},
	{"2x4x", "!quant.uniform<i8:f32:{^7:1,1:2}, {{1.0, 2.0}}>", "type.block.rank"},
	{"6x4x", "!quant.uniform<i8:f32:{1:^3,0:2}, {{1.0}}>", "type.block.divide"},
	{"9x4x", "!quant.uniform<i8:f32:{1:2,0:^2}, {{1.0}}>", "type.block.divide"},
};

static void
test_in_tensor(void **state)
{
	fixture *f = *state;

	declare(f, "v", QN_SYM_ASYMMETRIC, 3);
	for (size_t i = 0; i < sizeof in_tensor / sizeof in_tensor[0]; i++) {
		char text[256];

		(void)snprintf(text, sizeof text, "tensor<%s%s>", in_tensor[i].shape,
			       in_tensor[i].elem);
		if (in_tensor[i].id != NULL) {
			expect_at(f, text, in_tensor[i].id, true);
			continue;
		}
		const qn_type *x = type(f, text);
		if (x == NULL)
			fail_msg("%s: %s", text, f->diags.item[0].message);
		assert_int_equal(qn_type_check(&f->t, "", x), QN_OK);
		assert_ptr_equal(type(f, type_text(f, x)), x);
	}
}

static void
test_tensors(void **state)
{
	static const char *const own[] = {
		"tensor<1x?x3xf32>",
		"tensor<*xf32>",
		"tensor<f32>",
		"tensor<0x4xi8>",
		"tuple<>",
		"tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>",
		"tuple<tensor<?x4xf32>, tuple<tensor<*xi32>>, tensor<bool>>",
		"tensor<1x2x3x4x5x6x7x8xu64>",
	};
	static const struct {
		const char *text, *id;
	} wrong[] = {
		{"tensor<1x2x3x4x5x6x7x8x9xu64>", "type.rank"},
		{"tensor<-1xf32>", "type.unknown"},
		{"tensor<99999999999999999999xf32>", "type.literal"},
		{"tensor<4 f32>", "type.syntax"},
		{"tensor<4xf32", "type.syntax"},
		{"tensor<4xf32> x", "type.syntax"},
		{"f32", "type.unknown"},
		{"tensor<4x>", "type.unknown"},
		{"tuple<tensor<f32>", "type.syntax"},
		{"tuple<tensor<f32>,>", "type.unknown"},
		{"tensors<f32>", "type.unknown"},
	};
	fixture *f = *state;

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
		const qn_type *x = type(f, own[i]);

		assert_non_null(x);
		assert_string_equal(type_text(f, x), own[i]);
		assert_ptr_equal(type(f, own[i]), x);
	}
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		assert_null(type(f, wrong[i].text));
		expect_diag(f, wrong[i].id, wrong[i].text);
	}
	assert_int_equal(qn_type_count(type(f, "tensor<2x3xf32>")), 6);
	assert_int_equal(qn_type_count(type(f, "tensor<f32>")), 1);
	assert_int_equal(qn_type_count(type(f, "tensor<9999999999999x0xf32>")), 0);
	assert_int_equal(qn_type_count(type(f, "tensor<1048576x1048576xf32>")), INT64_C(1) << 40);
	assert_int_equal(qn_type_count(type(f, "tensor<1048577x1048576xf32>")), -1);
	assert_int_equal(qn_type_count(type(f, "tensor<?xf32>")), -1);
	assert_int_equal(qn_type_count(type(f, "tuple<>")), -1);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_in_tensor),
		T(test_tensors),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
