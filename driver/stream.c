/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c - the public functions of streamed networks.
 *
 *   qn_stream(m, "axis=1,hop=2")  ->  one graph without calls  ->  qn_stream_model  ->  verified, or as before */
#include "quern/stream.h"

#include "driver/context.h"
#include "driver/host_struct.h"
#include "driver/pass_rows.h"
#include "ir/snapshot.h"
#include "passes/passes.h"

typedef struct stream_call {
	qn_model *m;
	const char *text;
	qn_arena *scratch;
} stream_call;

static qn_status
change(void *arg, qn_model *m)
{
	const stream_call *c = arg;
	qn_pipeline p = {.m = m, .scratch = c->scratch};

	QN_TRY(qn_one_graph(&p, "stream"));
	QN_TRY(qn_stream_model(m, c->text));
	qn_model_record(m, "stream=%s", c->text);
	return qn_model_verify(m);
}

static qn_status
stream(void *arg, qn_arena *scratch)
{
	stream_call *c = arg;

	c->scratch = scratch;
	return qn_model_change(c->m, scratch, change, c);
}

static qn_status
check(void *arg, qn_arena *scratch)
{
	const stream_call *c = arg;

	(void)scratch;
	return qn_stream_option(c->m, c->text);
}

qn_status
qn_stream(qn_model *m, const char *text)
{
	stream_call c = {.m = m, .text = text};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), text));
	return qn_guard_model(m, stream, &c);
}

qn_status
qn_stream_check(qn_model *m, const char *text)
{
	stream_call c = {.m = m, .text = text};

	QN_TRY(QN_GIVEN(qn_model_ctx(m), text));
	return qn_guard_model(m, check, &c);
}
