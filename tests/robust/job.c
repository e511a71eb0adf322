/* SPDX-License-Identifier: Apache-2.0 */
/* job.c - see job.h. */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include "tests/robust/job.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/robust/job_import.h"

/* ---- files ---- */

const char *
job_path(workshop *w, const char *name)
{
	assert_true(snprintf(w->text, sizeof w->text, "%s/%s", w->folder, name) <
		    (int)sizeof w->text);
	return w->text;
}

void
job_put(workshop *w, const char *name, const char *head, size_t nhead, const void *data, size_t n)
{
	FILE *f = fopen(job_path(w, name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(head, 1, nhead, f), nhead);
	assert_int_equal(fwrite(data, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static bool
is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Removes the files of a folder, and the folder. */
static void
remove_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d != NULL && (e = readdir(d)) != NULL) {
		char file[512];

		if (is_dots(e->d_name))
			continue;
		(void)snprintf(file, sizeof file, "%s/%s", path, e->d_name);
		(void)unlink(file);
	}
	if (d != NULL)
		(void)closedir(d);
	(void)rmdir(path);
}

static bool
same_file(const char *left, const char *right)
{
	FILE *a = fopen(left, "rb");
	FILE *b = fopen(right, "rb");
	int x = EOF;
	int y = EOF;

	if (a != NULL && b != NULL)
		do {
			x = getc(a);
			y = getc(b);
		} while (x == y && x != EOF);
	bool same = a != NULL && b != NULL && x == y;
	if (a != NULL)
		(void)fclose(a);
	if (b != NULL)
		(void)fclose(b);
	return same;
}

/* ---- jobs ---- */

const job jobs[] = {
	{"emit", job_emit, true},          {"run", job_run, false},
	{"opt", job_opt, false},           {"samples", job_samples, false},
	{"stats", job_stats, false},       {"tflite", job_tflite, false},
	{"blocks", job_blocks, false},     {"solver", job_solver, false},
	{"lower", job_lower, false},       {"validate", job_validate, false},
	{"equalize", job_equalize, false}, {"analyze", job_analyze, false},
	{"tune", job_tune, false},         {"widen", job_widen, false},
	{"narrow", job_narrow, false},
#ifdef JOB_ONNX
	{"onnx", job_onnx, false},
#endif
};
const size_t njobs = sizeof jobs / sizeof jobs[0];

size_t
job_find(const char *name)
{
	size_t i = 0;

	while (i < njobs && strcmp(jobs[i].name, name) != 0)
		i++;
	return i;
}

/* ---- the workshop ---- */

static const char net[] =
	"{\"quern\": 1, \"name\": \"net\", \"graph\": {\n"
	" \"inputs\": [{\"name\": \"x\", \"type\": \"tensor<1x4x4x1xf32>\"}],\n"
	" \"constants\": {\n"
	"  \"c.w\": {\"type\": \"tensor<2x1x1x1xf32>\", \"data\": [0.5, -0.25]},\n"
	"  \"d.w\": {\"file\": \"w.safetensors\", \"tensor\": \"d.w\"},\n"
	"  \"d.b\": {\"file\": \"b.npy\"}},\n"
	" \"nodes\": [\n"
	"  {\"name\": \"c\", \"op\": \"conv2d\", \"inputs\": [\"x\", \"c.w\"]},\n"
	"  {\"name\": \"r\", \"op\": \"relu\", \"inputs\": [\"c\"]},\n"
	"  {\"name\": \"f\", \"op\": \"flatten\", \"inputs\": [\"r\"]},\n"
	"  {\"name\": \"d\", \"op\": \"dense\", \"inputs\": [\"f\", \"d.w\"]},\n"
	"  {\"name\": \"b\", \"op\": \"bias_add\", \"inputs\": [\"d\", \"d.b\"]},\n"
	"  {\"name\": \"s\", \"op\": \"softmax\", \"inputs\": [\"b\"]}],\n"
	" \"outputs\": [\"s\"]}}\n";

static void
write_inputs(workshop *w)
{
	static const char header[] =
		"{\"d.w\":{\"dtype\":\"F32\",\"shape\":[3,32],\"data_offsets\":[0,384]}}";
	static const char table[] = "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
				    "-1,.5,0,2,1,0,0,0,1,1,1,1,-2,0,3,-1\n";
	static const char picture[] = "P2 4 4 16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 16";
	char head[8 + sizeof header] = {(char)(sizeof header - 1)};
	const int64_t shape[] = {2, 4, 4, 1};
	const int64_t three[] = {3};
	float v[96];
	qn_ctx *ctx = qn_open(NULL);
	qn_array *x;

	for (int i = 0; i < 96; i++)
		v[i] = (float)(i * 37 % 64 - 31) / 32.0f;
	memcpy(head + 8, header, sizeof header - 1);
	job_put(w, "net.json", net, sizeof net - 1, "", 0);
	job_put(w, "x.csv", table, sizeof table - 1, "", 0);
	job_put(w, "p.pgm", picture, sizeof picture - 1, "", 0);
	job_put(w, "w.safetensors", head, 8 + sizeof header - 1, v, sizeof v);
	assert_int_equal(qn_array_new(ctx, "f32", 4, shape, v, &x), QN_OK);
	assert_int_equal(qn_array_save(x, job_path(w, "x.npy")), QN_OK);
	assert_int_equal(qn_array_new(ctx, "f32", 1, three, v, &x), QN_OK);
	assert_int_equal(qn_array_save(x, job_path(w, "b.npy")), QN_OK);
	qn_close(ctx);
	job_write_imports(w);
}

void
job_clear(workshop *w, size_t i)
{
	remove_folder(w->out);
	if (!jobs[i].makes_folder)
		assert_int_equal(mkdir(w->out, 0777), 0);
}

static int
free_fd(void)
{
	int fd = open("/dev/null", O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	return fd;
}

void
job_begin(workshop *w, const char *name)
{
	char kept[120];

	(void)snprintf(w->folder, sizeof w->folder, "/tmp/quern-%s-XXXXXX", name);
	assert_non_null(mkdtemp(w->folder));
	(void)snprintf(w->out, sizeof w->out, "%s/out", w->folder);
	write_inputs(w);
	w->fd = free_fd();
	for (size_t i = 0; i < njobs; i++) {
		qn_ctx *ctx = qn_open(NULL);

		job_clear(w, i);
		qn_status status = jobs[i].run(ctx, w);
		for (size_t k = 0; k < qn_diag_count(ctx); k++)
			print_message("%s: %s\n", qn_diag_get(ctx, k).place,
				      qn_diag_get(ctx, k).message);
		assert_int_equal(status, QN_OK);
		qn_close(ctx);
		(void)snprintf(kept, sizeof kept, "%s/%s", w->folder, jobs[i].name);
		assert_int_equal(rename(w->out, kept), 0);
	}
}

void
job_end(workshop *w)
{
	char kept[120];

	for (size_t i = 0; i < njobs; i++) {
		(void)snprintf(kept, sizeof kept, "%s/%s", w->folder, jobs[i].name);
		remove_folder(kept);
	}
	remove_folder(w->out);
	remove_folder(w->folder);
}

static size_t
count_files(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (d != NULL && (e = readdir(d)) != NULL)
		n += !is_dots(e->d_name);
	if (d != NULL)
		(void)closedir(d);
	return n;
}

void
job_check(workshop *w, size_t i, qn_status status, const char *when)
{
	char left[400], right[400];
	DIR *d = opendir(w->out);
	struct dirent *e;

	if (free_fd() != w->fd + (d != NULL))
		fail_msg("%s, %s: a file is left open", jobs[i].name, when);
	if (jobs[i].makes_folder && status != QN_OK && d != NULL)
		fail_msg("%s, %s: the folder is there", jobs[i].name, when);
	while (d != NULL && (e = readdir(d)) != NULL) {
		if (is_dots(e->d_name))
			continue;
		(void)snprintf(left, sizeof left, "%s/%s", w->out, e->d_name);
		(void)snprintf(right, sizeof right, "%s/%s/%s", w->folder, jobs[i].name, e->d_name);
		if (!same_file(left, right))
			fail_msg("%s, %s: %s is not what it should be", jobs[i].name, when, left);
	}
	if (d != NULL)
		(void)closedir(d);
	(void)snprintf(right, sizeof right, "%s/%s", w->folder, jobs[i].name);
	if (status == QN_OK && count_files(w->out) != count_files(right))
		fail_msg("%s, %s: a file is missing", jobs[i].name, when);
}
