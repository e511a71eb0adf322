/* SPDX-License-Identifier: Apache-2.0 */
/* test_plain.c - forms of plain integers, bool and the float types beside f32 that compute: values are those of a
 * model in 64 bits, cut to the type's width. */
#include "tests/unit/plain_rig.h"

typedef struct integer_type {
	const char *name;
	qn_plain plain;
	int bits;
	bool is_signed;
} integer_type;

#define T(name, bits, is_signed)                                                                   \
	{                                                                                          \
#name, QN_PLAIN_##name, bits, is_signed                                            \
	}
static const integer_type types[] = {
	T(i8, 8, true),   T(u8, 8, false),   T(i16, 16, true), T(u16, 16, false),
	T(i32, 32, true), T(u32, 32, false), T(i64, 64, true), T(u64, 64, false),
};

enum { N = 12 };

/* The low bits of v as the type's number, in 64 bits. */
static uint64_t
cut(uint64_t v, const integer_type *t)
{
	if (t->bits == 64)
		return v;
	uint64_t sign = UINT64_C(1) << (t->bits - 1);
	v &= 2 * sign - 1;
	return t->is_signed ? (v ^ sign) - sign : v;
}

static uint64_t
any_number(const integer_type *t)
{
	static const uint64_t corners[] = {0, 1, 2, 3, UINT64_MAX, UINT64_MAX - 1};
	uint64_t v = (uint64_t)pick(0, INT32_MAX) << 33 ^ (uint64_t)pick(0, INT32_MAX);
	int64_t k = pick(0, 11);

	if (k < 6)
		return cut(corners[k], t);
	if (k == 6) /* the least signed number */
		return cut(UINT64_C(1) << (t->bits - 1), t);
	return cut(v << 2 ^ (uint64_t)pick(0, 3), t);
}

static void
put(void *data, int64_t i, const integer_type *t, uint64_t v)
{
	if (t->bits == 8)
		((uint8_t *)data)[i] = (uint8_t)v;
	else if (t->bits == 16)
		((uint16_t *)data)[i] = (uint16_t)v;
	else if (t->bits == 32)
		((uint32_t *)data)[i] = (uint32_t)v;
	else
		((uint64_t *)data)[i] = v;
}

static uint64_t
take(const void *data, int64_t i, const integer_type *t)
{
	uint64_t v = t->bits == 8    ? ((const uint8_t *)data)[i]
		     : t->bits == 16 ? ((const uint16_t *)data)[i]
		     : t->bits == 32 ? ((const uint32_t *)data)[i]
				     : ((const uint64_t *)data)[i];

	return cut(v, t);
}

/* ---- two operands ---- */

static bool
below(uint64_t a, uint64_t b, const integer_type *t)
{
	return t->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static uint64_t
divided(uint64_t a, uint64_t b, const integer_type *t)
{
	if (b == 0)
		return 0;
	if (!t->is_signed)
		return a / b;
	uint64_t p = (int64_t)a < 0 ? 0 - a : a, q = (int64_t)b < 0 ? 0 - b : b;
	return ((int64_t)a < 0) != ((int64_t)b < 0) ? 0 - p / q : p / q;
}

static uint64_t
model(qn_op op, uint64_t a, uint64_t b, const integer_type *t)
{
	switch ((int)op) {
	case QN_OP_add:
		return a + b;
	case QN_OP_sub:
		return a - b;
	case QN_OP_mul:
		return a * b;
	case QN_OP_div:
		return divided(a, b, t);
	case QN_OP_minimum:
		return below(b, a, t) ? b : a;
	case QN_OP_maximum:
		return below(b, a, t) ? a : b;
	case QN_OP_equal:
		return a == b;
	case QN_OP_not_equal:
		return a != b;
	case QN_OP_less:
		return below(a, b, t);
	case QN_OP_less_equal:
		return !below(b, a, t);
	case QN_OP_greater:
		return below(b, a, t);
	default:
		return !below(a, b, t);
	}
}

static const integer_type boolean = T(bool, 8, false);

static void
test_binary(void **state)
{
	static const qn_op ops[] = {QN_OP_add,        QN_OP_sub,       QN_OP_mul,
				    QN_OP_div,        QN_OP_minimum,   QN_OP_maximum,
				    QN_OP_equal,      QN_OP_not_equal, QN_OP_less,
				    QN_OP_less_equal, QN_OP_greater,   QN_OP_greater_equal};

	(void)state;
	for (size_t k = 0; k < QN_COUNT(ops) * QN_COUNT(types) * 8; k++) {
		const integer_type *t = &types[k % QN_COUNT(types)];
		qn_op op = ops[k / QN_COUNT(types) % QN_COUNT(ops)];
		uint64_t x[N], y[3];
		void *px, *py;

		fresh_graph();
		qn_id a = input("x", text("4x3", t->name)), b = input("y", text("3", t->name));
		output(op2(op, a, b, NULL, NULL));
		const qn_tensor *in[2] = {
			qn_tensor_new(&rg->arena, qn_graph_node(rg->g, a)->type, &px),
			qn_tensor_new(&rg->arena, qn_graph_node(rg->g, b)->type, &py)};
		for (int i = 0; i < N; i++)
			put(px, i, t, x[i] = any_number(t));
		for (int i = 0; i < 3; i++)
			put(py, i, t, y[i] = any_number(t));
		const qn_tensor *z = run_tensors(in);
		const integer_type *to =
			op >= QN_OP_equal && op <= QN_OP_greater_equal ? &boolean : t;
		assert_int_equal(z->type->elem->plain, to->plain);
		for (int i = 0; i < N; i++)
			if (take(z->data, i, to) != cut(model(op, x[i], y[i % 3], t), to))
				fail_msg("%s on %s: %lld, %lld give %lld", qn_opinfo_get(op)->name,
					 t->name, (long long)x[i], (long long)y[i % 3],
					 (long long)take(z->data, i, to));
	}
}

/* One op on two inputs of given types; near() compares. */
static void
expect2(qn_op op, const char *tx, const double *x, const char *ty, const double *y,
	const double *want, int64_t n)
{
	fresh_graph();
	qn_id a = input("x", tx), b = input("y", ty);
	output(op2(op, a, b, NULL, NULL));
	near(want, run((const double *[]){x, y}), n, 0.0);
}

static void
test_pow(void **state)
{
	(void)state;
	expect2(QN_OP_pow, "tensor<5xi32>", (double[]){2, -3, -1, 0, 7}, "tensor<5xi32>",
		(double[]){31, 3, -5, 0, -1}, (double[]){-2147483648.0, -27, -1, 1, 0}, 5);
	expect2(QN_OP_pow, "tensor<3xf32>", (double[]){0.5, -2, 9}, "tensor<3xi64>",
		(double[]){-2, 3, 0}, (double[]){4, -8, 1}, 3);
	expect2(QN_OP_pow, "tensor<4xi32>", (double[]){4, 10, 2, 3}, "tensor<4xf32>",
		(double[]){0.5, 20, -1, 2}, (double[]){2, 2147483647, 0, 9}, 4);
	expect2(QN_OP_pow, "tensor<2xf64>", (double[]){3, 4}, "tensor<f64>", (double[]){2},
		(double[]){9, 16}, 2);
	expect2(QN_OP_add, "tensor<2xf16>", (double[]){1, 2048}, "tensor<2xf16>",
		(double[]){0.5, 1}, (double[]){1.5, 2048}, 2);
}

/* ---- one operand ---- */

static void
test_unary(void **state)
{
	qn_attrs clip;

	(void)state;
	qn_attrs_default(QN_ATTRS(clip), &clip);
	clip.clip.min = -1.5;
	clip.clip.max = 100;
	expect1(QN_OP_neg, NULL, "tensor<3xi8>", (double[]){-128, 5, -7}, (double[]){-128, -5, 7},
		3);
	expect1(QN_OP_neg, NULL, "tensor<2xu16>", (double[]){1, 0}, (double[]){65535, 0}, 2);
	expect1(QN_OP_abs, NULL, "tensor<3xi16>", (double[]){-5, 5, -32768},
		(double[]){5, 5, -32768}, 3);
	expect1(QN_OP_abs, NULL, "tensor<1xu8>", (double[]){200}, (double[]){200}, 1);
	expect1(QN_OP_square, NULL, "tensor<2xi64>", (double[]){-3, 1 << 20}, (double[]){9, 0x1p40},
		2);
	expect1(QN_OP_square, NULL, "tensor<2xu8>", (double[]){16, 15}, (double[]){0, 225}, 2);
	expect1(QN_OP_sign, NULL, "tensor<3xi64>", (double[]){-9, 0, 0x1p60}, (double[]){-1, 0, 1},
		3);
	expect1(QN_OP_sign, NULL, "tensor<2xu8>", (double[]){200, 0}, (double[]){1, 0}, 2);
	expect1(QN_OP_round, NULL, "tensor<2xf64>", (double[]){2.5, -1.7}, (double[]){2, -2}, 2);
	expect1(QN_OP_relu, NULL, "tensor<2xi32>", (double[]){-3, 3}, (double[]){0, 3}, 2);
	expect1(QN_OP_relu6, NULL, "tensor<2xu64>", (double[]){7, 3}, (double[]){6, 3}, 2);
	expect1(QN_OP_clip, &clip, "tensor<3xi64>", (double[]){-5, -1, 101},
		(double[]){-1, -1, 100}, 3);
	expect1(QN_OP_clip, &clip, "tensor<2xu8>", (double[]){0, 255}, (double[]){0, 100}, 2);
	expect1(QN_OP_clip, &clip, "tensor<2xf64>", (double[]){-5, 0.1}, (double[]){-1.5, 0.1}, 2);
	expect1(QN_OP_exp, NULL, "tensor<1xf64>", (double[]){0}, (double[]){1}, 1);
}

/* ---- reductions, products, places ---- */

static const qn_attrs *
over(int64_t axis)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(reduce), &a);
	a.reduce.axes = (qn_list){1, {axis}};
	return attributes(a);
}

static void
test_reduce(void **state)
{
	const double x[6] = {-7, 2, 100, 3, -9, 100};
	qn_attrs cumsum;

	(void)state;
	qn_attrs_default(QN_ATTRS(cumsum), &cumsum);
	cumsum.cumsum.axis = 1;
	expect1(QN_OP_reduce_sum, over(1), "tensor<2x3xi8>", x, (double[]){95, 94}, 2);
	expect1(QN_OP_reduce_sum, over(0), "tensor<2x3xi8>", x, (double[]){-4, -7, -56}, 3);
	expect1(QN_OP_reduce_mean, over(0), "tensor<2x3xi32>", x, (double[]){-2, -3, 100}, 3);
	expect1(QN_OP_reduce_max, over(-1), "tensor<2x3xi64>", x, (double[]){100, 100}, 2);
	expect1(QN_OP_reduce_min, over(-1), "tensor<2x3xi64>", x, (double[]){-7, -9}, 2);
	expect1(QN_OP_reduce_max, over(1), "tensor<2x2xbool>", (double[]){0, 0, 0, 1},
		(double[]){0, 1}, 2);
	expect1(QN_OP_reduce_min, over(1), "tensor<2x2xbool>", (double[]){1, 1, 0, 1},
		(double[]){1, 0}, 2);
	expect1(QN_OP_reduce_mean, over(1), "tensor<1x3xf64>", (double[]){1, 2, 4},
		(double[]){7.0 / 3.0}, 1);
	expect1(QN_OP_argmax, NULL, "tensor<2x3xu8>", (double[]){1, 255, 255, 9, 8, 7},
		(double[]){1, 0}, 2);
	expect1(QN_OP_argmin, NULL, "tensor<2x3xi8>", (double[]){1, -1, -1, 9, 8, 7},
		(double[]){1, 2}, 2);
	expect1(QN_OP_reduce_prod, over(1), "tensor<2x3xi64>", x, (double[]){-1400, -2700}, 2);
	expect1(QN_OP_reduce_prod, over(0), "tensor<2x3xf64>", x, (double[]){-21, -18, 10000}, 3);
	expect1(QN_OP_cumsum, &cumsum, "tensor<2x3xi8>", x, (double[]){-7, -5, 95, 3, -6, 94}, 6);
	expect1(QN_OP_argmax, NULL, "tensor<4xi64>", (double[]){-5, -4, -9, -4}, (double[]){1}, 1);
}

static void
test_long_runs(void **state)
{
	double *x = codes(1000, -1000, 1000), sum = 0, dot = 0;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		sum += x[i];
		dot += x[i] * x[i];
	}
	expect1(QN_OP_reduce_sum, over(1), "tensor<1x1000xi64>", x, &sum, 1);
	expect2(QN_OP_matmul, "tensor<1x1000xi32>", x, "tensor<1000x1xi32>", x, &dot, 1);
}

static void
test_matmul(void **state)
{
	(void)state;
	expect2(QN_OP_matmul, "tensor<2x1x2xi64>", (double[]){1, 2, 3, -4}, "tensor<2x3xi64>",
		(double[]){1, 10, 100, 2, 20, 200}, (double[]){5, 50, 500, -5, -50, -500}, 6);
	expect2(QN_OP_matmul, "tensor<1x2xu8>", (double[]){16, 1}, "tensor<2x1xu8>",
		(double[]){16, 3}, (double[]){3}, 1);
	expect2(QN_OP_matmul, "tensor<1x2xf64>", (double[]){0.5, 1}, "tensor<2x1xf64>",
		(double[]){4, 0.25}, (double[]){2.25}, 1);
}

/* ---- what is refused ---- */

static void
test_refused(void **state)
{
	(void)state;
	fresh_graph();
	qn_id x = input("x", "tensor<3xbool>");
	assert_int_equal(qn_graph_op(rg->g, QN_OP_add, NULL, 2, (qn_id[]){x, x}, NULL, NULL), 0);
	assert_string_equal(rg->diags.item[0].id, "type.element");
	qn_diags_clear(&rg->env, &rg->diags);
	qn_id y = input("y", "tensor<3xi32>");
	assert_int_equal(qn_graph_op(rg->g, QN_OP_exp, NULL, 1, &y, NULL, NULL), 0);
	assert_string_equal(rg->diags.item[0].id, "type.element");
	qn_diags_clear(&rg->env, &rg->diags);

	/* in emitted code there are no plain sums */
	qn_id sum = op2(QN_OP_add, y, y, NULL, NULL);
	const qn_int_impl *form = qn_int_impl_get(QN_OP_add);
	assert_null(form->prepare(rg->g, qn_graph_node(rg->g, sum), &rg->arena));
	assert_string_equal(rg->diags.item[0].id, "int.unsupported");
	assert_non_null(strstr(rg->diags.item[0].message, "plain i32 values"));
	qn_diags_clear(&rg->env, &rg->diags);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
		TEST(test_binary),    TEST(test_pow),    TEST(test_unary),   TEST(test_reduce),
		TEST(test_long_runs), TEST(test_matmul), TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
