/* SPDX-License-Identifier: Apache-2.0 */
/* context.c - contexts, the entry into the library, and diagnostics. */
#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/limits.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/pool.h"
#include "quern/calibrate.h"
#include "quern/layout.h"
#include "quern/measure.h"

static void *
libc_alloc(void *user, void *p, size_t old_size, size_t new_size)
{
	(void)user;
	(void)old_size;
	if (new_size == 0) {
		free(p);
		return NULL;
	}
	return realloc(p, new_size);
}

qn_ctx *
qn_open(const qn_config *config)
{
	qn_config c;

	if (QN_TAKE(NULL, qn_config, config, &c) != QN_OK)
		return NULL;
	qn_alloc_fn *alloc = c.alloc != NULL ? c.alloc : libc_alloc;
	qn_ctx *ctx = alloc(c.alloc_user, NULL, 0, sizeof *ctx);

	if (ctx == NULL)
		return NULL;
	*ctx = (qn_ctx){.env = {.alloc = alloc,
				.alloc_user = c.alloc_user,
				.log = c.log,
				.log_user = c.log_user,
				.threads = c.threads > 0 ? (size_t)c.threads : 1,
				.simd = c.simd,
				.limits = c.limits,
				.read_file = c.read_file,
				.write_file = c.write_file,
				.files_user = c.files_user,
				.progress = c.progress,
				.progress_user = c.progress_user}};
	if (c.progress != NULL)
		ctx->env.cancel = &ctx->cancel;
	ctx->env.diags = &ctx->diags;
	qn_arena_init(&ctx->arena, &ctx->env);
	return ctx;
}

void
qn_close(qn_ctx *ctx)
{
	if (ctx == NULL)
		return;
	while (ctx->sessions != NULL)
		qn_session_free(ctx->sessions);
	while (ctx->models != NULL)
		qn_model_free(&ctx->models->m);
	while (ctx->arrays != NULL)
		qn_array_free(ctx->arrays);
	while (ctx->archives != NULL)
		qn_archive_free(ctx->archives);
	while (ctx->stored != NULL)
		qn_stored_free(ctx->stored);
	while (ctx->stats != NULL)
		qn_stats_free(ctx->stats);
	qn_arena_release(&ctx->arena);
	qn_diags_clear(&ctx->env, &ctx->diags);
	qn_pool_close(&ctx->env);
	qn_env env = ctx->env;
	qn_env_free(&env, ctx, sizeof *ctx);
}

void
qn_set_sequence(qn_ctx *ctx, size_t steps)
{
	if (ctx != NULL)
		ctx->env.sequence = steps;
}

const char *
qn_version(void)
{
	return "0.1.0";
}

size_t
qn_diag_count(const qn_ctx *ctx)
{
	if (ctx == NULL)
		return 0;
	return ctx->diags.n;
}

size_t
qn_diag_dropped(const qn_ctx *ctx)
{
	if (ctx == NULL)
		return 0;
	return ctx->diags.dropped;
}

qn_diagnostic
qn_diag_get(const qn_ctx *ctx, size_t i)
{
	if (ctx == NULL || i >= ctx->diags.n)
		return (qn_diagnostic){0};
	const qn_diag *d = &ctx->diags.item[i];

	return (qn_diagnostic){d->severity, d->id, d->place, d->message};
}

void
qn_diag_clear(qn_ctx *ctx)
{
	if (ctx != NULL)
		qn_diags_clear(&ctx->env, &ctx->diags);
}

qn_status
qn_given(qn_ctx *ctx, const char *names, const bool *given, size_t n)
{
	qn_status status = ctx != NULL ? QN_OK : QN_EUSAGE;

	for (size_t i = 0; i < n && ctx != NULL; i++) {
		const size_t length = strcspn(names, ",");
		char name[32];

		(void)snprintf(name, sizeof name, "%.*s", (int)length, names);
		if (!given[i])
			status = qn_report(&ctx->env, QN_EUSAGE, "array.null", name, "it is NULL");
		names += length + strspn(names + length, ", ");
	}
	return status;
}

qn_status
qn_guard(qn_ctx *ctx, qn_guarded_fn *fn, void *arg)
{
	qn_arena scratch;
	fenv_t floating;

	if (ctx == NULL)
		return QN_EUSAGE;
	if (ctx->depth++ == 0)
		atomic_store(&ctx->cancel.ended, false);
	qn_arena_init(&scratch, &ctx->env);
	(void)fegetenv(&floating);
	(void)fesetenv(FE_DFL_ENV);
	qn_status status = qn_arena_try(&scratch, fn, arg);
	if (status == QN_ENOMEM)
		(void)qn_report(&ctx->env, QN_ENOMEM, "memory", "", "out of memory");
	qn_arena_release(&scratch);
	(void)fesetenv(&floating);
	ctx->depth--;
	return status;
}

qn_model_box *
qn_box(qn_model *m)
{
	return (qn_model_box *)(void *)m; /* m is the first member */
}

void
qn_box_new(qn_ctx *ctx, const char *name, qn_model_box **out)
{
	qn_env *env = &ctx->env;
	qn_model_box *box = qn_env_realloc(env, NULL, 0, sizeof *box);

	if (box == NULL)
		qn_env_oom(env);
	*box = (qn_model_box){.ctx = ctx, .next = ctx->models};
	ctx->models = *out = box;
	qn_arena_init(&box->arena, env);
	qn_model_init(&box->m, env, &box->arena, name);
	box->m.graphs = qn_arena_child(&box->arena);
}

typedef struct entry {
	qn_model *m;
	qn_guarded_fn *fn;
	void *arg;
} entry;

/* Lends the model the temporary arena of the call. */
static qn_status
call(void *arg, qn_arena *scratch)
{
	entry *e = arg;

	e->m->scratch = scratch;
	return e->fn(e->arg, scratch);
}

static qn_status
enter(qn_model *m, qn_guarded_fn *fn, void *arg)
{
	qn_model_box *box = qn_box(m);
	entry e = {m, fn, arg};

	if (box->broken)
		return qn_report(
			&box->ctx->env, QN_EUSAGE, "model.broken", "",
			"out of memory while this model was changed; free it and load it again");
	qn_status status = qn_guard(box->ctx, call, &e);
	m->scratch = m->arena;
	return status;
}

static qn_status
check(void *arg, qn_arena *scratch)
{
	qn_model *m = arg;

	if (qn_model_entry(m) == NULL || qn_model_entry(m)->noutput == 0)
		return qn_report(m->env, QN_EINVALID, "model.empty", m->name,
				 "the graph has no outputs; add at least one");
	QN_TRY(qn_model_verify(m));
	return qn_limits_check(m, scratch);
}

qn_status
qn_guard_model(qn_model *m, qn_guarded_fn *fn, void *arg)
{
	qn_model_box *box = qn_box(m);

	if (!box->checked)
		QN_TRY(enter(m, check, m));
	box->checked = true;
	return enter(m, fn, arg);
}

qn_status
qn_guard_build(qn_model *m, qn_guarded_fn *fn, void *arg)
{
	qn_box(m)->checked = false;
	qn_status status = enter(m, fn, arg);
	qn_box(m)->broken = qn_box(m)->broken || status == QN_ENOMEM;
	return status;
}
