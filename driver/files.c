/* SPDX-License-Identifier: Apache-2.0 */
/* files.c - the public functions of file output: several arrays that belong together, bytes from
 * the host, and what a signal handler undoes. */
#include <string.h>

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

	if (ctx == NULL)
		return QN_EUSAGE;
	return n > 0 ? qn_guard(ctx, save, &c) : QN_OK;
}

qn_status
qn_array_save(const qn_array *x, const char *path)
{
	QN_TRY(QN_GIVEN(QN_CTX_OF(x), path));
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

	QN_TRY(QN_GIVEN(ctx, path));
	QN_TRY(qn_host_list(&ctx->env, "data", n, data));
	return qn_guard(ctx, write_bytes, &c);
}

void
qn_abandon(qn_ctx *ctx)
{
	if (ctx != NULL)
		qn_files_abandon(&ctx->env);
}

/* ---- files in memory ---- */

typedef struct add_call {
	qn_ctx *ctx;
	const char *path;
	const void *data;
	size_t n;
} add_call;

/* The link that holds the file of this path, or the one at the end. */
static qn_memory_file **
link_of(qn_ctx *ctx, const char *path)
{
	qn_memory_file **p = &ctx->env.memory_files;

	while (*p != NULL && strcmp((*p)->path, path) != 0)
		p = &(*p)->next;
	return p;
}

static qn_status
add(void *arg, qn_arena *scratch)
{
	const add_call *c = arg;
	qn_memory_file **p = link_of(c->ctx, c->path);

	(void)scratch;
	if (*p == NULL) {
		qn_memory_file *f = QN_NEW(&c->ctx->arena, qn_memory_file, 1);

		f->path = qn_arena_str(&c->ctx->arena, c->path);
		*p = f;
	}
	(*p)->data = c->data;
	(*p)->n = c->n;
	return QN_OK;
}

qn_status
qn_file_add(qn_ctx *ctx, const char *path, const void *data, size_t n)
{
	add_call c = {ctx, path, data, n};

	QN_TRY(QN_GIVEN(ctx, path));
	QN_TRY(qn_host_list(&ctx->env, "data", n, data));
	if (path[0] == '\0')
		return qn_report(&ctx->env, QN_EUSAGE, "file.add", "path",
				 "the path is empty; a file in memory needs one");
	return qn_guard(ctx, add, &c);
}

int
qn_file_remove(qn_ctx *ctx, const char *path)
{
	if (ctx == NULL || path == NULL)
		return 0;
	qn_memory_file **p = link_of(ctx, path);

	if (*p == NULL)
		return 0;
	*p = (*p)->next;
	return 1;
}
