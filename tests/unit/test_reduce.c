/* SPDX-License-Identifier: Apache-2.0 */
/* test_reduce.c - reductions and argmax against models written from their definitions. */
#include "tests/unit/reduce_util.h"

#include <math.h>
#include <stdio.h>

/* Axes of the mask, turned round and partly counted from the end. */
static const qn_attrs *
over(qn_op kind, unsigned mask, int64_t keep)
{
	qn_attrs a = attrs_of(kind);

	a.reduce.keepdims = keep;
	for (int32_t i = 3; i >= 0; i--)
		if ((mask >> i & 1) != 0)
			a.reduce.axes.v[a.reduce.axes.n++] = i % 2 == 0 ? i : i - 4;
	return attributes(a);
}

static int32_t
kept(unsigned mask, bool keep, int64_t *dim)
{
	int32_t rank = 0;

	for (int i = 0; i < 4; i++)
		if ((mask >> i & 1) == 0 || keep)
			dim[rank++] = (mask >> i & 1) != 0 ? 1 : dims[i];
	return rank;
}

/* The result's element that element i of x goes to. */
static int64_t
place(unsigned mask, int64_t i)
{
	const int64_t at[4] = {i / (D1 * D2 * D3), i / (D2 * D3) % D1, i / D3 % D2, i % D3};
	int64_t to = 0;

	for (int k = 0; k < 4; k++)
		if ((mask >> k & 1) == 0)
			to = to * dims[k] + at[k];
	return to;
}

typedef struct model {
	double sum[COUNT], f32[COUNT], max[COUNT], min[COUNT];
	int64_t n, each; /* results, elements a result */
} model;

static void
model_of(unsigned mask, const double *x, model *m)
{
	*m = (model){.n = 1, .each = 1};
	for (int k = 0; k < 4; k++) {
		m->n *= (mask >> k & 1) == 0 ? dims[k] : 1;
		m->each *= (mask >> k & 1) == 0 ? 1 : dims[k];
	}
	for (int64_t i = 0; i < m->n; i++)
		m->max[i] = -(m->min[i] = 1e30);
	for (int64_t i = 0; i < COUNT; i++) {
		int64_t to = place(mask, i);

		m->sum[to] += x[i];
		m->f32[to] = (double)((float)m->f32[to] + (float)x[i]);
		m->max[to] = fmax(m->max[to], x[i]);
		m->min[to] = fmin(m->min[to], x[i]);
	}
}

/* mask 0 stands for an empty list: all axes. */
static unsigned
effective(unsigned mask)
{
	return mask == 0 ? 15 : mask;
}

static double *
reduced(qn_op kind, unsigned mask, const char *from, const char *to, const double *x)
{
	fresh_graph();
	output(op1(kind, input("x", from), over(kind, mask, (int64_t)(mask & 1)), to));
	return run1(x);
}

static void
test_float(void **state)
{
	const char *t = shaped(4, dims, "f32");
	model m;

	(void)state;
	for (unsigned mask = 0; mask < 16; mask++) {
		const double *x = reals(COUNT);

		model_of(effective(mask), x, &m);
		near(m.f32, reduced(QN_OP_reduce_sum, mask, t, NULL, x), m.n, 0);
		near(m.max, reduced(QN_OP_reduce_max, mask, t, NULL, x), m.n, 0);
		near(m.min, reduced(QN_OP_reduce_min, mask, t, NULL, x), m.n, 0);
		for (int64_t i = 0; i < m.n; i++)
			m.f32[i] = (double)((float)m.f32[i] / (float)m.each);
		near(m.f32, reduced(QN_OP_reduce_mean, mask, t, NULL, x), m.n, 0);
	}
}

static void
test_codes(void **state)
{
	(void)state;
	for (unsigned mask = 0; mask < 48; mask++) {
		const double *x = codes(COUNT, -128, 127);
		double si = 0.02 + 0.001 * (double)mask, zi = (double)pick(-128, 127);
		double so = si * (0.3 + 0.01 * (double)mask), zo = (double)pick(-60, 60);
		const char *from = shaped(4, dims, quantized(si, (int64_t)zi));
		int64_t dim[4];
		unsigned over_mask = mask % 16;
		int32_t rank = kept(effective(over_mask), (over_mask & 1) != 0, dim);
		model m;

		rg->m.rounding = (int32_t)(mask / 16);
		model_of(effective(over_mask), x, &m);
		near(m.max, reduced(QN_OP_reduce_max, over_mask, from, NULL, x), m.n, 0);
		near(m.min, reduced(QN_OP_reduce_min, over_mask, from, NULL, x), m.n, 0);
		for (int64_t i = 0; i < m.n; i++)
			m.f32[i] = code_of((double)(float)si * (m.sum[i] / (double)m.each - zi), so,
					   zo);
		near(m.f32,
		     reduced(QN_OP_reduce_mean, over_mask, from,
			     shaped(rank, dim, quantized(so, (int64_t)zo)), x),
		     m.n, 1);
		so = si * sqrt((double)m.each);
		for (int64_t i = 0; i < m.n; i++)
			m.f32[i] = code_of((double)(float)si * (m.sum[i] - zi * (double)m.each), so,
					   zo);
		near(m.f32,
		     reduced(QN_OP_reduce_sum, over_mask, from,
			     shaped(rank, dim, quantized(so, (int64_t)zo)), x),
		     m.n, 1);
	}
}

/* Codes that TFLite's Mean gives. */
static void
test_mean_vectors(void **state)
{
	static const struct {
		double si, so;
		int64_t zi, zo, n;
		double x[5], y;
	} cases[] = {
		{0.5, 0.5, 0, 0, 3, {10, 20, 30}, 20},
		{1, 1, 0, 0, 2, {1, 2}, 2},
		{1, 1, 0, 0, 2, {-1, -2}, -1},
		{0.2, 0.1, 5, -3, 5, {5, 6, 7, 8, 9}, 1},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases); i++) {
		fresh_graph();
		output(op1(QN_OP_reduce_mean,
			   input("x", shaped(1, &cases[i].n, quantized(cases[i].si, cases[i].zi))),
			   attributes(attrs_of(QN_OP_reduce_mean)),
			   shaped(0, NULL, quantized(cases[i].so, cases[i].zo))));
		near(&cases[i].y, run1(cases[i].x), 1, 0);
	}
}

static void
test_argmax(void **state)
{
	static const double x[] = {3, 7, 1, 7, 2, -5, -5, -9, -6, -5};
	static const double first[] = {1, 0}, last[] = {3, 4}, down[] = {0, 0, 0, 0, 0};
	static const char *const types[] = {"tensor<2x5xf32>",
					    "tensor<2x5x!quant.uniform<i8:f32, 0.1:3>>"};

	(void)state;
	for (int i = 0; i < 2; i++) {
		qn_attrs a = attrs_of(QN_OP_argmax);

		fresh_graph();
		output(op1(QN_OP_argmax, input("x", types[i]), attributes(a), NULL));
		near(first, run1(x), 2, 0);
		a.argmax.select_last_index = a.argmax.keepdims = 1;
		fresh_graph();
		output(op1(QN_OP_argmax, input("x", types[i]), attributes(a), "tensor<2x1xi64>"));
		near(last, run1(x), 2, 0);
		a.argmax.axis = 0;
		a.argmax.keepdims = 0;
		fresh_graph();
		output(op1(QN_OP_argmax, input("x", types[i]), attributes(a), NULL));
		near(down, run1(x), 5, 0);
	}
}

/* The smallest of x is the largest of -x, also where codes are turned round. */
static void
test_argmin(void **state)
{
	static const char *const types[] = {"tensor<2x9x3xf32>",
					    "tensor<2x9x3x!quant.uniform<i8:f32, 0.1>>",
					    "tensor<2x9x3x!quant.uniform<i16:f32, 0.1>>"};

	(void)state;
	for (int round = 0; round < 30; round++) {
		const char *t = types[round % 3];
		double *x = codes(54, -3, 3), *turned = codes(54, 0, 0);
		qn_attrs a = attrs_of(QN_OP_argmax);

		for (int i = 0; i < 54; i++)
			turned[i] = -x[i];
		a.argmax.axis = pick(-3, 2);
		a.argmax.select_last_index = pick(0, 1);
		a.argmax.keepdims = 1;
		fresh_graph();
		output(op1(QN_OP_argmax, input("x", t), attributes(a), NULL));
		const double *want = run1(turned);
		int64_t n = qn_type_count(qn_graph_node(rg->g, rg->g->output[0].value)->type);
		fresh_graph();
		output(op1(QN_OP_argmin, input("x", t), attributes(a), NULL));
		near(want, run1(x), n, 0);
	}
}

static void
test_prod(void **state)
{
	static const double x[6] = {1, 2, -3, 0.5, 4, 5}, over_rows[3] = {0.5, 8, -15};
	static const double none[1] = {1};
	qn_attrs a = attrs_of(QN_OP_reduce_prod);

	(void)state;
	a.reduce.axes.n = 1;
	output(op1(QN_OP_reduce_prod, input("x", "tensor<2x3xf32>"), attributes(a), NULL));
	near(over_rows, run1(x), 3, 0);
	fresh_graph();
	output(op1(QN_OP_reduce_prod, input("x", "tensor<0xf32>"), attributes(a), NULL));
	near(none, run1(x), 1, 0);
}

/* TFLite's QuantizedReduceProd of d[0..n), in its steps: the multiplier of 31 bits becomes one of 15, each
 * product is rounded, ties up. */
static double
product_model(const int64_t *d, int n, double si, double so, double zo, double least, double most)
{
	int shift;
	double fraction = frexp(si / pow(so, 1.0 / n), &shift);
	int64_t m = (int64_t)floor(fraction * 0x1p31 + 0.5), p = d[0];

	m = m < 0x7fff0000 ? (m + (1 << 15)) >> 16 : 0x7fff;
	for (int k = 1; k <= n; k++) /* the last one is the rescaling alone */
		p = (int64_t)floor(
			(double)(p * (k < n ? d[k] : 1)) * (double)m * ldexp(1, shift - 15) + 0.5);
	return fmin(fmax((double)p + zo, least), most);
}

/* [2,3,4] over axes 0 and 2: eight factors, within a few codes of the product of the reals too. */
static void
test_prod_codes(void **state)
{
	static const struct {
		const char *storage;
		double zi, zo, least, most, off;
	} kinds[] = {
		{"i8", 5, -9, -128, 127, 2},
		{"u8", 120, 131, 0, 255, 2},
		{"i16", 0, 0, -32768, 32767, 12},
	};
	const double si = (double)0.0078125f, so = (double)0.0009765625f;

	(void)state;
	for (int round = 0; round < 60; round++) {
		const int k = round % 3;
		double scale = k == 2 ? si / 256 : si, out = k == 2 ? so / 256 : so, want[3],
		       real[3];
		double *x = codes(24, (int)kinds[k].least, (int)kinds[k].most);
		char from[100], to[100];
		qn_attrs a = attrs_of(QN_OP_reduce_prod);

		for (int i = 0; i < 3; i++) {
			int64_t d[8];

			real[i] = 1;
			for (int j = 0; j < 8; j++) {
				d[j] = (int64_t)(x[j / 4 * 12 + i * 4 + j % 4] - kinds[k].zi);
				real[i] *= (double)d[j] * scale;
			}
			want[i] = product_model(d, 8, scale, out, kinds[k].zo, kinds[k].least,
						kinds[k].most);
			real[i] = fmin(fmax(real[i] / out + kinds[k].zo, kinds[k].least),
				       kinds[k].most);
		}
		snprintf(from, sizeof from, "tensor<2x3x4x!quant.uniform<%s:f32, %.17g:%g>>",
			 kinds[k].storage, scale, kinds[k].zi);
		snprintf(to, sizeof to, "tensor<3x!quant.uniform<%s:f32, %.17g:%g>>",
			 kinds[k].storage, out, kinds[k].zo);
		a.reduce.axes = (qn_list){2, {0, 2}};
		fresh_graph();
		output(op1(QN_OP_reduce_prod, input("x", from), attributes(a), to));
		const double *y = run1(x);
		near(want, y, 3, 0);
		near(real, y, 3, kinds[k].off);
	}
}

/* Sum of [2, 4, 3] along axis 1 up to element i, from the end if reverse. */
static double
sum_to(const double *x, double zp, int i, bool exclusive, bool reverse)
{
	int place = i / 3 % 4, first = i - place * 3;
	double sum = 0;

	for (int k = 0; k < 4; k++)
		if (reverse ? k > place : k < place)
			sum += x[first + 3 * k] - zp;
	return exclusive ? sum : sum + x[i] - zp;
}

static void
test_cumsum(void **state)
{
	double want[24];

	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		const double *x = codes(24, -8, 8), *q = codes(24, -128, 127);
		qn_attrs a = attrs_of(QN_OP_cumsum);

		a.cumsum.axis = kind < 2 ? 1 : -2;
		a.cumsum.exclusive = kind & 1;
		a.cumsum.reverse = kind >> 1;
		for (int i = 0; i < 24; i++)
			want[i] = sum_to(x, 0, i, (kind & 1) != 0, kind >= 2);
		fresh_graph();
		output(op1(QN_OP_cumsum, input("x", "tensor<2x4x3xf32>"), attributes(a), NULL));
		near(want, run1(x), 24, 0);
		for (int i = 0; i < 24; i++)
			want[i] =
				code_of((double)0.1f * sum_to(q, 7, i, (kind & 1) != 0, kind >= 2),
					0.25, -9);
		fresh_graph();
		output(op1(QN_OP_cumsum, input("x", "tensor<2x4x3x!quant.uniform<i8:f32, 0.1:7>>"),
			   attributes(a), "tensor<2x4x3x!quant.uniform<i8:f32, 0.25:-9>>"));
		near(want, run1(q), 24, 1);
	}
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_float),  TEST(test_codes), TEST(test_mean_vectors), TEST(test_argmax),
		TEST(test_argmin), TEST(test_prod),  TEST(test_prod_codes),   TEST(test_cumsum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
