/* SPDX-License-Identifier: Apache-2.0 */
/* test_runtime.c - multipliers, the exponential function, and products in float against references in
 * double that are written another way: one loop over the output, indices by division. */
#include "tests/unit/run_util.h"

#include <math.h>

#include "runtime/exp.h"
#include "runtime/fixed.h"
#include "runtime/impl_util.h"
#include "runtime/impls.h"

/* ---- multipliers and codes ---- */

static void
test_multiplier(void **state)
{
	static const struct {
		double M;
		int32_t m, s;
	} row[] = {
		{0.0, 0, 0},
		{1.0, 1073741824, 1},
		{0.5, 1073741824, 0},
		{0.25, 1073741824, -1},
		{0.75, 1610612736, 0},
		{2.0, 1073741824, 2},
		{0.1, 1717986918, -3},
		{1.0 / 3.0, 1431655765, -1},
		{0.99999999999, 1073741824, 1},
		{1e-12, 0, 0},
		{0x1p-33, 0, 0},
		{0x1p-32, 1073741824, -31},
		{123.456, 2071247978, 7},
	};
	int32_t m, s;

	(void)state;
	for (size_t i = 0; i < QN_COUNT(row); i++) {
		assert_true(qn_multiplier(row[i].M, QN_RQ_DOUBLE, &m, &s));
		assert_int_equal(m, row[i].m);
		assert_int_equal(s, row[i].s);
	}
	assert_false(qn_multiplier(0x1p40, QN_RQ_DOUBLE, &m, &s));
	assert_false(qn_multiplier(0x1p40, QN_RQ_NEAREST, &m, &s));
	assert_true(qn_multiplier(0x1p40, QN_RQ_SINGLE, &m, &s));
	assert_int_equal(m, 2147483647);
	assert_int_equal(s, 30);
	assert_false(qn_multiplier(-0.5, QN_RQ_DOUBLE, &m, &s));
	assert_false(qn_multiplier((double)NAN, QN_RQ_SINGLE, &m, &s));
	assert_false(qn_multiplier(HUGE_VAL, QN_RQ_SINGLE, &m, &s));
}

/* m * 2^(s-31) / n with as many more bits as n has, but never a shift below -31. */
static void
test_multiplier_divide(void **state)
{
	static const struct {
		int64_t n;
		int32_t m, s, want_m, want_s;
	} row[] = {
		{1, 1073741824, 1, 1073741824, 1},
		{2, 1073741824, 1, 1073741824, 0},
		{3, 1073741824, 1, 715827882, 0},
		{8, 1073741824, -28, 1073741824, -31},
		{8, 1073741824, -29, 536870912, -31},
		{8, 1073741824, -30, 268435456, -31},
		{8, 1073741824, -31, 134217728, -31},
		{INT64_C(1) << 32, 1073741824, 2, 1073741824, -30},
		{INT64_C(1) << 33, 1073741824, 2, 536870912, -30},
	};

	(void)state;
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		int32_t m = row[i].m, s = row[i].s;

		qn_multiplier_divide(row[i].n, &m, &s);
		if (m != row[i].want_m || s != row[i].want_s)
			fail_msg("row %zu: %d, %d", i, (int)m, (int)s);
	}
}

static void
test_code_of(void **state)
{
	static const struct {
		const char *type;
		double v;
		int64_t code;
	} row[] = {
		{"tensor<1x!quant.uniform<i8:f32, 5.0e-2:-10>>", 6.0, 110},
		{"tensor<1x!quant.uniform<i8:f32, 5.0e-2:7>>", 6.0, 127},
		{"tensor<1x!quant.uniform<i8:f32, 5.0e-2:7>>", 0.0, 7},
		{"tensor<1x!quant.uniform<i8:f32, 1.0e-1>>", 0.25, 3},
		{"tensor<1x!quant.uniform<i8:f32, 1.0e-1>>", -0.25, -3},
		{"tensor<1x!quant.uniform<i8:f32, 5.0e-1:3>>", -0.75, 1},
		{"tensor<1x!quant.uniform<i8<-127:127>:f32, 1.0>>", -HUGE_VAL, -127},
		{"tensor<1x!quant.uniform<i8:f32, 1.0>>", HUGE_VAL, 127},
		{"tensor<1x!quant.uniform<i8:f32, 1.0>>", 1e30, 127},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(row); i++)
		assert_int_equal(qn_code_of(&rg->m.types, type(row[i].type)->elem, row[i].v),
				 row[i].code);
}

/* ---- e^x ---- */

/* Distance from the true value in units of the last place of the result. */
static double
ulps(double x)
{
	long double want = expl((long double)x);
	double have = qn_exp(x);
	int e = 0;

	(void)frexp((double)want, &e);
	e = e < -1021 ? -1021 : e;
	return (double)(fabsl((long double)have - want) / ldexpl(1.0L, e - 53));
}

static void
test_exp(void **state)
{
	double worst = 0.0;

	(void)state;
	for (int i = 0; i < 300000; i++) {
		double scale = i % 3 == 0 ? 700.0 : i % 3 == 1 ? 10.0 : 0.5;
		double x = (double)pick(-(INT64_C(1) << 30), INT64_C(1) << 30) / 0x1p30 * scale;
		double u = ulps(x);

		worst = u > worst ? u : worst;
	}
	if (!(worst < 0.7))
		fail_msg("off by %g units", worst);
	assert_true(qn_exp(0.0) == 1.0);
	assert_true(qn_exp(-HUGE_VAL) == 0.0);
	assert_true(qn_exp(HUGE_VAL) == HUGE_VAL);
	assert_true(qn_exp(709.8) == HUGE_VAL);
	assert_true(qn_exp(709.78) < HUGE_VAL && ulps(709.78) < 1.0);
	assert_true(ulps(-745.0) <= 1.0 && ulps(-720.5) <= 1.5);
	assert_true(isnan(qn_exp((double)NAN)));
	assert_true(qn_exp(1.0) == 0x1.5bf0a8b145769p+1);
}

/* ---- convolution ---- */

typedef struct conv_case {
	int64_t n, h, w, c, o, kh, kw, groups;
	int64_t stride[2], dil[2], pad[4];
	bool bias;
} conv_case;

/* The contract word for word, in f32: order (kh, kw, c), from +0, bias last, padding skipped. */
static float
conv_at(const conv_case *k, const double *x, const double *w, const double *bias,
	const int64_t at[4])
{
	int64_t depth = k->c / k->groups, first = at[3] / (k->o / k->groups) * depth;
	float acc = 0.0f;

	for (int64_t t = 0; t < k->kh * k->kw * depth; t++) {
		int64_t ky = t / depth / k->kw, kx = t / depth % k->kw, c = t % depth;
		int64_t iy = at[1] * k->stride[0] - k->pad[0] + ky * k->dil[0];
		int64_t ix = at[2] * k->stride[1] - k->pad[2] + kx * k->dil[1];

		if (iy < 0 || iy >= k->h || ix < 0 || ix >= k->w)
			continue;
		acc += (float)x[((at[0] * k->h + iy) * k->w + ix) * k->c + first + c] *
		       (float)w[at[3] * k->kh * k->kw * depth + t];
	}
	return bias != NULL ? acc + (float)bias[at[3]] : acc;
}

static qn_attrs
conv_attrs(const conv_case *k)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(conv2d), &a);
	a.conv2d.groups = k->groups;
	memcpy(a.conv2d.stride, k->stride, sizeof k->stride);
	memcpy(a.conv2d.dilation, k->dil, sizeof k->dil);
	memcpy(a.conv2d.pad, k->pad, sizeof k->pad);
	return a;
}

static const char *
shape(const char *fmt, int64_t a, int64_t b, int64_t c, int64_t d)
{
	qn_buf t;

	qn_buf_init(&t, &rg->arena);
	qn_buff(&t, fmt, (long long)a, (long long)b, (long long)c, (long long)d);
	return qn_buf_str(&t);
}

static void
check_conv(const conv_case *k)
{
	const char *image = "tensor<%lldx%lldx%lldx%lldxf32>";
	double *x = reals(k->n * k->h * k->w * k->c);
	double *w = reals(k->o * k->kh * k->kw * k->c / k->groups), *bias = reals(k->o);
	qn_attrs a = conv_attrs(k);
	qn_id in[3];

	fresh_graph();
	in[0] = input("x", shape(image, k->n, k->h, k->w, k->c));
	in[1] = constant("w", shape(image, k->o, k->kh, k->kw, k->c / k->groups), w);
	const qn_type *vector = qn_type_plain(&rg->m.types, QN_PLAIN_f32, 1, &k->o);
	in[2] = qn_graph_const(rg->g, "b", tensor(vector, bias));
	qn_id y = op(QN_OP_conv2d, k->bias ? 3 : 2, in, &a, NULL);
	output(y);
	const double *have = run1(x);
	const int64_t *dim = qn_graph_node(rg->g, y)->type->dim;
	for (int64_t i = 0; i < dim[0] * dim[1] * dim[2] * dim[3]; i++) {
		const int64_t at[4] = {i / dim[3] / dim[2] / dim[1], i / dim[3] / dim[2] % dim[1],
				       i / dim[3] % dim[2], i % dim[3]};
		double want = (double)conv_at(k, x, w, k->bias ? bias : NULL, at);

		assert_true(want == have[i]);
	}
}

static void
test_conv_order(void **state)
{
	static const conv_case list[] = {
		{1, 5, 6, 3, 10, 3, 3, 1, {1, 1}, {1, 1}, {0, 0, 0, 0}, true},
		{2, 7, 5, 4, 8, 3, 2, 1, {2, 1}, {1, 2}, {1, 0, 2, 1}, false},
		{1, 6, 6, 6, 6, 3, 3, 6, {1, 1}, {1, 1}, {1, 1, 1, 1}, true},
		{1, 6, 6, 4, 36, 1, 1, 2, {2, 2}, {1, 1}, {0, 0, 0, 0}, true},
		{1, 1, 9, 2, 3, 1, 3, 1, {1, 1}, {1, 4}, {0, 0, 4, 4}, false},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(list); i++)
		check_conv(&list[i]);
}

/* 1e8 + 1 - 1e8 is 0 in f32 when summed in this order, and 1 in any other. */
static void
test_sum_order(void **state)
{
	const double w[3] = {1e8, 1.0, -1e8}, x[3] = {1.0, 1.0, 1.0};

	(void)state;
	output(op2(QN_OP_dense, input("x", "tensor<1x3xf32>"), constant("w", "tensor<1x3xf32>", w),
		   NULL, NULL));
	assert_true(run1(x)[0] == 0.0);
}

static void
test_dense(void **state)
{
	double *x = reals(3 * 70), *w = reals(19 * 70), *b = reals(19), want[3 * 19];
	qn_id in[3] = {input("x", "tensor<3x70xf32>"), constant("w", "tensor<19x70xf32>", w),
		       constant("b", "tensor<19xf32>", b)};

	(void)state;
	output(op(QN_OP_dense, 3, in, NULL, NULL));
	for (int i = 0; i < 3 * 19; i++) {
		float acc = 0.0f;

		for (int k = 0; k < 70; k++)
			acc += (float)x[i / 19 * 70 + k] * (float)w[i % 19 * 70 + k];
		want[i] = (double)(acc + (float)b[i % 19]);
	}
	near(want, run1(x), 3 * 19, 0.0);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_multiplier), T(test_multiplier_divide), T(test_code_of), T(test_exp),
		T(test_conv_order), T(test_sum_order),         T(test_dense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
