/* SPDX-License-Identifier: Apache-2.0 */
/* digits.c - a host without files and threads in the library: reads the files itself, compiles, runs
 * and emits from memory (scripts/check-wasm).
 *
 *   digits FOLDER OUT     digits.json, digits.safetensors, calib.npy, test_x.npy, test_y.npy  ->  OUT/digits.c … */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quern/measure.h>

enum { FILES = 5 };

static const char *const names[FILES] = {"digits.json", "digits.safetensors", "calib.npy",
					 "test_x.npy", "test_y.npy"};

/* A whole file; it stays until the program ends, as the context reads it. */
static void *
read_file(const char *folder, const char *name, size_t *n)
{
	char path[1000];
	size_t room = (size_t)1 << 22;
	char *data = malloc(room);

	(void)snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *in = fopen(path, "rb");
	if (in == NULL || data == NULL)
		exit(1);
	*n = fread(data, 1, room, in);
	(void)fclose(in);
	return data;
}

typedef struct writer {
	const char *folder;
	char path[1000];
} writer;

/* Pieces of a file come one after the other: the first one begins it. */
static int
write_piece(void *user, const char *name, const char *text, size_t n)
{
	writer *w = user;
	char path[1000];

	(void)snprintf(path, sizeof path, "%s/%s", w->folder, name);
	FILE *out = fopen(path, strcmp(path, w->path) == 0 ? "ab" : "wb");
	if (out == NULL)
		return 1;
	memcpy(w->path, path, sizeof path);
	const size_t written = fwrite(text, 1, n, out);
	return fclose(out) != 0 || written != n;
}

static void
show(void *user, const qn_metric *metric)
{
	(void)user;
	(void)printf("%s %llu of %llu\n", metric->name, (unsigned long long)metric->hits,
		     (unsigned long long)metric->of);
}

static qn_status
work(qn_ctx *ctx, writer *out)
{
	const char *calib_name = "calib.npy"; /* the report has it */
	qn_array *calib, *x, *labels;
	qn_model *m;
	qn_status s = qn_load(ctx, names[0], &m);

	if (s == QN_OK)
		s = qn_array_load(ctx, names[2], &calib);
	if (s == QN_OK)
		s = qn_array_load(ctx, names[3], &x);
	if (s == QN_OK)
		s = qn_array_load(ctx, names[4], &labels);
	if (s == QN_OK)
		s = qn_compile(m, &(qn_compile_opts){.calib = &calib,
						     .ncalib = 1,
						     .calib_names = &calib_name});
	if (s == QN_OK)
		s = qn_measure(m, 1, &x, &(qn_measure_opts){.labels = labels}, show, NULL);
	if (s == QN_OK)
		s = qn_emit_to(m, &(qn_emit_opts){.test = &calib, .ntest = 1}, write_piece, out,
			       NULL);
	if (s != QN_OK)
		return s;
	/* What is not in memory is a clear error. */
	qn_diag_clear(ctx);
	return qn_load(ctx, "another.json", &m) == QN_EIO ? QN_OK : QN_EINTERNAL;
}

int
main(int argc, char **argv)
{
	writer out = {argc > 2 ? argv[2] : ".", ""};
	qn_ctx *ctx = qn_open(&(qn_config){.threads = 4});

	if (argc != 3 || ctx == NULL)
		return 1;
	for (size_t i = 0; i < FILES; i++) {
		size_t n = 0;
		const void *data = read_file(argv[1], names[i], &n);

		if (qn_file_add(ctx, names[i], data, n) != QN_OK)
			return 1;
	}
	const qn_status s = work(ctx, &out);
	for (size_t i = 0; i < qn_diag_count(ctx); i++) {
		const qn_diagnostic d = qn_diag_get(ctx, i);

		(void)printf("%s: %s [%s]\n", d.place, d.message, d.id);
	}
	qn_close(ctx);
	return (int)s;
}
