/* SPDX-License-Identifier: Apache-2.0 */
/* test_products.c - matmul, conv1d and conv2d_transpose in both forms, against loops written
 * another way: the transposed convolution scatters each input, conv1d is a conv2d of one row. */
#include "tests/unit/run_util.h"

#include <math.h>

#define Q(shape, params) "tensor<" shape "x!quant.uniform<i8:f32, " params ">>"

static const char *
typed(const int64_t *dim, int rank, const char *elem)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "tensor<");
	for (int i = 0; i < rank; i++)
		qn_buff(&b, "%lldx", (long long)dim[i]);
	qn_buff(&b, "%s>", elem);
	return qn_buf_str(&b);
}

/* a[i, l] of a matrix that may stand turned. */
static double
element(const double *m, int64_t rows, int64_t columns, bool turned, int64_t i, int64_t l)
{
	return turned ? m[l * rows + i] : m[i * columns + l];
}

enum { M = 3, K = 5, N = 4 };

/* a [2, 1, M, K], b [3, K, N], either turned; za, zb: zero points. */
static void
check_matmul(int turned, const char *ea, const char *eb, double za, double zb, bool real)
{
	bool ta = (turned & 1) != 0, tb = (turned & 2) != 0;
	const int64_t da[4] = {2, 1, ta ? K : M, ta ? M : K}, db[3] = {3, tb ? N : K, tb ? K : N};
	double *a = real ? reals(2 * M * K) : codes(2 * M * K, -128, 127);
	double *b = real ? reals(3 * K * N) : codes(3 * K * N, -128, 127), want[6 * M * N];
	const qn_attrs attr = {.matmul = {.transpose_a = ta, .transpose_b = tb}};

	for (int64_t i = 0; i < 6 * M * N; i++) {
		int64_t batch = i / N / M;
		float acc = 0.0f;

		for (int64_t l = 0; l < K; l++) {
			double u = element(a + batch / 3 * M * K, M, K, ta, i / N % M, l) - za;
			double v = element(b + batch % 3 * K * N, K, N, tb, l, i % N) - zb;

			acc += (float)u * (float)v;
		}
		want[i] = (double)acc;
	}
	fresh_graph();
	qn_id x = input("a", typed(da, 4, ea)), y = input("b", typed(db, 3, eb));
	output(op2(QN_OP_matmul, x, y, &attr, NULL));
	near(want, run((const double *[]){a, b}), 6 * M * N, 0.0);
}

static void
test_matmul(void **state)
{
	(void)state;
	for (int turned = 0; turned < 4; turned++) {
		check_matmul(turned, "f32", "f32", 0, 0, true);
		check_matmul(turned, "!quant.uniform<i8:f32, 0.1:5>",
			     "!quant.uniform<i8:f32, 0.2:-9>", 5, -9, false);
	}
}

/* A scale for each column, then a requantize with as many multipliers. */
static void
test_matmul_columns(void **state)
{
	double *a = codes(6, -128, 127), *w = codes(6, -127, 127), want[6];
	const double scale[3] = {0.01, 0.02, 0.03};

	(void)state;
	for (int i = 0; i < 6; i++) {
		double acc = 0.0;

		for (int l = 0; l < 2; l++)
			acc += (a[i / 3 * 2 + l] - 5) * w[l * 3 + i % 3];
		double q = acc * 0.1 * scale[i % 3] / 0.5;
		q = (q < 0 ? -floor(0.5 - q) : floor(q + 0.5)) + 1;
		want[i] = q < -128 ? -128 : q > 127 ? 127 : q;
	}
	fresh_graph();
	qn_id x = input("a", Q("2x2", "0.1:5"));
	qn_id y = constant("w", "tensor<2x3x!quant.uniform<i8<-127:127>:f32:1, {0.01,0.02,0.03}>>",
			   w);
	output(op1(QN_OP_requantize, op2(QN_OP_matmul, x, y, NULL, NULL), NULL, Q("2x3", "0.5:1")));
	near(want, run1(a), 6, 1.0);
}

/* The largest number of terms, and one more. */
static void
test_matmul_accumulator(void **state)
{
	enum { TERMS = 33025 };

	(void)state;
	for (int64_t terms = TERMS; terms <= TERMS + 1; terms++) {
		const int64_t da[2] = {1, terms}, db[2] = {terms, 1};
		double *a = codes(terms, 127, 127);

		fresh_graph();
		qn_id x = input("a", typed(da, 2, "!quant.uniform<i8:f32, 1.0:-128>"));
		qn_id y = input("b", typed(db, 2, "!quant.uniform<i8:f32, 1.0:-128>"));
		output(op2(QN_OP_matmul, x, y, NULL, NULL));
		if (terms == TERMS)
			assert_true(run((const double *[]){a, a})[0] == TERMS * 255.0 * 255.0);
		else
			refused("int.accumulator", "2147515650");
	}
}

/* ---- conv1d ---- */

static void
check_conv1d(const qn_attrs *a, bool real)
{
	const char *ex = real ? "f32" : "!quant.uniform<i8:f32, 0.1:5>";
	const char *ew = real ? "f32" : "!quant.uniform<i8<-127:127>:f32, 0.1>";
	const int64_t dx[4] = {2, 1, 9, 4}, flat[3] = {2, 9, 4};
	const int64_t dw[4] = {6, 1, 3, 2}, flat_w[3] = {6, 3, 2};
	double *x = real ? reals(72) : codes(72, -128, 127);
	double *w = real ? reals(36) : codes(36, -127, 127);
	qn_attrs wide;

	qn_attrs_default(QN_ATTRS(conv2d), &wide);
	wide.conv2d.stride[1] = a->conv1d.stride;
	wide.conv2d.dilation[1] = a->conv1d.dilation;
	wide.conv2d.padding = a->conv1d.padding;
	wide.conv2d.pad[2] = a->conv1d.pad[0];
	wide.conv2d.pad[3] = a->conv1d.pad[1];
	wide.conv2d.groups = a->conv1d.groups;
	fresh_graph();
	qn_id y = op2(QN_OP_conv2d, input("x", typed(dx, 4, ex)),
		      constant("w", typed(dw, 4, ew), w), &wide, NULL);
	int64_t n = qn_type_count(qn_graph_node(rg->g, y)->type);
	output(y);
	const double *want = run1(x);
	fresh_graph();
	y = op2(QN_OP_conv1d, input("x", typed(flat, 3, ex)),
		constant("w", typed(flat_w, 3, ew), w), a, NULL);
	assert_int_equal(qn_type_count(qn_graph_node(rg->g, y)->type), n);
	output(y);
	near(want, run1(x), n, 0.0);
}

static void
test_conv1d(void **state)
{
	const qn_attrs_conv1d list[] = {
		{.stride = 1, .dilation = 1, .groups = 2},
		{.stride = 2, .dilation = 2, .padding = QN_PADDING_same, .groups = 2},
		{.stride = 3, .dilation = 1, .pad = {2, 1}, .groups = 2},
		{.stride = 1, .dilation = 3, .padding = QN_PADDING_valid, .groups = 2},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(list); i++) {
		const qn_attrs a = {.conv1d = list[i]};

		check_conv1d(&a, true);
		check_conv1d(&a, false);
	}
}

/* Taps by hand: [1, 2, 3] * [1, 10] with one zero before. */
static void
test_conv1d_vector(void **state)
{
	const double x[3] = {1, 2, 3}, w[2] = {1, 10}, want[3] = {10, 21, 32};
	const qn_attrs a = {.conv1d = {.stride = 1, .dilation = 1, .pad = {1, 0}, .groups = 1}};

	(void)state;
	output(op2(QN_OP_conv1d, input("x", "tensor<1x3x1xf32>"),
		   constant("w", "tensor<1x2x1xf32>", w), &a, NULL));
	near(want, run1(x), 3, 0.0);
}

/* ---- conv2d_transpose ---- */

typedef struct transpose_case {
	int64_t h, w, c, o, kh, kw, groups, stride[2], pad[4], extra[2];
	int32_t padding;
	int64_t out[2]; /* by hand */
} transpose_case;

/* Adds the kernel at each input into an image without pads, then cuts it out. */
static double *
scatter(const transpose_case *t, const double *x, const double *w, double zx, const int64_t top[2])
{
	int64_t big[2] = {t->h * t->stride[0] + t->kh + 8, t->w * t->stride[1] + t->kw + 8};
	int64_t depth = t->c / t->groups;
	double *image =
		qn_arena_alloc(&rg->arena, (size_t)(big[0] * big[1] * t->o), sizeof(double));
	double *out =
		qn_arena_alloc(&rg->arena, (size_t)(t->out[0] * t->out[1] * t->o), sizeof(double));

	for (int64_t i = 0; i < t->h * t->w * t->o * t->kh * t->kw * depth; i++) {
		int64_t c = i % depth, kx = i / depth % t->kw, ky = i / depth / t->kw % t->kh;
		int64_t o = i / depth / t->kw / t->kh % t->o;
		int64_t at = i / depth / t->kw / t->kh / t->o;
		int64_t y = at / t->w * t->stride[0] + ky, z = at % t->w * t->stride[1] + kx;
		int64_t from = at * t->c + o / (t->o / t->groups) * depth + c;

		image[(y * big[1] + z) * t->o + o] +=
			(x[from] - zx) * w[((o * t->kh + ky) * t->kw + kx) * depth + c];
	}
	for (int64_t i = 0; i < t->out[0] * t->out[1] * t->o; i++) {
		int64_t y = i / t->o / t->out[1] + top[0], z = i / t->o % t->out[1] + top[1];

		out[i] = image[(y * big[1] + z) * t->o + i % t->o];
	}
	return out;
}

static void
check_transpose(const transpose_case *t, const int64_t top[2], bool real)
{
	const int64_t dx[4] = {1, t->h, t->w, t->c}, dw[4] = {t->o, t->kh, t->kw, t->c / t->groups};
	int64_t nx = t->h * t->w * t->c, nw = t->o * t->kh * t->kw * t->c / t->groups;
	double *x = real ? reals(nx) : codes(nx, -128, 127);
	double *w = real ? reals(nw) : codes(nw, -127, 127);
	const char *ex = real ? "f32" : "!quant.uniform<i8:f32, 0.1:5>";
	const char *ew = real ? "f32" : "!quant.uniform<i8<-127:127>:f32, 0.1>";
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(conv2d_transpose), &a);
	memcpy(a.conv2d_transpose.stride, t->stride, sizeof t->stride);
	memcpy(a.conv2d_transpose.pad, t->pad, sizeof t->pad);
	memcpy(a.conv2d_transpose.output_padding, t->extra, sizeof t->extra);
	a.conv2d_transpose.groups = t->groups;
	a.conv2d_transpose.padding = t->padding;
	fresh_graph();
	qn_id y = op2(QN_OP_conv2d_transpose, input("x", typed(dx, 4, ex)),
		      constant("w", typed(dw, 4, ew), w), &a, NULL);
	assert_int_equal(qn_graph_node(rg->g, y)->type->dim[1], t->out[0]);
	assert_int_equal(qn_graph_node(rg->g, y)->type->dim[2], t->out[1]);
	output(y);
	near(scatter(t, x, w, real ? 0 : 5, top), run1(x), t->out[0] * t->out[1] * t->o,
	     real ? 1e-4 : 0.0);
}

static void
test_conv_transpose(void **state)
{
	static const transpose_case list[] = {
		{3, 4, 2, 3, 3, 2, 1, {2, 3}, {0}, {0}, QN_PADDING_explicit, {7, 11}},
		{3, 4, 4, 2, 3, 4, 2, {2, 2}, {1, 0, 2, 1}, {1, 0}, QN_PADDING_explicit, {7, 7}},
		{3, 3, 2, 2, 4, 3, 1, {2, 2}, {0}, {0}, QN_PADDING_same, {6, 6}},
		{2, 3, 3, 3, 2, 1, 3, {3, 2}, {0}, {0}, QN_PADDING_same, {6, 6}},
		{2, 2, 1, 2, 2, 3, 1, {3, 2}, {0}, {2, 1}, QN_PADDING_valid, {7, 6}},
	};
	/* Rows and columns cut off before; same: half of kernel - stride, rounded down. */
	static const int64_t top[][2] = {{0, 0}, {1, 2}, {1, 0}, {0, 0}, {0, 0}};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(list); i++) {
		check_transpose(&list[i], top[i], true);
		check_transpose(&list[i], top[i], false);
	}
}

/* By hand: [1, 2] with kernel [1, 10, 100], stride 2, and a bias. */
static void
test_conv_transpose_vector(void **state)
{
	const double x[2] = {1, 2}, w[3] = {1, 10, 100}, b[1] = {0.5};
	const double want[5] = {1.5, 10.5, 102.5, 20.5, 200.5};
	qn_attrs a;

	(void)state;
	qn_attrs_default(QN_ATTRS(conv2d_transpose), &a);
	a.conv2d_transpose.stride[1] = 2;
	qn_id in[3] = {input("x", "tensor<1x1x2x1xf32>"), constant("w", "tensor<1x1x3x1xf32>", w),
		       constant("b", "tensor<1xf32>", b)};
	output(op(QN_OP_conv2d_transpose, 3, in, &a, NULL));
	near(want, run1(x), 5, 0.0);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_matmul),
		T(test_matmul_columns),
		T(test_matmul_accumulator),
		T(test_conv1d),
		T(test_conv1d_vector),
		T(test_conv_transpose),
		T(test_conv_transpose_vector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
