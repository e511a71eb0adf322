/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ops that move elements, as f32 and as codes, against a lookup of each element at the place
 * where the definition of the op puts it; resizes against TFLite's formulas written anew.
 */
#include "tests/unit/run_util.h"

#include <math.h>

#define CODES(shape) "tensor<" shape "x!quant.uniform<i8:f32, 0.5:3>>"
#define WIDE(shape) "tensor<" shape "x!quant.uniform<i32:f32, 0.5>>"
#define REAL(shape) "tensor<" shape "xf32>"

static qn_attrs
attrs_of(qn_op kind)
{
	qn_attrs a;

	memset(&a, 0, sizeof a);
	qn_attrs_default(qn_opinfo_get(kind)->attrs, &a);
	return a;
}

static qn_list
list(int32_t n, const int64_t *v)
{
	qn_list l = {.n = n};

	memcpy(l.v, v, (size_t)n * sizeof *v);
	return l;
}

#define LIST(...)                                                                                  \
	list((int32_t)QN_COUNT(((int64_t[]){__VA_ARGS__})), (const int64_t[]){__VA_ARGS__})

/* Element k of the result is element place[k] of 0 .. count-1, in the three types. */
static void
moves(qn_op kind, qn_attrs a, const char *const *types, int64_t count, int64_t n,
      const int64_t *place)
{
	double *x = codes(count, -128, 127);

	for (int t = 0; t < 3; t++) {
		fresh_graph();
		qn_id y = op1(kind, input("x", types[t]), attributes(a), NULL);
		assert_int_equal(qn_type_count(qn_graph_node(rg->g, y)->type), n);
		output(y);
		double *have = run1(x);
		for (int64_t k = 0; k < n; k++)
			if (have[k] < x[place[k]] || have[k] > x[place[k]])
				fail_msg("%s, type %d, element %d: %g", qn_opinfo_get(kind)->name,
					 t, (int)k, have[k]);
	}
}

#define MOVES(kind, a, shape, count, n, place)                                                     \
	moves(kind, a, (const char *const[]){REAL(shape), CODES(shape), WIDE(shape)}, count, n,    \
	      place)

static void
test_slice(void **state)
{
	int64_t place[8], n = 0;
	qn_attrs a = attrs_of(QN_OP_slice);

	(void)state;
	a.slice.begin = LIST(-1, 1, 3);
	a.slice.end = LIST(-99, 9, 0);
	a.slice.step = LIST(-2, 1, -2);
	for (int64_t i = 3; i >= 0; i -= 2) /* [4,3,4]: 3 1, 1 2, 3 1 */
		for (int64_t j = 1; j < 3; j++)
			for (int64_t k = 3; k > 0; k -= 2)
				place[n++] = (i * 3 + j) * 4 + k;
	MOVES(QN_OP_slice, a, "4x3x4", 48, n, place);
}

static void
test_repeats(void **state)
{
	int64_t place[64], n = 0;
	qn_attrs a = attrs_of(QN_OP_tile), e = attrs_of(QN_OP_expand);

	(void)state;
	a.tile.repeats = LIST(2, 3);
	for (int64_t i = 0; i < 4; i++)
		for (int64_t j = 0; j < 9; j++)
			place[n++] = i % 2 * 3 + j % 3;
	MOVES(QN_OP_tile, a, "2x3", 6, n, place);
	n = 0;
	e.shape.shape = LIST(2, 3, 4, -1);
	for (int64_t i = 0; i < 6; i++)
		for (int64_t j = 0; j < 8; j++)
			place[n++] = i % 3 * 2 + j % 2;
	MOVES(QN_OP_expand, e, "3x1x2", 6, n, place);
}

/* Definitions of TFLite (dcr) and ONNX (crd); the way back of dcr. */
static void
test_depth(void **state)
{
	int64_t place[96], back[96], n = 0;
	qn_attrs a = attrs_of(QN_OP_depth_to_space), s = attrs_of(QN_OP_space_to_depth);

	(void)state;
	a.depth_to_space.block = s.space_to_depth.block = 2;
	for (int32_t mode = 0; mode < 2; mode++) {
		a.depth_to_space.mode = mode;
		n = 0;
		for (int64_t y = 0; y < 8; y++) /* [2,2,3,8]: images of 4 rows each */
			for (int64_t x = 0; x < 6; x++)
				for (int64_t c = 0; c < 2; c++) {
					int64_t i = y % 2, j = x % 2;
					int64_t deep = mode == 0 ? (i * 2 + j) * 2 + c
								 : (c * 2 + i) * 2 + j;

					place[n++] = (y / 2 * 3 + x / 2) * 8 + deep;
				}
		MOVES(QN_OP_depth_to_space, a, "2x2x3x8", 96, n, place);
		for (int64_t k = 0; mode == 0 && k < n; k++)
			back[place[k]] = k;
	}
	MOVES(QN_OP_space_to_depth, s, "2x4x6x2", 96, n, back);
}

static void
test_dims(void **state)
{
	static const int64_t place[] = {0, 1, 2, 3, 4, 5};
	qn_attrs a = attrs_of(QN_OP_squeeze);

	(void)state;
	a.axes.axes = LIST(-1, 0);
	MOVES(QN_OP_squeeze, a, "1x2x3x1", 6, 6, place);
	MOVES(QN_OP_expand_dims, a, "2x3", 6, 6, place);
}

static void
test_pad(void **state)
{
	static const int64_t reflect[] = {5, 4, 3, 4, 5, 4, 2, 1, 0, 1, 2, 1, 5, 4, 3, 4, 5, 4};
	static const int64_t edge[] = {0, 0, 0, 1, 2, 2, 0, 0, 0, 1, 2, 2, 3, 3, 3, 4, 5, 5};
	static const int64_t symmetric[] = {1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 4, 3, 3, 4, 5, 5};
	static const int64_t wrap[] = {4, 5, 3, 4, 5, 3, 1, 2, 0, 1, 2, 0, 4, 5, 3, 4, 5, 3};
	qn_attrs a = attrs_of(QN_OP_pad);

	(void)state;
	a.pad.before = LIST(1, 2);
	a.pad.after = LIST(0, 1);
	a.pad.mode = QN_PAD_edge;
	MOVES(QN_OP_pad, a, "2x3", 6, 18, edge);
	a.pad.mode = QN_PAD_reflect;
	MOVES(QN_OP_pad, a, "2x3", 6, 18, reflect);
	a.pad.mode = QN_PAD_symmetric;
	MOVES(QN_OP_pad, a, "2x3", 6, 18, symmetric);
	a.pad.mode = QN_PAD_wrap;
	MOVES(QN_OP_pad, a, "2x3", 6, 18, wrap);
}

/* Parts of a split, one of them twice; the others' memory is not touched. */
static void
test_split(void **state)
{
	static const char *const types[] = {REAL("2x5x2"), CODES("2x5x2"), WIDE("2x5x2")};
	double *x = codes(20, -128, 127);
	qn_attrs a = attrs_of(QN_OP_split), g = attrs_of(QN_OP_get), c = attrs_of(QN_OP_concat);

	(void)state;
	a.split.axis = -2;
	a.split.sizes = LIST(1, 3, 1);
	c.axis.axis = 1;
	for (int t = 0; t < 3; t++) {
		qn_id part[3];
		double *y;

		fresh_graph();
		qn_id p = op1(QN_OP_split, input("x", types[t]), attributes(a), NULL);
		for (int k = 0; k < 3; k++) {
			g.get.index = 2 - k;
			part[k] = op1(QN_OP_get, p, attributes(g), NULL);
		}
		output(op(QN_OP_concat, 3, part, attributes(c), NULL));
		y = run1(x);
		for (int64_t i = 0; i < 20; i++) { /* rows 4, 1 2 3, 0 */
			int64_t row = i / 2 % 5, from = row == 0 ? 4 : row == 4 ? 0 : row;

			assert_true(y[i] >= x[i / 10 * 10 + from * 2 + i % 2] &&
				    y[i] <= x[i / 10 * 10 + from * 2 + i % 2]);
		}
	}
}

/* Constant and given indices, of both ends; given ones that lie outside are brought in. */
static void
test_gather(void **state)
{
	static const char *const types[] = {REAL("2x3x2"), CODES("2x3x2"), WIDE("2x3x2")};
	static const double index[] = {2, -3, -1, 0}, wild[] = {3, -4, 2147483647, -2147483648.0};
	static const int64_t row[] = {2, 0, 2, 0};
	qn_attrs a = attrs_of(QN_OP_gather);

	(void)state;
	a.gather.axis = -2;
	for (int t = 0; t < 9; t++) {
		double *x = codes(12, -128, 127);
		const double *in[2] = {x, t / 3 == 1 ? index : wild}, *y;

		fresh_graph();
		qn_id data = input("x", types[t % 3]);
		qn_id i = t / 3 == 0 ? constant("i", "tensor<2x2xi64>", index)
				     : input("i", "tensor<2x2xi32>");
		output(op2(QN_OP_gather, data, i, attributes(a), NULL));
		y = run(in);
		for (int64_t k = 0; k < 16; k++) {
			double want = x[k / 8 * 6 + row[k / 2 % 4] * 2 + k % 2];

			assert_true(y[k] >= want && y[k] <= want);
		}
	}
}

/* TFLite's GetNearestNeighbor. */
static int64_t
nearest(int64_t i, int64_t in, int64_t out, int32_t mode)
{
	float scale = mode == QN_COORDINATES_align_corners && out > 1
			      ? (float)(in - 1) / (float)(out - 1)
			      : (float)in / (float)out;
	float at = ((float)i + (mode == QN_COORDINATES_half_pixel ? 0.5f : 0.0f)) * scale;
	float p = mode == QN_COORDINATES_align_corners ? roundf(at) : floorf(at);

	return (int64_t)fminf(p, (float)(in - 1));
}

static void
test_nearest(void **state)
{
	int64_t place[7 * 5 * 2];
	qn_attrs a = attrs_of(QN_OP_resize_nearest);

	(void)state;
	for (int32_t mode = 0; mode < 3; mode++) {
		int64_t n = 0;

		a.resize.mode = mode;
		a.resize.size[0] = 7;
		a.resize.size[1] = 5;
		for (int64_t y = 0; y < 7; y++)
			for (int64_t x = 0; x < 5; x++)
				for (int64_t c = 0; c < 2; c++)
					place[n++] = (nearest(y, 3, 7, mode) * 8 +
						      nearest(x, 8, 5, mode)) *
							     2 +
						     c;
		MOVES(QN_OP_resize_nearest, a, "1x3x8x2", 48, n, place);
	}
}

/* Where pixel i of out lies among those of in, exactly. */
static double
position(int64_t i, int64_t in, int64_t out, int32_t mode)
{
	double at = mode == QN_COORDINATES_half_pixel
			    ? ((double)i + 0.5) * (double)in / (double)out - 0.5
		    : mode == QN_COORDINATES_align_corners && out > 1
			    ? (double)i * (double)(in - 1) / (double)(out - 1)
			    : (double)i * (double)in / (double)out;

	return at < 0 ? 0 : at > (double)(in - 1) ? (double)(in - 1) : at;
}

static double
between(const double *x, int64_t step, double at)
{
	int64_t k = (int64_t)at;
	double f = at - (double)k;

	return f > 0 ? x[k * step] * (1 - f) + x[(k + 1) * step] * f : x[k * step];
}

/* An image of one row and of one column at a time, and both together. */
static double
bilinear(const double *x, double y_at, double x_at, int64_t width)
{
	double column[16];

	for (int64_t r = 0; r < 16 && (double)r < y_at + 1; r++)
		column[r] = between(x + r * width, 1, x_at);
	return between(column, 1, y_at);
}

static void
test_bilinear(void **state)
{
	static const int64_t sizes[][2] = {{5, 7}, {3, 4}, {1, 1}, {2, 9}, {6, 8}};
	qn_attrs a = attrs_of(QN_OP_resize_bilinear);

	(void)state;
	for (int32_t t = 0; t < 30; t++) {
		int32_t mode = t / 2 % 3;
		const int64_t *size = sizes[t / 6];
		double *x = codes(12, -128, 127), *y;

		fresh_graph();
		a.resize.mode = mode;
		a.resize.size[0] = size[0];
		a.resize.size[1] = size[1];
		output(op1(QN_OP_resize_bilinear,
			   input("x", t % 2 == 0 ? REAL("1x3x4x1") : CODES("1x3x4x1")),
			   attributes(a), NULL));
		y = run1(x);
		for (int64_t k = 0; k < size[0] * size[1]; k++) {
			double want = bilinear(x, position(k / size[1], 3, size[0], mode),
					       position(k % size[1], 4, size[1], mode), 4);

			near(&want, &y[k], 1, t % 2 == 0 ? 1e-4 : 1.5);
		}
	}
}

/* A ramp of 8 a pixel, in a network that is not TFLite's: positions do not drift along a side. */
static void
test_bilinear_long(void **state)
{
	enum { IN = 30, OUT = 224 };
	qn_attrs a = attrs_of(QN_OP_resize_bilinear);
	double x[IN];

	(void)state;
	for (int i = 0; i < IN; i++)
		x[i] = 8 * i - 116;
	for (int32_t mode = 0; mode < 3; mode++) {
		fresh_graph();
		rg->m.quantized_here = true;
		a.resize.mode = mode;
		a.resize.size[0] = 1;
		a.resize.size[1] = OUT;
		output(op1(QN_OP_resize_bilinear, input("x", CODES("1x1x30x1")), attributes(a),
			   NULL));
		const double *y = run1(x);
		for (int64_t k = 0; k < OUT; k++) {
			const double want = between(x, 1, position(k, IN, OUT, mode));

			near(&want, &y[k], 1, 0.51);
		}
	}
	rg->m.quantized_here = false;
}

/* Numbers worked out by hand: 2 to 3 half pixels, step 683, positions -171 (0), 512, 1195 (1). */
static void
test_bilinear_codes(void **state)
{
	static const double x[] = {-128, 127}, want[] = {-128, -1, 127};
	static const double half[] = {10, 11}, up[] = {10, 11, 11};
	qn_attrs a = attrs_of(QN_OP_resize_bilinear);

	(void)state;
	a.resize.size[0] = 1;
	a.resize.size[1] = 3;
	output(op1(QN_OP_resize_bilinear, input("x", CODES("1x1x2x1")), attributes(a), NULL));
	near(want, run1(x), 3, 0);
	near(up, run1(half), 3, 0);
}

static void
test_refusals(void **state)
{
	qn_attrs a = attrs_of(QN_OP_tile), r = attrs_of(QN_OP_resize_bilinear);

	(void)state;
	a.tile.repeats = LIST(2, 2, 2, 2);
	output(op1(QN_OP_tile, input("x", CODES("2x2x2x2")), attributes(a), NULL));
	refused("int.unsupported", "more than 6 axes");
	fresh_graph();
	r.resize.size[0] = r.resize.size[1] = 2;
	output(op1(QN_OP_resize_bilinear, input("x", WIDE("1x2x2x1")), attributes(r), NULL));
	refused("int.unsupported", "");
}

int
main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {
		T(test_slice),    T(test_repeats),       T(test_depth),          T(test_dims),
		T(test_pad),      T(test_split),         T(test_gather),         T(test_nearest),
		T(test_bilinear), T(test_bilinear_long), T(test_bilinear_codes), T(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
