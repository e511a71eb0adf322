/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the public side of files on their way: several arrays that belong together, bytes of the
 * host's, and what a handler of signals takes back. */
#include "driver/context.h"
#include "formats/file.h"
#include "driver/host_struct.h"
#include "formats/npy.h"

typedef struct save_call {
	qn_ctx *ctx;
	size_t n;
	const qn_array *const *array;
	const char *const *path;
} save_call;

static qn_status
save(void *arg, qn_arena *scratch)
{
	const save_call *c = arg;
	qn_file_out *out = QN_NEW(scratch, qn_file_out, c->n);

	QN_TRY(qn_host_pointers(&c->ctx->env, "array", c->n, c->array));
	QN_TRY(qn_host_pointers(&c->ctx->env, "path", c->n, c->path));
	for (size_t i = 0; i < c->n; i++) {
		const qn_tensor *all = NULL;
		qn_buf b;

		QN_TRY(qn_array_read(c->array[i], scratch, &all));
		qn_buf_init(&b, scratch);
		qn_npy_print(&b, all);
		out[i] = (qn_file_out){.path = c->path[i], .data = b.data, .n = b.n};
	}
	return qn_files_write(&c->ctx->env, NULL, c->n, out);
}

qn_status
qn_arrays_save(qn_ctx *ctx, size_t n, const qn_array *const *array, const char *const *path)
{
	save_call c = {ctx, n, array, path};

	return n > 0 ? qn_guard(ctx, save, &c) : QN_OK;
}

qn_status
qn_array_save(const qn_array *x, const char *path)
{
	return qn_arrays_save(x->ctx, 1, &x, &path);
}

typedef struct bytes_call {
	qn_ctx *ctx;
	const char *path;
	const void *data;
	size_t n;
} bytes_call;

static qn_status
write_bytes(void *arg, qn_arena *scratch)
{
	const bytes_call *c = arg;

	(void)scratch;
	return qn_file_write(&c->ctx->env, c->path, c->data, c->n);
}

qn_status
qn_write_file(qn_ctx *ctx, const char *path, const void *data, size_t n)
{
	bytes_call c = {ctx, path, data, n};

	return qn_guard(ctx, write_bytes, &c);
}

void
qn_abandon(qn_ctx *ctx)
{
	qn_files_abandon(&ctx->env);
}
