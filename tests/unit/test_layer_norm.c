/* SPDX-License-Identifier: Apache-2.0 */
/* test_layer_norm.c - log_softmax, layer_norm and instance_norm against models in double. */
#include "tests/unit/reduce_util.h"

#include "runtime/kernels/layer_norm.h"
#include "runtime/kernels/softmax.h"

/* ---- log_softmax ---- */

static void
test_log(void **state)
{
	(void)state;
	for (double z = 1; z < 4095; z = z * 1.003 + 0.0001) {
		int32_t raw = (int32_t)(z * 0x1p19);
		double want = log((double)raw * 0x1p-19), have = (double)qn_log_q12(raw) * 0x1p-26;

		if (fabs(want - have) > 0x1p-23)
			fail_msg("log %g: want %.9g, have %.9g", z, want, have);
	}
	assert_in_range(qn_log_q12(1 << 19) + 64, 0, 128);
	assert_in_range(qn_log_q12(INT32_MAX), 1, INT32_MAX);
}

static void
log_model(const double *x, int64_t n, int64_t step, double *y)
{
	double top = x[0], sum = 0;

	for (int64_t i = 1; i < n; i++)
		top = fmax(top, x[i * step]);
	for (int64_t i = 0; i < n; i++)
		sum += exp(x[i * step] - top);
	for (int64_t i = 0; i < n; i++)
		y[i * step] = x[i * step] - top - log(sum);
}

static void
test_log_softmax_float(void **state)
{
	qn_attrs a = attrs_of(QN_OP_log_softmax);
	double want[COUNT], *x = reals(COUNT);

	(void)state;
	for (int i = 0; i < COUNT; i++)
		x[i] = (double)(float)(x[i] * 20);
	a.axis.axis = 1;
	output(op1(QN_OP_log_softmax, input("x", shaped(4, dims, "f32")), attributes(a), NULL));
	for (int64_t o = 0; o < D0; o++)
		for (int64_t i = 0; i < D2 * D3; i++)
			log_model(x + o * D1 * D2 * D3 + i, D1, D2 * D3,
				  want + o * D1 * D2 * D3 + i);
	near(want, run1(x), COUNT, 4e-6);
}

static void
test_log_softmax_codes(void **state)
{
	static const double scales[] = {0.001, 0.02, 0.0625, 0.1, 0.37, 1.5, 9.5};
	static const int64_t sizes[] = {1, 2, 10, 300, 4095};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(scales) * QN_COUNT(sizes); i++) {
		double scale = scales[i % QN_COUNT(scales)];
		int64_t n = sizes[i / QN_COUNT(scales)], dim[2] = {2, n};
		double *x = codes(2 * n, -128, 127), *v = codes(2 * n, 0, 0);
		double *want = codes(2 * n, 0, 0);

		fresh_graph();
		output(op1(QN_OP_log_softmax, input("x", shaped(2, dim, quantized(scale, 9))), NULL,
			   shaped(2, dim, "!quant.uniform<i8:f32, 0.0625:127>")));
		for (int64_t k = 0; k < 2 * n; k++)
			v[k] = (x[k] - 9) * (double)(float)scale;
		for (int64_t r = 0; r < 2; r++)
			log_model(v + r * n, n, 1, want + r * n);
		for (int64_t k = 0; k < 2 * n; k++)
			want[k] = code_of(want[k], 0.0625, 127);
		near(want, run1(x), 2 * n, 1);
	}
}

/* ---- layer_norm, instance_norm ---- */

static void
test_isqrt(void **state)
{
	(void)state;
	for (int k = 0; k < 2000; k++) {
		uint64_t root = (uint64_t)pick(0, INT32_MAX) >> pick(0, 30);

		assert_int_equal(qn_isqrt64(root * root), root);
		assert_int_equal(qn_isqrt64(root * root + 2 * root), root);
	}
	assert_int_equal(qn_isqrt64((UINT64_C(1) << 62) - 1), INT32_MAX);
}

/* n elements that are step apart; w and b are wstep apart. */
static void
norm_model(const double *x, int64_t n, int64_t step, const double *w, const double *b,
	   int64_t wstep, double epsilon, double *y)
{
	double mean = 0, variance = 0, root;

	for (int64_t k = 0; k < n; k++)
		mean += x[k * step] / (double)n;
	for (int64_t k = 0; k < n; k++)
		variance += (x[k * step] - mean) * (x[k * step] - mean) / (double)n;
	root = sqrt(variance + epsilon);
	for (int64_t k = 0; k < n; k++)
		y[k * step] = (root > 1e-9 ? (x[k * step] - mean) / root : 0) * w[k * wstep] +
			      b[k * wstep];
}

static void
test_norm_float(void **state)
{
	qn_attrs a = attrs_of(QN_OP_layer_norm);
	double want[COUNT];
	const double *v[3] = {reals(COUNT), reals(D2 * D3), reals(D2 * D3)};
	const int64_t *tail = dims + 2, *last = dims + 3;

	(void)state;
	a.layer_norm.axis = -2;
	output(op(QN_OP_layer_norm, 3,
		  (const qn_id[]){input("x", shaped(4, dims, "f32")),
				  input("w", shaped(2, tail, "f32")),
				  input("b", shaped(2, tail, "f32"))},
		  attributes(a), NULL));
	for (int64_t r = 0; r < D0 * D1; r++)
		norm_model(v[0] + r * D2 * D3, D2 * D3, 1, v[1], v[2], 1, 1e-5, want + r * D2 * D3);
	near(want, run(v), COUNT, 1e-5);
	fresh_graph();
	output(op(QN_OP_instance_norm, 3,
		  (const qn_id[]){input("x", shaped(4, dims, "f32")),
				  input("w", shaped(1, last, "f32")),
				  input("b", shaped(1, last, "f32"))},
		  attributes(attrs_of(QN_OP_instance_norm)), NULL));
	for (int64_t i = 0; i < D0 * D3; i++) {
		int64_t at = i / D3 * D1 * D2 * D3 + i % D3;

		norm_model(v[0] + at, D1 * D2, D3, v[1] + i % D3, v[2] + i % D3, 0, 1e-5,
			   want + at);
	}
	near(want, run(v), COUNT, 1e-5);
}

typedef struct norm_case {
	int64_t rows, n, lo, hi; /* codes of x */
	double sx, sw, sb, sy, epsilon;
} norm_case;

static double *
reals_of(const double *c, int64_t n, double scale, double zp)
{
	double *v = codes(n, 0, 0);

	for (int64_t i = 0; i < n; i++)
		v[i] = (c[i] - zp) * (double)(float)scale;
	return v;
}

/* [rows, n] as layer_norm, or [1, n, 1, rows] as instance_norm. */
static void
check_norm(const norm_case *c, bool image)
{
	const int64_t flat[2] = {c->rows, c->n}, four[4] = {1, c->n, 1, c->rows};
	int64_t count = c->rows * c->n, nw = image ? c->rows : c->n;
	const double *v[3] = {codes(count, c->lo, c->hi), codes(nw, -128, 127),
			      codes(nw, -128, 127)};
	qn_op kind = image ? QN_OP_instance_norm : QN_OP_layer_norm;
	qn_attrs a = attrs_of(kind);
	double *want = codes(count, 0, 0);
	int32_t rank = image ? 4 : 2;
	const int64_t *dim = image ? four : flat;
	const double *x = reals_of(v[0], count, c->sx, 3), *w = reals_of(v[1], nw, c->sw, -5);
	const double *b = reals_of(v[2], nw, c->sb, 11);

	if (image)
		a.instance_norm.epsilon = c->epsilon;
	else
		a.layer_norm.epsilon = c->epsilon;
	fresh_graph();
	output(op(kind, 3,
		  (const qn_id[]){input("x", shaped(rank, dim, quantized(c->sx, 3))),
				  input("w", shaped(1, &nw, quantized(c->sw, -5))),
				  input("b", shaped(1, &nw, quantized(c->sb, 11)))},
		  attributes(a), shaped(rank, dim, quantized(c->sy, -7))));
	for (int64_t r = 0; r < c->rows; r++) {
		int64_t at = image ? r : r * c->n, from = image ? r : 0;

		norm_model(x + at, c->n, image ? c->rows : 1, w + from, b + from, image ? 0 : 1,
			   c->epsilon, want + at);
	}
	for (int64_t i = 0; i < count; i++)
		want[i] = code_of(want[i], c->sy, -7);
	near(want, run(v), count, 1);
}

static void
test_norm_codes(void **state)
{
	static const norm_case cases[] = {
		{7, 16, -128, 127, 0.05, 0.01, 0.01, 0.03, 1e-5},
		{3, 1, -128, 127, 0.05, 0.01, 0.01, 0.03, 1e-5},
		{5, 2, -128, 127, 0.001, 0.02, 0.001, 0.02, 1e-5},
		{4, 9, 5, 6, 0.0001, 0.01, 0.02, 0.02, 1e-5},
		{4, 9, 77, 77, 0.05, 0.01, 0.02, 0.02, 0},
		{2, 40, -3, 3, 0.05, 0.01, 0.02, 0.02, 0},
		{3, 768, -128, 127, 0.02, 0.008, 0.004, 0.04, 1e-12},
		{2, 20000, -128, 127, 0.1, 0.01, 0.01, 0.02, 1e-3},
		{1, 70000, -128, -127, 0.1, 0.01, 0.01, 0.02, 1e-5},
		{3, 50, -128, 127, 0.01, 0.01, 0.01, 0.001, 100},
		{3, 50, -128, 127, 0.01, 0.01, 0.01, 0.00001, 1e-5},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases) * 3; i++) {
		rg->m.rounding = (int32_t)(i % 3);
		check_norm(&cases[i / 3], false);
		check_norm(&cases[i / 3], true);
	}
}

/* ---- what is refused ---- */

static void
test_refused(void **state)
{
	qn_attrs a = attrs_of(QN_OP_log_softmax);
	const char *good = "tensor<2x4x!quant.uniform<i8:f32, 0.0625:127>>";
	qn_id x;

	(void)state;
	a.axis.axis = 0;
	output(op1(QN_OP_log_softmax, input("x", good), attributes(a), good));
	refused("int.unsupported", "only along the last axis");
	fresh_graph();
	output(op1(QN_OP_softmax, input("x", "tensor<2x4x!quant.uniform<i16:f32, 0.1>>"), NULL,
		   "tensor<2x4x!quant.uniform<i16:f32, 0.1>>"));
	refused("int.unsupported", "1/32768");
	fresh_graph();
	good = "tensor<4096x!quant.uniform<i8:f32, 0.0625:127>>";
	output(op1(QN_OP_log_softmax, input("x", good), NULL, good));
	refused("int.unsupported", "4095");
	fresh_graph();
	output(op1(QN_OP_argmax, input("x", "tensor<4x!quant.uniform<u16:f32, 0.1>>"), NULL, NULL));
	refused("int.unsupported", "only storage i8, u8 and i16");
	fresh_graph();
	output(op1(QN_OP_reduce_sum, input("x", "tensor<0x4x!quant.uniform<i8:f32, 0.1>>"),
		   attributes(attrs_of(QN_OP_reduce_sum)), "tensor<!quant.uniform<i8:f32, 0.1>>"));
	refused("int.unsupported", "without elements");
	fresh_graph();
	x = input("x", "tensor<4x!quant.uniform<i8:f32, 1.0e-12>>");
	a = attrs_of(QN_OP_layer_norm);
	output(op(QN_OP_layer_norm, 3, (const qn_id[]){x, x, x}, attributes(a),
		  "tensor<4x!quant.uniform<i8:f32, 0.1>>"));
	refused("int.unsupported", "epsilon");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_log),     TEST(test_log_softmax_float), TEST(test_log_softmax_codes),
		TEST(test_isqrt),   TEST(test_norm_float),        TEST(test_norm_codes),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
