/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_host.h - a network of onnx_rig.h as a file, read and compiled through the public functions.
 *
 *   begin_host(&h, shape, rank);     the file, a context, random samples of this shape, the model
 *   run_host(&h, y, &n);             its output as floats */
#ifndef TESTS_UNIT_ONNX_HOST_H
#define TESTS_UNIT_ONNX_HOST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "quern/measure.h"
#include "tests/unit/onnx_rig.h"

enum { SAMPLES = 32, MOST_OUT = 4096 };

/* Everything that a network hands to the public functions. */
typedef struct host {
	qn_ctx *ctx;
	qn_model *m;
	qn_array *x;
	char folder[32], path[48];
} host;

static inline void
show(const qn_ctx *ctx)
{
	for (size_t i = 0; i < qn_diag_count(ctx); i++)
		print_message("%s: %s [%s]\n", qn_diag_get(ctx, i).place,
			      qn_diag_get(ctx, i).message, qn_diag_get(ctx, i).id);
}

static inline bool
has(const qn_ctx *ctx, const char *id, const char *text)
{
	for (size_t i = 0; i < qn_diag_count(ctx); i++)
		if (strcmp(qn_diag_get(ctx, i).id, id) == 0 &&
		    strstr(qn_diag_get(ctx, i).message, text) != NULL)
			return true;
	return false;
}

static inline void
import_again(host *h)
{
	const qn_import_opts opts = {0};

	assert_int_equal(qn_import(h->ctx, h->path, &opts, &h->m), QN_OK);
}

/* The network as a file, and samples of the shape of its input. */
static inline void
begin_host(host *h, const int64_t *shape, int rank)
{
	static float x[MOST_OUT];
	int64_t count = 1;
	size_t n;
	const uint8_t *bytes = onx_end(file, 20, &n);

	for (int i = 0; i < rank; i++)
		count *= shape[i];
	assert_true(count <= MOST_OUT);
	for (int64_t i = 0; i < count; i++)
		x[i] = (float)(1.4 * real());
	*h = (host){.folder = "/tmp/quern-open-XXXXXX"};
	assert_non_null(mkdtemp(h->folder));
	(void)snprintf(h->path, sizeof h->path, "%s/f.onnx", h->folder);
	FILE *f = fopen(h->path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, n, f), n);
	(void)fclose(f);
	h->ctx = qn_open(NULL);
	assert_non_null(h->ctx);
	assert_int_equal(qn_array_new(h->ctx, "f32", rank, shape, x, &h->x), QN_OK);
	import_again(h);
}

static inline void
end_host(host *h)
{
	qn_close(h->ctx);
	(void)unlink(h->path);
	(void)rmdir(h->folder);
}

static inline qn_status
run_host(host *h, double *y, size_t *n)
{
	qn_array *out;
	qn_status status = qn_run(h->m, 1, &h->x, 1, 1, &out);

	*n = 1;
	for (int i = 0; status == QN_OK && i < qn_array_rank(out); i++)
		*n *= (size_t)qn_array_dim(out, i);
	assert_true(*n <= MOST_OUT);
	for (size_t i = 0; status == QN_OK && i < *n; i++)
		y[i] = (double)((const float *)qn_array_data(out))[i];
	return status;
}

static inline int
append(void *user, const char *text, size_t n)
{
	qn_buf *b = user;

	qn_buff(b, "%.*s", (int)n, text);
	return 0;
}

/* The graph as text. */
static inline const char *
text_of(host *h)
{
	qn_buf *b = QN_NEW(&rg->arena, qn_buf, 1);

	qn_buf_init(b, &rg->arena);
	assert_int_equal(qn_print(h->m, QN_FORMAT_IR, append, b), QN_OK);
	return qn_buf_str(b);
}

#endif
