/* SPDX-License-Identifier: Apache-2.0 */
/* test_mask.c - attention with masks of -inf and large negative numbers, in integers: the masked elements become 0, and the
 * others keep their resolution. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "quern/calibrate.h"
#include "quern/graph.h"
#include "quern/measure.h"

enum { SAMPLES = 4, N = 8 };

/* How a mask gets to the scores. */
typedef enum way { CONSTANT, INPUT, FACTOR, CHOICE, SUM_OF_TWO, GUARDED, NWAY } way;

typedef struct net {
	qn_ctx *ctx;
	qn_model *m;
	qn_graph *g;
	size_t nin;
	qn_array *in[3];
	float scores[SAMPLES * N], mask[SAMPLES * N];
} net;

static const float fills[] = {-INFINITY, -3.4028235e38f, -1e9f, -10000.0f, -1000.0f};

static qn_id
array_of(net *t, const char *name, const char *dtype, int64_t rows, const void *data)
{
	const int64_t dim[2] = {rows, N};
	qn_array *c;

	assert_int_equal(qn_array_new(t->ctx, dtype, 2, dim, data, &c), QN_OK);
	return qn_add_const(t->g, name, c);
}

static qn_id
number(net *t, const char *name, float v)
{
	qn_array *c;

	assert_int_equal(qn_array_new(t->ctx, "f32", 2, (const int64_t[]){1, 1}, &v, &c), QN_OK);
	return qn_add_const(t->g, name, c);
}

static qn_id
input(net *t, const char *name, const float *data)
{
	const int64_t dim[2] = {SAMPLES, N};

	assert_int_equal(qn_array_new(t->ctx, "f32", 2, dim, data, &t->in[t->nin++]), QN_OK);
	return qn_add_input(t->g, name, "tensor<1x8xf32>");
}

static qn_id
op(net *t, const char *name, qn_id a, qn_id b)
{
	const qn_id in[2] = {a, b};

	return qn_add_op(t->g, name, NULL, 2, in, NULL, NULL);
}

/* The scores with the mask in place. */
static qn_id
masked(net *t, way w, float fill, qn_id x)
{
	static float ones[SAMPLES * N];
	uint8_t out[N];

	for (int i = 0; i < SAMPLES * N; i++)
		ones[i] = t->mask[i] < 0 ? 1.0f : 0.0f;
	for (int i = 0; i < N; i++)
		out[i] = t->mask[i] < 0;
	switch (w) {
	case CONSTANT:
		return op(t, "add", x, array_of(t, "mask", "f32", 1, t->mask));
	case INPUT:
	case GUARDED:
		return op(t, "add", x, input(t, "mask", t->mask));
	case FACTOR: /* of 0 and 1, times the mask's number */
		return op(t, "add", x,
			  op(t, "mul", input(t, "out", ones), number(t, "least", fill)));
	case CHOICE: {
		const qn_id in[3] = {array_of(t, "out", "bool", 1, out), number(t, "least", fill),
				     x};

		return qn_add_op(t->g, "where", NULL, 3, in, NULL, NULL);
	}
	case SUM_OF_TWO:
		x = op(t, "add", x, array_of(t, "mask", "f32", 1, t->mask));
		return op(t, "add", x, input(t, "padding", t->mask));
	case NWAY:
	default:
		return 0;
	}
}

/* y, and 0 in rows of which nothing is left. */
static qn_id
guarded(net *t, qn_id mask, qn_id y)
{
	const qn_id best =
		qn_add_op(t->g, "reduce_max", NULL, 1, &mask, "axes=[1], keepdims=1", NULL);
	const qn_id in[3] = {op(t, "greater", best, number(t, "lowest", -INFINITY)), y,
			     number(t, "zero", 0)};

	return qn_add_op(t->g, "where", "guarded", 3, in, NULL, NULL);
}

static void
build(net *t, way w, float fill)
{
	memset(t, 0, sizeof *t);
	for (int i = 0; i < SAMPLES * N; i++) {
		t->scores[i] = 0.37f * (float)(i * 13 % 17 - 8);
		t->mask[i] = i % N >= 5 ? fill : 0.0f; /* the same in each sample */
	}
	t->ctx = qn_open(NULL);
	assert_non_null(t->ctx);
	assert_int_equal(qn_model_new(t->ctx, "net", &t->m), QN_OK);
	t->g = qn_model_main(t->m);
	qn_id y = masked(t, w, fill, input(t, "scores", t->scores));
	y = qn_add_op(t->g, "softmax", "y", 1, &y, NULL, NULL);
	if (w == GUARDED)
		y = guarded(t, 2, y);
	assert_int_equal(qn_add_output(t->g, "y", y), QN_OK);
}

/* Row s against the softmax of what is not masked, in double: a code of the scores is up to 1/3, where they are an operand
 * of a mask themselves.  left: of a masked element. */
static void
check_row(const net *t, int s, const float *y, double left)
{
	double sum = 0;

	for (int i = 0; i < 5; i++)
		sum += exp((double)t->scores[s * N + i]);
	for (int i = 0; i < N; i++) {
		double want = i < 5 ? exp((double)t->scores[s * N + i]) / sum : 0;

		assert_true(fabs((double)y[i] - want) <= (i < 5 ? 0.05 : left));
	}
}

static void
check(way w, float fill, qn_activations storage)
{
	qn_array *y;
	net t;

	build(&t, w, fill);
	const qn_compile_opts o = {.calib = t.in, .ncalib = t.nin, .activations = storage};
	assert_int_equal(qn_compile(t.m, &o), QN_OK);
	assert_int_equal(qn_run(t.m, t.nin, t.in, 1, 1, &y), QN_OK);
	for (int s = 0; s < SAMPLES; s++)
		check_row(&t, s, (const float *)qn_array_data(y) + s * N,
			  /* the table of i16 ends at e^-10, 1.49 in Q0.15, moved to 2; the scale of
			   * a choice is another one */
			  storage != QN_ACTIVATIONS_I16 ? 0
			  : w == GUARDED                ? 0x1p-13
							: 0x1p-14);
	qn_close(t.ctx);
}

static void
masks_vanish(void **state)
{
	static const qn_activations storages[] = {QN_ACTIVATIONS_I8, QN_ACTIVATIONS_U8,
						  QN_ACTIVATIONS_I16};

	(void)state;
	for (int w = 0; w < NWAY; w++)
		for (size_t f = 0; f < sizeof fills / sizeof fills[0]; f++)
			for (size_t k = 0; k < 3; k++)
				if (w != FACTOR || f > 0) /* 0 * -inf is NaN */
					check((way)w, fills[f], storages[k]);
}

/* Where masked scores are seen as they are, or do not go to a softmax, they are numbers like others. */
static void
others_stay(void **state)
{
	net t;

	(void)state;
	build(&t, INPUT, -INFINITY);
	qn_id x = op(&t, "add", 1, 2);
	assert_int_equal(qn_add_output(t.g, "seen", x), QN_OK);
	assert_int_equal(qn_compile(t.m, &(qn_compile_opts){.calib = t.in, .ncalib = t.nin}),
			 QN_EINVALID);
	assert_string_equal(qn_diag_get(t.ctx, 0).id, "data.nonfinite");
	qn_close(t.ctx);
	build(&t, CONSTANT, -INFINITY);
	x = op(&t, "add", 1, 2);
	assert_int_equal(qn_add_output(t.g, "seen", x), QN_OK);
	assert_int_equal(qn_compile(t.m, &(qn_compile_opts){.calib = t.in, .ncalib = t.nin}),
			 QN_EINVALID);
	assert_string_equal(qn_diag_get(t.ctx, 0).id, "calibrate.nonfinite");
	qn_close(t.ctx);
}

/* An infinity upwards, and a NaN, are errors in a mask too. */
static void
only_minus_infinity(void **state)
{
	static const float odd[] = {INFINITY, NAN};

	(void)state;
	for (int k = 0; k < 2; k++) {
		net t;

		build(&t, INPUT, -INFINITY);
		t.mask[N + 7] = odd[k];
		qn_array_free(t.in[1]);
		assert_int_equal(qn_array_new(t.ctx, "f32", 2, (const int64_t[]){SAMPLES, N},
					      t.mask, &t.in[1]),
				 QN_OK);
		assert_int_equal(
			qn_compile(t.m, &(qn_compile_opts){.calib = t.in, .ncalib = t.nin}),
			QN_EINVALID);
		assert_string_equal(qn_diag_get(t.ctx, 0).id, "data.nonfinite");
		qn_close(t.ctx);
	}
}

/* Two shards, of which each has seen masks, written, read and merged: the scales of one run. */
static void
shards_remember(void **state)
{
	char folder[] = "/tmp/quern-mask-XXXXXX", path[2][64];
	qn_stats *part[2], *all;
	qn_array *y, *z;
	net t, u;

	(void)state;
	build(&t, INPUT, -INFINITY);
	build(&u, INPUT, -INFINITY);
	const qn_compile_opts o = {.calib = t.in, .ncalib = t.nin};
	assert_non_null(mkdtemp(folder));
	for (size_t k = 0; k < 2; k++) {
		(void)snprintf(path[k], sizeof path[k], "%s/%zu.json", folder, k);
		assert_int_equal(qn_calibrate(t.m, &o, k + 1, 2, &part[k]), QN_OK);
		assert_int_equal(qn_stats_save(part[k], path[k]), QN_OK);
		qn_stats_free(part[k]);
		assert_int_equal(qn_stats_load(t.ctx, path[k], &part[k]), QN_OK);
		assert_int_equal(unlink(path[k]), 0);
	}
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(qn_stats_merge(t.ctx, 2, part, NULL, &all), QN_OK);
	assert_int_equal(qn_compile(t.m, &(qn_compile_opts){.stats = all}), QN_OK);
	assert_int_equal(qn_run(t.m, t.nin, t.in, 1, 1, &y), QN_OK);
	assert_int_equal(qn_compile(u.m, &(qn_compile_opts){.calib = u.in, .ncalib = u.nin}), 0);
	assert_int_equal(qn_run(u.m, u.nin, u.in, 1, 1, &z), QN_OK);
	assert_memory_equal(qn_array_data(y), qn_array_data(z), sizeof t.scores);
	qn_close(t.ctx);
	qn_close(u.ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(masks_vanish),
		cmocka_unit_test(others_stay),
		cmocka_unit_test(only_minus_infinity),
		cmocka_unit_test(shards_remember),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
