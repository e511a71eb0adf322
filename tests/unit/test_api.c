/* SPDX-License-Identifier: Apache-2.0 */
/* test_api.c - the public interface, as a host program uses it: digits from file to files, and a
 * host that runs out of memory at every step. */
#define _POSIX_C_SOURCE 200809L /* mkdtemp */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "quern/measure.h"
#include "tests/unit/host_heap.h"
#include "tests/unit/top1.h"

static const char *
digits(const char *name)
{
	static char path[512];
	const char *source = getenv("QUERN_SOURCE");

	(void)snprintf(path, sizeof path, "%s/examples/digits/%s", source != NULL ? source : ".",
		       name);
	return path;
}

static void
remove_folder(const char *folder)
{
	static const char *const ends[] = {".h",    ".c",          "_weights.c",
					   "_io.h", "_selftest.c", ".report.json"};
	char path[600];

	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		(void)snprintf(path, sizeof path, "%s/digits%s", folder, ends[i]);
		(void)unlink(path);
	}
	(void)rmdir(folder);
}

static void
show(const qn_ctx *ctx)
{
	for (size_t i = 0; i < qn_diag_count(ctx); i++)
		print_message("%s: %s [%s]\n", qn_diag_get(ctx, i).place,
			      qn_diag_get(ctx, i).message, qn_diag_get(ctx, i).id);
}

/* Load, compile, emit. */
static qn_status
whole_job(qn_ctx *ctx, const char *folder)
{
	qn_model *m;
	qn_array *calib;
	qn_emit_info info;
	qn_status status = qn_load(ctx, digits("digits.json"), &m);

	if (status == QN_OK)
		status = qn_array_load(ctx, digits("calib.npy"), &calib);
	if (status == QN_OK)
		status = qn_compile(m, &(qn_compile_opts){.calib = &calib, .ncalib = 1});
	if (status == QN_OK)
		status = qn_emit(m, folder,
				 &(qn_emit_opts){.test = &calib, .ntest = 1, .test_samples = 1},
				 &info);
	if (status == QN_OK)
		assert_string_equal(info.files,
				    ".h, .c, _weights.c, _io.h, _selftest.c, .report.json");
	return status;
}

static void
test_whole_job(void **state)
{
	char folder[] = "/tmp/quern-api-XXXXXX";
	heap h = {0};
	qn_ctx *ctx = qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = &h});

	(void)state;
	assert_non_null(ctx);
	assert_non_null(mkdtemp(folder));
	qn_status status = whole_job(ctx, folder);
	show(ctx);
	assert_int_equal(status, QN_OK);
	qn_close(ctx);
	assert_int_equal(h.live, 0); /* all sizes given back are those that were asked for */
	remove_folder(folder);
}

/* Every allocation of the job fails once: a status, no crash, no leak, no file. */
static void
test_memory_runs_out(void **state)
{
	char folder[] = "/tmp/quern-api-XXXXXX";
	qn_status status = QN_ENOMEM;

	(void)state;
	assert_non_null(mkdtemp(folder));
	(void)rmdir(folder);
	for (size_t n = 1; status != QN_OK; n++) {
		heap h = {.fail_at = n};
		qn_ctx *ctx = qn_open(&(qn_config){.alloc = host_alloc, .alloc_user = &h});
		struct stat there;

		assert_true(n < 100000);
		status = ctx != NULL ? whole_job(ctx, folder) : QN_ENOMEM;
		qn_close(ctx);
		assert_int_equal(h.live, 0);
		if (status != QN_OK)
			assert_int_not_equal(stat(folder, &there), 0);
		assert_true(status == QN_OK || status == QN_ENOMEM);
	}
	remove_folder(folder);
}

static void
test_run_and_evaluate(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	qn_array *calib, *x, *labels, *codes, *real;
	top1 before, after;

	(void)state;
	assert_int_equal(qn_load(ctx, digits("digits.json"), &m), QN_OK);
	assert_string_equal(qn_model_stage(m), "float");
	assert_int_equal(qn_array_load(ctx, digits("calib.npy"), &calib), QN_OK);
	assert_int_equal(qn_array_load(ctx, digits("test_x.npy"), &x), QN_OK);
	assert_int_equal(qn_array_load(ctx, digits("test_y.npy"), &labels), QN_OK);
	assert_int_equal(top1_of(m, x, labels, &before), QN_OK);
	assert_int_equal(qn_compile(m, &(qn_compile_opts){.calib = &calib, .ncalib = 1}), QN_OK);
	assert_string_equal(qn_model_stage(m), "integer");
	assert_int_equal(top1_of(m, x, labels, &after), QN_OK);
	assert_int_equal(before.samples, 500);
	/* integer accuracy within 0.5 points of float */
	assert_true(before.correct <= after.correct + 2);
	assert_true(before.correct >= 485);

	assert_int_equal(qn_run(m, 1, &x, 0, 1, &codes), QN_OK);
	assert_int_equal(qn_run(m, 1, &x, 1, 1, &real), QN_OK);
	assert_string_equal(qn_array_dtype(codes), "i8");
	assert_string_equal(qn_array_dtype(real), "f32");
	assert_int_equal(qn_array_dim(real, 0), 500);
	for (int i = 0; i < 5000; i++) {
		float want = (float)(((const int8_t *)qn_array_data(codes))[i] + 128) / 256.0f;

		assert_true(((const float *)qn_array_data(real))[i] == want);
	}
	qn_close(ctx);
}

static void
expect(qn_ctx *ctx, qn_status want, qn_status have, const char *id)
{
	show(ctx);
	assert_int_equal(have, want);
	assert_true(qn_diag_count(ctx) > 0);
	assert_string_equal(qn_diag_get(ctx, 0).id, id);
	qn_diag_clear(ctx);
}

static void
test_errors(void **state)
{
	qn_ctx *ctx = qn_open(NULL);
	qn_model *m;
	qn_array *x;
	const int64_t shape[1] = {-1};

	(void)state;
	expect(ctx, QN_EIO, qn_load(ctx, "/nonexistent/m.json", &m), "file.open");
	assert_null(m);
	expect(ctx, QN_EIO, qn_load(ctx, "/nonexistent/m.bin", &m), "file.open");
	expect(ctx, QN_EUSAGE, qn_load(ctx, "README.md", &m), "model.format");
	expect(ctx, QN_EUSAGE, qn_array_new(ctx, "f31", 0, NULL, "", &x), "array.dtype");
	expect(ctx, QN_EUSAGE, qn_array_new(ctx, "f32", 1, shape, "", &x), "array.shape");
	assert_int_equal(qn_load(ctx, digits("digits.json"), &m), QN_OK);
	expect(ctx, QN_EUSAGE, qn_compile(m, &(qn_compile_opts){.stop_after = "nothing"}),
	       "pass.unknown");
	expect(ctx, QN_EINVALID, qn_compile(m, NULL), "calibrate.no-data");
	expect(ctx, QN_EINVALID, qn_emit(m, "/tmp/quern-never", NULL, NULL), "emit.stage");
	/* the failed calibration left the model as the pass before did */
	assert_string_equal(qn_model_stage(m), "symbolic");
	expect(ctx, QN_EUSAGE, qn_compile(m, &(qn_compile_opts){.scheme = QN_RFC}), "option.late");
	expect(ctx, QN_EUSAGE,
	       qn_compile(m, &(qn_compile_opts){.weight_method = (qn_weight_method)7}),
	       "option.range");
	for (int block = -3; block <= QN_WEIGHT_BLOCK_MOST + 1; block += QN_WEIGHT_BLOCK_MOST + 4) {
		qn_diag_clear(ctx);
		assert_int_equal(qn_compile(m, &(qn_compile_opts){.weight_block = block}),
				 QN_EUSAGE);
		assert_string_equal(qn_diag_get(ctx, 0).place, "weight-block");
		assert_non_null(strstr(qn_diag_get(ctx, 0).message, "expected 8 to 65536 weights"));
	}
	qn_diag_clear(ctx);
	expect(ctx, QN_EUSAGE, qn_print(m, QN_FORMAT_IR, NULL, NULL), "array.null");
	expect(ctx, QN_EUSAGE, qn_save(m, "/tmp/model.qir", 1), "model.format");
	assert_null(qn_model_output_type(m, 1));
	qn_close(ctx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_job),
		cmocka_unit_test(test_memory_runs_out),
		cmocka_unit_test(test_run_and_evaluate),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
