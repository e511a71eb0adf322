/* SPDX-License-Identifier: Apache-2.0 */
/* test_family_norm.c - layer_norm and instance_norm on u8 and i16 codes: u8 gives i8's codes moved by
 * 128; i16 is compared with real arithmetic on the dequantized codes.
 *
 * The bound of i16, in codes of y, with u = N s_w (w - z_w) / s_y the scaled normalized value:
 *
 *   1/2            the code is rounded
 *   1/64           two multipliers (3/4 each) and their sum, at 8 bits of fraction; their own 2^-31
 *   2^-7 s_w/s_y   N and N w are rounded to 2^-(bits+1), 2^-(bits-14), sqrt(n) 2^bits > 2^29
 *   2^-15 |u|      epsilon is rounded to 2^-fraction, so V + epsilon is off by 1/2 of at least
 *                  max(n - 1, 2^27 / n) >= 2^13.5: the root by 2^-15.5; root and quotient by 2^-30 */
#include "tests/unit/reduce_util.h"

typedef struct norm_case {
	int64_t rows, n;
	int64_t spread; /* codes of x are within so many of their row's middle */
	double sx, sw, sb, sy, epsilon;
} norm_case;

typedef struct operands {
	const double *v[3]; /* codes of x, w and b */
	double scale[4];    /* of x, w, b and y */
	int64_t zp[4];
	const char *storage;
} operands;

static const char *
stored(int32_t rank, const int64_t *dim, const operands *o, int which)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "!quant.uniform<%s:f32, ", o->storage);
	qn_buf_f64(&b, (double)(float)o->scale[which]);
	qn_buff(&b, ":%lld>", (long long)o->zp[which]);
	return shaped(rank, dim, qn_buf_str(&b));
}

/* [rows, n] as layer_norm, or [1, n, 1, rows] as instance_norm: builds the graph. */
static void
make_graph(const norm_case *c, const operands *o, bool image)
{
	const int64_t flat[2] = {c->rows, c->n}, four[4] = {1, c->n, 1, c->rows};
	const int64_t nw = image ? c->rows : c->n, *dim = image ? four : flat;
	qn_op kind = image ? QN_OP_instance_norm : QN_OP_layer_norm;
	qn_attrs a = attrs_of(kind);
	int32_t rank = image ? 4 : 2;

	if (image)
		a.instance_norm.epsilon = c->epsilon;
	else
		a.layer_norm.epsilon = c->epsilon;
	fresh_graph();
	qn_id in[3] = {input("x", stored(rank, dim, o, 0)), input("w", stored(1, &nw, o, 1)),
		       input("b", stored(1, &nw, o, 2))};
	output(op(kind, 3, in, attributes(a), stored(rank, dim, o, 3)));
}

/* Where element k of row r lies in x, and its scale and bias in w and b. */
static int64_t
place(const norm_case *c, bool image, int64_t r, int64_t k)
{
	return image ? k * c->rows + r : r * c->n + k;
}

/* Codes whose rows have a middle anywhere in the range. */
static double *
rows_of_codes(const norm_case *c, bool image, int64_t lo, int64_t hi)
{
	double *x = codes(c->rows * c->n, 0, 0);

	for (int64_t r = 0; r < c->rows; r++) {
		int64_t middle = pick(lo, hi);

		for (int64_t k = 0; k < c->n; k++) {
			int64_t v = middle + pick(-c->spread, c->spread);

			x[place(c, image, r, k)] = (double)(v < lo ? lo : v > hi ? hi : v);
		}
	}
	return x;
}

/* ---- u8 ---- */

static double *
moved(const double *x, int64_t n)
{
	double *y = codes(n, 0, 0);

	for (int64_t i = 0; i < n; i++)
		y[i] = x[i] + 128;
	return y;
}

static void
check_u8(const norm_case *c, bool image)
{
	const int64_t count = c->rows * c->n, nw = image ? c->rows : c->n;
	operands o = {.v = {rows_of_codes(c, image, -128, 127), codes(nw, -128, 127),
			    codes(nw, -128, 127)},
		      .scale = {c->sx, c->sw, c->sb, c->sy},
		      .zp = {3, -5, 11, -7},
		      .storage = "i8"};

	make_graph(c, &o, image);
	const double *want = moved(run(o.v), count);
	o.storage = "u8";
	for (int i = 0; i < 4; i++)
		o.zp[i] += 128;
	o.v[0] = moved(o.v[0], count);
	o.v[1] = moved(o.v[1], nw);
	o.v[2] = moved(o.v[2], nw);
	make_graph(c, &o, image);
	near(want, run(o.v), count, 0.0);
}

static void
test_u8(void **state)
{
	static const norm_case cases[] = {
		{7, 16, 255, 0.05, 0.01, 0.01, 0.03, 1e-5},
		{4, 9, 0, 0.05, 0.01, 0.02, 0.02, 0},
		{2, 40, 3, 0.05, 0.01, 0.02, 0.02, 0},
		{3, 768, 100, 0.02, 0.008, 0.004, 0.04, 1e-12},
		{1, 70000, 255, 0.1, 0.01, 0.01, 0.02, 1e-5},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases) * 3; i++) {
		rg->m.rounding = (int32_t)(i % 4);
		check_u8(&cases[i / 3], false);
		check_u8(&cases[i / 3], true);
	}
}

/* ---- i16 ---- */

/* Row r against real arithmetic. */
static void
check_row(const norm_case *c, const operands *o, bool image, int64_t r, const double *have)
{
	const double sx = (double)(float)o->scale[0], sy = (double)(float)o->scale[3];
	const double sw = (double)(float)o->scale[1] / sy, sb = (double)(float)o->scale[2] / sy;
	double sum = 0, squares = 0, n = (double)c->n;

	for (int64_t k = 0; k < c->n; k++) {
		double x = o->v[0][place(c, image, r, k)];

		sum += x;
		squares += x * x;
	}
	/* Both sums are exact below 2^53. */
	int64_t v = c->n * (int64_t)squares - (int64_t)sum * (int64_t)sum;
	double root = sqrt((double)v / n / n * sx * sx + c->epsilon);
	for (int64_t k = 0; k < c->n; k++) {
		int64_t at = place(c, image, r, k), from = image ? r : k;
		double d = (n * o->v[0][at] - sum) / n * sx;
		double u = root > 0 ? d / root * o->v[1][from] * sw : 0;
		double want = fmin(32767, fmax(-32768, u + o->v[2][from] * sb));
		double bound = 0.5 + 1.0 / 64 + sw * 0x1p-7 + fabs(u) * 0x1p-15;

		if (!(fabs(want - have[at]) <= bound))
			fail_msg("n %lld, spread %lld, element %lld: want %.9g, have %.9g +- %g",
				 (long long)c->n, (long long)c->spread, (long long)at, want,
				 have[at], bound);
	}
}

static void
check_i16(const norm_case *c, bool image)
{
	const int64_t nw = image ? c->rows : c->n;
	operands o = {.v = {rows_of_codes(c, image, -32768, 32767), codes(nw, -32768, 32767),
			    codes(nw, -32768, 32767)},
		      .scale = {c->sx, c->sw, c->sb, c->sy},
		      .storage = "i16"};

	make_graph(c, &o, image);
	const double *have = run(o.v);
	for (int64_t r = 0; r < c->rows; r++)
		check_row(c, &o, image, r, have);
}

/* Wide and narrow rows of all lengths; the last two are the longest, the last one with nearly all codes at an end,
 * where the variance is largest. */
static void
test_i16(void **state)
{
	static const norm_case cases[] = {
		{7, 16, 65535, 3.1e-4, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
		{3, 1, 65535, 3.1e-4, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
		{5, 2, 65535, 3.1e-4, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
		{9, 5, 1, 1.0e-6, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
		{4, 9, 0, 3.1e-4, 6.0e-5, 3.0e-5, 1.3e-4, 0},
		{8, 40, 1, 3.1e-4, 6.0e-5, 3.0e-5, 1.3e-4, 0},
		{8, 40, 1, 3.1e-4, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
		{6, 768, 3, 2.0e-3, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
		{3, 768, 30000, 2.0e-5, 6.0e-5, 3.0e-5, 1.3e-4, 1e-12},
		{3, 50, 65535, 1.0e-3, 6.0e-5, 3.0e-5, 1.0e-4, 100},
		{3, 50, 65535, 1.0e-3, 6.0e-5, 3.0e-5, 1.0e-6, 1e-5},
		{2, 46340, 1, 0.1, 6.0e-5, 3.0e-5, 1.3e-4, 1e-3},
		{1, 46340, 100000000, 0.1, 6.0e-5, 3.0e-5, 1.3e-4, 1e-5},
	};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(cases) * 3; i++) {
		rg->m.rounding = (int32_t)(i % 4);
		check_i16(&cases[i / 3], false);
		check_i16(&cases[i / 3], true);
	}
}

/* One code of the longest row that is apart from all others: the largest normalized value, sqrt(n - 1),
 * and the largest difference to the mean. */
static void
test_i16_outlier(void **state)
{
	static const int64_t sizes[] = {2, 3, 4, 5, 16, 17, 1000, 1024, 46340};

	(void)state;
	for (size_t i = 0; i < QN_COUNT(sizes) * 4; i++) {
		const norm_case c = {1,      sizes[i / 4], 0,      0.01,
				     1.0e-4, 1.0e-5,       1.0e-2, i & 2 ? 1e-5 : 0};
		double *x = codes(c.n, -32768, -32768), *w = codes(c.n, -32768, -32768);

		x[c.n - 1] = i & 1 ? 32767 : -32767;
		const operands o = {.v = {x, w, codes(c.n, -32768, 32767)},
				    .scale = {c.sx, c.sw, c.sb, c.sy},
				    .storage = "i16"};
		make_graph(&c, &o, false);
		check_row(&c, &o, false, 0, run(o.v));
	}
}

/* ---- what is refused ---- */

static void
refused_case(const char *x, const char *w, const char *text)
{
	qn_id a, b;

	fresh_graph();
	a = input("x", x);
	b = input("w", w);
	output(op(QN_OP_layer_norm, 3, (const qn_id[]){a, b, b},
		  attributes(attrs_of(QN_OP_layer_norm)), x));
	refused("int.unsupported", text);
}

static void
test_refused(void **state)
{
	const char *i16 = "tensor<4x!quant.uniform<i16:f32, 0.1>>";

	(void)state;
	refused_case("tensor<46341x!quant.uniform<i16:f32, 0.1>>",
		     "tensor<46341x!quant.uniform<i16:f32, 0.1>>", "only from 1 to 46340");
	refused_case("tensor<1048576x!quant.uniform<u8:f32, 0.1>>",
		     "tensor<1048576x!quant.uniform<u8:f32, 0.1>>", "only from 1 to 2^20 - 1");
	refused_case(i16, "tensor<4x!quant.uniform<i16:f32, 0.1:3>>", "zero point 0");
	refused_case(i16, "tensor<4x!quant.uniform<i8:f32, 0.1>>", "different storage");
	refused_case("tensor<4x!quant.uniform<i16:f32, 1.0e-12>>", i16, "epsilon");
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_u8),
		TEST(test_i16),
		TEST(test_i16_outlier),
		TEST(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
