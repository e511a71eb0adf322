/* SPDX-License-Identifier: Apache-2.0 */
/* test_windows.c - pools in both forms against loops written another way: each position of the
 * padded image is added to the windows that it lies in.
 *
 *   in = 4, kernel 3, stride 2, pads 1:     . |0 1 2 3| .       with ceil_mode one window more */
#include "tests/unit/run_util.h"

#include <math.h>

enum { AXES = 2, CHANNELS = 2, MOST = 4096 };

typedef struct windows {
	int64_t in[AXES], out[AXES];
	int64_t kernel[AXES], stride[AXES], dilation[AXES], pad[2 * AXES];
	int64_t ceil_mode, count_include_pad;
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
	windows w = {.ceil_mode = pick(0, 1), .count_include_pad = pick(0, 1)};

	for (int i = 0; i < AXES; i++) {
		w.kernel[i] = pick(1, 3);
		w.stride[i] = pick(1, 3);
		w.dilation[i] = pick(1, 2);
		w.in[i] = pick(1 + (w.kernel[i] - 1) * w.dilation[i], 6);
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
	for (int64_t o = 0; o < w->out[0] * w->out[1]; o++) {
		if (!covers(w, 0, o / w->out[1], p[0]) || !covers(w, 1, o % w->out[1], p[1]))
			continue;
		for (int64_t c = 0; c < CHANNELS; c++) {
			int64_t to = o * CHANNELS + c;
			double v = inside ? x[(p[0] * w->in[1] + p[1]) * CHANNELS + c] : pad;

			most[to] = inside && v > most[to] ? v : most[to];
			sum[to] += v;
			n[to] += 1;
		}
	}
}

static int64_t
model(const windows *w, const double *x, double pad, double *most, double *mean)
{
	int64_t results = w->out[0] * w->out[1] * CHANNELS, p[AXES];
	double n[MOST] = {0};

	for (int64_t i = 0; i < results; i++) {
		most[i] = -HUGE_VAL;
		mean[i] = 0;
	}
	for (p[0] = -w->pad[0]; p[0] < w->in[0] + w->pad[1]; p[0]++)
		for (p[1] = -w->pad[2]; p[1] < w->in[1] + w->pad[3]; p[1]++)
			scatter(w, p, x, pad, most, mean, n);
	for (int64_t i = 0; i < results; i++)
		mean[i] /= n[i];
	return results;
}

static qn_attrs
attrs_of(const windows *w, bool average)
{
	qn_attrs a;

	qn_attrs_default(QN_ATTRS(pool), &a);
	memcpy(a.pool.kernel, w->kernel, sizeof w->kernel);
	memcpy(a.pool.stride, w->stride, sizeof w->stride);
	memcpy(a.pool.dilation, w->dilation, sizeof w->dilation);
	memcpy(a.pool.pad, w->pad, sizeof w->pad);
	a.pool.ceil_mode = w->ceil_mode;
	a.pool.count_include_pad = average ? w->count_include_pad : 0;
	return a;
}

static double *
pooled(const windows *w, bool average, const char *elem, const double *x)
{
	const qn_attrs a = attrs_of(w, average);
	qn_buf b;

	fresh_graph();
	qn_buf_init(&b, &rg->arena);
	qn_buff(&b, "tensor<1x%lldx%lldx%dx%s>", (long long)w->in[0], (long long)w->in[1],
		(int)CHANNELS, elem);
	qn_id y = op1(average ? QN_OP_avg_pool : QN_OP_max_pool, input("x", qn_buf_str(&b)), &a,
		      NULL);
	assert_true(qn_graph_node(rg->g, y)->type->dim[1] == w->out[0]);
	assert_true(qn_graph_node(rg->g, y)->type->dim[2] == w->out[1]);
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
		const double *x = reals(w.in[0] * w.in[1] * CHANNELS);
		const double *q = codes(w.in[0] * w.in[1] * CHANNELS, -128, 127);
		int64_t n = model(&w, x, 0.0, most, mean);

		near(most, pooled(&w, false, "f32", x), n, 0.0);
		near(mean, pooled(&w, true, "f32", x), n, 1e-6);
		n = model(&w, q, -7.0, most, mean);
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
	refused("run.unsupported", "a window lies in the padding as a whole");
	fresh_graph();
	a.pool.count_include_pad = 1;
	output(op1(QN_OP_avg_pool, input("x", "tensor<1x1x1x1xf32>"), &a, NULL));
	assert_true(run1((const double[]){5.0})[0] == 0.0);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)
	const struct CMUnitTest tests[] = {T(test_pools), T(test_empty)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
