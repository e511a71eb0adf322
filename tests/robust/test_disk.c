/* SPDX-License-Identifier: Apache-2.0 */
/* test_disk.c - every system call of a job that touches a file fails once: QN_EIO with the file
 * and the system's reason, each output whole or not there, nothing left behind.
 *
 *   emit: open open write fsync close …  rename rename rename
 *   run 1  x                             ENOENT …
 *   run 9                                x       the renames before are taken back */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/robust/disk.h"
#include "tests/robust/job.h"

static workshop w;

/* What an error means to the job: EINTR is tried again (open, read, write, fsync) or means done (close). */
typedef enum outcome {
	FAILS,
	HARMLESS,
	EITHER /* depending on what the file is for */
} outcome;

static const struct {
	disk_call call;
	int error;
	outcome outcome;
} faults[] = {
	{DISK_OPEN, EMFILE, FAILS},    {DISK_OPEN, EINTR, HARMLESS},
	{DISK_OPEN, EACCES, FAILS},    {DISK_READ, EIO, FAILS},
	{DISK_READ, EINTR, HARMLESS},  {DISK_WRITE, ENOSPC, FAILS},
	{DISK_WRITE, EINTR, HARMLESS}, {DISK_WRITE, EIO, FAILS},
	{DISK_FSYNC, EIO, FAILS},      {DISK_FSYNC, EDQUOT, FAILS},
	{DISK_FSYNC, EINTR, HARMLESS}, {DISK_CLOSE, EINTR, HARMLESS},
	{DISK_RENAME, EACCES, FAILS},  {DISK_MKDIR, EACCES, FAILS},
	{DISK_FSTAT, EIO, FAILS},      {DISK_FSTAT, DISK_END, EITHER},
};

/* An error of close matters where a file was written, not where it was read. */
static const int close_error = EIO;

static const char *
reason(int error)
{
	return error == DISK_END ? "its size changed while it was read" : strerror(error);
}

static void
check_told(const qn_ctx *ctx, int error, const char *when)
{
	size_t n = qn_diag_count(ctx);

	/* what it led to may be told behind it */
	while (n > 0 && strstr(qn_diag_get(ctx, n - 1).message, reason(error)) == NULL)
		n--;
	if (n == 0)
		fail_msg("%s: no message says '%s'", when, reason(error));
	qn_diagnostic d = qn_diag_get(ctx, n - 1);
	const char *folder = strstr(d.place, w.folder);

	/* files that a model names are told relative to it */
	if (folder == NULL && strstr(d.place, ".safetensors") == NULL &&
	    strstr(d.place, ".npy") == NULL && strstr(d.place, ".json") == NULL)
		fail_msg("%s: the place is '%s'", when, d.place);
}

/* Returns how many of the calls the job makes. */
static size_t
run_once(size_t i, disk_call call, size_t at, int error, bool and_after, qn_status *status)
{
	char when[100];
	qn_ctx *ctx = qn_open(NULL);

	(void)snprintf(when, sizeof when, "%s %zu: %s", disk_names[call], at, reason(error));
	job_clear(&w, i);
	disk_arm(call, at, error, and_after);
	*status = jobs[i].run(ctx, &w);
	size_t calls = disk_disarm();
	if (*status != QN_OK && *status != QN_EIO)
		fail_msg("%s, %s: status %d", jobs[i].name, when, (int)*status);
	if (*status != QN_OK)
		check_told(ctx, error, when);
	qn_close(ctx);
	job_check(&w, i, *status, when);
	return calls;
}

static void
sweep(void **state)
{
	size_t i = *(size_t *)*state;
	qn_status status;

	for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
		size_t n = run_once(i, faults[k].call, SIZE_MAX, EIO, false, &status);

		assert_int_equal(status, QN_OK);
		if (n == 0)
			assert_true(faults[k].call == DISK_MKDIR); /* only emit makes a folder */
		for (size_t at = 1; at <= n; at++) {
			(void)run_once(i, faults[k].call, at, faults[k].error, false, &status);
			if (faults[k].outcome != EITHER &&
			    (status == QN_OK) != (faults[k].outcome == HARMLESS))
				fail_msg("%s: %s %zu, %s: status %d", jobs[i].name,
					 disk_names[faults[k].call], at, reason(faults[k].error),
					 (int)status);
		}
	}
}

/* read and write may do less than they are asked for, again and again. */
static void
short_pieces(void **state)
{
	static const disk_call calls[] = {DISK_READ, DISK_WRITE};
	qn_status status;

	for (size_t k = 0; k < 2; k++) {
		assert_true(run_once(*(size_t *)*state, calls[k], 0, 0, false, &status) > 20);
		assert_int_equal(status, QN_OK);
	}
}

/* Another program cuts the files short while they are read.  The last read of all finds nothing in
 * any case. */
static void
cut_short(void **state)
{
	size_t i = *(size_t *)*state;
	qn_status status;
	size_t n = run_once(i, DISK_READ, SIZE_MAX, EIO, false, &status);

	assert_true(n > 4);
	for (size_t at = 1; at < n; at++) {
		(void)run_once(i, DISK_READ, at, DISK_END, true, &status);
		assert_int_equal(status, QN_EIO);
	}
}

/* A file that is large enough to be mapped: 'u1' zeros behind a header, a hole on the disk. */
static void
write_large(const char *path)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(
		fprintf(f, "\x93NUMPY\x01%cv%c%-117s\n", 0, 0,
			"{'descr': '|u1', 'fortran_order': False, 'shape': (67108864,), }"),
		128);
	assert_int_equal(fseek(f, 128 + 67108864 - 1, SEEK_SET), 0);
	assert_int_equal(putc(7, f), 7);
	assert_int_equal(fclose(f), 0);
}

/* Where a file system cannot map, the file is read; other errors of mmap are told. */
static void
large_file(void **state)
{
	static const struct {
		int error;
		qn_status want;
	} row[] = {{0, QN_OK}, {ENODEV, QN_OK}, {ENOMEM, QN_EIO}};
	const char *path = job_path(&w, "large.npy");

	(void)state;
	write_large(path);
	for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
		qn_ctx *ctx = qn_open(NULL);
		qn_array *x = NULL;

		disk_arm(DISK_MMAP, 1, row[i].error, false);
		qn_status status = qn_array_load(ctx, path, &x);
		assert_int_equal(disk_disarm(), 1);
		assert_int_equal(status, row[i].want);
		if (status == QN_OK)
			assert_int_equal(((const uint8_t *)qn_array_data(x))[67108863], 7);
		else
			check_told(ctx, row[i].error, "large.npy");
		qn_close(ctx);
	}
	assert_int_equal(remove(path), 0);
}

/* Also when nothing can be renamed from then on. */
static void
renames(void **state)
{
	size_t i = *(size_t *)*state;
	qn_status status;
	size_t n = run_once(i, DISK_RENAME, SIZE_MAX, EIO, false, &status);

	assert_true(n > 0);
	for (size_t at = 1; at <= n; at++) {
		(void)run_once(i, DISK_RENAME, at, EXDEV, true, &status);
		assert_int_equal(status, QN_EIO);
	}
}

static void
closes(void **state)
{
	size_t i = *(size_t *)*state;
	qn_status status;
	size_t n = run_once(i, DISK_CLOSE, SIZE_MAX, EIO, false, &status);
	size_t failed = 0;

	for (size_t at = 1; at <= n; at++) {
		(void)run_once(i, DISK_CLOSE, at, close_error, false, &status);
		failed += status == QN_EIO;
	}
	assert_true(failed > 0 && failed < n);
}

static int
begin(void **state)
{
	(void)state;
	job_begin(&w, "disk");
	return 0;
}

static int
end(void **state)
{
	(void)state;
	job_end(&w);
	return 0;
}

int
main(void)
{
	static size_t emit, run, opt, tflite, onnx;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(sweep, &emit),
		cmocka_unit_test_prestate(sweep, &run),
		cmocka_unit_test_prestate(sweep, &opt),
		cmocka_unit_test_prestate(sweep, &tflite),
#ifdef JOB_ONNX
		cmocka_unit_test_prestate(sweep, &onnx),
#endif
		cmocka_unit_test_prestate(short_pieces, &emit),
		cmocka_unit_test_prestate(cut_short, &emit),
		cmocka_unit_test(large_file),
		cmocka_unit_test_prestate(renames, &emit),
		cmocka_unit_test_prestate(renames, &run),
		cmocka_unit_test_prestate(renames, &opt),
		cmocka_unit_test_prestate(closes, &emit),
		cmocka_unit_test_prestate(closes, &run),
	};

	emit = job_find("emit");
	run = job_find("run");
	opt = job_find("opt");
	tflite = job_find("tflite");
	onnx = job_find("onnx");
	return cmocka_run_group_tests(tests, begin, end);
}
