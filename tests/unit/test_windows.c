/* SPDX-License-Identifier: Apache-2.0 */
/* test_windows.c - pools and convolutions of images and volumes in both forms against loops written
 * another way: each position of the padded volume is added to the windows that it lies in.  An image
 * is a volume of one slice.
 *
 *   in = 4, kernel 3, stride 2, pads 1:     . |0 1 2 3| .       with ceil_mode one window more */
#include "tests/unit/run_util.h"

#include <math.h>

enum { AXES = 3, CHANNELS = 2, MOST = 4096 };

typedef struct windows {
	int64_t in[AXES], out[AXES];
	int64_t kernel[AXES], stride[AXES], dilation[AXES], pad[2 * AXES];
	int64_t ceil_mode, count_include_pad;
	int first; /* the axis with which the image begins: 1, or 0 for a volume */
} windows;

/* The number of windows, counted: each begins `stride` behind the last one. */
static int64_t
count_windows(const windows *w, int axis)
{
	int64_t reach = (w->kernel[axis] - 1) * w->dilation[axis] + 1, n = 0,
		at = -w->pad[2 * axis];
	int64_t end = w->in[axis] + w->pad[2 * axis + 1];

	for (; at + reach <= end; at += w->stride[axis])
		n++;
	/* rounded up: one that is cut off, unless it begins behind the image */
	if (w->ceil_mode != 0 && at < w->in[axis] && at + reach - w->stride[axis] < end)
		n++;
	return n;
}

/* Random windows that all hold an element of the image. */
static windows
random_windows(void)
{
	windows w = {.ceil_mode = pick(0, 1),
		     .count_include_pad = pick(0, 1),
		     .first = (int)pick(0, 1),
		     .in = {1},
		     .out = {1},
		     .kernel = {1},
		     .stride = {1},
		     .dilation = {1}};

	for (int i = w.first; i < AXES; i++) {
		w.kernel[i] = pick(1, 3);
		w.stride[i] = pick(1, 3);
		w.dilation[i] = pick(1, 2);
		w.in[i] = pick(1 + (w.kernel[i] - 1) * w.dilation[i], 5);
		w.pad[2 * i] = pick(0, w.kernel[i] - 1);
		w.pad[2 * i + 1] = pick(0, w.kernel[i] - 1);
		w.out[i] = count_windows(&w, i);
	}
	return w;
}

/* Whether position p of the axis is one of the taps of window o. */
static bool
covers(const windows *w, int axis, int64_t o, int64_t p)
{
	int64_t d = p - (o * w->stride[axis] - w->pad[2 * axis]);

	return d >= 0 && d % w->dilation[axis] == 0 && d / w->dilation[axis] < w->kernel[axis];
}

static int64_t
offset(const windows *w, const int64_t *p)
{
	return ((p[0] * w->in[1] + p[1]) * w->in[2] + p[2]) * CHANNELS;
}

/* Scatters position p, which may lie in the padding, into all windows. */
static void
scatter(const windows *w, const int64_t *p, const double *x, double pad, double *most, double *sum,
	double *n)
{
	bool inside = true;

	for (int i = 0; i < AXES; i++)
		inside = inside && p[i] >= 0 && p[i] < w->in[i];
	if (!inside && w->count_include_pad == 0)
		return;
	for (int64_t o = 0; o < w->out[0] * w->out[1] * w->out[2]; o++) {
		if (!covers(w, 0, o / w->out[2] / w->out[1], p[0]) ||
		    !covers(w, 1, o / w->out[2] % w->out[1], p[1]) ||
		    !covers(w, 2, o % w->out[2], p[2]))
			continue;
		for (int64_t c = 0; c < CHANNELS; c++) {
			int64_t to = o * CHANNELS + c;
			double v = inside ? x[offset(w, p) + c] : pad;

			most[to] = inside && v > most[to] ? v : most[to];
			sum[to] += v;
			n[to] += 1;
		}
	}
}

static int64_t
model(const windows *w, const double *x, double pad, double *most, double *mean)
{
	int64_t results = w->out[0] * w->out[1] * w->out[2] * CHANNELS, p[AXES];
	double n[MOST] = {0};

	for (int64_t i = 0; i < results; i++) {
		most[i] = -HUGE_VAL;
		mean[i] = 0;
	}
	for (p[0] = -w->pad[0]; p[0] < w->in[0] + w->pad[1]; p[0]++)
		for (p[1] = -w->pad[2]; p[1] < w->in[1] + w->pad[3]; p[1]++)
			for (p[2] = -w->pad[4]; p[2] < w->in[2] + w->pad[5]; p[2]++)
				scatter(w, p, x, pad, most, mean, n);
	for (int64_t i = 0; i < results; i++)
		mean[i] /= n[i];
	return results;
}

static qn_attrs
attrs_of(const windows *w, bool average)
{
	int64_t include = average ? w->count_include_pad : 0;
	qn_attrs a;

	qn_attrs_default(w->first == 1 ? QN_ATTRS(pool) : QN_ATTRS(pool3d), &a);
	if (w->first == 1) {
		memcpy(a.pool.kernel, w->kernel + 1, sizeof a.pool.kernel);
		memcpy(a.pool.stride, w->stride + 1, sizeof a.pool.stride);
		memcpy(a.pool.dilation, w->dilation + 1, sizeof a.pool.dilation);
		memcpy(a.pool.pad, w->pad + 2, sizeof a.pool.pad);
		a.pool.ceil_mode = w->ceil_mode;
		a.pool.count_include_pad = include;
		return a;
	}
	memcpy(a.pool3d.kernel, w->kernel, sizeof w->kernel);
	memcpy(a.pool3d.stride, w->stride, sizeof w->stride);
	memcpy(a.pool3d.dilation, w->dilation, sizeof w->dilation);
	memcpy(a.pool3d.pad, w->pad, sizeof w->pad);
	a.pool3d.ceil_mode = w->ceil_mode;
	a.pool3d.count_include_pad = include;
	return a;
}

static const char *
volume(const windows *w, const char *elem)
{
	qn_buf b;

	qn_buf_init(&b, &rg->arena);
	qn_buf_puts(&b, "tensor<1x");
	for (int i = w->first; i < AXES; i++)
		qn_buff(&b, "%lldx", (long long)w->in[i]);
	qn_buff(&b, "%dx%s>", (int)CHANNELS, elem);
	return qn_buf_str(&b);
}

static double *
pooled(const windows *w, bool average, const char *elem, const double *x)
{
	static const qn_op ops[2][2] = {{QN_OP_max_pool3d, QN_OP_avg_pool3d},
					{QN_OP_max_pool, QN_OP_avg_pool}};
	const qn_attrs a = attrs_of(w, average);

	fresh_graph();
	qn_id y = op1(ops[w->first][average], input("x", volume(w, elem)), &a, NULL);
	for (int i = w->first; i < AXES; i++)
		assert_true(qn_graph_node(rg->g, y)->type->dim[1 + i - w->first] == w->out[i]);
	output(y);
	return run1(x);
}

static void
test_pools(void **state)
{
	double most[MOST], mean[MOST];

	(void)state;
	for (int round = 0; round < 200; round++) {
		const windows w = random_windows();
		const int64_t count = w.in[0] * w.in[1] * w.in[2] * CHANNELS;
		const double *x = reals(count), *q = codes(count, -128, 127);
		int64_t n = model(&w, x, 0.0, most, mean);

		near(most, pooled(&w, false, "f32", x), n, 0.0);
		near(mean, pooled(&w, true, "f32", x), n, 1e-6);
		n = model(&w, q, -7.0, most, mean);
		if (w.first == 1) {
			near(most, pooled(&w, false, "i8", q), n, 0.0);
			near(most, pooled(&w, false, "f64", q), n, 0.0);
		}
		for (int64_t i = 0; i < n; i++)
			mean[i] = mean[i] < 0 ? -floor(0.5 - mean[i]) : floor(mean[i] + 0.5);
		near(most, pooled(&w, false, "!quant.uniform<i8:f32, 0.1:-7>", q), n, 0.0);
		near(mean, pooled(&w, true, "!quant.uniform<i8:f32, 0.1:-7>", q), n, 0.0);
	}
}

/* Taps that step over a short image see nothing of it. */
static void
test_empty(void **state)
{
	qn_attrs a;

	(void)state;
	qn_attrs_default(QN_ATTRS(pool), &a);
	a.pool.kernel[0] = 1;
	a.pool.kernel[1] = a.pool.dilation[1] = 2;
	a.pool.pad[2] = a.pool.pad[3] = 1;
	output(op1(QN_OP_max_pool, input("x", "tensor<1x1x1x1xf32>"), &a, NULL));
	refused("run.unsupported", "a window is completely in the padding");
	fresh_graph();
	a.pool.count_include_pad = 1;
	output(op1(QN_OP_avg_pool, input("x", "tensor<1x1x1x1xf32>"), &a, NULL));
	assert_true(run1((const double[]){5.0})[0] == 0.0);
}

enum { OUT = 4 };

/* All outputs of a conv3d with whole numbers, which are exact in any order; zp: zero point. */
static int64_t
convolved(const windows *w, int64_t groups, const double *x, double zp, const double *k, double *y)
{
	int64_t taps = w->kernel[0] * w->kernel[1] * w->kernel[2], depth = CHANNELS / groups;
	int64_t results = w->out[0] * w->out[1] * w->out[2];

	for (int64_t r = 0; r < results * OUT; r++) {
		int64_t o = r % OUT, at = r / OUT, p[AXES];

		y[r] = 0;
		for (int64_t t = 0; t < taps; t++) {
			const int64_t tap[AXES] = {t / w->kernel[2] / w->kernel[1],
						   t / w->kernel[2] % w->kernel[1],
						   t % w->kernel[2]};
			const int64_t to[AXES] = {at / w->out[2] / w->out[1],
						  at / w->out[2] % w->out[1], at % w->out[2]};
			bool inside = true;

			for (int i = 0; i < AXES; i++) {
				p[i] = to[i] * w->stride[i] - w->pad[2 * i] +
				       tap[i] * w->dilation[i];
				inside = inside && p[i] >= 0 && p[i] < w->in[i];
			}
			for (int64_t c = 0; inside && c < depth; c++)
				y[r] += (x[offset(w, p) + o / (OUT / groups) * depth + c] - zp) *
					k[(o * taps + t) * depth + c];
		}
	}
	return results * OUT;
}

static void
test_conv3d(void **state)
{
	double want[MOST];

	(void)state;
	for (int round = 0; round < 60; round++) {
		windows w = random_windows();
		int64_t groups = pick(1, 2), taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
		const double *x = codes(w.in[0] * w.in[1] * w.in[2] * CHANNELS, -9, 9);
		const double *k = codes(OUT * taps * CHANNELS / groups, -9, 9);
		bool real = round % 2 == 0;
		qn_attrs a;
		qn_buf b;

		w.first = 0;
		w.ceil_mode = 0;
		for (int i = 0; i < AXES; i++)
			w.out[i] = count_windows(&w, i);
		qn_attrs_default(QN_ATTRS(conv3d), &a);
		memcpy(a.conv3d.stride, w.stride, sizeof w.stride);
		memcpy(a.conv3d.dilation, w.dilation, sizeof w.dilation);
		memcpy(a.conv3d.pad, w.pad, sizeof w.pad);
		a.conv3d.groups = groups;
		qn_buf_init(&b, &rg->arena);
		qn_buff(&b, "tensor<%dx%lldx%lldx%lldx%lldx%s>", (int)OUT, (long long)w.kernel[0],
			(long long)w.kernel[1], (long long)w.kernel[2],
			(long long)(CHANNELS / groups),
			real ? "f32" : "!quant.uniform<i8<-127:127>:f32, 0.5>");
		fresh_graph();
		qn_id xi = input("x", volume(&w, real ? "f32" : "!quant.uniform<i8:f32, 0.1:3>"));
		output(op2(QN_OP_conv3d, xi, constant("w", qn_buf_str(&b), k), &a, NULL));
		int64_t n = convolved(&w, groups, x, real ? 0 : 3, k, want);
		near(want, run1(x), n, 0);
	}
}

/* Taps apart are those of a larger kernel with zeros between. */
static void
test_transpose_dilation(void **state)
{
	static const char *const types[2][2] = {
		{"f32", "f32"},
		{"!quant.uniform<i8:f32, 0.1:3>", "!quant.uniform<i8<-127:127>:f32, 0.5>"}};
	double spread[2 * 3 * 5 * 2] = {0};

	(void)state;
	for (int round = 0; round < 2; round++) {
		const double *x = codes(24, -9, 9), *k = codes(2 * 2 * 3 * 2, -9, 9);
		qn_attrs a;
		qn_buf t;

		for (int i = 0; i < 24; i++) { /* [2,2,3,2] to [2,3,5,2] */
			int o = i / 12, ky = i / 6 % 2, kx = i / 2 % 3;

			spread[((o * 3 + ky * 2) * 5 + kx * 2) * 2 + i % 2] = k[i];
		}
		qn_attrs_default(QN_ATTRS(conv2d_transpose), &a);
		a.conv2d_transpose.stride[0] = 2;
		a.conv2d_transpose.pad[1] = a.conv2d_transpose.pad[2] = 1;
		qn_buf_init(&t, &rg->arena);
		qn_buff(&t, "tensor<1x3x4x2x%s>", types[round][0]);
		const char *in = qn_buf_str(&t);
		qn_buf_init(&t, &rg->arena);
		qn_buff(&t, "tensor<2x3x5x2x%s>", types[round][1]);
		fresh_graph();
		qn_id xi = input("x", in);
		output(op2(QN_OP_conv2d_transpose, xi, constant("w", qn_buf_str(&t), spread), &a,
			   NULL));
		const double *want = run1(x);
		int64_t n = qn_type_count(qn_graph_node(rg->g, rg->g->output[0].value)->type);

		a.conv2d_transpose.dilation[0] = a.conv2d_transpose.dilation[1] = 2;
		qn_buf_init(&t, &rg->arena);
		qn_buff(&t, "tensor<2x2x3x2x%s>", types[round][1]);
		fresh_graph();
		xi = input("x", in);
		output(op2(QN_OP_conv2d_transpose, xi, constant("w", qn_buf_str(&t), k), &a, NULL));
		assert_true(n == qn_type_count(qn_graph_node(rg->g, rg->g->output[0].value)->type));
		near(want, run1(x), n, 0);
	}
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {T(test_pools), T(test_empty), T(test_conv3d),
					   T(test_transpose_dilation)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
