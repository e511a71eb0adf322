/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are looked at: what looks wrong is a warning, what is wrong an error. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/samples_rig.h"

/* ---- what looks wrong ---- */

/* Calibrates the digits on changed samples and expects one warning. */
static void
expect_warning(world *w, const float *v, const char *want, const char *words)
{
	static bytes text;
	const int64_t shape[] = {SAMPLES, 8, 8, 1};
	qn_array *x;

	assert_int_equal(qn_array_new(w->ctx, "f32", 4, shape, v, &x), QN_OK);
	assert_int_equal(scales_of(w, 1, &x, &text), QN_OK);
	show(w);
	assert_int_equal(qn_diag_count(w->ctx), want[0] != '\0');
	assert_string_equal(id(w, 0), want);
	if (want[0] != '\0') {
		assert_int_equal(qn_diag_get(w->ctx, 0).severity, QN_WARNING);
		assert_non_null(strstr(qn_diag_get(w->ctx, 0).message, words));
	}
	qn_diag_clear(w->ctx);
	qn_array_free(x);
}

static void
test_lint(void **state)
{
	static float v[SAMPLES * PIXELS];
	world *w = *state;

	expect_warning(w, w->pixels, "", "");
	memcpy(v, w->pixels, sizeof v);
	memcpy(v + 70 * PIXELS, v + 3 * PIXELS, PIXELS * sizeof *v);
	expect_warning(w, v, "data.duplicate", "sample 70 is equal to sample 3");
	for (int i = 0; i < SAMPLES; i++) /* two samples by turns: all but these two are copies */
		memcpy(v + i * PIXELS, w->pixels + i % 2 * PIXELS, PIXELS * sizeof *v);
	expect_warning(w, v, "data.duplicate", "sample 2 is equal to sample 0; 198 of 200");
	memcpy(v, w->pixels, sizeof v);
	memset(v + 9 * PIXELS, 0, PIXELS * sizeof *v);
	expect_warning(w, v, "data.constant", "sample 9");
	for (int i = 0; i < SAMPLES * PIXELS; i++)
		v[i] = w->pixels[i] * 255;
	expect_warning(w, v, "data.statistics", "bn1");
	for (int i = 0; i < SAMPLES * PIXELS; i++)
		v[i] = w->pixels[i] / 255;
	expect_warning(w, v, "data.statistics", "bn1");
}

static void
test_lint_pixels(void **state)
{
	static const char net[] =
		"model \"m\" stage float\ngraph @main(%x: tensor<1x4xf32>) {\n"
		"  %w = const : tensor<2x4xf32> [1.0, 0.5, -0.5, 1.0, 0.25, 1.0, 1.0, -1.0]\n"
		"  %y = dense %x, %w\n  return %y\n}\n";
	float v[8 * 4];
	const int64_t shape[] = {8, 4};
	world *w = *state;
	qn_array *x;
	qn_model *m;

	write_file(w, "m.qir", net, sizeof net - 1);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 32; i++)
			v[i] = (float)(i * 83 % 256) / (k == 0 ? 1 : 255);
		qn_status status = qn_load(w->ctx, in_folder(w, "m.qir"), &m);
		show(w);
		assert_int_equal(status, QN_OK);
		assert_int_equal(qn_array_new(w->ctx, "f32", 2, shape, v, &x), QN_OK);
		assert_int_equal(qn_compile(m, &(qn_compile_opts){.calib = &x, .ncalib = 1}),
				 QN_OK);
		assert_string_equal(id(w, 0), k == 0 ? "data.range" : "data.few");
		qn_diag_clear(w->ctx);
	}
}

/* Tokens and masks of which many are equal are what they are; and a constant of zeros needs no warning. */
static void
test_lint_tokens(void **state)
{
	static const char net[] =
		"model \"m\" stage float\ngraph @main(%t: tensor<1x4xi64>, %m: tensor<1x4xi32>) {\n"
		"  %w = const : tensor<8x2xf32> rand 1\n  %zero = const : tensor<1x4x2xf32> splat "
		"0.0\n"
		"  %e = gather %w, %t {axis=0}\n  %f = cast %m : tensor<1x4xf32>\n"
		"  %g = reshape %f {shape=[1,4,1]}\n  %h = mul %e, %g\n  %y = maximum %h, %zero\n"
		"  return %y\n}\n";
	int64_t token[128 * 4];
	int32_t mask[128 * 4];
	const int64_t shape[] = {128, 4};
	world *w = *state;
	qn_array *x[2];
	qn_model *m;

	for (int i = 0; i < 128 * 4; i++) {
		token[i] = i / 4 % 8;
		mask[i] = i % 16 < 12;
	}
	write_file(w, "m.qir", net, sizeof net - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "i64", 2, shape, token, &x[0]), QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "i32", 2, shape, mask, &x[1]), QN_OK);
	assert_int_equal(qn_compile(m, &(qn_compile_opts){.calib = x, .ncalib = 2}), QN_OK);
	show(w);
	assert_int_equal(qn_diag_count(w->ctx), 0);
}

/* ---- what is wrong ---- */

static void
expect_open(world *w, const char *name, const qn_data_opts *opts, const char *want)
{
	qn_array *x = NULL;
	size_t n;

	assert_int_not_equal(qn_samples_open(w->ctx, in_folder(w, name), opts, 1, &x, &n), QN_OK);
	show(w);
	assert_null(x);
	assert_string_equal(id(w, 0), want);
	qn_diag_clear(w->ctx);
}

static void
test_wrong(void **state)
{
	static bytes text;
	const int64_t shape[] = {8, 8, 1}, none[] = {0};
	const double zero = 0;
	world *w = *state;
	qn_array *x;
	size_t n;

	assert_int_equal(mkdir(in_folder(w, "empty"), 0777), 0);
	assert_int_equal(mkdir(in_folder(w, "mixed"), 0777), 0);
	assert_int_equal(mkdir(in_folder(w, "sizes"), 0777), 0);
	write_file(w, "mixed/a.pgm", "P2 1 1 9 9", 10);
	write_file(w, "mixed/a.wav", "", 0);
	write_file(w, "x.bin", "12345", 5);
	write_file(w, "x.h5", "12345", 5);
	expect_open(w, "empty", NULL, "data.empty");
	expect_open(w, "mixed", NULL, "data.format");
	expect_open(w, "none", NULL, "file.open");
	expect_open(w, "x.h5", NULL, "data.format");
	expect_open(w, "x.bin", &(qn_data_opts){.size = 1}, "struct.size");
	expect_open(w, "x.bin", NULL, "data.shape-needed");
	expect_open(w, "x.bin", &(qn_data_opts){.rank = 3, .shape = shape}, "data.size");
	expect_open(w, "x.bin", &(qn_data_opts){.rank = 1, .shape = none}, "data.option");
	expect_open(w, "x.bin", &(qn_data_opts){.dtype = "f31"}, "array.dtype");
	write_file(w, "plain", "\x93NUMPY", 6); /* known by its first bytes alone */
	expect_open(w, "plain", &(qn_data_opts){.rank = 3, .shape = shape}, "data.option");
	expect_open(w, "plain", &(qn_data_opts){.dtype = "u8"}, "data.option");
	expect_open(w, "mixed/a.pgm", &(qn_data_opts){.rank = 3, .shape = shape}, "data.option");
	expect_open(w, "mixed/a.pgm", &(qn_data_opts){.nstd = 1, .std = &zero}, "data.option");
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "x.bin"), NULL, 0, &x, &n),
			 QN_EUSAGE);
	assert_string_equal(id(w, 0), "data.count");
	qn_diag_clear(w->ctx);
	write_file(w, "sizes/a.pgm", "P2 8 8 9 0", 10);
	expect_open(w, "sizes", NULL, "image.size");
	write_file(w, "sizes/a.pgm", "P2 2 1 9 9 8", 12);
	write_file(w, "sizes/b.pgm", "P2 1 2 9 9 8", 12);
	write_file(w, "sizes/c.pgm", "P2 2 1 9 9 10", 13);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "sizes"),
					 &(qn_data_opts){.input_scale = 1}, 1, &x, &n),
			 QN_OK);
	assert_int_equal(scales_of(w, 1, &x, &text), QN_EINVALID); /* 1x2, but 8x8 is wanted */
	assert_string_equal(id(w, 0), "data.shape");
	assert_non_null(strstr(qn_diag_get(w->ctx, 0).place, "sizes/a.pgm"));
	qn_diag_clear(w->ctx);
	assert_int_equal(qn_array_save(x, in_folder(w, "y.npy")), QN_EINVALID);
	assert_string_equal(id(w, 0), "data.size"); /* all problems are told */
	assert_non_null(strstr(qn_diag_get(w->ctx, 0).message,
			       "this file has height 2, width 1, 1 channels of 8 bits, but"));
	assert_non_null(strstr(qn_diag_get(w->ctx, 0).message,
			       "has height 1, width 2, 1 channels of 8 bits"));
	assert_string_equal(id(w, 1), "image.decode");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_lint),
		T(test_lint_pixels),
		T(test_lint_tokens),
		T(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
