/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - a stateful network that is run call by call, its states kept in between. */
#include "driver/host_struct.h"
#include "driver/model_copy.h"
#include "driver/run.h"
#include "quern/measure.h"

typedef struct session_call {
	qn_model *m;
	qn_session *s;
	size_t nin;
	qn_array *const *in;
	int dequantize;
	size_t nout;
	qn_array **out;
	bool begun; /* what out holds is the call's */
} session_call;

void
qn_session_free(qn_session *s)
{
	if (s == NULL)
		return;
	for (qn_session **p = &s->ctx->sessions; *p != NULL; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	qn_env *env = &s->ctx->env;
	qn_model_free(s->m);
	qn_arena_release(&s->arena);
	qn_env_free(env, s, sizeof *s);
}

static qn_session *
allocate(qn_ctx *ctx)
{
	qn_session *s = qn_env_realloc(&ctx->env, NULL, 0, sizeof *s);

	if (s == NULL)
		qn_env_oom(&ctx->env);
	*s = (qn_session){.ctx = ctx, .next = ctx->sessions};
	ctx->sessions = s;
	qn_arena_init(&s->arena, &ctx->env);
	return s;
}

/* The session computes on a copy: the host may change or free its model. */
static qn_status
begin(void *arg, qn_arena *scratch)
{
	session_call *c = arg;

	(void)scratch;
	QN_TRY(qn_check_runs(c->m));
	c->s = allocate(qn_box(c->m)->ctx);
	/* constants of the copy are views of it */
	const qn_model_source source = qn_model_source_of(c->m, &c->s->arena);
	QN_TRY(qn_model_copy(&source, &c->s->m));
	return qn_interp_new(qn_model_entry(c->s->m), &c->s->arena, &c->s->in);
}

qn_status
qn_session_new(qn_model *m, qn_session **out)
{
	QN_CLEAR(out);
	QN_TRY(QN_GIVEN(qn_model_ctx(m), out));
	session_call c = {.m = m};
	const qn_status status = qn_guard_model(m, begin, &c);

	if (status != QN_OK) {
		qn_session_free(c.s);
		c.s = NULL;
	}
	*out = c.s;
	return status;
}

void
qn_session_reset(qn_session *s)
{
	if (s != NULL)
		qn_interp_reset(s->in);
}

static qn_status
step(void *arg, qn_arena *scratch)
{
	session_call *c = arg;
	/* out may be the array that in is: the last output goes in again */
	qn_array **in = c->in != NULL ? qn_arena_copy(scratch, c->in, c->nin * sizeof *in) : NULL;

	for (size_t k = 0; k < c->nout; k++)
		c->out[k] = NULL;
	c->begun = true;
	return qn_run_on(c->s->m, c->s->in, c->nin, in, c->dequantize, c->nout, c->out, scratch);
}

qn_status
qn_session_run(qn_session *s, size_t nin, qn_array *const *in, int dequantize, size_t nout,
	       qn_array **out)
{
	for (size_t k = 0; s == NULL && out != NULL && k < nout; k++)
		out[k] = NULL;
	if (s == NULL)
		return QN_EUSAGE;
	QN_TRY(qn_host_list(&s->ctx->env, "out", nout, out));
	session_call c = {
		.s = s, .nin = nin, .in = in, .dequantize = dequantize, .nout = nout, .out = out};
	qn_env *env = &s->ctx->env;
	const size_t sequence = env->sequence;

	env->sequence = 0; /* the call goes on where the last one ended, however long they are */
	const qn_status status = qn_guard(s->ctx, step, &c);
	env->sequence = sequence;
	for (size_t k = 0; status != QN_OK && k < nout; k++) {
		if (c.begun)
			qn_array_free(out[k]);
		out[k] = NULL;
	}
	return status;
}
