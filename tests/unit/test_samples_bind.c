/* SPDX-License-Identifier: Apache-2.0 */
/* Samples are bound to their inputs, scaled and labelled. */
#define _POSIX_C_SOURCE 200809L

#include "tests/unit/samples_rig.h"
#include "quern/measure.h"
#include "tests/unit/top1.h"

/* ---- what is for which input ---- */

static const char two[] = "model \"m\" stage float\ngraph @main(%a: tensor<1x2xf32>, %b: "
			  "tensor<1x2xf32>) {\n  %y = sub %a, %b\n  return %y\n}\n";

static void
test_names(void **state)
{
	world *w = *state;
	qn_model *m;
	qn_array *x[3], *y;
	size_t n;

	write_file(w, "m.qir", two, sizeof two - 1);
	write_file(w, "a.csv", "1,2\n", 4);
	write_file(w, "b.csv", "10,20\n", 6);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "b.csv"),
					 &(qn_data_opts){.input = "b"}, 1, &x[0], &n),
			 QN_OK);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "a.csv"), NULL, 1, &x[1], &n), QN_OK);
	assert_int_equal(qn_run(m, 2, x, 0, 1, &y), QN_OK); /* b by name, a is what is left */
	assert_true(((const float *)qn_array_data(y))[1] == -18);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "a.csv"),
					 &(qn_data_opts){.input = "c"}, 1, &x[1], &n),
			 QN_OK);
	assert_int_equal(qn_run(m, 2, x, 0, 1, &y), QN_EINVALID);
	assert_string_equal(id(w, 0), "data.input");
	qn_diag_clear(w->ctx);
	x[1] = x[0];
	assert_int_equal(qn_run(m, 2, x, 0, 1, &y), QN_EINVALID);
	assert_string_equal(id(w, 0), "data.input");
	qn_diag_clear(w->ctx);
	assert_int_equal(qn_run(m, 1, x, 0, 1, &y), QN_EINVALID);
	assert_string_equal(id(w, 0), "data.input");
}

/* Members by name, in any order; one that no input is called like stays unused. */
static void
test_npz_names(void **state)
{
	const int64_t shape[] = {1, 2};
	static const char *const member[] = {"b.npy", "label.npy", "a.npy"};
	const float v[3][2] = {{10, 20}, {7, 7}, {1, 2}};
	world *w = *state;
	zip_entry e[3];
	static bytes file[3];
	bytes zip = {0};
	qn_model *m;
	qn_array *x[MOST], *y;
	size_t n;

	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(qn_array_new(w->ctx, "f32", 2, shape, v[i], &x[0]), QN_OK);
		assert_int_equal(qn_array_save(x[0], in_folder(w, "t.npy")), QN_OK);
		FILE *f = fopen(w->path, "rb");
		file[i].n = fread(file[i].data, 1, sizeof file[i].data, f);
		(void)fclose(f);
		e[i] = (zip_entry){member[i],
				   file[i].data,
				   file[i].n,
				   file[i].n,
				   qn_crc32(0, file[i].data, file[i].n),
				   0,
				   0};
	}
	put_zip(&zip, e, 3);
	write_file(w, "x.npz", zip.data, zip.n);
	write_file(w, "m.qir", two, sizeof two - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
	qn_status status = qn_samples_open(w->ctx, in_folder(w, "x.npz"), NULL, MOST, x, &n);
	if (status == QN_EUNSUPPORTED)
		skip();
	show(w);
	assert_int_equal(status, QN_OK);
	assert_int_equal(n, 3);
	assert_string_equal(qn_array_name(x[1]), "label");
	assert_int_equal(qn_run(m, n, x, 0, 1, &y), QN_OK);
	assert_true(((const float *)qn_array_data(y))[1] == -18);
	qn_array_free(x[0]); /* each stands for itself */
	assert_int_equal(qn_run(m, 2, x + 1, 0, 1, &y), QN_EINVALID);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "x.npz"), NULL, 2, x, &n), QN_EUSAGE);
	assert_int_equal(n, 0);
}

/* (value * scale - mean) / std by channel, channels last and first. */
static void
test_values(void **state)
{
	static const char net[] = "model \"m\" stage float\ngraph @main(%%x: tensor<1x%s>) {\n"
				  "  %%y = relu %%x\n  return %%y\n}\n";
	const double mean[] = {1, 2, 3}, std[] = {1, 2, 4};
	const float want[2][6] = {{4, 4, 3.75f, 19, 14, 8.25f}, {4, 19, 4, 14, 3.75f, 8.25f}};
	world *w = *state;
	char text[256];

	write_file(w, "x.ppm", "P3 2 1 255 10 20 36 40 60 72", 28);
	for (int k = 0; k < 2; k++) {
		qn_data_opts opts = {.input_scale = 0.5,
				     .nmean = 3,
				     .mean = mean,
				     .nstd = 3,
				     .std = std,
				     .layout = (qn_data_layout)k};
		qn_model *m;
		qn_array *x, *y;
		size_t n;

		int length = snprintf(text, sizeof text, net, k == 0 ? "1x2x3xf32" : "3x1x2xf32");
		write_file(w, "m.qir", text, (size_t)length);
		assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
		assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "x.ppm"), &opts, 1, &x, &n),
				 QN_OK);
		assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_OK);
		assert_memory_equal(qn_array_data(y), want[k], sizeof want[k]);
		opts.nmean = 2;
		assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "x.ppm"), &opts, 1, &x, &n),
				 QN_EINVALID);
		assert_string_equal(id(w, 0), "data.channels");
		qn_diag_clear(w->ctx);
	}
}

/* Classes from subfolders. */
/* A state that has another dimension 0 than the data: its samples lie along its own, or have one more dimension; so do
 * results. */
static void
test_state(void **state)
{
	static const char text[] = "model \"m\" stage float\n"
				   "graph @main(%h: tensor<2x1x3xf32>, %x: tensor<1x3xf32>) {\n"
				   "  %a = slice %h {begin=[0,0,0], end=[1,1,3]}\n"
				   "  %r = reshape %a {shape=[1,3]}\n"
				   "  %y = add %x, %r\n  %n = add %h, %a\n"
				   "  return %y, %n\n}\n";
	static const struct {
		int rank;
		int64_t shape[4];
		const char *id;
	} rows[] = {
		{3, {8, 1, 3}, NULL},
		{4, {4, 2, 1, 3}, NULL},
		{4, {8, 1, 1, 3}, NULL},
		{2, {8, 3}, NULL},
		{4, {4, 1, 2, 3}, "data.shape"},
		{3, {7, 1, 3}, "data.remainder"},
		{3, {2, 1, 3}, "data.count"},
	};
	world *w = *state;
	float h[24], x[12];
	qn_model *m;
	qn_array *samples;

	for (int i = 0; i < 24; i++)
		h[i] = (float)(i % 7) - 3;
	for (int i = 0; i < 12; i++)
		x[i] = (float)i;
	write_file(w, "m.qir", text, sizeof text - 1);
	assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
	assert_int_equal(qn_array_new(w->ctx, "f32", 2, (const int64_t[]){4, 3}, x, &samples),
			 QN_OK);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		qn_array *before, *out[2];

		assert_int_equal(
			qn_array_new(w->ctx, "f32", rows[i].rank, rows[i].shape, h, &before),
			QN_OK);
		qn_array *in[] = {before, samples};
		if (rows[i].id != NULL) {
			assert_int_equal(qn_run(m, 2, in, 0, 2, out), QN_EINVALID);
			assert_string_equal(qn_diag_get(w->ctx, 0).id, rows[i].id);
			if (i == 6)
				assert_non_null(strstr(qn_diag_get(w->ctx, 0).message,
						       "--input-value h=FILE.npy"));
			qn_diag_clear(w->ctx);
			continue;
		}
		assert_int_equal(qn_run(m, 2, in, 0, 2, out), QN_OK);
		assert_int_equal(qn_array_dim(out[0], 0), 4);
		assert_int_equal(qn_array_dim(out[1], 0), 8);
		const float *y = qn_array_data(out[0]), *next = qn_array_data(out[1]);
		for (int s = 0; s < 4; s++)
			for (int k = 0; k < 3; k++) {
				assert_true(y[s * 3 + k] == x[s * 3 + k] + h[s * 6 + k]);
				assert_true(next[s * 6 + 3 + k] == h[s * 6 + 3 + k] + h[s * 6 + k]);
			}
		const qn_compile_opts opts = {.calib = in, .ncalib = 2, .stop_after = "calibrate"};
		qn_model *copy;
		assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &copy), QN_OK);
		assert_int_equal(qn_compile(copy, &opts), QN_OK);
		assert_int_equal(qn_diag_count(w->ctx), 1);
		assert_string_equal(id(w, 0), "data.few");
		qn_diag_clear(w->ctx);
	}
}

static void
test_labels(void **state)
{
	static const char net[] =
		"model \"m\" stage float\ngraph @main(%x: tensor<1x3x1x1xf32>) {\n"
		"  %y = flatten %x\n  return %y\n}\n";
	world *w = *state;
	top1 a;
	qn_model *m;
	qn_array *x;
	size_t n;
	const qn_data_opts as_they_are = {.input_scale = 1};

	for (int c = 0; c < 3; c++) {
		char name[32];

		(void)snprintf(name, sizeof name, "f%d", c);
		if (c == 0)
			assert_int_equal(mkdir(in_folder(w, "data"), 0777), 0);
		(void)snprintf(name, sizeof name, "data/%c", "abc"[c]);
		assert_int_equal(mkdir(in_folder(w, name), 0777), 0);
		(void)snprintf(name, sizeof name, "data/%c/x.pgm", "abc"[c]);
		write_file(w, name,
			   c == 0   ? "P2 1 3 9 9 1 0"
			   : c == 1 ? "P2 1 3 9 1 9 0"
				    : "P2 1 3 9 9 0 1",
			   14);
	}
	write_file(w, "m.qir", net, sizeof net - 1);
	qn_status status = qn_load(w->ctx, in_folder(w, "m.qir"), &m);
	show(w);
	assert_int_equal(status, QN_OK);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "data"), &as_they_are, 1, &x, &n),
			 QN_OK);
	assert_int_equal(top1_of(m, x, NULL, &a), QN_OK);
	assert_int_equal(a.samples, 3);
	assert_int_equal(a.correct, 2);
	assert_int_equal(qn_samples_open(w->ctx, in_folder(w, "data/a"), &as_they_are, 1, &x, &n),
			 QN_OK);
	assert_int_equal(top1_of(m, x, NULL, &a), QN_EUSAGE);
	assert_string_equal(id(w, 0), "data.labels");
}

/* Pixels mean the same in every kind of file: integers, which a float input takes only with a statement of what they
 * stand for, and an input of their own type as they are. */
static void
test_pixels(void **state)
{
	static const char net[] = "model \"m\" stage %s\ngraph @main(%%x: tensor<1x1x3x1x%s>) {\n"
				  "  %%y = flatten %%x\n  return %%y\n}\n";
	static const char header[] = "\x93NUMPY\1\0\x4d\0{'descr': '|u1', 'fortran_order': False, "
				     "'shape': (1, 1, 3, 1)}             \n";
	static const char *const file[] = {"p.pgm", "p.npy", "p.bin"};
	static const int64_t shape[] = {1, 3, 1};
	static const uint8_t pixel[] = {0, 7, 255};
	world *w = *state;
	char text[256];
	unsigned char npy[sizeof header + 2];

	write_file(w, "p.pgm", "P5 3 1 255\n\0\7\xff", 14);
	write_file(w, "p.bin", pixel, 3);
	memcpy(npy, header, sizeof header - 1);
	memcpy(npy + sizeof header - 1, pixel, 3);
	write_file(w, "p.npy", npy, sizeof npy);
	for (int k = 0; k < 6; k++) {
		const bool bin = k % 3 == 2, real = k < 3;
		qn_data_opts o = {.dtype = bin ? "u8" : NULL,
				  .rank = bin ? 3 : 0,
				  .shape = bin ? shape : NULL};
		const int length = snprintf(text, sizeof text, net, real ? "float" : "integer",
					    real ? "f32" : "!quant.uniform<u8:f32, 0.5:3>");
		qn_model *m;
		qn_array *x, *y;
		size_t n;

		write_file(w, "m.qir", text, (size_t)length);
		assert_int_equal(qn_load(w->ctx, in_folder(w, "m.qir"), &m), QN_OK);
		assert_int_equal(qn_samples_open(w->ctx, in_folder(w, file[k % 3]), &o, 1, &x, &n),
				 QN_OK);
		assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), real ? QN_EINVALID : QN_OK);
		if (real) {
			assert_string_equal(id(w, 0), "data.type");
			assert_non_null(
				strstr(qn_diag_get(w->ctx, 0).message, "if they are pixels"));
			qn_diag_clear(w->ctx);
			o.input_scale = 1;
			assert_int_equal(
				qn_samples_open(w->ctx, in_folder(w, file[k % 3]), &o, 1, &x, &n),
				QN_OK);
			assert_int_equal(qn_run(m, 1, &x, 0, 1, &y), QN_OK);
			assert_memory_equal(qn_array_data(y), ((const float[]){0, 7, 255}), 12);
		} else {
			assert_memory_equal(qn_array_data(y), pixel, 3);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(test_names), T(test_npz_names), T(test_values),
		T(test_state), T(test_labels),    T(test_pixels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
