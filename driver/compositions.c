/* SPDX-License-Identifier: Apache-2.0 */
/* compositions.c - files of compositions that a host adds (lib/lib.h). */
#include <string.h>

#include "driver/context.h"
#include "formats/file.h"
#include "lib/lib.h"
#include "quern/host_ops.h"

typedef struct load_call {
	qn_ctx *ctx;
	const char *path;
} load_call;

static const char *
base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static qn_status
load(void *arg, qn_arena *scratch)
{
	load_call *c = arg;
	const char *text;
	size_t n;

	QN_TRY(qn_file_map(scratch, c->path, &text, &n));
	return qn_lib_add(&c->ctx->env, &c->ctx->arena, base_name(c->path), text, n);
}

qn_status
qn_compositions_load(qn_ctx *ctx, const char *path)
{
	QN_TRY(QN_GIVEN(ctx, path));
	return qn_guard(ctx, load, &(load_call){ctx, path});
}
