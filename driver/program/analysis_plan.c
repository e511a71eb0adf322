/* SPDX-License-Identifier: Apache-2.0 */
/* analysis_plan.c - what the analyzed network takes when it is compiled: memory over time, instructions. */
#include <stdlib.h>
#include <string.h>

#include "analysis.h"

static void
add_buffer(void *user, const qn_plan_buffer *b)
{
	analysis *a = user;
	compiled_plan *p = &a->plan;
	const size_t room = p->room > 0 ? 2 * p->room : 64;

	if (p->n == p->room) {
		qn_plan_buffer *more = realloc(p->buffer, room * sizeof *more);

		a->out_of_memory = a->out_of_memory || more == NULL;
		if (more == NULL)
			return;
		p->buffer = more;
		p->room = room;
	}
	const size_t n = strlen(b->name) + 1;
	char *name = malloc(n);
	a->out_of_memory = a->out_of_memory || name == NULL;
	if (name == NULL)
		return;
	p->buffer[p->n] = *b;
	p->buffer[p->n++].name = memcpy(name, b->name, n);
}

/* The first error, with its place. */
static char *
first_error(const qn_ctx *ctx)
{
	for (size_t i = 0; i < qn_diag_count(ctx); i++) {
		const qn_diagnostic d = qn_diag_get(ctx, i);
		const size_t n = strlen(d.place) + strlen(d.message) + 3;
		char *text = d.severity == QN_ERROR ? malloc(n) : NULL;

		if (text == NULL)
			continue;
		(void)snprintf(text, n, "%s%s%s", d.place, d.place[0] != '\0' ? ": " : "",
			       d.message);
		return text;
	}
	return NULL;
}

/* ---- instructions ---- */

/* Whether a name is one of "conv1, bn1". */
static bool
is_listed(const char *list, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = list; (at = strstr(at, name)) != NULL; at++)
		if ((at == list || (at - list > 1 && at[-1] == ' ' && at[-2] == ',')) &&
		    (at[n] == '\0' || at[n] == ','))
			return true;
	return false;
}

static void
add_step(void *user, const qn_plan_step *s)
{
	analysis *a = user;
	const char *name = s->layers > 0 ? s->layer[0] : s->name;

	for (size_t i = 0; i < a->n; i++)
		if (is_listed(a->layer[i].layers, name)) {
			a->plan.instructions[i] += s->instructions;
			return;
		}
}

/* ---- both ---- */

static qn_status
plan(analysis *a, qn_model *m, const options *o)
{
	const qn_compile_opts rest = {.size = sizeof rest};
	const qn_status status = program_compile(o, m, &rest, NULL);

	if (status != QN_OK)
		return status;
	a->plan.instructions = calloc(a->n + 1, sizeof *a->plan.instructions);
	if (a->plan.instructions == NULL)
		return QN_ENOMEM;
	const qn_status planned = qn_memory_plan(m, NULL, add_buffer, a, &a->plan.info);
	return planned == QN_OK ? qn_plan_steps(m, NULL, add_step, a, NULL) : planned;
}

qn_status
analysis_plan(analysis *a, qn_ctx *ctx, qn_model *m, const options *o)
{
	program_print_diagnostics(ctx); /* those of the analysis; what follows does not fail it */
	const qn_status status = plan(a, m, o);
	a->plan.known = status == QN_OK;
	if (status == QN_ENOMEM || status == QN_ECANCELLED)
		return status;
	if (status != QN_OK) {
		a->plan.error = first_error(ctx);
		a->out_of_memory = a->out_of_memory || a->plan.error == NULL;
	}
	qn_diag_clear(ctx);
	return QN_OK;
}
