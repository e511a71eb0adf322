/* SPDX-License-Identifier: Apache-2.0 */
/* test_stored.c - tensors with layouts through the public header: handles, conversions, and a
 * layout that the host defines. */
#include <math.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/layout.h"

static const char *
last(const qn_ctx *ctx)
{
	return qn_diag_count(ctx) > 0 ? qn_diag_get(ctx, qn_diag_count(ctx) - 1).id : "";
}

static qn_stored *
weights(qn_ctx *ctx, int64_t rows, int64_t columns)
{
	const int64_t shape[] = {rows, columns};
	float *x = malloc((size_t)(rows * columns) * sizeof *x);
	qn_array *a;
	qn_stored *w;

	for (int64_t i = 0; i < rows * columns; i++)
		x[i] = (float)((i * 37) % 101 - 50) / 64.0F;
	assert_int_equal(qn_array_new(ctx, "f32", 2, shape, x, &a), QN_OK);
	assert_int_equal(qn_stored_of_array(ctx, "w", a, &w), QN_OK);
	qn_array_free(a);
	free(x);
	return w;
}

static void
from_layout_to_layout(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_stored *w = weights(ctx, 2, 64), *q, *planes, *bytes, *none;
	qn_array *a, *b;
	int exact = -1;
	const qn_repack_opts opts = {.size = sizeof opts, .exact = &exact};

	(void)state;
	assert_string_equal(qn_stored_layout(w), "plain");
	assert_int_equal(qn_stored_bytes(w), 512);
	assert_int_equal(qn_stored_repack(w, "q8_0", &opts, &q), QN_OK);
	assert_int_equal(exact, 0);
	assert_string_equal(qn_stored_name(q), "w");
	assert_int_equal(qn_stored_bytes(q), 4 * 34);
	assert_int_equal(qn_stored_values(q, 1, &a), QN_OK);
	assert_true(qn_array_rank(a) == 3 && qn_array_dim(a, 1) == 2 && qn_array_dim(a, 2) == 32);
	assert_int_equal(qn_stored_to_planar(q, &planes), QN_OK);
	assert_string_equal(qn_stored_layout(planes), "BlockScaledLayout");
	assert_int_equal(qn_stored_planes(planes), 2);
	assert_string_equal(qn_stored_plane(planes, 0).name, "d");
	assert_string_equal(qn_stored_plane(planes, 1).dtype, "i8");
	assert_int_equal(qn_stored_values(planes, 0, &b), QN_OK);
	assert_int_equal(qn_array_rank(b), 2);
	assert_memory_equal(qn_array_data(a), qn_array_data(b), 512);
	assert_int_equal(qn_stored_repack(planes, "q8_0", &opts, &bytes), QN_OK);
	assert_int_equal(exact, 1);
	assert_memory_equal(qn_stored_plane(bytes, 0).data, qn_stored_plane(q, 0).data, 4 * 34);
	assert_int_equal(qn_stored_repack(w, "BlockScaledI4Layout", NULL, &planes), QN_OK);
	assert_string_equal(qn_stored_meta(planes, 0).key, "signed");
	assert_null(qn_stored_meta(planes, 1).key);
	assert_int_equal(qn_stored_plane_array(planes, 0, &a), QN_OK);
	assert_string_equal(qn_array_dtype(a), "f16");
	assert_int_equal(qn_stored_plane_array(planes, 2, &a), QN_EUSAGE);
	assert_int_equal(qn_stored_unpack(w, &none), QN_EUNSUPPORTED);
	assert_string_equal(last(ctx), "layout.unpack");
	assert_null(none);
	assert_int_equal(qn_stored_repack(w, "q9_0", NULL, &none), QN_EUNSUPPORTED);
	assert_string_equal(last(ctx), "layout.unknown");
	assert_int_equal(qn_stored_repack(w, "q4_K", NULL, &none), QN_EUNSUPPORTED);
	assert_string_equal(last(ctx), "layout.row");
	qn_stored_free(bytes);
	qn_close(ctx);
}

static void
table_of_layouts(void **state)
{
	size_t n = 0;

	(void)state;
	for (; qn_layout_name(n) != NULL; n++)
		assert_non_null(qn_layout_help(n));
	assert_int_equal(n, 15);
	assert_null(qn_layout_help(n));
}

static void
quantizers(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_stored *w = weights(ctx, 2, 64), *q;
	const float scale[] = {64, 32};
	qn_scaled_quantizer_opts o = {
		.size = sizeof o, .dtype = "i8", .per_axis = 1, .nscale = 2, .scale = scale};

	(void)state;
	assert_int_equal(qn_stored_quantize(w, &o, &q), QN_OK);
	assert_string_equal(qn_stored_layout(q), "TensorScaledLayout");
	const int8_t *qs = qn_stored_plane(q, 1).data;
	assert_true(qs[0] == -50 && qs[1] == -13 && qs[64] == -2); /* -2.5: to even */
	o = (qn_scaled_quantizer_opts){.size = sizeof o, .dtype = "i8", .dynamic = 1, .block = 16};
	assert_int_equal(qn_stored_quantize(w, &o, &q), QN_OK);
	assert_string_equal(qn_stored_layout(q), "BlockScaledLayout");
	o.dtype = "i9";
	assert_int_equal(qn_stored_quantize(w, &o, &q), QN_EUSAGE);
	assert_string_equal(last(ctx), "quantizer.dtype");
	assert_null(q);
	qn_close(ctx);
}

/* ---- a layout of the host: powers of two for each 4 values, no scale ---- */

static void
from_log(void *user, const void *const *plane, float *out)
{
	const int8_t *e = plane[0];
	const uint8_t *sign = plane[1];

	(void)user;
	for (int i = 0; i < 4; i++)
		out[i] = ldexpf((*sign >> i & 1) != 0 ? -1.0F : 1.0F, e[i]);
}

static void
to_log(void *user, const float *x, void *const *plane)
{
	int8_t *e = plane[0];
	uint8_t *sign = plane[1];

	*sign = 0;
	for (int i = 0; i < 4; i++) {
		int exponent;

		++*(int *)user;
		(void)frexpf(x[i], &exponent);
		e[i] = (int8_t)(exponent - 1);
		*sign = (uint8_t)(*sign | (x[i] < 0) << i);
	}
}

static void
layout_of_the_host(void **state)
{
	static const qn_plane_spec planes[] = {{"e", "i8", {2, 2}}, {"sign", "u8", {1, 0}}};
	int calls = 0;
	qn_layout_desc d = {.size = sizeof d,
			    .name = "acme.log",
			    .block = 4,
			    .nplane = 2,
			    .plane = planes,
			    .dequant = from_log,
			    .quantize = to_log,
			    .user = &calls};
	const float x[8] = {1, -2, 0.5F, 4, -8, 0.25F, 3, -1};
	const float y[8] = {1, -2, 0.5F, 4, -8, 0.25F, 2, -1};
	const int64_t shape[] = {1, 8};
	qn_ctx *ctx = qn_open(NULL);
	qn_array *a;
	qn_stored *w, *q, *again;

	(void)state;
	assert_int_equal(qn_layout_register(ctx, &d), QN_OK);
	assert_int_equal(qn_layout_register(ctx, &d), QN_EUSAGE);
	assert_string_equal(last(ctx), "layout.register");
	assert_int_equal(qn_array_new(ctx, "f32", 2, shape, x, &a), QN_OK);
	assert_int_equal(qn_stored_of_array(ctx, "w", a, &w), QN_OK);
	assert_int_equal(qn_stored_repack(w, "ACME.log", NULL, &q), QN_OK);
	assert_int_equal(calls, 8);
	assert_int_equal(qn_stored_bytes(q), 10);
	assert_int_equal(qn_stored_plane(q, 0).rank, 4); /* [1, 2, 2, 2] */
	assert_int_equal(qn_stored_values(q, 0, &a), QN_OK);
	assert_memory_equal(qn_array_data(a), y, sizeof y);
	const qn_plane_view view[] = {qn_stored_plane(q, 1), qn_stored_plane(q, 0)};
	assert_int_equal(qn_stored_new(ctx, "v", "acme.log", 2, shape, 2, view, 0, NULL, &again),
			 QN_OK);
	assert_int_equal(qn_stored_values(again, 0, &a), QN_OK); /* planes go by their names */
	assert_memory_equal(qn_array_data(a), y, sizeof y);
	assert_int_equal(qn_stored_unpack(q, &again), QN_EUNSUPPORTED);
	d.name = "acme.one-way";
	d.quantize = NULL;
	assert_int_equal(qn_layout_register(ctx, &d), QN_OK);
	assert_int_equal(qn_stored_repack(w, d.name, NULL, &q), QN_EUNSUPPORTED);
	assert_string_equal(last(ctx), "layout.quantize");
	qn_close(ctx);
}

static void
refused_layouts(void **state)
{
	static const qn_plane_spec good[] = {{"e", "i8", {4, 0}}}, bad[] = {{"e", "i3", {4, 0}}},
				   flat[] = {{"e", "i8", {0, 0}}};
	const qn_layout_desc rows[] = {
		{.block = 4, .nplane = 1, .plane = good, .dequant = from_log},
		{.name = "Q4_0", .block = 4, .nplane = 1, .plane = good, .dequant = from_log},
		{.name = "a", .block = 0, .nplane = 1, .plane = good, .dequant = from_log},
		{.name = "a", .block = 4, .nplane = 0, .plane = good, .dequant = from_log},
		{.name = "a", .block = 4, .nplane = 9, .plane = good, .dequant = from_log},
		{.name = "a", .block = 4, .nplane = 1, .plane = good},
		{.name = "a", .block = 4, .nplane = 1, .plane = bad, .dequant = from_log},
		{.name = "a", .block = 4, .nplane = 1, .plane = flat, .dequant = from_log},
	};
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(qn_layout_register(ctx, &rows[i]), QN_EUSAGE);
		assert_string_equal(last(ctx), "layout.register");
	}
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_layout_to_layout),
		cmocka_unit_test(table_of_layouts),
		cmocka_unit_test(quantizers),
		cmocka_unit_test(layout_of_the_host),
		cmocka_unit_test(refused_layouts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
