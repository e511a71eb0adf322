/* SPDX-License-Identifier: Apache-2.0 */
/* test_labels.c - labels of tables, by column and by the names of files, and those of subfolders. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#endif

#include "tests/unit/samples_rig.h"
#include "quern/measure.h"

#include <string.h>

static qn_status
labels_of(world *w, const char *text, const char *column, const qn_array *samples, qn_array **out)
{
	qn_diag_clear(w->ctx);
	write_file(w, "y.csv", text, strlen(text));
	return qn_labels_open(w->ctx, in_folder(w, "y.csv"), column, samples, out);
}

static void
labels_are(const qn_array *x, size_t n, const int64_t *want)
{
	assert_string_equal(qn_array_dtype(x), "i64");
	assert_int_equal(qn_array_dim(x, 0), n);
	assert_memory_equal(qn_array_data(x), want, n * sizeof *want);
}

static void
labels_from_tables(void **state)
{
	static const char plain[] = "b.bin, 12, 7\na.bin, 12, 0\n";
	static const char named[] = "label;file;other\n3;x;4\n1;y;5\n";
	world *w = *state;
	qn_array *x;
	const struct {
		const char *text, *column, *id;
	} bad[] = {
		{plain, "4", "labels.column"},
		{plain, "0", "labels.column"},
		{plain, "label", "labels.column"},
		{named, "class", "labels.column"},
		{plain, "1", "labels.number"},
		{"1,-2\n", NULL, "labels.number"},
		{"1,0.5\n", NULL, "labels.number"},
		{"1,1e10\n", NULL, "labels.number"},
		{"", NULL, "csv.empty"},
	};

	assert_int_equal(labels_of(w, plain, NULL, NULL, &x), QN_OK);
	labels_are(x, 2, (int64_t[]){7, 0});
	assert_int_equal(labels_of(w, plain, "2", NULL, &x), QN_OK);
	labels_are(x, 2, (int64_t[]){12, 12});
	assert_int_equal(labels_of(w, named, NULL, NULL, &x), QN_OK);
	labels_are(x, 2, (int64_t[]){3, 1});
	assert_int_equal(labels_of(w, named, "other", NULL, &x), QN_OK);
	labels_are(x, 2, (int64_t[]){4, 5});
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		assert_true(labels_of(w, bad[i].text, bad[i].column, NULL, &x) != QN_OK);
		assert_null(x);
		assert_string_equal(id(w, 0), bad[i].id);
	}
	assert_int_equal(qn_labels_open(w->ctx, digits("test_y.npy"), NULL, NULL, &x), QN_OK);
	assert_int_equal(qn_array_dim(x, 0), 500);
	qn_diag_clear(w->ctx);
	assert_int_equal(qn_labels_open(w->ctx, digits("test_y.npy"), "1", NULL, &x), QN_EUSAGE);
	assert_string_equal(id(w, 0), "labels.column");
}

static void
picture(world *w, const char *name)
{
	write_file(w, name, "P2 1 1 9\n5\n", 11);
}

static void
labels_by_file_name(void **state)
{
	world *w = *state;
	char folder[256];
	qn_array *x, *y;
	size_t n;

	(void)snprintf(folder, sizeof folder, "%s", in_folder(w, "pictures"));
	assert_int_equal(mkdir(folder, 0777), 0);
	picture(w, "pictures/a.pgm");
	picture(w, "pictures/b.pgm");
	assert_int_equal(qn_samples_open(w->ctx, folder, NULL, 1, &x, &n), QN_OK);
	assert_null(qn_array_class(x, 0));
	assert_int_equal(qn_array_has_labels(x), 0);
	assert_int_equal(labels_of(w, "file,label\nb.pgm,4\nz.pgm,9\na.pgm,2\n", NULL, x, &y),
			 QN_OK);
	labels_are(y, 2, (int64_t[]){2, 4});
	assert_int_equal(labels_of(w, "file,label\npictures/b.pgm,4\na.pgm,2\n", NULL, x, &y),
			 QN_OK);
	labels_are(y, 2, (int64_t[]){2, 4});
	assert_int_equal(labels_of(w, "file,label\nb.pgm,4\n", NULL, x, &y), QN_EINVALID);
	assert_string_equal(id(w, 0), "labels.missing");
	assert_int_equal(labels_of(w, "a.pgm,1\nb.pgm,4\na.pgm,2\n", NULL, x, &y), QN_EINVALID);
	assert_string_equal(id(w, 0), "labels.twice");
	assert_int_equal(labels_of(w, "1\n2\n", NULL, x, &y), QN_OK); /* no names: by row */
	labels_are(y, 2, (int64_t[]){1, 2});
}

static void
classes_have_names(void **state)
{
	world *w = *state;
	char folder[256];
	qn_array *x;
	size_t n;

	(void)snprintf(folder, sizeof folder, "%s", in_folder(w, "by-class"));
	assert_int_equal(mkdir(folder, 0777), 0);
	assert_int_equal(mkdir(in_folder(w, "by-class/dog"), 0777), 0);
	assert_int_equal(mkdir(in_folder(w, "by-class/cat"), 0777), 0);
	picture(w, "by-class/dog/a.pgm");
	picture(w, "by-class/cat/b.pgm");
	assert_int_equal(qn_samples_open(w->ctx, folder, NULL, 1, &x, &n), QN_OK);
	assert_string_equal(qn_array_class(x, 0), "cat");
	assert_string_equal(qn_array_class(x, 1), "dog");
	assert_null(qn_array_class(x, 2));
	assert_int_equal(qn_array_has_labels(x), 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(labels_from_tables),
		T(labels_by_file_name),
		T(classes_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
