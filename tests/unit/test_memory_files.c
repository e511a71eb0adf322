/* SPDX-License-Identifier: Apache-2.0 */
/* test_memory_files.c - a host without a file system: models with the files that they name, samples,
 * labels, statistics and recipes from memory and from a callback; what is written, to a callback.  All
 * give what the files give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "quern/calibrate.h"
#include "quern/measure.h"
#include "tests/unit/top1.h"

/* Files by name; those that the library writes are added. */
typedef struct file {
	char path[64];
	void *data;
	size_t n;
} file;

typedef struct store {
	file f[32];
	size_t n, asked;
} store;

static const char *const examples[] = {"digits.json", "digits.safetensors", "calib.npy",
				       "test_x.npy", "test_y.npy"};

static void
put(store *s, const char *path, const void *data, size_t n)
{
	file *f = &s->f[s->n];

	assert_true(s->n < sizeof s->f / sizeof s->f[0]);
	(void)snprintf(f->path, sizeof f->path, "%s", path);
	f->data = malloc(n + 1);
	assert_non_null(f->data);
	memcpy(f->data, data, n);
	f->n = n;
	s->n++;
}

static const file *
get(const store *s, const char *path)
{
	for (size_t i = s->n; i > 0; i--)
		if (strcmp(s->f[i - 1].path, path) == 0)
			return &s->f[i - 1];
	return NULL;
}

static void
drop(store *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->f[i].data);
	s->n = 0;
}

/* The example's files, as memory of the host. */
static store
example(void)
{
	store s = {.n = 0};

	for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
		static char bytes[1 << 21];
		char path[500];

		(void)snprintf(path, sizeof path, "examples/digits/%s", examples[i]);
		FILE *in = fopen(path, "rb");
		assert_non_null(in);
		const size_t n = fread(bytes, 1, sizeof bytes, in);
		assert_true(n > 0 && n < sizeof bytes);
		(void)fclose(in);
		put(&s, examples[i], bytes, n);
	}
	return s;
}

static int
read_store(void *user, const char *path, const void **data, size_t *n)
{
	store *s = user;
	const file *f = get(s, path);

	s->asked++;
	if (f == NULL)
		return QN_FILE_UNKNOWN;
	*data = f->data;
	*n = f->n;
	return QN_FILE_FOUND;
}

static int
write_store(void *user, const char *path, const void *data, size_t n)
{
	put(user, path, data, n);
	return 0;
}

static int
append(void *user, const char *name, const char *text, size_t n)
{
	uint32_t *sum = user;

	(void)name;
	for (size_t i = 0; i < n; i++)
		*sum = *sum * 31 + (unsigned char)text[i];
	return 0;
}

/* Loads, compiles, measures and emits the example: a hash of all that is emitted. */
static uint32_t
compile_digits(qn_ctx *ctx, const char *folder)
{
	char path[5][500];
	qn_model *m;
	qn_array *calib, *x, *labels;
	uint32_t sum = 7;
	top1 t;
	size_t n;

	for (size_t i = 0; i < 5; i++)
		(void)snprintf(path[i], sizeof path[i], "%s%s", folder, examples[i]);
	assert_int_equal(qn_load(ctx, path[0], &m), QN_OK);
	assert_int_equal(qn_samples_open(ctx, path[2], NULL, 1, &calib, &n), QN_OK);
	assert_int_equal(qn_array_load(ctx, path[3], &x), QN_OK);
	assert_int_equal(qn_labels_open(ctx, path[4], NULL, NULL, &labels), QN_OK);
	assert_int_equal(qn_compile(m, &(qn_compile_opts){.calib = &calib, .ncalib = 1}), QN_OK);
	assert_int_equal(top1_of(m, x, labels, &t), QN_OK);
	assert_true(t.samples == 500 && t.correct >= 480);
	assert_int_equal(qn_emit_to(m, NULL, append, &sum, NULL), QN_OK);
	return sum;
}

static uint32_t
from_disk(void)
{
	qn_ctx *ctx = qn_open(NULL);
	const uint32_t sum = compile_digits(ctx, "examples/digits/");

	qn_close(ctx);
	return sum;
}

static void
reads_what_was_added(void **state)
{
	store s = example();
	qn_ctx *ctx = qn_open(NULL);

	(void)state;
	for (size_t i = 0; i < s.n; i++)
		assert_int_equal(qn_file_add(ctx, s.f[i].path, s.f[i].data, s.f[i].n), QN_OK);
	assert_int_equal(compile_digits(ctx, ""), from_disk());
	/* a path that is removed is no file any more; the newest bytes of one count */
	qn_model *m;
	assert_int_equal(qn_file_add(ctx, "digits.json", "{", 1), QN_OK);
	assert_int_equal(qn_load(ctx, "digits.json", &m), QN_EINVALID);
	qn_diag_clear(ctx);
	assert_int_equal(qn_file_remove(ctx, "digits.json"), 1);
	assert_int_equal(qn_file_remove(ctx, "digits.json"), 0);
	assert_int_equal(qn_load(ctx, "digits.json", &m), QN_EIO);
	assert_string_equal(qn_diag_get(ctx, 0).id, "file.open");
	qn_diag_clear(ctx);
	assert_int_equal(qn_file_add(ctx, "", "x", 1), QN_EUSAGE);
	assert_int_equal(qn_file_add(ctx, "x", NULL, 1), QN_EUSAGE);
	assert_string_equal(qn_diag_get(ctx, 0).id, "file.add");
	assert_string_equal(qn_diag_get(ctx, 1).id, "array.null");
	qn_close(ctx);
	drop(&s);
}

static void
reads_through_a_callback(void **state)
{
	store s = example();
	const qn_config config = {.read_file = read_store, .files_user = &s, .threads = 2};
	qn_ctx *ctx = qn_open(&config);
	qn_model *m;

	(void)state;
	assert_int_equal(compile_digits(ctx, ""), from_disk());
	assert_true(s.asked >= 5);
	/* what the callback does not know is a file of the file system, or none */
	assert_int_equal(compile_digits(ctx, "examples/digits/"), from_disk());
	assert_int_equal(qn_load(ctx, "unknown.json", &m), QN_EIO);
	assert_string_equal(qn_diag_get(ctx, 0).id, "file.open");
	qn_close(ctx);
	drop(&s);
}

static int
failing(void *user, const char *path, const void **data, size_t *n)
{
	(void)path;
	*data = NULL;
	*n = 5;
	return *(const int *)user;
}

static void
reports_a_callback_that_fails(void **state)
{
	const int results[] = {QN_FILE_FOUND, -1, 2}; /* found, but no bytes */

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		int result = results[i];
		qn_ctx *ctx = qn_open(&(qn_config){.read_file = failing, .files_user = &result});
		qn_array *x;

		assert_int_equal(qn_array_load(ctx, "x.npy", &x), QN_EIO);
		assert_string_equal(qn_diag_get(ctx, 0).id, "file.read");
		assert_string_equal(qn_diag_get(ctx, 0).place, "x.npy");
		qn_close(ctx);
	}
}

/* The limit of a file holds for the host's bytes too. */
static void
keeps_to_the_limit(void **state)
{
	qn_ctx *ctx = qn_open(&(qn_config){.limits = {.bytes = 3}});
	qn_array *x;

	(void)state;
	assert_int_equal(qn_file_add(ctx, "x.npy", "1234", 4), QN_OK);
	assert_int_equal(qn_array_load(ctx, "x.npy", &x), QN_EBUDGET);
	assert_string_equal(qn_diag_get(ctx, 0).id, "limit.bytes");
	qn_close(ctx);
}

static void
writes_to_a_callback(void **state)
{
	store s = example();
	const qn_config config = {
		.read_file = read_store, .write_file = write_store, .files_user = &s};
	qn_ctx *ctx = qn_open(&config);
	qn_model *m, *again;
	qn_array *calib;
	qn_stats *part, *stats;
	const uint32_t want = from_disk();

	(void)state;
	assert_int_equal(qn_load(ctx, "digits.json", &m), QN_OK);
	assert_int_equal(qn_array_load(ctx, "calib.npy", &calib), QN_OK);
	qn_compile_opts o = {.calib = &calib, .ncalib = 1};
	assert_int_equal(qn_calibrate(m, &o, 0, 0, &part), QN_OK);
	assert_int_equal(qn_stats_complete(part), 1);
	assert_int_equal(qn_stats_save(part, "digits.stats"), QN_OK);
	assert_int_equal(qn_stats_load(ctx, "digits.stats", &stats), QN_OK);
	assert_int_equal(qn_compile(m, &(qn_compile_opts){.stats = stats}), QN_OK);
	assert_int_equal(qn_save(m, "out/net.json", 1), QN_OK);
	assert_non_null(get(&s, "out/net.safetensors"));
	assert_int_equal(qn_load(ctx, "out/net.json", &again), QN_OK);
	assert_string_equal(qn_model_stage(again), "integer");
	/* the same files as on the disk, in whole pieces */
	assert_int_equal(qn_emit(m, "c", NULL, NULL), QN_OK);
	uint32_t sum = 7;
	for (size_t i = 0; i < s.n; i++)
		if (strncmp(s.f[i].path, "c/", 2) == 0)
			(void)append(&sum, "", s.f[i].data, s.f[i].n);
	assert_int_equal(sum, want);
	assert_int_equal(qn_write_file(ctx, "note.txt", "", 0), QN_OK);
	assert_int_equal(get(&s, "note.txt")->n, 0);
	qn_close(ctx);
	drop(&s);
}

static void
takes_recipes_from_memory(void **state)
{
	static const char recipe[] = "{\"rules\": [{\"name\": \"conv1\", \"skip\": true}]}";
	store s = example();
	qn_ctx *ctx = qn_open(&(qn_config){.read_file = read_store, .files_user = &s});
	qn_compile_opts o = {.recipe_file = "r.json", .stop_after = "quantize"};
	qn_model *m;

	(void)state;
	put(&s, "r.json", recipe, strlen(recipe));
	assert_int_equal(qn_load(ctx, "digits.json", &m), QN_OK);
	assert_int_equal(qn_compile(m, &o), QN_OK);
	qn_close(ctx);
	drop(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_was_added),
		cmocka_unit_test(reads_through_a_callback),
		cmocka_unit_test(reports_a_callback_that_fails),
		cmocka_unit_test(keeps_to_the_limit),
		cmocka_unit_test(writes_to_a_callback),
		cmocka_unit_test(takes_recipes_from_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
