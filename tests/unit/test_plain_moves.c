/* SPDX-License-Identifier: Apache-2.0 */
/* test_plain_moves.c - forms of plain integers, bool and the float types beside f32 that move, and casts. */
#include "tests/unit/plain_rig.h"

#include <math.h>

/* ---- moves ---- */

/* All ops that move elements, on elements of this type: results are those on f32. */
static void
moves(const char *elem)
{
	const double x[6] = {1, 0, 0, 1, 1, 0}, y[3] = {0, 1, 1}, at[2] = {-1, 0};
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(perm), &a);
	a.perm.perm = (qn_list){2, {1, 0}};
	expect1(QN_OP_transpose, &a, text("2x3", elem), x, (double[]){1, 1, 0, 1, 0, 0}, 6);
	qn_attrs_default(QN_ATTRS(shape), &a);
	a.shape.shape = (qn_list){2, {3, 2}};
	expect1(QN_OP_reshape, &a, text("2x3", elem), x, x, 6);
	a.shape.shape = (qn_list){2, {2, 3}};
	expect1(QN_OP_expand, &a, text("3", elem), y, (double[]){0, 1, 1, 0, 1, 1}, 6);
	qn_attrs_default(QN_ATTRS(tile), &a);
	a.tile.repeats = (qn_list){1, {2}};
	expect1(QN_OP_tile, &a, text("3", elem), y, (double[]){0, 1, 1, 0, 1, 1}, 6);
	qn_attrs_default(QN_ATTRS(slice), &a);
	a.slice.begin = (qn_list){2, {1, 2}};
	a.slice.end = (qn_list){2, {2, -4}};
	a.slice.step = (qn_list){2, {1, -1}};
	expect1(QN_OP_slice, &a, text("2x3", elem), x, (double[]){0, 1, 1}, 3);
	qn_attrs_default(QN_ATTRS(pad), &a);
	a.pad.before = (qn_list){2, {0, 1}};
	a.pad.after = (qn_list){2, {0, 0}};
	a.pad.value = 1;
	expect1(QN_OP_pad, &a, text("2x3", elem), x, (double[]){1, 1, 0, 0, 1, 1, 1, 0}, 8);
	a.pad.mode = QN_PAD_reflect;
	expect1(QN_OP_pad, &a, text("2x3", elem), x, (double[]){0, 1, 0, 0, 1, 1, 1, 0}, 8);

	fresh_graph();
	qn_attrs_default(QN_ATTRS(axis), &a);
	a.axis.axis = 0;
	qn_id u = input("x", text("2x3", elem)), v = input("y", text("1x3", elem));
	output(op2(QN_OP_concat, u, v, attributes(a), NULL));
	near((double[]){1, 0, 0, 1, 1, 0, 0, 1, 1}, run((const double *[]){x, y}), 9, 0.0);
	fresh_graph();
	qn_attrs_default(QN_ATTRS(gather), &a);
	u = input("x", text("2x3", elem));
	v = input("i", "tensor<2xi64>");
	output(op2(QN_OP_gather, u, v, attributes(a), NULL));
	near((double[]){1, 1, 0, 1, 0, 0}, run((const double *[]){x, at}), 6, 0.0);
	fresh_graph();
	qn_id c = input("c", "tensor<3xbool>");
	u = input("x", text("2x3", elem));
	v = input("y", text("3", elem));
	output(op(QN_OP_where, 3, (qn_id[]){c, u, v}, NULL, NULL));
	near((double[]){0, 0, 0, 0, 1, 0}, run((const double *[]){y, x, y}), 6, 0.0);
}

static void
test_moves(void **state)
{
	static const char *const elems[] = {"bool", "i8",  "u8",  "i16",  "u16", "i32", "u32",
					    "i64",  "u64", "f16", "bf16", "f64", "f32"};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(elems); i++)
		moves(elems[i]);
}

static void
test_split(void **state)
{
	qn_attrs a, get;

	(void)state;
	fresh_graph();
	qn_attrs_default(QN_ATTRS(split), &a);
	a.split.axis = 1;
	a.split.sizes = (qn_list){2, {1, 2}};
	qn_id t = op1(QN_OP_split, input("x", "tensor<2x3xi64>"), attributes(a), NULL);
	qn_attrs_default(QN_ATTRS(get), &get);
	get.get.index = 1;
	output(op1(QN_OP_get, t, attributes(get), NULL));
	near((double[]){2, 3, 5, 6}, run1((double[]){1, 2, 3, 4, 5, 6}), 4, 0.0);
}

/* ---- cast ---- */

static void
cast(const char *from, const char *to, const double *x, const double *want, int64_t n)
{
	char shape[2] = {(char)('0' + n), '\0'};

	fresh_graph();
	output(op1(QN_OP_cast, input("x", text(shape, from)), NULL, text(shape, to)));
	near(want, run1(x), n, 0.0);
}

static void
test_cast(void **state)
{
	const double inf = HUGE_VAL;

	(void)state;
	cast("f32", "i8", (double[]){-1.9, 200, -inf}, (double[]){-1, 127, -128}, 3);
	cast("f64", "u8", (double[]){-1.9, 255.9, inf}, (double[]){0, 255, 255}, 3);
	cast("f16", "i64", (double[]){-2.5, inf, (double)NAN}, (double[]){-2, 0x1p63, 0}, 3);
	cast("f64", "i64", (double[]){-0x1p63, -inf, 0x1p62}, (double[]){-0x1p63, -0x1p63, 0x1p62},
	     3);
	cast("bf16", "bool", (double[]){0.0, 0.25, (double)NAN}, (double[]){0, 1, 1}, 3);
	cast("f64", "f32", (double[]){1 + 0x1p-30, 0.5}, (double[]){1, 0.5}, 2);
	cast("f32", "f16", (double[]){1 + 0x1p-11, 1e9}, (double[]){1, inf}, 1);
	cast("f16", "f64", (double[]){0.5, -3}, (double[]){0.5, -3}, 2);
	cast("f32", "bf16", (double[]){1 + 0x1p-7, 3}, (double[]){1 + 0x1p-7, 3}, 2);
	cast("i32", "i8", (double[]){300, -129}, (double[]){44, 127}, 2);
	cast("i8", "u32", (double[]){-1, 5}, (double[]){4294967295.0, 5}, 2);
	cast("i64", "bool", (double[]){0, 256}, (double[]){0, 1}, 2);
	cast("bool", "i64", (double[]){0, 1}, (double[]){0, 1}, 2);
	/* just above the middle between two f32: a double in between would be even */
	cast("i64", "f32", (double[]){0x1p24 + 1, -5}, (double[]){0x1p24, -5}, 2);
}

/* One rounding from 64 bits to f32, although the sum 2^60 + 2^36 + 1 is no double. */
static void
test_cast_rounds_once(void **state)
{
	const int64_t x[2] = {(INT64_C(1) << 60) + (INT64_C(1) << 36) + 1,
			      -(INT64_C(1) << 60) - (INT64_C(1) << 36) - 1};

	(void)state;
	fresh_graph();
	output(op1(QN_OP_cast, input("x", "tensor<2xi64>"), NULL, "tensor<2xf32>"));
	const qn_tensor *in = qn_tensor_of(&rg->arena, type("tensor<2xi64>"), x);
	const float *y = run_tensors(&in)->data;
	assert_true(y[0] == 0x1p60f + 0x1p37f && y[1] == -(0x1p60f + 0x1p37f));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
		TEST(test_moves),
		TEST(test_split),
		TEST(test_cast),
		TEST(test_cast_rounds_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
