/* SPDX-License-Identifier: Apache-2.0 */
/* test_api_null_data.c - functions of arrays, layouts, archives and tokens with NULL for each pointer that must not be
 * NULL. */
#include "tests/unit/api_null.h"

#include "quern/tokens.h"

static int
sample(void *user, size_t index, void *dst)
{
	(void)user;
	(void)index;
	(void)dst;
	return 0;
}

/* ---- samples.h ---- */

static void
arrays(void **state)
{
	static const int64_t shape[1] = {1};
	const char *path = "f.npy";
	const qn_array *one = x;
	qn_array *out = x;
	size_t n;

	(void)state;
	qn_array_free(NULL);
	SILENT(qn_array_load(NULL, "f.npy", &out));
	assert_null(out);
	REFUSED("path", qn_array_load(ctx, NULL, &out));
	REFUSED("out", qn_array_load(ctx, "f.npy", NULL));
	SILENT(qn_array_new(NULL, "f32", 1, shape, shape, &out));
	REFUSED("dtype", qn_array_new(ctx, NULL, 1, shape, shape, &out));
	REFUSED("shape", qn_array_new(ctx, "f32", 1, NULL, shape, &out));
	REFUSED("data", qn_array_new(ctx, "f32", 1, shape, NULL, &out));
	REFUSED("out", qn_array_new(ctx, "f32", 1, shape, shape, NULL));
	SILENT(qn_array_save(NULL, "f.npy"));
	REFUSED("path", qn_array_save(x, NULL));
	SILENT(qn_arrays_save(NULL, 1, &one, &path));
	REFUSED("array", qn_arrays_save(ctx, 1, NULL, &path));
	REFUSED("path", qn_arrays_save(ctx, 1, &one, NULL));
	NOTHING(qn_array_data(NULL));
	NOTHING(qn_array_rank(NULL));
	NOTHING(qn_array_dim(NULL, 0));
	NOTHING(qn_array_dtype(NULL));
	assert_string_equal(qn_array_name(NULL), "");
	SILENT(qn_samples_open(NULL, "f.npy", NULL, 1, &out, &n));
	REFUSED("path", qn_samples_open(ctx, NULL, NULL, 1, &out, &n));
	REFUSED("out", qn_samples_open(ctx, "f.npy", NULL, 1, NULL, &n));
	REFUSED("n", qn_samples_open(ctx, "f.npy", NULL, 1, &out, NULL));
	SILENT(qn_samples_new(NULL, "f32", 1, shape, NULL, sample, NULL, &out));
	REFUSED("dtype", qn_samples_new(ctx, NULL, 1, shape, NULL, sample, NULL, &out));
	REFUSED("shape", qn_samples_new(ctx, "f32", 1, NULL, NULL, sample, NULL, &out));
	REFUSED("fn", qn_samples_new(ctx, "f32", 1, shape, NULL, NULL, NULL, &out));
	REFUSED("out", qn_samples_new(ctx, "f32", 1, shape, NULL, sample, NULL, NULL));
}

/* An array without elements needs no data, one of rank 0 no shape. */
static void
nothing_to_read(void **state)
{
	static const float one = 1;
	qn_array *out;

	(void)state;
	assert_int_equal(qn_array_new(ctx, "f32", 1, (const int64_t[]){0}, NULL, &out), QN_OK);
	assert_int_equal(qn_array_new(ctx, "f32", 0, NULL, &one, &out), QN_OK);
	assert_int_equal(qn_diag_count(ctx), 0);
}

/* ---- layout.h, tokens.h ---- */

static void
stored(void **state)
{
	static const int64_t shape[1] = {1};
	const qn_scaled_quantizer_opts opts = {.dtype = "i8", .dynamic = 1};
	const qn_plane_view plane = {.name = "", .dtype = "i8", .rank = 1, .dim = {1}, .bytes = 1};
	const qn_meta_view meta = {.key = NULL, .json = "1"};
	qn_stored *out = t;
	qn_array *values = x;

	(void)state;
	qn_stored_free(NULL);
	SILENT(qn_layout_register(NULL, &(qn_layout_desc){.name = "own"}));
	REFUSED("desc", qn_layout_register(ctx, NULL));
	REFUSED("plane", qn_layout_register(ctx, &(qn_layout_desc){.name = "own", .nplane = 1}));
	SILENT(qn_stored_new(NULL, "t", "plain", 1, shape, 1, &plane, 0, NULL, &out));
	assert_null(out);
	REFUSED("layout", qn_stored_new(ctx, "t", NULL, 1, shape, 1, &plane, 0, NULL, &out));
	REFUSED("shape", qn_stored_new(ctx, "t", "plain", 1, NULL, 1, &plane, 0, NULL, &out));
	REFUSED("plane", qn_stored_new(ctx, "t", "plain", 1, shape, 1, NULL, 0, NULL, &out));
	REFUSED("data", qn_stored_new(ctx, "t", "plain", 1, shape, 1, &plane, 0, NULL, &out));
	REFUSED("meta", qn_stored_new(ctx, "t", "plain", 1, shape, 0, NULL, 1, NULL, &out));
	REFUSED("key", qn_stored_new(ctx, "t", "plain", 1, shape, 0, NULL, 1, &meta, &out));
	REFUSED("out", qn_stored_new(ctx, "t", "plain", 1, shape, 1, &plane, 0, NULL, NULL));
	SILENT(qn_stored_of_array(NULL, "t", x, &out));
	REFUSED("array", qn_stored_of_array(ctx, "t", NULL, &out));
	REFUSED("out", qn_stored_of_array(ctx, "t", x, NULL));
	NOTHING(qn_stored_name(NULL));
	NOTHING(qn_stored_layout(NULL));
	NOTHING(qn_stored_rank(NULL));
	NOTHING(qn_stored_dim(NULL, 0));
	NOTHING(qn_stored_planes(NULL));
	NOTHING(qn_stored_plane(NULL, 0).name);
	NOTHING(qn_stored_meta(NULL, 0).key);
	NOTHING(qn_stored_bytes(NULL));
	SILENT(qn_stored_values(NULL, 0, &values));
	assert_null(values);
	REFUSED("out", qn_stored_values(t, 0, NULL));
	SILENT(qn_stored_plane_array(NULL, 0, &values));
	REFUSED("out", qn_stored_plane_array(t, 0, NULL));
	SILENT(qn_stored_unpack(NULL, &out));
	REFUSED("out", qn_stored_unpack(t, NULL));
	SILENT(qn_stored_to_planar(NULL, &out));
	REFUSED("out", qn_stored_to_planar(t, NULL));
	SILENT(qn_stored_repack(NULL, "q8_0", NULL, &out));
	REFUSED("layout", qn_stored_repack(t, NULL, NULL, &out));
	REFUSED("out", qn_stored_repack(t, "q8_0", NULL, NULL));
	SILENT(qn_stored_split(NULL, 2, &out));
	REFUSED("out", qn_stored_split(t, 2, NULL));
	SILENT(qn_stored_quantize(NULL, &opts, &out));
	REFUSED("out", qn_stored_quantize(t, &opts, NULL));
	SILENT(qn_quantizer_new(NULL, "q", &opts, &out));
	REFUSED("out", qn_quantizer_new(ctx, "q", &opts, NULL));
	SILENT(qn_stored_quantize_by(t, NULL, &out));
	REFUSED("quantizer", qn_stored_quantize_by(NULL, t, &out));
	REFUSED("out", qn_stored_quantize_by(t, t, NULL));
}

static void
archives(void **state)
{
	qn_property_view property;
	qn_tokens_info info;
	qn_archive *out = a;
	qn_array *values;

	(void)state;
	qn_archive_free(NULL);
	SILENT(qn_archive_open(NULL, "f.gguf", &out));
	assert_null(out);
	REFUSED("path", qn_archive_open(ctx, NULL, &out));
	REFUSED("out", qn_archive_open(ctx, "f.gguf", NULL));
	SILENT(qn_archive_new(NULL, &out));
	REFUSED("out", qn_archive_new(ctx, NULL));
	assert_string_equal(qn_archive_format(NULL), "");
	NOTHING(qn_archive_size(NULL));
	NOTHING(qn_archive_get(NULL, 0));
	NOTHING(qn_archive_find(NULL, "t"));
	NOTHING(qn_archive_find(a, NULL));
	NOTHING(qn_archive_properties(NULL));
	SILENT(qn_archive_property(NULL, 0, &property));
	REFUSED("out", qn_archive_property(a, 0, NULL));
	SILENT(qn_archive_set_property(NULL, "k", "1"));
	REFUSED("key", qn_archive_set_property(a, NULL, "1"));
	REFUSED("json", qn_archive_set_property(a, "k", NULL));
	SILENT(qn_archive_copy_properties(NULL, a));
	REFUSED("from", qn_archive_copy_properties(a, NULL));
	SILENT(qn_archive_apply_quant_params(NULL, "f"));
	REFUSED("path", qn_archive_apply_quant_params(a, NULL));
	SILENT(qn_archive_language_model(NULL, &out));
	REFUSED("out", qn_archive_language_model(a, NULL));
	SILENT(qn_archive_add(NULL, "t", t));
	REFUSED("name", qn_archive_add(a, NULL, t));
	REFUSED("tensor", qn_archive_add(a, "t", NULL));
	SILENT(qn_archive_save(NULL, "f.gguf"));
	REFUSED("path", qn_archive_save(a, NULL));
	SILENT(qn_tokens_describe(NULL, &info));
	REFUSED("out", qn_tokens_describe(a, NULL));
	SILENT(qn_tokens_encode(NULL, "t", 1, &values));
	REFUSED("text", qn_tokens_encode(a, NULL, 1, &values));
	REFUSED("out", qn_tokens_encode(a, "t", 1, NULL));
	SILENT(qn_tokens_decode(NULL, x, put, NULL));
	REFUSED("tokens", qn_tokens_decode(a, NULL, put, NULL));
	REFUSED("fn", qn_tokens_decode(a, x, NULL, NULL));
	SILENT(qn_tokens_emit(NULL, "f", "n", NULL));
	REFUSED("folder", qn_tokens_emit(a, NULL, "n", NULL));
	REFUSED("name", qn_tokens_emit(a, "f", NULL, NULL));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(arrays),
		TEST(nothing_to_read),
		TEST(stored),
		TEST(archives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
