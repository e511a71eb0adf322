/* SPDX-License-Identifier: Apache-2.0 */
/* diag.c - the list of diagnostics.  Its texts live in the host's memory, not in an arena, so
 * that they outlive the call that reports them. */
#include "ir/diag.h"

#include <stdarg.h>
#include <string.h>

#include "ir/buf.h"

static const char no_memory[] = "(out of memory for the message)";

/* Copies into raw memory; NULL without memory. */
static const char *
keep(qn_env *env, const char *s)
{
	size_t n = strlen(s) + 1;
	char *q = qn_env_realloc(env, NULL, 0, n);

	if (q != NULL)
		memcpy(q, s, n);
	return q;
}

typedef struct format_call {
	const char *fmt;
	va_list args;
	const char *kept;
} format_call;

static qn_status
format_text(void *arg, qn_arena *a)
{
	format_call *c = arg;
	qn_buf b;

	qn_buf_init(&b, a);
	qn_bufvf(&b, c->fmt, c->args);
	c->kept = keep(a->env, qn_buf_str(&b));
	return QN_OK;
}

/* The formatted text in raw memory; NULL without memory.  The arena's jump is caught here: a
 * report must not leave the caller. */
static const char *
format(qn_env *env, const char *fmt, va_list args)
{
	format_call c = {.fmt = fmt};
	qn_arena a;

	va_copy(c.args, args);
	qn_arena_init(&a, env);
	if (qn_arena_try(&a, format_text, &c) != QN_OK)
		c.kept = NULL;
	qn_arena_release(&a);
	va_end(c.args);
	return c.kept;
}

static void
drop(qn_env *env, const char *s)
{
	if (s != no_memory)
		qn_env_free(env, (void *)(uintptr_t)s, strlen(s) + 1);
}

/* Whether the same was said before: several steps look at the same samples. */
static bool
is_repeated(const qn_diags *list, const qn_diag *d)
{
	for (size_t i = 0; i < list->n; i++) {
		const qn_diag *x = &list->item[i];

		if (x->severity == d->severity && strcmp(x->id, d->id) == 0 &&
		    strcmp(x->place, d->place) == 0 && strcmp(x->message, d->message) == 0)
			return true;
	}
	return false;
}

/* A longer id is cut. */
static void
store(qn_env *env, qn_diag d, const char *id, const char *place, const char *fmt, va_list args)
{
	qn_diags *list = env->diags;
	const size_t length = strlen(id);

	if (d.severity == QN_ERROR)
		list->nerrors++;
	if (list->n == QN_MAX_DIAGS) {
		list->dropped++;
		return;
	}
	memcpy(d.id, id, length < QN_ID_BYTES ? length : QN_ID_BYTES - 1);
	d.place = keep(env, place != NULL ? place : "");
	d.message = format(env, fmt, args);
	if (d.place == NULL)
		d.place = no_memory;
	if (d.message == NULL)
		d.message = no_memory;
	if (d.severity != QN_ERROR && is_repeated(list, &d)) {
		drop(env, d.place);
		drop(env, d.message);
		return;
	}
	list->item[list->n++] = d;
}

#undef qn_report /* where __clang_analyzer__ is defined */
qn_status
qn_report(qn_env *env, qn_status status, const char *id, const char *place, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	store(env, (qn_diag){.severity = QN_ERROR, .status = status}, id, place, fmt, args);
	va_end(args);
	return status;
}

void
qn_warn(qn_env *env, const char *id, const char *place, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	store(env, (qn_diag){.severity = QN_WARNING, .status = QN_OK}, id, place, fmt, args);
	va_end(args);
}

/* Passes one line to a callback. */
static void
hand_over(qn_env *env, qn_log_fn *to, void *user, const char *line)
{
	if (line == NULL)
		return;
	to(user, line);
	qn_env_free(env, (void *)(uintptr_t)line, strlen(line) + 1);
}

void
qn_log(qn_env *env, const char *fmt, ...)
{
	va_list args;

	if (env->log == NULL)
		return;
	va_start(args, fmt);
	hand_over(env, env->log, env->log_user, format(env, fmt, args));
	va_end(args);
}

void
qn_trace(qn_env *env, const char *fmt, ...)
{
	va_list args;

	if (env->trace == NULL)
		return;
	va_start(args, fmt);
	hand_over(env, env->trace, env->trace_user, format(env, fmt, args));
	va_end(args);
}

void
qn_diags_clear(qn_env *env, qn_diags *d)
{
	for (size_t i = 0; i < d->n; i++) {
		drop(env, d->item[i].place);
		drop(env, d->item[i].message);
	}
	*d = (qn_diags){0};
}

qn_diag_mark
qn_diag_mark_now(const qn_env *env)
{
	const qn_diags *d = env->diags;

	return (qn_diag_mark){d->n, d->nerrors, d->dropped};
}

void
qn_diag_forget(qn_env *env, qn_diag_mark mark)
{
	qn_diags *d = env->diags;

	while (d->n > mark.n) {
		d->n--;
		drop(env, d->item[d->n].place);
		drop(env, d->item[d->n].message);
	}
	d->nerrors = mark.nerrors;
	d->dropped = mark.dropped;
}

void
qn_diag_append(qn_env *env, qn_diag_mark mark, const char *fmt, ...)
{
	qn_diags *list = env->diags;
	va_list args;

	va_start(args, fmt);
	const char *more = format(env, fmt, args);
	va_end(args);
	for (size_t i = mark.n; more != NULL && i < list->n; i++) {
		qn_diag *d = &list->item[i];
		const size_t n = strlen(d->message), k = strlen(more) + 1;
		char *both = d->message != no_memory ? qn_env_realloc(env, NULL, 0, n + k) : NULL;

		if (both == NULL)
			continue;
		memcpy(both, d->message, n);
		memcpy(both + n, more, k);
		drop(env, d->message);
		d->message = both;
	}
	if (more != NULL)
		qn_env_free(env, (void *)(uintptr_t)more, strlen(more) + 1);
}
