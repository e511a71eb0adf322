/* SPDX-License-Identifier: Apache-2.0 */
/* test_build.c - graphs that a host builds and reads: the same model as from text, compiled from
 * memory; what a host can get wrong; memory that runs out at every step. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/graph.h"
#include "tests/unit/host_heap.h"

enum { SIDE = 4, CHANNELS = 2, SAMPLES = 3 };

static qn_status
array_of(qn_ctx *ctx, int rank, const int64_t *shape, float step, qn_array **out)
{
	float data[SAMPLES * SIDE * SIDE];
	size_t n = 1;

	for (int i = 0; i < rank; i++)
		n *= (size_t)shape[i];
	assert_true(n <= sizeof data / sizeof data[0]);
	for (size_t i = 0; i < n; i++)
		data[i] = step * (float)((int)(i % 7) - 3);
	return qn_array_new(ctx, "f32", rank, shape, data, out);
}

/* relu(conv2d(image, w)), 4x4x1 -> 4x4x2. */
static qn_status
build(qn_ctx *ctx, qn_model **m)
{
	qn_array *w;
	qn_status s = array_of(ctx, 4, (const int64_t[]){CHANNELS, 3, 3, 1}, 0.1f, &w);

	if (s != QN_OK || (s = qn_model_new(ctx, "net", m)) != QN_OK)
		return s;
	qn_graph *g = qn_model_main(*m);
	qn_id x[2] = {qn_add_input(g, "image", "tensor<1x4x4x1xf32>"), qn_add_const(g, "w", w)};
	qn_id y = qn_add_op(g, "conv2d", "conv", 2, x, "padding=same", NULL);
	y = qn_add_op(g, "relu", "act", 1, &y, NULL, NULL);
	return qn_add_output(g, "features", y);
}

static qn_status
job(qn_ctx *ctx)
{
	qn_model *m;
	qn_array *calib;
	qn_compile_opts opts = {.calib = &calib, .ncalib = 1};
	qn_status s = build(ctx, &m);

	if (s == QN_OK)
		s = array_of(ctx, 4, (const int64_t[]){SAMPLES, SIDE, SIDE, 1}, 0.3f, &calib);
	if (s == QN_OK)
		s = qn_compile(m, &opts);
	if (s == QN_OK)
		assert_string_equal(qn_model_stage(m), "integer");
	return s;
}

static void
compiles_from_memory(void **state)
{
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	assert_int_equal(job(ctx), QN_OK);
	assert_int_equal(qn_diag_count(ctx), 1);
	assert_string_equal(qn_diag_get(ctx, 0).id, "data.few"); /* so many there are */
	qn_close(ctx);
}

static void
reads_what_was_built(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;

	(void)state;
	assert_int_equal(build(ctx, &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	assert_int_equal(qn_graph_size(g), 4);
	qn_id conv = qn_value_find(g, "conv");
	qn_value_info v = qn_value(g, conv);
	assert_string_equal(v.op, "conv2d");
	assert_string_equal(v.name, "conv");
	assert_int_equal(v.nin, 2);
	assert_int_equal(v.rank, 4);
	assert_int_equal(v.shape[3], CHANNELS);
	assert_string_equal(qn_value_attrs(g, conv), "padding=same");
	assert_string_equal(qn_value_type(g, conv), "tensor<1x4x4x2xf32>");
	v = qn_value(g, v.in[1]);
	assert_string_equal(v.op, "const");
	assert_int_equal(v.bytes, CHANNELS * 9 * sizeof(float));
	float first;
	memcpy(&first, v.data, sizeof first);
	assert_true(first == -3 * 0.1f);
	assert_null(qn_value(g, 0).op);
	assert_null(qn_value(g, 5).op);
	assert_null(qn_value_type(g, 5));
	assert_int_equal(qn_value_find(g, "nothing"), 0);
	qn_close(ctx);
}

typedef struct text {
	char s[2000];
	size_t n;
} text;

static int
append(void *user, const char *s, size_t n)
{
	text *t = user;

	assert_true(t->n + n < sizeof t->s);
	memcpy(t->s + t->n, s, n);
	t->n += n;
	return 0;
}

/* A taken name gets a number, and the node still stands for the layer of that name; a missing one the op's. */
static void
names_are_made_unique(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	text t = {.n = 0};

	(void)state;
	assert_int_equal(qn_model_new(ctx, "two words", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	qn_id x = qn_add_input(g, "x", "tensor<2xf32>");
	qn_id y = qn_add_op(g, "clip", "x", 1, &x, "min=-1.0, max=2.5", NULL);
	qn_id z = qn_add_op(g, "relu", NULL, 1, &y, NULL, NULL);
	assert_int_equal(qn_add_output(g, "z", z), QN_OK);
	assert_int_equal(qn_print(m, QN_FORMAT_IR, append, &t), QN_OK);
	t.s[t.n] = '\0';
	assert_string_equal(t.s,
			    "model \"two words\" stage float\n"
			    "graph @main(%x: tensor<2xf32>) {\n"
			    "  %x_1 = clip %x {min=-1.0, max=2.5} : tensor<2xf32> from [\"x\"]\n"
			    "  %relu_1 = relu %x_1 : tensor<2xf32>\n"
			    "  return %relu_1 as \"z\"\n"
			    "}\n");
	qn_close(ctx);
}

/* ---- what a host can get wrong: the id of the one problem each ---- */

typedef struct slip {
	const char *op, *attrs, *type;
	qn_id in[2];
	size_t n;
	const char *id;
} slip;

static void
tells_what_is_wrong(void **state)
{
	static const slip slips[] = {
		{"conv9", NULL, NULL, {1, 2}, 2, "op.unknown"},
		{"input", NULL, NULL, {0, 0}, 0, "op.unknown"},
		{"call", NULL, NULL, {1, 0}, 1, "op.unknown"},
		{"relu", NULL, NULL, {1, 2}, 2, "op.arity"},
		{"relu", NULL, NULL, {77, 0}, 1, "graph.value.undefined"},
		{"relu", "slope=0.5", NULL, {1, 0}, 1, "attr.unknown"},
		{"clip", "min=a, max=1.0", NULL, {1, 0}, 1, "attr.value"},
		{"clip", "min=0.0} {", NULL, {1, 0}, 1, "graph.syntax"},
		{"relu", "} %y = relu %x {", NULL, {1, 0}, 1, "graph.syntax"},
		{"relu", NULL, "tensor<4", {1, 0}, 1, "type.syntax"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_model *m;

		assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
		qn_graph *g = qn_model_main(m);
		assert_int_equal(qn_add_input(g, "x", "tensor<2xf32>"), 1);
		assert_int_equal(qn_add_input(g, "y", "tensor<2xf32>"), 2);
		assert_int_equal(qn_add_op(g, slips[i].op, "n", slips[i].n, slips[i].in,
					   slips[i].attrs, slips[i].type),
				 0);
		assert_true(qn_diag_count(ctx) > 0);
		assert_string_equal(qn_diag_get(ctx, 0).id, slips[i].id);
		qn_close(ctx);
	}
}

/* A 0 goes through silently: the report stands where it was made. */
static void
passes_nothing_on(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	qn_id none = 0;

	(void)state;
	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	qn_graph *g = qn_model_main(m);
	assert_int_equal(qn_add_op(g, "relu", "n", 1, &none, NULL, NULL), 0);
	assert_int_equal(qn_add_const(g, "c", NULL), 0);
	assert_int_equal(qn_add_output(g, "y", none), QN_EINVALID);
	assert_int_equal(qn_diag_count(ctx), 0);
	qn_id x = qn_add_input(g, "x", "tensor<2xf32>");
	assert_int_equal(qn_add_output(g, "y", x), QN_OK);
	assert_int_equal(qn_add_output(g, "y", x), QN_EINVALID);
	assert_int_equal(qn_add_output(g, "z", 9), QN_EUSAGE);
	assert_int_equal(qn_diag_count(ctx), 2);
	qn_close(ctx);
}

/* A graph without outputs computes nothing. */
static void
refuses_to_compile_without_outputs(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	qn_compile_opts opts = {0};

	(void)state;
	assert_int_equal(qn_model_new(ctx, "m", &m), QN_OK);
	assert_int_equal(qn_add_input(qn_model_main(m), "x", "tensor<2xf32>"), 1);
	assert_int_equal(qn_compile(m, &opts), QN_EINVALID);
	assert_true(qn_diag_count(ctx) > 0);
	qn_close(ctx);
}

static void
survives_a_heap_that_ends(void **state)
{
	heap h = {0};
	size_t fail_at = 0;
	qn_status s;

	(void)state;
	do {
		h = (heap){.fail_at = ++fail_at};
		qn_config config = {.alloc = host_alloc, .alloc_user = &h};
		qn_ctx *ctx = qn_open(&config);

		s = ctx == NULL ? QN_ENOMEM : job(ctx);
		qn_close(ctx);
		assert_int_equal(h.live, 0);
	} while (s != QN_OK && fail_at < 10000);
	assert_int_equal(s, QN_OK);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiles_from_memory),
		cmocka_unit_test(reads_what_was_built),
		cmocka_unit_test(names_are_made_unique),
		cmocka_unit_test(tells_what_is_wrong),
		cmocka_unit_test(passes_nothing_on),
		cmocka_unit_test(refuses_to_compile_without_outputs),
		cmocka_unit_test(survives_a_heap_that_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
