/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of source gives the digits the same scales. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/little.h"
#include "tests/unit/samples_rig.h"
#include "quern/measure.h"

/* Opens a source and compares the scales with those of calib.npy. */
static void
same_scales(world *w, const char *path, const qn_data_opts *opts)
{
	static bytes want, have;
	qn_array *x[MOST];
	qn_array *npy;
	size_t n;

	assert_int_equal(qn_array_load(w->ctx, digits("calib.npy"), &npy), QN_OK);
	assert_int_equal(scales_of(w, 1, &npy, &want), QN_OK);
	qn_status status = qn_samples_open(w->ctx, path, opts, MOST, x, &n);
	show(w);
	assert_int_equal(status, QN_OK);
	status = scales_of(w, n, x, &have);
	show(w);
	assert_int_equal(status, QN_OK);
	assert_int_equal(qn_diag_count(w->ctx), 0); /* no warning either */
	assert_int_equal(have.n, want.n);
	assert_memory_equal(have.data, want.data, want.n);
	for (size_t i = 0; i < n; i++)
		qn_array_free(x[i]);
}

/* ---- every kind of source ---- */

static unsigned char
code(const world *w, size_t i)
{
	return (unsigned char)(w->pixels[i] * 16);
}

static void
test_bin_and_csv(void **state)
{
	static unsigned char codes[SAMPLES * PIXELS], little[SAMPLES * PIXELS * 4];
	static char text[SAMPLES * PIXELS * 12];
	const int64_t shape[] = {8, 8, 1};
	const double sixteen = 16;
	world *w = *state;
	size_t n = 0;

	put_little(little, w->pixels, sizeof little, 4);
	write_file(w, "x.bin", little, sizeof little);
	same_scales(w, in_folder(w, "x.bin"), &(qn_data_opts){.rank = 3, .shape = shape});
	for (size_t i = 0; i < sizeof codes; i++) {
		codes[i] = code(w, i);
		n += (size_t)snprintf(text + n, sizeof text - n, "%.9g%c", (double)w->pixels[i],
				      i % PIXELS == PIXELS - 1 ? '\n' : ',');
	}
	write_file(w, "x.bin", codes, sizeof codes);
	same_scales(w, in_folder(w, "x.bin"),
		    &(qn_data_opts){
			    .dtype = "u8", .rank = 3, .shape = shape, .nstd = 1, .std = &sixteen});
	write_file(w, "x.csv", text, n);
	same_scales(w, in_folder(w, "x.csv"), NULL);
	same_scales(w, in_folder(w, "x.csv"), &(qn_data_opts){.rank = 3, .shape = shape});
}

static void
test_pictures(void **state)
{
	static const char *const folders[] = {"png", "pgm"};
	const double zero = 0;
	world *w = *state;
	qn_array *x;
	size_t n;

	for (size_t k = 0; k < 2; k++) {
		assert_int_equal(mkdir(in_folder(w, folders[k]), 0777), 0);
		for (size_t i = 0; i < SAMPLES; i++) {
			unsigned char pixels[PIXELS];
			bytes b = {0};
			char name[32];

			for (size_t p = 0; p < PIXELS; p++)
				pixels[p] = code(w, i * PIXELS + p);
			(void)snprintf(name, sizeof name, "%s/%03d.%s", folders[k], (int)i,
				       folders[k]);
			if (k == 0) {
				put_png(&b, 8, 8, 8, 0, pixels);
			} else {
				put_bytes(&b, "P5 8 8 16\n", 10);
				put_bytes(&b, pixels, sizeof pixels);
			}
			write_file(w, name, b.data, b.n);
		}
	}
	same_scales(w, in_folder(w, "pgm"), &(qn_data_opts){.input_scale = 0.0625});
	same_scales(w, in_folder(w, "pgm"),
		    &(qn_data_opts){
			    .input_scale = 0.0625, .layout = QN_NCHW, .nmean = 1, .mean = &zero});
	(void)qn_samples_open(w->ctx, in_folder(w, "png"), NULL, 1, &x, &n);
	if (strcmp(id(w, 0), "image.support") == 0)
		skip();
	same_scales(w, in_folder(w, "png"), &(qn_data_opts){.input_scale = 0.0625});
}

static void
test_sounds(void **state)
{
	unsigned char samples[PIXELS * 4];
	world *w = *state;

	assert_int_equal(mkdir(in_folder(w, "wav"), 0777), 0);
	for (size_t i = 0; i < SAMPLES; i++) {
		bytes b = {0};
		char name[32];

		wav_begin(&b, 3, 8, 32, 8000, PIXELS * 4);
		put_little(samples, w->pixels + i * PIXELS, sizeof samples, 4);
		put_bytes(&b, samples, sizeof samples);
		(void)snprintf(name, sizeof name, "wav/%03d.wav", (int)i);
		write_file(w, name, b.data, b.n);
	}
	same_scales(w, in_folder(w, "wav"), NULL);
}

static int
give(void *user, size_t index, void *dst)
{
	const world *w = user;

	memcpy(dst, w->pixels + index * PIXELS, PIXELS * sizeof(float));
	return 0;
}

static int
refuse(void *user, size_t index, void *dst)
{
	return index == 150 ? 42 : give(user, index, dst);
}

static void
test_host(void **state)
{
	static bytes want, have;
	const int64_t shape[] = {SAMPLES, 8, 8, 1};
	world *w = *state;
	qn_array *x, *npy;

	assert_int_equal(qn_array_load(w->ctx, digits("calib.npy"), &npy), QN_OK);
	assert_int_equal(scales_of(w, 1, &npy, &want), QN_OK);
	assert_int_equal(qn_samples_new(w->ctx, "f32", 4, shape, "image", give, w, &x), QN_OK);
	assert_null(qn_array_data(x));
	assert_int_equal(qn_array_dim(x, 0), SAMPLES);
	assert_string_equal(qn_array_name(x), "image");
	assert_int_equal(scales_of(w, 1, &x, &have), QN_OK);
	assert_int_equal(have.n, want.n);
	assert_memory_equal(have.data, want.data, want.n);
	assert_int_equal(qn_array_save(x, in_folder(w, "x.npy")), QN_OK);
	assert_int_equal(qn_array_load(w->ctx, in_folder(w, "x.npy"), &npy), QN_OK);
	assert_memory_equal(qn_array_data(npy), w->pixels, sizeof w->pixels);
	assert_int_equal(qn_samples_new(w->ctx, "f32", 4, shape, NULL, refuse, w, &x), QN_OK);
	assert_int_equal(scales_of(w, 1, &x, &have), QN_EIO);
	assert_string_equal(id(w, 0), "data.callback");
	assert_non_null(strstr(qn_diag_get(w->ctx, 0).message, "sample 150"));
	assert_int_equal(qn_samples_new(w->ctx, "f32", 0, shape, NULL, give, w, &x), QN_EUSAGE);
	assert_null(x);
}

/* What goes wrong in a worker's thread is told too. */
static int
fail_later(void *user, size_t index, void *dst)
{
	int *left = user;

	memset(dst, 0, 4 * sizeof(float));
	return index == 5 && (*left)-- <= 0;
}

static void
test_worker_tells(void **state)
{
	static const char net[] = "model \"m\" stage float\ngraph @main(%x: tensor<1x4xf32>) {\n"
				  "  %y = relu %x\n  return %y\n}\n";
	const int64_t shape[] = {9, 4};
	world *w = *state;
	qn_model *m;
	qn_array *x, *y;
	int left = 1; /* the look at the samples goes well, the run does not */

	write_file(w, "m.qir", net, sizeof net - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
	assert_int_equal(qn_samples_new(w->ctx, "f32", 2, shape, NULL, fail_later, &left, &x),
			 QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_EIO);
	assert_int_equal(qn_diag_count(w->ctx), 1);
	assert_string_equal(id(w, 0), "data.callback");
}

/* Sample i is i+1, as often as the row is long. */
static int
give_number(void *user, size_t index, void *dst)
{
	float *v = dst;

	(void)user;
	for (int i = 0; i < 4; i++)
		v[i] = (float)(index + 1);
	return 0;
}

/* Inputs may take different numbers of samples: batch k is 2 of one and 3 of the other. */
static void
test_unequal_batches(void **state)
{
	static const char net[] = "model \"m\" stage float\n"
				  "graph @main(%a: tensor<2x4xf32>, %b: tensor<3x4xf32>) {\n"
				  "  %y = matmul %a, %b {transpose_b=1}\n  return %y\n}\n";
	const int64_t as[] = {4, 4}, bs[] = {6, 4};
	world *w = *state;
	qn_model *m;
	qn_array *x[2], *y;

	write_file(w, "m.qir", net, sizeof net - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
	assert_int_equal(qn_samples_new(w->ctx, "f32", 2, as, NULL, give_number, w, &x[0]), QN_OK);
	assert_int_equal(qn_samples_new(w->ctx, "f32", 2, bs, NULL, give_number, w, &x[1]), QN_OK);
	qn_status status = qn_run(m, 2, x, 1, 1, &y);
	show(w);
	assert_int_equal(status, QN_OK);
	assert_int_equal(qn_array_dim(y, 0), 4);
	const float *v = qn_array_data(y);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 3; j++)
			assert_true(v[3 * i + j] == (float)(4 * (i + 1) * (j + 1 + i / 2 * 3)));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_bin_and_csv), T(test_pictures),     T(test_sounds),
		T(test_host),        T(test_worker_tells), T(test_unequal_batches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
