/* SPDX-License-Identifier: Apache-2.0 */
/* file_source.c - where files come from and go to: the host's memory, the host's callbacks, the file
 * system (disk.h), in this order.
 *
 *   qn_file_add(ctx, "net.onnx", data, n)   ┐
 *   qn_config.read_file("weights.bin")      ├─▶ qn_file_map
 *   open("labels.csv")                      ┘ */
#include <string.h>

#include "formats/disk.h"
#include "ir/diag.h"
#include "ir/limits.h"

/* ---- reading ---- */

static const qn_memory_file *
find(const qn_env *env, const char *path)
{
	const qn_memory_file *f = env->memory_files;

	while (f != NULL && strcmp(f->path, path) != 0)
		f = f->next;
	return f;
}

/* Bytes that the host has: within the limit, and never NULL. */
static qn_status
take(qn_env *env, const char *path, const void *from, size_t size, const char **data, size_t *n)
{
	if (size > 0 && from == NULL)
		return qn_report(env, QN_EIO, "file.read", path,
				 "the host's callback set a length of %zu, but no data", size);
	if (size > qn_limit(env, QN_LIMIT_BYTES))
		return qn_limit_report(env, QN_LIMIT_BYTES, path, size);
	*data = size > 0 ? from : "";
	*n = size;
	return QN_OK;
}

qn_status
qn_file_map(qn_arena *a, const char *path, const char **data, size_t *n)
{
	qn_env *env = a->env;
	const qn_memory_file *f = find(env, path);
	const void *from = NULL;
	size_t size = 0;

	if (f != NULL)
		return take(env, path, f->data, f->n, data, n);
	if (env->read_file == NULL)
		return qn_disk_map(a, path, data, n);
	switch (env->read_file(env->files_user, path, &from, &size)) {
	case QN_FILE_FOUND:
		return take(env, path, from, size, data, n);
	case QN_FILE_UNKNOWN:
		return qn_disk_map(a, path, data, n);
	default:
		return qn_report(env, QN_EIO, "file.read", path, "the host's callback failed");
	}
}

/* ---- writing ---- */

typedef struct write_call {
	qn_env *env;
	const char *folder;
	size_t n;
	const qn_file_out *files;
} write_call;

/* All contents first, so that what has no memory hands over nothing. */
static qn_status
hand_over(void *arg, qn_arena *a)
{
	const write_call *c = arg;
	qn_buf *text = QN_NEW(a, qn_buf, c->n);

	for (size_t i = 0; i < c->n; i++) {
		qn_buf_init(&text[i], a);
		if (c->files[i].print != NULL)
			c->files[i].print(c->files[i].user, &text[i]);
	}
	for (size_t i = 0; i < c->n; i++) {
		const qn_file_out *f = &c->files[i];
		const void *data = f->print != NULL ? text[i].data : f->data;
		const size_t n = f->print != NULL ? text[i].n : f->n;

		if (f->remove)
			continue;
		if (c->env->write_file(c->env->files_user, f->path, n > 0 ? data : "", n) != 0)
			return qn_report(c->env, QN_EIO, "file.write", f->path,
					 "the host's callback failed");
	}
	return QN_OK;
}

qn_status
qn_files_write(qn_env *env, const char *folder, size_t n, const qn_file_out *files)
{
	write_call c = {.env = env, .folder = folder, .n = n, .files = files};
	qn_arena a;

	if (env->write_file == NULL)
		return qn_disk_write(env, folder, n, files);
	qn_arena_init(&a, env);
	qn_status status = qn_arena_try(&a, hand_over, &c);
	qn_arena_release(&a);
	if (status == QN_ENOMEM && env->oom != NULL)
		qn_env_oom(env);
	return status;
}

qn_status
qn_file_write(qn_env *env, const char *path, const void *data, size_t n)
{
	return qn_files_write(env, NULL, 1, &(qn_file_out){.path = path, .data = data, .n = n});
}
